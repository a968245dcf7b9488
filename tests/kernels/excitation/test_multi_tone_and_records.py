"""Sums of sines, records and sweeps: against an integration of their own, predictions, and each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from tests.kernels.compiling import hastily
from tests.oracle.driven_friction import Drive
from tests.oracle.driven_friction import run as reference
from tribosweep.kernels import Records, simulate, trace
from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.status import Status

Row = dict[str, Any]
INTERVAL, SAMPLES = 0.02, 60
TONES = 3
ONE = np.ones(1)


def random_records() -> Records:
    """Four records: three that wander, one of white noise."""
    rng = np.random.default_rng(3)
    samples = 0.5 * np.cumsum(rng.normal(size=(4, SAMPLES)), axis=1)
    samples -= samples.mean(axis=1, keepdims=True)
    samples[3] = 2.0 * rng.normal(size=SAMPLES)
    return Records(samples, INTERVAL)


def random_rows(count: int, penalised: bool) -> list[Row]:
    """Masses under a sine, tones, and a record that may end before the run does."""
    rng = np.random.default_rng(11)
    rows = []
    for _ in range(count):
        mu = rng.uniform(0.02, 0.2)
        row: Row = {
            "m": rng.uniform(0.5, 2.0),
            "mu_s": mu * rng.choice([1.0, 1.3]),
            "mu_d": mu,
            "k": rng.choice([0.0, rng.uniform(1, 300)]),
        }
        row |= {"c": rng.choice([0.0, rng.uniform(0.0, 3.0)]), "x0": rng.choice([0.0, 0.01]), "v0": rng.choice([0.0, 0.1, -0.2])}
        row |= {"load": rng.choice([0.0, 0.3]), "record": float(rng.integers(4)), "record_scale": rng.choice([1.0, -0.7, 2.0])}
        row |= {"a0": rng.choice([0.2, 1.5]), "omega": rng.uniform(3.0, 20.0), "phase": rng.uniform(0.0, 6.0), "f0": rng.choice([0.0, 0.4])}
        row["normal_force"] = 10.0 * row["m"]
        row["end"] = rng.choice([0.7, 1.0, 1.4])
        row |= {"window_start": 0.3 * row["end"], "window_end": 0.95 * row["end"]}
        tones = rng.integers(1, TONES + 1)
        for name, values in (("a0", rng.normal(size=tones)), ("omega", rng.uniform(2, 40, tones)), ("phase", rng.uniform(0, 6, tones))):
            row[f"tone_{name}"] = np.concatenate([values, np.full(TONES - tones, np.nan)])
        if penalised:
            row["k_t"] = 10.0 ** rng.uniform(2.5, 4.5)
            row["c_t"] = math.sqrt(row["k_t"]) * rng.uniform(0.0, 1.0)
        rows.append(row)
    return rows


def expected(row: Row, records: Records) -> dict[str, Any]:
    """What the independent integration gives for a row."""
    m = row["m"]
    tones = [(-m * a, w, p) for a, w, p in zip(row["tone_a0"], row["tone_omega"], row["tone_phase"], strict=True) if not np.isnan(a)]
    p = {name: row[name] for name in ("m", "c", "k", "x0", "v0", "normal_force", "k_t", "c_t") if name in row}
    p |= {"hold": row["mu_s"] * row["normal_force"], "slide": row["mu_d"] * row["normal_force"]}
    forces = -m * row["record_scale"] * records.samples[int(row["record"])]
    drive = Drive(row["load"], [(row["f0"] - m * row["a0"], row["omega"], row["phase"]), *tones], forces.tolist(), records.interval)
    return reference(p, drive, row["end"], (row["window_start"], row["window_end"]))


def solved(rows: Sequence[Row], scheme: str = "exact", **given: Any) -> solve.Solution:
    """Rows of one and the same names."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return solve.solve(RUBBING_MASS, scheme, columns, count=len(rows), **given)


