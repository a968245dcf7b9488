"""Files that belong together change together."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from sweep.cli.shared import shortage
from sweep.io import atomic, system
from sweep.io.atomic import temporary_of, write_together, write_whole

OLD, NEW = {"a": b"old a", "b": b"old b", "c": b"old c"}, {"a": b"new a", "b": b"new b"}


def there(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder: Path) -> None:
    """Put the old files, and one that a killed process has left."""
    for name, content in {**OLD, ".c.tmp": b"half"}.items():
        (folder / name).write_bytes(content)


def test_files_that_belong_together_are_all_old_or_all_new_at_any_instant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    seen = []
    for name in ("replace", "remove"):
        call = getattr(system, name)

        def watch(*given: Path, call=call) -> None:  # type: ignore[no-untyped-def]
            call(*given)
            seen.append({name: content for name, content in there(tmp_path).items() if not name.endswith(".tmp")})

        monkeypatch.setattr(system, name, watch)
    write_together({tmp_path / name: content for name, content in NEW.items()}, [tmp_path / "c"])
    assert there(tmp_path) == NEW
    assert len(seen) > 3
    assert all("a" in each and (each.items() <= OLD.items() or each.items() <= NEW.items()) for each in seen)


def test_a_full_disk_leaves_all_old_files_and_names_the_one_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    write = system.write

    def full(descriptor: int, data: bytes) -> None:
        if data == NEW["b"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(descriptor, data)

    monkeypatch.setattr(system, "write", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_together({tmp_path / name: content for name, content in NEW.items()}, [tmp_path / "c"])
    assert error.value.filename == str(tmp_path / "b")
    assert there(tmp_path) == {**OLD, ".c.tmp": b"half"}


def test_processes_that_write_the_same_file_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "manifest.json"
    held = system.open_locked(temporary_of(path), alone=True)  # as another process that is writing it
    release = threading.Timer(0.3, system.close, [held])
    release.start()
    write_whole(path, b"mine")
    release.join()
    assert path.read_bytes() == b"mine"

    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    held = system.open_locked(temporary_of(path), alone=True)
    try:
        with pytest.raises(BlockingIOError, match="is locked by another process") as told:
            write_whole(path, b"yours")
    finally:
        system.close(held)
    assert told.value.filename == str(path)
    assert not shortage(told.value)  # it is no shortage of processes, though the number of the error is the same
    assert shortage(BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"))
    assert path.read_bytes() == b"mine"
