"""Which directories a study of branches may write into. Nothing is computed here: blocks are empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.sweep.execution.scenarios import PATHS, fake_blocks
from tribosweep import sweep
from tribosweep.sweep.analysis.branching import analysis, results
from tribosweep.sweep.analysis.branching.load import Branching, load
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.lock import hold
from tribosweep.sweep.io import sealed_parquet

STUDY: dict[str, Any] = {
    "study": {"name": "slides"},
    "parameters": {"a0": 5.0, "k": 1.0},
    "branches": {"along": {"mu": {"from": 0.1, "to": 0.5}}},
}
OTHER = {**STUDY, "branches": {"along": {"mu": {"from": 0.2, "to": 0.5}}}}


def complete(directory: Path, branching: Branching) -> None:
    """Write branches as a complete study has them, with no row, and a report of them."""
    results.begin(branching, directory)
    points = branching.config.design.points(0, 1)
    results.write_block(directory, 0, {results.FOLDER: results.block_table(branching, points, [])})
    results.finish(branching, directory)
    (directory / "report.html").write_text("of these branches")


def content(directory: Path) -> dict[str, bytes]:
    """The bytes of every file in a directory."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def refused(study: dict[str, Any], directory: Path) -> str:
    """What is said of a directory into which a study must not write; nothing in it may change."""
    before = content(directory)
    with pytest.raises(sweep.ConfigError) as caught:
        results.begin(load(study), directory)
    assert content(directory) == before
    return str(caught.value)


def test_branches_of_another_study_stay_as_they_are(tmp_path: Path) -> None:
    complete(tmp_path, load(STUDY))
    said = refused(OTHER, tmp_path)
    assert "the directory holds another study; give another one with --out, or remove it. Differences:" in said
    assert "branches.along.mu.from: 0.1 there, 0.2 here" in said
    (tmp_path / "config.toml").unlink()
    assert "the directory holds another study" in refused(OTHER, tmp_path)
    (tmp_path / "config.toml").write_text("sweep = 3")
    assert "the directory holds another study" in refused(OTHER, tmp_path)


def test_unfinished_branches_are_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(tmp_path, load(STUDY))
    (tmp_path / "branches.parquet").unlink()
    assert main(["show", str(tmp_path)]) == 2
    assert "holds unfinished branches, not a run: tribosweep branches completes them" in capsys.readouterr().err
    assert results.holds_branches(tmp_path)


def test_the_command_refuses_them_and_names_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "slides.toml", tmp_path / "out"
    file.write_text("[parameters]\na0 = 5.0\nk = 1.0\n[branches]\nalong = { mu = { from = 0.1, to = 0.5 } }\n")
    complete(out, load(file))
    before = content(out)
    assert main(["branches", str(file), "--out", str(out), "--set", "branches.places=3"]) == 2
    said = capsys.readouterr().err
    assert "the directory holds another study; give another one with --out, or remove it. Differences:" in said
    assert "branches.places: not set there, 3 here" in said
    assert content(out) == before


def test_a_report_refuses_every_option_that_is_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(tmp_path, load(STUDY))
    assert main(["report", str(tmp_path), "--traces", "0", "--over", "draw", "--out", str(tmp_path / "other.html")]) == 2
    said = capsys.readouterr().err
    assert "--traces: is of runs: the report of branches has none" in said
    assert "--over: is of runs" in said


def test_branches_of_another_version_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete(tmp_path, load(STUDY))
    monkeypatch.setattr(results, "VERSION", "999.0")
    assert "another version of tribosweep computed its branches" in refused(STUDY, tmp_path)
    with pytest.raises(sweep.ConfigError, match="is of another version of tribosweep, or of another study: give"):
        results.read(tmp_path)


