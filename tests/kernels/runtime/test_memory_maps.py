"""A process that compiles ever more programs gives up old ones before the system denies it memory maps."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.runtime import memory_maps


@pytest.mark.slow
def test_programs_are_given_up_and_made_again_where_maps_are_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"a0": np.array([2.0, 5.0])}

    def wear() -> np.ndarray:
        return batch.solve(RUBBING_MASS, "exact", columns, count=2).observables["wear_power"]

    before = wear()
    others = [jax.jit(lambda x, n=n: x * n + 1.0) for n in range(20)]  # live on, but their machine code does not
    for other in others:
        other(1.0)
    full = memory_maps.number()
    monkeypatch.setattr(programs, "_REMAINING", [0])
    assert programs.make_room(full - 1)
    assert not programs.PROGRAMS
    assert memory_maps.number() < full
    np.testing.assert_array_equal(wear(), before)
    assert programs.PROGRAMS


@pytest.mark.slow
def test_maps_of_others_do_not_end_programs_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_REMAINING", [0])
    monkeypatch.setattr(memory_maps, "number", lambda: 1000)
    assert programs.make_room(500)  # after which as many remain
    assert not programs.make_room(500)
    monkeypatch.setattr(memory_maps, "number", lambda: 1251)
    assert programs.make_room(500)


def test_programs_stay_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_maps, "allowed", lambda: 2 * memory_maps.number() + 10)
    assert not programs.make_room()  # 60 %


def test_a_system_that_does_not_tell_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_maps, "number", lambda: 0)
    assert not programs.make_room()


@pytest.mark.slow
def test_a_long_process_over_the_limit_gives_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"a0": np.array([2.0, 5.0]), "mu": np.array([0.1, 0.2])}

    def wear(given: int) -> np.ndarray:
        return batch.solve(RUBBING_MASS, "exact", dict([*columns.items()][:given]), count=2).observables["wear_power"]

    before = {given: wear(given) for given in (1, 2)}
    monkeypatch.setattr(memory_maps, "allowed", lambda: 100)  # fewer than any process has
    forgotten = []
    room = programs.make_room
    monkeypatch.setattr(programs, "make_room", lambda *given: forgotten.append(room(*given)) or forgotten[-1])
    monkeypatch.setattr(programs, "_REMAINING", _Nothing())
    programs.make_room()
    for given in (1, 2):
        np.testing.assert_array_equal(wear(given), before[given])
        programs.make_room()
    with ThreadPoolExecutor(2) as pool:  # they are forgotten while they are made and run
        runs = {given: pool.submit(wear, given) for given in (1, 2)}
        while not all(run.done() for run in runs.values()):
            programs.make_room()
            time.sleep(0.05)
        for given, run in runs.items():
            np.testing.assert_array_equal(run.result(), before[given])
    assert sum(forgotten) > 3


class _Nothing(list[int]):
    """A list whose first number is always 0, so that programs are forgotten at every compilation."""

    def __init__(self) -> None:
        super().__init__([0])

    def __setitem__(self, place: object, value: object) -> None:
        """Do nothing."""
