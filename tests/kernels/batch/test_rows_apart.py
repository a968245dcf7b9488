"""Calls from Python whose rows are taken apart by their damping: what runs, asked of a stand-in for the programs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels import api
from tribosweep.kernels.batch import program_key
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.models import MODELS

ROW = {"k": 100.0, "a0": 3.0, "mu": 0.1}
MILD, STRONG = ProgramKey("exact"), ProgramKey("exact", stiff=True)
Ran = list[tuple[ProgramKey, int]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The programs that calls run, each with its number of rows. A stand-in for them gives c + 10 a0 as every observable."""
    found: Ran = []

    def run(key: ProgramKey, rows: dict[str, jax.Array], _shared: Any) -> dict[str, jax.Array]:
        value = rows["c"] + 10.0 * rows["a0"]
        found.append((key, value.size))
        observables = {q.name: value[:, None] * jnp.ones(64) if q.kind == "list" else value for q in MODELS["rubbing_mass"].observables}
        return observables | {"status": jnp.zeros_like(value)}

    monkeypatch.setattr(api, "_run_all", run)
    monkeypatch.setattr(api, "_values_of_all", run)
    return found


@pytest.mark.parametrize(("name", "value"), [("m", 2.0), ("c", [2.0, 3.0]), ("k", [1.0, 100.0])])
@pytest.mark.parametrize("call", [kernels.simulate, kernels.moment])
def test_arrays_of_jax_that_are_not_traced_may_stand_beside_traced_numbers(ran: Ran, call: Any, name: str, value: Any) -> None:
    given = ROW | {name: jnp.asarray(value)}
    jax.make_jaxpr(lambda mu: call("rubbing_mass", given | {"mu": mu}))(0.1)
    jax.make_jaxpr(lambda x: x * call("rubbing_mass", given).slip_distance)(0.1)
    assert {count for _, count in ran} == {np.size(value)}


def test_strongly_damped_rows_keep_their_program_where_another_number_is_traced(ran: Ran) -> None:
    jax.make_jaxpr(lambda mu: kernels.simulate("rubbing_mass", ROW | {"mu": mu, "c": np.array([1.0, 1e10])}))(0.1)
    assert ran == [(MILD, 1), (STRONG, 1)]
    ran.clear()
    jax.make_jaxpr(lambda c: kernels.simulate("rubbing_mass", ROW | {"c": c}))(np.array([1.0, 1e10]))
    assert ran == [(MILD, 2)]


def test_rows_in_a_list_are_taken_apart_as_those_of_an_array_are(ran: Ran) -> None:
    found = kernels.simulate("rubbing_mass", ROW | {"c": [1.0, 1e10, 2.0]})
    assert ran == [(MILD, 2), (STRONG, 1)]
    np.testing.assert_array_equal(found.slip_distance, [31.0, 30.0 + 1e10, 32.0])


def test_rows_that_differ_only_in_what_programs_do_not_read_run_once_beside_strongly_damped_ones(ran: Ran) -> None:
    worn = {"service_time": np.linspace(1.0, 2.0, 1000)[None, :], "archard_k": 1e-12}
    found = kernels.simulate("rubbing_mass", ROW | worn | {"c": np.array([[1e10], [1.0]])})
    assert ran == [(MILD, 1), (STRONG, 1)]
    assert found.slip_distance.shape == (2, 1000)
    np.testing.assert_array_equal(found.slip_distance[:, 0], [30.0 + 1e10, 31.0])


def test_rows_come_back_in_their_places_whatever_axes_damping_has(ran: Ran) -> None:
    c, a0, m = np.array([1.0, 1e10, 2.0]).reshape(3, 1, 1), np.arange(4.0, 8.0).reshape(4, 1), np.array([1.0, 1e12])
    found = kernels.simulate("rubbing_mass", ROW | {"c": c, "a0": a0, "m": m})
    assert ran == [(MILD, 20), (STRONG, 4)]  # damping and mass decide together, a0 does not
    np.testing.assert_array_equal(found.slip_distance, np.broadcast_to(c + 10.0 * a0, (3, 4, 2)))


