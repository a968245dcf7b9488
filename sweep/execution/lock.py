"""Locks: a directory has one writer, or one for each share. The operating system releases the locks of a process that ends.

A run locks the file `.lock` exclusively. Shares (`--shard`) lock it jointly, and each share also locks a file of its own. Only the lock
counts; the content of the file is for people. The last holder removes the file while it holds the lock. A process that has locked a file
therefore checks that the file still has its name.
"""

from __future__ import annotations

import errno
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

from sweep.execution.job_share import Share
from sweep.io.errors import ConfigError, Problem

LOCK = ".lock"
PATIENCE = 0.5  # s: a process that only checks a lock holds it for an instant
PAUSE = 0.02


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
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
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
        for path in made:
            with suppress(OSError):
                path.rmdir()


def share_lock(share: Share) -> str:
    """The name of the lock file of a share."""
    return f"{LOCK}-{share.index}-of-{share.of}"


@contextmanager
def locked(directory: Path, name: str, alone: bool, says: dict[str, Any]) -> Iterator[None]:
    """Hold the lock of one file, exclusively (`alone`) or shared; ConfigError if another process holds it."""
    import fcntl

    path = directory / name
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    deadline = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            if is_file(descriptor, path):
                break
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(descriptor)
                raise OSError(error.errno, f"cannot be locked: {error.strerror}", str(path)) from error
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise ConfigError(str(directory), [Problem("", describe(holders(directory)))]) from None
        os.close(descriptor)
        time.sleep(PAUSE)
    try:
        if says:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(says).encode(), 0)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # succeeds only for the last holder
            path.unlink()
        os.close(descriptor)


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the file with that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def whoami() -> dict[str, Any]:
    """The identity of this process, for other processes to read."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(timespec="seconds")}


def holders(directory: Path) -> list[dict[str, Any]]:
    """The processes that write to a directory now, from their lock files; empty if there are none or the system hides them."""
    found = []
    for path in sorted(directory.glob(f"{LOCK}*")):
        if re.fullmatch(rf"{re.escape(LOCK)}(-\d+-of-\d+)?", path.name) and is_locked(path):
            with suppress(OSError, ValueError):
                says = json.loads(path.read_text(encoding="utf-8"))
                found += [says] if isinstance(says, dict) and "pid" in says else []
    return found


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
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
