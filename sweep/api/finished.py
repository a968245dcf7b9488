"""A run as an object: its rows, its state, and what can be drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kernels.models.status import RESULTS
from sweep.execution.dataset import Dataset, read_table
from sweep.execution.directory import RunDirectory, count_failed
from sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A run, which may be incomplete or one share of a run.

    Attributes:
        directory: its directory, in which `points/` is the dataset.
        config: the study.
        complete: whether all shards exist.
        statuses: rows by status.
        seconds: times of the last call that computed: compiling, computing, encoding and writing (parallel to computing), waiting, total.
        computed: number of rows that this call computed; 0 if nothing was missing.
        problems: sentences on problems with the devices or options of the computation.
    """

    directory: Path
    config: Config
    complete: bool
    statuses: dict[str, int]
    seconds: dict[str, float]
    computed: int
    problems: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One line: the study, how far it is, and where."""
        rows = sum(self.statuses.values())
        state = "complete" if self.complete else "incomplete"
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"<Run {self.config.name!r}: {state}, {rows:,} {'row' if rows == 1 else 'rows'}{failed}, in {str(self.directory)!r}>"

    @property
    def failed(self) -> int:
        """Number of rows without results. A status other than "ok" may also be a remark on a row with results."""
        return count_failed(self.statuses)

    @property
    def remarks(self) -> dict[str, int]:
        """Number of rows that have results and a status other than "ok", by status."""
        return {status.sentence: self.statuses[status.sentence] for status in RESULTS[1:] if status.sentence in self.statuses}

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows in the order of the points, with all or the named columns; the fields' metadata hold units and descriptions.

        Raises:
            ConfigError: a shard is not as it was written, or there is none.
        """
        return Dataset(self.directory).table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """The rows in the order of the points as a pandas DataFrame; `regime`, `scheme` and `status` are categorical."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def over(self, parameter: str, observables: Sequence[str] = (), confidence: float = 0.95, chances: Sequence[str] = ()) -> pa.Table:
        """Mean and spread over one swept parameter, such as "draw" or "record", at each point of the others; see `group_statistics`."""
        from sweep.analysis.group_statistics import group_statistics

        return group_statistics(self.directory, parameter, observables, confidence, chances)

    def convergence(self) -> pa.Table:
        """The table of a convergence study, one row per point; FileNotFoundError for another run."""
        directory = RunDirectory(self.directory)
        return read_table(directory, directory.convergence)

    def boundaries(self) -> pa.Table:
        """The curves of a boundary study, one row per place; FileNotFoundError for another or an incomplete run."""
        from sweep.execution.adaptive.boundary_table import read_boundaries

        return read_boundaries(self.directory)
