"""What a support adds up in a single step, at instants that meet the end of the step to the last bit."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, anew
from tribosweep.kernels.models.supports import PLANE, RETURN_MAPPING, ContactKind
from tribosweep.kernels.observables.impacts import Visit
from tribosweep.kernels.stepping import observe_contacts, structure_saltation
from tribosweep.kernels.stepping.observe_wall import WindowPart


def planes(gaps: np.ndarray, axes: int) -> ImpactSliding:
    """Planes with dampers."""
    every = {"k_n": 1e4, "c_n": 40.0, "mu_s": 0.3, "mu_d": 0.3, "k_t": 2e4, "c_t": 60.0}
    numbers = {name: jnp.full(gaps.shape, value) for name, value in every.items()}
    numbers |= {"gap": jnp.asarray(gaps)}
    return ImpactSliding(ContactKind("it", PLANE, RETURN_MAPPING, axes), **numbers, centre=(jnp.zeros(gaps.shape),) * axes)


def test_a_point_that_comes_to_the_face_just_at_the_end_of_a_step_has_dissipated_nothing() -> None:
    h, gap, velocity = 2.0**-16, 2.0**-10, (1.0, 2.0)
    group = planes(np.array([gap, gap - 1e-14, gap + 1e-14]), 2)

    @jax.jit
    def taken(start: jax.Array, end: jax.Array) -> list[jax.Array]:
        rate = tuple(jnp.full(3, along) for along in velocity)
        moved = tuple(jnp.full(3, along * h) for along in velocity)
        place = (jnp.full(3, gap - h), jnp.zeros(3))
        before = group.evaluate(group.untouched(), place, tuple(0.0 * along for along in moved), rate)[1]
        (before,) = anew((before,))
        after = group.evaluate(before, tuple(map(jnp.add, place, moved)), moved, rate)[1]
        sums = observe_contacts.init(group, before, jnp.asarray(0.0), remembers=True)
        parts = (None, WindowPart(start, end))
        found = [observe_contacts.update(sums, group, before, after, jnp.asarray(h), part, jnp.zeros(3), straight=True) for part in parts]
        return [after.depth, after.slips, *(each.added.friction for each in found)]

    for part in ((0.0, 0.0), (0.0, 1.0), (0.5, 1.0)):
        depth, slips, *friction = taken(*map(jnp.asarray, part))
        assert (float(depth[0]), float(slips[0])) == (0.0, 1.0)
        assert np.array(friction) == pytest.approx(np.zeros((2, 3)), abs=1e-9)


def test_an_impact_that_ends_outside_its_support_is_counted_in_one_part_of_the_step() -> None:
    """Where the point goes on outside until it is far enough, and whichever way it moves then."""
    group, zero = planes(np.zeros(2), 1), jnp.zeros(2)
    depths = np.array([[-2e-6, -1e-6], [-1e-6, -2e-6]])  # inwards, and outwards
    before, after = (
        Touch(jnp.asarray(depth), 1e4 * jnp.asarray(depth), zero, (), (), zero, zero, zero, (jnp.asarray(depth),), (zero,), ())
        for depth in depths.T
    )

    @jax.jit
    def counted(start: jax.Array, end: jax.Array) -> jax.Array:
        sums = observe_contacts.init(group, before, jnp.asarray(0.0), remembers=False, edges=(0.0, 1e3))
        sums = sums._replace(visit=Visit(jnp.full(2, 1e-3)), peak=jnp.full(2, 10.0))
        part = WindowPart(start, end)
        h = jnp.asarray(1e-5)
        return observe_contacts.update(sums, group, before, after, h, part, zero, straight=False, edges=(0.0, 1e3)).counts[0]

    parts = [counted(*map(jnp.asarray, part)) for part in ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.0, 0.0))]
    np.testing.assert_array_equal(parts, [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])


def test_an_impact_that_began_before_the_run_is_in_no_class_as_it_is_in_no_list() -> None:
    group, zero = planes(np.zeros(3), 1), jnp.zeros(3)
    rate, inside = jnp.array([0.5, 0.0, -0.5]), jnp.full(3, 0.01)  # at t = 0 inwards, at rest and on the way out
    start, out = (
        Touch(depth, 1e4 * depth, jnp.maximum(1e4 * depth, 0.0), (), (), zero, rate, zero, (depth,), (zero,), ())
        for depth in (inside, -inside)
    )

    @jax.jit
    def counted() -> tuple[jax.Array, jax.Array, jax.Array]:
        sums = observe_contacts.init(group, start, jnp.asarray(0.0), remembers=False, edges=(0.0, 1e3, np.inf))
        first = sums.added.impacts
        for before, after in ((start, out), (out, start), (start, out)):  # the second impact is one whatever the first was
            h, part = jnp.asarray(1e-3), WindowPart(0.0, 1.0)
            sums = observe_contacts.update(sums, group, before, after, h, part, zero, straight=False, edges=(0.0, 1e3, np.inf))
        return first, sums.added.impacts, sum(sums.counts)

    first, impacts, counts = counted()
    np.testing.assert_array_equal(first, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(impacts, [2.0, 1.0, 1.0])
    np.testing.assert_array_equal(counts, impacts)


def test_a_contact_that_the_sums_count_as_an_entry_is_one_in_derivatives() -> None:
    """Also just at the end of a step, and not where the step begins at the face."""
    depths = np.array([[-1e-3, 2e-3], [-1e-3, 0.0], [0.0, 1e-3], [-1e-3, -1e-4]])
    group, zero, h = planes(np.zeros(4), 1), jnp.zeros(4), jnp.asarray(1e-3)

    def lacking(gap: jax.Array) -> jax.Array:
        before, after = (
            Touch(depth - gap, 1e4 * (depth - gap), zero, (), (), zero, zero + 1.0, zero, (depth,), (zero,), ())
            for depth in map(jnp.asarray, depths.T)
        )
        return structure_saltation.lacking(group, before, after, h)[0]

    impulse, rates = jax.jit(lambda gap: jax.jvp(lacking, (gap,), (jnp.ones(4),)))(zero)
    np.testing.assert_array_equal(impulse, np.zeros(4))
    # a wall that is farther off by dg is met later by dg / v, with the force -c_n v
    np.testing.assert_allclose(rates, [40.0, 40.0, 0.0, 0.0])


@pytest.mark.parametrize("axes", [2, 3])
def test_a_contact_that_lets_go_without_friction_of_slip_has_derivatives(axes: int) -> None:
    """Where mu_d = 0 the force vanishes as slip begins; what the anchor loses is half of force times elongation."""
    group, one, speed = planes(np.zeros(1), axes)._replace(mu_d=jnp.zeros(1)), jnp.ones(1), 0.5
    held = [6.0 * one, *[0.0 * one] * (axes - 2)]
    before = Touch(
        depth=2e-3 * one, pull=20.0 * one, normal=20.0 * one, tangential=tuple(held), elongation=tuple(each / 2e4 for each in held),
        slips=0.0 * one, rate=-0.1 * one, speed=speed * one, place=(2e-3 * one, *held), force=(0.0 * one, *held), way=tuple(held),
    )  # fmt: skip
    nothing = tuple(0.0 * each for each in held)
    after = before._replace(tangential=nothing, elongation=nothing, slips=one)
    sums = observe_contacts.init(group, before, jnp.asarray(0.0), remembers=True)
    motion = (-0.1 * one, speed * one, *[0.0 * one] * (axes - 2)), (0.0 * one,) * axes

    def lost(late: jax.Array) -> jax.Array:
        moved = late - jax.lax.stop_gradient(late)
        return observe_contacts.let_go(group, sums, before, after, one > 0.0, motion, moved).added.friction[0]

    value, slope = jax.value_and_grad(lost)(0.0)
    assert value == pytest.approx(-0.5 * 6.0 * 6.0 / 2e4)
    assert np.isfinite(slope)
