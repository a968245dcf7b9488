"""Two runs side by side: `compare`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweep.analysis.comparison import compare_studies, differences, join, keys_of
from sweep.api.finished import Run
from sweep.api.opened import open_run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """What differs between two runs; a notebook shows it.

    Attributes:
        studies: the keys of the studies that differ, with both values.
        observables: one row per observable: unit, number of `rows` compared, how many of them are `equal`, the `largest` difference in its
            unit, the largest `relative` one (over the larger of both values), and `where` the largest one is. Of words: how many are equal,
            and where the first other one is.
        rows: the rows that both runs have, with both values of every observable, in columns that end in `_first` and `_second`.
        keys: the columns by which rows are found in the other run.
    """

    studies: pd.DataFrame
    observables: pd.DataFrame
    rows: pd.DataFrame
    keys: tuple[str, ...]

    def __repr__(self) -> str:
        """One line: how many rows and observables differ."""
        changed = int((self.observables["equal"] < self.observables["rows"]).sum())
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return f"<Comparison: {len(self.rows):,} rows{by}, {changed} of {len(self.observables)} observables differ>"

    def _repr_html_(self) -> str:
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return "\n".join([f"<div>{len(self.rows):,} rows{by}</div>", self.studies.to_html(), self.observables.to_html()])


def compare(first: Run | str | os.PathLike[str], second: Run | str | os.PathLike[str], on: Sequence[str] | None = None) -> Comparison:
    """Compare two runs: their studies, and the results of the rows that both have.

    Args:
        first: a run, or its directory.
        second: the run, or its directory, with which it is compared.
        on: swept parameters, by whose equal values a row is found in the other run; default all that both runs sweep.

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
    rows = join(one.to_pandas(), other.to_pandas(), keys)
    observables = differences(rows, one.config.returns, keys)
    return Comparison(compare_studies(one.config, other.config), observables, rows, tuple(keys))
