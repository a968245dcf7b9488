"""Time schemes in float32: results differ from float64 by no more than the documents say, and every row has the same outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.program_key import LOCKSTEP, QUEUE, ProgramKey
from tribosweep.kernels.batch.solve import Solution
from tribosweep.kernels.models import BUCKLING_WALL, LEAST_TOLERANCE, MODELS, RUBBING_MASS, STOP, Model
from tribosweep.kernels.models.links import LINKS
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.reference.checks import CASES

TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)
FIXED, CHOSEN = ("euler", "devogelaere"), ("adapt1", "adapt2", "rk32", "rk54")
COUNT = 256
TIMES = {"end": 3.0, "window_start": 0.5, "window_end": 2.8}


def masses(model: Model, seed: int = 11) -> dict[str, Any]:
    """Random masses of every kind, each with an end and a window of its own."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 0.5, COUNT) if model is RUBBING_MASS else 0.0
    end = rng.uniform(2.0, 4.0, COUNT)
    rows = {
        "a0": rng.uniform(0.5, 15.0, COUNT) if model is RUBBING_MASS else rng.uniform(0.5, 3.0, COUNT),
        "mu_s": mu,
        "mu_d": mu * rng.choice([1.0, 0.8], COUNT),
        "omega": rng.uniform(3.0, 9.0, COUNT),
        "phase": rng.uniform(0.0, 6.0, COUNT),
        "k": rng.choice([0.0, 7.0], COUNT),
        "c": rng.choice([0.0, 0.3], COUNT),
        "v0": rng.choice([0.0, 0.5], COUNT) if model is RUBBING_MASS else rng.uniform(0.5, 3.0, COUNT),
        "k_t": 10.0 ** rng.uniform(4.0, 6.0, COUNT),
        "step": 2e-4,
        "end": end,
        "window_start": rng.uniform(0.0, 1.0, COUNT),
        "window_end": end * rng.choice([1.0, 0.9], COUNT),
    }
    if model is RUBBING_MASS:
        return rows
    k_n = 10.0 ** rng.uniform(2.0, 4.0, COUNT)
    rows |= {"gap": rng.uniform(0.0, 0.1, COUNT), "k_n": k_n, "c_n": rng.choice([0.0, 5.0], COUNT)}
    if model is STOP:
        return rows | {"sides": rng.choice([1.0, 2.0], COUNT)}
    widths = {name: rng.uniform(0.0, 0.01, COUNT) for name in ("plateau", "softening")}
    forces = {"f_crit": rng.uniform(5.0, 30.0, COUNT), "f_post": rng.uniform(1.0, 5.0, COUNT), "k_post": 0.8 * k_n}
    return rows | widths | forces | {"damping_criterion": rng.choice([0.0, 1.0], COUNT)}


def alike(model: Model, values: dict[str, Any]) -> dict[str, Any]:
    """Masses with these values, 0 for what else `masses` gives, in the shape of those, so that they share their program."""
    rows = masses(model)
    given = {name: values.get(name, 0.0) if name != "step" else rows["step"] for name in rows}
    return {name: np.array(np.broadcast_to(value, np.shape(rows[name]))) for name, value in given.items()}


def both(model: Model, scheme: str, rows: dict[str, Any], count: int = COUNT) -> tuple[Solution, Solution]:
    """The same rows in float64 and in float32; every row must have the same outcome in both."""
    fine, single = (batch.solve(model, scheme, rows, {}, count, dtype=dtype) for dtype in (np.float64, np.float32))
    np.testing.assert_array_equal(single.status, fine.status)
    return fine, single


def differences(fine: Solution, single: Solution, name: str) -> np.ndarray:
    """Relative differences of an observable in the rows where it is a number other than 0."""
    one, other = fine.observables[name], single.observables[name]
    np.testing.assert_array_equal(np.isnan(other), np.isnan(one))
    there = np.isfinite(one) & (one != 0.0)
    return np.abs(other[there] / one[there] - 1.0)


