"""The front door of tribosweep: studies, runs and single oscillators of friction and shock.

    import tribosweep as ts

    run = ts.run("sdnd104.toml")                # a study: a TOML file, a dict, or a `Study`
    frame = run.to_pandas()                     # its rows, one for each point
    ts.simulate("rubbing_mass", {"a0": 15.0})   # one oscillator, or arrays of them; differentiable

Import it before other code starts JAX: it sets float64, one CPU device per core, and options of XLA. It neither imports JAX nor pandas;
what needs them does, at its first use. The names are those of the packages `sweep` (studies and runs) and `kernels` (the physics).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kernels as _kernels
import sweep as _sweep
from sweep import __version__

if TYPE_CHECKING:
    from kernels import MODELS, REGIMES, SCHEMES, Records, event_log, hysteresis, impacts, moment, simulate, trace
    from sweep import (
        Config,
        ConfigError,
        Problem,
        RowError,
        Run,
        RunError,
        Share,
        Study,
        between,
        distribution,
        geomspace,
        integers,
        linspace,
        load,
        resume,
        run,
    )

__all__ = [
    "MODELS",
    "REGIMES",
    "SCHEMES",
    "Config",
    "ConfigError",
    "Problem",
    "Records",
    "RowError",
    "Run",
    "RunError",
    "Share",
    "Study",
    "__version__",
    "between",
    "distribution",
    "event_log",
    "geomspace",
    "hysteresis",
    "impacts",
    "integers",
    "linspace",
    "load",
    "moment",
    "resume",
    "run",
    "simulate",
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
