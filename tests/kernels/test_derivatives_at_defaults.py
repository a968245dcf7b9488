"""Derivatives by every float parameter at its default, its bounds and 0, beside one-sided differences of the values."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models import MODELS, STOP
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.stepping import window_bounds

SEEN = ("x_end", "v_end")
# motions that do not end in an event, and on which each parameter has an effect in one of the cases
BASE: dict[str, dict[str, float]] = {
    "rubbing_mass": {"m": 1.3, "k": 20.0, "c": 0.7, "x0": 0.02, "v0": 0.3, "a0": 6.0, "f0": 1.0, "omega": 5.0, "phase": 0.4, "load": 0.5,
                     "mu": 0.05, "end": 1.1},
    "stop": {"m": 1.3, "k": 25.0, "c": 0.7, "v0": 0.9, "a0": 5.0, "omega": 5.0, "phase": 0.4, "mu": 0.05, "gap": 0.05, "k_n": 900.0,
             "c_n": 2.0, "end": 1.1},
    "buckling_wall": {"m": 1.3, "k": 5.0, "v0": 6.0, "gap": 0.1, "k_n": 50.0, "f_crit": 10.0, "f_post": 8.0, "k_post": 50.0, "end": 0.7},
    "two_walls": {"m": 1.3, "k": 5.0, "v0": 6.0, "gap": 0.1, "k_n": 50.0, "f_crit": 10.0, "f_post": 8.0, "k_post": 50.0,
                  "left_gap": 0.1, "left_k_n": 70.0, "end": 0.7},
}  # fmt: skip
# without an effect on these motions, or refused where another parameter does not go with them
UNREAD = ("step", "largest_step", "smallest_step", "tolerance", "retries", "window_start", "window_end", "edf_a", "edf_b", "edf_n", "edf_s",
          "service_time", "archard_k", "contact_area", "record", "record_scale", "normal_phase", "stribeck_speed", "stribeck_exponent",
          "maxwell_exponent", "bristle_stiffness", "bristle_damping", "viscous_friction", "dahl_stiffness", "dahl_exponent", "m_2", "x0_2",
          "v0_2", "sweep_rate", "normal_amplitude", "normal_omega", "k_t", "c_t", "table_scale",
          "pulse_start", "pulse_duration", "pulse_f0", "pulse_a0")  # fmt: skip


def places(quantity: Quantity, base: dict[str, float]) -> list[float]:
    """The default, 0 and closed bounds of a parameter; its value in the base where it has none of these."""
    found = {0.0, *(bound for bound in (quantity.lower, quantity.upper) if np.isfinite(bound))}
    found |= {float(quantity.default)} if isinstance(quantity.default, float) else {base.get(quantity.name, 1.0)}
    return sorted(each for each in found if not quantity.out_of_bounds(each) and np.isfinite(each))


def compared(model: Any, base: dict[str, Any], name: str, lower: float, at: list[float], scheme: str) -> list[str]:
    """What is wrong with derivatives by a parameter at some of its values: not finite, or not those of any side."""

    def ends(value: Any) -> Any:
        found = kernels.simulate(model, base | {name: value}, scheme)
        return jnp.stack([found[each] for each in found if each.partition("[")[0] in SEEN])

    h = 1e-6
    rows = jnp.array([value + side * h for value in at for side in (0.0, 1.0, 2.0, -1.0, -2.0)])
    values = np.asarray(jax.jit(jax.vmap(ends))(rows)).reshape(len(at), 5, -1)
    slopes = [np.asarray(of(jnp.array(at))) for of in (jax.jit(jax.vmap(jax.jacfwd(ends))), jax.vmap(jax.jacfwd(ends)))]
    wrong = []
    for number, value in enumerate(at):
        middle, right, further, left, beyond = values[number]
        sides = [(4.0 * right - further - 3.0 * middle) / (2.0 * h)]  # of second order
        if value - 2.0 * h >= lower:
            sides.append(-(4.0 * left - beyond - 3.0 * middle) / (2.0 * h))
        sides = [side for side in sides if np.isfinite(side).all()]  # rows beside one may be refused: mu_d above mu_s = 0
        if not sides:
            continue
        low, high = np.min(sides, axis=0), np.max(sides, axis=0)
        room = 2e-4 * (1.0 + np.maximum(np.abs(low), np.abs(high)))
        for how, slope in zip(("jitted", "eager"), slopes, strict=True):
            if np.isfinite(middle).all() and not np.all((slope[number] >= low - room) & (slope[number] <= high + room)):
                wrong.append(f"{name} = {value:g}, {how}: {slope[number]}, differences {sides}")
    return wrong


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_derivatives_lie_between_one_sided_differences(model: str) -> None:
    wrong = []
    for quantity in MODELS[model].parameters:
        if quantity.kind == "float" and quantity.name not in UNREAD:
            wrong += compared(model, BASE[model], quantity.name, quantity.lower, places(quantity, BASE[model]), EXACT)
    assert wrong == []


@pytest.mark.slow
def test_the_derivative_by_the_velocity_of_a_mass_that_friction_holds_is_0() -> None:
    for base in ({"mu": 0.1, "a0": 15.0, "window_start": 1.0}, {"mu": 0.5, "a0": 1.0}, {"mu": 0.5, "a0": 1.0, "k": 20.0, "c": 1.0}):
        for observable in ("v_end", "x_end", "wear_power"):
            slope = jax.jacfwd(lambda v0, by=base, of=observable: kernels.simulate("rubbing_mass", by | {"v0": v0, "end": 3.0})[of])(0.0)
            assert float(slope) == 0.0


@pytest.mark.long_cases("8.0-*", "5.0-*")
@pytest.mark.slow
@pytest.mark.parametrize(("f_post", "right"), [(8.0, -0.125), (5.0, -0.5)])
def test_a_softening_of_no_width_has_the_derivative_of_the_energy_that_it_takes(f_post: float, right: float) -> None:
    # without a spring the kinetic energy goes into f_crit^2 / (2 k_n) + (f_crit + f_post) / 2 softening + f_post further
    def crushed(softening: Any) -> Any:
        given = {"k": 0.0, "v0": 6.0, "gap": 0.2, "k_n": 50.0, "f_crit": 10.0, "f_post": f_post, "k_post": 50.0, "end": 3.0}
        return kernels.simulate("buckling_wall", given | {"softening": softening}).plastic_set

    assert right == pytest.approx(-(10.0 - f_post) / (2.0 * f_post))
    assert float(jax.jacfwd(crushed)(0.0)) == pytest.approx(right, rel=1e-9)


@pytest.mark.slow
def test_a_damper_of_a_wall_from_0_on_ends_its_force_before_the_mass_leaves_it() -> None:
    """The damped half period is that of no damping to first order; the force is 0 where k_n y + c_n y' is, c_n / k_n earlier."""

    def times(c_n: Any) -> Any:
        found = kernels.simulate("stop", {"m": 2.0, "k": 0.0, "v0": 1.5, "gap": 0.0, "k_n": 100.0, "c_n": c_n, "mu": 0.0, "end": 1.0})
        return jnp.stack([found[name] for name in ("exit_time", "return_time", "separation_time")])

    np.testing.assert_allclose(jax.jit(jax.jacfwd(times))(0.0), [0.0, 0.0, -0.01], atol=1e-12)


