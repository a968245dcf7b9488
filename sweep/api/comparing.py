"""Two runs side by side: `compare`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analysis.comparison import compare_studies, differences, join, keys_of
from tribosweep.sweep.api.finished import Run
from tribosweep.sweep.api.opened import open_run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What differs between two runs; a notebook shows it.

    Attributes:
        studies: the keys of the studies that differ, with both values.
        observables: one row per observable of either run: unit, number of `rows` compared, how many of them are `equal`, how many are
            `one_sided` (one run alone has a value; all rows of an observable that one run lacks), the `largest` difference in its unit, the
            largest `relative` one (over the larger of both values), and `where` the largest one is. Of words: how many are equal, and where
            the first other one is. Of lists the largest difference of an entry, over the largest entry.
        rows: the rows that both runs have, with both values of every observable, in columns that end in `_first` and `_second`.
        keys: the columns by which rows are found in the other run.
        alone: number of rows of the first and of the second run that the other one does not have.
    """

    studies: pd.DataFrame
    observables: pd.DataFrame
    rows: pd.DataFrame
    keys: tuple[str, ...]
    alone: tuple[int, int]

    def __repr__(self) -> str:
        """One line: how many rows and observables differ."""
        changed = int((self.observables["equal"] < self.observables["rows"]).sum())
        return f"<Comparison: {self._shared()}, {changed} of {len(self.observables)} observables differ>"

    def _repr_html_(self) -> str:
        return "\n".join([f"<div>{self._shared()}</div>", self.studies.to_html(), self.observables.to_html()])

    def _shared(self) -> str:
        """How many rows both runs have, and how many one of them."""
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        lone = f" ({self.alone[0]:,} of the first and {self.alone[1]:,} of the second run have no partner)" if any(self.alone) else ""
        return f"{len(self.rows):,} rows{by}{lone}"


def compare(first: Run | str | os.PathLike[str], second: Run | str | os.PathLike[str], on: Sequence[str] | None = None) -> Comparison:
    """Compare two runs: their studies, and the results of the rows that both have.

    Args:
        first: a run, or its directory.
        second: the run, or its directory, with which it is compared.
        on: swept parameters, by whose equal values a row is found in the other run; default all that both runs sweep. Numbers are equal
            if they differ by 1e-12 of their size at most.

    Raises:
        ConfigError: there is no run, or the rows of a run are not told apart by these parameters.

    Examples:
        >>> exact = tribosweep.run(tribosweep.Study(name="exact", k_t=9e6, end=1, a0=[1.5, 15.0]))
        >>> euler = tribosweep.run(tribosweep.Study(name="euler", k_t=9e6, end=1, a0=[1.5, 15.0], scheme="euler"))
        >>> found = tribosweep.compare(exact, euler)
        >>> found.studies.loc["study.scheme"].tolist()
        [None, 'euler']
        >>> bool(found.observables.relative["wear_power"] < 1e-3)
        True
    """
    one, other = (run if isinstance(run, Run) else open_run(run) for run in (first, second))
    keys = keys_of(one.config, other.config, on)
    frames = one.to_pandas(), other.to_pandas()
    rows = join(*frames, keys)
    returned = by_name((*one.config.returns, *other.config.returns))
    alone = len(frames[0]) - len(rows), len(frames[1]) - len(rows)
    return Comparison(compare_studies(one.config, other.config), differences(rows, [*returned.values()], keys), rows, tuple(keys), alone)
