"""The physics: closed forms, contact laws, time schemes and observables of friction and shock oscillators.

Importing it prepares JAX (float64, XLA options, one CPU device per core) without importing it; see `tribosweep.kernels.runtime`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if not __name__.startswith("tribosweep."):
    raise ImportError("import tribosweep.kernels: the folder is a part of the package tribosweep")

from tribosweep.kernels.runtime import jax_setup

if TYPE_CHECKING:
    from tribosweep.kernels import structure_history, structure_samples
    from tribosweep.kernels.api import moment, simulate
    from tribosweep.kernels.excitation.record import Records
    from tribosweep.kernels.imposed_path import hysteresis
    from tribosweep.kernels.models import MODELS, REGIMES
    from tribosweep.kernels.models.kwu_epri import kwu_epri
    from tribosweep.kernels.models.schemes import SCHEMES
    from tribosweep.kernels.results import Results
    from tribosweep.kernels.time_history import event_log, impacts, trace

jax_setup.prepare()

__all__ = [
    "MODELS",
    "REGIMES",
    "SCHEMES",
    "Records",
    "Results",
    "event_log",
    "hysteresis",
    "impacts",
    "kwu_epri",
    "moment",
    "simulate",
    "structure_history",
    "structure_samples",
    "trace",
]
_HOMES = {
    "MODELS": "models", "REGIMES": "models", "SCHEMES": "models.schemes", "Records": "excitation.record", "kwu_epri": "models.kwu_epri",
    "moment": "api", "simulate": "api", "hysteresis": "imposed_path",
    "Results": "results", "event_log": "time_history", "impacts": "time_history", "trace": "time_history",
    "structure_history": "", "structure_samples": "",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name at its first use: most of them need numpy, and what computes starts JAX."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name] or name}")
    return getattr(home, name) if _HOMES[name] else home


def __dir__() -> list[str]:
    """The public names."""
    return __all__