@pytest.mark.long_cases("devogelaere", "adapt2", "rk32")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere", "adapt2", "rk32", "rk54"])
def test_derivatives_through_a_softening_of_no_width_are_those_of_its_energy_by_time_schemes(scheme: str) -> None:
    """Without spring and dampers f_crit^2 / (2 k_n) + f_crit plateau + (f_crit + f_post) / 2 softening + f_post further is m v0^2 / 2."""
    k_n, f_crit, f_post, k_post, v0 = 50.0, 10.0, 8.0, 60.0, 6.0
    names, at = ("gap", "v0", "f_crit", "plateau", "softening"), (0.2, v0, f_crit, 0.02, 0.0)
    steps = {"rk32": {"tolerance": 1e-9, "largest_step": 1e-3}, "rk54": {"tolerance": 1e-9, "largest_step": 1e-3}}

    def found(values: Any) -> tuple[Any, Any]:
        given = {"k": 0.0, "c": 0.0, "k_n": k_n, "f_post": f_post, "k_post": k_post, "end": 1.6, "step": 1e-4, "largest_step": 1e-4}
        given |= steps.get(scheme, {}) | dict(zip(names, values, strict=True))
        results = kernels.simulate("buckling_wall", given, scheme)
        seen = jnp.stack([results[name] for name in ("peak_force", "plastic_set", "impulse")])
        return seen, seen

    rates, values = jax.jit(jax.jacfwd(found, has_aux=True))(jnp.array(at))
    further = (0.5 * v0**2 - f_crit**2 / (2.0 * k_n) - f_crit * 0.02) / f_post
    right = [f_crit, f_crit / k_n + 0.02 + further - f_post / k_post, v0 + f_post / k_post**0.5]
    np.testing.assert_allclose(values, right, rtol=1e-3)
    less = 1.0 - f_crit / f_post
    of_set = [0.0, v0 / f_post, less / k_n, less, 0.5 * less]
    np.testing.assert_allclose(rates, [[0.0, 0.0, 1.0, 0.0, 0.0], of_set, [0.0, 1.0, 0.0, 0.0, 0.0]], atol=5e-3)


