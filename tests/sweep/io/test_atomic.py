"""Files that belong together change together."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from tribosweep.sweep.cli.shared import shortage
from tribosweep.sweep.io import atomic, system
from tribosweep.sweep.io.atomic import create_temporary, write_together, write_whole

LEFT = ".tribosweep-0123456789abcdef.tmp"
OLD, NEW = {"a": b"old a", "b": b"old b", "c": b"old c"}, {"a": b"new a", "b": b"new b"}


def there(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder: Path) -> None:
    """Put the old files, and one that a killed process has left."""
    for name, content in {**OLD, LEFT: b"half"}.items():
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
    assert there(tmp_path) == OLD


def test_processes_that_write_sets_into_one_folder_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hold() -> int:  # as another process that is writing there
        descriptor = system.open_folder(tmp_path)
        system.lock(descriptor, alone=True)
        return descriptor

    held = hold()
    release = threading.Timer(0.3, system.close, [held])
    release.start()
    write_together({tmp_path / "a": b"mine"})
    release.join()
    assert there(tmp_path) == {"a": b"mine"}

    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    held = hold()
    try:
        write_whole(tmp_path / "b", b"alone")  # a single file is whole in any case
        with pytest.raises(BlockingIOError, match="is locked by another process") as told:
            write_together({tmp_path / "a": b"yours"})
    finally:
        system.close(held)
    assert told.value.filename == str(tmp_path)
    assert not shortage(told.value)  # it is no shortage of processes, though the number of the error is the same
    assert shortage(BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"))
    assert there(tmp_path) == {"a": b"mine", "b": b"alone"}


def test_what_killed_processes_have_left_goes_and_what_living_ones_write_stays(tmp_path: Path) -> None:
    put(tmp_path)
    living, descriptor = create_temporary(tmp_path)
    write_whole(tmp_path / "a", b"new")
    assert not (tmp_path / LEFT).exists()
    assert living.exists()
    system.close(descriptor)
    write_whole(tmp_path / "a", b"new")
    assert there(tmp_path) == {**OLD, "a": b"new"}


def test_a_file_is_on_the_disk_before_it_has_its_name_and_its_name_too_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    for name in ("write", "flush", "replace", "flush_folder"):
        call = getattr(system, name)
        monkeypatch.setattr(system, name, lambda *given, call=call, name=name: (call(*given), done.append(name))[0])
    write_whole(tmp_path / "a", b"content")
    assert done == ["write", "flush", "replace", "flush_folder"]
