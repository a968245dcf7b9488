"""A fault at every single call by which a command changes files: killed, power lost, an input/output error, a full disk, half a write.

After each fault readers must see the whole old state, the whole new one, or an incomplete run without a false row; and the same command,
given again, must end as if nothing had been.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.execution.scenarios import (
    CALLS,
    COMMANDS,
    OF_A_RUN,
    OPENING,
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
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.integrity import check_run
from tribosweep.sweep.io import system

FAULTS = ("kill", "power", "EIO", "ENOSPC", "half a write and kill", "half a write and ENOSPC")
Undo = Callable[[], object]
SLOW = (pytest.mark.slow, pytest.mark.long)


class Killed(BaseException):
    """The process is gone: nothing that follows has an effect."""


@dataclass
class Faults:
    """Stands in for `tribosweep.sweep.io.system`, with a fault at one call.

    Attributes:
        at, kind: number of the call and the fault there. count: number of calls so far. dead: whether the process was killed.
        names: the calls so far. pending: folder, and what a loss of power undoes as long as the folder is not flushed.
        unflushed: descriptor -> file with content that is not on the disk.
    """

    at: int = -1
    kind: str = ""
    count: int = 0
    dead: bool = False
    names: list[str] = field(default_factory=list)
    pending: list[tuple[Path, Undo]] = field(default_factory=list)
    unflushed: dict[int, Path] = field(default_factory=dict)
    opened: dict[int, Path] = field(default_factory=dict)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put the faults in the place of the system."""
        for name in CALLS:
            patch.setattr(system, name, self.wrapped(name, getattr(system, name)))
        real = system.close

        def close(descriptor: int) -> None:
            self.opened.pop(descriptor, None)
            real(descriptor)

        patch.setattr(system, "close", close)

    def end(self) -> None:
        """What the system does when a process ends: it closes its files, and so releases its locks."""
        for descriptor in self.opened:
            os.close(descriptor)
        self.opened = {}

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """One call of the system."""

        def call(*given: Any, **named: Any) -> Any:
            if self.dead:
                raise Killed
            here, self.count = self.count == self.at, self.count + 1
            self.names.append(name)
            if here:
                self.strike(name, given)
            self.record(name, given)
            result = real(*given, **named)
            if name in OPENING:
                self.opened[result] = given[0]
            return result

        return call

    def strike(self, name: str, given: tuple[Any, ...]) -> None:
        """The fault."""
        if self.kind.startswith("half"):
            if name != "write":
                return
            os.write(given[0], given[1][: len(given[1]) // 2])
        if self.kind == "power":
            for _, undo in reversed(self.pending):
                undo()
        if self.kind.endswith(("kill", "power")):
            self.dead = True
            raise Killed
        number = errno.EIO if self.kind == "EIO" else errno.ENOSPC
        raise OSError(number, os.strerror(number), str(given[0]))

    def record(self, name: str, given: tuple[Any, ...]) -> None:
        """Remember what a loss of power would undo."""
        if name == "write":
            self.unflushed[given[0]] = self.opened[given[0]]
        elif name == "flush":
            self.unflushed.pop(given[0], None)
        elif name == "flush_folder":
            self.pending = [(folder, undo) for folder, undo in self.pending if folder != given[0]]
        elif name == "replace":
            assert given[0] not in self.unflushed.values(), "renamed before its content was on the disk"
            self.pending.append((given[1].parent, restore(given[1])))
        elif name in ("create_file", "open_file", "remove"):
            self.pending.append((given[0].parent, restore(given[0])))
        elif name == "make_folder":
            self.pending.append((given[0].parent, lambda: shutil.rmtree(given[0], ignore_errors=True)))


def restore(path: Path) -> Undo:
    """What brings a file back to its present content, or lets it be missing again."""
    content = path.read_bytes() if path.exists() else None

    def undo() -> None:
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        else:
            path.unlink(missing_ok=True)

    return undo


def judge(command: str, folder: Path, old: list[Any], new: list[Any]) -> None:
    """What readers see of a run after a fault."""
    out, damaged = folder / "run", command in ("resume", "repair")
    try:
        state = state_of(out)
    except ConfigError as error:
        assert not old, error  # only there was nothing before
        assert "holds no run" in str(error)
        return
    try:
        found = bits(Dataset(out).table())
    except ConfigError as error:
        assert "no shard is written yet" in str(error) or damaged, error  # damage that was there before
        found = []
    assert all(row in new or row in old for row in found)
    faults = check_run(out).faults
    assert not faults or damaged, faults
    if command in OF_A_RUN:
        assert (state["state"], found) == ("complete", old)
    elif state["state"] == "complete":
        assert found in (old, new)
        assert len(found) == RunDirectory(out).read_manifest()["points"] or command in ("boundary", "convergence", "subset")
        assert faults == {}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: flushing takes no time there."""
    fast = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=fast)) if fast.is_dir() else tmp_path
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("command", [name if name == "show" else pytest.param(name, marks=SLOW) for name in COMMANDS])
def test_a_fault_at_any_call_loses_nothing_and_marks_nothing_falsely(
    command: str, memory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch)
    folder, ready = memory / "place", memory / "ready"
    folder.mkdir()
    words = put_ready(command, folder)
    old = bits(rows_of(folder / "run")) if command in ("extend", *OF_A_RUN) else []
    before, picture = results(folder), PICTURES.get(command)
    shutil.copytree(folder, ready)
    with pytest.MonkeyPatch.context() as patch:
        counting = Faults()
        counting.install(patch)
        expected_status = main(words)
    whole, names = results(folder), counting.names
    new = bits(rows_of(folder / "run")) if command not in WITHOUT_RUN else []
    assert expected_status in (0, 3)
    assert len(names) > 5
    tried = 0
    for kind in FAULTS:
        for at, name in enumerate(names):
            if kind.startswith("half") and name != "write":
                continue
            shutil.rmtree(folder)
            shutil.copytree(ready, folder)
            faults = Faults(at, kind)
            with pytest.MonkeyPatch.context() as patch:
                faults.install(patch)
                try:
                    status = main(words)
                    assert status in (expected_status, 2), (kind, at, name, status)
                except Killed:
                    assert faults.dead
            assert not faults.opened or faults.dead
            faults.end()
            case = f"{kind} at call {at} of {len(names)}, {name}"
            try:
                if command not in WITHOUT_RUN:
                    judge(command, folder, old, new)
                there = results(folder)
                assert picture is None or there[picture] in (b"old", whole[picture])
                assert mixture(command, there, before, whole) == []
                assert main(words) == expected_status
                assert results(folder) == whole
            except (AssertionError, ConfigError, OSError) as error:
                raise AssertionError(case) from error
            tried += 1
        capsys.readouterr()
    with capsys.disabled():
        print(f"\n{command}: {len(names)} calls, {tried} faults tried")
