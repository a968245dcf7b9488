"""SIGINT and SIGTERM at every call by which a command changes files: `python -m tests.sweep.cli.interruptions STRIDE FIRST [COMMAND ...]`.

Each victim is forked from this process, which has imported everything and computes nothing. It sends itself the signal just before or just
after one call of `sweep/io/system.py`, in whatever thread that call is made. Then its exit status, its words and the files that it leaves
are looked at, and the same command is carried out to its end.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.execution.scenarios import (
    CALLS,
    COMMANDS,
    OF_A_RUN,
    OTHERS,
    PICTURES,
    WITHOUT_RUN,
    bits,
    install,
    mixture,
    put_ready,
    results,
    rows_of,
)
from tests.sweep.execution.test_faults import judge
from tribosweep.sweep.cli import main, process
from tribosweep.sweep.io import system

SIGNALS = (signal.SIGINT, signal.SIGTERM)
WATCHED = (*CALLS, "close")


def prepare(command: str, folder: Path) -> list[str]:
    """Put the state before a command into a folder, which is the current one; return the words of the command."""
    if command in COMMANDS:
        return put_ready(command, folder)
    put_ready("run", folder)
    assert main(["run", "study.toml", "--out", "run"]) == 0
    return OTHERS[command]


def quiet(words: list[str]) -> int:
    """The exit status of a command in this process; what it says is dropped."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return main(words)


@dataclass
class Strike:
    """Stands in for `tribosweep.sweep.io.system`: a signal at one call.

    Attributes:
        at: number of the call. number: the signal. after: whether the call has been made. names: the calls so far. turn: of threads.
    """

    at: int = -1
    number: int = signal.SIGINT
    after: bool = False
    names: list[str] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch the system."""
        for name in WATCHED:
            patch.setattr(system, name, self.wrapped(name, getattr(system, name)))

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """One call of the system."""

        def call(*given: Any, **named: Any) -> Any:
            with self.turn:
                here = len(self.names) == self.at
                self.names.append(name)
            if here and not self.after:
                os.kill(os.getpid(), self.number)
            try:
                return real(*given, **named)
            finally:
                if here and self.after:
                    os.kill(os.getpid(), self.number)

        return call


def interrupted(words: list[str], strike: Strike, said: Path) -> int:
    """Carry out a command in a process of its own that is struck; return its exit status, that of a shell if the signal itself ended it."""
    victim = os.fork()
    if not victim:
        try:
            with said.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", buffering=1) for descriptor in (1, 2))
            for number in SIGNALS:
                signal.signal(number, signal.default_int_handler)
            patch = pytest.MonkeyPatch()
            strike.install(patch)
            patch.setattr(sys, "argv", ["tribosweep", *words])
            process.console()
        finally:
            os._exit(99)
    ended = os.waitpid(victim, 0)[1]
    return 128 + os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.waitstatus_to_exitcode(ended)


@dataclass
class Arena:
    """A command and the states before and after it.

    Attributes:
        folder: the current one; its copy before the command is beside it. words: of the command.
        calls: the names of its calls of the system.
        status: its exit status. before, whole: files before and after it. old, new: rows before and after it.
    """

    command: str
    folder: Path

    def __post_init__(self) -> None:
        """Carry the command out once."""
        self.folder.mkdir()
        os.chdir(self.folder)
        self.ready = self.folder.with_name("ready")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self.words = prepare(self.command, self.folder)
        self.keeps = self.command in OF_A_RUN or (self.command in OTHERS)
        self.old = bits(rows_of(self.folder / "run")) if self.command == "extend" or self.keeps else []
        self.before = results(self.folder)
        shutil.copytree(self.folder, self.ready)
        with pytest.MonkeyPatch.context() as patch:
            counting = Strike()
            counting.install(patch)
            self.status = quiet(self.words)
        self.calls, self.whole = counting.names, results(self.folder)
        self.new = bits(rows_of(self.folder / "run")) if self.command not in WITHOUT_RUN else []

    def strike(self, strike: Strike) -> str:
        """Interrupt the command once; what is wrong, or nothing."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.ready, self.folder)
        os.chdir(self.folder)
        said = self.folder.with_name("said")
        status = interrupted(self.words, strike, said)
        try:
            self.look(status, said.read_text(), strike.number)
        except Exception as error:
            name = self.calls[strike.at]
            place = f"{self.command}: {signal.Signals(strike.number).name} {'after' if strike.after else 'before'} call {strike.at}, {name}"
            return f"{place}: {type(error).__name__} {error}"
        return ""

    def look(self, status: int, said: str, number: int) -> None:
        """Raise AssertionError or what a reader raises if something is wrong after a signal; carry the command out to its end."""
        assert status == 128 + number, f"status {status}: {said}"
        assert said.count("Interrupted.") <= 1, said
        assert "Traceback" not in said, said
        assert "Please report" not in said, said
        left = [
            str(path.relative_to(self.folder))
            for path in self.folder.rglob("*")
            if path.name.endswith(".tmp") or path.name.startswith(".lock")
        ]
        assert not left, f"left behind: {left}"
        if self.command not in WITHOUT_RUN:
            if self.keeps:
                assert bits(rows_of(self.folder / "run")) == self.old
            else:
                judge(self.command, self.folder, self.old, self.new)
        there = results(self.folder)
        picture = PICTURES.get(self.command)
        assert picture is None or there[picture] in (b"old", self.whole[picture]), picture
        assert mixture(self.command, there, self.before, self.whole) == []
        if self.command == "init" and there == self.whole:  # it overwrites nothing
            return
        assert (found := quiet(self.words)) == self.status, f"the same command then ends with {found}"
        ended = results(self.folder)
        assert ended == self.whole, (
            f"other files at the end: {[name for name in {**ended, **self.whole} if ended.get(name) != self.whole.get(name)]}"
        )


def walk(stride: int, first: int, only: list[str]) -> int:
    """Interrupt commands at every `stride`-th moment from `first` on, and print what is wrong; the exit status is 1 if anything was."""
    fast = Path("/dev/shm")  # in memory, where flushing takes no time
    root = Path(tempfile.mkdtemp(dir=fast if fast.is_dir() else None))
    wrong, tried = list[str](), 0
    try:
        with pytest.MonkeyPatch.context() as patch:
            install(patch)
            for command in only or [*COMMANDS, *OTHERS]:
                arena = Arena(command, root / "place")
                moments = [Strike(at, number, after) for at in range(len(arena.calls)) for after in (False, True) for number in SIGNALS]
                chosen = moments[first % stride :: stride]
                found = [arena.strike(each) for each in chosen]
                tried += len(chosen)
                wrong += filter(None, found)
                print(f"{command}: {len(arena.calls)} calls, {len(chosen)} interruptions, {sum(map(bool, found))} wrong", flush=True)
                first += len(moments) % stride
                os.chdir(root)
                shutil.rmtree(root / "place")
                shutil.rmtree(root / "ready")
    finally:
        shutil.rmtree(root)
    print("\n".join(wrong))
    print(f"tried {tried}")
    return int(bool(wrong))


if __name__ == "__main__":
    status = walk(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    sys.stdout.flush()
    os._exit(status)  # without the clean-up of the threads of Arrow, which were lost in the forks
