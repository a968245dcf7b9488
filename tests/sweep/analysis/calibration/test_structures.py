"""Calibration of supports from impact forces that an independent integration made, and what is wrong with such a study."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

from tests.oracle.impact_forces import measured
from tribosweep.sweep import ConfigError
from tribosweep.sweep import load as load_study
from tribosweep.sweep.analysis.calibration import load as reading
from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, fit
from tribosweep.sweep.analysis.calibration.system import System
from tribosweep.sweep.analysis.calibration.uncertainty import fit_uncertainty
from tribosweep.sweep.cli import main

CONFIGS = Path(__file__).parents[4] / "configs"
BODY, RING = {"m": 0.5, "k": 3e4, "c": 3.0}, {"gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0}
SHAKE, END, SAMPLES, CELL = (400.0, 157.0), 0.03, 60, 5.0
STUDY: dict[str, Any] = {
    "study": {"model": "body", "scheme": "euler"},
    "structure": {"directions": "x"},
    "supports": {"stop": {"obstacle": "two planes", "gap": 1e-3, "k_n": 5e5, "c_n": 30.0}},
    "loads": {"x": {"amplitude": SHAKE[0], "omega": SHAKE[1]}},
    "parameters": BODY,
    "time": {"step": 1e-5},
    "calibration": {
        "starts": 1,
        "free": {"k_n[stop]": {"from": 2e5, "to": 1e6}, "gap[stop]": {"from": 7e-4, "to": 1.4e-3}},
        "traces": [{"file": "force.csv", "compare": {"normal_force[stop]": {"column": "force", "sd": CELL}}}],
    },
}
TESTS = {"amplitude[x]": [300.0, 400.0], "peak": [400.0, 500.0], "impulse": [3.0, 4.0]}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are relative to a folder of their own."""
    monkeypatch.chdir(tmp_path)


def exact_force() -> np.ndarray:
    """(time, x, y, force) of the mass that moves along x between two stops, which are a ring there."""
    each = 20_000
    found, *_ = measured(tuple(BODY.values()), tuple(RING.values()), (SHAKE, (0.0, 1.0)), END, SAMPLES * each, each)
    return np.asarray(found)


def written(**changes: Any) -> dict[str, Any]:
    """The study, whose files exist; `changes` replace keys of [calibration]."""
    pd.DataFrame({"time": [0.0, 0.002, 0.001, 0.004], "force": [0.0, 200.0, 100.0, 10.0]}).to_csv("force.csv", index=False)
    pd.DataFrame(TESTS).to_csv("tests.csv", index=False)
    study = copy.deepcopy(STUDY)
    study["calibration"] |= changes
    return study


COMPARE = {
    "normal_force_peak[stop]": {"column": "peak", "relative_sd": 0.01},
    "impulse[stop]": {"column": "impulse", "relative_sd": 0.01},
}


