"""`tribosweep init` begins a study from a shipped one, and overwrites nothing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import typer

from tribosweep import sweep
from tribosweep.sweep.analysis.branching import load as branchings
from tribosweep.sweep.analysis.calibration import load as calibrations
from tribosweep.sweep.analysis.optimisation import load as optimisations
from tribosweep.sweep.cli import main, starting
from tribosweep.sweep.io import shipped

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", shipped.names())
def test_every_shipped_study_begins_one_that_is_the_same_but_for_its_name(name: str, capsys: Captured) -> None:
    file = Path("folder") / "my study.toml"
    assert main(["init", str(file), "--like", name]) == 0
    told = capsys.readouterr()
    assert told.out == f"{file}\n"
    command = name.partition("_")[0] if name.startswith(("branches_", "calibrate_", "optimise_")) else "run"
    assert f"tribosweep {command} 'folder/my study.toml'" in told.err
    text = file.read_text()
    assert not re.search(rf"tribosweep \w+ (configs/)?{name}\b", text)
    named = re.findall(r"tribosweep (?:modes|run|calibrate|optimise|branches) ('[^']*'|[\w./]+\w)", text)
    assert all(Path(each.strip("'")).is_file() for each in named)
    assert text.count("#") == shipped.find(name).read_text().count("#")
    assert (file.parent / text.splitlines()[0].removeprefix("#:schema ")).is_file()
    ours, theirs = tomllib.loads(text), tomllib.loads(shipped.find(name).read_text())
    assert ours["study"].pop("name", "my study") == "my study"
    theirs["study"].pop("name", None)
    assert ours == theirs
    if "optimise" in ours:
        assert optimisations.load(file).section == optimisations.load(name).section
    elif "branches" in ours:
        assert branchings.load(file).section == branchings.load(name).section
    elif "calibration" in ours:
        assert calibrations.load(file).data.count == calibrations.load(name).data.count
    else:
        assert sweep.load(file).design.count == sweep.load(name).design.count


def test_nothing_is_overwritten(capsys: Captured) -> None:
    Path("quake.toml").write_text("mine")
    assert main(["init", "--like", "quake"]) == 2
    assert "quake.toml: is there already and is not overwritten" in capsys.readouterr().err
    assert [path.name for path in Path.cwd().iterdir()] == ["quake.toml"]
    Path("data").mkdir()
    (Path("data") / "main_shock.csv").write_text("mine")
    assert main(["init", "other.toml", "--like", "quake"]) == 2
    assert "data/main_shock.csv: is there already" in capsys.readouterr().err
    assert not Path("other.toml").exists()
    assert Path("quake.toml").read_text() == (Path("data") / "main_shock.csv").read_text() == "mine"
    assert main(["init", "--like", "sdnd104"]) == 0
    assert main(["init", "second.toml", "--like", "regime_map"]) == 0  # the schema beside it is the same


def test_a_grammar_of_another_version_is_renewed_by_a_command(capsys: Captured) -> None:
    Path(shipped.SCHEMA).write_text("{}")
    assert main(["init", "--like", "quake"]) == 2
    assert f"tribosweep schema --out {shipped.SCHEMA} renews it" in capsys.readouterr().err
    assert main(["schema", "--out", shipped.SCHEMA]) == 0
    assert main(["init", "--like", "quake"]) == 0


def test_a_name_is_needed_without_a_terminal_and_must_be_one(capsys: Captured) -> None:
    assert main(["init"]) == 2
    assert "`tribosweep list studies` shows them" in capsys.readouterr().err
    assert main(["init", "--like", "regimemap"]) == 2
    assert "did you mean 'regime_map' (" in capsys.readouterr().err
    assert main(["init", "study.txt", "--like", "quake"]) == 2
    assert "its name ends in .toml" in capsys.readouterr().err
    assert not list(Path.cwd().iterdir())


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal on which these answers are typed."""
    typed: list[str] = []

    def prompt(*_: object, **__: object) -> str:
        if not typed:
            raise typer.Abort
        return typed.pop(0)

    monkeypatch.setattr(typer, "prompt", prompt)
    monkeypatch.setattr(starting, "on_terminal", lambda: True)
    return typed


def test_questions_lead_to_every_study(answers: list[str], capsys: Captured) -> None:
    kinds = {starting.kind_of(name) for name in shipped.names()}
    assert kinds == set(starting.KINDS)
    calibrations = sum(starting.kind_of(name) == "calibration" for name in shipped.names())
    answers += ["calibration", "99", "calibrate_wall"]
    assert main(["init"]) == 0
    told = capsys.readouterr()
    assert told.out == "calibrate_wall.toml\n"
    assert f"A number from 1 to {calibrations}" in told.err
    answers += ["1", "1"]
    assert main(["init", "first.toml"]) == 0
    assert main(["init", "second.toml"]) == 130  # the input ends
    assert not Path("second.toml").exists()
