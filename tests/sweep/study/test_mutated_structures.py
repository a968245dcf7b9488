"""Mutated studies of structures: each is refused with a sentence, or is a study whose resolved form is read again."""

from __future__ import annotations

import copy
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.mutants import ODD
from tribosweep.kernels.models.beam import Beam
from tribosweep.sweep import load
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.structure.basis_files import write_basis

CONFIGS = Path(__file__).parents[3] / "configs"
KEYS = ("gap", "position", "basis", "frequency[0]", "angle", "other", "x.y", "gap[ring]", "record", "draw", "channel", "modes", "axes")
MORE = ("ring", "centre", [1.0, 0.0, 0.0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], {"from": 1, "to": 2, "count": 3}, 10**30, 1e308, "-3 N")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all entries of nested tables and lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, each in inner for found in places(each, (*path, key)))]


def mutate(document: dict[str, Any], chance: random.Random) -> None:
    """Change, remove or add one entry."""
    *above, last = chance.choice([path for path in places(document) if path])
    table: Any = document
    for key in above:
        table = table[key]
    what, odd = chance.random(), copy.deepcopy(chance.choice([*ODD, *MORE]))
    if what < 0.6:
        table[last] = odd
    elif what < 0.8:
        del table[last]
    elif isinstance(table, dict):
        table[chance.choice(KEYS)] = odd


@pytest.mark.long_cases("tube_in_supports")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["tube_in_supports", "rod_in_ring", "row_of_bodies"])
def test_a_mutated_study_is_refused_or_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = tomllib.loads((CONFIGS / f"{name}.toml").read_text())
    if name == "tube_in_supports":
        points = {"first": 0.8, "second": 1.6, "third": 2.4, "fourth": 3.2, "middle": 2.0}
        write_basis(tmp_path / "tube.npz", Beam(4.0, 1e3, 0.9, elements=20).basis(4, points, 0.01, ["first"]))
        whole["structure"]["basis"] = "tube.npz"
    elif name == "row_of_bodies":
        whole["structure"]["basis"] = str(CONFIGS / whole["structure"]["basis"])
        whole["excitation"]["records"] = str(CONFIGS / whole["excitation"]["records"])
    whole["structure"] |= {"modal_energies": True, "peak_edges": [0.0, 10.0]}
    chance, read = random.Random(23), 0
    for _ in range(600):
        document = copy.deepcopy(whole)
        for _ in range(chance.choice((1, 1, 2))):
            mutate(document, chance)
        try:
            config = load(document)
        except ConfigError as error:
            assert error.problems
            continue
        assert load(config.document).digest == config.digest
        read += 1
    assert 40 < read < 400
