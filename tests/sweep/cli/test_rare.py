"""`tribosweep rare`: tables, JSON, a picture, a section of the report, and exit statuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tribosweep import sweep
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.shared import BAD_CONFIG, FAILED_ROWS
from tribosweep.sweep.report.content import read_content

pytestmark = pytest.mark.slow  # all need programs that take seconds to compile

Captured = pytest.CaptureFixture[str]
STUDY: dict[str, Any] = {
    "study": {"name": "stop", "model": "stop"},
    "parameters": {"m": 1.0, "k_n": 100.0},
    "time": {"end": 1.0},
    "sweep": {
        "design": "subset_simulation", "event": "peak_force > 18 N", "count": 100, "level_probability": 0.2, "seed": 3, "repeats": 2,
        "axes": {"v0": {"distribution": "normal", "mean": 1.0, "std": 0.2}, "m": {"distribution": "log_normal", "mean": 1.0, "std": 0.1}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def stop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repeats that climb to a large force of a stop."""
    directory = tmp_path_factory.mktemp("rare") / "stop"
    sweep.run(STUDY, directory)
    return directory


def test_the_tables_have_the_chance_and_its_levels(stop: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["rare", str(stop), "--out", str(tmp_path / "rare.png")]) == 0
    told = capsys.readouterr()
    assert "probability of peak_force > 18 N and its coefficient of variation" in told.out
    assert [line.split()[0:2] for line in told.out.splitlines() if line.startswith(" repeat ")][:2] == [["repeat", "0"], ["repeat", "1"]]
    assert "peak_force [N]" in told.out
    assert f"Written: {tmp_path / 'rare.png'}" in told.err
    pixels = np.asarray(Image.open(tmp_path / "rare.png").convert("RGB"), dtype=int)
    blue = (np.abs(pixels - [23, 86, 140]).sum(axis=2) < 40).any(axis=0)
    assert np.flatnonzero(blue)[-1] - np.flatnonzero(blue)[0] > 0.6 * pixels.shape[1]  # the curve goes to the limit


def test_json_python_and_the_report_tell_the_same(stop: Path, capsys: Captured) -> None:
    assert main(["rare", str(stop), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = sweep.open_run(stop).rare_event()
    assert told["estimate"]["probability"] == found.probability
    assert (told["estimate"]["low"], told["estimate"]["high"]) == found.interval
    assert {"directory": str(stop), **found.facts(), "notes": found.notes} == told
    assert repr(found).startswith("<RareEvent of peak_force > 18 N: ")
    assert list(found.to_pandas("curve").columns) == ["value", "chance", "low", "high"]
    assert found.to_pandas().exceedance.iloc[-1] == told["repeats"][1]["probability"]
    with pytest.raises(sweep.ConfigError, match="'level' is none; did you mean 'levels'"):
        found.to_pandas("level")
    content = read_content(stop, traces=0).facts
    shown = content["sections"]["rare"]
    assert dict(content["summary"])["Rare event"].startswith(
        f"probability of peak_force > 18 N: {told['estimate']['probability']:.3g}, 95 % interval"
    )
    assert shown["estimate"] == told["estimate"]
    assert (shown["limit"], shown["title"]) == (18.0, "probability of peak_force > 18 N")


def test_run_says_the_chance_and_check_finds_all_files(stop: Path, capsys: Captured) -> None:
    assert main(["resume", str(stop)]) == 0
    assert "Probability of peak_force > 18 N: " in capsys.readouterr().err
    assert main(["check", str(stop)]) == 0
    assert main(["show", str(stop)]) == 0


def test_an_incomplete_run_shows_its_levels_and_no_chance(stop: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "cut"
    shutil.copytree(stop, out)
    for number, shard in enumerate(sorted((out / "points").iterdir())):
        if number > 6:
            shard.unlink()
    (out / "_SUCCESS").unlink()
    assert main(["rare", str(out)]) == FAILED_ROWS
    told = capsys.readouterr()
    assert "The run is not complete" in told.err
    assert "0.04" in told.out  # the domain of level 2
    for shard in (out / "points").iterdir():
        shard.unlink()
    assert main(["rare", str(out)]) == BAD_CONFIG
    assert "level 0 is not complete: there is no probability yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["fragility", "--event", "peak_force > 18 N", "--intensity", "v0"],
            "crowd around its event; the probability of the event",
        ),
        (["show", "--over", "v0"], "crowd around its event: no means"),
        (["map", "--chance", "impacts>=1", "--bins", "4"], "crowd around its event: no statistics"),
        (["rare", "--confidence", "1.5"], "1.5 is out of bounds"),
        (["rare", "--out", "rare.doc"], "must end in one of"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], sentence: str, stop: Path, capsys: Captured) -> None:
    assert main([words[0], str(stop), *words[1:]]) == BAD_CONFIG
    assert sentence in capsys.readouterr().err


def test_a_dry_run_says_how_many_points_there_may_be(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(sweep.load(STUDY).to_toml())
    assert main(["run", str(tmp_path / "study.toml"), "--dry-run"]) == 0
    assert "200 points in 2 repeats to begin with" in capsys.readouterr().err
