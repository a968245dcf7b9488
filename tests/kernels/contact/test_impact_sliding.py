"""A contact of a structure: normal force, friction, geometry and margins by hand. 1000 N/m and 10 N s/m, 500 N/m and 2 N s/m along."""

from __future__ import annotations

import math

import jax.numpy as jnp
import pytest

from tribosweep.kernels.contact.contact_phases import changed, margins
from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, across, scalar, size
from tribosweep.kernels.models.supports import PLANE, RETURN_MAPPING, RING, STORED_FORCE, TWO_PLANES, ContactKind

GAP = 1e-2


def group(obstacle: str, axes: int, law: str = RETURN_MAPPING, gap: float = GAP, mu_d: float = 0.4) -> ImpactSliding:
    numbers = (jnp.array([each]) for each in (gap, 1000.0, 10.0, 0.5, mu_d, 500.0, 2.0))
    return ImpactSliding(ContactKind("pad", obstacle, law, axes), *numbers, tuple(jnp.zeros(1) for _ in range(axes)))


def vector(*values: float) -> tuple[jnp.ndarray, ...]:
    return tuple(jnp.array([each]) for each in values)


def numbers(values: tuple[jnp.ndarray, ...]) -> list[float]:
    return [float(each[0]) for each in values]


@pytest.mark.parametrize(
    ("obstacle", "x", "v", "force"),
    [
        (PLANE, 0.0, 1.0, 0.0),
        (PLANE, 0.02, 0.5, -(10.0 + 5.0)),
        (PLANE, 0.02, -2.0, 0.0),  # the damper would pull
        (PLANE, 0.01, 0.5, -5.0),  # at the face the damper acts
        (PLANE, -0.02, -0.5, 0.0),
        (TWO_PLANES, -0.02, -0.5, 10.0 + 5.0),
    ],
)
def test_the_normal_force(obstacle: str, x: float, v: float, force: float) -> None:
    contact = group(obstacle, 1)
    found, _ = contact.evaluate(contact.untouched(), vector(x), vector(0.0), vector(v))
    assert numbers(found) == pytest.approx([force])


@pytest.mark.parametrize(("v", "force"), [(0.5, -5.0), (-0.5, 5.0)])
def test_between_two_planes_without_clearance_the_point_touches_the_one_to_which_it_moves(v: float, force: float) -> None:
    contact = group(TWO_PLANES, 1, gap=0.0)
    assert numbers(contact.evaluate(contact.untouched(), vector(0.0), vector(0.0), vector(v))[0]) == [force]


def test_a_ring_pushes_towards_its_middle() -> None:
    """At (12, 16) mm, 20 mm from the middle: 10 mm deep. The velocity (0.3, 0.4) is outward."""
    contact = group(RING, 2)
    found, touch = contact.evaluate(contact.untouched(), vector(0.012, 0.016), vector(0.0, 0.0), vector(0.3, 0.4))
    assert numbers(found) == pytest.approx([-15.0 * 0.6, -15.0 * 0.8])
    assert numbers((touch.depth, touch.rate, touch.speed)) == pytest.approx([0.01, 0.5, 0.0], abs=1e-15)
    assert numbers((contact.around(vector(0.012, 0.016), vector(-0.8, 0.6)),)) == pytest.approx([1.0])


def pressed(contact: ImpactSliding, elongation: float = 0.0, slips: float = 0.0, tangential: float = 0.0) -> Touch:
    """A state 10 mm inside the plane."""
    touch = contact.untouched()
    return touch._replace(
        depth=jnp.array([0.01]),
        normal=jnp.array([10.0]),
        elongation=vector(elongation),
        slips=jnp.array([slips]),
        tangential=vector(tangential),
    )


@pytest.mark.parametrize(
    ("slips", "elongation", "moved", "v", "force", "stretched", "now"),
    [
        (0.0, 1e-3, 2e-3, 0.5, -2.5, 3e-3, 0.0),  # 1.5 N of the spring, 1 N of the damper: within 5 N
        (0.0, 1e-3, 10e-3, 0.5, -4.0, 6e-3, 1.0),  # 6.5 N: it slips with 4 N, of which the spring keeps 3 N
        (1.0, 6e-3, 1e-3, 0.5, -4.0, 6e-3, 1.0),  # 4.5 N are within 5 N, but it slips already
        (1.0, 6e-3, -1e-3, -0.5, -1.5, 5e-3, 0.0),  # back: it holds
    ],
)
def test_the_return_mapping(slips: float, elongation: float, moved: float, v: float, force: float, stretched: float, now: float) -> None:
    contact = group(PLANE, 2)
    found, after = contact.evaluate(pressed(contact, elongation, slips), vector(0.02, 0.0), vector(0.0, moved), vector(0.0, v))
    assert numbers(found) == pytest.approx([-10.0, force])
    assert numbers((*after.elongation, after.slips)) == pytest.approx([stretched, now])


