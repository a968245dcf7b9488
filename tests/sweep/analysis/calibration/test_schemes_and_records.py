"""Calibrations by time schemes, of what exact does not run, and under records; derivatives against differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.oracle.presliding import integrate
from tribosweep import sweep
from tribosweep.sweep import ConfigError
from tribosweep.sweep.analysis.calibration import load as reading
from tribosweep.sweep.analysis.calibration.analysis import carry_out
from tribosweep.sweep.analysis.calibration.results import CalibrationResult
from tribosweep.sweep.analysis.calibration.system import System

BRISTLES = {"mu": 0.12, "bristle_stiffness": 2e4, "viscous_friction": 0.6}
OSCILLATOR = {"m": 1.0, "k": 400.0, "bristle_damping": 60.0, "a0": 8.0, "omega": 25.0}
LUGRE: dict[str, Any] = {
    "study": {"scheme": "euler"},
    "parameters": {**OSCILLATOR, **BRISTLES},
    "time": {"step": 2e-4},
    "calibration": {
        "starts": 3,
        "free": {
            "mu": {"from": 0.05, "to": 0.3, "start": 0.2},
            "bristle_stiffness": {"from": 5e3, "to": 8e4, "start": 6e3},
            "viscous_friction": {"from": 0.1, "to": 3.0, "start": 2.0},
        },
        "traces": [{"file": "motion.csv", "compare": {"x": {"column": "x", "sd": 2e-5}, "v": {"column": "v", "sd": 1e-3}}}],
    },
}
INTERVAL = 0.02
QUAKES = {f"quake{seed}": np.cumsum(np.random.default_rng(seed).normal(size=101)) * np.hanning(101) for seed in (1, 2)}
SHAKEN: dict[str, Any] = {
    "excitation": {"records": [f"{name}.csv" for name in QUAKES]},
    "parameters": {"m": 1.0, "c": 1.0, "mu": 0.1},
    "time": {"end": 2.0, "step": 1e-3},
    "calibration": {
        "data": "tests.csv",
        "starts": 2,
        "free": {"mu": {"from": 0.02, "to": 0.3, "start": 0.2}, "k": {"from": 20.0, "to": 200.0, "start": 40.0}},
        "compare": {"wear_power": {"column": "power", "sd": 1e-3}, "max_slip_speed": {"column": "speed", "sd": 1e-4}},
    },
}
TRUE = (0.1, 80.0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are relative to a folder of their own."""
    monkeypatch.chdir(tmp_path)
    for name, samples in QUAKES.items():
        pd.DataFrame({"time": INTERVAL * np.arange(len(samples)), "acceleration": samples}).to_csv(f"{name}.csv", index=False)
    tests = {"record": list(QUAKES) * 2, "record_scale": [1, 1, 1.5, 1.5], "power": 0.1, "speed": 0.1}
    pd.DataFrame(tests).to_csv("tests.csv", index=False)


def hold_derivatives(system: System, coordinates: np.ndarray, h: float = 1e-6, allowed: float = 1e-6) -> None:
    """Hold the Jacobian to central differences of the computed numbers, `allowed` of its largest entry."""
    ahead, behind = (coordinates + sign * h * np.eye(len(coordinates)) for sign in (1.0, -1.0))
    points = system.at(np.vstack([coordinates, ahead, behind]))
    count = len(coordinates)
    slopes = (points.predicted[1 : 1 + count] - points.predicted[1 + count :]).T / (2.0 * h) / system.data.spread[:, None]
    jacobian = points.jacobian[0][: system.data.count]
    np.testing.assert_allclose(jacobian, slopes, rtol=0.0, atol=allowed * np.abs(slopes).max())


def recovered(result: CalibrationResult, true: Any) -> None:
    """Hold the best fit to the true parameters: within four standard deviations."""
    assert result.converged
    found = result.system.space.values(result.optima[0].coordinates[None])[0]
    away = np.abs(result.optima[0].coordinates - result.system.space.coordinates(np.array([list(true)]))[0]) / result.known[0].sd
    assert np.all(away < 4.0), (found, away)


