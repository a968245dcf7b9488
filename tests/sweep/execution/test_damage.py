"""Damage after the end of a run: every reader sees it, `check` names it, `check --repair` undoes it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.conftest import FakeKernels
from tests.sweep.execution.scenarios import SAMPLE, install, plane
from tribosweep.sweep import ConfigError, load, run
from tribosweep.sweep.analysis.run_state import state_of
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import job
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.integrity import check_run

STUDY: dict[str, Any] = {"study": {"name": "grid"}, "sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 45}}}}
Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("small_shards")


def flip(path: Path, place: int, bit: int = 3) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def shard(run: Path, number: int) -> Path:
    """The file of a shard."""
    return run / "points" / f"part-{number:06d}.parquet"


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "a flipped bit of a shard": (lambda run: flip(shard(run, 1), 40), "part-000001.parquet: its bytes are not those"),
    "a shard cut short": (lambda run: shard(run, 4).write_bytes(b"PAR1"), "part-000004.parquet: it is cut short"),
    "a shard that is gone": (lambda run: shard(run, 0).unlink(), "_SUCCESS: marks a run of 5 shards as complete, and 4 are there"),
    "a file of somebody else": (lambda run: (run / "points" / "copy.parquet").touch(), "copy.parquet: is not of this run"),
    "a flipped bit of the manifest": (lambda run: flip(run / "manifest.json", 100, 0), "manifest.json: is not as it was written"),
    "a manifest that is gone": (lambda run: (run / "manifest.json").unlink(), "manifest.json: is missing"),
    "a study that was edited": (lambda run: flip(run / "config.toml", 10, 0), "config.toml: is not the study of the run"),
    "a mark of another run": (lambda run: (run / "_SUCCESS").write_text("{}"), "_SUCCESS: marks another run"),
}


@pytest.mark.parametrize(("harm", "sentence"), HARM.values(), ids=HARM.keys())
def test_damage_is_named_and_repaired(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, harm: Callable[[Path], object], sentence: str
) -> None:
    out = tmp_path / "a"
    whole = run(STUDY, out).to_arrow()
    assert main(["check", str(out)]) == 0
    assert capsys.readouterr().out == "7 files, 5 of 5 shards intact, 0 damaged; the run is complete.\n"
    harm(out)
    assert main(["check", str(out), "--json"]) == 4
    said = capsys.readouterr()
    assert sentence in said.err
    assert f"tribosweep check {out} --repair" in said.err
    assert len(json.loads(said.out)["faults"]) == 1
    assert main(["check", str(out), "--repair"]) == 0
    assert "the run is complete" in capsys.readouterr().out
    assert check_run(out).faults == {}
    assert run(STUDY, out).to_arrow().equals(whole)
    assert len(fake.calls) <= 6


def test_a_lost_manifest_is_rebuilt_as_it_was(fake: FakeKernels, tmp_path: Path) -> None:
    run({**STUDY, "sweep": {"axes": {"a0": [1.0 + 0.1 * i for i in range(25)]}}}, tmp_path / "a")
    longer = {**STUDY, "sweep": {"axes": {"a0": [1.0 + 0.1 * i for i in range(45)]}}}
    run(longer, tmp_path / "a", extend=True)
    directory = RunDirectory(tmp_path / "a")
    before = directory.stored_manifest()
    directory.manifest.unlink()
    after = directory.read_manifest()
    assert {key: after[key] for key in after if key not in ("created", "provenance")} == {
        key: before[key] for key in after if key not in ("created", "provenance")
    }
    assert state_of(tmp_path / "a")["state"] == "complete"
    assert len(fake.calls) > 0


def test_a_run_with_damaged_shards_is_not_complete_whatever_its_mark_says(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    run(STUDY, tmp_path / "a")
    flip(shard(tmp_path / "a", 2), 40)
    assert main(["check", str(tmp_path / "a")]) == 4
    assert "4 of 5 shards intact, 1 damaged; the run is not complete." in capsys.readouterr().out
    assert not check_run(tmp_path / "a").complete
    assert fake.calls


@pytest.mark.parametrize("extends", [False, True])
def test_a_run_that_was_stopped_before_its_study_was_written_is_no_damage(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, extends: bool
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    shorter, study = ({**STUDY, "sweep": {"axes": {"a0": [1.0 + 0.1 * i for i in range(count)]}}} for count in (25, 45))
    if extends:
        run(shorter, tmp_path / "a")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(job, "write_text", stop)  # writes config.toml
        run(study, tmp_path / "a", extend=extends)
    assert main(["check", str(tmp_path / "a")]) == 0
    assert "0 damaged; the run is not complete" in capsys.readouterr().out
    assert main(["resume", str(tmp_path / "a")]) == 0
    assert "differs" not in capsys.readouterr().err
    assert (tmp_path / "a" / "config.toml").read_text() == load(study).to_toml()
    assert fake.calls


def test_a_run_that_is_not_complete_is_no_damage(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    fake.fail_at = 3
    with pytest.raises(KeyboardInterrupt):
        run(STUDY, tmp_path / "a")
    assert main(["check", str(tmp_path / "a")]) == 0
    assert "the run is not complete" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "nowhere")]) == 2
    assert "holds no run of tribosweep" in capsys.readouterr().err


READERS: dict[str, Callable[[Path, Path], object]] = {
    "to_arrow": lambda out, _: Dataset(out).table(),
    "show": lambda out, _: main(["show", str(out)]),
    "map": lambda out, picture: main(["map", str(out), "--out", str(picture.with_suffix(".svg"))]),
    "report": lambda out, picture: main(["report", str(out), "--out", str(picture.with_suffix(".html"))]),
    "sensitivity": lambda out, _: main(["sensitivity", str(out), "--json"]),
    "check": lambda out, _: 2 if main(["check", str(out)]) == 4 else 0,
}
FLIPS = {"to_arrow": 200, "show": 150, "map": 60, "report": 60, "sensitivity": 100, "check": 50}


def read(reader: Callable[[Path, Path], object], out: Path, picture: Path, capsys: Captured) -> tuple[bool, str]:
    """Whether a reader refuses a run, and what it says otherwise."""
    for path in (picture.with_suffix(".svg"), picture.with_suffix(".html")):
        path.unlink(missing_ok=True)
    capsys.readouterr()
    try:
        answer = reader(out, picture)
    except ConfigError:
        return True, ""
    if answer == 2:
        return True, ""
    said = capsys.readouterr()
    files = [path.read_text() for path in (picture.with_suffix(".svg"), picture.with_suffix(".html")) if path.exists()]
    table = str(answer.to_pydict()) if not isinstance(answer, int) else ""
    return False, "".join([said.out, said.err, table, *files])


def warns(said: str, expected: str) -> bool:
    """Whether a text says more often than another one that something is damaged or missing."""
    return any(
        said.count(word) > expected.count(word) for word in ("faulty", "not complete", "incomplete", "differs from the study of this run")
    )


@pytest.mark.long_cases("map", "report")
@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_no_flipped_byte_changes_what_a_reader_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured, name: str) -> None:
    fake, out = install(monkeypatch), tmp_path / "a"
    run(SAMPLE if name == "sensitivity" else plane(6), out)
    picture, chance = tmp_path / "picture", random.Random(5)
    _, expected = read(READERS[name], out, picture, capsys)
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.parent.name != "sensitivity")
    noticed = 0
    for _ in range(FLIPS[name]):
        file = chance.choice(files)
        content = file.read_bytes()
        flip(file, chance.randrange(len(content)), chance.randrange(8))
        refused, said = read(READERS[name], out, picture, capsys)
        # what a reader does not use may be damaged: then it says what it said
        assert refused or said == expected or warns(said, expected), file.name
        assert refused or name != "check", file.name
        noticed += refused or said != expected
        file.write_bytes(content)
    with capsys.disabled():
        print(f"\n{name}: {FLIPS[name]} flips, {noticed} noticed, the others in what it does not read; 0 silent")
    assert fake.calls


def test_readers_name_the_file_and_the_remedy(fake: FakeKernels, tmp_path: Path, capsys: Captured) -> None:
    run(STUDY, tmp_path / "a")
    flip(tmp_path / "a" / "points" / "part-000001.parquet", 40)
    for words in (["show"], ["map", "--out", str(tmp_path / "map.png")], ["report"]):
        assert main([words[0], str(tmp_path / "a"), *words[1:]]) == (2 if words[0] != "show" else 0), words
        said = " ".join("".join(capsys.readouterr()).split())
        if words[0] != "show":
            assert "part-000001.parquet: 1 problem its bytes are not those that were written" in said
            assert "tribosweep check" in said
    assert fake.calls
