"""Files that no other user can have written, for contents that are executed.

A program on disk is machine code, in whatever form: reading one from another user is running what that user wants. So a folder is used only
if it belongs to this user and if nobody else can write to it or put another in its place, and every file is checked once it is open. What
fails the check is not repaired: what others could write yesterday may be theirs, whatever its mode is today.

The mode tells of access control lists under Linux, but not of those of macOS and NFSv4. Under Windows files have no owner and mode to ask
for, and the checks are left out: a user's profile, where the folder lies, is open to that user and to administrators only.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
LINKS = 40  # symbolic links that may follow each other, as in Linux
SUFFIX, UNFINISHED = ".program", ".tmp"
ENDINGS = (SUFFIX, UNFINISHED, "-cache")  # of files that may be removed; the last is that of JAX's own cache, which earlier versions used
LARGEST = 256  # MiB of all files together, unless the environment variable SIZE gives another number; a program has 0.1 to 1 MB
SIZE = "TRIBOSWEEP_CACHE_MIB"
LARGEST_FILE = 64 * 2**20  # bytes of one file
# Files are looked through once as many bytes are written as this part of the bound: it takes 23 ms where there are 4,000, a put 0.5 ms.
UNSEEN = 1 / 64
DIGEST = 32  # bytes at the start of each file
FORGOTTEN = 30 * 86400.0  # time [s] after which an unused file is removed


class PrivateFiles:
    """Contents by name, in a folder that only this user can write to, within another such folder.

    The folders beside it share its bound on size. JAX takes such an object as its persistent cache (`get`, `put`).
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder and those above it where they are missing.

        Args:
            folder: an absolute path.

        Raises:
            OSError: the folder or the one above is not private (see `private`), or SIZE is no number.
        """
        largest()
        self._unseen = math.inf  # bytes written since the files were looked through
        self.folder = folder
        self.folder = self._path = self._checked()  # JAX logs `_path`

    def _checked(self) -> Path:
        """The folder; a process may run for weeks, so it is checked every time."""
        return private(private(self.folder.parent) / self.folder.name)

    def get(self, name: str) -> bytes | None:
        """What was put under this name; None if there is nothing that this user alone can have put there. Never raises OSError."""
        with suppress(OSError):
            file = self._checked() / f"{name}{SUFFIX}"
            try:
                found = _read(file)
            except PermissionError:
                file.unlink()
                return None
            digest, data = found[:DIGEST], found[DIGEST:]
            if digest == _digest(name, data):
                with suppress(OSError):  # a file system that cannot be written, or another process has removed the file
                    os.utime(file)
                return data
        return None

    def put(self, name: str, data: bytes) -> None:
        """Keep `data` under this name, and now and then remove what `trim` removes. Never raises OSError: then nothing is kept.

        More than LARGEST_FILE is not kept.
        """
        if len(data) + DIGEST > LARGEST_FILE:
            return
        with suppress(OSError):
            folder = self._checked()
            temporary = folder / f"{name}.{secrets.token_hex(4)}{UNFINISHED}"
            try:
                with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                    file.write(_digest(name, data) + data)
                temporary.replace(folder / f"{name}{SUFFIX}")
            finally:
                temporary.unlink(missing_ok=True)
            self._unseen += len(data)
            if self._unseen >= largest() * UNSEEN:
                self._unseen = 0.0
                trim(folder.parent)


def private(folder: Path, links: int = LINKS) -> Path:
    """A folder of this user alone, created if missing; its path without links.

    Args:
        folder: an absolute path.
        links: how many symbolic links may still be followed.

    Raises:
        PermissionError: another user can write to the folder, or to one above it, or owns one of them, or a link on the way. One above may
            be open to all if it is sticky, as /tmp is: nobody can remove or rename there what belongs to this user.
        OSError: it cannot be created.
    """
    found = _passable(folder, links)
    status = found.lstat()
    if problem := _belongs_to_another(status) or _open_to_others(status):
        raise PermissionError(f"{found} {problem}")
    return found


def _passable(folder: Path, links: int) -> Path:
    """A folder in which nobody but this user and root can replace what belongs to this user; see `private`."""
    if not folder.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "not an absolute path", str(folder))
    if folder.parent == folder:
        here = folder
    else:
        above = _passable(folder.parent, links)
        here = above.parent if folder.name == ".." else above / folder.name
    try:
        status = here.lstat()
    except FileNotFoundError:
        with suppress(FileExistsError):  # another process was faster
            here.mkdir(0o700)
        status = here.lstat()
    problem = _belongs_to_another(status) if status.st_uid else ""
    if stat.S_ISLNK(status.st_mode) and not problem:
        if not links:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(here))
        return _passable(here.parent / here.readlink(), links - 1)
    if not problem and not status.st_mode & stat.S_ISVTX:
        problem = _open_to_others(status)
    if problem:
        raise PermissionError(f"{here} {problem}")
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(here))
    return here


def _belongs_to_another(status: os.stat_result) -> str:
    if not hasattr(os, "geteuid") or status.st_uid == os.geteuid():
        return ""
    return f"belongs to another user (number {status.st_uid})"


def _open_to_others(status: os.stat_result) -> str:
    if not hasattr(os, "geteuid") or not status.st_mode & BY_OTHERS:
        return ""
    return f"can be written to by others (mode {stat.S_IMODE(status.st_mode):04o})"


def _read(file: Path) -> bytes:
    """The bytes of a file of this user alone.

    Raises:
        PermissionError: others can write to the file, or it belongs to another user, is no regular file, has a second name, or is larger
            than any that is kept.
        OSError: it cannot be opened. A symbolic link cannot be.
    """
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would block
    with open(file, "rb", opener=lambda path, flags: os.open(path, flags | careful)) as opened:
        status = os.fstat(opened.fileno())
        problem = _belongs_to_another(status) or _open_to_others(status)
        if problem or not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise PermissionError(f"{file} {problem or 'is no regular file with one name'}")
        if status.st_size > LARGEST_FILE:
            raise PermissionError(f"{file} has {status.st_size:,} bytes: at most {LARGEST_FILE:,} are kept")
        return opened.read(LARGEST_FILE)


def _digest(name: str, data: bytes) -> bytes:
    """Tells a file that is damaged, or that was given the name of another."""
    return hashlib.sha256(name.encode() + b"\n" + data).digest()


def largest() -> float:
    """The bound on all files together [bytes].

    Raises:
        OSError: SIZE is no number of MiB.
    """
    given = os.environ.get(SIZE, "").strip()
    if given and not (given.isdecimal() and len(given) < 10):
        raise OSError(errno.EINVAL, f"{SIZE} is {given!r}, which is no whole number of MiB")
    return (int(given) if given else LARGEST) * 2**20


def trim(folder: Path) -> None:
    """Remove what nobody has used for FORGOTTEN from the folders in `folder`, and what has not been used for longest beyond `largest`."""
    found, bound = [], largest()
    for path in folder.glob("*/*"):
        with suppress(OSError):  # another process has removed it
            if path.name.endswith(ENDINGS):
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
    total = 0
    for used, size, path in sorted(found, reverse=True):
        total += size
        if total > bound or used < time.time() - FORGOTTEN:
            with suppress(OSError):
                path.unlink()
