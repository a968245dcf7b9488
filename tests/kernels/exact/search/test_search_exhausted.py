"""A search that takes too many pieces is cut and goes on where it was cut; a run that cannot go on says so; one without events ends."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import program as program_of
from tribosweep.kernels.exact import event_loop, rigid_loop
from tribosweep.kernels.exact.oscillator import Kind, build, setup
from tribosweep.kernels.exact.search import reversal_scan
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.contacts import PENALISED, RIGID
from tribosweep.kernels.models.status import Status


def resolved(key: ProgramKey, **given: float) -> dict[str, jax.Array]:
    """What a program reads."""
    found = RUBBING_MASS.resolve({"k_t": 1e5, "end": 3.0} | given)
    return {name: jnp.asarray(value) for name, value in found.items() if key.friction == "penalised" or name not in ("k_t", "c_t")}


@functools.cache
def program(key: ProgramKey) -> Any:
    """A program of the exact engine, jitted."""
    return jax.jit(program_of(key))


def run(params: dict[str, float]) -> tuple[dict[str, jax.Array], jax.Array]:
    resolved = {name: jnp.asarray(value) for name, value in RUBBING_MASS.resolve(params).items() if name not in ("k_t", "c_t")}
    return jax.jit(lambda p: rigid_loop.simulate(p, free=False))(resolved)


@pytest.mark.slow
def test_a_search_cut_after_six_pieces_gives_the_published_wear_power(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reversal_scan, "MOST_PIECES", 6)
    monkeypatch.setattr(rigid_loop, "MOST_PIECES", 6)
    for a0, published in ((15.0, 15.266764915), (1.5, 0.40906275889), (1.01, 2.26164125886e-4)):
        observables, status = run({"a0": a0, "k": 3e-5, "window_start": 4.0})
        assert int(status) == Status.OK
        assert float(observables["wear_power"]) == pytest.approx(published, rel=1e-9)
        assert int(observables["slip_phases"]) == (16 if a0 == 1.01 else 17)


@pytest.mark.slow
def test_a_long_slide_over_a_fast_excitation_stops_where_friction_has_eaten_its_energy() -> None:
    slide = {"omega": 1.2e5, "a0": 1.0, "v0": 8.0, "c": 1e-9}
    observables, status = run(slide)
    assert int(status) == Status.OK
    # v0^2 / (2 mu g) = 32 m of slip, but for shaking of amplitude a0 / omega^2 and the trace of damping
    np.testing.assert_allclose(float(observables["slip_distance"]), 32.0, rtol=1e-5)
    assert float(observables["v_end"]) == 0.0


@pytest.mark.slow
def test_a_run_that_would_take_too_long_says_so() -> None:
    _, status = run({"omega": 1e7, "a0": 0.5, "v0": 8.0, "c": 1e-9})
    assert int(status) == Status.TOO_MANY_EVENTS


@pytest.mark.slow
def test_a_result_that_is_no_number_has_a_status_in_python_too() -> None:
    result = kernels.simulate("rubbing_mass", {"v0": 1e300, "end": 1e30})
    assert int(result["status"]) == Status.OVERFLOW
    assert np.isnan(result["wear_power"])
    assert int(result["regime"]) == -1


@pytest.mark.long_cases("change1")
@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [{}, pytest.param({"k": 1e-5}, marks=pytest.mark.slow), pytest.param({"k_t": 1e6, "c_t": 0.0}, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("fresh_programs")
def test_a_run_cut_at_the_bound_of_events_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch, change: dict[str, float]) -> None:
    monkeypatch.setattr(event_loop, "MOST_EVENTS", 40)
    monkeypatch.setattr(rigid_loop, "MOST_EVENTS", 40)

    def solve(end: float) -> tuple[dict[str, np.ndarray], int]:
        columns = {"a0": np.array([15.0, 0.5]), "end": np.full(2, end)} | {name: np.full(2, value) for name, value in change.items()}
        found = batch.solve(RUBBING_MASS, "exact", columns, count=2)
        assert found.status[1] == Status.OK
        return {name: values[0] for name, values in found.observables.items()}, int(found.status[0])

    cut, status = solve(100.0)
    reached = float(cut.pop("time_reached"))
    assert status == Status.TOO_MANY_EVENTS
    assert cut.pop("regime") == -1
    assert np.isnan(list(cut.values())).all()
    assert 3.0 < reached < 25.0
    before, status = solve(0.8 * reached)
    assert status == Status.OK
    assert before["time_reached"] == 0.8 * reached
    assert solve(1.001 * reached)[1] == Status.TOO_MANY_EVENTS


@pytest.mark.long_cases("m-exact, penalised friction")
@pytest.mark.slow
@pytest.mark.parametrize("key", [ProgramKey("exact", free=True), ProgramKey("exact"), ProgramKey("exact", friction="penalised")], ids=str)
@pytest.mark.parametrize("name", ["m", "a0", "omega", "phase", "load", "mu_s", "v0", "end"])
def test_a_parameter_that_is_no_number_has_a_status_and_ends_the_run_at_once(key: ProgramKey, name: str) -> None:
    observables, status = program(key)({**resolved(key), name: jnp.nan})
    assert int(status) == Status.NOT_FINITE
    assert float(observables["time_reached"]) == 0.0


@pytest.mark.long_cases("True-*", "False-penalised")
@pytest.mark.slow
@pytest.mark.parametrize("friction", [RIGID, PENALISED])
@pytest.mark.parametrize("slides", [False, True])
def test_where_no_guard_ever_fires_the_segment_runs_to_the_end(friction: str, slides: bool) -> None:
    # held by 2 N of friction of which 0.5 N are needed, or sliding ever faster with 3 - 2 N on 1 kg
    given = {"a0": 0.0, "mu": 0.2, "load": 3.0 if slides else 0.5, "v0": 0.4 if slides else 0.0, "end": 6.0, "k_t": 1e4, "c_t": 300.0}
    p = {name: jnp.asarray(value) for name, value in RUBBING_MASS.resolve(given).items()}
    made = setup(p, Kind(friction))
    last = jax.jit(lambda: event_loop.end_of(build(made)))()
    assert int(event_loop.outcome(last, made.finite)) == Status.OK
    assert float(last.t) == 6.0
    stretch = 0.5 / 1e4 if friction == PENALISED else 0.0
    assert float(last.x) == pytest.approx(0.4 * 6.0 + 0.5 * 6.0**2 if slides else stretch, rel=1e-12, abs=0.0)
    assert float(last.anchor.v) == pytest.approx(6.4 if slides else 0.0, rel=1e-13, abs=1e-15)
    assert float(last.events) == 3.0  # the ends of the stages and nothing else
