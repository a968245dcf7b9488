"""Two bodies that meet under sines, a record, a table of force and pulses, against the integration of both bodies."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.kernels.compiling import hastily
from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.loads import HALF_SINE, PULSES, RAMP, TRIANGLE
from tribosweep.kernels.models.status import Status

ACCELERATIONS, INTERVAL = np.array([0.5, 2.3, -3.1, 1.4, 4.0, -2.7, -0.6, 3.2]), 0.11  # m/s^2, s
RECORDS = Records(ACCELERATIONS[None], INTERVAL)
INSTANTS, FORCES = np.array([0.05, 0.2, 0.2, 0.45, 0.9]), np.array([1.0, -4.0, 6.0, 2.0, -3.0])  # s, N; it jumps at 0.2 s


def rows_at_random(count: int) -> list[dict[str, Any]]:
    """Bodies that fly towards each other or hang in springs; of some the record ends within the run."""
    rng = np.random.default_rng(28)
    rows = []
    for i in range(count):
        m, k = rng.uniform(0.5, 3.0), (0.0, 0.0, 30.0, 200.0)[i % 4]
        rows.append(
            {
                "m": m, "m_2": rng.uniform(0.3, 5.0), "k": k * m, "c": (0.0, 0.4 * m)[i % 2], "x0": rng.uniform(-0.05, 0.0),
                "v0": rng.uniform(0.2, 1.0), "x0_2": rng.uniform(0.0, 0.05), "v0_2": rng.uniform(-0.5, 0.1), "gap": 0.03,
                "k_n": rng.uniform(200.0, 3000.0), "c_n": (0.0, 5.0, 20.0)[i % 3], "f0": rng.uniform(-3.0, 3.0),
                "a0": rng.uniform(-3.0, 3.0), "omega": rng.uniform(3.0, 9.0), "phase": rng.uniform(-3.0, 3.0), "record": 0.0,
                "load": rng.choice([0.0, 0.7]), "record_scale": rng.uniform(-1.5, 1.5), "tone_a0": [rng.uniform(-2.0, 2.0), 1.0],
                "tone_omega": [11.0, rng.uniform(2.0, 20.0)], "tone_phase": [0.4, -1.0], "end": (0.7, 1.2)[i % 2],
            }
        )  # fmt: skip
    return rows


def with_loads(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with a table of force and a pulse each, of every shape, of force and of base acceleration."""
    rng = np.random.default_rng(29)
    return [
        row
        | {
            "table_time": INSTANTS, "table_force": FORCES, "table_scale": rng.uniform(-1.0, 1.0),
            "pulse": float(1 + i % (len(PULSES) - 1)), "pulse_start": rng.uniform(0.0, 0.4), "pulse_duration": rng.uniform(0.05, 0.5),
            "pulse_f0": rng.uniform(-6.0, 6.0), "pulse_a0": rng.uniform(-6.0, 6.0),
        }
        for i, row in enumerate(rows)
    ]  # fmt: skip


def tabled(row: dict[str, Any], t: float, within: float) -> float:
    """The table of force at a time [N], of the stretch in which the time `within` lies."""
    if "table_time" not in row or within < INSTANTS[0]:
        return float(row["table_scale"] * FORCES[0]) if "table_time" in row else 0.0
    n = int(np.searchsorted(INSTANTS, within, side="right")) - 1
    if n == INSTANTS.size - 1:
        return float(row["table_scale"] * FORCES[-1])
    slope = (FORCES[n + 1] - FORCES[n]) / (INSTANTS[n + 1] - INSTANTS[n])
    return float(row["table_scale"] * (FORCES[n] + slope * (t - INSTANTS[n])))


def pulsing(row: dict[str, Any], t: float, within: float) -> float:
    """The pulse at a time over its height, of the stretch in which the time `within` lies."""
    if "pulse" not in row or within < row["pulse_start"]:
        return 0.0
    part, shape, over = (t - row["pulse_start"]) / row["pulse_duration"], row["pulse"], within > row["pulse_start"] + row["pulse_duration"]
    if shape == RAMP:
        return 1.0 if over else part
    return 0.0 if over else {TRIANGLE: min(2.0 * part, 2.0 - 2.0 * part), HALF_SINE: np.sin(np.pi * part)}.get(shape, 1.0)


