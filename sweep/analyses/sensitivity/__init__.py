"""Sensitivity of observables to uncertain parameters: indices, derivatives and propagated uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.results.analysis import ASK, Analysis, Tell

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.sensitivity.result import Sensitivity
    from tribosweep.sweep.study.config import Config


def _compute(directory: Path, request: SensitivityRequest, _tell: Tell | None) -> Sensitivity:
    from tribosweep.sweep.analyses.sensitivity.analysis import analyse
    from tribosweep.sweep.analysis.study_rows import read_study

    return analyse(directory, read_study(directory), request)


def _check(study: Config, request: SensitivityRequest) -> None:
    from tribosweep.sweep.analyses.sensitivity.analysis import check

    check(study, request)


ANALYSIS = Analysis(
    name="sensitivity",
    task=ASK,
    examples=("sensitivity sensitivity_wear --out wear.png", "sensitivity runs/my_study --exceeds wear_power=1.0 --quantile 0.99"),
    request=SensitivityRequest,
    compute=_compute,
    check=_check,
    section=True,
    returns="Indices, uncertainties with probabilities, and derivatives, as tables and pictures.",
    raises="the design does not sample, or SALib is missing (`tribosweep[sensitivity]`)",
    python=(
        '>>> found = run.sensitivity(["wear_power"], chances=["wear_power > 5"])',
        '>>> found.to_pandas("indices")[["parameter", "measure", "value", "low", "high"]]',
        '>>> found.plot("bars.png")',
    ),
    things="points",  # compiling derivatives takes a while
)
