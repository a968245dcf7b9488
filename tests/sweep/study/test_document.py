"""What is said of keys in a wrong section: wherever a key is sent, it is known there."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.study import grammar
from tribosweep.sweep.study.grammar import dotted
from tribosweep.sweep.study.schema import EXCITATION, OUTPUT, PARTS, STRUCTURE, Study, Sweep, Time

SHAPES = {"study": Study, "time": Time, "sweep": Sweep, **OUTPUT, **EXCITATION, **STRUCTURE}
KEYS = sorted(
    {field.alias or name for shape in (*SHAPES.values(), *PARTS.values()) for name, field in shape.model_fields.items()}
    | {q.name for model in MODELS.values() for q in model.parameters}
)
SENT = re.compile(r"\[([a-z_.]+)\], as ([a-z_.0-9]+?)(?:( = \[start, end\])|(?= or \[)|$)")
STUDIES: dict[str, dict[str, Any]] = {
    "rubbing_mass": {},
    "buckling_wall": {"study": {"model": "buckling_wall"}},
    "body": {
        "study": {"model": "body", "scheme": "euler"},
        "structure": {},
        "supports": {"pad": {"k_n": 1e5}},
        "loads": {"push": {"point": "centre", "kind": "force", "direction": [1.0, 0.0, 0.0]}},
    },
}


def problems_of(document: dict[str, Any]) -> list[Problem]:
    """Everything that is wrong with a study."""
    try:
        load(document)
    except ConfigError as error:
        return list(error.problems)
    return []


def with_keys(document: dict[str, Any], section: str, keys: dict[str, Any]) -> dict[str, Any]:
    """A copy of a study with further keys in a section such as "output.signals"."""
    whole = copy.deepcopy(document)
    table = whole
    for part in section.split("."):
        table = table.setdefault(part, {})
    table.update({key: value for key, value in keys.items() if key not in table})
    return whole


def sent(document: dict[str, Any], section: str) -> Iterator[tuple[str, str, bool]]:
    """Each misplaced key with the section to which it is sent, and whether it becomes a part of the window."""
    for start in range(0, len(KEYS), 15):
        keys = dict.fromkeys(KEYS[start : start + 15], 1.0)
        for problem in problems_of(with_keys(document, section, keys)):
            if "belongs in [" in problem.message:
                found = SENT.findall(problem.message)
                assert found, problem
                for home, path, window in found:
                    assert path.rpartition(".")[0] == home, problem
                    yield home, path.rpartition(".")[2], bool(window)


@pytest.mark.parametrize("model", STUDIES)
def test_a_key_is_known_in_the_section_to_which_it_is_sent(model: str) -> None:
    document, homes = STUDIES[model], set[tuple[str, str, bool]]()
    for section in (*SHAPES, "parameters", *(f"{part}.{name}" for part in PARTS for name in document.get(part, ()))):
        homes |= set(sent(document, section))
    assert len(homes) > 60
    for home, key, window in sorted(homes):
        moved = with_keys(document, home, {key: [0.0, 1.0] if window else 1.0})
        for problem in problems_of(moved):
            if problem.path == f"{home}.{key}":
                assert not re.search("belongs in|unknown|no parameter of", problem.message), (model, problem)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (STUDIES["body"] | {"supports": {"pad": {"k_n": 1e5, "belt_speed": 1.0}}}, "supports.pad.belt_speed: unknown key; "),
        ({"excitation": {"interval": 0.1}}, "excitation.interval: belongs in [excitation.random], as excitation.random.interval"),
        (
            STUDIES["body"] | {"parameters": {"obstacle": 1.0}},
            "parameters.obstacle: belongs in a table of [supports], such as [supports.NAME]",
        ),
        ({"study": {"k_n": 1.0}}, "study.k_n: unknown key; "),  # no parameter of a rubbing mass
        ({"study": {"mu": 1.0}}, "study.mu: belongs in [parameters], as parameters.mu"),
        (
            {"parameters": {"interval": 0.1}},
            "belongs in [output.signals], as output.signals.interval or [excitation.random], as excitation.random.interval",
        ),
    ],
)
def test_a_key_is_sent_where_it_is_known_or_nowhere(document: dict[str, Any], message: str) -> None:
    assert message in "\n".join(map(str, problems_of(document)))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"sweep": {"design": "posterior", "columns": ["mu", 3, "k"]}}, "sweep.columns[1]: must be text in quotes, not 3"),
        ({"sweep": [{"axes": {"mu": [0.1]}}, 4]}, "sweep[1]: must be a table of keys, not 4"),
    ],
)
def test_a_wrong_entry_of_a_list_is_named_by_its_number(document: dict[str, Any], message: str) -> None:
    assert message in [str(problem) for problem in problems_of(document)]


def test_values_of_lists_have_no_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counting(path: str, place: Sequence[Any]) -> str:
        made.append(dotted(path, place))
        return made[-1]

    monkeypatch.setattr(grammar, "dotted", counting)
    raw: dict[str, Any] = {"a": [1.0] * 1000, "b": [{"c": [None, 2]}, {"d": {3: 4}}], "e": None}
    assert [str(each) for each in grammar.odd_keys(raw, "sweep")] == ["sweep.b[1].d: keys must be texts, not 3"]
    assert [each.path for each in grammar.nulls(raw, "")] == ["b[0].c[0]", "e"]
    assert made == ["sweep.b[1].d", "b[0].c[0]", "e"]