def test_files_that_are_none_of_branches_are_not_mixed_with_them(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert "the directory is not empty and holds no branches; give another one with --out" in refused(STUDY, tmp_path)
    points = tmp_path / "other" / "points"
    points.mkdir(parents=True)
    (points / "block-00000.parquet").write_text("no Parquet")
    assert "holds no branches" in refused(STUDY, tmp_path / "other")
    mine = tmp_path / "mine"
    mine.mkdir()
    text = '# why\nstudy.name = "slides"\nparameters = { a0 = 5.0, k = 1.0 }\nbranches.along.mu = { from = 0.1, to = 0.5 }\n'
    (mine / "config.toml").write_text(text)
    assert "holds no branches" in refused(STUDY, mine)  # though it is the same study, its author wrote it
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(sweep.ConfigError, match="is not a directory; give another one with --out"):
        results.begin(load(STUDY), file)


def test_the_same_study_goes_on_and_keeps_what_is_whole(tmp_path: Path) -> None:
    (tmp_path / "points").mkdir()  # of a call that was killed before it wrote its study
    (tmp_path / ".tribosweep-0123456789abcdef.tmp").write_text("")
    (tmp_path / ".lock").write_text("")
    complete(tmp_path, load(STUDY))
    block = results.block_file(tmp_path, 0)
    before = block.read_bytes()
    results.begin(load(STUDY), tmp_path)
    assert block.read_bytes() == before
    assert (tmp_path / "report.html").exists()
    complete(tmp_path, load(tmp_path / "config.toml"))  # the written study is this study
    block.write_bytes(before[:-50])
    (tmp_path / "notes.txt").write_text("mine")
    results.begin(load(STUDY), tmp_path)
    assert sorted(content(tmp_path)) == [".lock", "config.toml", "notes.txt"]  # a report of damaged branches goes with them


def test_a_block_with_a_gap_is_computed_again(tmp_path: Path) -> None:
    study = load({**STUDY, "parameters": {"k": 1.0}, "sweep": {"axes": {"a0": [5.0]}}})
    complete(tmp_path, study)
    block = results.block_file(tmp_path, 0)
    table = sealed_parquet.read(block)
    row: dict[str, Any] = dict.fromkeys(table.column_names, 0) | {"stable": True, "special": "", "passage": "", "regime": "", "origin": "",
           "begins": "", "ends": "", "multiplier_re": [], "multiplier_im": []}  # fmt: skip
    assert row.keys() >= {"mu", "a0"}
    for gap, there in [(None, True), *((name, False) for name in {*results.WHOLE, "mu", "a0"} & {*table.column_names})]:
        changed = pa.Table.from_pylist([{**row, **({gap: None} if gap else {})}], schema=table.schema)
        block.write_bytes(sealed_parquet.to_bytes(changed))
        assert results.is_there(study, tmp_path, 0) == there, gap


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")
@pytest.mark.parametrize("written_as", [False, True])
def test_a_reader_with_other_types_of_texts_takes_the_same_tables(written_as: bool, tmp_path: Path) -> None:
    """Texts of a table are those of Python or of Arrow by the release of pandas."""
    with pd.option_context("future.infer_string", written_as):
        complete(tmp_path, load(STUDY))
    with pd.option_context("future.infer_string", not written_as):
        assert results.read(tmp_path).branches.schema.field("origin").type == pa.string()


def test_the_file_that_is_damaged_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load(PATHS)
    monkeypatch.setattr(analysis, "block_tables", fake_blocks)
    analysis.carry_out(study, tmp_path)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.parquet"))
    assert len(files) == 5
    for file in files:
        whole = (tmp_path / file).read_bytes()
        (tmp_path / file).write_bytes(whole[:-50])
        with pytest.raises(sweep.ConfigError) as caught:
            results.read(tmp_path)
        assert str(file) in str(caught.value).replace("\\", "/")
        (tmp_path / file).write_bytes(whole)


def test_a_value_of_the_parameter_that_changes_has_no_say(tmp_path: Path) -> None:
    started = load({**STUDY, "parameters": {**STUDY["parameters"], "mu": 0.2}})
    complete(tmp_path, started)
    results.begin(started, tmp_path)
    results.finish(started, tmp_path)
    assert results.digest(results.read(tmp_path).branching) == results.digest(load(STUDY)) == results.digest(started)


def test_one_process_at_a_time_writes_branches(tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(sweep.ConfigError, match="is being written by process"):
        analysis.carry_out(load(STUDY), tmp_path)
    assert not content(tmp_path)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(sweep.ConfigError, match="holds no branches"):
        analysis.carry_out(load(STUDY), tmp_path)
    assert sorted(content(tmp_path)) == ["thesis.tex"]


def test_blocks_count_every_point_of_the_study() -> None:
    for count, blocks in ((1, 1), (results.BLOCK, 1), (results.BLOCK + 1, 2)):
        axes = {"a0": np.linspace(1.0, 2.0, count).tolist()}
        assert results.block_count(load({**STUDY, "parameters": {"k": 1.0}, "sweep": {"axes": axes}})) == blocks
