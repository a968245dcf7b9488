"""Derivatives by time schemes through entries, exits, stick and slip, against differences of motions whose events are located."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from tests.oracle import located
from tests.oracle.contact_phases import Bodies, Contact
from tribosweep import kernels
from tribosweep.kernels.models.structures import Structure, body_basis
from tribosweep.kernels.models.supports import Support

SEEN = ("x_end[centre]", "x_rate_end[centre]", "y_rate_end[centre]", "impulse[it]", "wear_power[it]", "sliding_distance[it]")
OBSERVED = {"x": "x_end[centre]", "y": "y_end[centre]", "v_x": "x_rate_end[centre]", "v_y": "y_rate_end[centre]",
            "wear": "wear_power[it]", "friction": "friction_power[it]", "impulse": "impulse[it]", "slid": "sliding_distance[it]",
            "peak": "normal_force_peak[it]"}  # fmt: skip
BY = ("gap", "k_n", "c_n", "mu_d", "v0[x]")
FREE = {"m": 1.0, "k_n": 1e5, "c_n": 50.0, "k_t": 1e5, "c_t": 50.0, "mu_s": 0.2, "mu_d": 0.2, "v0[x]": 0.2, "v0[y]": 0.5, "gap": 1e-3}
SCHEMES = ("euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54")


def pace(scheme: str, step: float) -> dict[str, float]:
    """Parameters of steps of about one length [s]."""
    if scheme.startswith("rk"):
        return {"tolerance": step * step, "largest_step": 50.0 * step}
    return {"step": step} if scheme in ("euler", "devogelaere") else {"step": step, "largest_step": step}


def log_uniform(rng: np.random.Generator, count: int, low: float, high: float) -> np.ndarray:
    """(count,) numbers whose logarithms are even between two bounds."""
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), count)))


@functools.cache
def body(obstacle: str = "plane") -> Any:
    """A body in x and y with one support."""
    return Structure(body_basis("xy"), [Support("it", "centre", obstacle)], body=True).model


def slopes(model: Any, scheme: str, rows: dict[str, Any], by: str, seen: tuple[str, ...]) -> np.ndarray:
    """(observables, rows) derivatives by a parameter."""
    run = lambda value: {name: kernels.simulate(model, {**rows, by: value}, scheme=scheme)[name] for name in seen}  # noqa: E731
    value = jax.numpy.asarray(rows[by])
    found = jax.jvp(run, (value,), (jax.numpy.ones_like(value),))[1]
    return np.stack([np.asarray(found[name]) for name in seen])


@pytest.mark.slow
@pytest.mark.long_cases("rk54", "euler", "devogelaere", "adapt?", "rk32")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_depends_on_the_way_of_a_free_flight(scheme: str) -> None:
    rows = {**FREE, "end": 0.03, **pace(scheme, 5e-6), "gap": np.array([1e-3, 1.2e-3])}
    found = slopes(body(), scheme, rows, "gap", SEEN)
    if scheme.startswith("rk"):  # steps end at the events
        assert np.abs(found[1:]).max() < 1e-4
    assert np.abs(found[1:3]).max() < 1.0  # 39.5 1/s without the term of the entry
    assert np.abs(found[3]).max() < 1.5  # 64.5


@pytest.mark.slow
@pytest.mark.long
def test_both_modes_give_the_same_derivative_through_an_entry() -> None:
    given = {**FREE, "end": 0.03, "step": 1e-5}
    backward = jax.grad(lambda gap: kernels.simulate(body(), {**given, "gap": gap}, scheme="euler")[SEEN[1]])(1e-3)
    forward = slopes(body(), "euler", given, "gap", SEEN[1:2])
    assert backward == pytest.approx(forward[0], abs=1e-9)


def random_bodies(count: int) -> dict[str, np.ndarray]:
    """Rows of a body that starts in the clearance of a support and meets it."""
    rng = np.random.default_rng(48)
    draw = functools.partial(log_uniform, rng, count)
    mu_d, gap = draw(0.1, 0.4), draw(5e-4, 2e-3)
    return {"m": draw(0.5, 2.0), "k": draw(100.0, 3000.0), "gap": gap, "k_n": draw(3e4, 1e5), "c_n": draw(5.0, 60.0),
            "mu_d": mu_d, "mu_s": mu_d * draw(1.0, 1.6), "k_t": draw(3e4, 1e5), "c_t": draw(5.0, 60.0),
            "x0[x]": 0.0 * gap, "x0[y]": -gap * rng.uniform(0.1, 0.6, count), "v0[x]": draw(0.2, 0.5),
            "v0[y]": draw(0.05, 0.5), "end": draw(0.02, 0.04)}  # fmt: skip


class Sure(NamedTuple):
    """Rows whose derivatives are sure: values (observables, rows), derivatives times the parameter (observables, parameters, rows).

    scale: of both, (2, observables, 1, rows): the size of the value, and the largest derivative of the row, each with the median of these.
    excluded: rows drawn and left out. counts: of events in all rows.
    """

    rows: dict[str, np.ndarray]
    values: np.ndarray
    slopes: np.ndarray
    scale: np.ndarray
    excluded: int
    counts: dict[str, int]


@functools.cache
def located_slopes(obstacle: str, count: int) -> Sure:
    """`count` random bodies and their derivatives of OBSERVED by BY."""
    rows = random_bodies(3 * count)
    ends = lambda lanes: located.run(obstacle, lanes)  # noqa: E731
    return sure_slopes(rows, BY, tuple(OBSERVED), ends, count, located.CHANGES)


def sure_slopes(
    rows: dict[str, np.ndarray], by: tuple[str, ...], seen: tuple[str, ...], ends: Any, count: int, counts: tuple[str, ...] = ()
) -> Sure:
    """The first `count` rows whose derivatives are sure. `ends`: rows -> results with `seen`, `counts` and `events`.

    Left out are rows of which differences of two sizes differ, or that do not all have the same events: events come too close there, or a
    motion only touches a surface or the limit of stick.
    """
    sizes, signs, many = np.array([1e-6, 4e-6]), np.array([1.0, -1.0]), len(rows["m"])
    lanes = {name: np.tile(value, (2, len(by), 2, 1)) for name, value in rows.items()}
    for place, name in enumerate(by):
        lanes[name][:, place] *= 1.0 + (sizes[:, None] * signs)[..., None]
    found = {name: np.reshape(value, (2, len(by), 2, many)) for name, value in ends({n: v.ravel() for n, v in lanes.items()}).items()}
    slopes = [(found[name][:, :, 0] - found[name][:, :, 1]) / (2.0 * sizes[:, None, None]) for name in seen]
    near, far = np.moveaxis(np.nan_to_num(np.stack(slopes)), 1, 0)
    scale = np.abs(near).max(axis=1, keepdims=True)
    same = np.ptp(found["events"], axis=(0, 1, 2)) == 0
    sure = np.flatnonzero((np.abs(near - far) <= 1e-3 * scale).all(axis=(0, 1)) & same)[:count]
    rows = {name: value[sure] for name, value in rows.items()}
    at = ends(rows)
    values = np.nan_to_num(np.stack([at[name] for name in seen]))
    scales = np.stack([np.abs(values)[:, None], scale[..., sure]])
    usual = np.array([[np.median(each[each > 0.0]) for each in part] for part in (scales[0], scale)])
    number = {name: int(np.sum(at[name])) for name in counts}
    return Sure(rows, values, near[..., sure], scales + usual[..., None, None], int(sure[-1]) + 1 - len(sure), number)


class Errors(NamedTuple):
    """Errors over their scale: of values (observables, rows) and of derivatives (observables, parameters, rows)."""

    values: np.ndarray
    slopes: np.ndarray


def of_run(run: Any, by: tuple[str, ...], sure: Sure) -> Errors:
    """Errors of a list of results of a run with parameters, and of their derivatives."""
    results, rates = both_ways(run, {name: sure.rows[name] for name in by})
    values = np.abs(np.nan_to_num(results) - sure.values) / sure.scale[0, :, 0]
    return Errors(values, np.abs(np.nan_to_num(rates) - sure.slopes) / sure.scale[1])


def errors(obstacle: str, scheme: str, sure: Sure, step: float) -> Errors:
    """Errors of bodies at an obstacle."""
    lengths = {name: sure.rows["end"] if name.endswith("_power[it]") else 1.0 for name in OBSERVED.values()}

    def run(values: dict[str, Any]) -> list[Any]:
        found = kernels.simulate(body(obstacle), {**sure.rows, **values, **pace(scheme, step)}, scheme=scheme)
        return [found[name] * length for name, length in lengths.items()]

    return of_run(run, BY, sure)


def both_ways(run: Any, at: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Results (rows,), and their derivatives by parameters times these, forward; reverse they are the same."""
    values = {name: jax.numpy.asarray(value) for name, value in at.items()}
    results, forward = jax.linearize(run, values)
    rates = np.stack([np.stack(forward({each: value * (each == name) for each, value in values.items()})) for name in values], axis=1)
    reverse, known = jax.linear_transpose(forward, values), np.isfinite(np.stack(results)).all(axis=0)
    for place, result in enumerate(results):
        (found,) = reverse([np.ones_like(each) * (other == place) for other, each in enumerate(results)])
        of_rows = np.stack([found[name] * value for name, value in values.items()])[:, known]
        assert of_rows == pytest.approx(rates[place][:, known], rel=1e-12, abs=1e-12 * np.nanmax(np.abs(result)))
    return np.stack(results), rates


