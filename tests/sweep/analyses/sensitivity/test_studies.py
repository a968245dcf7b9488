"""Sensitivity studies on the real physics: indices by quadrature of closed forms, exact derivatives, one table whoever computes it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from SALib.analyze import dgsm as salib_dgsm

from tests.oracle.sdnd104 import stick_slip_wear_power
from tribosweep.kernels import simulate
from tribosweep.kernels.reference.closed_forms import slip_slip_wear_power
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analyses.sensitivity.analysis import analyse
from tribosweep.sweep.analyses.sensitivity.derivatives import differentiate, elasticities, factors, poincare, smooth_axes
from tribosweep.sweep.analyses.sensitivity.request import SIZES, SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import DERIVATIVES, INDICES, UNCERTAINTY, Sensitivity
from tribosweep.sweep.api import run

NODES = 24
CONFIGS = Path(__file__).parents[4] / "configs"
RANGES = {
    "slip-slip": {"m": (0.5, 2.0), "mu": (0.3, 0.7), "a0": (15.0, 25.0), "omega": (5.0, 8.0)},  # eta from 0.12 to 0.467
    "stick-slip": {"m": (0.5, 2.0), "mu": (0.7, 0.9), "a0": (10.0, 12.0), "omega": (5.0, 8.0)},  # eta from 0.583 to 0.9
}
FORMS: dict[str, Callable[..., float]] = {"slip-slip": slip_slip_wear_power, "stick-slip": stick_slip_wear_power}
STEADY = {"window": "steady"}
LATE = {"end": 30.0, "window": [20.0, 30.0]}  # nearly steady, and cheaper to differentiate


def by_quadrature(kind: str) -> dict[tuple[str, str], float]:
    """Sobol indices of the closed form, by Gauss-Legendre in every parameter; mean and variance under ("", ...).

    The closed form is evaluated over mu and a0, and goes as m / omega.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES if kind == "slip-slip" else 12)
    weights = weights / 2.0
    names = list(RANGES[kind])
    values = [low + (high - low) * (nodes + 1.0) / 2.0 for low, high in RANGES[kind].values()]
    table = np.empty((len(nodes),) * 4)
    for j, k in product(range(len(nodes)), repeat=2):
        height = FORMS[kind](1.0, 10.0, values[1][j], values[2][k], 1.0)
        table[:, j, k, :] = height * values[0][:, np.newaxis] / values[3][np.newaxis, :]
    check = FORMS[kind](values[0][3], 10.0, values[1][5], values[2][7], values[3][2])
    assert table[3, 5, 7, 2] == pytest.approx(check, rel=1e-12)

    def averaged(array: np.ndarray, keep: int) -> np.ndarray:
        for axis in reversed(range(4)):
            if axis != keep:
                array = np.tensordot(array, weights, (axis, 0))
        return array

    mean = float(averaged(table, 0) @ weights)
    variance = float(averaged(table**2, 0) @ weights) - mean**2
    found = {("", "mean"): mean, ("", "std"): math.sqrt(variance)}
    for axis, name in enumerate(names):
        found["S1", name] = float((averaged(table, axis) - mean) ** 2 @ weights) / variance
        without = np.tensordot(table, weights, (axis, 0))  # the mean over this parameter, given the others
        rest = float(np.einsum("ijk,i,j,k", (without - mean) ** 2, weights, weights, weights)) / variance
        found["ST", name] = 1.0 - rest
    return found


def analysed(path: Path, kind: str, design: str, count: int, request: SensitivityRequest, time: dict[str, Any]) -> Sensitivity:
    """Run and analyse a study on the range of a regime."""
    axes = {name: {"from": low, "to": high} for name, (low, high) in RANGES[kind].items()}
    config = load({"time": time, "study": {"name": kind}, "sweep": {"design": design, "count": count, "seed": 11, "axes": axes}})
    run(config, path)
    return analyse(path, config, request)


