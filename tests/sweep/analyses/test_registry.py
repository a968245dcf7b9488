"""The analyses as a whole: each is one folder, and its command and its method follow from what it says of itself."""

from __future__ import annotations

import ast
import inspect
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from docs.make import methods
from tribosweep.sweep import registry
from tribosweep.sweep.api import Run
from tribosweep.sweep.cli.app import COMMANDS
from tribosweep.sweep.results.analysis import ASK, Analysis, Request
from tribosweep.sweep.results.result import Result

FOLDER = Path(registry.__file__).parent / "analyses"


class OtherRequest(Request):
    """Ask another thing."""


def compute(*_: Any) -> Result:
    """Not called."""
    raise NotImplementedError


OTHER = Analysis("other", ASK, (), OtherRequest, compute, "Nothing.", "never")


def test_every_folder_is_registered() -> None:
    there = {f"tribosweep.sweep.analyses.{path.parent.name}" for path in FOLDER.glob("*/__init__.py")}
    assert there == set(registry.OWN)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_analyses_do_not_import_each_other_and_pictures_come_last(path: Path) -> None:
    head = "tribosweep.sweep.analyses."
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(head)):
            continue
        own, _, module = str(node.module).removeprefix(head).partition(".")
        assert own == path.parent.name, f"{path.parent.name} imports {node.module}"
        if path.stem != "__init__" and module in ("figure", "section") and path.stem != "result":
            pytest.fail(f"{path.stem} imports {module}")
        if path.stem == "request":
            pytest.fail(f"request imports {module}")


def test_methods_are_those_that_were_written() -> None:
    assert methods.FILE.read_text(encoding="utf-8") == methods.formatted(), "python -m docs.make.methods"


@pytest.mark.parametrize("name", sorted(registry.analyses()))
def test_command_method_and_request_have_the_same_words(name: str) -> None:
    analysis = registry.analyses()[name]
    fields = set(analysis.request.model_fields)
    assert set(inspect.signature(COMMANDS[name]).parameters) == fields | {"directory", "out", "as_json"}
    assert set(inspect.signature(getattr(Run, analysis.called)).parameters) == fields | {"self"}
    assert all(field.description for field in analysis.request.model_fields.values())
    assert analysis.about.endswith(".")
    assert all(words.split()[0] == name for words in analysis.examples)


def test_analyses_of_other_packages_are_found_and_faulty_ones_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "tests.sweep.analyses.test_registry:OTHER": "",
        "tests.sweep.analyses.test_registry:FOLDER": "not an Analysis",
        "no_such_package:ANALYSIS": "cannot be loaded: ModuleNotFoundError",
        "tribosweep.sweep.analyses.basins:ANALYSIS": "is called basins, as another one is",
    }
    entries = [EntryPoint(f"name{number}", value, registry.GROUP) for number, value in enumerate(points)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    with pytest.warns(RuntimeWarning) as told:
        found = registry.analyses.__wrapped__()
    assert found.keys() - registry.analyses().keys() == {"other"}
    assert len(told) == 3
    for warning, words in zip(told, [each for each in points.values() if each], strict=True):
        assert words in str(warning.message)
