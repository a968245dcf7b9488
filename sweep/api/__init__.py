"""Studies and runs from Python: `run`, `resume`, and the `Run` that they return. The other modules are imported where they are used."""

from tribosweep.sweep.api.finished import Run
from tribosweep.sweep.api.running import default_directory, load_run, resume, run, run_with

__all__ = ["Run", "default_directory", "load_run", "resume", "run", "run_with"]
