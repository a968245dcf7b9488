"""Links along one way, by hand: curves, nonlinear springs and dampers, Maxwell branches, hardening."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.hardening import Hardening
from tribosweep.kernels.contact.link_law import PiecewiseLinear, Travel
from tribosweep.kernels.contact.links import Links
from tribosweep.kernels.contact.maxwell import Maxwell
from tribosweep.kernels.contact.path import Path
from tribosweep.kernels.contact.tabulated import NonlinearDamper, NonlinearSpring

NAN = math.nan


def curve(x: list[float], y: list[float]) -> PiecewiseLinear:
    return PiecewiseLinear.of(jnp.array(x), jnp.array(y))


def straight(x: float, way: float, h: float = 1.0) -> Travel:
    """A way at a constant velocity."""
    return Travel(jnp.asarray(x), Path.of(*(jnp.asarray(each) for each in (h, way / h, way / h, way))))


@pytest.mark.parametrize("padding", [[], [NAN], [NAN, NAN]])
def test_a_curve(padding: list[float]) -> None:
    """Through (0, 0), (1, 2), (3, 3): slopes 2 and 1/2, which go on."""
    found = curve([0.0, 1.0, 3.0, *padding], [0.0, 2.0, 3.0, *padding])
    assert [float(found.at(jnp.asarray(x))) for x in (-1.0, 0.5, 2.0, 5.0)] == pytest.approx([-2.0, 1.0, 2.5, 4.0])
    assert [float(found.area(jnp.asarray(x))) for x in (1.0, 3.0, -1.0)] == pytest.approx([1.0, 6.0, 1.0])


def test_a_spring_and_a_damper_from_tables() -> None:
    spring, damper = NonlinearSpring(curve([0.0, 1.0, 2.0], [0.0, 1.0, 5.0])), NonlinearDamper(curve([-1.0, 0.0, 1.0], [-3.0, 0.0, 1.0]))
    none, zero = (), jnp.asarray(0.0)
    assert float(spring.force(none, jnp.asarray(1.5), zero)) == 3.0
    assert [float(damper.force(none, zero, jnp.asarray(v))) for v in (0.5, -0.5)] == [0.5, -1.5]
    assert float(spring.dissipated(none, straight(0.0, 1.0), none)) == 0.0
    assert float(damper.dissipated(none, straight(0.0, -2.0, 4.0), none)) == pytest.approx(1.5 * 2.0)  # 1.5 N at -0.5 m/s over 2 m


def test_hardening_yields_along_its_curve_and_unloads_with_its_first_slope() -> None:
    """K = 100 N/m up to 1 N, then 10 N/m. Stretched to 0.06 m: 1.5 N, of which the spring has 0.015 m."""
    law = Hardening(curve([0.0, 0.01, 0.11], [0.0, 1.0, 2.0]))
    new = law.at_start(jnp.asarray(0.0))
    stretched = law.along(new, straight(0.0, 0.06))
    np.testing.assert_allclose([float(each) for each in stretched], [0.045, 0.045, 1.5], rtol=1e-13)
    assert float(law.force(stretched, jnp.asarray(0.06), jnp.asarray(0.0))) == pytest.approx(1.5)
    assert float(law.dissipated(new, straight(0.0, 0.06), stretched)) == pytest.approx(0.5 * 0.01 + 1.25 * 0.05 - 0.5 * 1.5 * 0.015)
    unloaded = law.along(stretched, straight(0.06, -0.015))
    np.testing.assert_allclose([float(each) for each in unloaded], [float(each) for each in stretched])
    # back to -1.5 N at 0.03 m, and 0.055 m further with 10 N/m: -2.05 N, as p grows to 0.0945 m
    back = law.along(stretched, straight(0.06, -0.03 - 0.055))
    assert float(law.force(back, jnp.asarray(-0.025), jnp.asarray(0.0))) == pytest.approx(-1.5 - 10.0 * 0.055)
    assert {name: float(value) for name, value in law.finish(back).items()} == pytest.approx(
        {"link_plastic_set": -0.025 + 0.0205, "link_plastic_way": 0.045 + 0.055 - 0.0055}
    )


def test_a_linear_maxwell_branch() -> None:
    """K = 100 N/m and C = 10 N s/m relax in 0.1 s."""
    law = Maxwell(jnp.array([100.0, 0.0]), jnp.array([10.0, 1.0]), None)  # the second row has no such branch
    f = law.at_start(jnp.asarray(0.02))
    np.testing.assert_allclose(f, [2.0, 0.0])
    np.testing.assert_allclose(law.along(f, straight(0.02, 0.0, 0.1)), [2.0 * math.exp(-1.0), 0.0], rtol=1e-14)  # held
    pulled = law.along(0.0 * f, straight(0.0, 0.1, 0.1))  # at 1 m/s towards C v = 10 N
    np.testing.assert_allclose(pulled, [10.0 * (1.0 - math.exp(-1.0)), 0.0], rtol=1e-14)
    assert float(law.force(pulled, jnp.asarray(0.1), jnp.asarray(1.0))) == pytest.approx(10.0 * (1.0 - math.exp(-1.0)))
    # the dashpot has the integral of f^2 / C
    e = math.exp(-1.0)
    expected = 10.0 * (0.1 - 0.2 * (1.0 - e) + 0.05 * (1.0 - e * e))
    assert float(law.dissipated(0.0 * f, straight(0.0, 0.1, 0.1), pulled)) == pytest.approx(expected, rel=1e-12)


def test_a_dashpot_of_a_power_law_relaxes_as_one_over_time() -> None:
    """With alpha = 1/2, f' = -K f^2 / C^2: 1/f grows by K t / C^2."""
    law = Maxwell(jnp.array([100.0]), jnp.array([10.0]), jnp.asarray(2.0))
    np.testing.assert_allclose(law.along(jnp.array([4.0]), straight(0.0, 0.0, 0.5)), [1.0 / (0.25 + 0.5)], rtol=1e-12)


def test_several_links_act_side_by_side() -> None:
    table = {"spring_displacement": jnp.array([0.0, 1.0]), "spring_force": jnp.array([0.0, 3.0])}
    branch = {"maxwell_stiffness": jnp.array([100.0]), "maxwell_damping": jnp.array([10.0])}
    links = Links.of({**table, **branch, "x0": jnp.asarray(0.02)})
    assert links is not None
    memory = links.at_start(jnp.asarray(0.0))
    assert float(links.force(memory, jnp.asarray(0.02), jnp.asarray(0.0))) == pytest.approx(0.06 + 2.0)
    held = links.evaluate(memory, *(jnp.asarray(each) for each in (0.02, 0.0, 0.0, 0.1)))
    assert float(links.force(held, jnp.asarray(0.02), jnp.asarray(0.0))) == pytest.approx(0.06 + 2.0 * math.exp(-1.0))
    assert Links.of({"x0": jnp.asarray(0.0)}) is None