@pytest.mark.long_cases("euler", "rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk54"])
def test_time_schemes_without_friction_need_no_stiffness_of_it_and_have_derivatives(scheme: str) -> None:
    def end(m: Any, a0: Any) -> Any:
        given = {"m": m, "k": 20.0, "a0": a0, "omega": 5.0, "v0": 0.2, "end": 1.0, "mu": 0.0}
        return kernels.simulate("rubbing_mass", given, scheme).x_end

    slopes = jax.jit(jax.jacfwd(end, (0, 1)))(1.0, 5.0)
    exact = jax.jacfwd(lambda m, a0: kernels.simulate("rubbing_mass", {"m": m, "k": 20.0, "a0": a0, "omega": 5.0, "v0": 0.2, "end": 1.0, "mu": 0.0}).x_end, (0, 1))(1.0, 5.0)  # fmt: skip # noqa: E501
    assert np.allclose(slopes, exact, rtol=1e-3 if scheme == "euler" else 1e-5)


def test_a_bound_of_a_window_moves_one_of_the_two_steps_that_meet_there() -> None:
    """Half of each would leave half of the derivative at the start and at the end of a run, where only one step is."""
    for bound, rates in ((window_bounds.begins_at, [0.0, 1.0, 1.0, 0.0]), (window_bounds.ends_at, [0.0, 0.0, 1.0, 1.0])):
        for place, rate in zip([-0.5, 0.0, 0.5, 1.0], rates, strict=True):
            value, found = jax.jvp(bound, (place,), (1.0,))
            assert (float(value), float(found)) == (max(place, 0.0), rate)


ENDS = (0.17, 0.34, 0.68, 1.11)  # s; over steps of 1e-4 s, these are whole numbers and a rounding error


@pytest.mark.parametrize("end", ENDS)
def test_a_window_that_ends_with_its_run_moves_the_last_step_however_its_place_is_rounded(end: float) -> None:
    whole = float(round(end / 1e-4))
    assert end * (whole / end) - (whole - 1.0) > 1.0

    def part(window_end: Any, done: Any) -> Any:
        closes = window_bounds.closes(window_end, jnp.asarray(end), done, jnp.asarray(whole))
        return window_bounds.ends_at(window_end * (whole / end) - done, closes)

    for done, rate in ((whole - 2.0, 0.0), (whole - 1.0, whole / end)):
        value, found = jax.jvp(functools.partial(part, done=jnp.asarray(done)), (end,), (1.0,))
        assert (float(value), float(found)) == (1.0, rate)


