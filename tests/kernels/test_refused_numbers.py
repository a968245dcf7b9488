"""What `tribosweep.simulate` refuses: plain numbers with a message, rows of arrays with a status, traced numbers with NaN."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models.status import Status

RUBS = {"mu": 0.1, "omega": 6.28, "end": 2.0, "a0": 3.0}


@pytest.mark.parametrize(
    ("params", "scheme", "said"),
    [
        ({"mu_s": 0.1, "mu_d": 0.2}, "exact", "static friction must be at least dynamic friction"),
        ({"window_start": 3.0}, "exact", "the window must have a length"),
        ({"k_t": 1e6, "step": 1e-2}, "euler", "a fixed step must be stable"),
        ({"m": -1.0}, "exact", "m \\[kg\\]: -1.0 is out of bounds: must be > 0"),
    ],
)
def test_one_oscillator_that_breaks_a_rule_is_refused(params: dict[str, float], scheme: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kernels.simulate("rubbing_mass", RUBS | params, scheme)


@pytest.mark.slow
def test_rows_of_arrays_carry_a_status() -> None:
    found = kernels.simulate("rubbing_mass", RUBS | {"m": np.array([1.0, -1.0, np.nan]), "mu_s": 0.1, "mu_d": np.array([0.2, 0.1, 0.1])})
    assert found["status"].tolist() == [Status.RULE_BROKEN, Status.OUT_OF_BOUNDS, Status.NOT_FINITE]
    assert np.isnan(found["wear_power"]).all()
    assert found["slip_phases"].tolist() == [-1, -1, -1]


@pytest.mark.slow
def test_traced_numbers_out_of_bounds_are_nan_with_their_derivatives() -> None:
    def power(m: jax.Array, mu_d: jax.Array) -> jax.Array:
        return kernels.simulate("rubbing_mass", RUBS | {"m": m, "mu_s": 0.1, "mu_d": mu_d})["wear_power"]

    m, mu_d = jnp.array([1.0, -1.0, 1.0]), jnp.array([0.1, 0.1, 0.2])
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(power)))(m, mu_d)
    assert np.isfinite(values).tolist() == np.isfinite(slopes).tolist() == [True, False, False]
    assert values[0] > 0.0
