"""Reading [branches] from TOML."""

from __future__ import annotations

from typing import Any

import pytest

from tribosweep import sweep
from tribosweep.kernels.branches.events import GRAZING
from tribosweep.kernels.branches.problem import TESTS
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analysis.branching import results
from tribosweep.sweep.analysis.branching.load import load
from tribosweep.sweep.io import shipped
from tribosweep.sweep.report.branches import in_label

NAMES = [name for name in shipped.names() if name.startswith("branches_")]
ALONG = {"mu": {"from": 0.1, "to": 0.5}}


def study(**changed: Any) -> dict[str, Any]:
    return {"parameters": {"a0": 5.0, "k": 1.0}, "branches": {"along": ALONG, **changed}}


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_study_of_branches_is_sound_and_named_after_its_file(name: str) -> None:
    assert load(name).config.name == name


def test_what_is_not_said_has_a_default_and_bounds_have_units() -> None:
    found = load({"parameters": {"k": 1.0}, "branches": {"along": {"a0": {"from": "20 cm/s^2", "to": 3.0}}}})
    assert (found.along.name, found.along.lower, found.along.upper, found.along.logarithmic) == ("a0", 0.2, 3.0, False)
    assert (found.places, found.periods, found.most, found.points) == (5, 8, 32, 2000)
    assert found.config.window == "steady"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"along": {}}, "branches.along: missing"),
        ({"along": {**ALONG, "omega": {"from": 1.0, "to": 2.0}}}, "branches.along: names 2 parameters: branches are followed in one"),
        ({"along": {"muu": {"from": 0.1, "to": 0.5}}}, "branches.along.muu"),
        ({"along": {"mu": {"from": 0.5, "to": 0.1}}}, "branches.along.mu: from must be below to"),
        ({"along": {"mu": {"from": 0.1, "to": 0.5, "start": 0.2}}}, "branches.along.mu.start: unknown key"),
        ({"along": {"mu": {"from": "0.1 m", "to": 0.5}}}, "branches.along.mu.from"),
        ({"place": 4}, "branches.place: unknown key; did you mean 'places'"),
        ({"curves": {}}, "branches.curves: missing"),
        ({"curves": {"gapp": {"from": 0.1, "to": 0.5}}}, "branches.curves.gapp"),
        ({"curves": {"mu": {"from": 0.1, "to": 0.5}}}, "branches.curves.mu: changes along the branches: curves need another parameter"),
        ({"curves": {"a0": {"from": 1.0, "to": 2.0}, "k": {"from": 1.0, "to": 2.0}}}, "branches.curves: names 2 parameters"),
        ({"curves": {"a0": {"from": 1.0, "to": 2.0}}}, "parameters.a0: the start 5 is outside the bounds of branches.curves.a0"),
        ({"curves": {"a0": {"from": "1 s", "to": 9.0}}}, "branches.curves.a0.from"),
        ({"periods": 17}, "branches.periods: must be a whole number from 1 to 16"),
        ({"points": 1}, "branches.points: must be a whole number from 2 to"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sweep.ConfigError) as error:
        load(study(**changed))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ({"time": {"window": [0.0, 1.0], "end": 2.0}}, 'time.window: must be "steady", or left out'),
        ({"sweep": {"axes": {"mu": [0.1, 0.2]}}}, "sweep.axes.mu: changes along the branches: it is no axis"),
        (
            {"branches": {"along": ALONG, "curves": {"k": {"from": 0.5, "to": 2.0}}}, "sweep": {"axes": {"k": [1.0, 2.0]}}},
            "sweep.axes.k: changes along curves: it is no axis",
        ),
        (
            {"study": {"scheme": "euler"}, "time": {"step": 1e-3}},
            "study.scheme: a study of branches needs scheme 'exact', not 'euler': leave it out",
        ),
        (
            {"study": {"model": "buckling_wall"}, "parameters": {"k_post": 30.0}},
            "study.model: a study of branches is of walls that do not buckle",
        ),
        (
            {"study": {"model": "two_walls"}, "sweep": {"axes": {"left_f_crit": [1.0, 2.0]}}},
            "sweep.axes.left_f_crit: a study of branches is of walls that do not buckle, for one that does remembers: leave left_f_crit",
        ),
        ({"sweep": {"axes": {"scheme": ["exact", "euler"]}}}, "sweep.axes.scheme: a study of branches needs scheme 'exact', not 'euler'"),
        (
            {"study": {"precision": "float32"}},
            "study.precision: a study of branches follows derivatives, which are float64: leave precision out",
        ),
        ({"output": {"statistics": True}}, "output.statistics: needs a window [start, end] in s, not a study of branches: leave it out"),
        (
            {"time": {"end": 2.0}},
            "time.end: a study of branches is of motions that repeat, wherever they begin, and reads no end: leave end out",
        ),
        ({"sweep": {"axes": {"omega": ["default", 2.0]}}}, 'no "default"'),
    ],
)
def test_what_does_not_go_with_branches_is_said(added: dict[str, Any], said: str) -> None:
    with pytest.raises(sweep.ConfigError) as error:
        load({**study(), **added})
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"table_time": [0.0, 1.0], "table_force": [1.0, 0.0]}, "is of motion that repeats with one sine"),
        ({"tone_a0": [1.0], "tone_omega": [3.0]}, "is of motion that repeats with one sine"),
        ({"belt_speed": 0.1}, "is of a constant normal force and a support at rest"),
        ({"stribeck_speed": 0.1}, "is of friction with constant coefficients"),
        ({"dahl_stiffness": 1e4}, "is of friction with constant coefficients"),
        ({"spring_displacement": [-1.0, 1.0], "spring_force": [-1.0, 1.0]}, "is of a linear spring and a linear damper"),
    ],
)
def test_each_parameter_that_branches_do_not_have_is_to_be_left_out(parameters: dict[str, Any], why: str) -> None:
    """No sentence names a window, which the study does not have, or another scheme, which would be refused."""
    with pytest.raises(sweep.ConfigError) as error:
        load(study() | {"parameters": {"a0": 5.0, "k": 1.0, **parameters}})
    told = [str(problem) for problem in error.value.problems]
    assert told == [f"parameters.{name}: a study of branches {why}: leave {name} out" for name in parameters]


def test_other_commands_name_the_one_that_is_meant() -> None:
    with pytest.raises(sweep.ConfigError, match="this study is one of branches: tribosweep branches carries it out"):
        sweep.load(study())
    with pytest.raises(sweep.ConfigError, match=r"a study of branches has a table \[branches\]"):
        load({"parameters": {"a0": 5.0}})


def test_kinds_of_special_points_are_those_that_are_located() -> None:
    assert {*results.SPECIAL_POINTS} == {*TESTS, GRAZING}


def test_labels_of_points_have_words_and_units() -> None:
    known = by_name(MODELS["buckling_wall"].parameters)
    assert in_label(known["damping_criterion"], 1.0) == "damping_criterion = excluded"
    assert in_label(known["gap"], 0.1 + 0.2) == "gap = 0.3 m"
    assert in_label(known["mu"], 0.1) == "mu = 0.1"
