"""The part of a report that an analysis has: its facts, and tables of earlier calls from which they come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from tribosweep.kernels.models.quantity import Quantity
    from tribosweep.sweep.analysis.run_rows import RunRows
    from tribosweep.sweep.execution.stored import Stored

Files = tuple[str, str]  # HTML and script
MOST_ROWS = 100_000  # of a table on a page


@dataclass(frozen=True, slots=True)
class Shown:
    """What a report shows of a run.

    Attributes:
        directory: of the run. rows: a row for each place of its map. shade: the observable that is shaded first.
        over: parameters over which means are taken. at: "name=value" texts that hold parameters.
    """

    directory: Path
    rows: RunRows
    shade: Quantity
    over: Sequence[str] = ()
    at: Sequence[str] = ()

    @property
    def state(self) -> dict[str, Any]:
        """State of the run (`run_state.state_of`)."""
        return self.rows.state


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. The package of its analysis has `section.html`, what stands on the page, and `section.js`, which fills it.

    Attributes:
        facts: for the script, ready for JSON.
        summary: (heading, sentence) for the summary of the report. notes: sentences below it.
    """

    facts: dict[str, Any]
    summary: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


def files_of(package: str) -> Files:
    """What stands on the page for the part of an analysis, and the script that fills it: the files beside its module `section`."""
    page, script = ((files(package) / f"section.{ending}").read_text(encoding="utf-8") for ending in ("html", "js"))
    return page, script


def written_tables(
    directory: Path,
    folder: str,
    kinds: Mapping[str, Mapping[str, pa.DataType]],
    state: Mapping[str, Any],
    request: type[Stored],
    whole: Collection[str] = (),
) -> tuple[dict[str, pa.Table], dict[str, Any]] | None:
    """The tables that a command has written into a folder of a run, and what it was asked; None if there are none.

    Args:
        directory: of the run. folder: its name. kinds: of each table, types of its columns. state: of the run.
        request: the form of what it was asked. whole: columns without empty cells.

    Raises:
        ValueError: they are damaged, of another study or too long; the message is a clause.
    """
    from tribosweep.sweep.execution.stored import load_json
    from tribosweep.sweep.io import sealed_parquet

    if (directory / folder).is_symlink():
        raise ValueError("is a link, and nothing is read where it leads")
    files = {name: directory / folder / f"{name}.parquet" for name in kinds}
    if not all(file.is_file() for file in files.values()):
        return None
    tables = {name: sealed_parquet.require(sealed_parquet.read(file), kinds[name], whole=whole) for name, file in files.items()}
    metadata = next(iter(tables.values())).schema.metadata or {}
    if metadata.get(b"config_hash", b"").decode() != str(state.get("config_hash", "")):
        raise ValueError("is of another study; its command computes it anew")
    asked = load_json(metadata.get(b"request", b""), request)
    if any(table.num_rows > MOST_ROWS for table in tables.values()):
        raise ValueError(f"has a table of more than {MOST_ROWS:,} rows")
    return tables, asked
