"""Paths of a step: uniform acceleration and a parabola of velocity, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep.kernels.contact.path import Path


def path(h: float, v0: float, v1: float, slid: float) -> Path:
    return Path.of(*(np.float64(each) for each in (h, v0, v1, slid)))


@pytest.mark.parametrize("u", [0.0, 0.25, 0.7, 1.0])
def test_uniform_acceleration(u: float) -> None:
    """From 1 to 3 m/s in 2 s: the way is t + t^2 / 2."""
    t, found = 2.0 * u, path(2.0, 1.0, 3.0, 4.0)
    assert float(found.place(u)) == pytest.approx(t + 0.5 * t * t, abs=1e-15)
    assert float(found.velocity(u)) == pytest.approx(1.0 + t)
    assert float(found.pace(u)) == pytest.approx(2.0 * (1.0 + t))


def test_a_parabola_from_rest_to_rest() -> None:
    """The velocity 6 u (1 - u) has the way 1."""
    found = path(1.0, 0.0, 0.0, 1.0)
    assert [float(found.pace(u)) for u in (0.25, 0.5)] == pytest.approx([1.125, 1.5])
    assert float(found.place(0.25)) == pytest.approx(3.0 * 0.25**2 - 2.0 * 0.25**3)


def test_it_turns_where_the_velocity_is_zero() -> None:
    """From -1 to 3 m/s in 2 s the mass turns after 0.5 s, 0.25 m back."""
    found = path(2.0, -1.0, 3.0, 2.0)
    turns, at = found.turn()
    assert bool(turns)
    assert float(at) == pytest.approx(0.25)
    assert float(found.place(at)) == pytest.approx(-0.25)
    assert not bool(path(2.0, 1.0, 3.0, 4.0).turn()[0])


def test_a_part_goes_on_from_the_turn() -> None:
    found = path(2.0, -1.0, 3.0, 2.0).part(0.25, 1.0)
    assert [float(found.h), float(found.slid), float(found.velocity(0.0)), float(found.velocity(1.0))] == pytest.approx(
        [1.5, 2.25, 0.0, 3.0]
    )