def agrees_with_the_reference(count: int, penalised: bool) -> None:
    records, rows = random_records(), random_rows(12, penalised)
    found = solved(rows, records=records)
    assert not found.status.any()
    events = 0
    for place, row in list(enumerate(rows))[:count]:
        right = expected(row, records)
        events += right.pop("events")
        for name, value in right.items():
            assert found.observables[name][place] == pytest.approx(float(value), rel=1e-11, abs=1e-13), (place, name)
    assert events > 4 * count


@pytest.mark.slow
def test_rigid_friction_under_sines_and_a_record_is_that_of_an_independent_integration() -> None:
    agrees_with_the_reference(3, penalised=False)


@pytest.mark.long
@pytest.mark.slow
def test_penalised_friction_under_sines_and_a_record_is_that_of_an_independent_integration() -> None:
    agrees_with_the_reference(8, penalised=True)


def table_of_the_sine(interval: float, room: int, end: float = 12.0) -> Records:
    """sin(2 pi t) as a record, zeros behind it so that it has `room` samples."""
    times = interval * np.arange(round(end / interval) + 1)
    return Records(np.pad(np.sin(2.0 * math.pi * times), (0, room - times.size)), interval)


def powers_of_tables(intervals: Sequence[float], sdnd104: Callable[..., Row], **contact: float) -> tuple[np.ndarray, np.ndarray]:
    """Wear powers less those of the sine itself of SDND104 from tables, and as predicted.

    Linear interpolation is convolution with a triangle, whose transform is sinc^2: what shakes the mass at omega is the sine times
    sinc^2(omega h / 2) = 1 - (omega h)^2 / 12 + ..., and what is left are sines of 1/h and more, of size (omega h)^2, of which a mass
    moves by h^2 times that.
    """
    a0 = np.array([15.0, 1.5, 1.01])
    base = sdnd104(1.0) | contact
    shrink = np.sinc(np.array(intervals)) ** 2  # numpy's sinc has the pi: omega h / 2 = pi h
    sizes = np.concatenate([a0, *(a0 * each for each in shrink)])
    plain = solve.solve(RUBBING_MASS, "exact", base | {"a0": sizes}, count=sizes.size).observables["wear_power"].reshape(-1, 3)
    room = round(12.0 / min(intervals)) + 1
    rows = base | {"a0": 0.0, "record": np.zeros(3), "record_scale": a0}
    tables = [solve.solve(RUBBING_MASS, "exact", rows, count=3, records=table_of_the_sine(h, room)) for h in intervals]
    assert not any(each.status.any() for each in tables)
    return np.array([each.observables["wear_power"] for each in tables]) - plain[0], plain[1:] - plain[0]


@pytest.mark.long
@pytest.mark.slow
def test_a_sine_given_as_a_table_loses_what_is_predicted(sdnd104: Callable[..., Row]) -> None:
    off, predicted = powers_of_tables([4e-3, 2e-3, 1e-3], sdnd104)
    assert np.log2(off[:-1] / off[1:]) == pytest.approx(2.0, abs=0.02)  # second order in the sampling
    assert off == pytest.approx(predicted, rel=0.02)
    assert off[2] == pytest.approx(predicted[2], rel=2e-3)


@pytest.mark.long
@pytest.mark.slow
def test_sdnd104_from_a_table_of_50_us(sdnd104: Callable[..., Row]) -> None:
    off, predicted = powers_of_tables([5e-5], sdnd104)
    powers = np.array([15.267099589371614, 0.40906245101570892, 2.2616412127978696e-4])
    assert off == pytest.approx(predicted, rel=1e-3, abs=1e-12 * 15.0)
    assert off / powers == pytest.approx(np.array([[-8.6e-9, -4.2e-8, -1.65e-6]]), rel=0.02)


TABLE: Row = {"k_t": 9e6, "c_t": 6000.0, "k": 3e-5, "record": 0.0, "end": 2.0, "window_start": 0.5, "mu": 0.1, "step": 1e-4}


