"""Values that all rows of a run share, as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models import TIME, Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.design.axis import SCHEME


def value_in_words(value: Any) -> str:
    """The value of a parameter in readable form."""
    if isinstance(value, list | tuple):
        return "; ".join(f"{node:g}" for node in value)
    return f"{value:.10g}" if isinstance(value, float | int) else str(value)


def unit_of(model: Model, name: str) -> str:
    """The unit of a parameter or an observable; empty if it has none."""
    quantity = (by_name(model.parameters) | by_name(model.observables)).get(name)
    return quantity.unit_suffix.strip() if quantity and name != SCHEME else ""


def fixed_in_words(model: Model, fixed: Mapping[str, Any], digits: int = 6) -> list[str]:
    """The values that a study gives to all rows, except those of [time]: "m = 1 kg", "k = 1e+04 N/m" ..."""
    times = by_name(TIME)
    said = []
    for name, value in fixed.items():
        if name in times:
            continue
        number = f"{value:.{digits}g}" if isinstance(value, float | int) else value_in_words(value)
        said.append(f"{name} = {number} {unit_of(model, name)}".rstrip())
    return said