def test_tests_and_traces_of_a_structure_are_read() -> None:
    found = reading.load(written(data="tests.csv", compare=COMPARE))
    assert found.space.names == ("k_n[stop]", "gap[stop]")
    assert found.space.starts.tolist() == [5e5, 1e-3]  # of [supports.stop]
    data = found.data
    assert data.names == ("normal_force_peak[stop]", "impulse[stop]", "normal_force[stop]")
    assert data.settings["amplitude[x]"].tolist() == [300.0, 400.0, 400.0, 400.0, 400.0]
    assert data.settings["end"].tolist() == [12.0, 12.0, 0.004, 0.004, 0.004]  # the samples share a run
    assert data.tests.tolist() == [0, 1, 2, 2, 2]
    assert data.skipped == 1
    assert data.histories is not None
    assert data.histories.times[2].tolist() == [0.001, 0.002, 0.004]
    assert data.histories.at.tolist() == [0, 0, 1, 0, 2]
    assert found.config.design.count == 3
    system = System(found.config, found.space, data)
    assert system.stepped
    assert [part.kind for part in system.parts] == ["histories"]
    assert system.distinct.tolist() == [0, 1, 2]
    values = np.array([[5e5, 1e-3], [1e12, 1e-3]])  # with the second one the step is not stable
    assert system.admissible(values).tolist() == [True, False]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"free": {"k_n[stpo]": {"from": 1.0, "to": 2.0}}}, "free.k_n\\[stpo\\]: unknown parameter; did you mean 'k_n\\[stop\\]'"),
        ({"free": {"mu[stop]": {"from": 0.1, "to": 0.5}}}, "calibration.free.mu\\[stop\\]: unknown parameter"),
        ({"free": {"gap[stop]": {"from": 2e-3, "to": 3e-3}}}, "supports.stop.gap: the start 0.001 is outside the bounds"),
        ({"data": "tests.csv", "compare": {"normal_force_peak[stpo]": "peak"}}, "did you mean 'normal_force_peak\\[stop\\]'"),
        ({"traces": [{"file": "force.csv", "compare": {"normal_force[stpo]": {"column": "force", "sd": 1.0}}}]},
         "compare.normal_force\\[stpo\\]: no observable that can be compared; did you mean 'normal_force\\[stop\\]'"),
        ({"traces": [{"file": "force.csv", "settings": {"gap[stop]": 1e-3}, "compare": {"x[centre]": {"column": "force", "sd": 1.0}}}]},
         "is free: a setting of a trace"),
        ({"loops": [{"file": "force.csv", "compare": {"force": "force"}}]}, "a body has no loops of an imposed displacement"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_support_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        reading.load(written(**changes))


@pytest.mark.parametrize(
    ("section", "key", "value", "said"),
    [
        ("study", "scheme", "exact", "study.scheme: scheme 'exact' does not run bodies"),
        ("study", "scheme", "rk54", "where they are fixed \\(euler, devogelaere\\), not 'rk54'"),
        ("time", "end", 0.003, r"force.csv, column time, row 4: 0.004 s is after the end of the run, time.end = 0.003 s"),
        ("time", "step", 1e-2, "a fixed step must be stable"),
        ("supports", "stop", {"obstacle": "rnig", "k_n": 1.0}, "supports.stop.obstacle: 'rnig' is none; did you mean 'ring'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_steps_is_said(section: str, key: str, value: Any, said: str) -> None:
    study = written()
    study[section] = {**study[section], key: value}
    with pytest.raises(ConfigError, match=said):
        reading.load(study)


def test_all_is_said_at_once_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    written()
    Path("study.toml").write_text(
        '[study]\nmodel = "body"\nscheme = "adapt1"\n[structure]\ndirections = "x"\n[supports.stop]\nk_n = 5e5\n'
        '[calibration]\nseed = -1\n[calibration.free]\n"k_n[wall]" = { from = 1.0, to = 2.0 }\n[[calibration.traces]]\nfile = "force.csv"\n'
        'compare = { "normal_force[wall]" = { column = "force", sd = 1.0 } }\n',
        encoding="utf-8",
    )
    assert main(["calibrate", "study.toml"]) == 2
    said = capsys.readouterr().err
    for word in ("study.scheme", "calibration.seed", "k_n[wall]", "normal_force[wall]"):
        assert word in said


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_stiffness_and_gap_hold_the_truth_as_often_as_they_say() -> None:
    exact = exact_force()
    pd.DataFrame({"time": np.minimum(exact[:, 0], END), "force": exact[:, 3]}).to_csv("force.csv", index=False, float_format="%.17g")
    found = reading.load(copy.deepcopy(STUDY))
    system, space, count = System(found.config, found.space, found.data), found.space, 48
    truth = space.coordinates(np.array([5e5, 1e-3]))
    noisy = found.data.measured + CELL * np.random.default_rng(77).standard_normal((count, found.data.count))
    fits = fit(system, np.tile(space.coordinates(np.array([5.4e5, 1.02e-3])), (count, 1)), noisy)
    assert np.count_nonzero(fits.outcome == CONVERGED) >= count - 4  # a kink at the optimum may end a fit otherwise; all of them count here
    freedom = found.data.count - 2
    assert stats.chi2.ppf(1e-4, count * freedom) < fits.chi2.sum() < stats.chi2.ppf(1.0 - 1e-4, count * freedom)
    inside = np.zeros(2)
    for lane in range(count):
        known = fit_uncertainty(space, fits.coordinates[lane], fits.point.jacobian[lane], fits.chi2[lane], known=True, level=0.95)
        inside += np.abs(fits.coordinates[lane] - truth) <= 1.96 * known.sd
    assert (inside >= stats.binom.ppf(1e-3, count, 0.95)).all()  # 41 of 48
    # exact data: what is left is the error of the steps, far below the noise
    plain = fit(system, truth[np.newaxis])
    known = fit_uncertainty(space, plain.coordinates[0], plain.point.jacobian[0], plain.chi2[0], known=True, level=0.95)
    assert (np.abs(plain.coordinates[0] - truth) < 0.3 * known.sd).all()


@pytest.mark.long
@pytest.mark.slow
def test_the_example_finds_the_support_again(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["calibrate", str(CONFIGS / "calibrate_support.toml"), "--set", "calibration.starts=2", "--picture", "support.png"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "212 numbers from 106 runs" in printed.out
    assert "linearly between the ends of steps" in printed.err
    assert "Half the step changes" in printed.err
    assert "choose a shorter step" not in printed.err
    assert Path("support.png").stat().st_size > 10_000
    folder = Path("runs") / "calibrate_support"
    rows = pq.read_table(folder / "calibration.parquet").to_pylist()[:3]
    for row in rows:
        assert row["low"] < RING[row["parameter"].partition("[")[0]] < row["high"], row
    assert stats.chi2.ppf(1e-3, 209) < rows[0]["chi2"] < stats.chi2.ppf(1.0 - 1e-3, 209)
    fitted = load_study(folder / "fitted.toml")
    assert fitted.design.count == 7
    assert fitted.fixed["k_n[ring]"] == pytest.approx(rows[0]["value"])
