"""Calibration by parts: transformation, solver, optima, what is known, jumps; and small ones on the real engine."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import optimize, stats

from tribosweep import sweep
from tribosweep.kernels import simulate
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.sweep.analysis.calibration import analysis, fitting, load, results
from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, FAILED, STUCK, fit
from tribosweep.sweep.analysis.calibration.jumps import find_crossings
from tribosweep.sweep.analysis.calibration.optima import optima_of, starts_of
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.system import FitPoint, System
from tribosweep.sweep.analysis.calibration.uncertainty import fit_uncertainty, profiles
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.calibration import optimum_cells
from tribosweep.sweep.design.distributions import log_normal_scale
from tribosweep.sweep.plots.calibration import draw_landscapes
from tribosweep.sweep.study.free import Free, Prior

K_T, C_T, X0 = (RUBBING_MASS.parameter(name) for name in ("k_t", "c_t", "x0"))
TWO = Space([Free("k_t", K_T, None, 0.1, 10.0, True, 1.0), Free("x0", X0, None, -1.0, 3.0, False, 0.0)])


class Plain:
    """A system of residuals that a function gives, in place of the engine."""

    def __init__(self, space: Space, function: Any, count: int) -> None:
        """`function` maps values (n,) to residuals (count,)."""
        self.space, self.function, self.stepped = space, function, False
        self.data = SimpleNamespace(count=count, runs=("run",))

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """Everything is."""
        return np.ones(len(values), dtype=bool)

    def at(self, coordinates: np.ndarray, measured: np.ndarray | None = None) -> FitPoint:
        """Residuals and their Jacobian by complex steps."""
        n = coordinates.shape[1]
        values = np.array([self.space.values(u) for u in coordinates])
        residuals = np.array([self.function(v) for v in values]).real
        slopes = np.array([[self.function(v + 1e-30j * np.eye(n)[i]).imag / 1e-30 for i in range(n)] for v in values])
        jacobian = np.swapaxes(slopes, 1, 2) * self.space.rates(values)[:, np.newaxis]
        return FitPoint(residuals, jacobian, np.zeros((len(values), 1, 1)), residuals)


def test_any_angle_is_within_the_bounds_and_every_coordinate_has_one() -> None:
    u = TWO.at(np.random.default_rng(1).normal(0.0, 9.0, (1000, 2)))
    values = TWO.values(u)
    assert (values.min(axis=0) >= [0.1 * (1 - 1e-12), -1.0]).all()
    assert (values.max(axis=0) <= [10.0 * (1 + 1e-12), 3.0]).all()
    assert TWO.at(TWO.angles(u)) == pytest.approx(u, abs=1e-12)
    assert TWO.coordinates(values) == pytest.approx(u, abs=1e-12)
    y, h = np.array([[0.3, -0.4]]), 1e-6
    assert TWO.turning(y) == pytest.approx((TWO.at(y + h) - TWO.at(y - h)) / (2 * h), rel=1e-8)
    assert TWO.on_bound(TWO.at(np.array([math.pi / 2, 0.0]))).tolist() == [True, False]


@pytest.mark.slow
def test_the_solver_finds_what_scipy_finds_from_every_start() -> None:
    times = np.linspace(0.0, 2.0, 9)

    def decay(values: Any) -> Any:
        return 10.0 * (values[1] * np.exp(-values[0] * times) - 1.7 * np.exp(-0.8 * times) - 0.05 * np.cos(5.0 * times))

    system = Plain(TWO, decay, 9)
    starts = starts_of(system, 9, 3)  # type: ignore[arg-type]
    fits = fit(system, starts, trace=True)  # type: ignore[arg-type]
    other = optimize.least_squares(lambda v: decay(v).real, [1.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert (fits.outcome == CONVERGED).all()
    assert TWO.values(fits.coordinates) == pytest.approx(np.tile(other.x, (9, 1)), rel=1e-7)
    assert fits.chi2 == pytest.approx(2.0 * other.cost, rel=1e-12)
    assert (starts[0] == TWO.coordinates(TWO.starts)).all()
    assert sum(len(step.lanes) for step in fits.path) > 9
    (one,) = optima_of(fits, system)  # type: ignore[arg-type]
    assert sorted(one.lanes.tolist()) == list(range(9))


def test_a_parameter_that_is_held_stays_and_the_others_move() -> None:
    system = Plain(TWO, lambda v: np.array([v[0] * 1.0 + v[1] - 3.0, v[0] - 2.0]), 2)
    start = TWO.coordinates(np.array([[1.0, 0.5]]))
    fits = fit(system, start, held=np.array([[True, False]]))  # type: ignore[arg-type]
    assert TWO.values(fits.coordinates)[0] == pytest.approx([1.0, 2.0], rel=1e-9)


@pytest.mark.slow
def test_optima_are_told_apart_by_their_numbers_and_a_ridge_is_one() -> None:
    double = Plain(TWO, lambda v: np.array([(v[1] - 1.0) ** 2 - 0.25, v[0] - 2.0, 0.1 * v[1]]), 3)
    found = optima_of(fit(double, starts_of(double, 12, 1)), double)  # type: ignore[arg-type]
    assert [float(TWO.values(each.coordinates)[1]) for each in found] == pytest.approx([0.5, 1.5], abs=0.03)
    ridge = Plain(TWO, lambda v: np.array([np.log(v[0]) + v[1] - 1.0, 2.0 * (np.log(v[0]) + v[1]) - 2.0]), 2)
    (one,) = optima_of(fit(ridge, starts_of(ridge, 12, 1)), ridge)  # type: ignore[arg-type]
    assert len(one.lanes) == 12
    assert one.spread.max() > 0.1


def test_fits_that_fail_or_meet_a_jump_are_counted_as_what_they_are() -> None:
    def broken(v: Any) -> Any:
        return np.array([v[0] - 2.0, v[1], np.nan if v[0].real < 0.5 else 0.0])

    system = Plain(TWO, broken, 3)
    fits = fit(system, TWO.coordinates(np.array([[0.2, 1.0], [5.0, 1.0]])))  # type: ignore[arg-type]
    assert fits.outcome.tolist() == [FAILED, CONVERGED]
    assert fits.chi2.tolist() == [math.inf, pytest.approx(0.0, abs=1e-18)]
    cliff = Plain(TWO, lambda v: np.array([v[1] - 2.0 + (50.0 if v[1].real > 1.0 else 0.0), v[0] - 2.0]), 2)
    fits = fit(cliff, TWO.coordinates(np.array([[2.0, 0.0]])))  # type: ignore[arg-type]
    assert fits.outcome.tolist() == [STUCK]
    assert TWO.values(fits.coordinates)[0, 1] == pytest.approx(1.0, abs=1e-6)


def test_intervals_are_those_of_linear_least_squares() -> None:
    rng = np.random.default_rng(5)
    jacobian = rng.normal(size=(30, 2))
    at = np.array([math.log(2.0), 0.5])
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    known = fit_uncertainty(TWO, at, jacobian, 40.0, known=True, level=0.9)
    assert known.sd == pytest.approx(np.sqrt(np.diag(covariance)))
    assert known.correlation[0, 1] == pytest.approx(covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1]))
    assert known.high[1] - 0.5 == pytest.approx(1.6448536269514722 * known.sd[1])
    assert math.log(known.high[0] / 2.0) == pytest.approx(1.6448536269514722 * known.sd[0])
    estimated = fit_uncertainty(TWO, at, jacobian, 40.0, known=False, level=0.9)
    assert estimated.sd == pytest.approx(known.sd * math.sqrt(40.0 / 28.0))
    assert estimated.factor == pytest.approx(stats.t.ppf(0.95, 28))


@pytest.mark.parametrize("size", [1.0, 1e9])  # however small standard deviations are said to be
def test_parameters_that_the_data_cannot_tell_apart_have_no_interval_and_are_named(size: float) -> None:
    three = Space([*TWO.frees, Free("c_t", C_T, None, 1.0, 100.0, True, 10.0)])
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(20, 2)) * size
    # x0, and k_t with c_t through their product alone
    known = fit_uncertainty(three, np.array([0.0, 0.5, 2.0]), columns[:, [0, 1, 0]], 10.0, known=True, level=0.95)
    assert known.identifiable.tolist() == [False, True, False]
    assert np.isnan(known.low[[0, 2]]).all()
    assert known.sd[1] < 1.0 / size
    (direction,) = known.undetermined
    sentence = direction.sentence(three)
    assert "k_t and c_t move together" in sentence or "c_t and k_t move together" in sentence
    silent = fit_uncertainty(TWO, np.array([0.0, 0.5]), columns * [1.0, 0.0], 10.0, known=True, level=0.95)
    assert silent.identifiable.tolist() == [True, False]
    assert silent.undetermined[0].sentence(TWO) == "x0: the data say nothing of it within its bounds"
    assert optimum_cells(TWO.values(np.array([0.0, 0.5])), silent) == ["1", "not identifiable"]
    bound = fit_uncertainty(TWO, np.array([0.0, 3.0]), columns * [1.0, 0.0], 10.0, known=True, level=0.95)
    assert optimum_cells(TWO.values(np.array([0.0, 3.0])), bound) == ["1", "3"]  # a bound is known


def test_a_number_that_is_wider_than_its_bounds_is_not_told() -> None:
    known = fit_uncertainty(TWO, np.array([0.0, 0.5]), np.array([[10.0, 0.0], [0.0, 0.1]]), 0.0, known=True, level=0.95)
    assert known.identifiable.tolist() == [True, False]
    assert known.undetermined[0].sentence(TWO) == "x0: the data say hardly anything of it within its bounds"


@pytest.mark.slow
def test_a_profile_is_the_interval_where_the_model_is_linear_and_open_where_nothing_limits_it() -> None:
    line = np.linspace(-1.0, 1.0, 7)
    flat = Space([Free("x0", X0, None, -1.0, 3.0, False, 0.0), Free("v0", RUBBING_MASS.parameter("v0"), None, -2.0, 2.0, False, 0.0)])
    system = Plain(flat, lambda v: (v[0] + v[1] * line - 0.3) / 0.1, 7)
    fits = fit(system, np.zeros((1, 2)))  # type: ignore[arg-type]
    known = fit_uncertainty(flat, fits.coordinates[0], fits.point.jacobian[0], float(fits.chi2[0]), known=True, level=0.95)
    found = profiles(system, fits.coordinates[0], float(fits.chi2[0]), known, ["x0", "v0"])  # type: ignore[arg-type]
    assert [each.low for each in found] == pytest.approx(known.low.tolist(), abs=1e-6)
    assert [each.high for each in found] == pytest.approx(known.high.tolist(), abs=1e-6)
    half = Plain(flat, lambda v: np.array([np.exp(20.0 * v[0]) * 0.5, v[1]]), 2)
    at = fit(half, np.array([[-0.5, 0.1]]))  # type: ignore[arg-type]
    known = fit_uncertainty(flat, at.coordinates[0], at.point.jacobian[0], float(at.chi2[0]), known=True, level=0.95)
    (one,) = profiles(half, at.coordinates[0], float(at.chi2[0]), known, ["x0"])  # type: ignore[arg-type]
    assert math.isnan(one.low)
    assert one.high == pytest.approx(math.log(1.96 / 0.5) / 20.0, rel=0.03)


def test_a_prior_of_a_stiffness_is_log_normal() -> None:
    free = Free("k_t", K_T, None, 0.1, 10.0, True, 1.0, Prior("log_normal", (("mean", 2.0), ("std", 0.5))))
    median, spread = log_normal_scale(2.0, 0.5)
    assert free.known == (math.log(median), spread)
    assert Free("x0", X0, None, -1.0, 3.0, False, 0.0, Prior("normal", (("mean", 2.0), ("std", 0.5)))).known == (2.0, 0.5)


SLIDES: dict[str, Any] = {"omega": 2.0 * math.pi}
TRUE = {"mu": 0.2, "m": 1.5}
A0 = np.array([2.2, 2.6, 3.0, 3.4, 4.0, 6.0, 9.0, 14.0])  # eta from 0.91 to 0.14: stick-slip and slip-slip
TIMES = {"end": 4.0, "window": [1.0, 4.0]}


def sliding(folder: Path, noise: float = 0.0, free: dict[str, Any] | None = None, compare: dict[str, Any] | None = None) -> dict[str, Any]:
    """A calibration of a mass that slides, with its data in a folder."""
    rng = np.random.default_rng(7)
    found = simulate("rubbing_mass", {**SLIDES, **TRUE, "a0": A0, "end": 4.0, "window_start": 1.0})
    names = ("wear_power", "slip_distance", "max_slip_speed")
    columns = {name: np.asarray(found[name]) * (1.0 + noise * rng.standard_normal(len(A0))) for name in names}
    pd.DataFrame({"a0": A0, **columns}).to_csv(folder / "slides.csv", index=False, float_format="%.17g")
    both = {"mu": {"from": 0.02, "to": 1.0, "scale": "log", "start": 0.5}, "m": {"from": 0.3, "to": 6.0, "scale": "log"}}
    section = {"data": str(folder / "slides.csv"), "starts": 6, "free": free or both}
    section["compare"] = compare or {"wear_power": {"relative_sd": 0.01}, "max_slip_speed": {"relative_sd": 0.01}}
    return {"study": {"model": "rubbing_mass"}, "parameters": SLIDES, "time": TIMES, "calibration": section}


@pytest.mark.slow
def test_exact_data_give_the_parameters_back(tmp_path: Path) -> None:
    result = analysis.carry_out(load.load(sliding(tmp_path)))
    assert result.converged
    assert dict(zip(result.space.names, result.estimates, strict=True)) == pytest.approx(TRUE, rel=1e-9)
    assert result.known[0].identifiable.all()


@pytest.mark.slow
def test_an_unidentifiable_pair_is_named_and_has_no_interval(tmp_path: Path) -> None:
    free = {"mu": {"from": 0.02, "to": 1.0, "scale": "log"}, "normal_force": {"from": 1.0, "to": 100.0}}
    study = sliding(tmp_path, free=free, compare={"slip_distance": {"relative_sd": 1e-6}})
    study["parameters"] = {**SLIDES, "m": TRUE["m"]}
    result = analysis.carry_out(load.load(study))
    assert not result.known[0].identifiable.any()
    assert "mu and normal_force move together" in result.notes[0] or "normal_force and mu move together" in result.notes[0]
    assert {row["low"] for row in results.records(result) if row["optimum"] == 0} == {None}
    product = result.space.values(result.fits.coordinates[result.optima[0].lanes]).prod(axis=1)
    assert product == pytest.approx(np.full(len(product), 3.0), rel=1e-6)  # which the data do tell


@pytest.mark.slow
def test_the_gradient_of_the_loss_is_that_of_differences_on_both_sides_of_a_boundary(tmp_path: Path) -> None:
    calibration = load.load(sliding(tmp_path))
    system = System(calibration.config, calibration.space, calibration.data)

    def loss(mu: float) -> tuple[float, float, np.ndarray]:
        point = system.at(calibration.space.coordinates(np.array([[mu, 1.4]])))
        gradient = point.jacobian[0].T @ point.residuals[0] / calibration.space.rates(np.array([mu, 1.4]))
        return 0.5 * float(np.sum(point.residuals**2)), float(gradient[0]), point.codes[0]

    # between these mu two of the masses cease to stop, or never slip
    ends = calibration.space.coordinates(np.array([[0.17, 1.4], [0.25, 1.4]]))
    path = [fitting.FitStep(np.array([0]), end[np.newaxis], system.at(end[np.newaxis]).codes) for end in ends]
    met = find_crossings(system, path, [0])
    words = {(each.before, each.after) for each in met}
    assert {"slip-slip", "stick-slip"} & {word for pair in words for word in " ".join(pair).replace(",", "").split()}
    assert not any(each.jumps for each in met)  # wear power and speed go through boundaries without a jump
    for boundary in sorted({float(each.where[0]) for each in met}):
        for side in (-1.0, 1.0):
            near, h = boundary * (1.0 + 1e-4 * side), 1e-6 * boundary  # the curvature is infinite where slip begins
            before, at, after = (loss(near + k * h) for k in (-1, 0, 1))
            assert (before[2] == after[2]).all()  # all on one side
            assert at[1] == pytest.approx((after[0] - before[0]) / (2.0 * h), rel=1e-5), (boundary, side)


@pytest.mark.slow
def test_an_observable_that_jumps_at_a_boundary_is_found_on_the_way(tmp_path: Path) -> None:
    # the time that a mass sticks, of one that never slips, is all of the window; just below that it is less by a finite part
    study = sliding(tmp_path, compare={"wear_power": {"sd": 0.01}})
    frame = pd.read_csv(tmp_path / "slides.csv").assign(slips=1.0)
    frame[["a0", "wear_power", "slips"]].to_csv(tmp_path / "slides.csv", index=False)
    study["calibration"]["compare"]["stick_fraction"] = {"column": "slips", "sd": 0.1}
    calibration = load.load(study)
    system = System(calibration.config, calibration.space, calibration.data)
    ends = calibration.space.coordinates(np.array([[0.21, 1.5], [0.23, 1.5]]))
    path = [fitting.FitStep(np.array([0]), end[np.newaxis], system.at(end[np.newaxis]).codes) for end in ends]
    met = find_crossings(system, path, [0])
    onset = [each for each in met if each.after.endswith("stick") and each.run == 0]
    assert onset
    assert onset[0].where[0] == pytest.approx(0.22, rel=1e-9)  # mu g = a0
    assert {jump.observable for jump in onset[0].jumps} <= {"stick_fraction"}


@pytest.mark.slow
def test_the_command_leaves_tables_pictures_and_a_study_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = sliding(tmp_path, noise=0.01)
    toml = tmp_path / "slides.toml"
    config = load.load(study)
    from tribosweep.sweep.io.toml import to_toml

    document = {key: value for key, value in config.config.document.items() if key != "sweep"}
    toml.write_text(to_toml({**document, "calibration": config.section}))
    words = ["calibrate", str(toml), "--out", "out", "--picture", "fit.png", "--landscape", "land.svg", "--profile", "all"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "mu" in said.out
    assert "fits converged" in said.out
    assert "Written: out/calibration.parquet" in said.err
    table = pq.read_table("out/calibration.parquet").to_pandas()
    best = table[table.optimum == 0].set_index("parameter")
    assert ((best.low < pd.Series(TRUE)) & (pd.Series(TRUE) < best.high)).all()
    assert best.profile_low.notna().all()
    facts = json.loads(pq.read_schema("out/calibration.parquet").metadata[b"calibration"])
    assert facts["fits"]["converged"] == 6
    residuals = pq.read_table("out/residuals.parquet").to_pandas()
    assert len(residuals) == 2 * len(A0)
    assert Path("fit.png").stat().st_size > 10_000
    assert Path("land.svg").exists()
    # the fitted study is the fit
    run = sweep.run("out/fitted.toml")
    fitted = residuals[residuals.observable == "wear_power"].fitted.to_numpy()
    assert run.to_pandas().wear_power.to_numpy() == pytest.approx(fitted, rel=1e-12)
    # the same file again, as JSON
    assert main(["calibrate", "out/config.toml", "--out", "again", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [row["value"] for row in again["calibration"][:2]] == pytest.approx(best.value.tolist(), rel=1e-9)
    assert main(["calibrate", str(toml), "--out", str(run.directory)]) == 2
    assert "is the directory of a run" in capsys.readouterr().err


@pytest.mark.slow
def test_a_landscape_is_drawn_around_each_of_the_best_optima(tmp_path: Path) -> None:
    request = results.CalibrationRequest(landscape=True)
    result = analysis.carry_out(load.load(sliding(tmp_path, noise=0.01)), request)
    (best,), (drawn,) = result.optima, result.landscapes
    places = [result.space.names.index(name) for name in drawn.names]
    for values, at in zip(drawn.along, result.estimates[places], strict=True):
        assert values[0] < at < values[-1]
    near = replace(best, coordinates=best.coordinates + 0.5 * result.known[0].sd, chi2=best.chi2 + 1.0)
    two = replace(result, optima=[best, near], known=[*result.known] * 2, landscapes=(drawn, drawn))
    panels = draw_landscapes(two, tmp_path / "two.png").figure.axes[:2]
    assert [panel.get_title(loc="left").partition(",")[0] for panel in panels] == ["optimum 1 of 2", "optimum 2 of 2"]
    for panel in panels:
        assert {"optimum", "another optimum"} <= {text.get_text() for text in panel.get_legend().get_texts()}
    assert (tmp_path / "two.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_prior_and_a_weight_count_as_measurements(tmp_path: Path) -> None:
    study = sliding(tmp_path, noise=0.01)
    plain = analysis.carry_out(load.load(study))
    study["calibration"]["compare"] = {name: {**each, "weight": 4.0} for name, each in study["calibration"]["compare"].items()}
    weighed = analysis.carry_out(load.load(study))
    assert weighed.estimates == pytest.approx(plain.estimates, rel=1e-7)
    assert weighed.known[0].sd == pytest.approx(0.5 * plain.known[0].sd, rel=1e-6)
    study["calibration"]["free"]["mu"]["prior"] = {"mean": 0.3, "std": 1e-6}
    tied = analysis.carry_out(load.load(study))
    assert tied.estimates[0] == pytest.approx(0.3, rel=1e-3)


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(tmp_path: Path) -> None:
    calibration = load.load(sliding(tmp_path))
    system, space, data = System(calibration.config, calibration.space, calibration.data), calibration.space, calibration.data
    rng = np.random.default_rng(11)
    replicates = data.measured + data.spread * rng.standard_normal((200, data.count))
    truth = space.coordinates(np.array([TRUE[name] for name in space.names]))
    fits = fit(system, np.tile(truth + 0.02, (200, 1)), replicates)  # one batch
    assert (fits.outcome == CONVERGED).all()
    ends = [
        fit_uncertainty(space, fits.coordinates[i], fits.point.jacobian[i], float(fits.chi2[i]), known=True, level=0.95) for i in range(200)
    ]
    values = space.values(truth)
    covered = np.array([(each.low < values) & (values < each.high) for each in ends])
    assert 0.92 <= covered.mean() <= 0.98
