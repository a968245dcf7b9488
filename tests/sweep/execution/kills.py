"""Kills at random moments: `python -m tests.sweep.execution.kills KILLS SEED [COMMAND ...]` prints a table.

Each victim is forked from this process, which has imported everything and computes nothing, so that a command takes a fraction of a second.
Its disk is as slow as a real one, so that many kills come between two changes of files, or in the middle of one. The moment is uniform over
the time that the command takes. After a kill follows the same command to its end, or another kill.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.execution.scenarios import (
    CALLS,
    COMMANDS,
    COMPUTING,
    PICTURES,
    WITHOUT_RUN,
    bits,
    install,
    mixture,
    put_ready,
    results,
    rows_of,
)
from tribosweep.sweep import ConfigError
from tribosweep.sweep.analysis.regime_map import RegimeMap
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io import sealed_parquet, system
from tribosweep.sweep.plots import regime_map

LOST, DOUBLED, FALSE, LEFT = "lost", "doubled", "false", "left"  # rows lost or doubled, false marks or sayings, other remains at the end
KINDS = (LOST, DOUBLED, FALSE, LEFT)
ANY = "any order"  # an extension, between other commands on the same run
DRAWN = ("run", "extend", "resume", "repair", ANY)  # their runs have two axes, and change
SAID = "said.txt"  # what a victim that was not killed has said
SLOWNESS = 0.003  # s that each change of a file takes
IN_A_ROW = 4
Fault = tuple[str, str]


def tell(words: list[str]) -> tuple[int, str, str]:
    """The exit status of a command in this process, and what it says on stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(words)
    return status, out.getvalue(), err.getvalue()


def start(words: list[str]) -> int:
    """Carry out a command in a process of its own; return its number."""
    process = os.fork()
    if process:
        return process
    status = 99
    try:
        slow_down()
        status, _, said = tell(words)
        Path(SAID).write_text(said)
    finally:
        os._exit(status)


