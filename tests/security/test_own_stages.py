"""Files that stages of an analysis keep and read back, with right checksums and wrong content."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.security.test_own_files import SECONDS, change_columns
from tests.sweep.execution.scenarios import install, put_ready
from tests.sweep.execution.test_answers import STUDY
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.answers import Answers
from tribosweep.sweep.execution.directory import RunDirectory

Captured = pytest.CaptureFixture[str]
WILD = np.array([0.0, 1.0, -1.0, 1e300, -1e300, np.nan, np.inf, -np.inf, 5e-324, 7.5, 1e20])
PLACE = {"optimise": "best", "calibrate": "fit"}  # where a command writes, if that is not `run`
READERS = {  # of that directory, by the command that has made it
    "boundary": (["resume", "run"], ["map", "run", "--out", "map.svg"], ["show", "run"], ["show", "run", "--json"], ["check", "run"]),
    "convergence": (["resume", "run"], ["convergence", "run", "--out", "c.svg"], ["show", "run"], ["show", "run", "--json"]),
    "subset": (["resume", "run"], ["rare", "run"], ["rare", "run", "--json"], ["show", "run"], ["check", "run"]),
    "branches": (
        ["branches", "paths.toml", "--out", "run", "--picture", "b.svg"],
        ["branches", "paths.toml", "--out", "run", "--json"],
        ["report", "run", "--out", "b.html"],
        ["show", "run"],
        ["map", "run", "--out", "map.svg"],
    ),
    "optimise": (["optimise", "choice.toml", "--out", "best", "--json"], ["report", "best", "--out", "r.html"], ["show", "best"]),
    "calibrate": (["calibrate", "fit.toml", "--out", "fit", "--json"], ["report", "fit", "--out", "r.html"], ["show", "fit"]),
    "sensitivity": (["report", "run", "--out", "r.html", "--traces", "0"], ["sensitivity", "run", "--json"], ["show", "run"]),
}


def walk(made: str, seeds: Iterable[int], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Give every reader runs of which one file has another content; none may end as a defect, or take long."""
    install(monkeypatch)
    (folder / "place").mkdir(parents=True)
    monkeypatch.chdir(folder / "place")
    assert main(put_ready(made, folder / "place")) in (0, 3)
    run = PLACE.get(made, "run")
    shutil.copytree(run, "sound")
    files = sorted(path.relative_to("sound") for path in Path("sound").rglob("*.parquet"))
    assert len(files) > 1
    for seed in seeds:
        rng = random.Random(seed)
        file = rng.choice(files)
        for words in READERS[made]:
            shutil.rmtree(run)
            shutil.copytree("sound", run)
            what = f"{made} {seed}: {file}: "
            try:
                what += change_columns(random.Random(seed), RunDirectory(Path(run)), Path(run) / file)
            except (KeyError, ValueError, TypeError, OverflowError):  # Arrow does not write that
                continue
            if rng.random() < 0.5:
                Path(run, "_SUCCESS").unlink(missing_ok=True)
            begun = time.process_time()
            status = main(words)
            said = capsys.readouterr()
            assert status in (0, 2, 3, 4), f"{what}: {words}: {said.err}"
            assert "Traceback" not in said.err, what
            assert time.process_time() - begun < SECONDS, f"{what}: {words}"


@pytest.mark.slow
@pytest.mark.parametrize("made", READERS)
def test_a_kept_file_of_wrong_content_never_ends_a_command_as_a_defect(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    walk(made, (0, 103), tmp_path, monkeypatch, capsys)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")  # of numbers that are infinite, or near the largest
@pytest.mark.parametrize("seed", range(8))
def test_kept_answers_of_any_numbers_end_no_optimisation_as_a_defect(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    rng = np.random.default_rng(seed)

    def kept(_self: Answers, _question: str, points: np.ndarray, size: int, _compute: object) -> np.ndarray:
        found = np.where(rng.random((len(points), size)) < 0.7, rng.random((len(points), size)), rng.choice(WILD, (len(points), size)))
        found[:, -1] = 1.0  # the point has results
        return found

    monkeypatch.setattr(Answers, "of", kept)
    monkeypatch.chdir(tmp_path)
    Path("brake.toml").write_text(STUDY)
    method = ["--set", "optimise.method='differential_evolution'"] if seed % 4 == 3 else []
    assert main(["optimise", "brake.toml", "--out", "best", "--json", *method]) in (0, 2, 3), capsys.readouterr().err


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")  # axes of pictures of numbers near the largest
@pytest.mark.slow
@pytest.mark.parametrize("made", READERS)
def test_two_hundred_kept_files_of_wrong_content(made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    walk(made, range(100, 300), tmp_path, monkeypatch, capsys)
