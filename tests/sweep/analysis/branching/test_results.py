"""Branches of a study as files: against closed forms, after interruptions, and as a picture."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import tribosweep
from tests.oracle import stop_orbit
from tests.sweep.report.browser import open_browser
from tribosweep import sweep
from tribosweep.sweep.analysis.branching import analysis, results
from tribosweep.sweep.analysis.branching.load import load
from tribosweep.sweep.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.long]  # a study of branches takes a minute

STOP = {"m": 1.0, "k": 1.0, "c": 0.1, "k_n": 100.0, "c_n": 0.2, "omega": 1.7}
GAPS = [0.4, 0.5, 0.6]
STUDY = {
    "study": {"name": "gaps", "model": "stop"},
    "parameters": STOP,
    "branches": {"along": {"a0": {"from": 0.2, "to": 3.0}}, "curves": {"omega": {"from": 1.5, "to": 2.2}}, "places": 2},
    "sweep": {"axes": {"gap": GAPS}},
}
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> results.Branches:
    return analysis.carry_out(load(STUDY), tmp_path_factory.mktemp("branches") / "out")


def test_each_point_of_a_study_has_its_branches(found: results.Branches) -> None:
    branches = found.branches.to_pandas()
    assert branches["point"].tolist() == [0, 1, 2]
    assert (branches["folds"] == 2).all()
    assert (branches["least"] == 0.2).all()
    assert (branches["largest"] == 3.0).all()
    points = found.points.to_pandas()
    touches = points[points["special"] == "grazing"]
    expected = np.array(GAPS) * abs(1.0 - 1.7**2 + 0.1j * 1.7)
    np.testing.assert_allclose(touches["a0"], expected, atol=1e-10)
    np.testing.assert_allclose(touches["x_max"], GAPS, atol=1e-9)
    assert (touches["passage"] == "passes through").all()  # and folds right behind it: a soft stop
    assert (points["passage"].ne("") == (points["special"] == "grazing")).all()
    # the model is linear in the scale of gap and load: the folds of all gaps are at the same load over the gap
    folds = points[points["special"] == "fold"].groupby("point")["a0"].apply(sorted)
    for number, gap in enumerate(GAPS):
        np.testing.assert_allclose(np.array(folds[number]) / gap, np.array(folds[0]) / GAPS[0], rtol=1e-9)
    multipliers = np.array(points["multiplier_re"].tolist()) + 1j * np.array(points["multiplier_im"].tolist())
    free = points["impacts"].to_numpy() == 0.0
    np.testing.assert_allclose(np.abs(multipliers[free]), math.exp(-0.05 * 2.0 * math.pi / 1.7), atol=1e-12)
    assert found.points.schema.field("a0").metadata[b"unit"] == b"m/s^2"


def test_special_points_are_curves_in_two_parameters(found: results.Branches) -> None:
    assert found.curves is not None
    curves = found.curves.to_pandas()
    grazing = curves[curves["kind"] == "grazing"]
    gap = np.array(GAPS)[grazing["point"]]
    a0, omega = grazing["a0"].to_numpy(), grazing["omega"].to_numpy()
    np.testing.assert_allclose(a0, gap * np.abs(1.0 - omega**2 + 0.1j * omega), atol=1e-9)
    np.testing.assert_allclose(grazing["x_max"], gap, atol=1e-9)
    ranges = grazing.groupby("point")["omega"].agg(["min", "max"])
    assert ranges["min"].tolist() == [1.5] * 3
    assert (ranges["max"] > 2.0).all()
    assert set(grazing["begins"]) | set(grazing["ends"]) == {"bound"}
    folds = curves[curves["kind"] == "fold"]
    assert (folds.groupby("point")["curve"].nunique() == 1).all()  # both folds of a branch lie on one curve, with a cusp
    multipliers = np.array(folds["multiplier_re"].tolist()) + 1j * np.array(folds["multiplier_im"].tolist())
    np.testing.assert_allclose(np.abs(multipliers - 1.0).min(axis=1), 0.0, atol=1e-6)
    of_one = folds[folds["point"] == 1]
    for row in of_one.iloc[[len(of_one) // 4, 3 * len(of_one) // 4]].itertuples():
        load, rate = at_fold({**STOP, "gap": GAPS[1], "omega": row.omega}, row.slowest_impact)
        assert row.a0 == pytest.approx(load, abs=1e-9)
        assert abs(rate) < 1e-6
    # the model is linear in the scale of gap and load: the cusps are at one frequency
    np.testing.assert_allclose(folds.groupby("point")["omega"].max(), folds["omega"].max(), atol=2e-3)
    assert found.curves.schema.field("omega").metadata[b"unit"] == b"rad/s"


def at_fold(p: dict[str, float], speed: float) -> tuple[float, float]:
    """Load of the motion with this speed of impact, and how it grows with the speed, from the closed form of its two stretches."""
    with mp.workdps(stop_orbit.DIGITS):
        first = min(speed, 3e-3)
        ratio = (mpf(speed) / first) ** (mpf(1) / 16)
        last = stop_orbit.branch(p, [first * ratio**i for i in range(17)])[-1]
        state, h = (last.entry, last.exit, last.a0), speed * mpf("1e-8")
        ahead, behind = stop_orbit.orbit(p, last.speed + h, state).a0, stop_orbit.orbit(p, last.speed - h, state).a0
        return float(last.a0), float((ahead - behind) / (2 * h))


@pytest.mark.long
def test_what_was_computed_is_kept_and_what_is_damaged_is_not(found: results.Branches, monkeypatch: pytest.MonkeyPatch) -> None:
    before = found.points
    file = results.block_file(found.directory, 0)
    stamp = file.stat().st_mtime_ns
    again = analysis.carry_out(load(STUDY), found.directory)
    assert again.points.equals(before)
    assert file.stat().st_mtime_ns == stamp
    assert again.curves is not None
    assert again.curves.equals(found.curves)
    (found.directory / "branches.parquet").unlink()
    (found.directory / "curves.parquet").unlink()
    file.write_bytes(file.read_bytes()[:-50])
    again = analysis.carry_out(load(STUDY), found.directory)
    assert again.points.equals(before)
    assert again.curves is not None
    assert again.curves.equals(found.curves)
    assert (found.directory / "curves.parquet").exists()
    monkeypatch.setattr(results, "BLOCK", 2)
    other = {**STUDY, "branches": {**STUDY["branches"], "places": 1}}
    assert not results.is_there(load(other), found.directory, 0)


def test_the_command_lists_draws_and_writes(found: results.Branches, tmp_path: Path, capsys: Captured) -> None:
    study = found.directory / "config.toml"
    assert main(["branches", str(study), "--out", str(found.directory), "--picture", str(tmp_path / "a.png")]) == 0
    told = capsys.readouterr()
    assert "steady motion" in told.out
    assert "grazing, passes through" in told.out
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert main(["branches", str(study), "--out", str(found.directory), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["branches"]) == 3
    assert {row["special"] for row in printed["special"]} == {"grazing", "fold"}
    assert {(row["kind"], row["point"]) for row in printed["curves"]} == {(kind, i) for kind in ("fold", "grazing") for i in range(3)}
    assert main(["branches", str(study), "--out", str(found.directory), "--picture", str(tmp_path / "b.png"), "--observable", "xmax"]) == 2
    assert "x_max" in capsys.readouterr().err
    assert main(["map", str(found.directory)]) == 2
    assert "holds branches, not a run" in capsys.readouterr().err


def test_the_report_draws_every_motion(found: results.Branches, tmp_path: Path, capsys: Captured) -> None:
    page = tmp_path / "branches.html"
    assert main(["report", str(found.directory), "--color", "peak_force", "--out", str(page)]) == 0
    assert "3 branches, " in capsys.readouterr().err
    points = found.points.to_pandas()
    with open_browser() as browser:
        browser.open(page)
        assert browser.complaints() == []
        assert browser.text("study") == "gaps"
        assert browser.text("sentences").startswith("Branches\n3 branches of 3 points of the study, followed in a0 from 0.2 to 3 m/s²")

        def drawn(name: str) -> list[dict[str, Any]]:
            script = (
                "return element(arguments_[0]).data.map(({ mode, name, x, y, line, type }) => ({ mode, name, x, y, dash: line?.dash }))"
            )
            traces: list[dict[str, Any]] = browser.run(script, name)
            return traces

        lines = drawn("branches-chart")
        for kind, dash in ((True, "solid"), (False, "dash")):
            shown = {(x, y) for each in lines if each["dash"] == dash for x, y in zip(each["x"], each["y"], strict=True) if x is not None}
            for row in points[points["stable"] == kind].itertuples():
                assert (np.float32(row.a0), np.float32(row.peak_force)) in shown
        marks = {each["name"]: sorted(each["x"]) for each in lines if each["mode"] == "markers"}
        for kind in ("fold", "grazing"):
            np.testing.assert_allclose(marks[kind], sorted(points["a0"][points["special"] == kind]), rtol=1e-7)
        browser.run("element('point').value = '1'; element('observable').value = 'multiplier'; await drawBranches()")
        lines = drawn("branches-chart")
        for each in lines:  # a piece begins with the last row of the one before it, which has the other stability
            pieces = [list(piece) for gap, piece in itertools.groupby(each["y"], lambda y: y is None) if not gap]
            if each["mode"] == "lines" and each["dash"] in ("solid", "dash"):
                sign = 1.0 if each["dash"] == "solid" else -1.0
                assert all(sign * y <= sign for piece in pieces for y in piece[1:])  # 1 at a fold: numbers of a page have 7 digits
        assert {each["dash"] for each in lines} >= {"solid", "dash"}
        assert found.curves is not None
        curves = [each for each in drawn("curves-chart") if each["name"] in ("fold", "grazing")]
        assert sum(len(each["x"]) for each in curves) == found.curves.num_rows
        cells = browser.run(
            "return [...element('specials').querySelectorAll('tbody tr')].map((line) => [...line.cells].map((cell) => cell.textContent))"
        )
        assert [(row[0], row[2]) for row in cells] == [
            (f"gap = {GAPS[row.point]:g} m", row.special) for row in points[points["special"] != ""].itertuples()
        ]
        browser.picture("report_branches")
    assert tribosweep.branches(STUDY, found.directory, progress=False).report(tmp_path / "again.html").read_text() != ""
    assert main(["report", str(found.directory), "--color", "peak", "--out", str(page)]) == 2
    assert "peak_force" in capsys.readouterr().err
    assert main(["report", str(found.directory), "--x", "gap", "--out", str(page)]) == 2
    assert "--x: is of runs: the report of branches has none" in capsys.readouterr().err


def test_only_whole_branches_have_a_report(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points").mkdir()
    assert main(["report", str(tmp_path)]) == 2
    assert "its branches are not complete: tribosweep branches goes on" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_branches_do_not_go_into_a_run(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(sweep.ConfigError, match="is the directory of a run: branches go to one of their own"):
        analysis.carry_out(load(STUDY), tmp_path)
