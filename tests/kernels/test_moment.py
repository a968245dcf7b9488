"""The forces at the end of a run are those of its trace, and their derivatives those of differences between events."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import kernels

STICKS = {"a0": 3.0, "k": 20.0, "c": 0.5, "mu_s": 0.15, "mu_d": 0.1, "load": 0.3, "m": 1.3, "k_t": 200.0, "c_t": 8.0}

HITS = {"gap": 0.05, "a0": 6.0, "omega": 9.0, "k": 30.0, "c": 0.3, "k_n": 900.0, "c_n": 1.5, "sides": 2.0}
CASES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "sticks": ("rubbing_mass", STICKS, "k_t", "friction_force"),
    "hits": ("stop", HITS, "k_n", "wall_force"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_forces_at_the_end_are_those_of_the_trace_and_have_derivatives(case: str) -> None:
    model, given, by, force = CASES[case]
    trace = kernels.trace(model, given | {"end": 1.5}, samples=31)
    times = np.unique(trace["time"])
    middles = 0.5 * (times[1:] + times[:-1])[np.diff(times) > 1e-3]  # away from events
    columns = ("x", "v", "friction_force", "wall_force")

    def at(value: Any, end: Any) -> Any:
        found = kernels.moment(model, given | {by: value, "end": end})
        return {name: found[name] for name in columns}

    both = jax.jit(jax.vmap(jax.jacfwd(lambda value, end: (at(value, end),) * 2, has_aux=True), (None, 0)))
    ends = np.concatenate([times[1:], middles])
    room = -len(ends) % 128
    slopes, found = both(given[by], np.concatenate([ends, np.ones(room)]))
    other = {name: np.interp(times, trace["time"], trace[name]) for name in ("x", "v")}
    for name, values in other.items():
        assert np.asarray(found[name])[: len(times) - 1] == pytest.approx(values[1:], abs=1e-12)
    inner = slice(len(times) - 1, len(ends))
    assert np.abs(np.asarray(found[force])[inner]).max() > 0.1
    h = 1e-5 * given[by]
    more, less = (both(given[by] + side * h, np.concatenate([ends, np.ones(room)]))[1] for side in (1.0, -1.0))
    for name in ("x", "v", force):
        difference = (np.asarray(more[name]) - np.asarray(less[name]))[inner] / (2.0 * h)
        exact = np.asarray(slopes[name])[inner]
        apart = np.abs(exact - difference) / (np.abs(exact).max() + 1e-12)
        assert np.sort(apart)[int(0.9 * len(apart))] < 1e-5  # a few lie where an event passes over them