def test_damping_is_looked_at_once_and_only_where_it_decides(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, strong = [], program_key._strong  # noqa: SLF001

    def counted(*of: Any) -> Any:
        asked.append(of)
        return strong(*of)

    monkeypatch.setattr(program_key, "_strong", counted)
    kernels.simulate("rubbing_mass", ROW | {"c": 1.0})
    kernels.simulate("rubbing_mass", ROW | {"c": 1e10})
    assert ran == [(MILD, 1), (STRONG, 1)]
    assert len(asked) == 2
    kernels.simulate("stop", ROW | {"k_n": 1e3, "gap": 0.1})
    kernels.simulate("rubbing_mass", ROW | {"k_t": 1e4})
    kernels.simulate("rubbing_mass", ROW | {"k_t": 1e4}, "euler")
    assert len(asked) == 2


@pytest.mark.parametrize(("a0", "ran_in"), [
    ([0.0, 3.0], [(MILD, 1), (STRONG, 1)]),  # what nothing excites has the length of its run, here 1 s, for a period
    ([0.0, 0.0], [(STRONG, 2)]), ([2.0, 3.0], [(MILD, 2)]),
])  # fmt: skip
def test_what_excites_a_row_decides_with_its_damping(ran: Ran, a0: list[float], ran_in: Ran) -> None:
    found = kernels.simulate("rubbing_mass", {"k": 1.0, "mu": 0.1, "c": 1e5, "omega": 1e3, "end": 1.0, "a0": np.array(a0)})
    assert ran == ran_in
    np.testing.assert_array_equal(found.slip_distance, 1e5 + 10.0 * np.array(a0))


def test_only_rows_without_a_table_are_taken_apart_and_tables_stay_with_their_rows(ran: Ran) -> None:
    """Rows with a table run in the loop of all laws whatever their damping; `_some_rows` keeps the axis of a table last."""
    mask, table = np.array([True, False, True]), np.arange(12.0).reshape(3, 4)
    some = api._some_rows(MODELS["rubbing_mass"], {"c": np.arange(3.0), "table_time": table, "a0": 1.0}, mask, np.array([0, 2]))  # noqa: SLF001
    np.testing.assert_array_equal(some["table_time"], table[[0, 2]])
    kernels.simulate("rubbing_mass", ROW | {"c": np.array([1.0, 1e10]), "table_time": [0.0, 1.0], "table_force": [0.0, 1.0]})
    assert [(key.rigid_loop, count) for key, count in ran] == [(False, 2)]


@pytest.mark.parametrize(
    ("given", "rate"), [({"mu": 0.0}, 0.0), ({"mu": 0.1}, 1.0), ({"mu": 0.0, "normal_force": 0.0}, 1.0), ({"mu_s": 0.1, "mu_d": 0.0}, 1.0)]
)
def test_only_a_mass_that_friction_does_not_press_wears_nothing_whatever_its_weight_becomes(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, float], rate: float
) -> None:
    """Without gravity wear is 0. Its derivative is 0 where there is no friction and no normal force is given."""

    def run(_key: ProgramKey, rows: dict[str, jax.Array], _shared: Any) -> dict[str, jax.Array]:
        listed = {q.name: q.kind == "list" for q in MODELS["stop"].observables}
        observables = {name: rows["x0"][:, None] * jnp.ones(64) if each else rows["x0"] for name, each in listed.items()}
        return observables | {"status": 0.0 * rows["x0"]}

    monkeypatch.setattr(api, "_run_all", run)
    power = lambda x0: kernels.simulate("stop", {"k_n": 1e3, "gap": 0.1, "g": 0.0, "x0": x0} | given).wear_power  # noqa: E731
    assert [float(each) for each in jax.value_and_grad(power)(0.0)] == [0.0, rate]
