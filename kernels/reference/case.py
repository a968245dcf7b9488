"""A published value, and the run that must give it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """One published value.

    Attributes:
        case: what is computed, in words.
        scheme: the scheme of the run.
        quantity, unit: the observable and its unit.
        published: its value, in `unit`.
        tolerance: largest relative difference that passes; if 0 is published, largest absolute difference.
        source: who published it.
        config: parameters of the run (SI units), a word as its code, a table as a tuple.
        note: what a reader should know; empty when nothing.
        model: name of the model in `checks.REFERENCE_MODELS`.
    """

    case: str
    scheme: str
    quantity: str
    unit: str
    published: float
    tolerance: float
    source: str
    config: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    model: str = "rubbing_mass"