@pytest.mark.slow
def test_slip_and_impulse_grow_at_the_end_of_a_window_that_ends_with_its_run_by_fixed_steps() -> None:
    def slid(end: Any, window_end: Any) -> Any:
        given = {"k_t": 1e5, "v0": 5.0, "mu": 0.1, "step": 1e-4, "end": end, "window_end": window_end}
        found = kernels.simulate("rubbing_mass", given, scheme="euler")
        return found.slip_distance, found.v_end

    body = Structure(body_basis("x"), [Support("pad", "centre", "plane")], [Load("pull")], body=True).model

    def pressed(end: Any, window_end: Any) -> Any:
        given = {"k_n": 1e3, "c_n": 10.0, "gap": 0.0, "constant[pull]": 5.0, "step": 1e-4, "end": end, "window_end": window_end}
        return kernels.simulate(body, given, scheme="euler")["impulse[pad]"]

    ends = jnp.array(ENDS)
    (_, speeds), (rates, _) = jax.jvp(lambda at: slid(ends, at), (ends,), (jnp.ones(4),))
    np.testing.assert_allclose(rates, speeds, rtol=1e-3)
    assert (speeds > 3.0).all()
    impulses, rates = jax.jvp(lambda at: pressed(ends, at), (ends,), (jnp.ones(4),))
    np.testing.assert_allclose(rates, (impulses - pressed(ends, ends - 1e-4)) / 1e-4, rtol=2e-2)


def test_what_a_window_that_begins_later_takes_of_a_first_step_changes_with_other_parameters() -> None:
    def summed(rate: Any, start: Any) -> Any:
        h = jnp.asarray(0.1)
        part = window_bounds.part_of(window_bounds.lost_at_start({"window_start": start}, jnp.asarray(0.0)), h)
        return window_bounds.without(jnp.asarray(0.0), rate * h, part)

    value, found = summed(3.0, 0.0), jax.jacfwd(jax.jacfwd(summed, 1), 0)(3.0, 0.0)
    assert (float(value), float(jax.jacfwd(summed, 1)(3.0, 0.0)), float(found)) == pytest.approx((0.3, -3.0, -1.0))