def test_traces_of_a_time_scheme_share_a_run() -> None:
    pd.DataFrame({"time": [0.0, 0.1, 0.2], "x": [0.0, 0.1, 0.2], "v": 0.0}).to_csv("motion.csv", index=False)
    found = reading.load(LUGRE)
    assert found.data.settings["end"].tolist() == [0.2, 0.2]
    assert found.data.histories is not None
    system = System(found.config, found.space, found.data)
    assert system.stepped
    assert [part.kind for part in system.parts] == ["histories"]
    for scheme in ("rk54", "adapt2"):
        with pytest.raises(ConfigError, match=f"study.scheme: a calibration follows the derivatives of 'exact', or .* not '{scheme}'"):
            reading.load(LUGRE, [f"study.scheme={scheme}"])
    with pytest.raises(ConfigError, match="no presliding friction"):
        reading.load(LUGRE, ["study.scheme=exact"])


@pytest.mark.slow
def test_lugre_friction_is_found_from_its_motion() -> None:
    """The motion is integrated by SciPy, with noise; the derivatives are those of the steps."""
    times = np.linspace(0.02, 0.5, 25)
    friction = {"mu_s": 0.12, "mu_d": 0.12, "normal_force": 10.0, **BRISTLES}
    motion = [integrate({**OSCILLATOR, **friction}, float(time), 1e-9) for time in times]
    noise = np.random.default_rng(5).normal(size=(2, len(times))) * [[2e-5], [1e-3]]
    table = {"time": times, "x": [each["x"] for each in motion] + noise[0], "v": [each["v"] for each in motion] + noise[1]}
    pd.DataFrame(table).to_csv("motion.csv", index=False)
    result = carry_out(reading.load(LUGRE))
    recovered(result, BRISTLES.values())
    hold_derivatives(result.system, result.optima[0].coordinates)
    assert any("Half the step changes" in note for note in result.notes)


def measured(study: dict[str, Any]) -> None:
    """Write the tests of a study: what a run with the true parameters gives, with noise."""
    points = {"mu": TRUE[0], "k": TRUE[1]}
    rows = pd.read_csv("tests.csv").drop(columns=["power", "speed"])
    run = {key: value for key, value in study.items() if key != "calibration"}
    run["parameters"] = {**run["parameters"], **points}
    run["sweep"] = {"design": "zip", "axes": {name: rows[name].tolist() for name in rows}}
    table = sweep.run(sweep.load(run), "true").to_pandas().sort_values("point")
    assert (table["status"].astype(str) == "ok").all()
    noise = np.random.default_rng(3).normal(size=(2, len(rows)))
    rows["power"] = table["wear_power"].to_numpy() + 1e-3 * noise[0]
    rows["speed"] = table["max_slip_speed"].to_numpy() + 1e-4 * noise[1]
    rows.to_csv("tests.csv", index=False)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [pytest.param("exact", marks=pytest.mark.long), "euler"])
def test_friction_is_found_under_records_and_draws(scheme: str) -> None:
    """Records by exact, random draws by a time scheme; each at two scales."""
    study: dict[str, Any] = {**SHAKEN, "study": {"scheme": scheme}}
    if scheme != "exact":
        study["excitation"] = {"random": {"band": [1.0, 8.0], "rms": 3.0, "duration": 2.5, "interval": INTERVAL}}
        pd.read_csv("tests.csv").rename(columns={"record": "draw"}).assign(draw=[4, 7, 4, 7]).to_csv("tests.csv", index=False)
        study["parameters"] = {**study["parameters"], "k_t": 1e4, "c_t": 50.0}
    measured(study)
    result = carry_out(reading.load(study))
    recovered(result, TRUE)
    # derivatives follow the starts and ends of slip, the steps of euler do not: differences over many steps, which scatter
    differences = {} if scheme == "exact" else {"h": 1e-2, "allowed": 0.1}
    hold_derivatives(result.system, result.optima[0].coordinates, **differences)
