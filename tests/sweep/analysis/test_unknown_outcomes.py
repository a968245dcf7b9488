"""A value that could not be computed is never an event that did not happen, in whatever analysis counts events.

One sample of 64 rows with a law of wear that has no volume at small powers goes through every analysis that counts an event. The shares and
the bounds with all unknown rows without the event and with it are counted here from the columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import beta

from tribosweep import sweep
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analyses.fragility.curves import analyse as fragility
from tribosweep.sweep.analyses.fragility.curves import curve_of
from tribosweep.sweep.analyses.fragility.intervals import by_profile
from tribosweep.sweep.analyses.fragility.lognormal import fit, rows_of
from tribosweep.sweep.analyses.fragility.request import FragilityRequest
from tribosweep.sweep.analyses.fragility.rows import read
from tribosweep.sweep.analyses.rare_event.estimate import at_last, estimate_of, widened
from tribosweep.sweep.analyses.sensitivity.analysis import analyse as sensitivity
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import UNCERTAINTY
from tribosweep.sweep.analysis import group_map
from tribosweep.sweep.analysis.group_numbers import Groups
from tribosweep.sweep.analysis.map_areas import UNKNOWN, Areas, areas_of_level, unknown_in
from tribosweep.sweep.analysis.optimisation.functions import read_measure
from tribosweep.sweep.analysis.run_rows import RunRows
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.execution.adaptive import boundary_tracing
from tribosweep.sweep.execution.adaptive.probabilities import classify
from tribosweep.sweep.execution.adaptive.quadtree import FAILED
from tribosweep.sweep.execution.adaptive.subset_simulation import empty_history
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.report import groups as report
from tribosweep.sweep.study.event import read_events
from tribosweep.sweep.study.load import load

ROOT = Path(__file__).parents[3]
RAW: dict[str, Any] = {
    "parameters": {"service_time": 3e7}, "time": {"window": [4.0, 12.0]},
    "sweep": {"design": "sobol", "count": 64, "seed": 3, "axes": {"a0": {"from": 0.9, "to": 1.2}}},
}  # fmt: skip
VOLUME = "wear_volume_edf_mz"
EVENTS = {
    f"{VOLUME} > 3e-08": lambda rows, volume: volume > 3e-8,
    f"slip_distance < 0.01 and not {VOLUME} > 3e-08": lambda rows, volume: (rows["slip_distance"] < 0.01) & ~(volume > 3e-8),
}
CONFIDENCE = 0.9


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the run."""
    return sweep.run(RAW, tmp_path_factory.mktemp("unknown") / "run").directory


@pytest.fixture(scope="module")
def rows(run: Path) -> pd.DataFrame:
    """Its rows."""
    return sweep.open_run(run).to_pandas()


