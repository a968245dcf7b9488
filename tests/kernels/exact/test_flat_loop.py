"""The loop over looks, which gives values, against the loop over events, which gives derivatives; and its two kinds of programs."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.exact import oscillator
from tribosweep.kernels.exact.oscillator import Kind
from tribosweep.kernels.models import RUBBING_MASS, STOP, Model
from tribosweep.kernels.models.contacts import PENALISED, RIGID, WallLaw

COUNT = 128
STOPPED = (WallLaw("stop", "", 0),)
KINDS = {"penalised": (RUBBING_MASS, PENALISED, ()), "stop": (STOP, None, STOPPED), "stop and friction": (STOP, RIGID, STOPPED)}


def rows(model: Model, friction: str | None, seed: int) -> dict[str, Any]:
    """Resolved parameters of random oscillators, (COUNT,) or one for all."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "a0": rng.uniform(0.3, 4.0, COUNT), "omega": rng.uniform(1.0, 9.0, COUNT), "phase": rng.uniform(0.0, 6.0, COUNT),
        "k": rng.uniform(0.5, 40.0, COUNT), "c": rng.uniform(0.05, 1.0, COUNT), "v0": rng.normal(size=COUNT), "end": np.full(COUNT, 3.0),
        "window_start": np.where(rng.random(COUNT) < 0.5, 0.0, 1.0),
    }  # fmt: skip
    if model is STOP:
        columns |= {
            "k_n": 10.0 ** rng.uniform(2.0, 6.0, COUNT),
            "c_n": 10.0 ** rng.uniform(-1.0, 2.0, COUNT),
            "gap": rng.uniform(0.0, 0.2, COUNT),
        }
    if friction is not None:
        columns["mu"] = rng.uniform(0.0, 0.3, COUNT)
    if friction == PENALISED:
        columns |= {"k_t": 10.0 ** rng.uniform(3.0, 6.0, COUNT), "c_t": rng.uniform(0.0, 300.0, COUNT)}
    resolved = model.resolve(columns)
    unread = () if friction == PENALISED else model.penalty
    return {
        name: jnp.broadcast_to(jnp.asarray(value, float), (COUNT,))
        for name, value in resolved.items()
        if np.ndim(value) < 2 and name not in {*unread, *model.tables}
    }


@functools.cache
def program(kind: Kind, by_events: bool) -> Any:
    return jax.jit(jax.vmap(functools.partial(oscillator.simulate, kind=kind, nested=by_events)))


@pytest.mark.long
@pytest.mark.long_cases("stop", "stop and friction")
@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_looks_and_events_and_long_stretches_lead_to_the_same_end(name: str) -> None:
    model, friction, walls = KINDS[name]
    p = rows(model, friction, 11)
    expected, status = program(Kind(friction, walls), True)(p)
    assert not status.any()
    for stiff in (True, False):
        found, status = program(Kind(friction, walls, stiff=stiff), False)(p)
        assert not status.any()
        for each, values in expected.items():
            size = np.nanmax(np.abs(np.where(np.isfinite(values), values, np.nan)), initial=0.0)
            # impacts and grazes multiply rounding
            off = np.abs(np.asarray(found[each]) - np.asarray(values)) / (size or 1.0)
            assert np.nanmedian(off) < 1e-13, (each, stiff)
            assert np.nanquantile(off, 0.95) < 1e-9, (each, stiff)
            np.testing.assert_array_equal(np.isnan(found[each]), np.isnan(values))
