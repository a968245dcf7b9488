"""Commands that SIGINT or SIGTERM ends: exit status, words, files, and the same command carried out afterwards. See `interruptions`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sweep.cli.interruptions import OTHERS
from tests.sweep.execution.scenarios import COMMANDS
from tribosweep.sweep.cli.process import stoppable
from tribosweep.sweep.cli.shared import Terminated
from tribosweep.sweep.execution import lock
from tribosweep.sweep.io import system
from tribosweep.sweep.io.system import Undivided

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forked")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("stride", "commands"),
    [(61, ["run", "init"]), pytest.param(3, [*COMMANDS, *OTHERS], marks=pytest.mark.long)],
    ids=["few", "all"],
)
def test_a_signal_at_any_change_of_a_file_leaves_nothing_half_done(stride: int, commands: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.sweep.cli.interruptions", str(stride), "1", *commands]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=3600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"(?m)^(\w+): ", done.stdout) == commands


def test_an_exception_of_a_signal_waits_for_the_end_of_the_outermost_section() -> None:
    sections, passed = Undivided(), []
    assert not sections.put_off(Terminated())
    with pytest.raises(Terminated), sections:
        with sections:
            assert sections.put_off(Terminated())
        passed.append("inner")
    assert passed == ["inner"]
    with sections:
        passed.append("again")
    assert passed[1:] == ["again"]


def test_a_signal_that_python_cannot_raise_leaves_no_lock_and_says_how_a_command_goes_on(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from tribosweep.sweep.cli import process
from tribosweep.sweep.cli.shared import interruptible
from tribosweep.sweep.execution import lock
from tribosweep.sweep.execution.job_share import Share
released, undo = [], lock.release
lock.release = lambda path, *others: (released.append(path.name), undo(path, *others))
class Dying:
    def __del__(self):
        raise KeyboardInterrupt
sys.unraisablehook = process.stop_or_tell
sys.stdout.reconfigure(line_buffering=True)
place = Path({str(tmp_path / "new" / "inner")!r})
with interruptible(lambda: "The same command goes on."), lock.hold(place, Share(1, 2)):
    print(*sorted(path.name for path in place.iterdir()))
    process.os._exit, leave = lambda status: (print(*released), leave(status)), process.os._exit
    Dying()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "\nInterrupted. The same command goes on.\n")
    assert done.stdout == ".lock .lock-1-of-2\n.lock-1-of-2 .lock\n"  # as they are released without a signal
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("place", ["new", "new/inner"])
def test_a_signal_while_empty_folders_are_removed_leaves_none(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = system.remove_folder

    def struck(path: Path) -> None:
        signal.raise_signal(signal.SIGTERM)
        remove(path)

    monkeypatch.setattr(system, "remove_folder", struck)
    with pytest.raises(KeyboardInterrupt), stoppable(), lock.hold(tmp_path / place):
        pass
    assert not [*tmp_path.iterdir()]
    assert not lock.MADE