def hold(fine: Solution, single: Solution, bounds: dict[str, tuple[float, float]]) -> None:
    """Hold median and 90 per cent quantile of relative differences against bounds."""
    for name, bound in bounds.items():
        found = np.quantile(differences(fine, single, name), [0.5, 0.9])
        assert (found <= bound).all(), (name, found)


@pytest.mark.long_cases("devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_fixed_steps_at_their_own_pace_keep_six_digits(scheme: str) -> None:
    fine, single = both(RUBBING_MASS, scheme, masses(RUBBING_MASS))
    for name in ("slip_phases", "stops", "regime", "accepted_steps", "time_reached"):
        np.testing.assert_array_equal(single.observables[name], fine.observables[name], err_msg=name)
    hold(fine, single, {"wear_power": (1e-6, 3e-6), "slip_distance": (1e-6, 3e-6), "max_slip_speed": (2e-6, 5e-6), "v_end": (5e-6, 3e-5)})
    rubs = fine.observables["wear_power"] > 0.0
    np.testing.assert_allclose(single.observables["stick_fraction"], fine.observables["stick_fraction"], atol=3e-4)  # two steps
    for name in ("wear_power", "x_end", "v_end", "drift"):
        values = fine.observables[name]
        np.testing.assert_allclose(single.observables[name], values, atol=5e-5 * np.abs(values).max(), err_msg=name)
    assert rubs.sum() > 0.8 * COUNT


@pytest.mark.long_cases("model2-*", "model0-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "scheme", "bounds"),
    [
        (RUBBING_MASS, "euler", (2e-6, 1e-5)),
        pytest.param(STOP, "devogelaere", (1e-6, 1e-5), marks=pytest.mark.long),
        (RUBBING_MASS, "rk54", (5e-4, 3e-3)),
    ],
)
def test_blocks_and_statistics_are_those_of_float64(model: Model, scheme: str, bounds: tuple[float, float]) -> None:
    rows, asked = masses(model), Asked(8, statistics=True)
    rows |= {"tolerance": 1e-6} if scheme == "rk54" else {}
    fine, single = (batch.solve(model, scheme, rows, {}, COUNT, dtype=dtype, asked=asked).observables for dtype in (np.float64, np.float32))
    compared = {"x_mean": "x_rms", "x_rms": "x_rms", "x_max": "x_rms", "v_rms": "v_rms"}  # each relative to another one
    force = "friction_force" if model is RUBBING_MASS else "wall_force"
    compared |= {f"{force}_{ending}": f"{force}_rms" for ending in ("mean", "rms", "std")}
    for name, size in compared.items():
        there = fine[size] > 0.0
        found = np.quantile(np.abs(single[name] - fine[name])[there] / fine[size][there], [0.5, 0.9])
        assert (found <= bounds).all(), (name, found)
    if model is RUBBING_MASS:
        blocks, power = single["wear_power_blocks"], single["wear_power"]
        apart = np.abs(blocks - fine["wear_power_blocks"])[:, :8].max(axis=1) / np.maximum(power, 1e-3)
        assert (np.quantile(apart, [0.5, 0.9]) <= bounds).all()
        np.testing.assert_allclose(np.nanmean(blocks, axis=1), power, rtol=3e-6)


@pytest.mark.long_cases("adapt?", "rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["adapt2", "adapt1", "rk32", "rk54"])
def test_chosen_steps_are_as_wrong_as_their_scheme(scheme: str) -> None:
    # rounding lets the two choose other steps: a difference like that between two tolerances or first steps
    rows = masses(RUBBING_MASS)
    nearby = rows | ({"tolerance": 9e-7} if scheme.startswith("rk") else {"step": 1.9e-4})
    rows |= {"tolerance": 1e-6} if scheme.startswith("rk") else {}
    fine, single = both(RUBBING_MASS, scheme, rows)
    other = batch.solve(RUBBING_MASS, scheme, nearby, {}, COUNT)
    for name in ("slip_phases", "stops", "regime"):
        assert np.count_nonzero(single.observables[name] != fine.observables[name]) <= COUNT // 50, name
    np.testing.assert_array_equal(single.observables["time_reached"], rows["end"])  # ends are hit exactly
    for name in ("wear_power", "max_slip_speed", "v_end"):
        found, usual = (np.quantile(differences(fine, each, name), [0.5, 0.9]) for each in (single, other))
        assert (found <= 2.0 * usual + 5e-6).all(), (name, found, usual)
    steps, own = (each.observables["accepted_steps"].sum() for each in (single, fine))
    assert abs(steps / own - 1.0) < 0.05


SHOCK = {
    "peak_force": (1e-6, 5e-6),
    "contact_time": (5e-6, 1e-5),
    "impulse": (3e-6, 1e-5),
    "first_contact_time": (3e-7, 1e-6),
    "first_contact_velocity": (5e-7, 2e-6),
    "max_compression": (2e-6, 5e-6),
    "rebound_velocity": (5e-6, 5e-4),
    "separation_time": (1e-6, 1e-5),
}


@pytest.mark.long_cases("model0-euler-True", "model2-*")
@pytest.mark.parametrize(
    ("model", "scheme", "shared"),
    [
        pytest.param(STOP, "euler", True, marks=pytest.mark.slow),
        pytest.param(BUCKLING_WALL, "euler", False, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(BUCKLING_WALL, "adapt2", False, marks=pytest.mark.slow),
    ],
)
def test_walls_keep_five_digits(model: Model, scheme: str, shared: bool) -> None:
    # walls 0 to 0.1 m away are pressed by 1 mm to 1 dm in up to 20 000 steps: what x lacks of them is carried besides
    rows = masses(model) | (TIMES if shared else {})
    fine, single = both(model, scheme, rows)
    bounds = SHOCK | ({} if model is STOP else {"plastic_set": (3e-6, 1e-5), "buckling_time": (5e-7, 2e-6)})
    if scheme in CHOSEN:
        bounds = {name: (median, 20.0 * most) for name, (median, most) in bounds.items()}
    hold(fine, single, bounds)
    assert np.count_nonzero(single.observables["impacts"] != fine.observables["impacts"]) <= COUNT // 100


@pytest.mark.slow
def test_compression_is_not_rounded_with_the_displacement() -> None:
    # a wall 1 m away that is pressed by 0.4 to 2 mm: of x alone float32 would leave 4 digits of that
    rows = alike(STOP, {"v0": np.linspace(0.4, 2.0, COUNT), "gap": 1.0, "k_n": 1e6, "omega": 1.0, "k_t": 1e5, "sides": 1.0}) | TIMES
    fine, single = both(STOP, "euler", rows)
    assert (fine.observables["impacts"] == 1.0).all()
    for name in ("max_compression", "peak_force", "rebound_velocity", "contact_time", "impulse"):
        assert np.quantile(differences(fine, single, name), 0.9) < 2e-5, name


def marks(model: str, scheme: str) -> list[pytest.MarkDecorator]:
    """The marks of the published values of a model and a scheme: of walls `devogelaere` is run before every change."""
    if model == "buckling_wall":
        return [pytest.mark.slow] if scheme == "devogelaere" else [pytest.mark.slow, pytest.mark.long]
    return [] if scheme == "adapt2" else [pytest.mark.slow]


PUBLISHED = [
    pytest.param(*case, marks=marks(*case))
    for case in dict.fromkeys((case.model, case.scheme) for case in CASES if case.scheme != EXACT and case.model in MODELS)
]


@pytest.mark.long_cases("rubbing_mass-devogelaere", "rubbing_mass-adapt1", "rubbing_mass-rk32", "rubbing_mass-adapt2", "buckling_wall-*")
@pytest.mark.slow
@pytest.mark.parametrize(("model", "scheme"), PUBLISHED)
def test_published_values_are_met(model: str, scheme: str) -> None:
    cases = [case for case in CASES if (case.model, case.scheme) == (model, scheme) and not LINKS.keys() & case.config.keys()]
    families = defaultdict(list)
    for case in cases:
        families[tuple(sorted((name, value) for name, value in case.config.items() if name != "a0"))].append(case)
    for family in families.values():
        rows = {name: np.array(value) if isinstance(value, tuple) else value for name, value in family[0].config.items()}
        rows |= {"a0": np.array([case.config.get("a0", 0.0) for case in family])} if "a0" in rows else {}
        if model == "buckling_wall" and "post_set" not in rows:  # those without a table share the program of those with one
            rows |= dict.fromkeys(("post_set", "post_stiffness"), np.full(4, np.nan))
        found = batch.solve(MODELS[model], scheme, rows, {}, len(family), dtype=np.float32)
        for i, case in enumerate(family):
            value = found.observables[case.quantity][i]
            assert value == pytest.approx(case.published, rel=case.tolerance, abs=case.tolerance if case.published == 0.0 else 0.0), case


@pytest.mark.slow
def test_a_constant_force_is_not_rounded_to_the_same_side_in_every_step() -> None:
    # a mass that slides to rest under friction alone: steps of v alike, each of which float32 would round by as much as 10^-3 of it
    speeds = np.linspace(1.05, 2.0, COUNT)
    rows = alike(RUBBING_MASS, {"v0": speeds, "mu_s": 0.1, "mu_d": 0.1, "omega": 1.0, "k_t": 1e5, "end": 3.0, "window_end": 3.0})
    fine, single = both(RUBBING_MASS, "euler", rows)
    np.testing.assert_allclose(fine.observables["slip_distance"], 0.5 * speeds**2, rtol=1e-3)
    assert differences(fine, single, "slip_distance").max() < 1e-6


@pytest.mark.long_cases("devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", FIXED)
def test_errors_of_fixed_steps_grow_slowly_and_not_with_the_stiffness(scheme: str) -> None:
    a0 = np.array([15.0, 3.0, 1.5, 1.05, 1.01])
    eta = 1.0 / a0
    for step, bound in ((1e-4, 1e-6), (1e-5, 1e-6)):
        for k_t in (9e6, 9e4):
            rows = {"a0": a0, "mu": 0.1, "k": 3e-5, "k_t": k_t, "window_start": 4.0, "step": step}
            fine, single = both(RUBBING_MASS, scheme, rows, a0.size)
            assert (differences(fine, single, "wear_power") * (1.0 - eta) < bound).all(), (step, k_t)


@pytest.mark.long_cases("rk54-law1", "euler-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "law"),
    [("euler", {"normal_amplitude": 6.0}), ("rk54", {"belt_speed": 0.3, "stribeck_speed": 0.2, "stribeck_exponent": 2.0})],
)
def test_friction_that_varies_keeps_its_digits(scheme: str, law: dict[str, float]) -> None:
    rows = masses(RUBBING_MASS) | law | ({"tolerance": 1e-6} if scheme == "rk54" else {})
    fine, single = both(RUBBING_MASS, scheme, rows)
    hold(fine, single, {"wear_power": (1e-4, 1e-3) if scheme == "rk54" else (2e-6, 2e-5)})


@pytest.mark.slow
def test_a_tolerance_that_float32_cannot_resolve_is_out_of_its_rules() -> None:
    rows = masses(RUBBING_MASS) | {"end": np.full(COUNT, 2.0), "window_end": np.full(COUNT, 1.5)}
    for tolerance, status in ((LEAST_TOLERANCE, Status.OK), (5e-8, Status.RULE_BROKEN)):
        single = batch.solve(RUBBING_MASS, "rk54", rows | {"tolerance": tolerance}, {}, COUNT, dtype=np.float32)
        assert (single.status == status).all()
    assert (batch.solve(RUBBING_MASS, "rk54", rows | {"tolerance": 5e-8}, {}, COUNT).status == Status.OK).all()
    single = batch.solve(RUBBING_MASS, "adapt2", rows | {"smallest_step": 1e-30}, {}, COUNT, dtype=np.float32)
    assert (single.status == Status.RULE_BROKEN).all()


def test_float32_is_refused_where_there_is_none() -> None:
    columns = {"a0": np.array([1.0, 2.0]), "k_t": 1e5, "step": 1e-3}
    with pytest.raises(ValueError, match="no links"):
        batch.solve(RUBBING_MASS, "rk54", columns | {"maxwell_stiffness": [[1.0]], "maxwell_damping": [[1.0]]}, {}, 2, dtype=np.float32)
    with pytest.raises(ValueError, match="float64 or float32"):
        batch.solve(RUBBING_MASS, "euler", columns, {}, 2, dtype=np.float16)


@pytest.mark.slow
def test_a_run_that_cannot_go_on_ends_as_in_float64() -> None:
    rows = masses(RUBBING_MASS) | {"smallest_step": 1.9e-4, "tolerance": 1e-6}
    fine, single = (batch.solve(RUBBING_MASS, "rk54", rows, {}, COUNT, dtype=dtype).status for dtype in (np.float64, np.float32))
    assert {*fine, *single} == {Status.OK, Status.STEP_TOO_SMALL}
    assert np.count_nonzero(fine != single) < 0.1 * COUNT  # rows that need just the smallest step


@pytest.mark.slow
def test_a_mass_far_away_still_moves() -> None:
    # x + dx == x in float32, step after step
    rows = alike(RUBBING_MASS, {"v0": np.linspace(1e-3, 1e-2, COUNT), "omega": 100.0, "k_t": 1e5, "end": 0.5, "window_end": 0.5})
    fine, single = both(RUBBING_MASS, "adapt2", rows | {"x0": 1e3})
    np.testing.assert_allclose(fine.observables["drift"], 0.5 * rows["v0"], rtol=1e-9)
    np.testing.assert_allclose(single.observables["drift"], fine.observables["drift"], rtol=1e-5)
    np.testing.assert_array_equal(single.observables["time_reached"], rows["end"])


# ---- nothing in the inner loops is in float64 but times and counts


class TracedError(Exception):
    """The program was traced, and is not to be run."""


def parts(equation: Any) -> list[Any]:
    """The programs within an equation."""
    values = [each for value in equation.params.values() for each in (value if isinstance(value, tuple | list) else [value])]
    return [getattr(value, "jaxpr", value) for value in values if hasattr(getattr(value, "jaxpr", value), "eqns")]


def flat(jaxpr: Any) -> Iterator[Any]:
    """All equations of a program that hold no others."""
    for equation in jaxpr.eqns:
        within = parts(equation)
        for part in within:
            yield from flat(part)
        if not within:
            yield equation


def innermost(jaxpr: Any) -> Iterator[Any]:
    """Bodies of the loops that hold no other."""
    for equation in jaxpr.eqns:
        for part in parts(equation):
            found = list(innermost(part))
            yield from found
            if not found and equation.primitive.name in ("while", "scan"):
                yield part


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "scheme", "own", "most"),
    [
        (RUBBING_MASS, "euler", False, 0.0),
        (STOP, "devogelaere", False, 0.0),
        (RUBBING_MASS, "devogelaere", True, 0.12),
        (RUBBING_MASS, "adapt2", True, 0.12),
        (BUCKLING_WALL, "rk54", True, 0.12),
    ],
)
def test_inner_loops_have_nothing_wide_but_times(
    monkeypatch: pytest.MonkeyPatch, model: Model, scheme: str, own: bool, most: float
) -> None:
    def trace(key: ProgramKey, devices: int, shapes: dict[str, Any], lanes: tuple[str, ...]) -> None:
        assert key.engine == (QUEUE if own else LOCKSTEP)
        arguments = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
        program = programs.traced(key, devices, lanes)
        bodies = [
            list(flat(body)) for body in innermost(jax.make_jaxpr(program)(arguments, jax.ShapeDtypeStruct((devices,), np.int32)).jaxpr)
        ]
        steps = [body for body in bodies if len(body) > 20]
        assert steps
        for body in steps:
            # numbers of each lane: the times of the stages of a step, when it lands, counts; promoted physics would be most of the body
            wide = [each for each in body if any(found.aval.dtype == np.float64 and found.aval.ndim for found in each.outvars)]
            assert len(wide) <= most * len(body), (len(wide), len(body))
        raise TracedError

    monkeypatch.setattr(programs, "compiled", trace)
    rows = masses(model) | ({} if own else TIMES)
    with pytest.raises(TracedError):
        batch.solve(model, scheme, rows, {}, COUNT, dtype=np.float32)
