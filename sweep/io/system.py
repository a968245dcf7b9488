"""The calls of the operating system that change files, and what differs between systems.

Every file that this package creates, fills, renames, removes or locks goes through these functions. So tests can put a fault at each call,
and code that only POSIX has is in one file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path

WINDOWS = sys.platform == "win32"
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}  # fsync of a folder on a file system that has none
WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a link is not followed, a pipe not waited for
KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class Undivided:
    """Short sections that a signal does not divide, such as creating a file and noting that it must be removed.

    A handler of signals passes the exception that it wants to raise to `put_off`; it is raised at the end of the section. Exceptions of
    signals are raised in the main thread only, so sections of other threads change nothing.

    Attributes:
        depth: sections within each other in which the main thread is. waiting: exceptions put off.
    """

    def __init__(self) -> None:
        """Begin outside of all sections."""
        self.depth, self.waiting = 0, list[BaseException]()

    def __enter__(self) -> None:
        """Begin a section."""
        if threading.current_thread() is threading.main_thread():
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        """End a section, and raise what was put off, if it is the outermost one."""
        if threading.current_thread() is threading.main_thread():
            self.depth -= 1
            if not self.depth and self.waiting:
                raise self.waiting.pop()

    def put_off(self, error: BaseException) -> bool:
        """Whether the main thread is in a section; then an exception is raised at its end."""
        if self.depth:
            self.waiting = [error]
        return self.depth > 0


UNDIVIDED = Undivided()


def create_file(path: Path) -> int:
    """Create a file for reading and writing; return its descriptor. FileExistsError if anything has that name, be it a link to nothing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | PLAIN | UNFOLLOWED, 0o666)


def open_file(path: Path, create: bool = True) -> int:
    """Open a regular file with one name for reading and writing; return its descriptor. It is not changed.

    Another program may have put a link there, symbolic or hard, so that the file to be written is another one than it seems.

    Args:
        path: the file. create: make it if it is missing.

    Raises:
        OSError: it cannot be opened, is a link or no regular file, or has another name as well.
    """
    with suppress(FileNotFoundError):
        require_own(path, path.lstat())  # before it is opened: opening a device may do something
    descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0) | PLAIN | UNFOLLOWED, 0o666)
    try:
        require_own(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def require_own(path: Path, found: os.stat_result) -> None:
    """Raise OSError unless a file that is to be written is a regular one with one name, or with none any more."""
    if not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise OSError(errno.EINVAL, f"is {kind}, and tribosweep writes only into regular files; remove it", str(path))
    if found.st_nlink > 1:
        raise OSError(errno.EMLINK, "is a hard link: the same file has another name, under which it would change too; remove it", str(path))


def open_to_read(path: Path) -> int:
    """Open a file for reading, without waiting for a writer as pipes and some files of /proc would; return its descriptor."""
    return os.open(path, os.O_RDONLY | PLAIN | getattr(os, "O_NONBLOCK", 0))


def open_folder(path: Path) -> int:
    """Open a folder, to lock it; return its descriptor. OSError where the system does not open folders (Windows)."""
    return os.open(path, os.O_RDONLY | PLAIN | getattr(os, "O_DIRECTORY", 0))


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
    """Open a file as `open_file` does, and lock it (see `lock`). It still has its name when this returns."""
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


def remove_abandoned(path: Path) -> None:
    """Remove a regular file that processes lock while they use it, unless one does. Raises no OSError."""
    with suppress(OSError):
        descriptor = open_file(path, create=False)
        try:
            lock(descriptor, alone=True)
            if is_file(descriptor, path):
                remove(path)
        finally:
            close(descriptor)


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the file with that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
