"""Answers that are kept in a directory, so that a search that was ended goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tribosweep import sweep
from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import answers
from tribosweep.sweep.execution.answers import OF_OPTIMISE, Answers, files_in, forget
from tribosweep.sweep.execution.directory import BRANCHED, CALIBRATED, OPTIMISED

PLACES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
STUDY = """
[study]
name = "brake"
[parameters]
v0 = 2.0
g = 9.81
[time]
end = 3.0
[optimise]
maximise = "wear_energy"
constraints = ["slip_distance <= 50 cm"]
starts = 2
[optimise.variables.mu]
from = 0.1
to = 0.9
"""


def squares(points: np.ndarray) -> np.ndarray:
    return np.column_stack([points**2, points.sum(axis=1), np.full(len(points), np.nan)])


def opened(folder: Path, identity: str = "it") -> Answers:
    return Answers(folder, OF_OPTIMISE, identity)


def kept(folder: Path, points: np.ndarray = PLACES, identity: str = "it") -> None:
    """What a process leaves that ends with an error behind the answers at some points."""
    with pytest.raises(KeyboardInterrupt), opened(folder, identity) as answers:
        answers.of("squares", points, 4, squares)
        raise KeyboardInterrupt


def test_what_is_known_is_not_computed_again(tmp_path: Path) -> None:
    kept(tmp_path, PLACES[:2])
    asked = []

    def counted(points: np.ndarray) -> np.ndarray:
        asked.append(points.tolist())
        return squares(points)

    later = opened(tmp_path)
    assert later.there == 2
    np.testing.assert_array_equal(later.of("squares", PLACES[[2, 0, 1]], 4, counted), squares(PLACES[[2, 0, 1]]))
    assert asked == [[[5.0, 6.0]]]
    later.of("others", PLACES[:1], 4, counted)
    other = opened(tmp_path, "another")
    assert (other.there, other.going_on("points")) == (0, "The same command begins anew, with the same numbers.")
    other.of("squares", PLACES[:1], 4, counted)
    assert asked[1:] == 2 * [[[1.0, 2.0]]]


def test_whole_batches_are_written_and_ever_more_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(answers.time, "monotonic", lambda: now[0])
    known = opened(tmp_path)
    there = []
    for number in range(12):
        now[0] += 6.0
        known.of("squares", PLACES + 10.0 * number, 4, squares)
        there.append(opened(tmp_path).there)
    assert there == [3, 3, 9, 9, 9, 9, 21, 21, 21, 21, 21, 21]  # once 5, 10 and 20 s have passed, at 6, 18 and 42 s


def test_a_damaged_file_and_answers_of_another_length_count_as_missing(tmp_path: Path) -> None:
    kept(tmp_path)
    assert opened(tmp_path).of("squares", PLACES, 3, lambda points: squares(points)[:, :3]).shape == (3, 3)
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert opened(tmp_path).there == 0


def test_no_more_is_kept_or_read_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path)
    monkeypatch.setattr(answers, "MOST", 2 * (answers.OVERHEAD + 32))
    assert opened(tmp_path).there == 2
    kept(tmp_path / "new")
    assert opened(tmp_path / "new").there == 2


def test_where_nothing_can_be_written_the_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    known = opened(tmp_path / "file")
    for _ in range(2):
        known.written = -100.0
        np.testing.assert_array_equal(known.of("squares", PLACES, 4, squares), squares(PLACES))
    assert known.interval == np.inf


def test_files_of_others_are_neither_read_nor_removed(tmp_path: Path) -> None:
    kept(tmp_path)
    (mine,) = tmp_path.iterdir()
    others = [tmp_path / "points-1.parquet", tmp_path / "optimise_answers_mine.parquet", tmp_path / f"{mine.stem[:-1]}g.parquet"]
    for path in others:
        path.write_bytes(mine.read_bytes())
    (folder := tmp_path / f"{mine.stem[:-1]}{'1' if mine.stem[-1] != '1' else '2'}.parquet").mkdir()
    (link := tmp_path / f"{mine.stem[:-2]}{'00' if not mine.stem.endswith('00') else '11'}.parquet").symlink_to(others[0])
    assert opened(tmp_path).files() == [mine]
    forget(tmp_path, OF_OPTIMISE)
    assert {*tmp_path.iterdir()} == {*others, folder, link}


def test_without_a_directory_nothing_is_kept() -> None:
    none = Answers()
    none.of("squares", PLACES, 4, squares)
    assert not none.known


def test_nothing_is_kept_of_a_law_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = sweep.load({"parameters": {"a0": 1.0}})
    assert answers.answers_of(tmp_path, OF_OPTIMISE, config, ["mu"], "").folder == tmp_path
    monkeypatch.setattr(answers.outside_laws, "laws", lambda: {"mu": None})  # its files may change
    assert answers.answers_of(tmp_path, OF_OPTIMISE, config, ["mu"], "").folder is None


@pytest.mark.parametrize(("name", "what"), [(OPTIMISED, "optimisation"), (CALIBRATED, "calibration"), (BRANCHED, "branches")])
def test_a_folder_in_place_of_results_is_none_that_a_command_completes(
    name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir()
    assert main(["show", str(tmp_path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"holds no run, and no {what} that tribosweep has written: {name} is no file" in said


@pytest.mark.slow
def test_an_optimisation_that_was_ended_goes_on_to_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("brake.toml").write_text(STUDY)
    compute, calls, ends_at = Evaluator.new_rows, list[int](), 0

    def ended(self: Evaluator, coordinates: np.ndarray) -> object:
        calls.append(len(coordinates))
        if len(calls) == ends_at:
            raise KeyboardInterrupt
        return compute(self, coordinates)

    monkeypatch.setattr(Evaluator, "new_rows", ended)
    sweep.optimise("brake.toml", out="whole")
    every, ends_at = sum(calls), 4
    calls.clear()
    assert main(["optimise", "brake.toml", "--out", "part"]) == 130
    assert "goes on with the points that are there" in capsys.readouterr().err
    assert main(["show", "part"]) == 2
    assert "an unfinished optimisation, not a run: tribosweep optimise completes it" in " ".join(capsys.readouterr().err.split())
    before, ends_at = sum(calls[:3]), 0
    calls.clear()
    assert main(["optimise", "brake.toml", "--out", "part"]) == 0
    assert "The searches go on with what is known of" in capsys.readouterr().err
    assert not files_in(Path("part"), OF_OPTIMISE)
    for name in ("optima.parquet", "history.parquet", "constraints.parquet"):
        assert Path("part", name).read_bytes() == Path("whole", name).read_bytes()
    assert sum(calls) == every - before
