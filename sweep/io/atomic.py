"""Changes of files that are done as a whole or not at all, and that are on the disk when the call returns."""

from __future__ import annotations

import errno
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sweep.io import system

PATIENCE = 30.0  # s: another process that writes the same file needs it for as long as its disk takes to flush
PAUSE = 0.01


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, and rename it. The temporary file of a killed process is used again.

    Raises:
        OSError: it cannot be written, or another process is writing it; a file of that name is as it was.
    """
    with ExitStack() as stack:
        prepare(path, data, stack).put()


def write_together(files: Mapping[Path, bytes], obsolete: Collection[Path] = ()) -> None:
    """Write files that belong together, and remove `obsolete` ones. At any instant those that are there are all old or all new.

    First the new ones are put on the disk under temporary names. Then the old ones are removed except the first, which is replaced next, so
    that it is always there. The others follow.

    Raises:
        OSError: as `write_whole`; the old files are as they were, unless it was a file that could not be removed or renamed.
    """
    with ExitStack() as stack:
        prepared = [prepare(path, data, stack) for path, data in files.items()]
        for path in (*list(files)[1:], *obsolete, *map(temporary_of, obsolete)):
            remove(path)
        for file in prepared:
            file.put()


def prepare(path: Path, data: bytes, stack: ExitStack) -> Prepared:
    """Write a file under a temporary name; at the end of the stack that is removed unless it got its own."""
    with told_as(path):
        file = Prepared(path, open_temporary(temporary_of(path)))
        stack.callback(file.close)
        system.truncate(file.descriptor)
        system.write(file.descriptor, data)
        system.flush(file.descriptor)
    return file


@dataclass(slots=True)
class Prepared:
    """A file that is on the disk under a temporary name.

    Attributes:
        path: its own name. descriptor: the open file. open: whether it is open. put_there: whether it has its own name.
    """

    path: Path
    descriptor: int
    open: bool = True
    put_there: bool = False

    def put(self) -> None:
        """Give the file its own name."""
        with told_as(self.path):
            if system.WINDOWS:  # it does not rename an open file
                self.open = False
                system.close(self.descriptor)
            system.replace(temporary_of(self.path), self.path)
            self.put_there = True
            system.flush_folder(self.path.parent)

    def close(self) -> None:
        """Close the file; remove it if it still has its temporary name."""
        try:
            if not self.put_there:
                with suppress(OSError):
                    system.remove(temporary_of(self.path))
        finally:
            if self.open:
                system.close(self.descriptor)


@contextmanager
def told_as(path: Path) -> Iterator[None]:
    """Let errors of a temporary file name the file that the user knows."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


def temporary_of(path: Path) -> Path:
    """The temporary name of a file."""
    return path.with_name(f".{path.name}.tmp")


def open_temporary(path: Path) -> int:
    """Open a file that only this process writes, if the file system has locks; processes that share a run take turns."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return system.open_locked(path, alone=True)
        except BlockingIOError:  # another process is about to rename the file
            if time.monotonic() > deadline:
                raise
        except OSError as error:
            if error.errno not in system.WITHOUT_LOCKS:
                raise
            return system.open_file(path)
        time.sleep(PAUSE)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8; see `write_whole`."""
    write_whole(path, text.encode())


def remove(path: Path) -> None:
    """Remove a file if it is there."""
    try:
        system.remove(path)
    except FileNotFoundError:
        return
    system.flush_folder(path.parent)


def rename(old: Path, new: Path) -> None:
    """Rename a file within its folder; an existing file `new` is replaced."""
    system.replace(old, new)
    system.flush_folder(new.parent)


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing."""
    for each in reversed([each for each in (path, *path.parents) if not each.exists()]):
        with suppress(FileExistsError):  # another process was faster
            system.make_folder(each)
        system.flush_folder(each.parent)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
