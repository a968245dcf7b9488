"""Random loads of several channels: their covariances and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep.sweep.excitation.correlated import Correlated, decaying
from tribosweep.sweep.excitation.spectrum import Spectrum
from tribosweep.sweep.excitation.stationary import Stationary

SINGLE = Stationary(Spectrum(np.array([5.0, 50.0]), np.array([2.0, 2.0])), duration=1.0, interval=2e-3, seed=7)


def test_covariances_between_channels_are_those_asked_for() -> None:
    positions, factors = np.array([0.0, 0.3, 1.0]), np.array([1.0, 2.0, 0.5])
    loads = Correlated(SINGLE, decaying(positions, 0.5), factors)
    draws = np.stack([loads.draw(number) for number in range(400)])
    assert draws.shape == (400, 3, SINGLE.samples)
    found = np.einsum("nct,ndt->cd", draws, draws) / (400 * SINGLE.samples)
    asked = 90.0 * np.exp(-np.abs(positions[:, None] - positions) / 0.5) * np.outer(factors, factors)
    assert found == pytest.approx(asked, rel=0.05)


def test_a_draw_does_not_depend_on_those_before_it_and_a_single_channel_is_the_plain_draw() -> None:
    loads = Correlated(SINGLE, np.eye(2))
    records = loads.records(2, first=3)
    assert records.samples.shape == (2, 2, SINGLE.samples)
    assert np.array_equal(records.samples[1], loads.draw(4))
    assert np.abs(Correlated(SINGLE, np.eye(1)).draw(5)[0]) == pytest.approx(np.abs(SINGLE.draw(5)))


def test_channels_that_are_one_have_a_correlation_of_one() -> None:
    one, other = Correlated(SINGLE, np.ones((2, 2))).draw(0)
    assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("matrix", "factors", "says"),
    [
        (np.ones((2, 3)), None, "must be a square matrix"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), None, "must be symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), None, "positive semidefinite"),
        (np.eye(2), np.ones(3), "there are 2 channels"),
    ],
)
def test_what_is_no_correlation_is_refused(matrix: np.ndarray, factors: np.ndarray | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Correlated(SINGLE, matrix, factors)


def test_a_length_must_be_positive() -> None:
    with pytest.raises(ValueError, match="a correlation length must be a positive number"):
        decaying(np.zeros(2), 0.0)
