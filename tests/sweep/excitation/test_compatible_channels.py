"""Accelerograms of several channels, each with its own response spectrum, and draws that no candidate gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.sweep import ConfigError, RunError, load, run
from tribosweep.sweep.analyses.fragility.curves import analyse
from tribosweep.sweep.analyses.fragility.request import FragilityRequest
from tribosweep.sweep.analyses.spectra.read import read_spectra
from tribosweep.sweep.analyses.spectra.request import SpectraRequest
from tribosweep.sweep.excitation import draws as draws_of
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.response_spectrum import response_spectrum

HORIZONTAL = [[1.0, 2.0], [3.0, 6.0], [8.0, 6.0], [20.0, 3.0]]
VERTICAL = [[1.0, 1.0], [5.0, 4.5], [16.0, 4.5], [20.0, 3.0]]
GIVEN: dict[str, Any] = {"duration": 8.0, "interval": 0.02, "envelope": {"rise": 1.0, "strong": 4.0}}


def body(channels: int, **random: Any) -> dict[str, Any]:
    """A body on a ground that moves along x, y and z as far as there are channels."""
    directions = np.eye(3).tolist()
    return {
        "study": {"name": "body", "model": "body", "scheme": "euler"},
        "structure": {"directions": "xyz"},
        "supports": {"floor": {}},
        "loads": {f"ground_{place}": {"kind": "base", "direction": directions[place], "channel": place} for place in range(channels)},
        "parameters": {"k_n": 1e6},
        "time": {"end": 8.0, "step": 1e-4},
        "excitation": {"random": {**GIVEN, **random}},
        "sweep": {"axes": {"draw": [0, 1]}},
    }


@cache
def two() -> CompatibleChannels:
    """Two horizontal channels with a correlation of 0.6 and an independent vertical one."""
    matrix = [[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]]
    found = load(body(3, response_spectra=[HORIZONTAL, HORIZONTAL, VERTICAL], correlation=matrix)).excitation
    assert isinstance(found, CompatibleChannels)
    return found


@pytest.mark.long
@pytest.mark.slow
def test_each_channel_has_its_own_spectrum() -> None:
    fine = np.geomspace(1.0, 20.0, 211)
    for number in range(2):
        drawn = two().draw(number)
        assert drawn.shape == (3, 401)
        for channel, nodes in zip(drawn, (HORIZONTAL, HORIZONTAL, VERTICAL), strict=True):
            at, sizes = np.log(np.array(nodes)).T
            target = np.exp(np.interp(np.log(fine), at, sizes))
            found = response_spectrum(channel, 0.02, 1.0 / fine, 0.05).acceleration
            assert np.abs(found / target - 1.0).max() < 0.1015


@pytest.mark.long
@pytest.mark.slow
def test_channels_have_the_correlation() -> None:
    starts = [two().starts(number) for number in range(200)]
    variances = np.mean([start[:2].var(axis=1) for start in starts], axis=0)
    assert np.mean([start[0] @ start[1] for start in starts]) / 401 / np.sqrt(variances.prod()) == pytest.approx(0.6, abs=0.04)
    found = np.mean([np.corrcoef(two().draw(number)) for number in range(3)], axis=0)
    assert 0.3 < found[0, 1] < 0.7  # what each channel is corrected by takes some of it
    assert abs(found[0, 2]) < 0.2


@pytest.mark.long
@pytest.mark.slow
def test_channels_that_are_the_same_move_as_one() -> None:
    matrix = [[1.0, 1.0], [1.0, 1.0]]
    found = load(body(2, response_spectrum=HORIZONTAL, correlation=matrix, factors=[1.0, 0.5])).excitation
    assert isinstance(found, CompatibleChannels)
    one, other = found.draw(0)
    assert other == pytest.approx(0.5 * one, abs=1e-6 * np.abs(one).max())


def test_a_study_reads_back_as_itself() -> None:
    first = load(body(2, response_spectrum=HORIZONTAL, factors=[1.0, 2.0 / 3.0], correlation=[[1.0, 0.3], [0.3, 1.0]]))
    again = load(first.document)
    assert again.digest == first.digest
    assert isinstance(first.excitation, CompatibleChannels)
    assert first.excitation.parts[1].accelerations == pytest.approx(2.0 / 3.0 * np.array(HORIZONTAL)[:, 1])
    alone = load(body(1, response_spectrum=HORIZONTAL)).excitation
    assert isinstance(alone, Compatible)


@pytest.mark.long
@pytest.mark.slow
def test_spectra_of_a_study_with_channels_have_the_target_of_each(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(load(body(2, response_spectra=[HORIZONTAL, VERTICAL])).to_toml())
    found = read_spectra([tmp_path / "study.toml"], SpectraRequest(frequencies=[2.0, 4.0], draws=2))
    assert found.names == ("draw 0, channel 0", "draw 0, channel 1", "draw 1, channel 0", "draw 1, channel 1")
    assert found.target is not None
    assert found.target[1] == pytest.approx(np.exp(np.interp(np.log([2.0, 4.0]), np.log([1.0, 5.0]), np.log([1.0, 4.5]))))
    worst = found.worst()
    assert worst is not None
    assert abs(worst[0]) < 0.1015


@pytest.mark.parametrize(
    ("channels", "random", "path", "words"),
    [
        (2, {"response_spectra": [HORIZONTAL]}, "response_spectra", "a load follows channel 1"),
        (2, {"response_spectra": [HORIZONTAL, [[1.0, 2.0]]]}, "response_spectra[1]", "at least 2"),
        (2, {"response_spectra": [HORIZONTAL] * 2, "response_spectrum": HORIZONTAL}, "response_spectra", "leave out one"),
        (2, {"response_spectra": [HORIZONTAL] * 2, "correlation": np.eye(3).tolist()}, "correlation", "2 channels"),
        (2, {"response_spectrum": HORIZONTAL, "factors": [1.0, -1.0]}, "factors", "> 0"),
        (2, {"response_spectra": 3.0}, "response_spectra", "one for each channel"),
        (2, {"response_spectra": [HORIZONTAL] * 2, "match": [0.5, 20.0]}, "match", "response_spectra[0]"),
    ],
)
def test_wrong_keys_are_named(channels: int, random: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(body(channels, **random))
    assert any(each.path == f"excitation.random.{path}" and words in each.message for each in caught.value.problems), caught.value


def test_a_spectrum_is_of_accelerations() -> None:
    study = body(1, response_spectrum=HORIZONTAL)
    study["loads"] = {"push": {"point": "centre", "direction": [1.0, 0.0, 0.0], "channel": 0}}
    with pytest.raises(ConfigError, match="is of base accelerations: loads that are forces have a power spectral density"):
        load(study)


@dataclass(frozen=True)
class Table(draws_of.ChosenDraws):
    """Candidates whose values are 10 n + attempt, and that miss for some (n, attempt)."""

    misses: frozenset[tuple[int, int]]
    duration: float = 1.0
    interval: float = 0.5
    seed: int = 1
    tolerance: float = 0.1

    def candidate(self, number: int, attempt: int) -> np.ndarray | draws_of.Missed:
        """See the class."""
        if (number, attempt) in self.misses:
            return draws_of.Missed(0.5 - 0.1 * attempt, 2.0 + attempt)
        return np.full(3, 10.0 * number + attempt)


def test_the_first_candidate_within_the_tolerance_is_the_draw() -> None:
    drawn = Table(frozenset({(1, 0), (2, 0), (2, 1), (4, 0), (4, 1), (4, 2)}))
    numbers = np.array([0.0, 1.0, 2.0, 4.0, 3.0, np.nan])
    assert drawn.missed(numbers).tolist() == [False, False, False, True, False, False]
    positions, bank = drawn.take(numbers, 6)
    expected = [[0.0], [11.0], [22.0], [0.0], [30.0]]
    np.testing.assert_array_equal(bank[positions[:5].astype(int)], np.repeat(expected, 3, axis=1))
    with pytest.raises(RunError, match=r"draw 4 comes to 30.0 % of its target, at 4 Hz, not to 10 %, in the best of 3 candidates"):
        drawn.draw(4)


@pytest.mark.long
@pytest.mark.slow
def test_candidates_of_a_draw_are_other_draws_and_the_same_in_every_study() -> None:
    one, again = (load(body(1, response_spectrum=HORIZONTAL)).excitation for _ in range(2))
    assert isinstance(one, Compatible)
    assert isinstance(again, Compatible)
    first, second = one.candidate(0, 0), one.candidate(0, 1)
    np.testing.assert_array_equal(second, again.candidate(0, 1))
    np.testing.assert_array_equal(first, one.draw(0))
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.3


@pytest.mark.slow
def test_rows_of_a_draw_that_misses_have_a_status_and_the_others_their_results(
    fake: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Compatible.candidate
    monkeypatch.setattr(Compatible, "candidate", lambda self, n, k: draws_of.Missed(0.3, 2.0) if n == 3 else whole(self, n, k))
    random = {"response_spectrum": HORIZONTAL, **GIVEN}
    axes = {"draw": [0, 3], "mu": [0.1, 0.3], "record_scale": [1.0, 2.0]}
    study = {"study": {"name": "missed"}, "time": {"end": 8.0}, "excitation": {"random": random}, "sweep": {"axes": axes}}
    found = run(study, tmp_path / "run")
    frame = found.to_pandas()
    lost = frame["draw"] == 3
    assert found.complete
    assert found.failed == lost.sum() == 4
    assert frame.loc[lost, "status"].str.contains("response spectrum of this draw misses its target").all()
    assert frame.loc[lost, ["wear_power", "regime"]].isna().all(axis=None)
    assert (frame.loc[~lost, "status"] == "ok").all()
    assert frame.loc[~lost, "wear_power"].to_numpy() == pytest.approx(100.0 * frame.loc[~lost, "mu"])
    curves = analyse(tmp_path / "run", FragilityRequest(event="wear_power > 15", intensity="pga", by="mu"))
    assert np.isnan(curves.rows.x[lost]).all()
    shown = read_spectra([tmp_path / "run"], SpectraRequest(frequencies=2.0, draws=5))
    assert (shown.missed, len(shown.names)) == (("draw 3",), 4)