def ends_of_stretches(row: dict[str, Any]) -> list[float]:
    """The instants at which a load bends or jumps, and the end [s]."""
    instants = [n * INTERVAL for n in range(1, ACCELERATIONS.size + 1)]
    if "pulse" in row:
        instants += [*INSTANTS, *(row["pulse_start"] + part * row["pulse_duration"] for part in (0.0, 0.5, 1.0))]
    return sorted({float(each) for each in instants if 0.0 < each < row["end"]} | {row["end"]})


def integrated(row: dict[str, Any]) -> dict[str, float]:
    """Both bodies, from sample to sample and from contact to contact."""
    ratio = row["m_2"] / row["m"]

    def shaken(t: float, within: float) -> float:
        n = int(within // INTERVAL)
        here, there = (float(ACCELERATIONS[j]) if j < ACCELERATIONS.size else 0.0 for j in (n, n + 1))
        base = row["record_scale"] * (here + (there - here) * (t / INTERVAL - n)) + row["a0"] * np.sin(row["omega"] * t + row["phase"])
        base += row.get("pulse_a0", 0.0) * pulsing(row, t, within)
        return base + sum(a * np.sin(w * t + f) for a, w, f in zip(row["tone_a0"], row["tone_omega"], row["tone_phase"], strict=True))

    def wall(y: np.ndarray) -> float:
        return float(row["k_n"] * (y[0] - y[2] - row["gap"]) + row["c_n"] * (y[1] - y[3]))

    def pushes(y: np.ndarray) -> float:
        return wall(y) if y[0] - y[2] > row["gap"] else 0.0

    state = np.array([row["x0"], row["v0"], row["x0_2"], row["v0_2"]])
    t, impacts = 0.0, 0
    within = lambda _t, y: y[0] - y[2] - row["gap"]  # noqa: E731
    pushing = lambda _t, y: wall(y)  # noqa: E731
    within.terminal = pushing.terminal = True  # type: ignore[attr-defined]
    mode = "off"
    begins = 0.0
    for stop in ends_of_stretches(row):
        within_it, begins = 0.5 * (begins + stop), stop
        while t < stop:

            def rates(t: float, y: np.ndarray, inner: float = within_it, mode: str = mode) -> list[float]:
                base, force = shaken(t, inner), wall(y) if mode == "pushes" else 0.0
                driven = row["f0"] * np.sin(row["omega"] * t + row["phase"]) + row["load"] - row["k"] * y[0] - row["c"] * y[1] - force
                driven += tabled(row, t, inner) + row.get("pulse_f0", 0.0) * pulsing(row, t, inner)
                other = -ratio * (row["k"] * y[2] + row["c"] * y[3]) + force
                return [y[1], driven / row["m"] - base, y[3], other / row["m_2"] - base]

            # of a state at an event the event is not looked for again in the direction in which it was passed
            within.direction = 1.0 if mode == "off" else -1.0  # type: ignore[attr-defined]
            pushing.direction = -1.0 if mode == "pushes" else 1.0  # type: ignore[attr-defined]
            events = {"off": [within], "pushes": [pushing, within], "inside": [within, pushing]}[mode]
            path = solve_ivp(rates, (t, stop), state, events=events, method="DOP853", rtol=1e-13, atol=1e-15)
            t, state = path.t[-1], path.y[:, -1]
            if path.status == 1:
                first = next(i for i, times in enumerate(path.t_events) if times.size)
                came = events[first] is within or (mode == "pushes" and row["c_n"] == 0.0)
                impacts += mode == "off"
                mode = ("pushes" if mode == "off" else "off") if came else ("inside" if mode == "pushes" else "pushes")
    return {"x_end": state[0], "v_end": state[1], "x_end_2": state[2], "v_end_2": state[3], "impacts": impacts}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["exact", pytest.param("rk54", marks=pytest.mark.long)])
def test_two_bodies_under_tables_and_pulses_are_those_of_an_independent_integration(scheme: str) -> None:
    rows = with_loads(rows_at_random(40))
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    more = {} if scheme == "exact" else {"tolerance": 1e-9}
    solution = batch.solve(STOP, scheme, columns | more, {}, len(rows), records=RECORDS)
    assert not solution.status.any()
    expected = [integrated(row) for row in rows]
    assert sum(each["impacts"] > 0 for each in expected) > 15
    bound = 1e-9 if scheme == "exact" else 1e-6
    for name in ("x_end", "v_end", "x_end_2", "v_end_2", "impacts"):
        values = np.array([each[name] for each in expected])
        np.testing.assert_allclose(solution.observables[name], values, rtol=bound, atol=bound * np.max(np.abs(values)), err_msg=name)


