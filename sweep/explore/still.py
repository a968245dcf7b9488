"""A page without a server: all rows of a run as the counts of their combinations of bins, in one file."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore import cube
from tribosweep.sweep.explore.columns import WORD
from tribosweep.sweep.explore.page import facts_of, still_page
from tribosweep.sweep.explore.rows import BIN, ROWS, SUM, VALID, Rows
from tribosweep.sweep.io.atomic import write_text
from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

MOST_GROUPS = 600_000  # combinations on a page: a brush over them takes some hundredths of a second, a page some megabytes


def write_still(directory: Path, out: Path, names: Sequence[str] = (), told: Callable[[int, int], None] | None = None) -> tuple[int, str]:
    """Write a page with the counts of all rows of a run.

    Args:
        directory: of the run. out: an .html file. names: the columns that are shown; default the swept ones and the first results.
        told: is called with the numbers of shards that are done and there.

    Returns:
        The size of the file [bytes], and a sentence on what it holds.

    Raises:
        ConfigError: there is no run or no such column, `out` is no .html file, or the columns have too many combinations.
        OSError: `out` cannot be written.
    """
    check_suffix(out)
    rows = Rows(directory)
    try:
        facts = facts_of(RunDirectory(directory), rows, names)
        first = facts["first"]
        shown = [*first["histograms"], *first["words"]]
        if not shown:
            raise ConfigError(str(directory), [Problem("", "no column varies: there is nothing to show")])
        means = [name for name in first["histograms"] if rows.columns[name].kind != WORD and not rows.columns[name].swept]
        view = rows.view(shown, means)
        table, joined = cube.coarsen(rows, view, cube.build(rows, view, told=told), MOST_GROUPS)
        with rows.cursor(limit=None) as cursor:
            groups = cursor.sql(f"SELECT * FROM {table} ORDER BY ALL").to_arrow_table()
        held = f"All {rows.count:,} rows are counted, by {groups.num_rows:,} combinations of bins"
        held += ". " if joined == 1 else f", of which each joins {joined} that tribosweep explore would draw. "
        facts |= {
            "still": f"{held}This page holds no single rows.",
            "every": 1,
            "columns": [column for column in facts["columns"] if column["name"] in shown or not column["varies"]],
            "bins": {name: bins.joined(joined).to_json() for name, bins in view.bins.items()},
            "means": means,
            "packed": {"codes": shown},
        }
        text = still_page(facts, packed(groups, shown, means))
    finally:
        rows.close()
    write_text(out, text)
    return len(text.encode()), held.rstrip()


def check_suffix(out: Path) -> None:
    """Raise ConfigError if a file is no .html file."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise ConfigError("--out", [Problem("", f"{out}: must end in .html")])


def packed(groups: pa.Table, names: Sequence[str], means: Sequence[str]) -> dict[str, str]:
    """The columns of a cube as text: name -> its numbers, compressed."""
    kinds: dict[str, Any] = {f"{BIN}{name}": np.uint8 for name in names}
    kinds |= {f"{SUM}{name}": np.float32 for name in means} | {f"{VALID}{name}": np.uint32 for name in means} | {ROWS: np.uint32}
    return {name: _pack(np.nan_to_num(groups.column(name).to_numpy()).astype(kind)) for name, kind in kinds.items()}


def _pack(values: np.ndarray) -> str:
    """Numbers in the order of bytes of all usual machines, compressed, as letters."""
    little = values.astype(values.dtype.newbyteorder("<"))
    return base64.b64encode(gzip.compress(little.tobytes(), 6, mtime=0)).decode()