def test_two_codes_that_locate_events_agree() -> None:
    rows = random_bodies(3) | {"x0[y]": np.zeros(3)}
    found = located.run("plane", rows)
    for row, of in enumerate({name: float(value[row]) for name, value in rows.items()} for row in range(3)):
        contact = Contact((1.0, 0.0), (0.0, 1.0), *(of[name] for name in ("gap", "k_n", "c_n", "mu_s", "mu_d", "k_t", "c_t")))
        other = Bodies([of["m"]] * 2, [contact], lambda _: np.zeros(2), of["k"]).run([0.0, 0.0], [of["v0[x]"], of["v0[y]"]], of["end"])
        expected = [*other["q"], *other["v"], *(other[name][0] for name in ("impulse", "wear", "slid"))]
        seen = [found[name][row] for name in ("x", "y", "v_x", "v_y", "impulse", "wear", "slid")]
        assert seen == pytest.approx(expected, rel=2e-5)  # the turn of a velocity within slip is no event
        assert found["peak"][row] == pytest.approx(other["peak"][0], rel=1e-3)  # of 200 instants a phase


# docs/structures_validation.md, lines of the ring: median and nine in ten of the errors of values and of derivatives
IN_A_RING = {"euler": ((8e-5, 1e-3), (2e-4, 2e-3)), "rk54": ((5e-11, 3e-10), (2e-10, 5e-8))}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", IN_A_RING)
def test_a_few_bodies_in_a_ring_have_the_errors_that_the_documents_print(scheme: str) -> None:
    found = errors("ring", scheme, located_slopes("ring", 12), 1e-5)
    for of, printed in zip(found, IN_A_RING[scheme], strict=True):
        of_few = np.quantile(of, [0.5, 0.9])
        assert (of_few <= 5.0 * np.array(printed)).all(), of_few  # 12 bodies scatter so