def truth(rows: pd.DataFrame, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the rows in which an event happened, and of those in which that hangs on the missing value: by both values it may have."""
    least, most = (EVENTS[text](rows, rows[VOLUME].fillna(value)).to_numpy() for value in (-np.inf, np.inf))
    return least & most, least != most


def ends(hits: int, unknown: int, count: int) -> tuple[float, float]:
    """Clopper and Pearson's ends with all unknown rows without the event, and with it."""
    tail, most = 0.5 * (1.0 - CONFIDENCE), hits + unknown
    return float(beta.ppf(tail, hits, count - hits + 1)), float(beta.ppf(1.0 - tail, most + 1, count - most))


def by_sensitivity(run: Path, text: str) -> tuple[float, float, float, int]:
    """Share, ends and number of unknown rows by the analysis."""
    config = load(RAW)
    found = sensitivity(run, config, SensitivityRequest(observables=("slip_distance",), chances=(text,), confidence=CONFIDENCE))
    (line,) = [line for line in found.lines[UNCERTAINTY] if line.estimate.measure.startswith("P")]
    (note,) = [note for note in found.notes if VOLUME in note and "unknown whether" in note]
    return line.estimate.value, line.estimate.low, line.estimate.high, int(note.split()[1])


def by_means(run: Path, text: str) -> tuple[float, float, float, int]:
    """The same by `show --over`."""
    line = sweep.open_run(run).over(["a0"], ["slip_distance"], CONFIDENCE, chances=[text]).to_pandas().iloc[-1]
    assert line["rows"] + line["unknown"] == 64
    return line["mean"], line["lower"], line["upper"], int(line["unknown"])


def read_rows(run: Path) -> RunRows:
    """The rows for maps and reports, all of them at one place."""
    table = Dataset(run).table(["a0", VOLUME, "slip_distance", "status"])
    return RunRows({}, RAW, MODELS["rubbing_mass"], table, (), {}, {}, ())


def by_map(run: Path, text: str) -> tuple[float, float, float, int]:
    """The same by `map --chance`."""
    groups, of = Groups(np.zeros(64, dtype=np.int64), 1, np.ones(64, dtype=bool)), read_rows(run)
    found = group_map.probability_in(of, read_events("", [text], of.model)[0], groups, CONFIDENCE)[0]
    return found.value[0], found.lower[0], found.upper[0], -1


def by_report(run: Path, text: str) -> tuple[float, float, float, int]:
    """The same in a report, whose confidence is its own."""
    groups, of = Groups(np.zeros(64, dtype=np.int64), 1, np.ones(64, dtype=bool)), read_rows(run)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(report, "CONFIDENCE", CONFIDENCE)
        _, found = report.probability_in(of, groups, read_events("", [text], of.model)[0], Areas("status", ("ok",), np.zeros(64, np.int8)))
    return found.value[0], found.lower[0], found.upper[0], -1


def by_fragility(run: Path, text: str) -> tuple[float, float, float, int]:
    """The same by `fragility`, of all rows in one bin."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tribosweep.sweep.analyses.fragility.curves.MOST_BINS", 1)
        found = fragility(run, FragilityRequest(event=text, intensity="a0", confidence=CONFIDENCE))
    (curve,), points = found.curves, found.curves[0].points
    assert found.failed == curve.failed == curve.void == 0
    assert any(VOLUME in note and "hold both outcomes" in note for note in found.notes)
    assert (points.rows[0], points.unknown[0]) == (curve.rows, curve.unknown)
    return points.share[0], points.low[0], points.high[0], curve.unknown


SHARES: dict[str, Callable[[Path, str], tuple[float, float, float, int]]] = {
    "sensitivity": by_sensitivity, "means": by_means, "map": by_map, "report": by_report, "fragility": by_fragility,
}  # fmt: skip


@pytest.mark.parametrize("text", EVENTS, ids=["single", "joined"])
def test_shares_leave_unknown_rows_out_and_their_intervals_hold_both_outcomes(run: Path, rows: pd.DataFrame, text: str) -> None:
    happened, unknown = truth(rows, text)
    hits, missing = int(happened.sum()), int(unknown.sum())
    assert 0 < missing < 30
    assert 0 < hits < 64 - missing
    for name, consumer in SHARES.items():
        value, low, high, counted = consumer(run, text)
        assert value == pytest.approx(hits / (64 - missing), rel=1e-14), name
        assert (low, high) == pytest.approx(ends(hits, missing, 64), rel=1e-9), name
        assert counted in (missing, -1), name


def test_the_interval_of_a_fragility_holds_the_curves_of_both_outcomes(run: Path, rows: pd.DataFrame) -> None:
    text = next(iter(EVENTS))
    request = FragilityRequest(event=text, intensity="a0")
    found = read(run, text, "a0", (), None, ())
    found = replace(found, x=found.x * np.exp(np.random.default_rng(1).normal(0.0, 0.1, 64)))
    curve = curve_of(found, request, 0)
    assert curve.intervals is not None
    for outcome in (found.happened, found.happened | found.unknown):
        known, _ = rows_of(np.log(found.x), outcome)
        own = fit(known)
        alone = by_profile(known, own, curve.grid, request.confidence)
        assert curve.intervals.theta[0] <= alone.theta[0] < own.theta < alone.theta[1] <= curve.intervals.theta[1]
        assert (curve.intervals.low <= alone.low).all()
        assert (curve.intervals.high >= alone.high).all()
    assert found.unknown.sum() == rows[VOLUME].isna().sum() == curve.unknown


def test_a_boundary_takes_the_class_that_its_open_rows_allow(rows: pd.DataFrame) -> None:
    text, model = next(iter(EVENTS)), MODELS["rubbing_mass"]
    happened, unknown = truth(rows, text)
    low, high = ends(int(happened.sum()), int(unknown.sum()), 64)
    share = happened.sum() / (64 - unknown.sum())
    table = pa.table({VOLUME: pa.array(rows[VOLUME].to_numpy(), from_pandas=True)})
    for sought in (0.5 * low, 0.5 * (low + share), 0.5 * (share + high), 0.5 * (1.0 + high)):
        design = Boundary((), VOLUME, None, 1e-3, 2, (), text, sought, CONFIDENCE)  # type: ignore[arg-type]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Boundary, "repeats", 64)
            classes, _ = classify(design, model, table, np.ones(64, dtype=bool))
        assert classes[0] == sum(float(each) >= sought for each in (low, share, high))
    table = table.append_column("status", pa.array(["ok"] * 64))
    seen, _ = boundary_tracing.classify(by_name(model.observables)[VOLUME], 3e-8, table)
    assert (seen[rows[VOLUME].isna()] == FAILED).all()
    assert (seen[rows[VOLUME].notna()] == (rows[VOLUME].dropna() > 3e-8)).all()


def test_an_optimisation_has_no_value_where_the_event_is_unknown(rows: pd.DataFrame) -> None:
    for text in EVENTS:
        measure = read_measure(f"chance of {text}", MODELS["rubbing_mass"], 64, "")
        happened, unknown = truth(rows, text)
        observed = {name: rows[name].to_numpy() for name in measure.names}
        assert np.isnan(measure.values(observed, largest=True))
        known = {name: values[~unknown] for name, values in observed.items()}
        assert measure.values(known, largest=True) == happened.sum() / (64 - unknown.sum())


def test_a_subset_simulation_counts_unknown_rows_apart_and_bounds_what_they_may_be(rows: pd.DataFrame) -> None:
    for text in EVENTS:
        raw = RAW | {"sweep": {"design": "subset_simulation", "count": 100, "event": text, "axes": {"a0": {"from": 0.9, "to": 1.2}}}}
        some = rows.iloc[np.arange(100) % 64]
        happened, unknown = truth(some, text)
        table = pa.Table.from_pandas(some[[VOLUME, "slip_distance"]], preserve_index=False)
        status = ["ok"] * 98 + ["The number of events exceeded the bound"] * 2
        history = empty_history(load(raw)).followed_by(table.append_column("status", pa.array(status)))
        (climb,) = history.climbs
        level = climb.levels[0]
        assert (level.rows, level.failed, level.unknown) == (100, 2, int(unknown[:98].sum()))
        assert level.probability == happened[:98].sum() / (98 - level.unknown)
        plain = estimate_of([at_last(climb)], CONFIDENCE)
        found = widened(plain, [climb], CONFIDENCE)
        part = ends(0, level.unknown, 98)[1]
        assert found.probability == plain.probability
        assert found.low == pytest.approx(plain.low * (1.0 - part))
        assert found.high == pytest.approx(min(plain.high * (1.0 - part) + part, 1.0))


def test_an_area_of_a_map_says_unknown(rows: pd.DataFrame, run: Path) -> None:
    areas = areas_of_level(read_rows(run), VOLUME, 3e-8)
    assert areas.words[-1] == UNKNOWN
    assert int(unknown_in(areas).sum()) == int(rows[VOLUME].isna().sum()) > 0


def test_every_module_that_asks_for_outcomes_is_walked_here() -> None:
    asking = {
        str(path.relative_to(ROOT / "sweep"))
        for path in (ROOT / "sweep").rglob("*.py")
        if re.search(r"import .*\b(outcome_in|margin_in|margin_of|read_joined|probabilities_of)\b", path.read_text(encoding="utf-8"))
    }
    assert asking == {
        "analyses/sensitivity/analysis.py", "analysis/group_statistics.py", "analysis/group_map.py", "report/groups.py",
        "analyses/fragility/rows.py", "analysis/optimisation/functions.py", "execution/adaptive/probabilities.py",
        "execution/adaptive/subset_simulation.py", "study/subset_simulation.py", "study/event.py",
    }  # fmt: skip
