"""The forces at the end of a run are those of its trace, and their derivatives those of differences between events."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from tribosweep import kernels

STICKS = {"a0": 3.0, "k": 20.0, "c": 0.5, "mu_s": 0.15, "mu_d": 0.1, "load": 0.3, "m": 1.3, "k_t": 200.0, "c_t": 8.0}
HITS = {"gap": 0.05, "a0": 6.0, "omega": 9.0, "k": 30.0, "c": 0.3, "k_n": 900.0, "c_n": 1.5, "sides": 2.0}
COLUMNS = ("x", "v", "friction_force", "wall_force")


def traced(model: str, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """A trace without the moments of events, which are there twice because forces may jump."""
    trace = kernels.trace(model, given | {"end": 1.5}, samples=41)
    times, first, counts = np.unique(trace["time"], return_index=True, return_counts=True)
    return {name: values[first[(counts == 1) & (times > 0.0)]] for name, values in trace.items()}


@pytest.mark.long
@pytest.mark.slow
def test_the_forces_at_the_end_are_those_of_the_trace_and_have_derivatives() -> None:
    trace = traced("rubbing_mass", STICKS)

    def at(k_t: Any, end: Any) -> Any:
        found = kernels.moment("rubbing_mass", STICKS | {"k_t": k_t, "end": end})
        return ({name: found[name] for name in COLUMNS},) * 2

    program = jax.jit(jax.vmap(jax.jacfwd(at, has_aux=True), (None, 0)))
    slopes, found = program(STICKS["k_t"], trace["time"])
    for name in COLUMNS:
        assert np.asarray(found[name]) == pytest.approx(trace[name], abs=1e-12)
    assert np.abs(trace["friction_force"]).max() > 1.0
    h = 1e-5 * STICKS["k_t"]
    more, less = (program(STICKS["k_t"] + side * h, trace["time"])[1] for side in (1.0, -1.0))
    for name in COLUMNS[:3]:
        exact = np.asarray(slopes[name])
        difference = (np.asarray(more[name]) - np.asarray(less[name])) / (2.0 * h)
        apart = np.abs(exact - difference) / np.abs(exact).max()
        assert np.quantile(apart, 0.9) < 1e-5, name  # a few lie where an event passes over them


@pytest.mark.long
@pytest.mark.slow
def test_the_force_of_a_wall_at_the_end_is_that_of_the_trace() -> None:
    trace = traced("stop", HITS)
    found = jax.jit(lambda end: kernels.moment("stop", HITS | {"end": end}))(trace["time"])
    for name in COLUMNS:
        assert np.asarray(found[name]) == pytest.approx(trace[name], abs=1e-12 * max(1.0, np.abs(trace[name]).max()))
    assert trace["wall_force"].max() > 1.0
