"""The calls of the operating system that change files, and what differs between systems.

Every file that this package creates, fills, renames, removes or locks goes through these functions. So tests can put a fault at each call,
and code that only POSIX has is in one file.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

WINDOWS = sys.platform == "win32"
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}  # fsync of a folder on a file system that has none
WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def open_file(path: Path) -> int:
    """Open a file for reading and writing, created if it is missing; return its descriptor."""
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)


def open_to_read(path: Path) -> int:
    """Open a file for reading, without waiting for a writer as pipes and some files of /proc would; return its descriptor."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))


def write(descriptor: int, data: bytes) -> None:
    """Write all bytes at the current position."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def truncate(descriptor: int) -> None:
    """Empty an open file."""
    os.ftruncate(descriptor, 0)


def flush(descriptor: int) -> None:
    """Return when the content of an open file is on the disk."""
    os.fsync(descriptor)


def close(descriptor: int) -> None:
    """Close a file; this releases its lock."""
    os.close(descriptor)


def replace(old: Path, new: Path) -> None:
    """Rename a file; an existing file `new` is replaced at once."""
    old.replace(new)


def remove(path: Path) -> None:
    """Remove a file."""
    path.unlink()


def make_folder(path: Path) -> None:
    """Make a folder."""
    path.mkdir()


def remove_folder(path: Path) -> None:
    """Remove an empty folder."""
    path.rmdir()


def flush_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk, if the system can do that (Windows and some network file systems cannot)."""
    if WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def lock(descriptor: int, alone: bool) -> None:
    """Lock an open file, exclusively (`alone`) or jointly with others, until it is closed; the system does that for a process that ends.

    Raises:
        BlockingIOError: another process holds the lock. OSError: the file system has no locks.
    """
    import portalocker

    kind = portalocker.LockFlags.EXCLUSIVE if alone else portalocker.LockFlags.SHARED
    try:
        portalocker.lock(descriptor, kind | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked as error:
        raise BlockingIOError(errno.EWOULDBLOCK, "is locked by another process") from error
    except portalocker.LockException as error:
        cause = error.args[0] if error.args and isinstance(error.args[0], OSError) else None
        raise OSError(cause.errno if cause else errno.ENOLCK, cause.strerror if cause else str(error)) from error


def open_locked(path: Path, alone: bool) -> int:
    """Open a file, created if it is missing, and lock it (see `lock`). It still has its name when this returns."""
    while True:
        descriptor = open_file(path)
        try:
            lock(descriptor, alone)
            if is_file(descriptor, path):
                return descriptor
        except BaseException:
            close(descriptor)
            raise
        close(descriptor)


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the file with that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
