"""A row depends on its own numbers alone, fails alone, and nothing is compiled twice."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch import queue
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.compile import PROGRAMS
from tribosweep.kernels.batch.finish import without_support
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.exact import rigid_loop
from tribosweep.kernels.models import RUBBING_MASS, STOP
from tribosweep.kernels.models.observables import WEAR_OBSERVABLES
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import SENTENCES, Status
from tribosweep.kernels.runtime.threads import side_by_side

pytestmark = pytest.mark.shapes

Solve = Callable[..., dict[str, np.ndarray]]
ROOT = Path(__file__).resolve().parents[3]
OBSERVABLES = [quantity.name for quantity in RUBBING_MASS.returns(None)]


def rows(count: int, scheme: str = "exact") -> list[dict[str, Any]]:
    """Random rows, half of them with a spring."""
    rng = np.random.default_rng(11)
    some = [
        {
            "a0": rng.uniform(0.5, 15.0),
            "mu": rng.uniform(0.0, 0.2),
            "omega": rng.uniform(3.0, 9.0),
            "k": rng.choice([0.0, 7.0]),
            "end": rng.uniform(1, 4),
        }
        for _ in range(count)
    ]
    return [row | ({} if scheme == EXACT else {"k_t": 1e5, "step": 1e-3}) for row in some]


def as_columns(some: list[dict[str, Any]]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Every parameter as a column with the mask of absent cells, as the fixture `solve` passes them: one program."""
    names = [quantity.name for quantity in RUBBING_MASS.parameters]
    absent = {name: np.array([name not in row for row in some]) for name in names}
    return {name: np.array([float(row.get(name, 0.0)) for row in some]) for name in names}, absent


