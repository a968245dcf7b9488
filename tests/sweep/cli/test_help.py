"""What the command line says of itself: help by task, examples that hold, topics with a search, completion by the shell."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from tribosweep.kernels.models import MODELS
from tribosweep.sweep.cli import completion, main
from tribosweep.sweep.cli.app import COMMANDS, app
from tribosweep.sweep.cli.help_layout import TASKS
from tribosweep.sweep.cli.topics import ABOUT, LONG, Topic, listed_models
from tribosweep.sweep.io import shipped
from tribosweep.sweep.study import branches, calibration, optimise
from tribosweep.sweep.study.grammar import keys_of
from tribosweep.sweep.study.schema import Output, Study, Sweep, Time
from tribosweep.sweep.study.schema_signals import KwuEpri, SignalsTable

ROOT = Path(__file__).parents[3]
Captured = pytest.CaptureFixture[str]
DEVELOPERS = {"benchmarks", "docs", "lint", "release", "rivals", "test"}  # extras that no user needs


def test_help_lists_every_command_under_its_task(capsys: Captured) -> None:
    assert TASKS.keys() == COMMANDS.keys()
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    for task in dict.fromkeys(task for task, _ in TASKS.values()):
        part = re.search(rf"^{task}:\n((?:  .*\n)+)", told, re.MULTILINE)
        assert part is not None, task
        assert re.findall(r"^  (\w+) ", part[1], re.MULTILINE) == [name for name, (its, _) in TASKS.items() if its == task]
    assert "..." not in told.partition("Begin a study")[2]  # no sentence is cut


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_in_the_help_and_their_words_are_understood(name: str, capsys: Captured) -> None:
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    group: Any = typer.main.get_command(app)
    parent = group.make_context("tribosweep", [], resilient_parsing=True)
    assert TASKS[name][1]
    for example in TASKS[name][1]:
        assert f"    tribosweep {example}\n" in told
        command, *words = shlex.split(example)
        assert command == name
        group.get_command(parent, name).make_context(name, words, parent)  # an unknown option or a missing argument raises


def listed(capsys: Captured, *words: str) -> dict[str, list[dict[str, str]]]:
    """What `tribosweep list` prints as JSON."""
    assert main(["list", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_without_words_an_overview_has_every_topic_on_a_screen(capsys: Captured) -> None:
    assert set(ABOUT) == set(Topic)
    assert main(["list"]) == 0
    told = capsys.readouterr()
    assert all(re.search(rf"^ {topic.value} +{'-' if topic in LONG else '[0-9]+'} ", told.out, re.MULTILINE) for topic in Topic)
    assert len(told.out.splitlines()) < 40
    assert "tribosweep list WORD searches in all of them but combinations, which takes some seconds" in told.err
    assert set(listed(capsys)) == {topic.value for topic in Topic}  # for scripts, everything


def test_words_are_searched_in_all_topics(capsys: Captured) -> None:
    found = listed(capsys, "wear")
    assert {"parameters", "observables", "studies"} <= set(found)
    assert all("wear" in " ".join(row.values()).casefold() for rows in found.values() for row in rows)
    assert "archard_k" in {row["parameter"] for row in found["parameters"]}
    both = listed(capsys, "observables", "Wear", "DEPTH")
    assert set(both) == {"observables"}
    assert {row["observable"] for row in both["observables"]} >= {"wear_depth", "wear_depth_edf_mz"}
    assert main(["list", "modells"]) == 2
    assert "nothing has 'modells'; did you mean 'models'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["qqqq"], "nothing has 'qqqq'; the topics are studies, models, "),
        (["nonsense"], "nothing has 'nonsense'; the topics are studies, models, "),
        (["parameters", "nonsense"], "nothing has 'nonsense'; `tribosweep list parameters` shows all"),
        (["observables", "weer_power"], "nothing has 'weer_power'; did you mean 'wear_power'?"),
        (["parameters", "--scheme", "euler"], "--scheme: 1 problem\n  the topic parameters has no schemes: leave --scheme out"),
        (["exits", "--model", "stop"], "--model: 1 problem\n  the topic exits has no models: leave --model out"),
    ],
)
def test_what_is_not_found_is_said_of_the_word_that_was_sought(words: list[str], said: str, capsys: Captured) -> None:
    assert main(["list", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_model_keeps_to_itself(capsys: Captured) -> None:
    for name, model in listed_models().items():
        found = listed(capsys, "parameters", "--model", name)["parameters"]
        files = {"table[LOAD]"} if model.structure is not None else {"table"}
        assert {row["parameter"] for row in found} == {quantity.name for quantity in model.parameters} | files
    assert set(listed(capsys, "--model", "stop")) == {"models", "parameters", "observables", "rules"}
    assert main(["list", "--model", "stopp"]) == 2
    assert "did you mean 'stop' (" in capsys.readouterr().err


def test_keys_of_sections_are_topics(capsys: Captured) -> None:
    for topic, shape in (("study", Study), ("time", Time), ("sweep", Sweep), ("output", Output)):
        rows = {row["key"]: row["description"] for row in listed(capsys, topic)[topic]}
        parts = {"output.signals": SignalsTable, "output.signals.kwu_epri": KwuEpri} if topic == "output" else {}
        inner = {f"{path}.{key}" for path, part in parts.items() for key in part.model_fields}
        assert rows.keys() == {f"{topic}.{key}" for key in shape.model_fields} | inner
        assert all(rows.values())
    for topic, tables in (("calibration", calibration.TABLES), ("optimise", optimise.TABLES), ("branches", branches.TABLES)):
        found = {row["key"]: row["description"] for row in listed(capsys, topic)[topic]}
        assert found.keys() == {f"{path}.{key}" for path, shape in tables.items() for key in keys_of(shape)}
        assert all(found.values())
    assert "CSV or Parquet" in next(row["description"] for row in listed(capsys, "sweep")["sweep"] if row["key"] == "sweep.file")
    assert "table" in {row["design"] for row in listed(capsys, "designs")["designs"]}
    assert {"from", "to", "count", "spacing", '"log_normal"'} <= {row["key"] for row in listed(capsys, "axes")["axes"]}


def completed(words: str) -> list[str]:
    """What bash is told to complete after `words`."""
    count = len(shlex.split(words)) - (not words.endswith(" "))
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "_TRIBOSWEEP_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(count),
    }
    command = [sys.executable, "-c", "from tribosweep.sweep.cli import console; console()"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_shell_completes_commands_studies_models_and_topics() -> None:
    assert completed("tribosweep cal") == ["calibrate"]
    assert completed("tribosweep run regime_") == ["regime_boundary", "regime_map"]
    assert completed("tribosweep list --model buck") == ["buckling_wall"]


def test_words_of_completion(fake: object) -> None:
    Path("mine.toml").write_text("[sweep.axes]\nmu = [0.1]\n")
    (Path("more") / "deep").mkdir(parents=True)
    assert main(["run", "mine.toml"]) == 0
    names = lambda words: [word for word, _ in words]  # noqa: E731
    assert names(completion.studies("m")) == ["mine.toml", "more/"]
    assert names(completion.studies("more/")) == ["more/deep/"]
    assert set(names(completion.studies(""))) == {"mine.toml", "more/", *shipped.names()}
    assert names(completion.shipped_studies("sdnd104")) == ["sdnd104"]
    assert names(completion.runs("")) == ["runs/mine", "more/", "runs/"]
    assert names(completion.runs("runs/mi")) == ["runs/mine"]
    assert names(completion.runs("mi")) == ["mine"]  # a shell drops words that do not begin with what is typed
    assert main(["show", "mine", "--json"]) == 0
    assert names(completion.studies_and_runs("mi")) == ["mine.toml", "mine"]
    assert names(completion.topics("obs")) == ["observables"]
    assert set(names(completion.models(""))) == set(listed_models())
    assert names(completion.settings("time.e")) == ["time.end="]
    assert "parameters.f_crit=" in names(completion.settings("parameters.f"))
    assert set(MODELS) < set(names(completion.models("")))


def test_the_extra_all_has_every_extra_of_users() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (whole,) = extras["all"]
    named = re.fullmatch(r"tribosweep\[(.*)\]", whole)
    assert named is not None
    assert set(named[1].split(",")) == set(extras) - DEVELOPERS - {"all"}
