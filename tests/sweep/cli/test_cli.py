"""The command line: data to stdout, talk to stderr, and the promised exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models import MODELS
from tribosweep.sweep import ConfigError, Run, load
from tribosweep.sweep.analyses.events import result
from tribosweep.sweep.cli import main, terminal

ROOT = Path(__file__).parents[3]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def study(tmp_path: Path) -> str:
    """A study of six points."""
    path = tmp_path / "six.toml"
    path.write_text('[parameters]\nmu = 0.2\n[sweep.axes]\na0 = [1.0, 2.0]\nscheme = ["exact"]\nk = [0.0, 1.0, 1.2345678912]\n')
    return str(path)


def test_a_small_run_prints_its_rows_and_says_where_they_are(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study]) == 0
    said = capsys.readouterr()
    assert "wear_power" in said.out
    assert "1.234568" in said.out
    assert "mu" not in said.out.split("\n")[1]
    assert max(len(line) for line in said.out.splitlines()) <= 100
    assert "Data: runs/six/points" in said.err
    assert len(fake.calls) == 1


def test_a_large_run_prints_counts(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study, "--set", "sweep.axes.a0={ from = 1, to = 2, count = 30 }"]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if line.startswith((" regime", " status"))] == [
        ["regime", "stick", "30"],
        ["regime", "stick-slip", "30"],
        ["regime", "slip-slip", "30"],
        ["status", "ok", "90"],
    ]
    assert fake.calls == [90]


def test_json_is_one_object_on_stdout(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["directory"], printed["points"], printed["statuses"], printed["failed"]) == ("runs/six", 6, {"ok": 6}, 0)
    assert main(["show", "runs/six", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert (state["state"], state["points_done"], state["statuses"]) == ("complete", 6, {"ok": 6})
    assert fake.calls == [6]


def test_a_second_run_says_that_nothing_was_computed(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study]) == main(["run", study]) == 0
    assert "already complete" in capsys.readouterr().err
    assert fake.calls == [6]


def test_a_dry_run_prints_the_study_and_writes_nothing(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study, "--dry-run", "--set", "parameters.mu=0.3"]) == 0
    said = capsys.readouterr()
    assert tomllib.loads(said.out)["parameters"] == {"mu": 0.3}
    gravity, size = said.err.splitlines()
    assert gravity.startswith("Note: g = 10 m/s^2 is assumed")
    assert "9.80665" in gravity
    assert size.startswith("6 points")
    assert list(Path.cwd().iterdir()) == []
    assert fake.calls == []
    assert main(["run", study, "--dry-run", "--set", "parameters.k=0.5"]) == 0  # k is an axis
    said = capsys.readouterr()
    assert "Note: parameters.k is a nominal value that no row uses: sweep.axes.k gives k." in said.err
    assert "k" not in tomllib.loads(said.out)["parameters"]


def test_failed_rows_are_status_3(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points.csv").write_text("a0\n1.0\nnan\n")
    (tmp_path / "study.toml").write_text('[sweep]\ndesign = "table"\nfile = "points.csv"\n')
    assert main(["run", str(tmp_path / "study.toml")]) == 3
    said = capsys.readouterr()
    assert "a parameter is not a finite number" in " ".join(said.out.split())
    assert "1 of 2 rows failed" in said.err
    assert fake.calls == [2]


def test_failed_rows_are_listed_with_their_reason(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points.csv").write_text("a0,mu\n1.0,0.1\nnan,0.1\n2.0,0.1\ninf,0.1\n")
    (tmp_path / "study.toml").write_text('[output]\nshard_points = 2\n[sweep]\ndesign = "table"\nfile = "points.csv"\n')
    assert main(["run", str(tmp_path / "study.toml")]) == 3
    capsys.readouterr()
    assert main(["show", "runs/study", "--failed"]) == 0
    said = capsys.readouterr()
    assert [line.split()[:2] for line in said.out.splitlines()[2:]] == [["1", "nan"], ["3", "inf"]]
    assert "a parameter is not a finite number" in said.out
    assert said.err == "2 of 4 rows failed.\n"
    assert main(["show", "runs/study", "--failed", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["point"], row["a0"], row["wear_power"]) for row in rows] == [(1, None, None), (3, None, None)]
    assert main(["run", str(tmp_path / "study.toml"), "--set", "sweep.design=grid", "--set", "sweep.file=x"]) == 2
    assert sum(fake.calls) == 4


def test_show_tells_where_the_time_went(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study]) == 0
    assert main(["show", "runs/six", "--failed"]) == 0
    assert capsys.readouterr().err.endswith("0 of 6 rows failed.\n")
    assert main(["show", "runs/six"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "added over all threads: compiling 0.25 s, computing 0.50 s; beside them encoding" in shown
    assert "s on the clock; added" in shown
    assert "12 rows a second of computing" in shown
    assert "waiting" in shown
    assert main(["show", "runs/six", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert (state["seconds_of_shards"]["computing"], state["rows_per_second"], state["writers"]) == (0.5, 12.0, [])
    assert fake.calls == [6]


def test_an_interrupted_run_is_status_130_and_says_how_to_go_on(fake: FakeKernels, small_shards: int, study: str, capsys: Captured) -> None:
    setting = ["--set", "sweep.axes.a0={ from = 1, to = 2, count = 30 }"]
    fake.fail_at = 3
    assert main(["run", study, *setting, "--out", "my runs/1"]) == 130
    told = capsys.readouterr().err
    assert "tribosweep resume 'my runs/1'" in told
    assert main(["show", "my runs/1"]) == 0
    assert f"incomplete: {3 * small_shards} of 90 points" in capsys.readouterr().out
    fake.fail_at = -1
    assert main(["resume", "my runs/1"]) == 0
    assert sum(fake.calls) == 90
    assert main(["run", "my runs/1/config.toml", "--out", "my runs/1"]) == 0
    assert "already complete" in capsys.readouterr().err
    assert sum(fake.calls) == 90


def test_a_directory_of_another_study_is_status_2(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study]) == 0
    assert main(["run", study, "--set", "parameters.mu=0.3"]) == 2
    assert "parameters.mu: 0.2 there, 0.3 here" in capsys.readouterr().err
    assert fake.calls == [6]


def test_a_full_disk_is_a_sentence(fake: FakeKernels, study: str, capsys: Captured) -> None:
    fake.fail_at, fake.error = 0, OSError(28, "No space left on device", "runs/six")
    assert main(["run", study, "--set", "parameters.g=10"]) == 2
    told = capsys.readouterr().err
    assert told == "runs/six: No space left on device. What is written is whole; to go on:\n  tribosweep resume runs/six\n"


def test_a_defect_is_a_sentence_and_a_traceback_only_on_demand(
    fake: FakeKernels, study: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.fail_at, fake.error = 0, ZeroDivisionError("of ours")
    assert main(["run", study]) == 70
    told = capsys.readouterr().err
    assert "ZeroDivisionError: of ours" in told
    assert "Traceback" not in told
    monkeypatch.setenv("TRIBOSWEEP_TRACEBACK", "1")
    assert main(["run", study]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["run"], ["nothing"], ["list", "nothing of this"], ["show", "nowhere"], ["run", "--nothing", "x"], []]
)
def test_wrong_usage_is_status_2(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_everything_that_a_study_can_name_is_listed(capsys: Captured) -> None:
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    for topic, name, things in (
        ("parameters", "parameter", lambda model: model.parameters),
        ("observables", "observable", lambda model: model.observables),
    ):
        for model in MODELS.values():
            named = [row[name] for row in listed[topic] if model.name in row["models"].split(", ") and row["kind"] != "file"]
            assert sorted(named) == sorted(q.name for q in things(model))
    assert [row["default"] for row in listed["parameters"] if row["parameter"] == "mu"] == ["0.1", "0"]
    (word,) = (row for row in listed["parameters"] if row["parameter"] == "damping_criterion")
    assert (word["kind"], word["default"], word["bounds"]) == ("word", "included", "included or excluded")
    (file,) = (row for row in listed["parameters"] if row["parameter"] == "table")
    assert (file["kind"], "CSV or Parquet file" in file["description"]) == ("file", True)
    (table,) = (row for row in listed["parameters"] if row["parameter"] == "post_set")
    assert (table["kind"], table["default"], table["bounds"], table["unit"]) == ("list", "[]", "each >= 0", "m")
    for topic in listed:
        assert main(["list", topic]) == 0
        assert capsys.readouterr().out.startswith(topic)


def test_doctor_is_content_with_a_sound_installation_and_status_4_otherwise(
    fake: FakeKernels, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "no known problem" in said
    assert re.search(r"studies +ok +\d+ in /", said)
    from tribosweep.kernels.runtime import jax_faults, jax_setup

    monkeypatch.setattr(jax_setup, "problems", lambda: ["jax 0.10.2 returns wrong numbers"])
    monkeypatch.setattr(jax_faults, "problems", lambda: ["jax 0.13.1 cannot load the programs"])
    assert main(["doctor"]) == 4
    said = capsys.readouterr().out
    assert "jax 0.10.2 returns wrong numbers" in said
    assert "jax 0.13.1 cannot load the programs" in said
    assert fake.calls == []


def test_doctor_says_where_programs_are_kept_or_why_not(
    fake: FakeKernels, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tribosweep.kernels.runtime import program_cache

    monkeypatch.setattr(program_cache, "use", lambda: tmp_path)
    assert main(["doctor", "--json"]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    monkeypatch.setattr(program_cache, "use", lambda: None)
    monkeypatch.setattr(program_cache, "why_not", lambda: "/shared can be written to by others")
    assert main(["doctor", "--json"]) == 0
    assert "not kept: /shared can be written to by others" in capsys.readouterr().out
    assert fake.calls == []


def test_a_jax_that_cannot_start_is_a_sentence_with_its_settings(
    fake: FakeKernels, study: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> dict[str, str]:
        raise AssertionError

    from tribosweep.kernels.runtime import jax_setup

    monkeypatch.setattr(jax_setup, "describe", broken)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert main(["doctor", "--json"]) == 4
    assert "JAX cannot start (AssertionError)" in capsys.readouterr().out
    assert main(["run", study]) == 2
    said = capsys.readouterr().err
    assert "JAX cannot start (AssertionError); the environment has" in said
    assert "JAX_PLATFORMS=cuda" in said
    assert list(Path.cwd().iterdir()) == []
    assert fake.calls == []


@pytest.mark.slow
def test_doctor_sees_that_jax_had_started_before() -> None:
    script = "import jax; jax.devices(); import sys; from tribosweep.sweep.cli import main; sys.exit(main(['doctor']))"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT, env=clean)
    assert done.returncode == 4
    assert "JAX had started before tribosweep" in " ".join(done.stdout.split())


def test_what_is_wrong_with_the_setup_is_said_after_a_run(
    fake: FakeKernels, study: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tribosweep.kernels.runtime import jax_setup

    monkeypatch.setattr(jax_setup, "problems", lambda: ["float64 is off"])
    assert main(["run", study]) == 0
    assert "Warning: float64 is off." in capsys.readouterr().err
    assert fake.calls == [6]


def test_a_table_that_is_too_wide_loses_what_it_can_spare_and_breaks_no_word(capsys: Captured) -> None:
    header, row = ["a", "bb\nm", "words", "spared"], [1.0, "x" * 20, "some words that may be wrapped", "y" * 30]
    terminal.print_table("", header, [row], right=["a"], prose=["words"], spare=["spared"], width=60)
    wide = capsys.readouterr().out
    assert "spared" not in wide
    assert max(len(line) for line in wide.splitlines()) <= 60
    assert "x" * 20 in wide
    terminal.print_table("", header, [row], prose=["words"], width=10)
    assert "y" * 30 in capsys.readouterr().out


def test_the_version_is_printed(capsys: Captured) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tribosweep 0.")


def in_bash(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which $tribosweep is the command."""
    environment = {**os.environ, "tribosweep": f"{sys.executable} -m tribosweep.sweep.cli"}
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False, cwd=ROOT, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_a_closed_pipe_ends_the_command_quietly(reader: str) -> None:
    done = in_bash(f"$tribosweep list --json | {reader}")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_failure(closed: str) -> None:
    done = in_bash(f"$tribosweep list models {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_full_disk_behind_stdout_is_a_sentence() -> None:
    done = in_bash("$tribosweep list > /dev/full")
    assert done.returncode == 2
    assert done.stderr.endswith(": No space left on device\n")


def test_no_escape_sequences_reach_a_pipe(fake: FakeKernels, study: str, capsys: Captured) -> None:
    assert main(["run", study]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert fake.calls == [6]


STOPPED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
def wait(*_):
    print("ready", flush=True)
    {wait}
{replace}
from tribosweep.sweep.cli import console
console()
"""
PLACES = {
    "while a study is read": ("import tribosweep.sweep.cli.runs", "time.sleep(60)", "tribosweep.sweep.cli.runs.load = wait"),
    **{
        f"while packages are imported, at {package}": (
            "",
            "time.sleep(60)",
            (
                "import importlib.abc\nclass Slow(importlib.abc.MetaPathFinder):\n    def find_spec(self, name, *_):\n"
                f"        if name == {package!r}: wait()\nsys.meta_path.insert(0, Slow())"
            ),
        )
        for package in ("numpy", "typer")  # the first and the last that take time
    },
    "while an object is cleaned up": (
        "import tribosweep.sweep.cli.runs\nclass Slow:\n    def __del__(self): time.sleep(60)",
        "Slow(); time.sleep(60)",
        "tribosweep.sweep.cli.runs.load = wait",
    ),
    "where a package makes another exception of it": (
        "import tribosweep.sweep.cli.runs",
        "try: time.sleep(60)\n    except BaseException: raise ValueError",
        "tribosweep.sweep.cli.runs.load = wait",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("place", PLACES)
def test_a_signal_ends_the_command_anywhere_with_its_status(place: str, number: int, status: int) -> None:
    before, wait, replace = PLACES[place]
    script = STOPPED.format(before=before, wait=wait, replace=replace)
    with subprocess.Popen(
        [sys.executable, "-c", script, "run", "study.toml"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, told = process.communicate(timeout=20)
    assert process.returncode == status
    assert "Traceback" not in told
    assert "Interrupted." in told or place.startswith(("while packages", "where a package"))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread"), OSError(11, "Resource temporarily unavailable")])
def test_a_lack_of_memory_or_threads_is_status_71(fake: FakeKernels, study: str, capsys: Captured, error: BaseException) -> None:
    fake.fail_at, fake.error = 0, error
    assert main(["run", study]) == 71
    told = capsys.readouterr().err
    assert "enough memory" in told or "no more threads" in told
    assert "tribosweep resume runs/six" in told


def test_nothing_commands_the_terminal(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    evil = "\x1b[2J\x07\x9b1m\u202e[red]"
    (tmp_path / f"{evil}.toml").write_text(
        f'[parameters]\n{json.dumps(evil)} = 1.0\n[sweep]\ndesign = "table"\nfile = "{json.dumps(evil)[1:-1]}.csv"\n'
    )
    (tmp_path / f"{evil}.csv").write_text(f"{evil},a0\n{evil},1.0\n")
    for arguments in (
        ["run", str(tmp_path / f"{evil}.toml")], ["show", evil], [evil], ["list", evil], ["run", f"--{evil}"], ["show", "x", evil],
        ["run", "nowhere", "--set", evil],
    ):  # fmt: skip
        assert main(arguments) == 2
        said = capsys.readouterr()
        assert not [letter for letter in said.out + said.err if letter in "\x1b\x07\x9b\u202e"]
        assert said.err
    terminal.print_table(evil, [evil], [[evil]])
    terminal.print_json({evil: evil})
    said = capsys.readouterr()
    assert not [letter for letter in said.out + said.err if letter in "\x1b\x07\x9b\u202e"]
    assert said.out.count("\\x1b[2J\\x07\\x9b1m\\u202e[red]") == 3
    assert json.loads(said.out[said.out.index("{") :]) == {evil: evil}
    assert fake.calls == []


def test_a_null_character_in_an_argument_is_a_sentence(capsys: Captured) -> None:
    assert main(["show", "a\0b"]) == 2
    assert "null character" in capsys.readouterr().err


@pytest.mark.parametrize(("last", "status", "said"), [("end", 0, ""), ("slip", 3, "Point 0 has no end: its events stop at t = 0 s")])
def test_events_that_stop_before_the_end_of_their_run_are_said_to(
    last: str, status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    from tribosweep.kernels import time_history

    columns = {quantity.name: np.zeros(2) for quantity in time_history.EVENT_COLUMNS} | {"event": np.array(["start", last], object)}
    monkeypatch.setattr(time_history, "event_log", lambda *_, **__: columns)
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0]\n")
    assert main(["events", "study.toml"]) == status
    assert said in capsys.readouterr().err
    monkeypatch.setattr(result, "MOST_LINES", 1)
    assert main(["events", "study.toml"]) == status
    told = capsys.readouterr()
    assert (told.err.split(";")[0], last in told.out) == ("The first 1 of 2 events are listed", False)
    found = Run(Path("study.toml"), load("study.toml"), True, {}, {}, 0).events()
    assert (found.to_pandas()["event"].tolist(), found.to_pandas().attrs["units"]["a"]) == (["start", last], "m/s^2")
    assert (found.has_failures, repr(found)) == (last != "end", "<Events of 'study': 2 events>")
    assert all("--" not in note for note in found.notes)
    assert main(["events", "study.toml", "--out", "events.png"]) == 2
    assert "events.png: must end in .csv or .parquet" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="Events has no picture"):
        found.plot()


def test_a_swept_parameter_is_shown_where_the_first_rows_have_one_value(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    text = "[parameters]\ng = 9.80665\n[sweep.axes]\na0 = [1.0, 2.0]\nk = [3.0]\nmu = { from = 0.1, to = 0.5, count = 50 }\n"
    (tmp_path / "grid.toml").write_text(text)
    assert main(["run", str(tmp_path / "grid.toml")]) == 0
    capsys.readouterr()
    assert main(["show", "grid"]) == 0
    header = next(line.split() for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["point"])
    assert header[:3] == ["point", "a0", "mu"]  # k has one value


def test_every_column_of_a_table_of_points_is_shown(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "points.csv").write_text("a0,mu\n" + "\n".join(f"{1 + n // 100},{0.1 + 0.001 * n}" for n in range(200)))
    (tmp_path / "table.toml").write_text('[parameters]\ng = 9.80665\n[sweep]\ndesign = "table"\nfile = "points.csv"\n')
    assert main(["run", str(tmp_path / "table.toml")]) == 0
    capsys.readouterr()
    assert main(["show", "table"]) == 0
    assert any(line.split()[:3] == ["point", "a0", "mu"] for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", True),
        ("[parameters]\nmu = 0.3\n", True),
        ("[parameters]\ng = 10\n", False),
        ("[parameters]\nnormal_force = 3.0\n", False),
        ("[parameters]\nmu = 0.0\n", False),
        ("[sweep.axes]\nmu = [0.1, 0.2]\n", True),
        ("[sweep.axes]\ng = [9.81, 10.0]\n", False),
        ('[study]\nmodel = "stop"\n', False),
        ('[study]\nmodel = "stop"\n[parameters]\nmu = 0.2\n', True),
    ],
)
def test_an_assumed_gravity_is_said_where_it_counts(text: str, said: bool, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "g.toml").write_text(text)
    assert main(["run", str(tmp_path / "g.toml"), "--dry-run"]) == 0
    assert ("g = 10 m/s^2 is assumed" in capsys.readouterr().err) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[study]\nmodel = "stop"\n[parameters]\nmu_s = 0.2\n', "mu_d = 0, the default of mu, is assumed while the mass slips"),
        ("[sweep.axes]\nmu_s = [0.2, 0.3]\n", "mu_d = 0.1, the default of mu, is assumed"),
        ("[parameters]\nmu_s = 0.2\nmu_d = 0.1\n", ""),
        ("[parameters]\nmu = 0.2\n[sweep.axes]\nmu_s = [0.2, 0.3]\n", ""),
        ('[study]\nmodel = "stop"\n[parameters]\nmu_s = 0.0\n', ""),
    ],
)
def test_dynamic_friction_is_said_where_static_friction_alone_is_given(text: str, said: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "friction.toml").write_text(text)
    assert main(["run", str(tmp_path / "friction.toml"), "--dry-run"]) == 0
    told = capsys.readouterr().err
    assert (said in told) if said else ("mu_d =" not in told)


def test_a_directory_of_a_calibration_says_what_it_holds(capsys: Captured) -> None:
    folder = Path("runs") / "fit"
    folder.mkdir(parents=True)
    (folder / "calibration.parquet").write_bytes(b"")
    assert main(["show", "fit"]) == 2
    assert "holds a calibration, not a run: calibration.parquet has the values" in capsys.readouterr().err


def test_a_name_that_is_neither_a_file_nor_a_shipped_study_leads_to_the_list(capsys: Captured) -> None:
    assert main(["run", "nothere"]) == 2
    assert "nor a study of that name that comes with tribosweep (`tribosweep list studies`)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_narrow_table_of_events_keeps_the_forces_and_says_what_it_leaves_out(tmp_path: Path, capsys: Captured) -> None:
    study = '[study]\nmodel = "stop"\n[parameters]\nk = 1.0\nmu = 0.1\ngap = 0.1\nv0 = 1.2345678\n[time]\nend = 3.1234567\n'
    (tmp_path / "stop.toml").write_text(study)
    assert main(["events", str(tmp_path / "stop.toml")]) == 0
    told = capsys.readouterr()
    header = told.out.splitlines()[0].split()
    assert header[-2:] == ["friction_force", "wall_force"]
    left_out = re.search(r"Too wide for this table: (.*); --json and --out give all", told.err)
    assert left_out is not None
    assert "wall_work" in left_out[1].split(", ")
    assert not {*left_out[1].split(", ")} & {*header}


def test_exit_statuses_and_row_statuses_are_listed(capsys: Captured) -> None:
    assert main(["list", "exits", "--json"]) == 0
    listed = {int(row["exit status"]) for row in json.loads(capsys.readouterr().out)["exits"]}
    assert {0, 2, 3, 4, 130} < listed
    assert main(["list", "statuses"]) == 0
    assert "a parameter is not a finite number" in capsys.readouterr().out


MEASURED = "a0,force\n1.0,2.0\n2.0,3.0\n"
WRITERS = {  # command that writes the resolved study as config.toml -> the section of its own
    "run": "[sweep.axes]\na0 = [1.0, 2.0]\n",
    "branches": "[parameters]\na0 = 5.0\nk = 1.0\n[branches.along]\nmu = { from = 0.1, to = 0.5 }\n",
    "optimise": '[parameters]\nv0 = 2.0\na0 = 0.0\n[optimise]\nmaximise = "wear_energy"\nvariables.mu = { from = 0.1, to = 0.9 }\n',
    "calibrate": '[calibration]\ndata = "measured.csv"\nfree.mu = { from = 0.1, to = 0.9 }\n'
    'compare.wear_power = { column = "force", sd = 0.1 }\n',
}


@pytest.mark.parametrize("command", WRITERS)
def test_a_config_toml_of_its_author_is_never_replaced(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tribosweep.sweep.analysis.optimisation.analysis.carry_out", None)
    monkeypatch.setattr("tribosweep.sweep.analysis.calibration.analysis.carry_out", None)
    text = f"# what I know\n{WRITERS[command]}"
    Path("config.toml").write_text(text)
    Path("measured.csv").write_text(MEASURED)
    assert main([command, "config.toml", "--out", "."]) == 2
    assert re.search(r"the directory is not empty|its config.toml would be replaced", said := capsys.readouterr().err), said
    assert "--out" in said or command == "run"
    assert Path("config.toml").read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "measured.csv"]
