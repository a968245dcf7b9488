"""The physics: closed forms, contact laws, time schemes and observables of friction and shock oscillators.

Importing it prepares JAX (float64, XLA options, one CPU device per core) without importing it; see `kernels.runtime`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernels import runtime
from kernels.models import MODELS, REGIMES
from kernels.schemes import SCHEMES

if TYPE_CHECKING:
    from kernels.api import simulate

runtime.prepare()

__all__ = ["MODELS", "REGIMES", "SCHEMES", "simulate"]


def __getattr__(name: str) -> Any:
    """Load `simulate` on first use: it starts JAX, which reading a configuration does not need."""
    if name == "simulate":
        from kernels.api import simulate as loaded

        return loaded
    raise AttributeError(f"module 'kernels' has no attribute {name!r}")
