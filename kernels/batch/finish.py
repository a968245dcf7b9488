"""The last step of every run: its final status, and NaN for the observables of a run that failed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

from kernels.models import MODELS
from kernels.models.status import RESULTS, Status
from kernels.models.supports import PEAK_COUNTS, SUPPORT_OBSERVABLES

_OBSERVABLES = [quantity for model in MODELS.values() for quantity in model.observables] + [*SUPPORT_OBSERVABLES, PEAK_COUNTS]
_LISTS = {quantity.name for quantity in _OBSERVABLES if quantity.kind == "list"} | {"modal_energy"}
_OPTIONAL = {quantity.name for quantity in _OBSERVABLES if quantity.optional} | _LISTS
_SURVIVES = {quantity.name for quantity in _OBSERVABLES if quantity.survives}


def finish(found: Mapping[str, Any], status: Any, xp: Any) -> tuple[dict[str, Any], Any]:
    """Observables and status of runs.

    Args:
        found: name -> observable of an engine, of any common shape S (a list has one axis more).
        status: codes (S) of an engine.
        xp: array module, numpy or jax.numpy (then differentiable).

    Returns:
        The observables, NaN where the run failed (except with `Quantity.survives`), and the codes. The code is OVERFLOW where an
        observable that is neither optional nor a list is not a finite number.
    """
    finite = functools.reduce(
        operator.and_, (xp.isfinite(values) for name, values in found.items() if name.partition("[")[0] not in _OPTIONAL)
    )
    status = xp.where(_succeeded(status) & ~finite, int(Status.OVERFLOW), status)
    good = _succeeded(status)
    results = {
        name: values if name in _SURVIVES else xp.where(good[..., None] if name.partition("[")[0] in _LISTS else good, values, xp.nan)
        for name, values in found.items()
    }
    return results, status


def as_codes(values: Any, dtype: Any, xp: Any) -> Any:
    """Floats of any shape as integers; -1 where a float is NaN."""
    return xp.nan_to_num(values, nan=-1.0).astype(dtype)


def _succeeded(status: Any) -> Any:
    """Mask of the codes of runs that have results."""
    return functools.reduce(operator.or_, (status == int(each) for each in RESULTS))
