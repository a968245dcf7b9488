"""The last step of every run: its final status, and NaN for the observables of a run that failed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.observables import NO_FRICTION
from tribosweep.kernels.models.outputs import OBSERVED
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.kernels.models.structure_model import WORN
from tribosweep.kernels.models.supports import PEAK_COUNTS, SUPPORT_OBSERVABLES, named

_OBSERVABLES = [quantity for model in MODELS.values() for quantity in model.observables] + [*SUPPORT_OBSERVABLES, *WORN, PEAK_COUNTS]
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
    finite = _decided(finite, xp)
    status = xp.where(_succeeded(status) & ~finite, int(Status.OVERFLOW), status)
    good = _decided(_succeeded(status), xp)
    results = {
        name: values if name in _SURVIVES else xp.where(good[..., None] if name.partition("[")[0] in _LISTS else good, values, xp.nan)
        for name, values in found.items()
    }
    return results, status


def without_support(model: Model, rows: Mapping[str, Any], found: Mapping[str, Any], xp: Any) -> dict[str, Any]:
    """The observables of friction, 0 and without a regime where a mass beside walls is pressed on no support: there it slips on nothing.

    Args:
        model: the model. rows: resolved parameters; "unpressed" masks rows without a normal force because they have no friction. found:
            observables of an engine, of the common shape of the rows, NaN where a run failed. xp: array module.

    Returns:
        Name -> observable, of the same shape; NaN stays. Empty for a model without walls.
    """
    if not model.walls:
        return {}
    off = (xp.asarray(rows["normal_force"]) == 0.0) & (xp.asarray(rows.get("normal_amplitude", 0.0)) == 0.0)
    given = {name: found[name] for name in NO_FRICTION if name in found}
    # what is 0 anyway, such as mu_d F_n v at mu_d = 0, keeps its derivative; F_n v at g = 0 has none where no friction presses the mass
    cut = {name: rows.get("unpressed", False) if name in ("wear_power", "wear_energy") else False for name in given}
    return {
        name: xp.where(off & ~xp.isnan(values) & ((values != NO_FRICTION[name]) | cut[name]), NO_FRICTION[name], values)
        for name, values in given.items()
    }


def in_lists(returned: Collection[Quantity], order: Sequence[str], found: Mapping[str, Any], xp: Any) -> dict[str, Any]:
    """The observables `returned` (and further results): lists of one entry for each support in place of numbers with their names.

    Args:
        returned: the observables; those with a `length` are lists over supports. order: names of the supports.
        found: the same as numbers (S), under names such as "wear_power[ring]". xp: array module.
    """
    lists = {quantity.name for quantity in returned if quantity.length}
    results = {name: values for name, values in found.items() if name.partition("[")[0] not in lists or "[" not in name}
    some = next(values for name, values in found.items() if name.partition("[")[0] in lists)
    nothing = xp.full(some.shape, xp.nan)
    for name in lists:
        columns = [found.get(named(name, support), nothing) for support in order]
        results[name] = xp.stack([*columns, *[nothing] * (OBSERVED - len(columns))], axis=-1)
    return results


def as_codes(values: Any, dtype: Any, xp: Any) -> Any:
    """Floats of any shape as integers; -1 where a float is NaN."""
    return xp.nan_to_num(values, nan=-1.0).astype(dtype)


def _decided(mask: Any, xp: Any) -> Any:
    """The same decision, which XLA then does not repeat for every observable."""
    if xp is np:
        return mask
    from tribosweep.kernels.numerics.fusion import decide  # starts JAX

    return decide(mask)[0]


def _succeeded(status: Any) -> Any:
    """Mask of the codes of runs that have results."""
    return functools.reduce(operator.or_, (status == int(each) for each in RESULTS))
