"""Loops of an imposed displacement: fits find known contacts again, and what is wrong with a loop is said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import optimize
from scipy.ndimage import minimum_filter

from tribosweep import kernels
from tribosweep.sweep import ConfigError
from tribosweep.sweep.analysis.calibration import load as reading
from tribosweep.sweep.analysis.calibration.analysis import carry_out
from tribosweep.sweep.analysis.calibration.results import CalibrationRequest, CalibrationResult
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.calibration import print_result

CONFIGS = Path(__file__).parents[4] / "configs"


def cycle(amplitude: float, samples: int = 80) -> np.ndarray:
    """One cycle of a sine."""
    return amplitude * np.sin(2.0 * math.pi * np.arange(samples) / samples)


def parallelogram(x: np.ndarray, k_t: float, slide: float) -> np.ndarray:
    """The force over a path from an unloaded spring: what the spring gains, cut off at the friction (Prandtl's element)."""
    force, found = 0.0, [0.0]
    for step in np.diff(x):
        force = min(slide, max(-slide, force + k_t * step))
        found.append(force)
    return np.array(found)


def fitted(document: dict[str, Any]) -> tuple[CalibrationResult, dict[str, float]]:
    """A calibration, and the values of its best fit."""
    calibration = reading.load(document)
    result = carry_out(calibration, CalibrationRequest())
    values = result.space.values(result.optima[0].coordinates)
    return result, dict(zip(result.space.names, values, strict=True))


def loop_study(files: list[str], free: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A study of loops of one contact."""
    loops = [{"file": file, "compare": {"force": {"column": "F", "sd": 1.0}}, **more} for file in files]
    return {
        "study": {"model": "rubbing_mass"}, "parameters": {"normal_force": 200.0},
        "calibration": {"starts": 6, "seed": 2, "free": free, "loops": loops},
    }  # fmt: skip


@pytest.mark.slow
def test_a_fit_finds_stiffness_and_friction_of_parallelograms_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, samples, amplitude in (("a.csv", 80, 1e-3), ("b.csv", 50, 1e-4)):  # slips, and sticks; of different lengths
        x = cycle(amplitude, samples)
        pd.DataFrame({"x": x, "F": parallelogram(x, 5e5, 60.0)}).to_csv(name, index=False, float_format="%.17g")
    result, found = fitted(loop_study(["a.csv", "b.csv"], {"k_t": {"from": 1e5, "to": 2e6}, "mu": {"from": 0.05, "to": 1.0}}))
    assert found["k_t"] == pytest.approx(5e5, rel=1e-8)
    assert found["mu"] == pytest.approx(0.3, rel=1e-8)
    assert result.converged > 0
    assert any("displacements of their samples" in note for note in result.notes)


@pytest.mark.slow
def test_a_fit_finds_a_dahl_contact_and_a_steady_loop_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = cycle(5e-4)
    known = {"normal_force": 200.0, "mu": 0.4, "dahl_stiffness": 3e5}
    pd.DataFrame({"x": x, "F": np.asarray(kernels.hysteresis("rubbing_mass", known, x, steady=True)["force"])}).to_csv(
        "loop.csv", index=False, float_format="%.17g"
    )
    free = {"dahl_stiffness": {"from": 5e4, "to": 1e6}, "mu": {"from": 0.1, "to": 1.0}}
    _, found = fitted(loop_study(["loop.csv"], free, steady=True))
    assert found["dahl_stiffness"] == pytest.approx(3e5, rel=1e-7)
    assert found["mu"] == pytest.approx(0.4, rel=1e-7)


@pytest.mark.slow
def test_a_fit_finds_a_wall_again_that_was_crushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = np.concatenate([np.linspace(0.0, 3.0, 60), np.linspace(2.95, 0.5, 40)])
    known = {"k_n": 1.2, "f_crit": 0.9, "f_post": 0.4, "k_post": 0.7, "softening": 0.5}
    pd.DataFrame({"u": x, "F": np.asarray(kernels.hysteresis("buckling_wall", known, x)["force"])}).to_csv("wall.csv", index=False)
    document = {
        "study": {"model": "buckling_wall"}, "parameters": {"softening": 0.5},
        "calibration": {
            "starts": 6, "free": {"k_n": {"from": 0.8, "to": 3.0}, "f_crit": {"from": 0.6, "to": 1.5}, "f_post": {"from": 0.2, "to": 0.5},
                                  "k_post": {"from": 0.5, "to": 2.0}},
            "loops": [{"file": "wall.csv", "displacement": "u", "compare": {"force": {"column": "F", "sd": 0.01}}}],
        },
    }  # fmt: skip
    _, found = fitted(document)
    assert found == {name: pytest.approx(known[name], rel=1e-6) for name in found}


@pytest.mark.slow
def test_the_example_is_solved_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", str(CONFIGS / "calibrate_loop.toml"), "--picture", "loop.png"]) == 0
    assert "240 numbers from 240 runs" in capsys.readouterr().out
    assert (tmp_path / "loop.png").stat().st_size > 10_000
    table = pq.read_table(tmp_path / "runs" / "calibrate_loop" / "calibration.parquet").to_pylist()
    values = {row["parameter"]: (row["low"], row["high"]) for row in table[:2]}
    assert values["k_t"][0] < 2.5e7 < values["k_t"][1]
    assert values["mu"][0] < 0.6 < values["mu"][1]


def least_misfit(x: np.ndarray, measured: np.ndarray) -> float:
    """The least chi^2 of Prandtl's element over the bounds of `SLIP_FREE`: the valleys of a grid, each followed by a simplex."""
    logs, frictions = np.linspace(math.log(2e6), math.log(2e8), 121), np.linspace(0.1, 1.5, 121)
    stiff, slide = np.meshgrid(np.exp(logs), 500.0 * frictions, indexing="ij")
    force, chi2 = np.zeros_like(stiff), np.full_like(stiff, measured[0] ** 2)
    for step, there in zip(np.diff(x), measured[1:], strict=True):
        force = np.clip(force + stiff * step, -slide, slide)
        chi2 += (force - there) ** 2
    low, high = np.array([logs[0], frictions[0]]), np.array([logs[-1], frictions[-1]])

    def loss(p: np.ndarray) -> float:
        log, mu = np.clip(p, low, high)
        return float(np.sum((parallelogram(x, math.exp(log), 500.0 * mu) - measured) ** 2)) / 25.0

    valleys = np.argwhere(chi2 == minimum_filter(chi2, 3))
    valleys = valleys[np.argsort(chi2[tuple(valleys.T)])][:25]
    found = []
    for i, j in valleys:
        first = np.array([logs[i], frictions[j]])
        simplex = first + np.array([[0.0, 0.0], [0.03, 0.0], [0.0, 0.01]])
        options = {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 2000, "initial_simplex": simplex}
        found.append(optimize.minimize(loss, first, method="Nelder-Mead", options=options).fun)
    return float(min(found))


SLIP_FREE = {"k_t": {"from": 2e6, "to": 2e8}, "mu": {"from": 0.1, "to": 1.5}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("samples", "sets"),
    [
        pytest.param(40, [2, 31], id="stuck-at-a-kink-and-on-another-piece"),
        pytest.param(40, range(100), marks=pytest.mark.long, id="40"),
        pytest.param(8, range(100), marks=pytest.mark.long, id="8"),
    ],
)
def test_no_fit_of_a_loop_with_noise_is_worse_than_the_least_squares_of_a_grid(
    samples: int, sets: Sequence[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    x = 5e-5 * np.sin(2.5 * math.pi * np.arange(samples) / samples)
    noise = 5.0 * np.random.default_rng(0).standard_normal((max(sets) + 1, samples))
    document = loop_study(["loop.csv"], SLIP_FREE)
    document["parameters"]["normal_force"] = 500.0
    document["calibration"] |= {"seed": 1, "loops": [{"file": "loop.csv", "compare": {"force": {"column": "F", "sd": 5.0}}}]}
    for number in sets:
        measured = parallelogram(x, 2.5e7, 275.0) + noise[number]
        pd.DataFrame({"x": x, "F": measured}).to_csv("loop.csv", index=False, float_format="%.17g")
        result, _ = fitted(document)
        least = least_misfit(x, measured)
        assert result.optima[0].chi2 <= least + 1e-4 * max(1.0, least), number
        assert result.converged, number
        assert sum(len(each.lanes) for each in result.optima) == 6, number  # all fits are in the table


LOOP = {"x": [0.0, 1e-4, 2e-4], "F": [0.0, 1.0, 2.0]}
FREE = {"mu": {"from": 0.1, "to": 1.0}}
K_T = {"k_t": {"from": 1e5, "to": 1e6}}


@pytest.mark.parametrize(
    ("data", "free", "changes", "said"),
    [
        (LOOP, FREE, {}, "k_t: rigid friction has no force of its own"),
        ({"u": [0.0, 1.0], "F": [0.0, 1.0]}, K_T, {}, "has no column 'x'"),
        ({"x": [0.0, None, 1e-4], "F": [0.0, 1.0, 2.0]}, K_T, {}, "every sample of a loop has a displacement"),
        (LOOP | {"time": [0.0, 1.0, 1.0]}, K_T, {}, "the times of a loop ascend"),
        ({"x": [0.0], "F": [0.0]}, K_T, {}, "a loop has two at least"),
        (LOOP, K_T, {"steady": 1}, "must be true or false"),
        (LOOP, K_T, {"displacement": 3}, "must be the name of a column"),
        (LOOP, K_T, {"compare": {"wear_power": "F"}}, "no observable that can be compared"),
        (LOOP, K_T, {"settings": {"end": 3.0}}, "has times of its own"),
        (LOOP, K_T, {"settings": {"mu": "much"}}, "settings.mu: must be a number, not 'much'"),
        (LOOP, K_T, {"settings": {"mu_s": [0.3]}}, "settings.mu_s: must be a number"),
        (LOOP, K_T, {"speed": 3}, "unknown key"),
        (LOOP, K_T | {"bristle_stiffness": {"from": 1.0, "to": 2.0}}, {}, "give the times of the samples"),
    ],
)
def test_what_is_wrong_with_a_loop_is_said(
    data: dict[str, list[Any]], free: dict[str, Any], changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(data).to_csv("loop.csv", index=False)
    document = loop_study(["loop.csv"], free)
    document["calibration"]["loops"][0] |= changes
    with pytest.raises(ConfigError, match=said):
        reading.load(document)


def test_loops_stand_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(LOOP).to_csv("loop.csv", index=False)
    pd.DataFrame({"time": [0.0, 1.0], "x": [0.0, 1.0]}).to_csv("trace.csv", index=False)
    document = loop_study(["loop.csv"], K_T)
    document["calibration"]["traces"] = [{"file": "trace.csv", "compare": {"x": {"column": "x", "sd": 1.0}}}]
    with pytest.raises(ConfigError, match="stand alone"):
        reading.load(document)


def with_priors(tmp_path: Path, measured: np.ndarray, x: np.ndarray, sd: float, prior: tuple[float, float] | None, noise: str) -> Any:
    """The calibration of a loop of friction 275 N with a stated standard deviation, perhaps with a prior of mu."""
    pd.DataFrame({"x": x, "F": measured}).to_csv(tmp_path / "loop.csv", index=False, float_format="%.17g")
    free: dict[str, Any] = {**SLIP_FREE}
    if prior is not None:
        free["mu"] = {**free["mu"], "prior": {"mean": prior[0], "std": prior[1]}}
    document = loop_study(["loop.csv"], free)
    document["parameters"]["normal_force"] = 500.0
    loop = {"file": str(tmp_path / "loop.csv"), "compare": {"force": {"column": "F", "sd": sd}}}
    document["calibration"] |= {"starts": 1, "noise": noise, "confidence": 0.9, "loops": [loop]}
    return document


@pytest.mark.slow
def test_a_prior_keeps_its_width_whatever_standard_deviation_the_data_are_said_to_have(tmp_path: Path) -> None:
    x = 5e-6 * np.sin(2.5 * math.pi * np.arange(40) / 40)  # never slips: the data tell nothing of mu
    measured = 2.5e7 * x + 5.0 * np.random.default_rng(4).standard_normal(40)
    slope = float(x @ measured / (x @ x))
    scatter = math.sqrt(float(np.sum((measured - slope * x) ** 2)) / 39.0)
    for sd in (1.0, 5.0, 50.0):
        result, found = fitted(with_priors(tmp_path, measured, x, sd, (0.8, 0.05), "estimated"))
        known = result.known[0]
        assert found["mu"] == pytest.approx(0.8, rel=1e-6)
        assert known.sd[1] == pytest.approx(0.05, rel=1e-6)
        assert known.freedom == pytest.approx(39.0, rel=1e-6)
        assert found["k_t"] == pytest.approx(slope, rel=1e-5)
        assert result.system.noise * sd == pytest.approx(scatter, rel=1e-3)
        assert known.sd[0] * slope == pytest.approx(scatter / math.sqrt(float(x @ x)), rel=1e-3)


@pytest.mark.slow
def test_as_many_data_as_parameters_leave_no_interval_and_the_output_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([0.0, 5e-6, 5e-5])
    result, found = fitted(with_priors(tmp_path, np.array([np.nan, 125.0, 280.0]), x, 5.0, None, "estimated"))
    assert found == {"k_t": pytest.approx(2.5e7, rel=1e-6), "mu": pytest.approx(0.56, rel=1e-6)}
    assert result.known[0].freedom == 0.0
    assert "leave nothing to estimate the scatter" in result.notes[0]
    assert not any("Not identifiable" in note for note in result.notes)
    print_result(result)
    said = capsys.readouterr().out
    assert "no interval" in said
    assert "not identifiable" not in said


@pytest.mark.long
@pytest.mark.parametrize("noise", ["known", "estimated"])
@pytest.mark.parametrize("given", [False, True])
def test_ninety_of_a_hundred_intervals_hold_the_truth(noise: str, given: bool, tmp_path: Path) -> None:
    x = 2.2e-5 * np.sin(2.5 * math.pi * np.arange(40) / 40)
    rng, inside = np.random.default_rng(8), []
    for _ in range(200):
        mu = 0.55 + 0.004 * rng.standard_normal()
        measured = parallelogram(x, 2.5e7, 500.0 * mu) + 5.0 * rng.standard_normal(40)
        prior = (0.55, 0.004) if given else None
        result, _ = fitted(with_priors(tmp_path, measured, x, 5.0 if noise == "known" else 20.0, prior, noise))
        known = result.known[0]
        inside.append([known.low[0] <= 2.5e7 <= known.high[0], known.low[1] <= mu <= known.high[1]])
    assert (np.abs(np.mean(inside, axis=0) - 0.9) <= 0.05).all(), np.mean(inside, axis=0)