def slow_down() -> None:
    """Let every change of a file take some time, and every writing stop in its middle."""
    patch = pytest.MonkeyPatch()
    write = system.write

    def by_halves(descriptor: int, data: bytes) -> None:
        write(descriptor, data[: len(data) // 2])
        time.sleep(SLOWNESS)
        write(descriptor, data[len(data) // 2 :])

    def late(call: Callable[..., Any]) -> Callable[..., Any]:
        def after_a_while(*given: Any, **named: Any) -> Any:
            time.sleep(SLOWNESS)
            return call(*given, **named)

        return after_a_while

    patch.setattr(system, "write", by_halves)
    for name in set(CALLS) - {"write"}:
        patch.setattr(system, name, late(getattr(system, name)))


def survives(words: list[str], seconds: float) -> int | None:
    """Kill a command after some time. The exit status of one that ended before; None for one that was killed."""
    process = start(words)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    ended = os.waitpid(process, 0)[1]
    return None if os.WIFSIGNALED(ended) else os.waitstatus_to_exitcode(ended)


def intact(run: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Every row in an intact shard, whatever the manifest says of it: its point and itself."""
    found = []
    for path in sorted((run / "points").glob("part-*.parquet")):
        try:
            table = sealed_parquet.read(path)
        except sealed_parquet.DamageError:
            continue
        found += [*zip(table.column("point").to_pylist(), bits(table), strict=True)]
    return found


def as_text(drawn: RegimeMap) -> str:
    """All that a map shows."""
    parts = [getattr(drawn, each.name) for each in fields(drawn)]
    return repr([each.tolist() if isinstance(each, np.ndarray) else each for each in parts])


@dataclass
class Arena:
    """A command, the state before it, and the state after it without any kill.

    Attributes:
        words: of the command; others: of commands that may stand between. seconds: how long it takes.
        ready: a copy of the folder before it. status, whole, rows: its exit status and the files and rows after it.
        old: rows of the run before it, if that was complete. before: files before it. maps: rows -> the map of a complete run.
    """

    command: str
    folder: Path
    words: list[str] = field(default_factory=list)
    others: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Carry the command out once, and then some times more to measure it."""
        self.folder.mkdir()
        self.run, self.ready = self.folder / "run", self.folder.with_name("ready")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self.words = put_ready("extend" if self.command == ANY else self.command, self.folder)
        if self.command == ANY:
            self.others = [[*words, str(self.run)] for words in (["resume"], ["check", "--repair"], ["map"], ["report"])]
        damaged = self.command in ("resume", "repair")
        self.old = [] if damaged else bits(rows_of(self.run)) if self.run.exists() else []
        self.before = results(self.folder)
        self.maps = {len(self.old): self.drawn()[0]} if self.old else {}
        shutil.copytree(self.folder, self.ready)
        self.status = tell(self.words)[0]
        self.whole, self.rows = results(self.folder), bits(rows_of(self.run)) if self.run.exists() else []
        self.maps[len(self.rows)] = self.drawn()[0]
        self.seconds = {tuple(words): self.measure(words) for words in (self.words, *self.others)}
        self.reset()

    def measure(self, words: list[str]) -> float:
        """How long a command takes."""
        times = []
        for _ in range(3):
            self.reset()
            begun = time.perf_counter()
            os.waitpid(start(words), 0)
            times.append(time.perf_counter() - begun)
        return statistics.median(times)

    def reset(self) -> None:
        """Put the state before the command."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.ready, self.folder)

    def drawn(self) -> tuple[str, str]:
        """What the map of the run would show, empty if there is none, and what the command says on stderr."""
        shown: list[str] = []
        if self.command not in DRAWN:
            return "", ""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regime_map, "draw", lambda drawn, *_: shown.append(as_text(drawn)))
            _, _, said = tell(["map", str(self.run)])
        return "".join(shown), said

    def judge_rows(self, before: list[tuple[int, tuple[str, ...]]]) -> Iterator[Fault]:
        """What a kill did to the rows, and what readers say of them."""
        there = intact(self.run)
        if gone := set(before) - set(there):
            yield LOST, f"{len(gone)} rows are gone"
        if len({point for point, _ in there}) < len(there):
            yield DOUBLED, "two shards hold the same points"
        if {row for _, row in there} - set(self.rows) - set(self.old):
            yield FALSE, "there are rows of no study"
        damaged = self.command in ("resume", "repair")
        try:
            state = state_of(self.run)
        except ConfigError as error:
            if "holds no run" not in str(error) or self.old or there:
                yield FALSE, f"readers say: {error}"
            return
        complete = state["state"] == "complete"
        try:
            read = bits(Dataset(self.run).table())
        except ConfigError as error:
            read = []
            if "no shard is written yet" not in str(error) and not (damaged and "part-000002" in str(error)):
                yield FALSE, f"readers say: {error}"
        if not set(read) <= {row for _, row in there} or len(read) != len(set(read)):
            yield DOUBLED, "readers see rows that are not there, or see them twice"
        yield from self.judge_mark(complete, read)
        yield from self.judge_words(complete, read, damaged)

    def judge_mark(self, complete: bool, read: list[tuple[str, ...]]) -> Iterator[Fault]:
        """Whether the mark of a complete run is true."""
        directory = RunDirectory(self.run)
        manifest = directory.stored_manifest()
        if complete != (bool(manifest) and directory.is_marked(manifest)):
            yield FALSE, "readers see another mark than there is"
        if complete and read not in (self.old, self.rows):
            yield FALSE, f"the run is marked as complete with {len(read)} rows"
        adaptive = self.command in ("boundary", "convergence", "subset")
        if complete and not adaptive and len(read) != manifest["points"]:
            yield FALSE, f"the mark is that of {manifest['points']} points, and {len(read)} are there"
        if not complete and self.command not in (*COMPUTING, ANY):
            yield LOST, "a command that only reads has left an incomplete run"
        for name in ("run/boundaries/boundaries.parquet", "run/convergence.parquet", "run/levels.parquet"):
            if complete and name in self.whole and results(self.folder).get(name) != self.whole[name]:
                yield FALSE, f"the run is marked as complete with another {name}"

    def judge_words(self, complete: bool, read: list[tuple[str, ...]], damaged: bool) -> Iterator[Fault]:
        """Whether check, show and map say of the run what it is."""
        status, said, why = tell(["check", str(self.run)])
        if status != 0 and not (damaged and status == 4):
            yield FALSE, f"check: {status} {said} {why}"
        if ("the run is complete" in said) != complete:
            yield FALSE, f"check: {said}"
        status, said, why = tell(["show", str(self.run)])
        if status not in (0, 2 if damaged else 0) or (f"{'complete' if complete else 'incomplete'}:" not in said and not damaged):
            yield FALSE, f"show: {status} {said} {why}"
        picture, why = self.drawn()
        if complete and picture != self.maps[len(read)]:
            yield FALSE, f"map: another picture of a complete run; {why}"
        if picture and not complete and "not complete" not in why:
            yield FALSE, f"map: an incomplete run without a word: {why}"

    def judge_files(self) -> Iterator[Fault]:
        """Whether the results of an analysis are the old ones, the new ones, or some of either."""
        there = results(self.folder)
        picture = PICTURES.get(self.command)
        if picture is not None and there.get(picture) not in (self.before[picture], self.whole[picture]):
            yield FALSE, f"{picture} is neither the old nor the new one"
        if mixed := mixture(self.command, there, self.before, self.whole):
            yield FALSE, f"the results of two calls stand together; of the old one are {mixed}"

    def judge(self, before: list[tuple[int, tuple[str, ...]]]) -> list[Fault]:
        """What a kill has spoilt, before anything mends it."""
        return [*(self.judge_rows(before) if self.command not in WITHOUT_RUN else ()), *self.judge_files()]

    def finish(self) -> list[Fault]:
        """Carry the command out to its end; what is otherwise than without kills."""
        status, _, said = tell(self.words)
        found = [(LEFT, f"the command ends with {status}: {said}")] if status != self.status else []
        there = results(self.folder)
        if self.command == ANY:  # its pictures may be left half-written by a command that is not given again
            there = {name: each for name, each in there.items() if "map.png" not in name and "report.html" not in name}
        rows = [row for _, row in intact(self.run)]
        if set(self.rows) - set(rows):
            found.append((LOST, "rows are missing at the end"))
        if len(rows) > len(set(rows)):
            found.append((DOUBLED, "rows are doubled at the end"))
        if different := [name for name in {**there, **self.whole} if there.get(name) != self.whole.get(name)]:
            found.append((LEFT, f"other files at the end: {different}"))
        return found

    def kill(self, count: int, chance: random.Random) -> tuple[Counter[str], list[str]]:
        """Kill the command `count` times; how often something was wrong, by kind, and what."""
        wrong, said, kills = Counter[str](), [], 0
        while kills < count:
            self.reset()
            for _ in range(chance.randint(1, IN_A_ROW)):
                words = chance.choice([self.words, *self.others])
                before = intact(self.run)
                status = survives(words, chance.uniform(0.0, self.seconds[tuple(words)]))
                kills += status is None
                faults = self.judge(before)
                if status not in (None, self.status) and not self.others:
                    faults.append((LEFT, f"the command ended with {status}: {Path(SAID).read_text()}"))
                said += [f"{self.command}, kill {kills}: {text}" for _, text in faults]
                wrong.update({kind for kind, _ in faults})
                if kills == count:
                    break
            faults = self.finish()
            said += [f"{self.command}, after kill {kills}: {text}" for _, text in faults]
            wrong.update({kind for kind, _ in faults})
        return wrong, said


def campaign(kills: int, seed: int, only: list[str]) -> int:
    """Kill all commands and print a table; the exit status is 1 if anything was wrong."""
    names = only or [*COMMANDS, ANY]
    fast = Path("/dev/shm")  # in memory, where flushing takes no time
    root = Path(tempfile.mkdtemp(dir=fast if fast.is_dir() else None))
    said: list[str] = []
    os.chdir(root)
    print("| command | takes [ms] | kills |", *(f" {kind} |" for kind in KINDS), sep="")
    try:
        with pytest.MonkeyPatch.context() as patch:
            install(patch)
            for number, name in enumerate(names):
                share = kills * (number + 1) // len(names) - kills * number // len(names)
                arena = Arena(name, root / "place")
                wrong, words = arena.kill(share, random.Random(f"{seed} {name}"))
                said += words
                taken = 1000.0 * arena.seconds[tuple(arena.words)]
                print(f"| {name} | {taken:.0f} | {share} |", *(f" {wrong[kind]} |" for kind in KINDS), sep="", flush=True)
                shutil.rmtree(root)
                root.mkdir()
                os.chdir(root)
    finally:
        shutil.rmtree(root)
    print("\n".join(dict.fromkeys(said)))
    return int(bool(said))


if __name__ == "__main__":
    status = campaign(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    sys.stdout.flush()
    os._exit(status)  # without the clean-up of the threads of Arrow, which were lost in the forks
