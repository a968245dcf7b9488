"""Reading files that a user names: regular files only, and none beyond a bound."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from tribosweep.sweep.io import system

MEBIBYTE = 2**20
MOST_TEXT = 32 * MEBIBYTE  # of a text that is read as a whole: a study, a manifest
MOST_NOTE = 2**16  # of a file of some words: a mark, a lock
MOST_STUDY = 16 * MEBIBYTE  # of a study in the manifest of its run, which holds little else
MOST_FOOTER = 8 * MOST_STUDY  # of a Parquet file that tribosweep has written: it says the study several times
MOST_TABLE = 2048 * MEBIBYTE  # of such a file


def require_regular(path: Path) -> os.stat_result:
    """Check that a path names a regular file, whose end is known; pipes and devices may keep a reader waiting forever.

    Raises:
        OSError: it does not exist or is no regular file; the message says what it is.
    """
    try:
        found = path.stat()
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, f"no file has such a name ({error})", str(path)) from None
    if not stat.S_ISREG(found.st_mode):
        kind = system.KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise OSError(errno.EINVAL, f"is {kind}: only regular files are read", str(path))
    return found


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: as `require_regular`; or the file cannot be read, or has more than `most` bytes.
    """
    size = require_regular(path).st_size
    if most is not None and size > most:
        raise OSError(errno.EFBIG, f"has {size:,} bytes: at most {most:,} are read", str(path))
    with os.fdopen(system.open_to_read(path), "rb") as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most:,} bytes", str(path))
    return data


def holds(path: Path, content: bytes) -> bool:
    """Whether a path names a regular file of exactly this content; no more than that is read."""
    try:
        return require_regular(path).st_size == len(content) and read_bytes(path, len(content)) == content
    except OSError:
        return False


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """The content of a regular file of UTF-8 text.

    Raises:
        OSError: as `read_bytes`. UnicodeDecodeError: it is no UTF-8 text.
    """
    return read_bytes(path, most).decode()
