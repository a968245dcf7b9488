"""Changes of files that are done as a whole or not at all, and that are on the disk when the call returns."""

from __future__ import annotations

import errno
import secrets
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tribosweep.sweep.io import system

PATIENCE = 30.0  # s: another process that writes the same files needs it for as long as its disk takes to flush
PAUSE = 0.01
TEMPORARIES = ".tribosweep-*.tmp"
TRIES = 100  # of a name for a temporary file


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, and rename it. A link of its name is replaced, never followed.

    The temporary name is random and new: no other program can have put a link there. Files that killed processes have left in the folder
    are removed.

    Raises:
        OSError: it cannot be written, or its name is that of a directory, a pipe or a device; a file of that name is as it was.
    """
    remove_leftovers(path.parent)
    write_one_of_many(path, data)


def write_one_of_many(path: Path, data: bytes) -> None:
    """Write a file as `write_whole` does, in a folder of so many that only its owner looks for what killed processes have left."""
    with ExitStack() as stack:
        prepare(path, data, stack).put()


def write_together(files: Mapping[Path, bytes], obsolete: Collection[Path] = ()) -> None:
    """Write files that belong together, and remove `obsolete` ones. At any instant those that are there are all old or all new.

    First the new ones are put on the disk under temporary names. Then the old ones are removed except the first, which is replaced next, so
    that it is always there. The others follow. Processes that write sets of files into the same folder take turns.

    Raises:
        OSError: as `write_whole`; the old files are as they were, unless it was a file that could not be removed or renamed.
    """
    folders = sorted({path.parent for path in files})
    for folder in folders:
        remove_leftovers(folder)
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(turn(folder))
        prepared = [prepare(path, data, stack) for path, data in files.items()]
        for path in (*list(files)[1:], *obsolete):
            remove(path)
        for file in prepared:
            file.put()


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Keep a folder to this writer of a set of files, if its file system has locks; OSError if another one does not end."""
    try:
        descriptor = system.open_folder(folder)
    except PermissionError:  # as of every folder in Windows
        yield
        return
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                system.lock(descriptor, alone=True)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise type(error)(error.errno, error.strerror, str(folder)) from error
            except OSError as error:
                if error.errno not in {*system.WITHOUT_LOCKS, errno.EBADF}:  # the last of a folder in NFS
                    raise
                break
            time.sleep(PAUSE)
        yield
    finally:
        system.close(descriptor)


def prepare(path: Path, data: bytes, stack: ExitStack) -> Prepared:
    """Write a file under a temporary name; at the end of the stack that is removed unless it got its own."""
    with told_as(path):
        require_replaceable(path)
        with system.UNDIVIDED:
            file = Prepared(path, *create_temporary(path.parent))
            stack.callback(file.close)
        system.write(file.descriptor, data)
        system.flush(file.descriptor)
    return file


def require_replaceable(path: Path) -> None:
    """Raise OSError if something has this name, or the link of this name leads to something, that is no regular file."""
    try:
        found = path.stat()
    except OSError:  # it is missing, or a link that leads nowhere
        return
    if not stat.S_ISREG(found.st_mode):
        kind = system.KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise OSError(errno.EEXIST, f"is {kind}, in whose place no file is written", str(path))


@dataclass(slots=True)
class Prepared:
    """A file that is on the disk under a temporary name.

    Attributes:
        path: its own name. temporary: its temporary name. descriptor: the open file. open: whether it is open. put_there: whether it has
            its own name.
    """

    path: Path
    temporary: Path
    descriptor: int
    open: bool = True
    put_there: bool = False

    def put(self) -> None:
        """Give the file its own name."""
        with told_as(self.path):
            if system.WINDOWS:  # it does not rename an open file
                self.open = False
                system.close(self.descriptor)
            with system.UNDIVIDED:
                system.replace(self.temporary, self.path)
                self.put_there = True
            system.flush_folder(self.path.parent)

    def close(self) -> None:
        """Close the file; remove it if it still has its temporary name."""
        with system.UNDIVIDED:
            try:
                if not self.put_there:
                    with suppress(OSError):
                        system.remove(self.temporary)
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


def create_temporary(folder: Path) -> tuple[Path, int]:
    """A new file of a random name, open and locked as long as it is open, if the file system has locks: its path and descriptor."""
    for _ in range(TRIES):
        path = folder / TEMPORARIES.replace("*", secrets.token_hex(8))
        descriptor = -1
        try:
            descriptor = system.create_file(path)
            system.lock(descriptor, alone=True)
            if system.is_file(descriptor, path):
                return path, descriptor
        except BlockingIOError:  # another process takes it for a leftover: it looked before the file was locked
            pass
        except OSError as error:
            if descriptor >= 0 and error.errno in system.WITHOUT_LOCKS:
                return path, descriptor
            drop(path, descriptor)
            raise
        except BaseException:
            drop(path, descriptor)
            raise
        drop(path, descriptor)
    raise OSError(errno.EAGAIN, "every new file there is taken away at once", str(folder))


def drop(path: Path, descriptor: int) -> None:
    """Remove and close a temporary file, if it was created."""
    if descriptor >= 0:
        with suppress(OSError):
            system.remove(path)
        system.close(descriptor)


def remove_leftovers(folder: Path, names: str = TEMPORARIES) -> None:
    """Remove the temporary files that killed processes have left in a folder: those that no process locks."""
    with suppress(OSError):
        for path in list(folder.glob(names)):
            system.remove_abandoned(path)


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


def make_inner_folder(path: Path) -> None:
    """Make a folder within one that the user has named; OSError as `make_folders`, or if it is a link: the user did not name that."""
    if path.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "is a link, and tribosweep writes nothing where it leads; remove it", str(path))
    make_folders(path)


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing."""
    for each in reversed([each for each in (path, *path.parents) if not each.exists()]):
        with suppress(FileExistsError):  # another process was faster
            system.make_folder(each)
        system.flush_folder(each.parent)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