@pytest.mark.slow
@pytest.mark.long
def test_motions_and_sums_in_a_ring_follow_the_tolerance() -> None:
    rows = random_bodies(12)
    exact, paces = located.run("ring", rows), {"largest_step": 1e-3, "smallest_step": 1e-14}
    coarse, fine = (kernels.simulate(body("ring"), rows | paces | {"tolerance": each}, scheme="rk54") for each in (1e-6, 1e-8))
    for name, column in OBSERVED.items():
        errors = []
        for found in (coarse, fine):
            values = np.asarray(found[column]) * (rows["end"] if column.endswith("_power[it]") else 1.0)
            errors.append(np.abs(values - exact[name]).max() / np.abs(exact[name]).max())
        print(name, errors)
        assert errors[1] < 3e-7, name
        assert errors[1] < 0.1 * errors[0], name


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("obstacle", located.OBSTACLES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sixty_bodies_have_the_motions_and_derivatives_of_located_ones(scheme: str, obstacle: str) -> None:
    sure = located_slopes(obstacle, 60)
    assert min(sure.counts.values()) > 10
    converge(scheme, obstacle, sure, *(errors(obstacle, scheme, sure, step) for step in (4e-5, 1e-5)))


def converge(scheme: str, law: str, sure: Sure, coarse: Errors, fine: Errors) -> None:
    """Errors fall with the step; they are printed as the documents have them: median and largest of values and of derivatives."""
    both = [f"{part(each):.0e}" for each in fine for part in (np.median, lambda all_: np.quantile(all_, 0.9), np.max)]
    print(law, scheme, *both, sure.excluded, sure.counts)
    assert coarse.slopes.shape[-1] == 60
    assert np.median(fine.values) < 5e-4
    assert np.median(fine.slopes) < 2e-3
    for one, other in zip(coarse, fine, strict=True):
        before, worst = (np.quantile(np.reshape(each, (len(each), -1)), 0.9, axis=1) for each in (one, other))  # of each observable
        assert (worst < 0.06).all()
        assert (worst < np.maximum(0.8 * before, 5e-3)).all()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "step", "bound"), [("rk54", 1e-4, 2e-5), ("rk32", 1e-5, 2e-4)])