def test_a_slip_in_two_directions_keeps_that_of_the_trial() -> None:
    contact = group(PLANE, 3)
    touch = contact.untouched()._replace(depth=jnp.array([0.01]), normal=jnp.array([10.0]))
    found, after = contact.evaluate(touch, vector(0.02, 0.0, 0.0), vector(0.0, 0.03, 0.04), vector(0.0, 0.0, 0.0))
    assert numbers(found) == pytest.approx([-10.0, -4.0 * 0.6, -4.0 * 0.8])
    assert numbers(after.elongation) == pytest.approx([4.0 * 0.6 / 500.0, 4.0 * 0.8 / 500.0])


def test_a_step_that_enters_slides_from_its_entry_on() -> None:
    """From 5 mm before the plane to 10 mm in it: two thirds of the way along it count."""
    contact = group(PLANE, 2)
    touch = contact.untouched()._replace(depth=jnp.array([-0.005]))
    _, after = contact.evaluate(touch, vector(0.02, 0.0), vector(0.015, 3e-3), vector(0.0, 0.0))
    assert numbers(after.elongation) == pytest.approx([2e-3])


def test_a_stored_force_slips_on_while_the_velocity_keeps_its_direction() -> None:
    contact = group(PLANE, 2, STORED_FORCE)
    found, _ = contact.evaluate(pressed(contact, 8e-3, 1.0, -4.0), vector(0.02, 0.0), vector(0.0, -1e-4), vector(0.0, 0.1))
    assert numbers(found) == pytest.approx([-10.0, -4.0])


def test_margins_are_forces_to_the_next_phase() -> None:
    contact, h = group(PLANE, 2), jnp.array([1e-3])
    rest, held = vector(0.0, 0.0), pressed(contact, 4e-3)
    _, stuck = contact.evaluate(held, vector(0.02, 0.0), rest, rest)
    found = margins(contact, held, stuck, rest, rest, h)
    assert numbers((found.normal, found.friction, found.least)) == pytest.approx([10.0, 5.0 - 2.0, 3.0])
    # a slip at 0.1 m/s moves the anchor by 0.1 mm in a step of 1 ms: 0.05 N
    slides = pressed(contact, 7.7e-3, 1.0, -4.0)
    _, slipping = contact.evaluate(slides, vector(0.02, 0.0), rest, vector(0.0, 0.1))
    found = margins(contact, slides, slipping, vector(0.0, 0.1), rest, h)
    assert numbers((slipping.slips, found.friction, found.sliding)) == pytest.approx([1.0, 0.05, 0.1])
    away = contact.untouched()
    _, off = contact.evaluate(away, vector(0.0, 0.0), rest, rest)
    assert numbers((margins(contact, away, off, rest, rest, h).normal,)) == pytest.approx([10.0])


def test_a_contact_that_changes_begins_stuck_or_slipping() -> None:
    """An entry at 1 m/s, where the damper pushes with 10 N: at 0.5 m/s along the plane its own damper has 1 N, at 5 m/s 10 N of 5 N."""
    contact, h, yes = group(PLANE, 2), jnp.array([1e-3]), jnp.array([True])
    away = contact.untouched()._replace(depth=jnp.array([-1e-6]))
    for along, slips in ((0.5, 0.0), (5.0, 1.0)):
        velocity = vector(1.0, along)
        _, now = contact.evaluate(away, vector(GAP, 0.0), vector(0.0, 0.0), velocity, keeps=yes)
        after = changed(contact, away, now, velocity, vector(0.0, 0.0), h, yes)
        assert numbers((after.slips, *after.elongation)) == [slips, 0.0]
        assert float(after.normal[0]) > 0.0


def test_vectors() -> None:
    one, other = vector(3.0, 4.0), vector(-4.0, 3.0)
    assert numbers((size(one, one[0]), scalar(one, other), across(one, other))) == [5.0, 0.0, 25.0]
    assert numbers((size((), one[0]), size(vector(-2.0), one[0]))) == [0.0, 2.0]
    assert math.isfinite(numbers((size(vector(0.0, 0.0), one[0]),))[0])
