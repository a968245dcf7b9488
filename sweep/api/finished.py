"""A run as an object: its rows, its state, and what can be drawn from it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.api import datasets
from tribosweep.sweep.api.analyses import Analyses
from tribosweep.sweep.design.axis import Counted
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.execution.dataset import Dataset, rows_of
from tribosweep.sweep.execution.directory import RunDirectory, count_failed
from tribosweep.sweep.io.argument_names import in_python, texts_of
from tribosweep.sweep.io.errors import ConfigError, Problem, RowError, advise
from tribosweep.sweep.results import frames
from tribosweep.sweep.results.result import Result
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr

    from tribosweep.sweep.api.openturns import OpenTurnsSamples
    from tribosweep.sweep.results.picture import Picture

WORDED = 5  # failed rows that an error names


@dataclass(frozen=True, slots=True, repr=False)
class Run(Analyses):
    """A run, which may be incomplete or one share of a run. It shows itself in a notebook.

    Attributes:
        directory: its directory, in which `points/` is the dataset.
        config: the study.
        complete: whether all shards exist.
        statuses: rows by status.
        seconds: times of the last call that computed: compiling, computing, encoding and writing (parallel to computing), waiting, total.
        computed: number of rows that this call computed; 0 if nothing was missing.
        problems: sentences on problems with the devices or options of the computation.

    Examples:
        >>> run = tribosweep.run({"study": {"name": "four"}, "sweep": {"axes": {"a0": [15.0, 1.5], "mu": [0.1, 0.2]}}})
        >>> run
        <Run 'four': complete, 4 rows, in 'runs/four'>
        >>> run.to_pandas()[["a0", "mu", "wear_power", "regime"]]
        >>> run.to_xarray().wear_power.sel(a0=15.0).shape
        (2,)
        >>> run.map(color="stick_fraction").save("four.png")
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
        rows = self.rows
        state = "complete" if self.complete else "incomplete"
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"<Run {self.config.name!r}: {state}, {rows:,} {'row' if rows == 1 else 'rows'}{failed}, in {str(self.directory)!r}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.api.display import html

        return html(self.directory, self.config, self.complete, self.statuses, (self.map, self.plot, self._slice))

    def _slice(self) -> Picture:
        """The map over the first two axes; each of the others is held at its first value."""
        return self.map(at={axis.name: datasets.values_along(axis)[0] for axis in self.config.design.axes[2:] if isinstance(axis, Counted)})

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.statuses.values())

    @property
    def failed(self) -> int:
        """Number of rows without results. A status other than "ok" may also be a remark on a row with results."""
        return count_failed(self.statuses)

    @property
    def remarks(self) -> dict[str, int]:
        """Number of rows that have results and a status other than "ok", by status."""
        return {status.sentence: self.statuses[status.sentence] for status in RESULTS[1:] if status.sentence in self.statuses}

    def raise_failed(self) -> None:
        """Do nothing if every row has results.

        Raises:
            RowError: some rows failed; the message names the first ones, their parameters and their statuses.
        """
        if not self.failed:
            return
        from tribosweep.sweep.analysis.run_state import failed_rows

        rows = failed_rows(self.directory, WORDED).to_pylist()
        names = [name for name in self.config.swept if rows and name in rows[0]]
        first = [f"point {row['point']} ({', '.join(f'{name} = {row[name]}' for name in names)}): {row['status']}" for row in rows]
        raise RowError(str(self.directory), self.failed, self.rows, first)

    def to_arrow(self, columns: Sequence[str] | None = None, *, throw: bool = False) -> pa.Table:
        """The rows in the order of the points; the fields' metadata hold units and descriptions.

        Args:
            columns: their names; default all.
            throw: whether failed rows raise an error instead of being there with NaN and their status.

        Raises:
            ConfigError: the run has no column of that name; a shard is not as it was written, or there is none.
            RowError: rows failed, with `throw`.
        """
        if throw:
            self.raise_failed()
        return rows_of(self.directory, columns)

    def to_pandas(self, columns: Sequence[str] | None = None, *, throw: bool = False) -> pd.DataFrame:
        """The rows in the order of the points as a pandas DataFrame, words such as `regime` and `status` as categories.

        Args:
            columns: see `to_arrow`, also for the errors.
            throw: see `to_arrow`.

        Returns:
            The frame; `frame.attrs["units"]` and `frame.attrs["descriptions"]` map columns to their unit and description.
        """
        return frames.to_pandas(self.to_arrow(columns, throw=throw))

    def to_polars(self, columns: Sequence[str] | None = None, *, throw: bool = False) -> pl.DataFrame:
        """The rows in the order of the points as a polars DataFrame, words as categories; needs `tribosweep[polars]`.

        Args:
            columns: see `to_arrow`, also for the errors.
            throw: see `to_arrow`.
        """
        return frames.to_polars(self.to_arrow(columns, throw=throw))

    def to_xarray(self, columns: Sequence[str] | None = None, *, throw: bool = False) -> xr.Dataset:
        """The rows as an xarray Dataset; needs `tribosweep[xarray]`.

        Args:
            columns: names of the observables, as columns or as variables of the Dataset; default all.
            throw: see `to_arrow`, also for the errors.

        Returns:
            Of a grid, the axes (random draws: `draw`) are dimensions with their values as coordinates; rows that are not computed yet are
            NaN. Any other design has one dimension, `row`, along which its parameters are coordinates. Parameters that are the same in all
            rows are coordinates without a dimension. Of a structure, observables of supports have the dimension `support`, those of
            observed points `observed`; so "wear_power" names that of all supports, the columns "wear_power[first]" ... Entries of other
            lists have a dimension of their own. Words are texts. Every variable has `units` (SI), `long_name` and `description`, which
            xarray's plots show; `to_netcdf` writes all of it.
        """
        chosen = None if columns is None else datasets.columns_of(columns, Dataset(self.directory).names, self.config)
        return datasets.to_xarray(self.to_arrow(chosen, throw=throw), self.config)

    def to_openturns(
        self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None, *, throw: bool = False
    ) -> OpenTurnsSamples:
        """The rows as two samples of OpenTURNS, and the distribution of the inputs; needs `tribosweep[openturns]`.

        Args:
            inputs: names of parameters; default all that vary and are numbers or words.
            outputs: names of observables; default all that are numbers or words and have a value in every row.
            throw: see `to_arrow`.

        Returns:
            Samples with names and units, in SI units; words are their codes, a table times a random factor is that factor. Rows that
            failed, or that lack one of these values, are left out and counted. `distribution` is the joint distribution of the inputs with
            its copula if the design draws them.

        Raises:
            ConfigError: the run has no such column, it holds lists, or no row has all values. RowError: rows failed, with `throw`.

        Examples:
            >>> axes = {"mu": tribosweep.between(0.1, 0.3), "a0": tribosweep.distribution("normal", mean="5 m/s^2", std="1 m/s^2")}
            >>> sample = tribosweep.run(tribosweep.Study(name="sample", design="sobol", count=64, end=5.0, **axes))
            >>> found = sample.to_openturns(outputs=["wear_power"])
            >>> found.inputs.getDescription()
            [mu,a0 [m/s^2]]
            >>> found.distribution.getMarginal(1).getMean()
        """
        from tribosweep.sweep.api import openturns

        return openturns.to_openturns(self.to_arrow(throw=throw), self.config, inputs, outputs)

    def export(self, out: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Path:
        """Write the rows as one file for other programs, as `tribosweep export` does.

        Args:
            out: the file: .csv (units in its header), .parquet, .arrow or .feather, or .nc (NetCDF of `to_xarray`, with
                `tribosweep[xarray]`).
            columns: their names; default all. NetCDF has the parameters besides.

        Returns:
            The path of the file.

        Raises:
            ConfigError: another ending, or see `to_arrow`. OSError: the file cannot be written.
        """
        from tribosweep.sweep.api import exporting

        with in_python():
            return exporting.export(self.directory, self.config, Path(out), columns)

    def map(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        color: str | None = None,
        areas: str | None = None,
        at: Mapping[str, Any] | None = None,
        support: str | None = None,
        over: str | Sequence[str] | None = None,
        statistic: str | None = None,
        quantile: float | None = None,
        chance: str | None = None,
        bins: int | None = None,
        confidence: float = 0.95,
        lines: Sequence[float] | float = (),
        log: bool = False,
        out: str | os.PathLike[str] | None = None,
    ) -> Picture:
        """Draw the regimes, or a statistic over draws, over two parameters, as `tribosweep map` does; needs `tribosweep[plot]`.

        Args:
            x: parameter on the horizontal axis; default the first one that varies.
            y: parameter on the vertical axis; default the next one that varies.
            color: observable that shades the regimes, or "none"; default the main one of the model.
            log: whether its logarithm shades.
            areas: word or whole-number observable that divides the map; default the regime.
            at: parameter -> value (the nearest one of the run counts) for those that vary besides the axes.
            support: of a structure, the support to which the observables belong.
            over: parameters over whose values a statistic is taken at each place, such as "draw"; default
                those drawn at each combination of the others.
            statistic: "mean" (default with `over`) or "std" of the observable, "share" of the most frequent word or "entropy" of words,
                or the number of "rows".
            quantile: instead: probability of a quantile of the observable, in (0, 1).
            chance: instead: an event such as "buckled=1", whose probability is drawn.
            bins: number of equal parts of each axis whose rows are taken together, for a design that samples.
            confidence: level of the intervals of the statistic, which are the bands of lines.
            lines: values, in the unit of what shades the map, where lines are drawn.
            out: file to write too, .png, .svg or .pdf.

        Returns:
            The picture, which a notebook shows.

        Raises:
            ConfigError: fewer than two parameters vary, or a name or number is wrong.
        """
        from tribosweep.sweep.api.groups import map_of
        from tribosweep.sweep.plots.regime_map import draw

        asked = {
            "color": color, "areas": areas, "support": support, "over": over, "statistic": statistic, "quantile": quantile,
            "chance": chance, "bins": bins, "confidence": confidence,
        }  # fmt: skip
        with in_python():
            return draw(map_of(self.directory, x, y, at, asked, lines), path_of(out), log)

    def lines(
        self,
        levels: Sequence[float] | float,
        x: str | None = None,
        y: str | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        **asked: Any,
    ) -> pa.Table:
        """Where the shading of a map passes levels, such as the line on which a probability is 5 %, with the band of its interval.

        Args:
            levels: in the unit of what shades the map.
            x: see `map`.
            y: see `map`.
            at: see `map`.
            asked: `color`, `over`, `statistic`, `quantile`, `chance`, `bins` and `confidence` of `map`.

        Returns:
            One row for each place: `line` (number of the piece), `level`, `of` ("value", "lower" or "upper": the end of the interval that
            passes the level there), and the two parameters under their names.

        Raises:
            ConfigError: the rows are not on a grid, or as `map`.

        Examples:
            >>> run.lines(2.0, color="wear_power").column_names
            ['line', 'level', 'of', 'a0', 'mu']
        """
        from tribosweep.sweep.analysis.isolines import line_table
        from tribosweep.sweep.api.groups import map_of

        with in_python():
            return line_table(map_of(self.directory, x, y, at, asked, levels))

    def plot(
        self,
        observable: str | None = None,
        x: str | None = None,
        *,
        by: str | None = None,
        at: Mapping[str, Any] | None = None,
        log: bool = False,
        out: str | os.PathLike[str] | None = None,
    ) -> Picture:
        """Draw an observable over one parameter; needs `tribosweep[plot]`.

        Args:
            observable: its name; default the main one of the model.
            x: parameter on the axis; default the first one that varies.
            by: parameter or word whose values are lines, eight of them at most; default the other parameter that varies.
            at: parameter -> value (the nearest one of the run counts) for those that vary besides.
            log: whether the observable is drawn on a logarithmic axis.
            out: file to write too, .png, .svg or .pdf.

        Returns:
            The picture, which a notebook shows.

        Raises:
            ConfigError: no parameter varies, too many do, or a name is unknown.
        """
        from tribosweep.sweep.analysis.curves import read_curves
        from tribosweep.sweep.plots.curves import draw

        with in_python():
            return draw(read_curves(self.directory, observable, x, by, texts_of(at)), path_of(out), log)

    def report(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        color: str | None = None,
        at: Mapping[str, Any] | None = None,
        over: str | Sequence[str] | None = None,
        traces: int = 64,
    ) -> Path:
        """Write the run as one HTML file that shows itself in a browser, or as a PDF; needs `tribosweep[report]`.

        Args:
            out: .html file to write, or a .pdf file if Chromium, Chrome or Edge is installed; default `report.html` in the directory of the
                run.
            x: see `map`; one varied parameter is enough.
            y: see `map`.
            color: see `map`.
            at: see `map`.
            over: parameters over which means are taken; default "draw" and others drawn at each combination of the rest.
            traces: how many points, spread over the map, have a time trace.

        Returns:
            The path of the file.

        Raises:
            ConfigError: no parameter varies, a name is unknown, `out` ends in neither .html nor .pdf, or no browser prints a PDF.
        """
        from tribosweep.sweep.api.groups import names_of
        from tribosweep.sweep.report import content, paper

        file = self.directory / "report.html" if out is None else Path(out)
        with in_python():
            write = paper.prepare(file)
            write(content.read_content(self.directory, x, y, color, texts_of(at), traces, over=names_of(over)))
        return file

    def analyse(self, name: str, **asked: Any) -> Result:
        """Carry out an analysis by its name, also one that another package brings by its entry point `tribosweep.analyses`.

        Args:
            name: of the analysis, as `tribosweep --help` lists it.
            asked: what it asks for, as the options of its command.

        Raises:
            ConfigError: there is no such analysis, or what is asked for is wrong.
        """
        from tribosweep.sweep.registry import analyses

        known = {each.called: each for each in analyses().values()} | analyses()
        if name not in known:
            raise ConfigError("analyse", [Problem("name", f"{name!r} is no analysis; {advise(name, known)}")])
        found = known[name]
        with in_python(found.arguments):
            return found.compute(self.directory, found.read(asked, python=True), None)

    def over(
        self,
        parameter: str | Sequence[str],
        observables: Sequence[str] = (),
        confidence: float = 0.95,
        chances: Sequence[str] = (),
        quantiles: Sequence[float] = (),
    ) -> pa.Table:
        """Mean, spread, quantiles and probabilities over swept parameters, such as "draw", at each point of the others.

        Args:
            parameter: its name, or several names.
            observables: numbers or words; default all numbers that have a unit.
            confidence: level of the intervals.
            chances: events such as "buckled=1".
            quantiles: their probabilities, in (0, 1).

        Returns:
            The table of `tribosweep show --over`; see `group_statistics` for its columns and errors.
        """
        from tribosweep.sweep.analysis.group_statistics import group_statistics

        with in_python():
            return group_statistics(self.directory, parameter, observables, confidence, chances, quantiles)

    def convergence(self) -> pa.Table:
        """The table of a convergence study, one row per point; FileNotFoundError for another run."""
        from tribosweep.sweep.execution.adaptive.convergence_table import read_written

        directory = RunDirectory(self.directory)
        if not isinstance(self.config.design, Convergence):
            raise FileNotFoundError(errno.ENOENT, "the run is no convergence study", str(directory.convergence))
        return read_written(directory, self.config)

    def boundaries(self) -> pa.Table:
        """The curves of a boundary study, one row per place; FileNotFoundError for another or an incomplete run."""
        from tribosweep.sweep.execution.adaptive.boundary_table import read_boundaries

        return read_boundaries(self.directory)


def path_of(out: str | os.PathLike[str] | None) -> Path | None:
    """The path of a file that may be asked for."""
    return None if out is None else Path(out)
