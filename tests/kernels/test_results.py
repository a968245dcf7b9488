"""What a call from Python returns: a dict with attributes, units and words, which JAX takes apart and puts together again."""

from __future__ import annotations

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.results import STATUS, Results

RUBS = {"omega": 6.28, "end": 2.0, "a0": 3.0}
POWER = Quantity("power", "W", "a power")
MADE = Results({"power": jnp.array([1.0, 2.0]), "status": jnp.array([0, 3])}, (POWER, STATUS, Quantity("absent", "m", "not there")))


@pytest.fixture(scope="module")
def found() -> Results:
    """Two rows: one slips, one sticks."""
    return kernels.simulate("rubbing_mass", {**RUBS, "mu": np.array([0.1, 0.9])})


@pytest.mark.slow
def test_entries_are_attributes_with_units_and_words(found: Results) -> None:
    assert isinstance(found, dict)
    assert found.wear_power is found["wear_power"]
    assert (found.units["wear_power"], found.units["stick_fraction"]) == ("W", "1")
    assert found.in_words()["regime"].tolist() == ["slip-slip", "stick"]
    assert found.in_words()["status"].tolist() == ["ok", "ok"]
    assert {"wear_power", "in_words", "items"} < set(dir(found))
    with pytest.raises(AttributeError, match="did you mean 'wear_power'"):
        _ = found.wear_powr
    assert "regime               object[2]" in repr(found)
    assert "power                float64[2] W" in repr(MADE)


def test_a_name_that_is_no_entry_is_told_with_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"there is no 'powr'; did you mean 'power'.*there are power, status"):
        _ = MADE["powr"]
    with pytest.raises(KeyError, match="there is no 3; "):
        _ = MADE[3]  # type: ignore[index]
    assert MADE.get("powr") is None


def test_one_oscillator_is_told_in_words() -> None:
    one = kernels.simulate("rubbing_mass", {**RUBS, "mu": 0.9})
    assert one.in_words()["regime"] == "stick"
    assert "regime               stick" in repr(one)
    assert "wear_power           0 W" in repr(one)


def test_it_is_a_pytree_of_jax() -> None:
    leaves, tree = jax.tree.flatten(MADE)
    assert [leaf.tolist() for leaf in leaves] == [[1.0, 2.0], [0, 3]]
    again = jax.tree.unflatten(tree, leaves)
    assert isinstance(again, Results)
    assert again.units == {"power": "W"}
    doubled = jax.tree.map(lambda leaf: 2 * leaf, MADE)
    assert (doubled.power.tolist(), doubled.quantities) == ([2.0, 4.0], MADE.quantities)
    through = jax.jit(lambda results: results)(MADE)
    assert (type(through), through.units) == (Results, {"power": "W"})
    each = jax.vmap(lambda power: Results({"power": power}, (POWER,)))(jnp.arange(3.0))
    assert each.power.tolist() == [0.0, 1.0, 2.0]
    assert jax.tree_util.tree_leaves_with_path(MADE)[0][0] == (jax.tree_util.DictKey("power"),)


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_it_is_copied_and_pickled(clone) -> None:
    again = clone(MADE)
    assert (type(again), again.units, again.power.tolist()) == (Results, {"power": "W"}, [1.0, 2.0])


@pytest.mark.slow
def test_rows_without_results_raise_if_asked(found: Results) -> None:
    assert MADE.failed.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"1 of 2 rows failed: row 1: the parameters contradict each other"):
        MADE.raise_failed()
    assert found.raise_failed() is found
    remark = Results({"status": jnp.array([int(Status.BEYOND_TABLE), 0])}, (STATUS,))
    assert remark.raise_failed() is remark
    rows = {**RUBS, "m": np.array([1.0, -1.0]), "mu": 0.1}
    with pytest.raises(ValueError, match="row 1: a parameter is out of its bounds"):
        kernels.simulate("rubbing_mass", rows, throw=True)


@pytest.mark.slow
def test_words_are_given_as_words(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = {"k_n": 1e6, "gap": 0.01, "f_crit": 50.0, "f_post": 50.0, "k_post": 1e6, "v0": 1.0, "a0": 0.0, "mu": 0.0, "end": 0.5}
    one, other = (kernels.trace("buckling_wall", {**wall, "damping_criterion": word}, samples=3) for word in ("excluded", 1))
    np.testing.assert_array_equal(one.wall_force, other.wall_force)
    assert one.units == {"time": "s", "x": "m", "v": "m/s", "friction_force": "N", "wall_force": "N"}


@pytest.mark.slow
def test_derivatives_take_it_as_auxiliary_output() -> None:
    def power(mu: jax.Array) -> tuple[jax.Array, Results]:
        results = kernels.simulate("rubbing_mass", {**RUBS, "mu": mu})
        return results.wear_power, results

    slope, results = jax.grad(power, has_aux=True)(0.1)
    (value, _), _ = jax.value_and_grad(power, has_aux=True)(0.1)
    assert results.wear_power == value
    step = 1e-6
    difference = (power(0.1 + step)[0] - power(0.1 - step)[0]) / (2.0 * step)
    assert slope == pytest.approx(float(difference), rel=1e-6)


@pytest.mark.slow
def test_results_have_the_common_shape_of_what_is_given() -> None:
    served = np.linspace(1e6, 4e6, 7)
    found = kernels.simulate("rubbing_mass", {**RUBS, "service_time": served, "archard_k": 1e-15})
    once = kernels.simulate("rubbing_mass", {**RUBS, "service_time": served[2], "archard_k": 1e-15})
    assert {np.shape(value) for value in found.values()} == {(7,)}
    assert {name: float(value[2]) for name, value in found.items()} == pytest.approx({name: float(value) for name, value in once.items()})
    np.testing.assert_allclose(found["wear_volume"], 1e-15 * found["wear_power"] * served, rtol=1e-14)
