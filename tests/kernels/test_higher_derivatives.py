"""Second and third derivatives of `tribosweep.simulate`: compositions of JAX's transformations, against differences of first ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels

pytestmark = pytest.mark.long

Function = Callable[[Any], Any]

# model, scheme, parameters, an observable, and the parameter that it is differentiated by
RUBS = {"mu": 0.1, "omega": 2.0 * math.pi, "end": 2.0, "a0": 3.0}
HITS = {"k": 20.0, "c": 0.3, "a0": 6.0, "omega": 6.0, "gap": 0.05, "k_n": 900.0, "c_n": 1.5, "end": 1.0}
CASES: dict[str, tuple[str, str, dict[str, float], str, str]] = {
    "rigid friction": ("rubbing_mass", "exact", RUBS, "wear_power", "a0"),
    "penalised friction": ("rubbing_mass", "exact", RUBS | {"k": 5.0, "c": 0.1, "k_t": 1e3, "c_t": 10.0}, "wear_power", "a0"),
    "buckling wall": ("buckling_wall", "exact",
                      {"k_n": 200.0, "f_crit": 2.0, "f_post": 0.5, "k_post": 90.0, "v0": 0.8, "gap": 0.01, "end": 1.0}, "x_end", "v0"),
    "two walls": ("two_walls", "exact", HITS | {"left_k_n": 500.0, "left_gap": 0.04}, "v_end", "k_n"),
    "euler": ("rubbing_mass", "euler", RUBS | {"k": 5.0, "k_t": 1e3, "c_t": 10.0, "step": 1e-3}, "x_end", "k"),
    "rk54": ("stop", "rk54", HITS | {"gap": -0.2, "load": 180.0, "k_t": 1.0, "c_t": 0.0, "tolerance": 1e-10}, "v_end", "k"),
}  # fmt: skip
COMPOSITIONS: dict[str, Callable[[Function], Function]] = {
    "grad of grad": lambda f: jax.grad(jax.grad(f)),
    "jacrev of jacfwd": lambda f: jax.jacrev(jax.jacfwd(f)),
    "jacfwd of jacfwd": lambda f: jax.jacfwd(jax.jacfwd(f)),
    "hessian": jax.hessian,
    "jit of grad of grad": lambda f: jax.jit(jax.grad(jax.grad(f))),
    "grad of jit of grad": lambda f: jax.grad(jax.jit(jax.grad(f))),
    "vmap of grad of grad": lambda f: lambda x: jax.vmap(jax.grad(jax.grad(f)))(jnp.array([x, 1.01 * x]))[0],
    "grad of sum of vmap of grad": lambda f: jax.grad(lambda x: jnp.sum(jax.vmap(jax.grad(f))(jnp.stack([x, x]))) / 2.0),
    "jvp of jvp": lambda f: lambda x: jax.jvp(lambda y: jax.jvp(f, (y,), (1.0,))[1], (x,), (1.0,))[1],
}


FEW = {
    "penalised friction": ["jacrev of jacfwd"], "buckling wall": ["hessian"],
    "two walls": ["jacrev of jacfwd"], "euler": ["grad of grad", "hessian"], "rk54": ["hessian"],
}  # fmt: skip


def function_of(case: str) -> tuple[Function, float]:
    """An observable as a function of one parameter, and where it is differentiated."""
    model, scheme, params, observable, name = CASES[case]
    return lambda value: kernels.simulate(model, params | {name: value}, scheme)[observable], params[name]


def difference(first: Function, x: float) -> float:
    """The derivative of a first derivative by central differences of order 4."""
    h = 1e-4 * x
    near, far = (first(x + h) - first(x - h)) / (2.0 * h), (first(x + 2.0 * h) - first(x - 2.0 * h)) / (4.0 * h)
    return float((4.0 * near - far) / 3.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "compositions"),
    [
        ("rigid friction", ["grad of grad"]),
        pytest.param("rigid friction", list(COMPOSITIONS), marks=pytest.mark.slow),
        # each composition compiles for a minute or two with walls
        *(pytest.param(case, few, marks=pytest.mark.slow) for case, few in FEW.items()),
    ],
)
def test_second_derivatives_are_differences_of_first_ones(case: str, compositions: list[str]) -> None:
    f, x = function_of(case)
    expected = difference(jax.jit(jax.jacfwd(f)), x)
    found = {name: float(COMPOSITIONS[name](f)(x)) for name in compositions}
    print(case, expected, found)
    assert found == {name: pytest.approx(expected, rel=2e-6) for name in found}


@pytest.mark.slow
def test_a_third_derivative_is_the_difference_of_second_ones() -> None:
    f, x = function_of("rigid friction")
    expected = difference(jax.jit(jax.jacfwd(jax.jacfwd(f))), x)
    assert float(jax.grad(jax.grad(jax.grad(f)))(x)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_a_hessian_by_three_parameters_is_symmetric_and_the_difference_of_the_gradient() -> None:
    names = ("a0", "mu", "omega")
    x = np.array([RUBS[name] for name in names])

    def f(values: Any) -> Any:
        return kernels.simulate("rubbing_mass", RUBS | dict(zip(names, values, strict=True)))["wear_power"]

    found, gradient = np.asarray(jax.hessian(f)(x)), jax.jit(jax.jacfwd(f))
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
    for i, row in enumerate(found):
        step = 1e-5 * x[i] * np.eye(3)[i]
        np.testing.assert_allclose(row, (gradient(x + step) - gradient(x - step)) / (2.0 * step[i]), rtol=1e-6)
