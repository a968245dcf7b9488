"""What the table of combinations says works on an oscillator gives numbers, and those of another scheme.

Rows of a case are the settings, and the pairs of them, that work with its scheme and have exactly its law of friction or link; none
has rigid friction. They share a program (`tribosweep.simulate`), and `rk54` runs the same rows. The cases are all rows without such a law
by `euler` and by `exact`, on each oscillator, and those with one of these laws by one scheme each, on the rubbing mass (two bodies at a
stop). Of walls that buckle `exact` is the reference.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels import simulate
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.axis import DRAW
from tribosweep.sweep.study.combinations import SETTINGS, combinations, example_of

RECORD = Records(2.0 * np.sin(0.2 * np.arange(200.0)), 0.01)
LAWS = (
    "Stribeck friction", "LuGre friction", "Dahl friction", "nonlinear spring", "nonlinear damper", "Maxwell branches",
    "power law dashpots", "elasto-plastic link", "two bodies",
)  # fmt: skip
REFERENCE = "rk54"
# how far a scheme may be from the reference, relative to the largest number of its column: of order 1 at steps of 1e-4 s; of order 4;
# with steps that follow the apparent frequency; `exact` as far as the reference is right
TOLERANCE = {"euler": 5e-3, "devogelaere": 1e-3, "adapt1": 5e-2, "exact": 1e-3}
COMPARED = ("x_end", "wear_power")
KICK = {"v0": 0.3, "k": 100.0, "c": 1.0, "end": 0.5, "step": 1e-4}
WALL = {"gap": 0.01, "k_n": 1e4, "c_n": 5.0}
BUCKLES = {"f_crit": 15.0, "f_post": 10.0, "k_post": 1e4}
BUCKLING = ("buckling_wall", "two_walls")  # their force falls at once, where steps of rk54 miss some per cent
WALLS: dict[str, dict[str, float]] = {
    "rubbing_mass": {},
    "stop": WALL,
    "buckling_wall": {**WALL, **BUCKLES},
    "two_walls": {**WALL, **BUCKLES, "left_gap": 0.012, "left_k_n": 2e4, "left_c_n": 2.0},
}


@functools.cache
def rows_of(model: str, scheme: str, law: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The settings, alone or in pairs, that work and have exactly these laws."""
    found = combinations({model: MODELS[model]}, [scheme])
    fit = [each.features for each in found if not each.why and set(each.features) <= set(SETTINGS)]
    return tuple(each for each in fit if {*each} & {*LAWS} == {*law} and "rigid friction" not in each)


@functools.cache
def results(model: str, scheme: str, rows: tuple[tuple[str, ...], ...]) -> dict[str, np.ndarray]:
    """The observables of some rows, from one program."""
    chosen = MODELS[model]
    given = [{**(example_of(row, chosen, REFERENCE) or {}), **WALLS[model]} for row in rows]
    given = [{**KICK, **each} for each in given]
    for each in given:
        each.pop(DRAW, None)
    names = dict.fromkeys(itertools.chain.from_iterable(given))
    names |= {"record_scale": None} if "record" in names else {}
    columns: dict[str, Any] = {}
    for name in names:
        values = [each.get(name, resolved(model, each, name)) for each in given]
        columns[name] = np.array(padded(values) if name in chosen.tables else values)
    found = simulate(model, columns, scheme, records=RECORD if "record" in names else None)
    return {name: np.asarray(found[name]) for name in ("status", *COMPARED)}


def padded(tables: list[Any]) -> list[np.ndarray]:
    """Tables padded with NaN to the same length."""
    width = max(np.size(table) for table in tables)
    return [np.pad(np.asarray(table, float), (0, width - np.size(table)), constant_values=np.nan) for table in tables]


def resolved(model: str, given: dict[str, Any], name: str) -> Any:
    """The value that a row has of a parameter which it does not give."""
    quantity: Quantity = MODELS[model].parameter(name)
    if name == "record":
        return np.zeros(())  # the record, times 0
    if name == "record_scale":
        return np.asarray(float("record" in given))
    plain = {key: np.asarray(value, float) for key, value in given.items()}
    found = MODELS[model].resolve(plain).get(name, quantity.default)
    return np.asarray(np.nan if found is None else found, float)


BY_LAW = (
    ("Stribeck friction", "devogelaere"), ("LuGre friction", "adapt1"), ("Dahl friction", "euler"), ("nonlinear spring", "euler"),
    ("nonlinear damper", "euler"), ("Maxwell branches", "euler"), ("power law dashpots", "devogelaere"), ("elasto-plastic link", "euler"),
    ("two bodies", "exact"),
)  # fmt: skip
CASES = [
    pytest.param("rubbing_mass", "euler", (), marks=pytest.mark.slow),
    *(
        pytest.param(model, scheme, law, marks=[pytest.mark.slow, pytest.mark.long])
        for model, scheme, law in (
            *((model, "exact", ()) for model in ("rubbing_mass", "stop")),
            *((model, "euler", ()) for model in WALLS if model != "rubbing_mass"),
            *(("stop" if law == "two bodies" else "rubbing_mass", scheme, (law,)) for law, scheme in BY_LAW),
        )
    ),
]


@pytest.mark.slow
def test_every_model_is_among_the_cases() -> None:
    assert {case.values[0] for case in CASES} == set(MODELS) == set(WALLS)
    assert {law for law, _ in BY_LAW} == set(LAWS)


@pytest.mark.parametrize(("model", "scheme", "law"), CASES)
def test_what_works_agrees_with_another_scheme(model: str, scheme: str, law: tuple[str, ...]) -> None:
    rows = rows_of(model, scheme, law)
    assert rows
    if model in BUCKLING:
        rows = tuple(each for each in rows if each in set(rows_of(model, EXACT, law)))
    found, reference = results(model, scheme, rows), results(model, EXACT if model in BUCKLING else REFERENCE, rows)
    for name, values in found.items():
        if name == "status":
            assert set(values.tolist()) <= {int(each) for each in RESULTS}, [row for row, code in zip(rows, values, strict=True) if code]
            continue
        scale = np.nanmax(np.abs(reference[name]), initial=1e-12)
        away = np.abs(values - reference[name]) / scale
        worst = int(np.nanargmax(away))
        assert away[worst] < TOLERANCE[scheme], (name, rows[worst], values[worst], reference[name][worst])
