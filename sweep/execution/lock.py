"""Locks: one writer for a directory, or one for each share. The operating system releases them when their process ends.

A run locks `.lock` for itself; the shares of `--shard` lock it together, and each a file of its own. What the files say is for people; what
counts is the lock. A file is removed by its last holder while it holds it, and whoever locks a file looks whether it is still the one of
that name.
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
PATIENCE = 0.5  # s: somebody who only looks whether a file is locked holds it for an instant
PAUSE = 0.02


@contextmanager
def hold(directory: Path, share: Share | None = None) -> Iterator[None]:
    """Hold the write lock of a directory. A missing directory is created, and removed if it stays empty.

    Args:
        directory: of the run.
        share: for one share of it, beside writers of other shares.

    Raises:
        ConfigError: somebody else writes to it; the message says who.
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
                    raise ConfigError(str(directory), [Problem("", f"its shards are divided in another way now: {describe(others)}")])
            yield
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()


def share_lock(share: Share) -> str:
    """The name of a share's own lock."""
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
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the last one
            path.unlink()
        os.close(descriptor)


def is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that now has that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def whoami() -> dict[str, Any]:
    """This process, for others to read."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(timespec="seconds")}


def holders(directory: Path) -> list[dict[str, Any]]:
    """The processes that write to a directory now, from their lock files; none if there are none or the system hides them."""
    found = []
    for path in sorted(directory.glob(f"{LOCK}*")):
        if re.fullmatch(rf"{re.escape(LOCK)}(-\d+-of-\d+)?", path.name) and is_locked(path):
            with suppress(OSError, ValueError):
                says = json.loads(path.read_text(encoding="utf-8"))
                found += [says] if isinstance(says, dict) and "pid" in says else []
    return found


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
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
    """Who else writes, as a problem."""
    who = ", ".join(map(describe_writer, others)) or "another process"
    return f"is being written by {who}; wait until that ends, or stop it"


def describe_writer(one: dict[str, Any]) -> str:
    """Somebody who writes, in words."""
    share = f" (--shard {one['share']})" if "share" in one else ""
    return f"process {one['pid']} on {one.get('host')} since {one.get('since')}{share}"