@pytest.mark.slow
def test_a_time_scheme_takes_a_table_as_it_takes_the_sine() -> None:
    scales = np.array([15.0, 1.5, 1.01])
    records = table_of_the_sine(1e-3, 2001, 2.0)
    table = solve.solve(RUBBING_MASS, "euler", TABLE | {"record_scale": scales}, count=3, records=records)
    row = {name: value for name, value in TABLE.items() if name != "record"}
    sine = solve.solve(RUBBING_MASS, "euler", row | {"a0": scales}, count=3)
    assert not table.status.any()
    assert table.observables["wear_power"] == pytest.approx(sine.observables["wear_power"], rel=1e-3)
    assert table.observables["slip_phases"].tolist() == sine.observables["slip_phases"].tolist()


@pytest.mark.long
@pytest.mark.slow
def test_every_way_of_stepping_tends_to_the_exact_engine() -> None:
    records = random_records()
    rows = [row | {"k_t": 1e4, "c_t": 80.0, "end": 1.0, "window_start": 0.0, "window_end": 1.0} for row in random_rows(4, penalised=True)]
    names = ("slip_distance", "x_end")
    exact = solved(rows, records=records).observables
    for scheme, given, near in (("euler", {"step": 2e-5}, 2e-3), ("rk54", {"tolerance": 1e-9}, 2e-4)):
        found = solve.solve(
            RUBBING_MASS,
            scheme,
            {name: np.array([row[name] for row in rows]) for name in rows[0] if name not in ("end", "window_start", "window_end")}
            | {"end": 1.0, "window_end": 1.0, **given},
            count=4,
            records=records,
        )
        assert not found.status.any()
        for name in names:
            assert found.observables[name] == pytest.approx(exact[name], rel=near, abs=near * 0.01), (scheme, name)


