"""A search for a reversal that takes too many pieces is cut, and goes on where it was cut."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernels
from kernels.exact import loop, pieces
from kernels.models import RUBBING_MASS
from kernels.status import Status


def run(params: dict[str, float]) -> tuple[dict[str, jax.Array], jax.Array]:
    resolved = {name: jnp.asarray(value) for name, value in RUBBING_MASS.resolve(params).items() if name not in ("k_t", "c_t")}
    return jax.jit(lambda p: loop.simulate(p, free=False))(resolved)


def test_a_search_cut_after_six_pieces_gives_the_published_wear_power(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_PIECES", 6)
    monkeypatch.setattr(loop, "MOST_PIECES", 6)
    for a0, published in ((15.0, 15.266764915), (1.5, 0.40906275889), (1.01, 2.26164125886e-4)):
        observables, status = run({"a0": a0, "k": 3e-5, "window_start": 4.0})
        assert int(status) == Status.OK
        assert float(observables["wear_power"]) == pytest.approx(published, rel=1e-9)
        assert int(observables["slip_phases"]) == (16 if a0 == 1.01 else 17)


def test_a_long_slide_over_a_fast_excitation_stops_where_friction_has_eaten_its_energy() -> None:
    slide = {"omega": 1.2e5, "a0": 1.0, "v0": 8.0, "c": 1e-9}
    observables, status = run(slide)
    assert int(status) == Status.OK
    # v0^2 / (2 mu g) = 32 m of slip, but for shaking of amplitude a0 / omega^2 and the trace of damping
    np.testing.assert_allclose(float(observables["slip_distance"]), 32.0, rtol=1e-5)
    assert float(observables["v_end"]) == 0.0


def test_a_run_that_would_take_too_long_says_so() -> None:
    _, status = run({"omega": 1e7, "a0": 0.5, "v0": 8.0, "c": 1e-9})
    assert int(status) == Status.TOO_MANY_EVENTS


def test_a_result_that_is_no_number_has_a_status_in_python_too() -> None:
    result = kernels.simulate("rubbing_mass", {"v0": 1e300, "end": 1e30})
    assert int(result["status"]) == Status.OVERFLOW
    assert np.isnan(result["wear_power"])
    assert int(result["regime"]) == -1
