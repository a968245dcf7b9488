"""Answers that are kept in a directory, so that a search that was ended goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tribosweep import sweep
from tribosweep.sweep.analysis.optimisation.evaluation import Evaluator
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import answers
from tribosweep.sweep.execution.answers import POINTS, Answers

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


def test_what_is_known_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "EVERY", -1.0)
    first = Answers(tmp_path, POINTS, "it").of("squares", PLACES[:2], squares)
    asked = []

    def counted(points: np.ndarray) -> np.ndarray:
        asked.append(points.tolist())
        return squares(points)

    later = Answers(tmp_path, POINTS, "it")
    np.testing.assert_array_equal(later.of("squares", PLACES[[2, 0, 1]], counted), squares(PLACES[[2, 0, 1]]))
    assert asked == [[[5.0, 6.0]]]
    np.testing.assert_array_equal(first, squares(PLACES[:2]))
    later.of("others", PLACES[:1], counted)
    Answers(tmp_path, POINTS, "another").of("squares", PLACES[:1], counted)
    assert asked[1:] == 2 * [[[1.0, 2.0]]]


def test_a_damaged_file_is_left_out_and_large_answers_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "EVERY", -1.0)
    Answers(tmp_path, POINTS, "it").of("squares", PLACES, squares)
    for path in sorted(tmp_path.iterdir())[:1]:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert len(Answers(tmp_path, POINTS, "it").known) == 2
    monkeypatch.setattr(answers, "MOST", 50)
    (empty := tmp_path / "empty").mkdir()
    Answers(empty, POINTS, "it").of("squares", PLACES, squares)
    assert len(list(empty.iterdir())) == 1


def test_without_a_directory_nothing_is_kept() -> None:
    none = Answers()
    none.of("squares", PLACES, squares)
    assert not none.known


@pytest.mark.slow
def test_an_optimisation_that_was_ended_goes_on_to_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(answers, "EVERY", -1.0)
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
    assert "The searches go on with the points in part" in capsys.readouterr().err
    assert not [*Path("part").glob(POINTS)]
    for name in ("optima.parquet", "history.parquet", "constraints.parquet"):
        assert Path("part", name).read_bytes() == Path("whole", name).read_bytes()
    assert sum(calls) == every - before
