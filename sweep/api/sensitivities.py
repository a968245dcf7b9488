"""How observables depend on the parameters of a sample, and how uncertain they are: what `Run.sensitivity` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis.sensitivity.results import (
    DERIVATIVES,
    INDICES,
    QUANTILES,
    SIZES,
    UNCERTAINTY,
    SensitivityRequest,
    SensitivityResult,
)
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.results.picture import Picture

TABLES = (INDICES, UNCERTAINTY, DERIVATIVES, SIZES)
PICTURES = ("bars", "plane", "scatter", "sizes")


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity:
    """The results of a sensitivity analysis; a notebook shows them.

    Attributes:
        result: the numbers as they were computed. notes: sentences for the reader.
    """

    result: SensitivityResult = field(repr=False)

    def __repr__(self) -> str:
        """One line: the observables and what there is of them."""
        there = [f"{len(self.result.lines[table])} {table}" for table in TABLES if self.result.lines[table]]
        return f"<Sensitivity of {', '.join(quantity.name for quantity in self.result.quantities)}: {', '.join(there)}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.results.html import said

        tables = [self.to_pandas(table).to_html(index=False) for table in TABLES[:3] if self.result.lines[table]]
        return "\n".join([*tables, *(f"<div>{said(note)}</div>" for note in self.notes)])

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader."""
        return list(self.result.notes)

    def to_pandas(self, table: str = INDICES) -> pd.DataFrame:
        """One of the tables: "indices", "uncertainty" (mean, spread, quantiles and probabilities), "derivatives" or "sizes".

        Returns:
            One row per number: observable, method, groups, measure, parameter, other, value, and the ends `low` and `high` of its interval.

        Raises:
            ConfigError: there is no such table.
        """
        if table not in TABLES:
            raise ConfigError("to_pandas", [Problem("table", f"{table!r} is none; {advise(table, TABLES)}")])
        from tribosweep.sweep.analysis.sensitivity.results import to_arrow

        frame: pd.DataFrame = to_arrow(self.result, table).to_pandas()
        return frame

    def plot(self, picture: str | None = None, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the results: "bars", "plane" (elementary effects), "scatter" or "sizes"; needs `tribosweep[plot]`.

        Raises:
            ConfigError: there is no such picture, or not of these results.
        """
        from tribosweep.sweep.plots.sensitivity import default_picture, draw

        if picture is not None and picture not in PICTURES:
            raise ConfigError("plot", [Problem("picture", f"{picture!r} is none; {advise(picture, PICTURES)}")])
        return draw(self.result, None if out is None else Path(out), picture or default_picture(self.result))


def analyse_run(
    directory: Path,
    config: Config,
    observables: Sequence[str],
    regime: str | None,
    chances: Sequence[str],
    quantiles: Sequence[float],
    derivatives: int,
    at: Mapping[str, float] | None,
    numbers: Mapping[str, Any],
) -> Sensitivity:
    """Analyse a run; see `Run.sensitivity`. `numbers` are further fields of the request."""
    from tribosweep.sweep.analysis.sensitivity.analysis import analyse
    from tribosweep.sweep.analysis.sensitivity.sample import parts_of
    from tribosweep.sweep.study.event import read_events

    parts_of(config)
    events = read_events("chances", chances, config.model)
    request = SensitivityRequest(
        observables=tuple(observables), regime=regime, events=events, quantiles=tuple(quantiles) or QUANTILES, derivatives=derivatives,
        at=dict(at or {}), **numbers,
    )  # fmt: skip
    return Sensitivity(analyse(directory, config, request))
