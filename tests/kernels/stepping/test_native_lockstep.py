"""The loop in C++ finds what JAX's loop finds, in every row that it takes; all other rows are JAX's, to the last bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch import program_key
from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.runtime import native_library

COUNT = 512
WINDOWS = ((1.23456, 2.54321, 3.0), (0.0, 3.0, 3.0), (1.0, 1.0001, 2.0), (2.03e-4, 4.06e-4, 1.0), (0.5, 0.9, 0.9))
COUNTS = ("slip_phases", "stops", "regime", "period", "time_reached", "accepted_steps", "rejected_steps")
# Both loops round each step by 1e-16 of its numbers. Where a mass barely slips, the excitation nearly balances friction, and an error
# grows by 1 / (1 - eta), eta the ratio of the smaller to the larger: so most rows agree to 1e-13 and all to 5e-12.
RELATIVE = ("wear_power", "wear_energy", "friction_power", "slip_distance", "max_slip_speed")
Both = Callable[..., tuple[Solution, Solution]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cache for the tests of this file."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, cache: str) -> Iterator[Both]:
    """Columns (and more arguments of `solve`) -> results of JAX's loop, and those with the loop in C++."""
    monkeypatch.setenv("XDG_CACHE_HOME", cache)

    def run(columns: dict[str, Any], count: int = COUNT, **more: Any) -> tuple[Solution, Solution]:
        found = []
        for value in ("0", "1"):
            monkeypatch.setenv(native_library.SWITCH, value)
            found.append(solve(RUBBING_MASS, "euler", columns, {}, count, room=COUNT, **more))  # so that all share programs
        return found[0], found[1]

    monkeypatch.setenv(native_library.SWITCH, "1")
    native_library.forget()
    if not native_library.in_use():
        pytest.skip(native_library.why_not())
    yield run
    native_library.forget()


def masses(seed: int = 7) -> dict[str, Any]:
    """Random masses of every kind: at rest or moving at first, with and without springs, loads, static excess, damping of the contact."""
    rng = np.random.default_rng(seed)

    def some(share: float, value: float, others: np.ndarray) -> np.ndarray:
        return np.where(rng.random(COUNT) < share, value, others)

    mu = some(0.05, 0.0, rng.uniform(0.01, 0.3, COUNT))
    free = rng.random(COUNT) < 0.5
    return {
        "m": rng.uniform(0.3, 3.0, COUNT),
        "a0": some(0.05, 0.0, rng.uniform(-10.0, 10.0, COUNT)),
        "omega": rng.uniform(2.0, 15.0, COUNT),
        "phase": some(0.2, 0.0, rng.uniform(-7.0, 7.0, COUNT)),
        "f0": some(0.5, 0.0, rng.uniform(-3.0, 3.0, COUNT)),
        "load": some(0.5, 0.0, rng.uniform(-2.0, 2.0, COUNT)),
        "x0": some(0.5, 0.0, rng.normal(size=COUNT)),
        "v0": some(0.5, 0.0, rng.normal(size=COUNT)),
        "mu_d": mu,
        "mu_s": mu * some(0.5, 1.0, rng.uniform(1.0, 1.5, COUNT)),
        "k_t": 10.0 ** rng.uniform(3.0, 6.0, COUNT),
        "c_t": some(0.5, 0.0, rng.uniform(0.0, 100.0, COUNT)),
        "k": np.where(free, 0.0, rng.choice([0.0, 7.0, 60.0], COUNT)),
        "c": np.where(free, 0.0, rng.choice([0.0, 0.3], COUNT)),
        "step": 2.03e-4,
        "window_start": 0.2,
        "window_end": 0.8,
        "end": 1.0,
    }


def agree(jax: Solution, native: Solution, kind: str = "") -> None:
    """Equal counts and statuses, and numbers that differ by rounding."""
    np.testing.assert_array_equal(native.status, jax.status)
    for name, expected in jax.observables.items():
        found = native.observables[name]
        if name in COUNTS:
            np.testing.assert_array_equal(found, expected, err_msg=f"{name}, {kind}")
        else:  # the others are differences of large numbers
            np.testing.assert_allclose(found, expected, rtol=5e-12, atol=1e-15 if name in RELATIVE else 2e-11, err_msg=f"{name}, {kind}")


def keys(columns: dict[str, Any], scheme: str = "euler", **more: Any) -> dict[bool, int]:
    """Whether the loop in C++ runs rows -> how many."""
    with np.errstate(all="ignore"):
        rows = {name: np.asarray(value) for name, value in RUBBING_MASS.resolve(columns).items()}
    groups = program_key.groups(RUBBING_MASS, scheme, None, rows, np.arange(COUNT), native=True, **more)
    return {kind: sum(members.size for key, members in groups.items() if key.native == kind) for kind in (False, True)}


