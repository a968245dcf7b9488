"""The probability of a rare event against closed forms, on walls that are simulated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from tribosweep import sweep
from tribosweep.sweep.analyses.rare_event import estimate as rare_event
from tribosweep.sweep.execution.adaptive.subset_simulation import Climb, Level
from tribosweep.sweep.io.errors import ConfigError

MEANS = {"m": (400.0, 20.0), "v0": (0.8, 0.08), "k_n": (4e6, 4e5), "f_crit": (5.65e4, 4e3)}
AXES = {name: {"distribution": "log_normal", "mean": mean, "std": std} for name, (mean, std) in MEANS.items()}
BOX = {"plateau": 0.002, "softening": 0.01, "f_post": 1e4, "k_post": 2e6}


def walls(event: str, **changed: Any) -> dict[str, Any]:
    """A mass hits a wall without damping: its force is v0 sqrt(m k_n) until it buckles at f_crit."""
    design = {"design": "subset_simulation", "event": event, "count": 1000, "seed": 11, "axes": AXES, **changed}
    return {"study": {"name": "walls", "model": "buckling_wall"}, "parameters": BOX, "time": {"end": 0.5}, "sweep": design}


def chance(correlation: float, limit: float | None = None) -> float:
    """The probability that v0 sqrt(m k_n) exceeds the limit, or f_crit, whose normal score is correlated with that of k_n."""
    spread = {name: math.sqrt(math.log1p((std / mean) ** 2)) for name, (mean, std) in MEANS.items()}
    middle = {name: math.log(mean) - 0.5 * spread[name] ** 2 for name, (mean, _) in MEANS.items()}
    force = middle["v0"] + 0.5 * (middle["m"] + middle["k_n"])
    variance = spread["v0"] ** 2 + 0.25 * (spread["m"] ** 2 + spread["k_n"] ** 2)
    if limit is not None:
        return float(ndtr((force - math.log(limit)) / math.sqrt(variance)))
    variance += spread["f_crit"] ** 2 - correlation * spread["f_crit"] * spread["k_n"]
    return float(ndtr((force - middle["f_crit"]) / math.sqrt(variance)))


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_a_wall_buckles_as_rarely_as_the_closed_form_says(correlation: float, tmp_path: Path) -> None:
    more: dict[str, Any] = {"correlations": [["k_n", "f_crit", correlation]]} if correlation else {}
    found = rare_event.read(sweep.run(walls("peak_force >= f_crit", repeats=2, **more), tmp_path / "a").directory, confidence=0.999)
    exact = chance(correlation)
    assert exact < 2e-5
    assert found.estimate is not None
    assert found.estimate.low < exact < found.estimate.high
    assert found.estimate.variation < 0.45
    assert found.rows < 0.01 * found.monte_carlo_rows
    assert found.repeats.keys() == {0, 1}
    assert found.estimate.probability == pytest.approx(np.mean([each.probability for each in found.repeats.values()]))
    assert found.curve[-1, 0] == 0.0  # the difference from the parameter
    assert found.curve[-1, 1:] == pytest.approx([found.estimate.probability, found.estimate.low, found.estimate.high])
    assert found.across == "peak_force - f_crit"


@pytest.mark.slow
def test_the_curve_is_the_distribution_of_the_observable(tmp_path: Path) -> None:
    found = rare_event.read(sweep.run(walls("peak_force > 56 kN", repeats=2), tmp_path / "a").directory, confidence=0.999)
    value, probability, low, high = found.curve.T
    exact = np.array([chance(0.0, each) for each in value])
    before = value < 4.2e4  # where hardly any wall has buckled
    assert np.all((low <= exact) & (exact <= high) | ~before)
    assert np.all(np.diff(probability) <= 0.0)
    assert found.event == "peak_force > 56000 N"


@pytest.mark.slow
def test_an_event_below_a_limit_is_reached_from_above(tmp_path: Path) -> None:
    mean, std = MEANS["v0"]
    spread = math.sqrt(math.log1p((std / mean) ** 2))
    limit = mean * math.exp(-0.5 * spread**2 - 4.0 * spread)
    found = rare_event.read(sweep.run(walls(f"first_contact_velocity < {limit!r} m/s"), tmp_path / "a").directory, 0.999)
    assert found.estimate is not None
    assert found.estimate.low < ndtr(-4.0) < found.estimate.high
    assert np.all(np.diff(found.curve[:, 0]) < 0.0)


@pytest.mark.slow
def test_a_run_that_does_not_reach_its_event_says_how_far_it_came(tmp_path: Path) -> None:
    found = rare_event.read(sweep.run(walls("peak_force >= f_crit", levels=2, count=200), tmp_path / "a").directory)
    assert found.estimate is None
    assert math.isnan(found.monte_carlo_rows)
    assert "the event is not reached in 2 levels, where the probability is 0.01: raise levels." in found.notes[0]
    assert found.facts()["estimate"] is None


@pytest.mark.usefixtures("fake")
def test_other_designs_and_levels_are_refused(tmp_path: Path) -> None:
    directory = sweep.run({"sweep": {"axes": {"a0": [1.0]}}}, tmp_path / "a").directory
    with pytest.raises(ConfigError, match="the probability of a rare event needs design"):
        rare_event.read(directory)


def test_the_estimate_of_one_level_is_binomial_and_that_of_several_a_product() -> None:
    def climb(levels: list[Level]) -> Climb:
        return Climb(0, np.empty((0, 1)), tuple(levels))

    margins = np.arange(100.0)[None]
    first = Level(-np.inf, 90.0, margins >= 90.0, margins, np.arange(100), 100, 0, np.nan)
    found = rare_event.estimate_of([(climb([first]), 0, first.hit)], 0.95)
    assert found.probability == pytest.approx(0.1)
    assert found.families == 10
    assert found.variation == pytest.approx(math.sqrt(0.9 / (0.1 * 100.0)))
    hit = np.repeat(np.arange(10) < 4, 10).reshape(10, 10).T  # four of ten chains, each a family
    second = Level(90.0, 0.0, hit, np.where(hit, 1.0, -1.0), np.arange(90, 100), 90, 0, 0.5)
    found = rare_event.estimate_of([(climb([first, second]), 1, second.hit)], 0.95)
    assert found.probability == pytest.approx(0.1 * 0.4)
    assert found.families == 4