@pytest.mark.long_cases("slip-slip")
@pytest.mark.slow
@pytest.mark.parametrize("kind", list(RANGES))
def test_indices_of_wear_power_are_those_of_the_closed_form(kind: str, tmp_path: Path) -> None:
    exact = by_quadrature(kind)
    made = analysed(tmp_path, kind, "saltelli", 4096, SensitivityRequest(regime=kind, sizes=True, resamples=200), STEADY)
    assert len(made.kept["wear_power"].groups) == 4096  # every row is in the regime
    for line in made.lines[INDICES]:
        each = line.estimate
        assert each.low <= exact[each.measure, each.parameter] <= each.high, each
        assert each.half_width < 0.06
    for line in made.lines[UNCERTAINTY]:
        if line.estimate.measure in ("mean", "std"):
            assert line.estimate.low <= exact["", line.estimate.measure] <= line.estimate.high
            assert line.estimate.value == pytest.approx(exact["", line.estimate.measure], rel=2e-3)  # of a Sobol sequence
    halves = {(e.measure, e.parameter, line.groups): e.half_width for line in made.lines[SIZES] for e in [line.estimate]}
    ratios = [halves[measure, name, 256] / halves[measure, name, 4096] for measure in ("S1", "ST") for name in RANGES[kind]]
    assert np.mean(ratios) == pytest.approx(4.0, rel=0.15)


@pytest.mark.long
@pytest.mark.slow
def test_bounds_from_exact_derivatives_hold_and_agree_with_finite_differences(tmp_path: Path) -> None:
    kind = "slip-slip"
    exact = by_quadrature(kind)
    made = analysed(tmp_path, kind, "sobol", 512, SensitivityRequest(derivatives=512), LATE)
    found = {(line.estimate.measure, line.estimate.parameter): line.estimate for line in made.lines[DERIVATIVES]}
    for name in RANGES[kind]:
        assert found["ST_bound", name].value >= exact["ST", name]
    assert found["elasticity", "m"].value == pytest.approx(1.0, rel=1e-12)  # P goes as m

    elsewhere = elasticities(made.sample.config, made.sample.design.axes, ["wear_power"], {"mu": 0.4})["wear_power"]
    assert {e.parameter: e.value for e in elsewhere if e.measure == "elasticity"}["mu"] != found["elasticity", "mu"].value
    for at, message in (
        ({"mux": 0.1}, "'mux' is no axis with a range.*did you mean 'mu'"),
        ({"mu": -0.1}, "mu = -0.1.* out of its bounds"),
    ):
        with pytest.raises(ConfigError, match=message):
            elasticities(made.sample.config, made.sample.design.axes, ["wear_power"], at)

    names = list(RANGES[kind])
    points = made.sample.config.design.points(0, 512).columns
    base = np.stack([points[name] for name in names], axis=1)
    steps = 1e-6 * base
    groups = np.repeat(base[:, np.newaxis], 5, axis=1)
    for j in range(4):
        groups[:, j + 1, j] += steps[:, j]
    rows = groups.reshape(-1, 4)
    wear = np.asarray(simulate("rubbing_mass", {**dict(zip(names, rows.T, strict=True)), "end": 30.0, "window_start": 20.0})["wear_power"])
    problem = {"num_vars": 4, "names": names, "bounds": [list(RANGES[kind][name]) for name in names]}
    theirs = salib_dgsm.analyze(problem, rows, wear, num_resamples=10)
    for j, name in enumerate(names):
        assert found["dgsm", name].value == pytest.approx(theirs["vi"][j], rel=1e-4)
        assert found["ST_bound", name].value == pytest.approx(theirs["dgsm"][j], rel=1e-4)


