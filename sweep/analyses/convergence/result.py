"""The curves of a convergence study: differences from the exact result and from the limit, over the step or the tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class ConvergenceCurve:
    """The differences of one point of a study.

    Attributes:
        point: its number. given: what tells it from the others: parameters, or the time scheme, with their values.
        refined: the quantity that is refined: a step or the tolerance.
        places: (levels,) values of `refined`, in its unit.
        from_exact: (levels,) relative differences from the exact result; NaN if there is none.
        from_limit: (levels,) relative differences from the extrapolated result, or from the finest result if there is no extrapolation.
    """

    point: int
    given: tuple[tuple[Quantity, Any], ...]
    refined: Quantity
    places: np.ndarray
    from_exact: np.ndarray
    from_limit: np.ndarray

    @property
    def name(self) -> str:
        """What tells it from the others: "k = 2 N/m, scheme = euler"."""
        return ", ".join(f"{quantity.name} = {in_words(quantity, value)}" for quantity, value in self.given)

    @property
    def visible(self) -> bool:
        """Whether any of its differences can be shown on a logarithmic axis."""
        return bool((self.from_exact > 0.0).any() or (self.from_limit > 0.0).any())


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ConvergenceCurves(Result):
    """The curves of a convergence study: those of at most eight of its points, spread evenly over those that have a difference above 0.

    Attributes:
        title: title of the picture.
        observable: the observable whose differences are drawn.
        curves: those of the points.
        notes: sentences that say what is left out.
    """

    title: str
    observable: Quantity
    curves: tuple[ConvergenceCurve, ...]
    notes: list[str]

    def line(self) -> str:
        """The study and its observable."""
        return f"{self.title}, {self.observable.name}"

    def tables(self) -> dict[str, pa.Table]:
        """The "curves", one row for each point and level: point, curve, refined, unit, value, from_exact and from_limit."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        units = {curve.refined.unit for curve in self.curves}
        fields = [
            described("point", pa.int64(), "", "number of the point"),
            described("curve", pa.string(), "", "what tells the point from the others"),
            described("refined", pa.string(), "", "what is refined: a step or the tolerance"),
            described("unit", pa.string(), "", "unit of the value"),
            described("value", pa.float64(), units.pop() if len(units) == 1 else "", "step or tolerance"),
            described("from_exact", pa.float64(), "1", f"relative difference of {self.observable.name} from the exact result"),
            described("from_limit", pa.float64(), "1", f"relative difference of {self.observable.name} from its own limit"),
        ]
        rows = [
            (curve.point, curve.name, curve.refined.name, curve.refined.unit, *numbers)
            for curve in self.curves
            for numbers in np.stack([curve.places, curve.from_exact, curve.from_limit], axis=1).tolist()
        ]
        names = [field.name for field in fields]
        return {"curves": pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=pa.schema(fields))}


def in_words(quantity: Quantity, value: Any) -> str:
    """A value of a parameter with its unit, as plain text."""
    if value is None or isinstance(value, str):  # such as the name of a record
        return value or "default"
    return ", ".join(f"{number:.6g}" for number in (value if isinstance(value, list) else [value])) + quantity.unit_suffix
