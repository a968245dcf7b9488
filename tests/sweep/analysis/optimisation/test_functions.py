"""Objectives and constraints as texts, and their values and derivatives from rows."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.sweep.analysis.optimisation.functions import CHANCE, MEAN, QUANTILE, VALUE, WORST, Measure, read_constraint, read_measure

STOP = MODELS["stop"]
RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("text", "rows", "kind", "written"),
    [
        ("peak_force", 1, VALUE, "peak_force"),
        ("mean of wear_power", 9, MEAN, "mean of wear_power"),
        ("quantile 0.95 of peak_force", 9, QUANTILE, "quantile 0.95 of peak_force"),
        ("worst of peak_force", 9, WORST, "worst of peak_force"),
        ("chance of peak_force > 5 kN", 9, CHANCE, "chance of peak_force > 5000 N"),
        ("impacts", 1, VALUE, "impacts"),
    ],
)
def test_a_measure_is_read(text: str, rows: int, kind: str, written: str) -> None:
    found = read_measure(text, STOP, rows, "")
    assert (found.kind, str(found)) == (kind, written)
    assert found.counts == (kind == CHANCE or text == "impacts")


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("peak_forse", 1, "did you mean 'peak_force'"),
        ("peak_force", 9, "each point has 9 rows"),
        ("mean of peak_force", 1, "each point has one row"),
        ("quantile 1.5 of peak_force", 9, "must be > 0 and < 1"),
        ("quantile much of peak_force", 9, "must be > 0 and < 1"),
        ("regime", 1, "is a word: take the probability of it"),
        ("median of peak_force", 9, "must be an observable"),
        ("chance", 9, "a probability is that of an event"),
        ("chance of peak_force", 9, "must be an observable, one of"),
        ("poincare_x", 1, "is no observable"),
        ("", 1, "must be an observable"),
    ],
)
def test_a_wrong_measure_is_explained(text: str, rows: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_measure(text, STOP, rows, "")


@pytest.mark.parametrize(
    ("text", "rows", "written"),
    [
        ("peak_force <= 5 kN", 1, "peak_force <= 5000 N"),
        ("peak_force < 5 kN", 3, "worst of peak_force <= 5000 N"),
        ("mean of wear_power >= 100 mW", 3, "mean of wear_power >= 0.1 W"),
        ("impacts <= 3", 1, "impacts <= 3"),
        ("chance of impacts >= 3 <= 10 %", 20, "chance of impacts >= 3 <= 0.1"),
        ("chance of peak_force > 5 kN <= 0", 20, "worst of peak_force <= 5000 N"),
        ("chance of peak_force < 5 kN <= 0", 20, "worst of peak_force >= 5000 N"),
    ],
)
def test_a_constraint_is_read(text: str, rows: int, written: str) -> None:
    assert str(read_constraint(text, STOP, rows)) == written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("peak_force", "must be a measure, <= or >=, and a limit"),
        ("peak_force = 5 kN", "a constraint is <= or >="),
        ("peak_force <= 5 mm", "cannot be converted to N"),
        ("peak_force <= much", "must be a finite number"),
        ("chance of peak_force > 5 kN", "must be a measure, <= or >=, and a limit, such as 'chance of"),
        ("chance of peak_force > 5 kN <= 1.5", "a probability is from 0 to 1"),
    ],
)
def test_a_wrong_constraint_is_explained(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_constraint(text, STOP, 9)


@pytest.mark.parametrize("rows", [2, 7, 20, 41])
@pytest.mark.parametrize("limit", [0.0, 0.05, 0.1, 0.3, 0.77])
@pytest.mark.parametrize("relation", [">", "<"])
def test_a_chance_is_kept_exactly_where_its_quantile_is(rows: int, limit: float, relation: str) -> None:
    constraint = read_constraint(f"chance of peak_force {relation} 5 N <= {limit}", STOP, rows)
    for _ in range(200):
        forces = RNG.normal(5.0, 1.0, rows) + RNG.normal(0.0, 1.0)
        chance = float(np.mean(forces > 5.0 if relation == ">" else forces < 5.0))
        value = constraint.measure.values({"peak_force": forces}, constraint.upper)
        assert (chance <= limit) == bool(constraint.sign * (value - constraint.limit) <= 0.0)


@pytest.mark.parametrize("measure", ["mean", "worst", "quantile 0.9", "quantile 0.5", "quantile 0.03"])
@pytest.mark.parametrize("largest", [True, False])
def test_derivatives_are_those_of_the_values(measure: str, largest: bool) -> None:
    found: Measure = read_measure(f"{measure} of peak_force", STOP, 30, "")
    base, slopes = RNG.normal(size=30), RNG.normal(size=(30, 2))
    values, rates = found.smooth({"peak_force": base}, slopes, largest)
    assert values[0] == pytest.approx(found.values({"peak_force": base}, largest))
    for direction in np.eye(2):
        ends = [found.values({"peak_force": base + step * slopes @ direction}, largest) for step in (-1e-7, 1e-7)]
        assert rates[0] @ direction == pytest.approx((ends[1] - ends[0]) / 2e-7, abs=1e-6)
    if measure == "worst":
        assert (np.diff(values) <= 0.0).all() if largest else (np.diff(values) >= 0.0).all()
