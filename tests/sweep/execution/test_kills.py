"""Commands killed at random moments by the system itself: nothing is lost, doubled or falsely marked. See `kills`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sweep.execution.kills import ANY, KINDS
from tests.sweep.execution.scenarios import COMMANDS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
KILLS, SEED = 50, 20261124


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forked")
def test_kills_at_random_moments_lose_nothing_and_mark_nothing_falsely(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "tests.sweep.execution.kills", str(KILLS), str(SEED)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")][1:]
    assert [row[0] for row in rows] == [*COMMANDS, ANY]
    assert sum(int(row[2]) for row in rows) == KILLS
    assert all(row[3:] == ["0"] * len(KINDS) for row in rows)
    with capsys.disabled():
        print(f"\n{done.stdout}")