def test_a_contact_that_sticks_as_soon_as_it_begins_has_the_derivatives_of_located_motions(scheme: str, step: float, bound: float) -> None:
    # its damper is beyond the cone at the entry, and the anchor would go back from there on
    rng, count = np.random.default_rng(5), 120
    speed = rng.uniform(0.5, 1.5, count)
    rod = {"m": 0.5, "k": 3e4, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu_s": 0.36, "mu_d": 0.3, "k_t": 5e5, "c_t": 200.0}
    rows = {name: np.full(count, value) for name, value in rod.items()}
    rows |= {"x0[x]": np.zeros(count), "x0[y]": np.zeros(count), "v0[x]": speed, "v0[y]": speed * rng.uniform(0.08, 0.25, count)}
    rows |= {"end": np.full(count, 6e-3)}
    sure = sure_slopes(rows, BY, tuple(OBSERVED), lambda lanes: located.run("plane", lanes), 60)
    assert sure.slopes.shape[-1] == 60
    found = errors("plane", scheme, sure, step).slopes
    assert np.quantile(found, 0.9) < bound
    assert found.max() < 10.0 * bound


# laws of one mass at walls: model, friction, and whether the first and the second wall buckle; None: there is none
LAWS: dict[str, tuple[str, str, bool, bool | None]] = {
    "stop": ("stop", "penalised", False, None), "buckling wall": ("buckling_wall", "penalised", True, None),
    "two buckling walls": ("two_walls", "penalised", True, True), "buckling wall and stop": ("two_walls", "none", True, False),
    "two bodies": ("stop", "none", False, None), "two bodies, one buckles": ("buckling_wall", "none", True, None),
}  # fmt: skip
AT_WALLS = ("x_end", "v_end", "impulse", "peak_force", "max_compression", "contact_time", "first_contact_velocity", "rebound_velocity")
RUBBING, BUCKLING = ("wear_power", "friction_power", "slip_distance"), ("plastic_set", "buckling_time")


def random_masses(law: str, count: int) -> dict[str, np.ndarray]:
    """Rows of a mass that starts between its walls, or of two bodies that meet."""
    from tests.kernels import test_event_code as drawn  # its oracle needs numba

    _, friction, *buckles = LAWS[law]
    rng = np.random.default_rng([48, *law.encode()])
    rows = drawn.oscillators(rng, count, friction)
    rows = {name: value + np.zeros(count) for name, value in rows.items()}
    reach, turn = rows["a0"] / rows["omega"] ** 2, 2.0 * np.pi / rows["omega"]
    rows |= {"end": rng.uniform(0.7, 1.6, count) * turn, "window_start": np.zeros(count), "x0": -rng.uniform(0.05, 0.3, count) * reach}
    rows |= {"window_end": rows["end"], "v0": rng.uniform(0.2, 1.0, count) * reach * rows["omega"]}
    if friction == "penalised":
        rows |= {"k_t": rows["m"] * rows["omega"] ** 2 * drawn.log(rng, 1.0, 2.5, count)}
        rows |= {"mu_s": rows["mu_d"] * rng.uniform(1.02, 1.5, count)}
    for prefix, yields in zip(("", "left_"), buckles, strict=True):
        if yields is None:
            continue
        own = drawn.wall(rng, rows, "stiffness" if yields else "stop")
        own |= {"gap": rng.uniform(0.05, 0.5, count) * reach, "c_n": rng.uniform(0.05, 0.5, count) * np.sqrt(rows["m"] * own["k_n"])}
        if yields:
            length = own["f_crit"] / own["k_n"]
            own |= {"c_buckled": own["c_n"] * rng.uniform(0.2, 2.0, count), "softening": length * rng.uniform(0.2, 3.0, count)}
            own |= {"k_post": own["f_post"] / (length + own["softening"]) * rng.uniform(1.05, 3.0, count)}
        rows |= {prefix + name: value for name, value in own.items()}
    if law == "stop":
        rows |= {"sides": 1.0 + (rng.random(count) < 0.4)}
    return rows | ({"m_2": rows["m"] * drawn.log(rng, -0.5, 0.7, count)} if "bodies" in law else {})


def by_event_code(rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Results of the event code; of two bodies those of their relative motion, in which an acceleration of both has no part."""
    from tests.kernels import test_event_code as drawn
    from tests.oracle import event_code

    if "m_2" in rows:
        share = rows["m_2"] / (rows["m"] + rows["m_2"])
        rows = rows | {name: rows[name] * share for name in ("m", "c", "k", "f0", "load")} | {"a0": 0.0 * share}
        del rows["m_2"]
    found = event_code.solve([drawn.as_row(rows, row) for row in range(len(rows["m"]))])
    found |= {name: found[name] * rows["end"] for name in RUBBING[:2]}
    missed = (found["status"] > 0.0) | (found["impulse"] == 0.0)
    return found | {"events": np.where(missed, np.arange(len(missed)), found["events"])}  # rows that hit no wall are not sure


@functools.cache
def located_masses(law: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...], Sure]:
    """What is seen and by which parameters, and rows that are sure."""
    rows = random_masses(law, 2 * count)
    every = ("gap", "left_gap", "k_n", "c_n", "v0", "f_crit", "m_2", *(["mu_d"] if "k_t" in rows else []))
    by = tuple(name for name in every if name in rows)
    seen = (*AT_WALLS, *(RUBBING if "k_t" in rows else ()), *(BUCKLING if "f_crit" in rows else ()))
    return seen, by, sure_slopes(rows, by, seen, by_event_code, count, ("impacts", *(["slip_phases", "stops"] if "k_t" in rows else [])))


def errors_at_walls(law: str, count: int, part: float) -> Errors:
    """Errors by `euler` with steps of a `part` of the fastest motion."""
    seen, by, sure = located_masses(law, count)
    rows = sure.rows
    hard = np.maximum(rows["k_n"], rows.get("left_k_n", 0.0)) * (1.0 + rows["m"] / rows.get("m_2", np.inf))
    stiff = rows["k"] + rows.get("k_t", 0.0) + hard
    step = part / np.sqrt(stiff / rows["m"] + rows["omega"] ** 2)

    def run(values: dict[str, Any]) -> list[Any]:
        found = kernels.simulate(LAWS[law][0], {**rows, **values, "step": step}, scheme="euler")
        ends = {name: found[name] - found[name + "_2"] for name in ("x_end", "v_end") if "m_2" in rows}
        return [ends.get(name, found[name] * (rows["end"] if name.endswith("_power") else 1.0)) for name in seen]

    return of_run(run, by, sure)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
def test_sixty_masses_at_walls_have_the_motions_and_derivatives_of_the_event_code(law: str) -> None:
    pytest.importorskip("numba")
    converge("euler", law, located_masses(law, 60)[2], *(errors_at_walls(law, 60, part) for part in (0.02, 0.005)))


STOP = {"m": 1.0, "k": 300.0, "c": 0.5, "v0": 0.3, "gap": 2e-3, "k_n": 1e5, "c_n": 60.0, "a0": 8.0, "omega": 60.0, "end": 0.06,
        "mu_s": 0.15, "mu_d": 0.1, "normal_force": 9.81, "k_t": 2e4, "c_t": 3.0}  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scheme", [each for each in SCHEMES if each != "adapt1"])
def test_a_stop_has_the_derivatives_of_the_exact_engine(scheme: str) -> None:
    seen = ("x_end", "v_end", "impulse", "wear_power", "slip_distance", "first_contact_velocity", "rebound_velocity")
    for by in ("gap", "v0", "mu_s"):
        exact, found = (slopes("stop", name, STOP | given, by, seen) for name, given in (("exact", {}), (scheme, pace(scheme, 2e-5))))
        assert found == pytest.approx(exact, rel=0.2, abs=1e-6)
