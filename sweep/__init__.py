"""Parameter studies from TOML to Parquet, their analyses, and the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if not __name__.startswith("tribosweep."):
    raise ImportError("import tribosweep.sweep: the folder is a part of the package tribosweep")

from tribosweep.sweep.io.version import VERSION

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.basins.result import Basins
    from tribosweep.sweep.analyses.fragility.result import Fragility
    from tribosweep.sweep.analyses.rare_event.result import RareEvent
    from tribosweep.sweep.analyses.sensitivity.result import Sensitivity
    from tribosweep.sweep.analyses.spectra.result import Spectra
    from tribosweep.sweep.api import Run, resume, run
    from tribosweep.sweep.api.branching import Branched, branches
    from tribosweep.sweep.api.calibrating import Calibrated, calibrate
    from tribosweep.sweep.api.comparing import Comparison, compare
    from tribosweep.sweep.api.opened import open_run, runs
    from tribosweep.sweep.api.optimising import Optimised, optimise
    from tribosweep.sweep.api.spectra import spectra
    from tribosweep.sweep.excitation.intensity import intensities
    from tribosweep.sweep.excitation.response_spectrum import ResponseSpectrum, response_spectrum
    from tribosweep.sweep.execution.job_share import Share
    from tribosweep.sweep.io.errors import ConfigError, Problem, RowError, RunError
    from tribosweep.sweep.results.picture import Picture
    from tribosweep.sweep.study.builder import Study, between, distribution, geomspace, integers, linspace
    from tribosweep.sweep.study.config import Config
    from tribosweep.sweep.study.load import load

__version__ = VERSION
HOMES = {
    "Basins": "tribosweep.sweep.analyses.basins.result",
    "Config": "tribosweep.sweep.study.config",
    "ConfigError": "tribosweep.sweep.io.errors",
    "Fragility": "tribosweep.sweep.analyses.fragility.result",
    "RareEvent": "tribosweep.sweep.analyses.rare_event.result",
    "Picture": "tribosweep.sweep.results.picture",
    "Problem": "tribosweep.sweep.io.errors",
    "RowError": "tribosweep.sweep.io.errors",
    "Run": "tribosweep.sweep.api",
    "RunError": "tribosweep.sweep.io.errors",
    "Share": "tribosweep.sweep.execution.job_share",
    **dict.fromkeys(("Study", "between", "distribution", "geomspace", "integers", "linspace"), "tribosweep.sweep.study.builder"),
    "load": "tribosweep.sweep.study.load",
    **dict.fromkeys(("Calibrated", "calibrate"), "tribosweep.sweep.api.calibrating"),
    **dict.fromkeys(("Comparison", "compare"), "tribosweep.sweep.api.comparing"),
    **dict.fromkeys(("open_run", "runs"), "tribosweep.sweep.api.opened"),
    **dict.fromkeys(("Branched", "branches"), "tribosweep.sweep.api.branching"),
    **dict.fromkeys(("Optimised", "optimise"), "tribosweep.sweep.api.optimising"),
    **dict.fromkeys(("resume", "run"), "tribosweep.sweep.api"),
    "Sensitivity": "tribosweep.sweep.analyses.sensitivity.result",
    "Spectra": "tribosweep.sweep.analyses.spectra.result",
    "spectra": "tribosweep.sweep.api.spectra",
    **dict.fromkeys(("ResponseSpectrum", "response_spectrum"), "tribosweep.sweep.excitation.response_spectrum"),
    "intensities": "tribosweep.sweep.excitation.intensity",
}  # public name -> the module that defines it; it is imported at first use
__all__ = [
    "Basins",
    "Branched",
    "Calibrated",
    "Comparison",
    "Config",
    "ConfigError",
    "Fragility",
    "Optimised",
    "Picture",
    "Problem",
    "RareEvent",
    "ResponseSpectrum",
    "RowError",
    "Run",
    "RunError",
    "Sensitivity",
    "Share",
    "Spectra",
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
    """Import a public name at its first use; `import tribosweep.sweep` alone imports nothing but the version."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
