"""The answer of an analysis."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.table_files import is_table, write_table
from tribosweep.sweep.results.printed import PrintedTable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from tribosweep.sweep.results.picture import Picture


class Result:
    """What an analysis of a run answers; a notebook shows it.

    A result says what its tables are, and which facts, sentences and picture go with them. From that follow data frames, files, what the
    command prints and its JSON.
    """

    __slots__ = ()
    folder: ClassVar[str] = ""  # of a run's directory, where tables of an analysis that takes RUN_ONLY are written; empty: they are not
    shown: ClassVar[int] = 1  # how many of its tables, the first ones, a notebook shows
    longest: ClassVar[int] = 60  # how many rows of each
    optional: ClassVar[bool] = False  # whether tables without rows are left out of both
    pictures: ClassVar[Sequence[str]] = ()  # their names if there are several; the request says which one is drawn unless `plot` is told

    if TYPE_CHECKING:  # each has notes of its own: a value here would be the default of a field of this name

        @property
        def notes(self) -> list[str]:
            """Sentences for the reader, such as how many rows failed."""

    def __repr__(self) -> str:
        """One line."""
        return f"<{type(self).__name__} of {self.line()}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.results.frames import to_pandas
        from tribosweep.sweep.results.html import said

        shown = [table for table in self.tables().values() if table.num_rows or not self.optional][: self.shown]
        tables = [to_pandas(table).to_html(index=False, max_rows=self.longest) for table in shown]
        return "\n".join([f"<div>{said(repr(self)[1:-1])}</div>", *tables, *(f"<div>{said(note)}</div>" for note in self.notes)])

    def line(self) -> str:
        """The answer in one line, which goes on after "of"."""
        raise NotImplementedError

    def tables(self) -> Mapping[str, pa.Table]:
        """Its tables by name, the main one first; the fields' metadata hold units and descriptions."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any] | pd.DataFrame:
        """What `--json` prints of it, besides the directory, the notes and the files; of a data frame nothing besides."""
        return {name: table.to_pylist() for name, table in self.tables().items()}

    def printed(self) -> Iterator[PrintedTable | str]:
        """What the command prints: tables and lines."""
        raise NotImplementedError

    def plot(self, out: str | os.PathLike[str] | None = None, *, picture: str | None = None) -> Picture:
        """Draw it; needs `tribosweep[plot]`. The module `figure` beside that of its class draws it.

        Args:
            out: file to write too, .png, .svg or .pdf.
            picture: one of `pictures`, where there are several.

        Raises:
            ConfigError: matplotlib is missing, the suffix is another one, or there is nothing to draw, or no such picture. OSError: the
                file cannot be written.
        """
        with in_python():
            if picture is not None and picture not in self.pictures:
                raise ConfigError("plot", [Problem("picture", f"{picture!r} is none; {advise(picture, self.pictures)}")])
            return self._draw(out, picture)

    def _draw(self, out: str | os.PathLike[str] | None, picture: str | None = None) -> Picture:
        """Draw it; messages name options of the command."""
        module = f"{type(self).__module__.rpartition('.')[0]}.figure"
        if find_spec(module) is None:
            raise ConfigError("plot", [Problem("", f"{type(self).__name__} has no picture")])
        figure = import_module(module)
        drawn: Picture = figure.draw(self, None if out is None else Path(out), *([picture] if self.pictures else []))
        return drawn

    def hints(self, drawn: bool) -> Sequence[str]:  # noqa: ARG002 - those of subclasses depend on it
        """What is said on stderr besides the notes of the picture, if it is drawn, or of what is printed."""
        return ()

    def save(self, out: Path) -> None:
        """Write the main table, .csv or .parquet, or the picture, .png, .svg or .pdf; errors as of `plot`."""
        if is_table(out):
            write_table(self.to_arrow(), out)
        else:
            self._draw(out)

    @property
    def has_failures(self) -> bool:
        """Whether something that was asked for has no answer, so that the command ends with status 3."""
        return False

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """One of its tables, by default the main one; ConfigError if there is none of that name."""
        found = self.tables()
        if table is not None and table not in found:
            raise ConfigError("to_arrow", [Problem("table", f"{table!r} is none; {advise(table, found)}")])
        return found[next(iter(found)) if table is None else table]

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """One of its tables as a data frame, by default the main one.

        Returns:
            The frame; `frame.attrs["units"]` and `frame.attrs["descriptions"]` map columns to their unit and description.

        Raises:
            ConfigError: there is no table of that name.
        """
        from tribosweep.sweep.results.frames import to_pandas

        return to_pandas(self.to_arrow(table))

    def write(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the tables as Parquet files into a folder of a run's directory, in place of those of an earlier call.

        Returns:
            The paths of the files.

        Raises:
            OSError: they cannot be written.
        """
        from tribosweep.sweep.io import sealed_parquet
        from tribosweep.sweep.io.atomic import make_inner_folder, write_together

        if not self.folder:
            return []
        inner = Path(directory) / self.folder
        make_inner_folder(inner)
        files = {inner / f"{name}.parquet": table for name, table in self.tables().items()}
        left_out = [file for file, table in files.items() if self.optional and not table.num_rows]
        written = {file: sealed_parquet.to_bytes(table) for file, table in files.items() if file not in left_out}
        write_together(written, left_out)
        return [*written]


def metadata_of(state: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, str]:
    """The metadata of a table: the hash of the study of a run, by its state, and what was asked."""
    return {"config_hash": str(state.get("config_hash", "")), "request": json.dumps(request)}


def finite_or_none(value: float) -> float | None:
    """A number, or None in place of NaN and infinity."""
    return float(value) if math.isfinite(value) else None