@pytest.mark.slow
def test_derivatives_go_through_distributions_and_scaled_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a short function in place of the wall: the derivative along a factor is that along all nodes of its table."""

    def product_of(_model: str, params: dict[str, Any], _scheme: str, _window: str | None) -> dict[str, Any]:
        value = params["v0"] ** 2 * (params["post_stiffness"] ** 2).sum() * params["f_post"]
        return {"plastic_set": value, "status": 0}

    from tribosweep import kernels

    monkeypatch.setattr(kernels, "simulate", product_of)
    raw = load(CONFIGS / "sensitivity_shock.toml").document
    config = load({**raw, "sweep": {**{k: v for k, v in raw["sweep"].items() if k != "levels"}, "design": "halton", "count": 40}})
    smooth = smooth_axes(config, config.design.axes)
    cube = np.stack(config.design.coordinates(0, 40), axis=1)
    numbers = factors(config.design.axes, smooth, cube)
    found = differentiate(config, smooth, config.design.points(0, 40), numbers, ["plastic_set"])
    value = numbers["v0"] ** 2 * numbers["post_stiffness"] ** 2 * (0.2**2 + 0.15**2 + 0.125**2 + 0.1**2) * numbers["f_post"]
    np.testing.assert_allclose(found["plastic_set"], value, rtol=1e-13)
    for name, power in (("v0", 2.0), ("post_stiffness", 2.0), ("f_post", 1.0), ("k_n", 0.0)):
        np.testing.assert_allclose(found["plastic_set", name], power * value / numbers[name], rtol=1e-12, err_msg=name)


SCRIPT = """
import sys
from pathlib import Path
from tribosweep.sweep import load, run
from tribosweep.sweep.analyses.sensitivity.analysis import analyse
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
config = load(sys.argv[1], [f"output.shard_points={sys.argv[3]}"])
run(config, sys.argv[2])
analyse(Path(sys.argv[2]), config, SensitivityRequest(sizes=True)).write(sys.argv[2])
import jax
assert len(jax.devices()) == int(sys.argv[4])
"""


@pytest.mark.long
@pytest.mark.slow
def test_one_seed_gives_one_table_on_any_number_of_devices_and_shards(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        '[sweep]\ndesign = "saltelli"\ncount = 256\nseed = 5\n[sweep.axes]\na0 = { from = 4.0, to = 20.0 }\nmu = { from = 0.1, to = 0.6 }\n'
    )
    tables = []
    for devices, shard_points in ((1, 1024), (3, 33)):
        out = tmp_path / f"run{devices}"
        environment = {**os.environ, "JAX_NUM_CPU_DEVICES": str(devices)}
        command = [sys.executable, "-c", SCRIPT, str(study), str(out), str(shard_points), str(devices)]
        subprocess.run(command, check=True, env=environment, cwd=Path(__file__).parents[4], timeout=300)
        tables.append([pq.ParquetFile(out / "sensitivity" / f"{name}.parquet").read() for name in ("indices", "uncertainty", "sizes")])
    for other in tables[1:]:
        assert [table.to_pylist() for table in other] == [table.to_pylist() for table in tables[0]]


def test_poincare_constants_are_those_of_the_literature() -> None:
    axes = {
        "x0": {"from": -1.0, "to": 2.0},
        "k": {"from": 1.0, "to": 100.0, "spacing": "log"},
        "a0": {"distribution": "normal", "mean": 15.0, "std": 0.5},
        "mu": {"distribution": "truncated_normal", "mean": 0.3, "std": 0.1, "lower": 0.25, "upper": 0.35},
        "m": {"distribution": "log_normal", "mean": 2.0, "std": 1.0},
        "c": {"distribution": "triangular", "from": 0.0, "mode": 1.0, "to": 2.0},
    }
    found = [poincare(axis) for axis in load({"sweep": {"design": "sobol", "count": 2, "axes": axes}}).design.axes]
    expected = [(False, 9.0), (True, math.log(100.0) ** 2), (False, 0.25 * math.pi**2), (False, 0.01), (True, math.log(1.25) * math.pi**2)]
    for (logarithmic, constant), (as_logarithm, times) in zip(found, [*expected, (False, 4.0)], strict=True):
        assert logarithmic == as_logarithm
        assert constant == pytest.approx(times / math.pi**2)


@pytest.mark.parametrize(
    "raw",
    [
        {"distribution": "triangular", "from": 0.0, "mode": 0.3, "to": 2.0},
        {"distribution": "truncated_normal", "mean": 1.0, "std": 0.8, "lower": 0.0, "upper": 2.0},
        {"distribution": "log_normal", "mean": 1.0, "std": 0.5},
    ],
)
def test_a_poincare_constant_bounds_the_variance_of_any_function(raw: dict[str, Any]) -> None:
    (axis,) = load({"sweep": {"design": "sobol", "count": 2, "axes": {"c": raw}}}).design.axes
    x = axis.at((np.arange(200_000) + 0.5) / 200_000)
    logarithmic, constant = poincare(axis)
    for function, slope in (
        (np.sin, np.cos),
        (lambda x: x, np.ones_like),
        (lambda x: x**3, lambda x: 3 * x**2),
        (np.log1p, lambda x: 1 / (1 + x)),
    ):
        square = np.mean((slope(x) * (x if logarithmic else 1.0)) ** 2)
        assert np.var(function(x)) <= constant * square * (1.0 + 1e-4)