def test_an_extreme_follows_the_start_of_a_window_where_it_is_the_value_there() -> None:
    def largest(start: Any) -> Any:
        h, values = jnp.asarray(0.1), (jnp.array([3.0, 1.0]), jnp.array([1.0, 3.0]))
        part = window_bounds.part_of(window_bounds.lost_at_start({"window_start": start}, jnp.asarray(0.0)), h)
        return window_bounds.narrowed(jnp.maximum(*values), *values, part)

    np.testing.assert_allclose(jax.jacfwd(largest)(0.0), [-20.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["adapt2", "rk54"])
def test_the_energy_of_a_structure_grows_by_works_also_at_the_end_of_its_run(scheme: str) -> None:
    body = Structure(body_basis("xy"), [Support("it", "centre", "plane")], [Load("pull")], body=True).model
    row = {"k": 100.0, "c": 3.0, "k_n": 1e4, "c_n": 20.0, "k_t": 1e4, "c_t": 20.0, "mu": 0.2, "v0[x]": 0.2, "v0[y]": 0.5, "gap": 1e-3,
           "amplitude[pull]": 20.0, "omega[pull]": 40.0, "phase[pull]": 0.7, "tolerance": 1e-8, "step": 1e-5,
           "largest_step": 1e-5 if scheme == "adapt2" else 1e-3}  # fmt: skip

    def energies(end: Any, window_end: Any) -> Any:
        found = kernels.simulate(body, row | {"end": end, "window_end": window_end}, scheme=scheme)
        return jnp.stack([found[name] for name in ("energy_end", "load_work", "damping_work", "support_work")])

    # in contact, with a window that ends before the run, and with it
    rates = jax.vmap(jax.jacfwd(energies))(jnp.full(2, 0.009), jnp.array([0.006, 0.009]))
    assert (abs(rates) > 0.1).all()
    rtol = {"adapt2": 5e-4, "rk54": 1e-7}[scheme]
    np.testing.assert_allclose(rates[:, 0], rates[:, 1:].sum(axis=1), rtol=rtol)
    np.testing.assert_allclose(rates[0], rates[1], rtol=rtol)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_the_largest_slip_speed_follows_the_bound_of_its_window_by_fixed_steps(scheme: str) -> None:
    def fastest(load: Any, at: Any) -> Any:
        times = dict(zip(("window_start", "window_end", "end"), at, strict=True))
        given = {"k_t": 1e5, "v0": 5.0, "mu": 0.1, "g": 10.0, "step": 1e-3, "load": load} | times
        return kernels.simulate("rubbing_mass", given, scheme=scheme)["max_slip_speed"]

    # faster and faster by 3 m/s^2, or slower and slower by 1; bounds at the ends of the run and of steps, and within steps
    for load, rates in ((4.0, (0.0, 3.0, 0.0)), (0.0, (-1.0, 0.0, 0.0))):
        at = jnp.array([[0.0, 0.5, 0.5], [0.1, 0.4, 0.5], [0.1003, 0.3996, 0.5]])
        found = jax.vmap(jax.jacfwd(fastest, 1), (None, 0))(load, at)
        np.testing.assert_allclose(found, [rates] * 3, atol=1e-6)


@pytest.mark.long_cases("euler", "rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["exact", "euler", "rk54"])
def test_a_window_from_0_that_begins_later_loses_the_force_of_an_impact_at_0(scheme: str) -> None:
    """A mass at the face of a stop comes in with v0: at once it has the damping c_n v0, with the acceleration -(c_n v0 + friction) / m."""
    seen = ("impulse", "contact_time", "contact_ratio", "slip_distance", "max_slip_speed", "peak_force", "impacts")
    m, v0, c_n, mu_n, end = 2.0, 1.5, 3.0, 0.7, 0.1

    def run(start: Any, side: Any) -> Any:
        given = {"m": m, "gap": 0.1, "sides": 2, "x0": 0.1 * side, "v0": v0 * side, "k_n": 200.0, "c_n": c_n, "mu": 0.1, "k_t": 1e4,
                 "normal_force": mu_n / 0.1, "step": 1e-5, "tolerance": 1e-9, "end": end, "window_start": start}  # fmt: skip
        found = kernels.simulate("stop", given, scheme)
        return jnp.stack([found[name] for name in seen])

    rates = jax.vmap(jax.jacfwd(run), (None, 0))(0.0, jnp.array([1.0, -1.0]))
    right = [-c_n * v0, -1.0, 0.0, -v0, -(c_n * v0 + mu_n) / m, 0.0, 0.0]
    np.testing.assert_allclose(rates, [right, right], rtol={"exact": 1e-9, "euler": 1e-3, "rk54": 1e-5}[scheme], atol=1e-6)


@pytest.mark.long_cases("rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["rk32", "rk54"])
def test_the_peak_force_of_a_wall_that_yields_follows_the_bound_of_the_window_on_which_it_is(scheme: str) -> None:
    """A mass within the wall moves in or out without damping: the force at a bound changes by k_n v."""
    k_n, depth, v0, end = 50.0, 0.05, 0.8, 0.04

    def peak(times: Any, speed: Any) -> Any:
        given = {"gap": 0.1, "x0": 0.1 + depth, "v0": speed, "k_n": k_n, "f_crit": 10.0, "f_post": 8.0, "k_post": 50.0, "tolerance": 1e-9}
        return kernels.simulate(
            "buckling_wall", given | dict(zip(("window_start", "window_end", "end"), times, strict=True)), scheme
        ).peak_force

    times = jnp.array([[0.0, end, end], [0.01, 0.02, end]])
    rates = jax.vmap(jax.vmap(jax.jacfwd(peak), (0, None)), (None, 0))(times, jnp.array([-v0, v0]))
    w = k_n**0.5
    slope = lambda t, speed: k_n * (speed * np.cos(w * t) - depth * w * np.sin(w * t))  # noqa: E731
    right = [[[slope(0.0, -v0), 0.0, 0.0], [slope(0.01, -v0), 0.0, 0.0]], [[0.0, slope(end, v0), 0.0], [0.0, slope(0.02, v0), 0.0]]]
    np.testing.assert_allclose(rates, right, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("scheme", ["euler", "devogelaere", "adapt2", "rk54"])
def test_derivatives_by_the_ends_of_a_window_that_is_the_whole_run_are_those_of_the_exact_engine(scheme: str) -> None:
    row = {"k": 30.0, "c": 0.5, "mu_s": 0.12, "mu_d": 0.1, "normal_force": 9.81, "k_t": 1e4, "c_t": 10.0, "a0": 4.0, "omega": 6.0,
           "phase": 0.7, "v0": 0.8, "x0": 0.06, "gap": 0.05, "k_n": 2e3, "c_n": 3.0}  # fmt: skip
    seen = ("wear_power", "slip_distance", "stick_fraction", "drift", "impulse", "contact_time", "x_mean", "v_rms", "x_end", "v_end",
            "max_slip_speed", "max_compression", "x_min", "x_max", "peak_force", "wall_force_max")  # fmt: skip
    steps = {"euler": {"step": 1e-5}, "devogelaere": {"step": 1e-5}, "adapt2": {"step": 1e-5, "largest_step": 1e-5},
             "rk54": {"tolerance": 1e-9, "largest_step": 1e-3}}  # fmt: skip
    # the second one is in contact at both bounds, where its extremes are; the third one is fastest at its start
    bounds = jnp.array([[0.0, 0.5, 0.5], [0.013, 0.02, 0.02], [0.0, 0.2, 0.2]])
    starts = {"x0": jnp.array([0.06, 0.055, 0.0]), "v0": jnp.array([0.8, 1.5, 2.0]), "gap": jnp.array([0.05, 0.05, 5.0])}

    def rates(scheme: str) -> tuple[np.ndarray, np.ndarray]:
        def run(at: Any, own: Any) -> Any:
            times = dict(zip(("window_start", "window_end", "end"), at, strict=True))
            found = kernels.simulate("stop", row | steps.get(scheme, {}) | own | times, scheme=scheme, statistics=True)
            values = jnp.stack([found[name] for name in seen])
            return values, values

        slopes, values = jax.vmap(jax.jacfwd(run, has_aux=True))(bounds, starts)
        return np.asarray(values), np.asarray(slopes)

    (_, found), (values, right) = rates(scheme), rates("exact")
    # a rate is compared with itself, and with the largest value of its unit over the length of the window; a fraction with 1
    unit_of = {each.name: each.unit for each in STOP.observables}
    units = [unit_of[name] for name in seen]
    sizes = [np.ones(3) if unit == "1" else np.abs(values[:, [each == unit for each in units]]).max(axis=1) for unit in units]
    sizes = np.stack(sizes, axis=1) / np.asarray(bounds[:, 1] - bounds[:, 0])[:, None]
    rooms = {"euler": 5e-4, "devogelaere": 5e-4, "adapt2": 5e-4, "rk54": 1e-5}[scheme] * (np.abs(right) + sizes[:, :, None])
    if scheme == "devogelaere":  # a known error, -0.082 by `end` for 0 in the first row: without it this exception goes
        known = (0, seen.index("stick_fraction"), 2)
        assert 0.05 < abs(found[known] - right[known]) < 0.1
        rooms[known] = 0.1
    wrong = [(seen[j], i, k, found[i, j, k], right[i, j, k]) for i, j, k in np.argwhere(~(np.abs(found - right) <= rooms))]
    assert wrong == []


@pytest.mark.long_cases("rk32", "adapt1")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["adapt1", "adapt2", "rk32", "rk54"])
def test_a_body_without_a_spring_has_the_derivatives_of_its_closed_form(scheme: str) -> None:
    model = Structure(body_basis("x"), [], [], body=True).model

    def end(m: Any) -> Any:
        given = {"m": m, "v0[x]": 1.0, "c": 0.5, "end": 1.0, "step": 1e-4, "largest_step": 1e-3}
        return kernels.simulate(model, given, scheme)["x_end[centre]"]

    by_default = jax.jacfwd(lambda m: kernels.simulate(model, {"m": m, "v0[x]": 1.0, "c": 0.5, "end": 1.0}, scheme)["x_end[centre]"])(2.0)
    # the displacement at the end is (1 - exp(-c end / m)) m v0 / c
    right = (1.0 - np.exp(-0.25)) / 0.5 - np.exp(-0.25) / 2.0
    assert float(jax.jacfwd(end)(2.0)) == pytest.approx(right, rel=5e-3 if scheme == "adapt1" else 1e-5)
    assert np.isfinite(by_default)
