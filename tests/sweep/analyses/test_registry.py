"""The analyses as a whole: each is one folder, and its command and its method follow from what it says of itself."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from docs.make import methods
from tests.sweep.conftest import FakeKernels
from tribosweep import sweep
from tribosweep.sweep import registry
from tribosweep.sweep.api import Run
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.analyses import answer, command_of
from tribosweep.sweep.cli.app import COMMANDS
from tribosweep.sweep.results.analysis import ASK, Analysis, Names, Request
from tribosweep.sweep.results.result import Result

Captured = pytest.CaptureFixture[str]
FOLDER = Path(registry.__file__).parent / "analyses"


class OtherRequest(Request):
    """Ask another thing."""


def compute(*_: Any) -> Result:
    """Not called."""
    raise NotImplementedError


OTHER = Analysis("alone", ASK, (), OtherRequest, compute, "Nothing.", "never")


def test_every_folder_is_registered() -> None:
    there = {f"tribosweep.sweep.analyses.{path.parent.name}" for path in FOLDER.glob("*/__init__.py")}
    assert there == set(registry.OWN)


def test_every_section_has_its_three_files_and_registers_its_name() -> None:
    for path in (path.parent for path in FOLDER.glob("*/section.py")):
        analysis = registry.analyses()[import_module(f"tribosweep.sweep.analyses.{path.name}").ANALYSIS.name]
        assert f"sections.{analysis.name} = {{" in (path / "section.js").read_text(encoding="utf-8")
        assert f'<section class="card" id="{analysis.name}">' in (path / "section.html").read_text(encoding="utf-8")
        assert analysis.section
    assert sum(analysis.section for analysis in registry.analyses().values()) == len([*FOLDER.glob("*/section.py")])


def test_names_of_commands_are_known_to_the_registry() -> None:
    assert {*registry.COMMANDS} | registry.analyses().keys() == COMMANDS.keys()


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
    written, made = (ast.dump(ast.parse(text)) for text in (methods.FILE.read_text(encoding="utf-8"), methods.text()))
    assert written == made, "python -m docs.make.methods"


def test_methods_show_no_example_of_an_option() -> None:
    arguments = [line.strip() for line in methods.text().splitlines() if line.strip().startswith("at: ")]
    assert len(arguments) > 3
    assert all(line.startswith("at: parameter -> value") and "=" not in line for line in arguments)


@pytest.mark.parametrize("name", sorted(registry.analyses()))
def test_command_method_and_request_have_the_same_words(name: str) -> None:
    analysis = registry.analyses()[name]
    fields = set(analysis.request.model_fields)
    others = {"directory", "out", "as_json"} | ({"settings"} if analysis.check else set())
    assert set(inspect.signature(COMMANDS[name]).parameters) == fields | others
    assert set(inspect.signature(getattr(Run, analysis.called)).parameters) == fields | {"self"}
    assert all(field.description for field in analysis.request.model_fields.values())
    assert analysis.about.endswith(".")
    assert all(words.split()[0] == name for words in analysis.examples)


@pytest.mark.parametrize("name", sorted(registry.analyses()))
def test_a_damaged_manifest_is_named_whatever_is_asked(name: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points").mkdir()
    (tmp_path / "manifest.json").write_text("{")
    needed = [f"--{field}=buckled" for field, of in registry.analyses()[name].request.model_fields.items() if of.is_required()]
    assert main([name, str(tmp_path), *needed]) == 2
    assert "manifest.json: 1 problem\n  holds no run of tribosweep, or is damaged" in capsys.readouterr().err


def test_analyses_of_other_packages_are_found_and_faulty_ones_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "tests.sweep.analyses.other_package:ANALYSIS": "",
        "tests.sweep.analyses.test_registry:OTHER": "must be a package",
        "tests.sweep.analyses.other_package:ODD": "asks for out, which every command has",
        "tests.sweep.analyses.other_package:LISTS": "asks for sizes of the type",
        "tests.sweep.analyses.test_registry:FOLDER": "not an Analysis",
        "no_such_package:ANALYSIS": "cannot be loaded: ModuleNotFoundError",
        "tests.sweep.analyses.other_package.leaves:ANALYSIS": "cannot be loaded: SystemExit",
        "tribosweep.sweep.analyses.basins:ANALYSIS": "is called basins, as another one is",
        "tests.sweep.analyses.other_package:LISTED": "is called list, as a command is",
        "tests.sweep.analyses.other_package:OF_FILES": "takes 'file': must be one of run, study, records",
        "tests.sweep.analyses.other_package:DRAWN": "has a file, which needs the directory of a run: takes must be run",
        "tests.sweep.analyses.other_package:CHECKED": "has a check, which needs the directory of a run: takes must be run",
        "tests.sweep.analyses.other_package:BOTH": "has a file, which needs the directory of a run, and a check",
    }
    entries = [EntryPoint(f"name{number}", value, registry.GROUP) for number, value in enumerate(points)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    found, faults = registry.found.__wrapped__()
    assert found.keys() - registry.analyses().keys() == {"other"}
    assert all(command_of(analysis) for analysis in found.values())
    for fault, words in zip(faults, [each for each in points.values() if each], strict=True):
        assert words in fault


def test_the_analysis_of_another_package_is_carried_out(monkeypatch: pytest.MonkeyPatch, fake: FakeKernels, capsys: Captured) -> None:
    other = import_module("tests.sweep.analyses.other_package").ANALYSIS
    known = {**registry.analyses(), "other": other}
    monkeypatch.setattr(registry, "found", lambda: (known, ["the analysis of nobody cannot be loaded"]))
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0, 2.0]\n")
    assert main(["run", "study.toml"]) == 0
    assert fake.calls
    found = sweep.open_run("runs/study").analyse("other", factor=2.0)
    assert found.to_pandas()["twice"].tolist() == [4.0]
    with pytest.raises(sweep.ConfigError) as wrong:
        sweep.open_run("runs/study").analyse("other", factor=-1.0, at=5)
    assert [str(each) for each in wrong.value.problems] == [
        "factor: -1 is out of bounds: must be > 0",
        "at: must map names of parameters to values, such as {'mu': 0.2}, not be 5",
    ]
    with pytest.raises(sweep.ConfigError, match="factor: is missing"):
        sweep.open_run("runs/study").analyse("other")
    capsys.readouterr()
    assert main(["doctor"]) == 4
    assert "cannot be loaded" in " ".join(capsys.readouterr().out.split())


def test_only_an_analysis_of_runs_writes_tables_into_a_folder(fake: FakeKernels, capsys: Captured) -> None:
    package = import_module("tests.sweep.analyses.other_package")
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0, 2.0]\n")
    assert main(["run", "study.toml"]) == 0
    assert fake.calls
    compute = package.ANALYSIS.compute
    of_studies = replace(package.OF_STUDIES, compute=lambda _study, request, _tell: compute(Path("runs/study"), request, None))
    answer(of_studies, Path("study.toml"), {"factor": 2.0}, None, as_json=False, settings=())
    assert capsys.readouterr().out.endswith("4.0\n")
    assert not Path("runs/study/other").exists()
    answer(package.ANALYSIS, Path("runs/study"), {"factor": 2.0}, None, as_json=False, settings=())
    assert Path("runs/study/other/numbers.parquet").is_file()


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ([], ["points: needs at least 1 value"]),
        (["a"], ["points: must be a whole number, not 'a'"]),
        (1.5, ["points: must be a whole number, not 1.5"]),
    ],
)
def test_too_few_values_are_counted_unless_one_is_wrong(given: Any, problems: list[str]) -> None:
    with pytest.raises(sweep.ConfigError) as wrong:
        registry.analyses()["events"].read({"points": given}, python=True)
    assert [str(each) for each in wrong.value.problems] == problems


class BoundedRequest(Request):
    """Ask for texts."""

    words: Names = Field(default=(), max_length=1, description="Words.")
    code: str = Field(default="a", pattern="[a-z]", description="A letter.")


def test_every_bound_of_a_field_is_worded() -> None:
    with pytest.raises(sweep.ConfigError) as wrong:
        replace(OTHER, request=BoundedRequest).read({"words": ("a", "b"), "code": "3"}, python=True)
    assert [str(each) for each in wrong.value.problems] == [
        "words: takes at most 1 value",
        "code: '3': String should match pattern '[a-z]'",
    ]
