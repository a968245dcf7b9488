"""All rows of a run by the bins of a view's columns at once: what brushes over any number of rows, and a page without a server, need.

Results of a study are smooth almost everywhere in its parameters. So rows fall into far fewer combinations of bins than there are rows, and
whoever has the number of rows of each combination can count the rows of any brush without reading them again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tribosweep.sweep.explore.bins import NONE, escaped
from tribosweep.sweep.explore.rows import BIN, ROWS, SUM, VALID, Rows, View, finite, texts
from tribosweep.sweep.io.errors import ConfigError, Problem

CHUNK = 4_000_000  # about how many rows are read at a time
FEW = 4  # rows to a combination from which on combinations are kept instead of rows
MOST_BUILT = 2  # cubes that are kept in memory


class StoppedError(Exception):
    """The cube is not wanted any more."""


@dataclass(slots=True)
class Progress:
    """How far a cube is.

    Attributes:
        done, of: shards. table: of the finished cube, else empty. groups: its rows. error: why there is none.
        stop: set to end the work.
    """

    done: int = 0
    of: int = 0
    table: str = ""
    groups: int = 0
    error: str = ""
    stop: threading.Event = field(default_factory=threading.Event)


def build(rows: Rows, view: View, progress: Progress | None = None, told: Callable[[int, int], None] | None = None) -> str:
    """Read all rows, and make a table of them by the bins of a view.

    Args:
        rows: of the run. view: whose bins. progress: is kept up to date.
        told: is called with the numbers of shards that are done and there.

    Returns:
        The name of a view of the database. It has the columns of `view`, without the point; ROWS says for how many rows each row stands. If
        rows have nearly as many combinations of bins as there are rows, it has a row for each row.
    """
    progress = progress or Progress()
    table, parts = f"cube_{view.number}", f"parts_{view.number}"
    together = max(1, CHUNK * len(rows.files) // rows.count)
    chunks = [rows.files[first : first + together] for first in range(0, len(rows.files), together)]
    progress.of = len(rows.files)
    codes = [f'"{BIN}{escaped(name)}"' for name in view.names]
    coded = [f"{rows.code_in_file(name, view.bins)} AS {code}" for name, code in zip(view.names, codes, strict=True)]
    each = [f'{finite(name)} AS "{SUM}{escaped(name)}"' for name in view.means]
    with rows.cursor(limit=None) as cursor:
        collapsed = True
        for number, chunk in enumerate(chunks):
            if progress.stop.is_set():
                raise StoppedError
            source = f"SELECT {', '.join([*coded, *each])} FROM read_parquet({texts(chunk)}, hive_partitioning = false)"
            grouped = f"SELECT {', '.join([*codes, *_counted(view)])} FROM ({source}) GROUP BY ALL"
            if number == 0:
                cursor.execute(f"CREATE OR REPLACE TABLE {parts} AS {grouped}")
                combinations, held = cursor.execute(f'SELECT count(*), sum("{ROWS}") FROM {parts}').fetchone() or (0, 0)
                collapsed = combinations * FEW <= held
                if not collapsed:
                    cursor.execute(f"CREATE OR REPLACE TABLE {parts} AS {source}")
            else:
                cursor.execute(f"INSERT INTO {parts} {grouped if collapsed else source}")
            progress.done += len(chunk)
            if told is not None:
                told(progress.done, progress.of)
        valid = [f'("{SUM}{escaped(name)}" IS NOT NULL)::DOUBLE AS "{VALID}{escaped(name)}"' for name in view.means]
        made = ["*"] if collapsed else ["*", *valid, f'1::DOUBLE AS "{ROWS}"']
        if collapsed:
            cursor.execute(f"CREATE TABLE merged_{view.number} AS SELECT {', '.join([*codes, *_added(view)])} FROM {parts} GROUP BY ALL")
            cursor.execute(f"DROP TABLE {parts}")
            cursor.execute(f"ALTER TABLE merged_{view.number} RENAME TO {parts}")
        cursor.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT {', '.join(made)} FROM {parts}")
        (progress.groups,) = cursor.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
    progress.table = table
    return table


def drop(rows: Rows, number: int) -> None:
    """Free the memory of the cube of a view."""
    with rows.cursor(limit=None) as cursor:
        cursor.execute(f"DROP VIEW IF EXISTS cube_{number}")
        cursor.execute(f"DROP TABLE IF EXISTS parts_{number}")


def coarsen(rows: Rows, view: View, table: str, most: int) -> tuple[str, int]:
    """Join neighbouring bins, two and two, until a cube has at most `most` rows: the finest level of a pyramid that fits.

    Returns:
        The name of the table, and how many bins are joined to one.

    Raises:
        ConfigError: even a few bins to a column make more rows.
    """
    with rows.cursor(limit=None) as cursor:
        for level in range(6):
            if level == 0:
                codes = [f'"{BIN}{escaped(name)}"' for name in view.names]
            else:
                codes = [
                    f"(CASE WHEN {code} = {NONE} THEN {NONE} ELSE {code} >> {level} END)::UTINYINT AS {code}" if name in view.bins else code
                    for name, code in ((name, f'"{BIN}{escaped(name)}"') for name in view.names)
                ]
            cursor.execute(
                f"CREATE OR REPLACE TABLE level_{view.number} AS SELECT {', '.join([*codes, *_added(view)])} FROM {table} GROUP BY ALL"
            )
            (count,) = cursor.execute(f"SELECT count(*) FROM level_{view.number}").fetchone() or (0,)
            if count <= most:
                return f"level_{view.number}", 2**level
    names = ", ".join(view.names)
    raise ConfigError("--out", [Problem("", f"{count:,} combinations of {names} are too many for one page: name fewer with --column")])


def _counted(view: View) -> list[str]:
    """SQL expressions that count rows and add up values."""
    sums = [f'sum({name}) AS {name}, count({name})::DOUBLE AS "{VALID}{escaped(mean)}"' for mean, name in _sums(view)]
    return [f'count(*)::DOUBLE AS "{ROWS}"', *sums]


def _added(view: View) -> list[str]:
    """SQL expressions that add counts and sums."""
    names = [f'"{ROWS}"', *(each for mean, name in _sums(view) for each in (name, f'"{VALID}{escaped(mean)}"'))]
    return [f"sum({name}) AS {name}" for name in names]


def _sums(view: View) -> list[tuple[str, str]]:
    """The columns of which there are means, and the names of their sums."""
    return [(name, f'"{SUM}{escaped(name)}"') for name in view.means]
