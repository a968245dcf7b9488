"""Studies and runs on the command line: by path or by name, and what is said where one is given for the other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tribosweep.sweep import cli
from tribosweep.sweep.cli import completion, main

STUDY = '[study]\nname = "mine"\n[sweep.axes]\nmu = [0.1, 0.2]\n'


@pytest.fixture
def made(fake: object, capsys: pytest.CaptureFixture[str]) -> Path:
    """A study of which there is a run."""
    Path("s.toml").write_text(STUDY)
    assert main(["run", "s.toml"]) == 0
    capsys.readouterr()
    return Path("runs") / "mine"


def test_a_run_is_found_by_its_name(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "mine"]) == 0
    by_name = capsys.readouterr().out
    assert main(["show", str(made)]) == 0
    assert by_name == capsys.readouterr().out
    assert main(["resume", "mine"]) == 0


@pytest.mark.parametrize("command", ["run", "calibrate"])
def test_a_run_given_for_a_study_is_named_as_one(command: str, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(made)]) == 2
    said = capsys.readouterr().err
    assert "is the directory of a run, not a study" in said
    assert f"tribosweep resume {made}" in said


@pytest.mark.parametrize("command", ["map", "report", "resume", "check", "bifurcation", "convergence"])
def test_a_study_given_for_a_run_is_named_as_one(command: str, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "s.toml"]) == 2
    said = capsys.readouterr().err
    assert f"is a study, and this command reads the directory of its run: {made}\n" in said
    assert main([command, "sdnd104"]) == 2
    assert "runs/sdnd104, which tribosweep run sdnd104 makes" in capsys.readouterr().err


def test_a_folder_of_studies_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("here").mkdir()
    (Path("here") / "a.toml").write_text(STUDY)
    assert main(["run", "here"]) == 2
    assert "a study is one TOML file; there are here/a.toml" in capsys.readouterr().err


def test_show_prints_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "regime_map"]) == 0
    told = capsys.readouterr()
    assert told.out == (Path(__file__).parents[3] / "configs" / "regime_map.toml").read_text()
    assert "tribosweep run regime_map carries it out" in told.err
    assert main(["show", "calibrate_wall"]) == 0
    assert "tribosweep calibrate calibrate_wall carries it out" in capsys.readouterr().err
    assert main(["show", "regime_map", "--failed"]) == 2


def test_a_shipped_study_runs_by_its_name(fake: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "sdnd104", "--out", "there"]) == 0
    assert (Path("there") / "_SUCCESS").exists()
    assert main(["run", "quake", "--dry-run"]) == 0
    assert "main_shock.csv" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["map"], ["map", "--chance", "impacts>=1"], ["report"], ["show", "--over", "mu"], ["signals"], ["rare"]])
def test_a_directory_without_a_run_is_refused_in_a_sentence(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("nowhere", "holds no run of tribosweep: there is no such directory"),
        ("empty", "holds no run of tribosweep (no manif"),
    ):
        assert main([words[0], str(tmp_path / name), *words[1:]]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert "not empty" not in told


def test_a_study_may_end_in_capital_letters(fake: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "MINE.TOML", "--like", "regime_map"]) == 0
    assert completion.studies("MI") == [("MINE.TOML", "")]
    capsys.readouterr()
    assert main(["map", "MINE.TOML"]) == 2
    assert "is a study, and this command reads the directory of its run" in capsys.readouterr().err
    assert main(["run", "."]) == 2
    assert "there are MINE.TOML" in capsys.readouterr().err


def test_every_ending_counts_in_capital_letters_too() -> None:
    folder = Path(cli.__file__).parents[1]
    read = [(path, node) for path in sorted(folder.rglob("*.py")) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    lowered = {node.value for _, node in read if isinstance(node, ast.Attribute) and node.attr == "lower"}
    endings = [(path, node) for path, node in read if isinstance(node, ast.Attribute) and node.attr == "suffix"]
    assert len(endings) > 15
    assert [f"{path}:{node.lineno}" for path, node in endings if node not in lowered] == []
