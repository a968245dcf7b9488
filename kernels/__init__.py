"""The physics: closed forms, contact laws, time schemes and observables of friction and shock oscillators.

Importing it prepares JAX (float64, XLA options, one CPU device per core) without importing it; see `kernels.runtime`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernels.excitation.record import Records
from kernels.models import MODELS, REGIMES
from kernels.models.schemes import SCHEMES
from kernels.runtime import jax_setup

if TYPE_CHECKING:
    from kernels.api import moment, simulate
    from kernels.time_history import event_log, impacts, trace

jax_setup.prepare()

__all__ = ["MODELS", "REGIMES", "SCHEMES", "Records", "event_log", "impacts", "moment", "simulate", "trace"]


def __getattr__(name: str) -> Any:
    """Load what starts JAX on first use: reading a configuration does not need it."""
    if name in ("simulate", "moment"):
        from kernels import api

        return getattr(api, name)
    if name in ("event_log", "impacts", "trace"):
        from kernels import time_history

        return getattr(time_history, name)
    raise AttributeError(f"module 'kernels' has no attribute {name!r}")
