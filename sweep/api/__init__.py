"""Studies and runs from Python: `run`, `resume`, `open_run`, and the `Run` that they return."""

from sweep.api.calibrating import Calibrated, calibrate
from sweep.api.comparing import Comparison, compare
from sweep.api.finished import Run
from sweep.api.opened import open_run, runs
from sweep.api.running import default_directory, load_run, resume, run, run_with
from sweep.api.sensitivities import Sensitivity

__all__ = [
    "Calibrated",
    "Comparison",
    "Run",
    "Sensitivity",
    "calibrate",
    "compare",
    "default_directory",
    "load_run",
    "open_run",
    "resume",
    "run",
    "run_with",
    "runs",
]
