"""The front door of tribosweep: studies, runs and single oscillators of friction and shock.

    import tribosweep as ts

    run = ts.run(ts.Study(a0=ts.linspace(0.5, 20, 100), mu=[0.1, 0.2]))   # or a TOML file, a dict, the name of a shipped study
    frame = run.to_pandas()                     # its rows, one for each point; to_xarray, to_polars, to_arrow
    run.map()                                   # a picture
    ts.simulate("rubbing_mass", {"a0": 15.0})   # one oscillator, or arrays of them; differentiable

Studies: `Study` with `linspace`, `geomspace`, `integers`, `between`, `distribution`; `load` checks one, `run` runs it. Runs: `Run`,
`resume`, `open_run`, `runs`, `compare`. Measurements: `calibrate`. Design: `optimise`. Periodic motions: `branches`. Single oscillators:
`simulate`, `moment`, `trace`, `event_log`, `impacts`, `hysteresis`, with `Records` of base acceleration; of structures the modules
`structure_history` and `structure_samples`; `response_spectrum`,
`intensities` and `spectra` tell how strong these are, `kwu_epri` what a course of normal force and sliding speed wears. `MODELS` maps the
name of a model to its parameters and observables, `SCHEMES` the name of a scheme to what it reads, `REGIMES` are the words of the regime
of friction, and `__version__` is the version. `ConfigError` with its `Problem`s, `RowError` and `RunError` are raised.

Import it before other code starts JAX: it sets float64, one CPU device per core, and options of XLA. It imports neither JAX nor pandas;
what needs them does, at its first use. The names are those of `tribosweep.sweep` (studies and runs) and
`tribosweep.kernels` (the physics).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if not all((Path(__file__).parent / folder).is_dir() for folder in ("kernels", "sweep")):
    raise ImportError(
        "tribosweep/kernels and tribosweep/sweep of a checkout are links to the folders beside it; they are missing here. In a clone:"
        " allow links (Windows: developer mode), then `git config core.symlinks true` and `git checkout -- tribosweep`. A source"
        " distribution has no links: build or install its wheel (`pip install FILE.tar.gz`)"
    )

from tribosweep import kernels as _kernels
from tribosweep import sweep as _sweep
from tribosweep.sweep import __version__

if TYPE_CHECKING:
    from tribosweep.kernels import (
        MODELS,
        REGIMES,
        SCHEMES,
        Records,
        Results,
        event_log,
        hysteresis,
        impacts,
        kwu_epri,
        moment,
        simulate,
        structure_history,
        structure_samples,
        trace,
    )
    from tribosweep.sweep import (
        Basins,
        Branched,
        Calibrated,
        Comparison,
        Config,
        ConfigError,
        Fragility,
        Optimised,
        Picture,
        Problem,
        RareEvent,
        ResponseSpectrum,
        RowError,
        Run,
        RunError,
        Sensitivity,
        Share,
        Spectra,
        Study,
        between,
        branches,
        calibrate,
        compare,
        distribution,
        geomspace,
        integers,
        intensities,
        linspace,
        load,
        open_run,
        optimise,
        response_spectrum,
        resume,
        run,
        runs,
        spectra,
    )

__all__ = [
    "MODELS",
    "REGIMES",
    "SCHEMES",
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
    "Records",
    "ResponseSpectrum",
    "Results",
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
    "event_log",
    "geomspace",
    "hysteresis",
    "impacts",
    "integers",
    "intensities",
    "kwu_epri",
    "linspace",
    "load",
    "moment",
    "open_run",
    "optimise",
    "response_spectrum",
    "resume",
    "run",
    "runs",
    "simulate",
    "spectra",
    "structure_history",
    "structure_samples",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_sweep if name in _sweep.HOMES else _kernels, name)
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
