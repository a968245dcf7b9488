"""Locks: a directory has one writer, or one for each share. The operating system releases the locks of a process that ends.

A run locks the file `.lock` exclusively. Shares (`--shard`) lock it jointly, and each share also locks a file of its own. Only the lock
counts; the content of the file is for people. The last holder removes the file while it holds the lock. A process that has locked a file
therefore checks that the file still has its name.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tribosweep.sweep.execution.job_share import Share
from tribosweep.sweep.execution.stored import Writer, load_json
from tribosweep.sweep.io import system
from tribosweep.sweep.io.atomic import make_folders
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.files import MOST_NOTE, read_bytes

LOCK = ".lock"
LOCK_NAME = re.compile(r"\.lock(-\d+-of-\d+)?")
PATIENCE = 0.5  # s: a process that only checks a lock holds it for an instant
PAUSE = 0.02
HELD: dict[int, Path] = {}  # descriptor -> file of each lock that this process holds
MADE: list[Path] = []  # folders that this process has made for the directories that it holds, which go if they stay empty


@contextmanager
def hold(directory: Path, share: Share | None = None) -> Iterator[None]:
    """Hold the write lock of a directory. A missing directory is created, and removed if it stays empty.

    Args:
        directory: directory of the run.
        share: if given, lock only this share; other processes may then write other shares.

    Raises:
        ConfigError: another process writes to it; the message says which one.
        OSError: the directory cannot be written, or its file system has no locks.
    """
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    MADE.extend(reversed(made))
    try:
        try:
            make_folders(directory)
        except OSError as error:
            raise OSError(error.errno, f"cannot be made: {error.strerror}; give another one with --out", str(directory)) from error
        with ExitStack() as stack:
            if share is None:
                stack.enter_context(locked(directory, LOCK, alone=True, says=whoami()))
            else:
                stack.enter_context(locked(directory, LOCK, alone=False, says={}))
                stack.enter_context(locked(directory, share_lock(share), alone=True, says={**whoami(), "share": str(share)}))
                others = [one for one in holders(directory) if "share" in one and not one["share"].endswith(f"/{share.of}")]
                if others:
                    raise ConfigError(str(directory), [Problem("", f"its shards are divided otherwise now: it {describe(others)}")])
            yield
    finally:
        with system.UNDIVIDED:
            for path in made:
                with suppress(OSError):
                    system.remove_folder(path)
                MADE.remove(path)


def share_lock(share: Share) -> str:
    """The name of the lock file of a share."""
    return f"{LOCK}-{share.index}-of-{share.of}"


@contextmanager
def locked(directory: Path, name: str, alone: bool, says: dict[str, Any]) -> Iterator[None]:
    """Hold the lock of one file, exclusively (`alone`) or shared; ConfigError if another process holds it."""
    path = directory / name
    deadline = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        while True:
            try:
                with system.UNDIVIDED:
                    descriptor = system.open_locked(path, alone)
                    HELD[descriptor] = path
                    stack.callback(release, path, descriptor)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ConfigError(str(directory), [Problem("", describe(holders(directory)))]) from None
            except OSError as error:
                raise OSError(error.errno, f"cannot be locked: {error.strerror or error}", str(path)) from error
            time.sleep(PAUSE)
        if says:
            system.truncate(descriptor)
            system.write(descriptor, json.dumps(says).encode())
        yield


def release(path: Path, descriptor: int) -> None:
    """Release the lock of one file if this process holds it, and remove the file if no other process does."""
    with system.UNDIVIDED:
        if HELD.pop(descriptor, None) is None:
            return
        try:
            with suppress(OSError):
                system.lock(descriptor, alone=True)  # succeeds only for the last holder
                system.remove(path)  # Windows does not remove an open file, which does no harm
        finally:
            system.close(descriptor)


def release_all() -> None:
    """Undo `hold` in a process that ends where Python cannot raise the exception of a signal: the last lock first, then the folders."""
    for descriptor, path in reversed([*HELD.items()]):
        with suppress(OSError):
            release(path, descriptor)
    for path in reversed(MADE):
        with suppress(OSError):
            system.remove_folder(path)


def clear(directory: Path) -> None:
    """Remove the lock files that killed processes have left in a directory, where this user can remove them."""
    for path in directory.glob(f"{LOCK}*"):
        if LOCK_NAME.fullmatch(path.name):
            system.remove_abandoned(path)


def whoami() -> dict[str, Any]:
    """The identity of this process, for other processes to read."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(timespec="seconds")}


def holders(directory: Path) -> list[dict[str, Any]]:
    """The processes that write to a directory now, from their lock files; empty if there are none or the system hides them."""
    found = []
    for path in sorted(directory.glob(f"{LOCK}*")):
        if LOCK_NAME.fullmatch(path.name) and not path.is_symlink() and is_locked(path):
            with suppress(OSError, ValueError):
                found.append(load_json(read_bytes(path, MOST_NOTE), Writer))
    return found


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    try:
        descriptor = system.open_to_read(path)
    except OSError:
        return False
    try:
        system.lock(descriptor, alone=False)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def describe(others: list[dict[str, Any]]) -> str:
    """The text of a problem about other writers."""
    who = ", ".join(map(describe_writer, others)) or "another process"
    return f"is being written by {who}; wait until that ends, or stop it"


def describe_writer(one: dict[str, Any]) -> str:
    """One writer as text."""
    share = f" (--shard {one['share']})" if "share" in one else ""
    return f"process {one['pid']} on {one.get('host')} since {one.get('since')}{share}"
