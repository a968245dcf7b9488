"""Parameter studies from TOML to Parquet, their analyses, and the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sweep.io.version import VERSION

if TYPE_CHECKING:
    from sweep.api import Run, resume, run
    from sweep.api.basins import Attractors
    from sweep.api.branching import Branched, branches
    from sweep.api.calibrating import Calibrated, calibrate
    from sweep.api.comparing import Comparison, compare
    from sweep.api.fragilities import Fragility
    from sweep.api.opened import open_run, runs
    from sweep.api.optimising import Optimised, optimise
    from sweep.api.rare_events import RareChance
    from sweep.api.sensitivities import Sensitivity
    from sweep.api.spectra import RecordSpectra, spectra
    from sweep.excitation.intensity import intensities
    from sweep.excitation.response_spectrum import ResponseSpectrum, response_spectrum
    from sweep.execution.job_share import Share
    from sweep.io.errors import ConfigError, Problem, RowError, RunError
    from sweep.plots.figure import Picture
    from sweep.study.builder import Study, between, distribution, geomspace, integers, linspace
    from sweep.study.config import Config
    from sweep.study.load import load

__version__ = VERSION
HOMES = {
    "Attractors": "sweep.api.basins",
    "Config": "sweep.study.config",
    "ConfigError": "sweep.io.errors",
    "Fragility": "sweep.api.fragilities",
    "RareChance": "sweep.api.rare_events",
    "Picture": "sweep.plots.figure",
    "Problem": "sweep.io.errors",
    "RowError": "sweep.io.errors",
    "Run": "sweep.api",
    "RunError": "sweep.io.errors",
    "Share": "sweep.execution.job_share",
    **dict.fromkeys(("Study", "between", "distribution", "geomspace", "integers", "linspace"), "sweep.study.builder"),
    "load": "sweep.study.load",
    **dict.fromkeys(("Calibrated", "calibrate"), "sweep.api.calibrating"),
    **dict.fromkeys(("Comparison", "compare"), "sweep.api.comparing"),
    **dict.fromkeys(("open_run", "runs"), "sweep.api.opened"),
    **dict.fromkeys(("Branched", "branches"), "sweep.api.branching"),
    **dict.fromkeys(("Optimised", "optimise"), "sweep.api.optimising"),
    **dict.fromkeys(("resume", "run"), "sweep.api"),
    "Sensitivity": "sweep.api.sensitivities",
    **dict.fromkeys(("RecordSpectra", "spectra"), "sweep.api.spectra"),
    **dict.fromkeys(("ResponseSpectrum", "response_spectrum"), "sweep.excitation.response_spectrum"),
    "intensities": "sweep.excitation.intensity",
}  # public name -> the module that defines it; it is imported at first use
__all__ = [
    "Attractors",
    "Branched",
    "Calibrated",
    "Comparison",
    "Config",
    "ConfigError",
    "Fragility",
    "Optimised",
    "Picture",
    "Problem",
    "RareChance",
    "RecordSpectra",
    "ResponseSpectrum",
    "RowError",
    "Run",
    "RunError",
    "Sensitivity",
    "Share",
    "Study",
    "__version__",
    "between",
    "branches",
    "calibrate",
    "compare",
    "distribution",
    "geomspace",
    "integers",
    "intensities",
    "linspace",
    "load",
    "open_run",
    "optimise",
    "response_spectrum",
    "resume",
    "run",
    "runs",
    "spectra",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use; `import sweep` alone imports nothing but the version."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