@pytest.mark.slow
@pytest.mark.long
def test_two_shaken_bodies_are_those_of_an_independent_integration() -> None:
    rows = rows_at_random(44)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    solution = batch.solve(STOP, "exact", columns, {}, len(rows), records=RECORDS)
    assert not solution.status.any()
    expected = [integrated(row) for row in rows]
    assert sum(each["impacts"] > 0 for each in expected) > 20
    for name in ("x_end", "v_end", "x_end_2", "v_end_2", "impacts"):
        values = np.array([each[name] for each in expected])
        np.testing.assert_allclose(solution.observables[name], values, rtol=1e-9, atol=1e-9 * np.max(np.abs(values)), err_msg=name)


@pytest.mark.long
@pytest.mark.slow
def test_derivatives_of_two_shaken_bodies_are_those_of_differences() -> None:
    rows = [row for row in with_loads(rows_at_random(12)) if row["k"] > 0.0][:4]
    at: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    moving = ("m", "m_2", "k", "x0", "v0_2", "a0", "f0", "omega", "record_scale", "tone_a0", "end", "table_scale", "pulse_f0", "pulse_a0",
              "pulse_start", "pulse_duration")  # fmt: skip

    def told(size: Any) -> Any:
        found = kernels.simulate("stop", at | {name: at[name] * (1.0 + size[i]) for i, name in enumerate(moving)}, records=RECORDS)
        return {name: found[name] for name in ("x_end", "v_end", "x_end_2", "v_end_2")}

    rates = hastily(jax.jacfwd(told))(np.zeros(len(moving)))
    steps = 1e-6 * np.eye(len(moving))
    up, down = ([told(sign * step) for step in steps] for sign in (1.0, -1.0))
    for name, rate in rates.items():
        slope = np.stack([np.asarray(a[name] - b[name]) for a, b in zip(up, down, strict=True)], axis=-1) / 2e-6
        np.testing.assert_allclose(np.asarray(rate), slope, rtol=1e-6, atol=1e-6 * np.max(np.abs(slope)), err_msg=name)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["exact", "euler"])
def test_a_body_alone_beside_pairs_moves_as_without_them(scheme: str) -> None:
    """Rows of one program: a body alone with fewer tones than the pair beside it, or with a sine that sweeps, which no pair has."""
    alone = {"k_n": 200.0, "gap": 0.01, "k": 30.0, "v0": 0.4, "end": 0.7, "step": 1e-3}
    tones = {"tone_a0": [2.0], "tone_omega": [11.0], "tone_phase": [0.4]}
    padded = {name: np.array([[*values, np.nan], [*values, 1.0]]) for name, values in tones.items()}
    swept = {"a0": 1.0, "omega": 5.0}
    cases = [(tones, padded, {})]
    if scheme != "exact":
        cases.append(({**swept, "sweep_rate": 1.0}, swept, {"sweep_rate": np.array([1.0, 0.0])}))
    for own, beside, more in cases:
        columns = {**alone, **beside, **more, "m_2": np.array([2.0, 2.0])}
        rows = batch.solve(STOP, scheme, columns, {"m_2": np.array([True, False])}, 2)
        assert not rows.status.any()
        by_itself = kernels.simulate("stop", {**alone, **own}, scheme)
        last = swept if more else {name: values[1] for name, values in padded.items()}
        pair = kernels.simulate("stop", {**alone, **last, "m_2": 2.0}, scheme)
        for name in ("x_end", "v_end", "x_end_2", "v_end_2"):
            np.testing.assert_allclose(rows.observables[name], [by_itself[name], pair[name]], rtol=1e-9, atol=1e-12, err_msg=name)


def test_what_two_bodies_cannot_be_driven_by_is_said() -> None:
    pair = {"m_2": 2.0, "k_n": 100.0, "a0": 1.0, "sweep_rate": 1.0, "k_t": 1.0}
    assert batch.solve(STOP, "euler", pair, {}, 1).status.tolist() == [Status.RULE_BROKEN]
    with pytest.raises(ValueError, match="no closed form under a sine that sweeps"):
        kernels.simulate("stop", {"m_2": 2.0, "a0": 1.0, "sweep_rate": 1.0, "k_t": 1.0}, "euler")
