"""`tribosweep fragility`: tables, JSON, files, pictures and exit statuses, on walls whose capacity is known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tribosweep import sweep
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.shared import BAD_CONFIG, FAILED_ROWS

pytestmark = pytest.mark.slow  # all need programs that take seconds to compile

Captured = pytest.CaptureFixture[str]
FORCES = [0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6]  # at which the walls buckle; v0 is that force here, for m = k_n = 1


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten walls, each at ten speeds."""
    directory = tmp_path_factory.mktemp("fragility") / "walls"
    axes = {"v0": {"from": 0.25, "to": 2.05, "count": 10}, "f_crit": FORCES}
    known = {"k_post": 1.0, "f_post": 0.1}
    study = {"study": {"model": "buckling_wall", "name": "ten walls"}, "parameters": known, "time": {"end": 4.0}, "sweep": {"axes": axes}}
    sweep.run(study, directory)
    return directory


def test_the_table_has_curves_and_counts(walls: Path, tmp_path: Path, capsys: Captured) -> None:
    picture = tmp_path / "walls.png"
    asked = ["fragility", str(walls), "--event", "buckled=1", "--intensity", "v0", "--over", "f_crit"]
    assert main([*asked, "--method", "incremental", "--out", str(picture)]) == 0
    told = capsys.readouterr()
    assert "probability of buckled = 1 over v0 [m/s]" in told.out
    cells = next(line.split() for line in told.out.splitlines() if line.rstrip().endswith("profile"))
    assert cells[:3] == ["100", "55", "10"]
    assert float(cells[3]) == pytest.approx(math.exp(np.log(FORCES).mean()), rel=0.03)
    counts = [line.split() for line in told.out.splitlines() if line.split()[:1] in (["0.25"], ["1.05"], ["2.05"])]
    assert [row[1:4] for row in counts] == [["10", "0", "0"], ["10", "5", "0.5"], ["10", "10", "1"]]
    assert f"Written: {picture}" in told.err
    pixels = np.asarray(Image.open(picture).convert("RGB"), dtype=int)
    blue = (np.abs(pixels - [23, 86, 140]).sum(axis=2) < 40).any(axis=0)
    assert np.flatnonzero(blue)[-1] - np.flatnonzero(blue)[0] > 0.7 * pixels.shape[1]  # the curve goes from end to end
    assert pq.read_table(walls / "fragility" / "fits.parquet").num_rows == 1


def test_json_holds_everything(walls: Path, capsys: Captured) -> None:
    asked = ["fragility", str(walls), "--event", "buckled=1", "--intensity", "v0", "--over", "f_crit", "--resamples", "50", "--json"]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"][0]["interval"] == "bootstrap"
    assert found["fits"][0]["theta_low"] < found["fits"][0]["theta"] < found["fits"][0]["theta_high"]
    assert sum(point["events"] for point in found["points"]) == found["fits"][0]["events"] == 55  # 1 + 3 + 5 + 7 + 9 + 3 * 10
    assert len(found["curves"]) == 101
    assert [Path(file).name for file in found["files"]] == ["fits.parquet", "points.parquet", "curves.parquet"]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_cloud_and_several_curves_are_drawn(walls: Path, tmp_path: Path, suffix: str) -> None:
    cloud, curves = tmp_path / f"cloud{suffix}", tmp_path / f"curves{suffix}"
    head = ["fragility", str(walls), "--intensity", "v0"]
    assert (
        main([*head, "--over", "f_crit", "--event", "peak_force > 0.7 N", "--method", "cloud", "--resamples", "20", "--out", str(cloud)])
        == 0
    )
    assert cloud.stat().st_size > 10_000
    assert main([*head, "--event", "buckled=1", "--by", "f_crit", "--at", "f_crit=1.0", "--out", str(curves)]) == BAD_CONFIG
    assert not curves.exists()


def test_data_without_a_curve_are_drawn_and_told(walls: Path, tmp_path: Path, capsys: Captured) -> None:
    picture = tmp_path / "one.png"
    asked = ["fragility", str(walls), "--event", "buckled=1", "--intensity", "v0", "--at", "f_crit=1.0", "--out", str(picture)]
    assert main(asked) == FAILED_ROWS
    told = capsys.readouterr()
    assert "no lognormal curve: the data are separated between 0.85 and 1.05" in told.err
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--event", "buckled=1", "--intensity", "v0"], "--over f_crit"),
        (["--event", "bucled=1", "--intensity", "v0"], "did you mean 'buckled'"),
        (["--event", "buckled=1", "--intensity", "v0", "--over", "f_crit", "--out", "a.gif"], "must end in one of"),
        (["--event", "buckled=1", "--intensity", "v0", "--by", "f_crit", "--out", "a.png"], "at most 8"),
    ],
)
def test_wrong_questions_write_nothing(
    walls: Path, words: list[str], said: str, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fragility", str(walls), *words]) == BAD_CONFIG
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not [*tmp_path.iterdir()]
