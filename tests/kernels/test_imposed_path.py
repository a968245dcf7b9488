"""Forces of contacts on an imposed displacement, against closed forms and integrations written here."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels

AMPLITUDE, K_T, MU, FORCE = 1e-3, 5e5, 0.3, 200.0
SLIDE = MU * FORCE
RUBS = {"mu": MU, "normal_force": FORCE, "k_t": K_T}


def triangle(cycles: float, samples: int = 400) -> np.ndarray:
    """A displacement that goes up and down at constant speed, from 0."""
    u = np.linspace(0.0, cycles, samples + 1)
    return AMPLITUDE * 2.0 / math.pi * np.arcsin(np.sin(2.0 * math.pi * u))


def test_a_steady_loop_is_the_parallelogram() -> None:
    x = triangle(1.0)
    found = np.asarray(kernels.hysteresis("rubbing_mass", RUBS, x, steady=True)["force"])
    width = 2.0 * SLIDE / K_T  # of the path over which the spring turns from one limit to the other
    up = np.minimum(SLIDE, -SLIDE + K_T * (x + AMPLITUDE))
    down = np.maximum(-SLIDE, SLIDE - K_T * (AMPLITUDE - x))
    rising = np.gradient(x) > 0.0
    inner = np.abs(np.abs(x) - AMPLITUDE) > 1e-9
    np.testing.assert_allclose(found[inner], np.where(rising, up, down)[inner], rtol=1e-12, atol=1e-9)
    area = float(np.sum(0.5 * (found[1:] + found[:-1]) * np.diff(x)))
    assert area == pytest.approx(4.0 * SLIDE * (AMPLITUDE - 0.5 * width), rel=5e-3)


def test_the_first_loading_starts_with_an_unloaded_spring() -> None:
    found = kernels.hysteresis("rubbing_mass", RUBS, np.linspace(0.0, AMPLITUDE, 11))
    np.testing.assert_allclose(found["force"], np.minimum(SLIDE, K_T * np.linspace(0.0, AMPLITUDE, 11)), rtol=1e-13)
    np.testing.assert_allclose(found["friction_force"], -found["force"], rtol=1e-13)


def test_a_path_of_a_micrometre_in_a_minute_slips_as_any_other() -> None:
    x = triangle(2.0)
    slow = kernels.hysteresis("rubbing_mass", RUBS | {"mu_s": 0.4, "mu_d": 0.3}, x, np.linspace(0.0, 6e4, x.size))
    fast = kernels.hysteresis("rubbing_mass", RUBS | {"mu_s": 0.4, "mu_d": 0.3}, x, np.linspace(0.0, 1.0, x.size))
    np.testing.assert_array_equal(slow["force"], fast["force"])
    assert np.max(np.abs(slow["force"])) <= 0.4 * FORCE * (1.0 + 1e-14)  # the slack of the definition of a slip


def test_the_damper_acts_if_it_is_given_with_times() -> None:
    x, time = np.linspace(0.0, 1e-5, 5), np.linspace(0.0, 1e-3, 5)
    plain, damped = (kernels.hysteresis("rubbing_mass", RUBS | more, x, time)["force"] for more in ({}, {"c_t": 20.0}))
    np.testing.assert_allclose(np.asarray(damped - plain)[1:], 20.0 * 1e-5 / 1e-3, rtol=1e-12)
    np.testing.assert_array_equal(kernels.hysteresis("rubbing_mass", RUBS | {"c_t": 20.0}, x)["force"], plain)


def test_dahl_is_its_differential_equation() -> None:
    params = {"mu": MU, "normal_force": FORCE, "dahl_stiffness": 2e5, "dahl_exponent": 1.0}
    x = triangle(1.5, 300)
    found = np.asarray(kernels.hysteresis("rubbing_mass", params, x)["force"])
    force, expected = 0.0, [0.0]
    for step in np.diff(x):  # dF/dx = sigma (1 - F sign(dx) / F_c), by many small steps of Runge's rule
        n = 200
        for _ in range(n):

            def rate(f: float, step: float = step) -> float:
                return 2e5 * (1.0 - f * math.copysign(1.0, step) / SLIDE)

            half = force + 0.5 * step / n * rate(force)
            force += step / n * rate(half)
        expected.append(force)
    np.testing.assert_allclose(found, expected, atol=2e-6 * SLIDE)


def test_lugre_at_constant_speed_has_the_stribeck_curve() -> None:
    params = {"mu_s": 0.4, "mu_d": 0.2, "normal_force": 100.0, "bristle_stiffness": 1e5, "stribeck_speed": 0.01}
    speed = 0.02
    x = np.linspace(0.0, 0.05, 2001)
    found = kernels.hysteresis("rubbing_mass", params, x, x / speed)["force"]
    assert float(found[-1]) == pytest.approx(100.0 * (0.2 + 0.2 * math.exp(-speed / 0.01)), rel=1e-9)


def test_a_wall_that_buckles_is_loaded_along_its_envelope() -> None:
    wall = {"k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0,
            "post_set": [2.0, 3.0, 4.0, 5.0], "post_stiffness": [0.2, 0.15, 0.125, 0.1]}  # fmt: skip
    x = np.array([0.0, 0.5, 1.5, 2.5, 4.0, 6.5, 5.0, 3.05, 4.0, 6.5, 6.6])
    found = np.asarray(kernels.hysteresis("buckling_wall", wall, x)["wall_force"])
    stiffness = 0.5 / (6.5 - 3.1)  # SDND105 C: plastic set 3.1 where the largest compression is 6.5
    expected = [0.0, 0.5, 1.0, 0.75, 0.5, 0.5, stiffness * 1.9, 0.0, stiffness * 0.9, 0.5, 0.5]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_two_walls_push_the_two_ways() -> None:
    x = np.array([0.0, 0.3, -0.2])
    found = kernels.hysteresis("two_walls", {"k_n": 10.0, "gap": 0.1, "left_k_n": 50.0, "left_gap": 0.1}, x)
    np.testing.assert_allclose(found["force"], [0.0, 2.0, -5.0], rtol=1e-12)
    np.testing.assert_allclose(found["wall_force"], [0.0, 2.0, 5.0], rtol=1e-12)


@pytest.mark.slow
def test_its_derivatives_are_those_of_the_parallelogram() -> None:
    x = triangle(1.0, 40)

    def force(k_t: float, mu: float) -> jax.Array:
        return kernels.hysteresis("rubbing_mass", {**RUBS, "k_t": k_t, "mu": mu}, x)["force"]

    by_k, by_mu = jax.jit(jax.jacfwd(force, argnums=(0, 1)))(K_T, MU)
    h = 1e-6
    np.testing.assert_allclose(by_k, (force(K_T * (1 + h), MU) - force(K_T * (1 - h), MU)) / (2 * h * K_T), atol=1e-9 * SLIDE)
    np.testing.assert_allclose(by_mu, (force(K_T, MU * (1 + h)) - force(K_T, MU * (1 - h))) / (2 * h * MU), atol=1e-6 * FORCE)
    np.testing.assert_allclose(jax.jacrev(lambda k: force(k, MU))(jnp.asarray(K_T)), by_k, rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "x", "time", "said"),
    [
        ({"mu": 0.1}, [0.0, 1.0], None, "rigid friction has no force of its own"),
        ({**RUBS, "stribeck_speed": 0.1}, [0.0, 1.0], None, "give the times"),
        ({**RUBS, "belt_speed": 0.1}, [0.0, 1.0], None, "belt_speed"),
        ({**RUBS, "maxwell_stiffness": [5.0], "maxwell_damping": [1.0]}, [0.0, 1.0], None, "a link beside k and c"),
        (RUBS, [0.0], None, "two samples"),
        (RUBS, [0.0, math.nan], None, "finite"),
        (RUBS, [0.0, 1.0, 2.0], [0.0, 1.0, 1.0], "ascend"),
        (RUBS, [0.0, 1.0, 2.0], [0.0, 1.0], "the same length"),
        ({**RUBS, "k_t": -1.0}, [0.0, 1.0], None, "out of bounds"),
    ],
)
def test_bad_input_is_refused(params: dict[str, float], x: list[float], time: list[float] | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kernels.hysteresis("rubbing_mass", params, x, time)
