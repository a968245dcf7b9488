"""Intensities of the input of a run against their definitions, computed here from the records and draws themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep import sweep
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analyses.fragility import ANALYSIS
from tribosweep.sweep.analyses.fragility.curves import analyse
from tribosweep.sweep.analyses.fragility.result import Fragility

SCALES = [0.25, 0.5, 1.0, 2.0]
STEP = 0.01


def ask(path: Path, intensity: str, **more: Any) -> Fragility:
    """Analyse a run; the solver of these tests returns the wear power a0 + 100 mu."""
    return analyse(path, ANALYSIS.read({"event": "wear_power > 1", "intensity": intensity, **more}))


def randomly(**sections: Any) -> dict[str, Any]:
    """A study of six random draws at four scales."""
    axes = {"record_scale": SCALES, "draw": {"from": 3, "to": 8, "spacing": "integer"}}
    noise = {"spectrum": [[1.0, 0.5], [8.0, 0.5]], "duration": 4.0, "interval": STEP, "seed": 2}
    return {"study": {"name": "noise"}, "time": {"end": 4.0}, "excitation": {"random": noise}, "sweep": {"axes": axes}, **sections}


def test_draws_are_measured_with_their_scale(fake: FakeKernels, tmp_path: Path) -> None:
    config = load(randomly())
    sweep.run(config, tmp_path / "run")
    assert config.excitation is not None
    draws: Any = config.excitation
    samples = np.stack([draws.draw(number) for number in range(3, 9)])
    peaks = np.outer(SCALES, np.abs(samples).max(axis=1)).ravel()
    found = ask(tmp_path / "run", "pga")
    assert found.rows.x == pytest.approx(peaks, rel=1e-12)
    assert (found.rows.over, found.curves[0].groups, found.rows.intensity.unit) == (("draw",), 6, "m/s^2")
    energy = np.pi / (2.0 * 9.80665) * np.trapezoid(samples**2, dx=STEP, axis=1)  # of samples; between them it is integrated exactly
    assert ask(tmp_path / "run", "arias").rows.x == pytest.approx(np.outer(np.square(SCALES), energy).ravel(), rel=0.05)
    stiff = ask(tmp_path / "run", "sa_0.001s").rows.x  # a stiff oscillator moves with the base
    assert stiff == pytest.approx(peaks, rel=0.01)
    held = ask(tmp_path / "run", "pga", at=("record_scale=0.5",))
    assert held.rows.x == pytest.approx(peaks[6:12], rel=1e-12)


def test_records_are_measured_with_their_scale(fake: FakeKernels, tmp_path: Path) -> None:
    time = np.arange(0.0, 4.0, STEP)
    records = {"weak": 0.5 * np.sin(2.0 * np.pi * time), "strong": 3.0 * np.sin(6.0 * np.pi * time)}
    for name, values in records.items():
        np.savetxt(tmp_path / f"{name}.csv", np.stack([time, values], axis=1), delimiter=",", header="time,acceleration", comments="")
    document = {
        "study": {"name": "records"}, "time": {"end": 3.0}, "excitation": {"records": [str(tmp_path / f"{name}.csv") for name in records]},
        "sweep": {"axes": {"record": ["strong", "weak"], "record_scale": SCALES, "mu": [0.1, 0.2]}},
    }  # fmt: skip
    sweep.run(document, tmp_path / "run")
    found = ask(tmp_path / "run", "pgv", by="mu")
    table = sweep.open_run(tmp_path / "run").to_pandas()
    amplitude = {"weak": 0.5 / np.pi, "strong": 1.0 / np.pi}  # the velocity of a sin(w t) that starts at rest goes up to 2 a / w
    expected = [amplitude[str(name)] * scale for name, scale in zip(table["record"], table["record_scale"], strict=True)]
    assert found.rows.x == pytest.approx(expected, rel=4e-3)  # straight lines between samples of the sine
    assert len(found.curves) == 2
    with pytest.raises(ConfigError, match="give each a curve with --by mu"):
        ask(tmp_path / "run", "pgv")


def test_a_study_without_records_has_no_pga(fake: FakeKernels, tmp_path: Path) -> None:
    sweep.run({"study": {"name": "sine"}, "sweep": {"axes": {"a0": [1.0, 2.0, 3.0]}}}, tmp_path / "run")
    for name, said in (
        ("pga", "neither"),
        ("sa_0.5s", "neither"),
        ("sa_xs", "sa_0.5s"),
        ("sa_0s", "sa_0.5s"),
        ("pgw", "did you mean 'pgv'"),
    ):
        with pytest.raises(ConfigError) as caught:
            ask(tmp_path / "run", name)
        assert said in str(caught.value)
