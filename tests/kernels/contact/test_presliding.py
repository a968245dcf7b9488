"""Dahl's and LuGre friction along one way: solutions by hand. Bristles of 2000 N/m, a limit of 10 N."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import pytest

from tribosweep.kernels.contact.dahl import Dahl
from tribosweep.kernels.contact.grip import UNMOVED
from tribosweep.kernels.contact.lugre import LuGre
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.presliding import Bristles

COMMON = {"mu_s": 0.6, "mu_d": 0.5, "normal_force": 20.0}
WAY = 5e-3  # m, on which unlimited bristles would hold 10 N


def numbers(values: dict[str, float]) -> dict[str, Any]:
    return {name: jnp.asarray(value) for name, value in (COMMON | values).items()}


def dahl(exponent: float) -> Dahl:
    return Dahl.of(numbers({"dahl_stiffness": 2000.0, "dahl_exponent": exponent}))


def lugre(**others: float) -> LuGre:
    return LuGre.of(numbers({"bristle_stiffness": 2000.0, "bristle_damping": 30.0, "viscous_friction": 4.0} | others))


def along(law: Any, f: float, way: float) -> float:
    path = Path.of(*(jnp.asarray(each) for each in (1.0, way, way, way)))
    return float(law.advance(jnp.asarray(f), path, 0.0, jnp.asarray(1.0)))


@pytest.mark.parametrize(
    ("exponent", "f", "way", "after"),
    [
        (1.0, 0.0, WAY, 10.0 * (1.0 - math.exp(-1.0))),
        (1.0, 5.0, -WAY, -10.0 * (1.0 - 1.5 * math.exp(-1.0))),  # back from 5 N
        (2.0, 0.0, WAY, 5.0),  # 1 / (1 - r) = 1 + x
        (0.5, 0.0, WAY, 7.5),  # 1 - r = (1 - x / 2)^2
        (0.5, 0.0, 3.0 * WAY, 10.0),  # at the limit since x = 2
        (0.0, 0.0, 0.5 * WAY, 5.0),  # a spring up to the limit
        (0.0, 0.0, 2.0 * WAY, 10.0),
    ],
)
def test_dahl_along_a_way(exponent: float, f: float, way: float, after: float) -> None:
    assert along(dahl(exponent), f, way) == pytest.approx(after, rel=1e-12)


def test_dahls_bristles_bend_as_the_motion_at_first_and_not_at_the_limit() -> None:
    found = [float(dahl(1.5).bending(jnp.asarray(f), jnp.asarray(0.2))) for f in (0.0, 7.5, 10.0, -10.0)]
    assert found == pytest.approx([0.2, 0.2 * 0.25**1.5, 0.0, 0.2 * 2.0**1.5], rel=1e-14, abs=1e-30)


@pytest.mark.parametrize(("f", "way", "after"), [(0.0, WAY, 10.0 * (1.0 - math.exp(-1.0))), (5.0, -WAY, -10.0 + 15.0 * math.exp(-1.0))])
def test_lugre_along_a_way(f: float, way: float, after: float) -> None:
    assert along(lugre(), f, way) == pytest.approx(after, rel=1e-14)


def test_lugre_in_steady_slip() -> None:
    """The bristles hold g(w), and do not bend: beside them there is the viscous force alone."""
    law, w = lugre(stribeck_speed=0.1), jnp.asarray(0.2)
    g = 10.0 + 2.0 * math.exp(-2.0)
    assert float(law.limit(w)) == pytest.approx(g, rel=1e-9)
    assert float(law.force(Bristles(jnp.asarray(1.0), law.limit(w), w), w)) == pytest.approx(-(g + 4.0 * 0.2), rel=1e-9)
    unbent = Bristles(jnp.asarray(1.0), jnp.asarray(0.0), w)
    assert float(law.force(unbent, w)) == pytest.approx(-(30.0 * 0.2 + 4.0 * 0.2))  # those bend at w


@pytest.mark.parametrize(
    ("bent", "moved", "v", "needed", "slips"),
    [
        (0.0, 2e-3, 0.1, 20.0, False),  # 3.3 N: most of the motion bends the bristles
        (6.0, 2e-3, 0.1, 20.0, True),
        (6.0, 2e-3, 0.1, 5.0, False),  # the force needed is within the static limit
    ],
)
def test_slip_begins_where_most_of_the_motion_is_slip(bent: float, moved: float, v: float, needed: float, slips: bool) -> None:
    law = lugre()
    memory = law.at_start(jnp.asarray(v))._replace(bent=jnp.asarray(bent), speed=jnp.asarray(v))
    assert float(memory.slip_state) == UNMOVED
    _, after = law.evaluate(memory, *(jnp.asarray(each) for each in (moved, v, needed)), elapsed=jnp.asarray(moved / v))
    assert bool(after.slips) == slips