def same(found: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Bitwise equality."""
    return all(found[name].tobytes() == other[name].tobytes() for name in [*OBSERVABLES, "status"])


@pytest.mark.long_cases("rk54", "adapt?", "rk32", "devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_row_does_not_depend_on_its_neighbours_or_its_place(solve: Solve, scheme: str) -> None:
    some = rows(60, scheme)
    together = solve(some, scheme)
    order = np.random.default_rng(5).permutation(60)
    shuffled = solve([some[i] for i in order], scheme)
    assert same({name: values[order] for name, values in together.items()}, shuffled)
    for i in (0, 17, 59):
        assert same({name: values[i : i + 1] for name, values in together.items()}, solve([some[i]], scheme))


@pytest.mark.long_cases("rk54")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["exact", "euler", "rk54"])
def test_a_row_does_not_depend_on_the_number_of_rows(solve: Solve, scheme: str) -> None:
    some = rows(600, scheme)
    whole = batch.solve(RUBBING_MASS, scheme, *as_columns(some), count=600)
    assert same(whole.observables | {"status": whole.status}, solve(some, scheme))


@pytest.mark.long_cases("rk54", "exact")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "exact", "rk54"])
def test_a_row_does_not_depend_on_the_number_of_devices(solve: Solve, scheme: str, tmp_path: Path) -> None:
    some = rows(60, scheme)
    columns, absent = as_columns(some)
    np.savez(tmp_path / "columns.npz", **columns)
    np.savez(tmp_path / "absent.npz", **absent)
    code = (
        "import sys, numpy as np, jax; from tribosweep.kernels.batch import solve as batch\n"
        "from tribosweep.kernels.models import RUBBING_MASS as model\n"
        "columns, absent = (dict(np.load(name)) for name in sys.argv[1:3])\n"
        "found = batch.solve(model, sys.argv[4], columns, absent, count=60)\n"
        "np.savez(sys.argv[3], devices=len(jax.devices()), status=found.status, **found.observables)"
    )
    here = solve(some, scheme)
    for devices in ("1", "3"):
        environment = os.environ | {"JAX_NUM_CPU_DEVICES": devices}
        arguments = [sys.executable, "-c", code, *(str(tmp_path / f"{name}.npz") for name in ("columns", "absent", "found")), scheme]
        subprocess.run(arguments, check=True, cwd=ROOT, env=environment, timeout=120)
        found = dict(np.load(tmp_path / "found.npz"))
        assert found["devices"] == int(devices)
        assert same(found, here)


@pytest.mark.slow
def test_batches_of_equal_size_share_one_program(solve: Solve) -> None:
    solve(rows(64))
    compiled = len(PROGRAMS)
    for seed in range(3):
        solve([row | {"mu": 0.01 * seed} for row in rows(64)])
        solve([row | {"a0": 3.0} for row in rows(41)])
    assert len(PROGRAMS) == compiled


BAD = [
    ({"a0": np.nan}, Status.NOT_FINITE),
    ({"a0": np.inf}, Status.NOT_FINITE),
    ({"phase": -np.inf}, Status.NOT_FINITE),
    ({"window_start": np.nan}, Status.NOT_FINITE),
    ({"mu": np.nan, "m": -1.0}, Status.NOT_FINITE),
    ({"m": np.nan, "mu": -0.1}, Status.NOT_FINITE),
    ({"mu": -0.1}, Status.OUT_OF_BOUNDS),
    ({"m": 0.0}, Status.OUT_OF_BOUNDS),
    ({"omega": 0.0}, Status.OUT_OF_BOUNDS),
    ({"k": -1.0}, Status.OUT_OF_BOUNDS),
    ({"normal_force": -1.0}, Status.OUT_OF_BOUNDS),
    ({"end": -2.0}, Status.OUT_OF_BOUNDS),
    ({"window_end": 13.0}, Status.RULE_BROKEN),
    ({"window_start": 5.0, "window_end": 5.0}, Status.RULE_BROKEN),
    ({"mu_s": 0.1, "mu_d": 0.2}, Status.RULE_BROKEN),
    ({"k_t": 0.0}, Status.OUT_OF_BOUNDS),
    ({"v0": 1e300, "mu": 0.0, "a0": 0.0, "end": 1e30}, Status.OVERFLOW),
]


@pytest.mark.slow
def test_a_bad_row_gets_its_status_and_no_numbers_and_disturbs_nobody(solve: Solve) -> None:
    good = {"a0": 1.5, "omega": 6.0, "end": 12.0}
    some = [row for bad, _ in BAD for row in (good | bad, good)]
    found, alone = solve(some), solve([good])
    assert found["status"][0::2].tolist() == [int(status) for _, status in BAD]
    for name in OBSERVABLES:
        if name == "regime":
            assert (found[name][0::2] == -1).all()
        elif name != "time_reached":  # that of a row that failed while it ran is kept
            assert np.isnan(found[name][0::2]).all(), name
        assert (found[name][1::2] == alone[name][0]).all(), name


@pytest.mark.slow
def test_an_unstable_step_and_a_missing_stiffness_break_a_rule_of_euler(solve: Solve) -> None:
    good = {"a0": 1.5, "k_t": 9e6, "step": 2e-4, "end": 0.1}
    found = solve([good, good | {"step": 2.8e-4}, good | {"k_t": None}], "euler")
    assert found["status"].tolist() == [Status.OK, Status.RULE_BROKEN, Status.RULE_BROKEN]


@pytest.mark.slow
def test_absent_cells_take_the_documented_default(solve: Solve) -> None:
    whole = {"m": 2.0, "g": 9.0, "mu": 0.2, "a0": 7.0, "omega": 5.0, "end": 6.0}
    explicit = whole | {
        "mu_s": 0.2,
        "mu_d": 0.2,
        "normal_force": 18.0,
        "window_start": 0.0,
        "window_end": 6.0,
        "k": 0.0,
        "c": 0.0,
        "phase": 0.0,
    }
    implied, given = solve([whole]), solve([explicit])
    assert same(implied, given)
    # next to a row that gives them
    other = explicit | {"normal_force": 7.0, "mu_d": 0.1}
    mixed = solve([whole, other])
    assert same({name: values[:1] for name, values in mixed.items()}, given)
    assert same({name: values[1:] for name, values in mixed.items()}, solve([other]))


@pytest.mark.slow
def test_omitted_tangential_damping_is_critical(solve: Solve) -> None:
    row = {"a0": 1.5, "k_t": 9e6, "step": 1e-4, "end": 1.0}
    assert same(solve([row], "euler"), solve([row | {"c_t": 6000.0}], "euler"))


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_programs")
def test_a_run_of_too_many_events_ends_with_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rigid_loop, "MOST_EVENTS", 20)
    columns = {"a0": np.array([0.5, 15.0]), "end": np.array([100.0, 100.0])}
    found = batch.solve(RUBBING_MASS, "exact", columns, count=2)
    assert found.status.tolist() == [Status.OK, Status.TOO_MANY_EVENTS]
    assert np.isnan(found.observables["wear_power"][1])


def test_every_status_has_a_sentence() -> None:
    assert len(SENTENCES) == len(Status)
    assert all(SENTENCES[status] == status.sentence for status in Status)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(KeyError, match="no parameter 'mass'"):
        batch.solve(RUBBING_MASS, "exact", {"mass": 1.0})
    with pytest.raises(KeyError, match="no scheme 'newmark'"):
        batch.solve(RUBBING_MASS, "newmark", {})


def test_what_runs_in_blocks_is_traced_once() -> None:
    traced = []

    def run(varying: dict[str, Any], fixed: dict[str, Any]) -> Any:
        traced.append(len(varying))
        return {"product": varying["x"] * fixed["y"]}, varying["x"].astype(int)

    x = np.arange(24.0).reshape(4, 6)
    program = jax.jit(lambda x, y, share: queue.blocks(run, {"x": x}, {"y": y}, share))
    results, codes = program(x, 3.0, 14)
    assert traced == [1]
    kept = np.where(np.arange(4)[:, None] < 3, x, 0.0)  # the last block has no row
    np.testing.assert_array_equal(results["product"], 3.0 * kept)
    np.testing.assert_array_equal(codes, kept)


def test_tasks_side_by_side_return_in_order_and_the_first_error_is_told() -> None:
    barrier = threading.Barrier(3, timeout=10.0)

    def task(number: int) -> int:
        barrier.wait()  # which none would pass alone
        return number

    assert side_by_side([functools.partial(task, number) for number in range(3)]) == [0, 1, 2]
    assert side_by_side([lambda: 7]) == [7]
    assert side_by_side([]) == []
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1, lambda: 1 // 0])


@pytest.mark.long_cases("exact")
@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"k_t": 1e4, "c_t": 10.0, "step": 1e-3}], ids=["exact", "euler"])
def test_a_mass_beside_a_wall_that_is_pressed_on_nothing_slips_on_nothing(more: dict[str, float]) -> None:
    scheme = "euler" if more else EXACT
    given = {"a0": 3.0, "k": 5.0, "c": 0.1, "gap": 0.2, "k_n": 500.0, "omega": 2.0, "end": 10.0} | more
    mu = np.array([0.0, 0.01, 0.0])
    pressed = np.array([0.0, 10.0, 10.0])  # without friction a mass may be pressed on its support, and then slips all the time
    found = batch.solve(STOP, scheme, given | {"mu": mu, "normal_force": pressed}, {}, 3)

    def traced(mu: jax.Array, pressed: jax.Array) -> dict[str, jax.Array]:
        return dict(kernels.simulate("stop", given | {"mu": mu, "normal_force": pressed}, scheme=scheme))

    together = kernels.simulate("stop", given | {"mu": mu, "normal_force": pressed}, scheme=scheme)
    for results in (found.observables, together, jax.vmap(traced)(mu, pressed)):
        for quantity in WEAR_OBSERVABLES:
            assert results[quantity.name][0] == (-1 if quantity.name == "regime" else 0.0), quantity.name
        assert results["impacts"][0] == 3
        assert (np.asarray(results["slip_distance"])[1:] > 5.0).all()
        assert np.asarray(results["regime"])[2] == 2
    assert found.observables["x_end"][0] == pytest.approx(found.observables["x_end"][2], rel=1e-9)  # the motion is the same


def test_a_normal_force_that_only_varies_presses_a_mass_on_its_support() -> None:
    given = {"normal_force": np.array([0.0, 0.0, 10.0]), "normal_amplitude": np.array([0.0, 5.0, 0.0])}
    found = without_support(STOP, given, {"wear_power": np.array([3.0, 3.0, 3.0])}, np)
    assert found["wear_power"].tolist() == [0.0, 3.0, 3.0]


def test_the_wear_power_of_a_mass_that_nothing_presses_has_no_derivative_by_g_without_friction() -> None:
    def power(wear_power: jax.Array, unpressed: bool) -> jax.Array:
        given = {"normal_force": np.zeros(()), "unpressed": unpressed}
        return without_support(STOP, given, {"wear_power": wear_power}, jax.numpy)["wear_power"]

    assert jax.jvp(lambda rate: power(rate, False), (0.0,), (0.8,))[1] == 0.8  # g = 0 with friction
    assert jax.jvp(lambda rate: power(rate, True), (0.0,), (0.8,))[1] == 0.0  # and without: the default normal force stays 0


def test_lanes_of_a_queue_run_each_row_once_and_store_its_results_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def advance(row: dict[str, jax.Array], steps: jax.Array) -> jax.Array:
        return steps + 1.0

    def goes_on(row: dict[str, jax.Array], steps: jax.Array) -> jax.Array:
        return steps < row["steps"]

    def finish(row: dict[str, jax.Array], steps: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
        return {"number": row["number"], "steps": steps}, row["number"].astype(int)

    counting = queue.Driver(lambda p: p, lambda row: 0.0 * row["steps"], advance, goes_on, finish)
    monkeypatch.setattr(queue, "driver", lambda key: counting)
    monkeypatch.setattr(queue, "asked_for", lambda key, found: found)
    steps, share = np.array([3.0, 1.0, 2.0, 1.0, 5.0, 1.0, 1.0, 4.0, 2.0, 1.0, 7.0, 7.0]), 10
    varying = {"number": np.arange(12.0).reshape(4, 3), "steps": steps.reshape(4, 3)}
    found, codes = queue.queue(ProgramKey("queue", "euler"), {name: jax.numpy.asarray(v) for name, v in varying.items()}, {}, share)
    expected = np.where(np.arange(12) < share, np.arange(12.0), np.nan)
    np.testing.assert_array_equal(np.ravel(found["number"]), expected)
    np.testing.assert_array_equal(np.ravel(found["steps"]), np.where(np.isnan(expected), np.nan, steps))
    np.testing.assert_array_equal(np.ravel(codes), np.nan_to_num(expected))
