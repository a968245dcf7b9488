"""The answer: how many rows slip farther than a given distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from tribosweep.sweep.execution.dataset import rows_of
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result


@dataclass(frozen=True, slots=True, repr=False)
class SlipRatio(Result):
    """The part of the rows with results that slip farther; a notebook shows it.

    Attributes:
        distances: (n,) slip distances of the rows with results [m]. farther: distance that counts [m]. failed: rows without results.
        notes: for the reader.
    """

    distances: np.ndarray
    farther: float
    failed: int
    notes: list[str] = field(default_factory=list)

    folder: ClassVar[str] = "slip_ratio"

    @property
    def ratio(self) -> float:
        """The part, in [0, 1]; NaN without rows."""
        return float(np.mean(self.distances > self.farther)) if self.distances.size else float("nan")

    def line(self) -> str:
        """The part."""
        return f"{100.0 * self.ratio:.3g} % of {self.distances.size} rows"

    @property
    def has_failures(self) -> bool:
        """Whether rows failed."""
        return self.failed > 0

    def tables(self) -> dict[str, pa.Table]:
        """One row."""
        return {"ratio": pa.table({"farther": [self.farther], "rows": [self.distances.size], "ratio": [self.ratio]})}

    def printed(self) -> Iterator[PrintedTable | str]:
        """The line."""
        yield f"{self.line()} slip farther than {self.farther:g} m"


def count(directory: Path, farther: float) -> SlipRatio:
    """Count the rows of a run."""
    table = rows_of(directory)
    if "slip_distance" not in table.column_names:
        raise ConfigError("slip_ratio", [Problem("", "the run has no slip distance: its mass does not rub")])
    found = table["slip_distance"].to_numpy(zero_copy_only=False)
    known = np.isfinite(found)
    return SlipRatio(found[known], farther, int((~known).sum()))