@pytest.mark.slow
def test_float32_takes_a_record() -> None:
    rows = TABLE | {"record_scale": np.array([15.0, 1.5, 1.2])}
    records = table_of_the_sine(1e-3, 2001, 2.0)
    double, single = (solve.solve(RUBBING_MASS, "euler", rows, count=3, records=records, dtype=each) for each in (np.float64, np.float32))
    assert single.observables["wear_power"] == pytest.approx(double.observables["wear_power"], rel=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk54"])
def test_a_sweep_moves_a_free_mass_as_its_integral_says(scheme: str) -> None:
    a0, omega, rate, end = 3.0, 4.0, 5.0, 2.0
    row = {"a0": a0, "omega": omega, "sweep_rate": rate, "phase": 0.3, "mu": 0.0, "k_t": 1.0, "c_t": 0.0, "end": end, "step": 1e-4}
    found = solve.solve(RUBBING_MASS, scheme, row, count=1).observables
    speed = -a0 * quad(lambda t: math.sin(omega * t + 0.5 * rate * t * t + 0.3), 0.0, end, epsabs=1e-13, limit=200)[0]
    assert found["v_end"][0] == pytest.approx(speed, abs=3e-4 if scheme == "euler" else 1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_a_wall_is_hit_as_a_tight_scheme_hits_it() -> None:
    records = random_records()
    rows = {"k": 100.0, "c": 0.5, "k_n": 5e3, "c_n": 20.0, "gap": 0.01, "sides": 2.0, "end": 1.5, "record": np.array([0.0, 1.0, 2.0, 3.0])}
    exact = solve.solve(STOP, "exact", rows, count=4, records=records)
    near = solve.solve(STOP, "rk54", rows | {"k_t": 1.0, "c_t": 0.0, "tolerance": 1e-9, "step": 1e-5}, count=4, records=records)
    assert not exact.status.any()
    assert exact.observables["impacts"].tolist() == near.observables["impacts"].tolist()
    assert exact.observables["impacts"].max() > 2.0
    for name, close in (("x_end", 1e-6), ("contact_time", 1e-4), ("impulse", 3e-3), ("peak_force", 2e-2)):
        assert exact.observables[name] == pytest.approx(near.observables[name], rel=close, abs=1e-7), name


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_are_those_of_central_differences() -> None:
    records = random_records()
    base = {"k": 40.0, "end": 1.1, "window_start": 0.2, "window_end": 1.0, "record": 1.0, "tone_omega": np.array([9.0])}

    def run(numbers: dict[str, Any]) -> dict[str, jax.Array]:
        found = simulate("rubbing_mass", base | numbers, records=records)
        return {name: found[name] for name in ("wear_power", "x_end", "max_slip_speed")}

    here = {"mu": jnp.asarray(0.08), "record_scale": jnp.asarray(1.3), "tone_a0": jnp.array([1.0])}
    along = {"mu": jnp.asarray(0.03), "record_scale": jnp.asarray(-0.5), "tone_a0": jnp.array([0.2])}
    _, rates = hastily(lambda here, along: jax.jvp(run, (here,), (along,)))(here, along)
    small = 1e-6
    up, down = (run({name: value + sign * small * along[name] for name, value in here.items()}) for sign in (1.0, -1.0))
    for name, rate in rates.items():
        assert float(rate) == pytest.approx(float(up[name] - down[name]) / (2.0 * small), rel=1e-6, abs=1e-8)


@pytest.mark.slow
def test_a_trace_sees_the_record() -> None:
    records = Records(np.array([0.0, 2.0, -1.0, 0.5]), 0.1)
    params = {"mu": 0.0, "record": 0.0, "end": 0.5}
    seen = trace("rubbing_mass", params, samples=6, records=records)
    # without friction the velocity is minus the area under the record, and behind its last sample it falls to 0 within one interval
    areas = np.cumsum([0.0, *(0.05 * (records.samples[0, 1:] + records.samples[0, :-1])), 0.025, 0.0])
    for time, area in zip(0.1 * np.arange(6), areas, strict=True):
        assert seen["v"][np.argmin(np.abs(seen["time"] - time))] == pytest.approx(-area, abs=1e-15)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_record_times_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {}
    made = programs.traced

    def measured(*key: Any) -> Any:
        class Program:
            """The program, of which the memory is noted when it is compiled."""

            def lower(self, *shapes: Any) -> Any:
                lowered = made(*key).lower(*shapes)
                analysis = lowered.compile().memory_analysis()
                sizes[shapes[0]["bank"].shape[1]] = analysis.temp_size_in_bytes + analysis.output_size_in_bytes
                return lowered

        return Program()

    monkeypatch.setattr(programs, "traced", measured)
    monkeypatch.setattr(programs.program_cache, "kept", lambda _key, make, *_: make("program"))  # those of an earlier run are not compiled
    for length in (100, 100_000):
        rows = TABLE | {"end": 0.01, "window_start": 0.0, "record_scale": np.linspace(1.0, 2.0, 4000)}
        solve.solve(RUBBING_MASS, "euler", rows, count=4000, records=Records(np.ones(length), 0.01))
    small, large = sizes.values()
    assert large - small <= 3 * 8 * 100_000 * len(jax.devices())  # the record itself, not once for each of 4000 rows


# ---- what there is of an excitation, row by row


def test_only_rows_that_have_it_read_a_record_or_tones(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[int, set[str]]] = {}

    def solve_group(key: ProgramKey, model: Any, rows: Any, shared: Any, members: np.ndarray, *_: Any) -> tuple[float, float]:
        seen[str(key)] = members.tolist(), {*rows, *shared} - key.unread(model)
        return 0.0, 0.0

    monkeypatch.setattr(solve, "_solve_group", solve_group)
    tones = np.array([[1.0], [np.nan], [np.nan], [np.nan], [0.5]])
    columns: dict[str, Any] = {"a0": np.array([1.0, 1.0, 0.0, 2.0, 0.0]), "record": np.array([np.nan, np.nan, 0.0, 0.0, np.nan])}
    columns |= {"tone_a0": tones, "tone_omega": tones, "k": np.array([0.0, 0.0, 0.0, 3.0, 1.0])}
    absent = {"record": np.isnan(columns["record"])}
    solve.solve(RUBBING_MASS, "exact", columns, absent, 5, records=Records(ONE, 0.1))
    rigid = "exact, rigid friction"
    rows = {kind: members for kind, (members, _) in seen.items() if members}
    assert rows == {
        f"{rigid}, k = c = 0": [1], f"{rigid}, record": [2], f"{rigid}, harmonic, tones": [0], f"{rigid}, harmonic, record": [3],
        f"{rigid}, tones": [4],
    }  # fmt: skip
    names = {"a0", "tone_a0", "record", "bank"}
    read = {kind: names & read for kind, (members, read) in seen.items() if members}
    assert read[f"{rigid}, k = c = 0"] == {"a0"}
    assert read[f"{rigid}, record"] == {"record", "bank"}
    assert read[f"{rigid}, tones"] == {"tone_a0"}


def test_what_nobody_gives_is_not_resolved() -> None:
    assert not {"record", "tone_a0", "sweep_rate"} & set(RUBBING_MASS.resolve({"a0": 1.0}))
    assert ProgramKey("exact", features=("record",)).loop == ProgramKey("exact", walls=(WallLaw("stop"),)).loop
    assert ProgramKey("lockstep", "euler", features=("record",)).loop == ProgramKey("lockstep", "euler").loop


# ---- bad input


@pytest.mark.parametrize(
    ("samples", "interval", "message"),
    [
        ([[1.0, np.nan]], 0.1, r"record 0, sample 1, is nan: accelerations must be finite"),
        ([[]], 0.1, r"at least one sample, not an array of shape \(1, 0\)"),
        (np.zeros((2, 2, 2, 2)), 0.1, r"not an array of shape \(2, 2, 2, 2\)"),
        ([1.0], 0.0, r"interval of records must be a positive number of seconds, not 0"),
        ([1.0], math.nan, r"not nan"),
        (["a"], 0.1, r"an array of accelerations"),
        ([1.0], None, r"one interval \[s\]"),
    ],
)
def test_records_that_cannot_be_are_refused(samples: Any, interval: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Records(samples, interval)


def test_a_record_that_is_not_there_is_a_status_or_an_error() -> None:
    with pytest.raises(ValueError, match="no records are given"):
        solve.solve(RUBBING_MASS, "exact", {"record": 0.0})
    with pytest.raises(ValueError, match="no records are given"):
        simulate("rubbing_mass", {"record": 0.0})
    with pytest.raises(ValueError, match="no record 2: records are counted from 0 to 0"):
        simulate("rubbing_mass", {"record": 2.0}, records=Records(ONE, 0.1))
    found = solve.solve(RUBBING_MASS, "exact", {"record": np.array([1.0, -1.0, 0.5])}, count=3, records=Records(ONE, 0.1))
    assert found.status.tolist() == [Status.OUT_OF_BOUNDS] * 3


def test_what_the_exact_engine_and_steady_windows_cannot_have_is_refused() -> None:
    found = solve.solve(RUBBING_MASS, "exact", {"a0": 1.0, "sweep_rate": np.array([1.0, -2.0])}, count=2)
    assert found.status.tolist() == [Status.RULE_BROKEN] * 2
    unequal = {"tone_a0": np.array([1.0, 2.0]), "tone_omega": np.array([3.0])}
    assert solve.solve(RUBBING_MASS, "exact", unequal).status.tolist() == [Status.RULE_BROKEN]
    for given in ({"record": 0.0}, {"tone_a0": ONE}, {"sweep_rate": 1.0}):
        with pytest.raises(ValueError, match=f"repeats with one sine: leave out {next(iter(given))}"):
            solve.solve(RUBBING_MASS, "exact", given, window="steady")
