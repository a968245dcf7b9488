"""Tables as files that a user asks for: CSV and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.io.atomic import make_folders, write_whole
from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (".csv", ".parquet")


def is_table(path: Path) -> bool:
    """Whether a file is a table by its ending, in capital letters or not."""
    return path.suffix.lower() in FORMATS


def require_table(path: Path) -> None:
    """Raise ConfigError if a file that was asked for is no table."""
    if not is_table(path):
        raise ConfigError("--out", [Problem("", f"{path}: must end in {' or '.join(FORMATS)}")])


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as CSV or Parquet, according to the ending of `path`; its folder is made where it is missing.

    Raises:
        ConfigError: the ending is another one. OSError: the file cannot be written.
    """
    from tribosweep.sweep.io import sealed_parquet

    require_table(path)
    make_folders(path.parent)
    csv = path.suffix.lower() == ".csv"
    write_whole(path, table.to_pandas().to_csv(index=False).encode() if csv else sealed_parquet.to_bytes(table))
