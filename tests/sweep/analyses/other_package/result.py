"""The answer of an analysis of another package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from tribosweep.sweep.execution.dataset import rows_of
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result


@dataclass(frozen=True, slots=True, repr=False)
class Other(Result):
    """The number of rows, times a factor."""

    directory: Path
    factor: float
    notes: list[str] = field(default_factory=list)

    folder: ClassVar[str] = "other"

    def line(self) -> str:
        """The number."""
        return str(self.facts()["twice"])

    def facts(self) -> dict[str, Any]:
        """The number."""
        return {"twice": self.factor * rows_of(self.directory).num_rows}

    def tables(self) -> dict[str, pa.Table]:
        """The number."""
        return {"numbers": pa.table({"twice": [self.facts()["twice"]]})}

    def printed(self) -> Iterator[PrintedTable | str]:
        """The number."""
        yield self.line()