@pytest.mark.slow
def test_the_loop_in_cpp_finds_what_that_of_jax_finds(both: Both) -> None:
    for seed, (start, stop, end) in enumerate(WINDOWS):
        columns = masses(seed) | {"window_start": start, "window_end": stop, "end": end}
        assert keys(columns) == {False: 0, True: COUNT}
        jax, native = both(columns)
        assert (jax.status == Status.OK).all()
        agree(jax, native, f"window from {start} to {stop}")
        wear = jax.observables["wear_power"]
        assert np.abs(native.observables["wear_power"] - wear).max() <= 1e-12 * wear.max()
        assert any((native.observables[name] != jax.observables[name]).any() for name in jax.observables)  # it is another loop


@pytest.mark.slow
def test_awkward_masses(both: Both) -> None:
    """Amplitudes beside the limit of friction, no friction, phases at which the excitation is 0 or largest, soft and coarse contacts."""
    choices = [0.0, 0.9999, 1.0001, 1.5, 15.0], [0.0, 0.1], [1.0, 1.2], [0.0, 1.3], [0.0, np.pi / 2.0, np.pi], [0.0, -0.5]
    cases = np.array(list(itertools.product(*choices)))
    a0, mu, excess, load, phase, v0 = cases[np.arange(COUNT) % len(cases)].T
    plain = masses() | dict.fromkeys(("f0", "x0", "k", "c"), np.zeros(COUNT)) | {"m": np.ones(COUNT)}
    cases = plain | {"a0": a0, "mu_d": mu, "mu_s": mu * excess, "load": load, "phase": phase, "v0": v0, "end": 5.0}
    cases |= {"window_start": 1.0, "window_end": 4.0}
    for k_t, c_t, omega, step in ((1e5, 0.0, 6.283, 1e-3), (100.0, 5.0, 30.0, 0.05)):
        more = {name: np.full(COUNT, value) for name, value in (("k_t", k_t), ("c_t", c_t), ("omega", omega))}
        jax, native = both(cases | more | {"step": step})
        assert (jax.status == Status.OK).all()
        # a mass without friction and load may come to rest for an instant in each period: rounding decides whether a step sees it
        for one in (jax, native):
            one.observables["slip_phases"][(mu == 0.0) & (load == 0.0)] = 0
        agree(jax, native, f"k_t = {k_t}")


@pytest.mark.slow
def test_a_row_depends_on_itself_alone(both: Both) -> None:
    columns = masses()
    columns["x0"][::7] = columns["v0"][::7] = 1.5e308  # these overflow
    _, whole = both(columns)
    some = np.random.default_rng(1).permutation(COUNT)[:77]
    _, part = both({name: value[some] if np.ndim(value) else value for name, value in columns.items()}, some.size)
    np.testing.assert_array_equal(part.status, whole.status[some])
    assert (whole.status[::7] != Status.OK).any()
    for name, found in part.observables.items():
        np.testing.assert_array_equal(found, whole.observables[name][some], err_msg=name)


@pytest.mark.slow
def test_other_rows_are_those_of_jax(both: Both) -> None:
    columns = masses()
    columns["omega"][:10] = 2.1 / columns["step"]
    columns["phase"][10:20] = 1e6
    assert keys(columns) == {False: 20, True: COUNT - 20}
    jax, native = both(columns)
    np.testing.assert_array_equal(native.status, jax.status)
    for name, expected in jax.observables.items():
        np.testing.assert_array_equal(native.observables[name][:20], expected[:20], err_msg=name)
    assert (native.observables["v_end"] != jax.observables["v_end"])[20:].any()


def test_other_programs_are_those_of_jax() -> None:
    columns = masses() | {"a0": 5.0}
    assert keys(columns)[True] == COUNT
    for other in ({"belt_speed": 0.1}, {"sweep_rate": 0.1}, {"end": np.full(COUNT, 1.0)}, {"normal_amplitude": 0.1, "normal_omega": 3.0}):
        assert keys(columns | other)[True] == 0, other
    assert keys(columns, "devogelaere")[True] == 0
    assert keys(columns, precision="float32")[True] == 0
    assert keys(columns, asked=Asked(3))[True] == 0


@pytest.mark.slow
def test_some_columns_are_those_of_all(monkeypatch: pytest.MonkeyPatch, both: Both) -> None:
    _, whole = both(masses())
    monkeypatch.setenv(native_library.SWITCH, "1")
    some = solve(RUBBING_MASS, "euler", masses(), {}, COUNT, room=COUNT, asked=Asked(columns=("stops", "wear_power")))
    assert set(some.observables) == {"stops", "wear_power"}
    for name, found in some.observables.items():
        np.testing.assert_array_equal(found, whole.observables[name])
