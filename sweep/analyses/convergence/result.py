"""The curves of a convergence study: differences from the exact result and from the limit, over the step or the tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ConvergenceCurve:
    """The differences of one point of a study.

    Attributes:
        name: its name in the legend.
        refined: the quantity that is refined: a step or the tolerance.
        places: (levels,) values of `refined`, in its unit.
        from_exact: (levels,) relative differences from the exact result; NaN if there is none.
        from_limit: (levels,) relative differences from the extrapolated result, or from the finest result if there is no extrapolation.
    """

    name: str
    refined: Quantity
    places: np.ndarray
    from_exact: np.ndarray
    from_limit: np.ndarray

    @property
    def visible(self) -> bool:
        """Whether any of its differences can be shown on a logarithmic axis."""
        return bool((self.from_exact > 0.0).any() or (self.from_limit > 0.0).any())


@dataclass(frozen=True, slots=True, repr=False)
class ConvergenceCurves(Result):
    """The curves of one convergence picture.

    Attributes:
        title: title of the picture.
        observable: the observable whose differences are drawn.
        curves: the points that are drawn.
        notes: sentences that say what is not drawn.
    """

    title: str
    observable: Quantity
    curves: tuple[ConvergenceCurve, ...]
    notes: list[str]

    def line(self) -> str:
        """The study and its observable."""
        return f"{self.title}, {self.observable.name}"

    def tables(self) -> dict[str, pa.Table]:
        """The "curves", one row for each point and level: curve, refined, value, from_exact, from_limit."""
        import pyarrow as pa

        rows = [
            {"curve": curve.name, "refined": curve.refined.name, "value": value, "from_exact": exact, "from_limit": limit}
            for curve in self.curves
            for value, exact, limit in np.stack([curve.places, curve.from_exact, curve.from_limit], axis=1).tolist()
        ]
        return {"curves": pa.Table.from_pylist(rows)}
