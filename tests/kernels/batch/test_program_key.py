"""Which program runs a row: one key, whether rows come from a study or from Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch.program_key import ProgramKey, groups, key_of, strongly_damped
from tribosweep.kernels.models import MODELS

PENALISED, TONES = {"k_t": 1e5}, {"tone_a0": np.array([1.0]), "tone_omega": np.array([3.0])}
TIMES = np.array([0.0, 1.0])
WALL = {"f_crit": 2.0, "f_post": 1.0, "k_post": 60.0, "k_n": 100.0, "softening": 0.1}
VARYING = {"c_buckled": 1.0, "damping_criterion": 1.0}
CASES: list[tuple[str, str, dict[str, Any], str]] = [
    ("rubbing_mass", "exact", {"a0": 1.0}, "exact, rigid friction, k = c = 0"),
    ("rubbing_mass", "exact", {"a0": 1.0, "k": 1.0}, "exact, rigid friction"),
    ("rubbing_mass", "exact", PENALISED, "exact, penalised friction, stiff"),
    ("rubbing_mass", "exact", TONES | {"k": 1.0}, "exact, rigid friction, tones"),
    ("rubbing_mass", "exact", TONES | {"a0": 1.0}, "exact, rigid friction, harmonic, tones"),
    ("rubbing_mass", "exact", {"k": 1.0, "a0": 1.0, "sweep_rate": 0.1}, "exact, rigid friction, harmonic, sweep"),
    ("rubbing_mass", "exact", {"k": 1.0, "table_time": TIMES, "table_force": TIMES}, "exact, rigid friction, table"),
    ("rubbing_mass", "exact", {"k": 1.0, "pulse": 1.0, "pulse_f0": 1.0}, "exact, rigid friction, pulse"),
    ("rubbing_mass", "rk54", PENALISED | {"a0": 1.0, "belt_speed": 0.1}, "rk54 in a queue, penalised friction, belt_speed"),
    ("stop", "exact", {"k_n": 1e3}, "exact, no friction, stop"),
    ("stop", "exact", {"k_n": 1e9}, "exact, no friction, stop, stiff"),
    ("stop", "exact", PENALISED | {"mu": 0.1}, "exact, penalised friction, stop, stiff"),
    ("buckling_wall", "exact", WALL, "exact, no friction, wall that buckles"),
    ("buckling_wall", "exact", WALL | VARYING, "exact, no friction, wall that buckles with varying damping"),
]


@pytest.mark.parametrize(("model", "scheme", "params", "words"), CASES, ids=[case[-1] for case in CASES])
def test_rows_and_calls_have_the_same_key(model: str, scheme: str, params: dict[str, Any], words: str) -> None:
    rows = {name: np.asarray(value) for name, value in MODELS[model].resolve(params).items()}
    (key,) = groups(MODELS[model], scheme, None, rows, np.arange(2))
    assert str(key) == words
    assert key == key_of(MODELS[model], params, scheme)
    assert hash(key) == hash(key_of(MODELS[model], params, scheme))


def test_the_key_of_a_row_depends_on_that_row_alone() -> None:
    columns = {"k_t": np.array([np.inf, 1e5, np.inf]), "k": np.array([0.0, 0.0, 1.0]), "a0": np.ones(3)}
    rows = {name: np.asarray(value) for name, value in MODELS["rubbing_mass"].resolve(columns).items()}
    found = groups(MODELS["rubbing_mass"], "exact", None, rows, np.arange(3))
    assert {key: members.tolist() for key, members in found.items()} == {
        ProgramKey("exact", free=True): [0], ProgramKey("exact", friction="penalised", stiff=True): [1], ProgramKey("exact"): [2],
    }  # fmt: skip


@pytest.mark.parametrize("window", [None, "steady"])
def test_rows_whose_damping_ends_free_motion_at_once_have_a_program_of_their_own(window: str | None) -> None:
    model, c = MODELS["rubbing_mass"], np.array([0.5, 1e6, 2.0])
    columns = {"c": c, "k": np.full(3, 4.0), "a0": np.ones(3)}
    rows = {name: np.asarray(value) for name, value in model.resolve(columns).items()}
    engine = window or "exact"
    assert {key: members.tolist() for key, members in groups(model, "exact", window, rows, np.arange(3)).items()} == {
        ProgramKey(engine): [0, 2], ProgramKey(engine, stiff=True): [1],
    }  # fmt: skip
    assert key_of(model, columns, "exact", window) == ProgramKey(engine)  # the others' program: `simulate` takes such rows apart
    np.testing.assert_array_equal(strongly_damped(model, columns), [False, True, False])
    assert key_of(model, columns | {"c": 1e6}, "exact", window) == ProgramKey(engine, stiff=True)


def test_damping_is_strong_beside_the_run_where_nothing_excites_the_mass() -> None:
    """The frequency of an excitation that is absent decides nothing."""
    for omega in (1e-3, 1e3):
        free = {"c": np.array([1e3, 1e6]), "end": 1.0, "omega": omega}
        np.testing.assert_array_equal(strongly_damped(MODELS["rubbing_mass"], free), [False, True])


def test_programs_are_float64_where_float32_has_none() -> None:
    rows = {name: np.asarray(value) for name, value in MODELS["rubbing_mass"].resolve({"a0": 1.0} | PENALISED).items()}
    (key,) = groups(MODELS["rubbing_mass"], "exact", None, rows, np.arange(1), precision="float32")
    assert key.precision == "float64"
