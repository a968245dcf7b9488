"""Events joined by or, and, not: one grammar, three-valued logic, margins with the sign of the outcome."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.design.joined import Joined, margin_of, outcome_of, singles, with_sign
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.study.comparison import MOST_CHARACTERS, MOST_DEPTH, MOST_PARTS, read_expression
from tribosweep.sweep.study.event import margin_in, named_in, outcome_in, read_events

WALLS = MODELS["two_walls"]
GRAMMAR = {
    "a and b or c": ("or", ("and", "a", "b"), "c"),
    "a or b and c": ("or", "a", ("and", "b", "c")),
    "(a or b) and c": ("and", ("or", "a", "b"), "c"),
    "not a and b": ("and", ("not", "a"), "b"),
    "not (a and b)": ("not", ("and", "a", "b")),
    "NOT not a": ("not", ("not", "a")),
    "a>1 or b<=2 kN/(m s) and c[x or y]=no contact": ("or", "a > 1", ("and", "b <= 2 kN/(m s)", "c[x or y] = no contact")),
    "((a))": "a",
    "order>1 or android=nothing": ("or", "order > 1", "android = nothing"),
    "(a > 1)or(b)": ("or", "a > 1", "b"),
}
REFUSED = {
    "": "an observable is missing at the end",
    "a or": "an observable is missing at the end",
    "or a": "an observable is missing before 'or a'",
    "(a": "a parenthesis is not closed",
    "a)": "or or and is missing before ')'",
    "a b": "or or and is missing before 'b'",
    "a >": "a value is missing at the end",
    "a > and b": "a value is missing before 'and b'",
    "not": "an observable is missing",
    "(" * (MOST_DEPTH + 1) + "a" + ")" * (MOST_DEPTH + 1): "within each other",
    "not " * (MOST_DEPTH + 1) + "a": "within each other",
    " or ".join(["a"] * (MOST_PARTS + 1)): "comparisons",
    "a" * (MOST_CHARACTERS + 1): "characters",
}


def shape(event: Any) -> Any:
    """An expression as nested tuples."""
    if isinstance(event, Joined):
        return (event.word, *(shape(part) for part in event.parts))
    return f"{event.observable} {event.relation} {event.value}".strip()


@pytest.mark.parametrize("text", GRAMMAR)
def test_not_binds_before_and_and_and_before_or(text: str) -> None:
    assert shape(read_expression(text)) == GRAMMAR[text]


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_text_that_is_no_event_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[text].replace("(", r"\(").replace(")", r"\)")):
        read_expression(text)
    with pytest.raises(ConfigError):
        read_events("--chance", [text], WALLS)


def test_an_event_is_written_as_it_is_read() -> None:
    for text in (
        "left_buckled = 1 or right_buckled = 1",
        "x_max > 3 and not (left_buckled = 1 or wall_regime = no contact)",
        "not not buckled = 1",
    ):
        (event,) = read_events("--chance", [text], WALLS)
        assert str(event) == text
        assert read_events("--chance", [str(event)], WALLS)[0] == event
    assert str(read_events("--chance", ["buckled and peak_force > 1 kN"], WALLS)[0]) == "buckled = 1 and peak_force > 1000"


def test_each_wrong_part_of_an_event_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        read_events("--chance", ["bukled or x_max or wall_regime > 2 or peak_force > 3 kg"], WALLS)
    said = str(caught.value)
    for part in ("'bukled' is no observable", "must be an observable, one of", "wall_regime is a word", "'peak_force > 3 kg'"):
        assert part in said


def kleene(event: Any, known: dict[str, float]) -> float:
    """The truth of an event by its definition: 1, 0, and 0.5 where it is unknown."""
    if not isinstance(event, Joined):
        return known[event.observable]
    parts = [kleene(part, known) for part in event.parts]
    return 1.0 - parts[0] if event.word == "not" else max(parts) if event.word == "or" else min(parts)


def test_unknown_or_true_is_true_and_unknown_and_false_is_false() -> None:
    rows = np.array(list(itertools.product([0.0, 0.5, 1.0], repeat=3))).T
    values = dict(zip("abc", rows, strict=True))
    for text in ("a or b", "a and b", "not a", "a and not (b or c)", "not (a and b) or not c", "(a or b) and (b or c) and (not a or c)"):
        event = read_expression(text)
        happened, unknown = outcome_of(event, lambda each: (values[each.observable] == 1.0, values[each.observable] == 0.5))  # type: ignore[arg-type,return-value]
        wanted = np.array([kleene(event, dict(zip("abc", row, strict=True))) for row in rows.T])
        assert happened.tolist() == (wanted == 1.0).tolist(), text
        assert unknown.tolist() == (wanted == 0.5).tolist(), text
        margins = margin_of(event, lambda each: np.where(values[each.observable] == 0.5, np.nan, values[each.observable] - 0.5))
        assert (margins >= 0.0).tolist() == (wanted == 1.0).tolist(), text
        assert np.isnan(margins).tolist() == (wanted == 0.5).tolist(), text


def test_margins_are_those_of_the_nearest_limit_and_tell_the_outcome_at_it() -> None:
    (event,) = read_events("", ["x_max >= 2 or not (peak_force > 10 and x_min < -1)"], WALLS)
    rng = np.random.default_rng(1)
    values = {name: rng.choice([-2.0, -1.0, 2.0, 10.0, 11.0, 30.0], 400) for name in named_in(event)}
    margins = margin_in(event, WALLS, values)
    assert margins is not None
    x, force, low = values["x_max"] / 2.0 - 1.0, values["peak_force"] / 10.0 - 1.0, -values["x_min"] - 1.0
    assert np.abs(margins - np.maximum(x, -np.minimum(force, low))).max() < 1e-15
    assert ((margins >= 0.0) == outcome_in(event, WALLS, values).happened).all()
    assert margin_in(read_events("", ["x_max >= 2 or buckled"], WALLS)[0], WALLS, values | {"buckled": values["x_max"]}) is None


def test_what_has_no_value_did_not_happen_and_its_negation_did() -> None:
    (event, other) = read_events("", ["buckling_time < 1", "not buckling_time < 1"], WALLS)
    values = {"buckling_time": np.array([np.nan, 0.5, 2.0])}
    assert not by_name(WALLS.observables)["buckling_time"].unknown
    assert outcome_in(event, WALLS, values).happened.tolist() == [False, True, False]
    assert outcome_in(other, WALLS, values).happened.tolist() == [True, False, True]
    for each in (event, other):
        found = margin_in(each, WALLS, values)
        assert found is not None
        assert (found >= 0.0).tolist() == outcome_in(each, WALLS, values).happened.tolist()


def test_every_mark_of_every_model_may_stand_alone() -> None:
    for model in MODELS.values():
        marks = [q.name for q in model.observables if q.kind == "integer" and "1 if " in q.description]
        for name in marks:
            assert [str(each) for each in singles(read_events("", [name], model)[0])] == [f"{name} = 1"]
    assert {"buckled", "left_buckled", "right_buckled"} <= {q.name for q in WALLS.observables}
    assert with_sign(np.zeros(2), np.array([True, False])).tolist()[0] == 0.0
