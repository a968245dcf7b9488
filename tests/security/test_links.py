"""Links that somebody else has put into a directory lead no command to files elsewhere, and no file is opened through one.

Every name that a command writes is found by watching it: what it opens to write, renames, removes and makes. Then each of these names, and
each name of the temporary files of earlier versions, is planted in turn: as a link to a file, to nothing and to a folder, as a hard link, a
pipe, a socket and a device. Whatever the command then does, nothing outside the directory may change.
"""

from __future__ import annotations

import ast
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.execution.scenarios import COMMANDS, OTHERS, install, put_ready
from tribosweep import kernels, sweep
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import lock
from tribosweep.sweep.execution.directory import FOLDERS
from tribosweep.sweep.io import system
from tribosweep.sweep.io.atomic import TEMPORARIES, make_inner_folder, write_together, write_whole

Captured = pytest.CaptureFixture[str]
SLOW = (pytest.mark.slow, pytest.mark.long)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CANARY = b"a file of the reader\n"


# ---------------------------------------------------------------------------------------------------------------------
# Watching


def absolute(given: str | bytes | os.PathLike[str]) -> str:
    """A path from the root on, without following links."""
    return os.path.normpath(Path.cwd() / os.fsdecode(given))


class Watch:
    """What this process does to files while it is `on`: (what, path, flags of opening)."""

    hooked = False
    on = False
    seen: list[tuple[str, str, int]] = []  # noqa: RUF012 - one for the process, as hooks are

    @classmethod
    def hook(cls, event: str, given: tuple[Any, ...]) -> None:
        """Remember one event of Python's."""
        if not cls.on or not given or isinstance(given[0], int):  # a file that is open
            return
        if event == "open" and isinstance(given[0], str | bytes | os.PathLike) and given[2] & WRITING:
            cls.seen.append(("open", absolute(given[0]), given[2]))
        elif event == "os.rename":
            cls.seen.append(("rename", absolute(given[1]), 0))
        elif event in ("os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown"):
            cls.seen.append((event.removeprefix("os."), absolute(given[0]), 0))


@contextmanager
def watched() -> Iterator[list[tuple[str, str, int]]]:
    """What is done to files meanwhile."""
    if not Watch.hooked:
        sys.addaudithook(Watch.hook)
        Watch.hooked = True  # a hook cannot be taken away
    Watch.seen, Watch.on = [], True
    try:
        yield Watch.seen
    finally:
        Watch.on = False


def prepared(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put the state before a command into a folder, and make it the current one; return the words of the command."""
    install(monkeypatch)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder.parent / "temporary"))
    monkeypatch.setenv("MPLCONFIGDIR", tempfile.gettempdir())
    (folder.parent / "temporary").mkdir()
    if command in COMMANDS:
        return put_ready(command, folder)
    assert main(put_ready("run", folder)) == 0
    return OTHERS[command]


def names_written(folder: Path, words: list[str]) -> list[str]:
    """Carry out a command; the names in a folder that it writes, temporary ones left out. Each is opened as it should be."""
    with watched() as seen:
        assert main(words) in (0, 3)
    found: dict[str, None] = {}
    for what, path, flags in seen:
        name = Path(path).name
        if not Path(path).is_relative_to(folder):
            bytecode = "__pycache__" in path or Path(path).is_relative_to(sys.pycache_prefix or folder)
            assert Path(path).is_relative_to(tempfile.gettempdir()) or bytecode or path == os.devnull, f"{what} {path}"
            continue
        if what == "open":
            assert flags & os.O_NOFOLLOW, f"{path} is opened through links"
            assert Path(path).match(TEMPORARIES) or name.startswith(".lock"), f"{path} is written where it lies"
            assert flags & os.O_EXCL or name.startswith(".lock"), f"{path} is opened though it may be another's"
        if not Path(path).match(TEMPORARIES):
            found[os.path.relpath(path, folder)] = None
    shards = [name for name in found if name.startswith("run/points/part-")]
    named = [os.path.relpath(word, folder) for word in words]  # a link in whose place the user himself names a directory is followed
    return [name for name in found if name not in (".", *shards[1:]) and not (name in named and (folder / name).is_dir())]


# ---------------------------------------------------------------------------------------------------------------------
# Planting


def to_canary(place: Path, outside: Path) -> None:
    """A link to a file of the reader."""
    place.symlink_to(outside / "canary")


def to_nothing(place: Path, outside: Path) -> None:
    """A link to a file that the reader does not have."""
    place.symlink_to(outside / "new")


def to_folder(place: Path, outside: Path) -> None:
    """A link to a folder of the reader; if there was a folder, to one with the same files."""
    place.symlink_to(outside / "folder", target_is_directory=True)


def hard_link(place: Path, outside: Path) -> None:
    """Another name of a file of the reader."""
    place.hardlink_to(outside / "canary")


def pipe(place: Path, _outside: Path) -> None:
    """A pipe that nobody reads or writes."""
    os.mkfifo(place)


def endpoint(place: Path, _outside: Path) -> None:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(place.parent)  # the path of a socket is short
        try:
            listener.bind(place.name)
        finally:
            os.chdir(here)


def device(place: Path, _outside: Path) -> None:
    """A device that takes everything, as /dev/null."""
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 3))


PLANTS: dict[str, Callable[[Path, Path], None]] = {
    each.__name__: each for each in (to_canary, to_nothing, to_folder, hard_link, pipe, endpoint, device)
}


def state(outside: Path) -> dict[str, tuple[bytes, int]]:
    """What a folder holds: name -> content and time of the last change."""
    return {
        str(path.relative_to(outside)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in sorted(outside.rglob("*"))
    }


def planted_names(names: list[str]) -> list[str]:
    """The names to be planted: those that are written, and beside each the temporary name that earlier versions gave it."""
    old = [str(Path(name).with_name(f".{Path(name).name}.tmp")) for name in names]
    return list(dict.fromkeys([*names, *old, "run/.lock", "run/.lock-1-of-2", *(f"run/{name}" for name in FOLDERS)]))


def attack(folder: Path, outside: Path, ready: Path, words: list[str], name: str, plant: Callable[[Path, Path], None]) -> None:
    """Carry out a command where something is planted in the place of a name; nothing outside may change."""
    shutil.rmtree(folder)
    shutil.copytree(ready, folder)
    os.chdir(folder)
    shutil.rmtree(outside, ignore_errors=True)
    place = folder / name
    if not place.parent.is_dir():
        return
    outside.mkdir()
    (outside / "canary").write_bytes(CANARY)
    if place.is_dir():
        shutil.move(place, outside / "folder")
    else:
        (outside / "folder").mkdir()
        place.unlink(missing_ok=True)
    try:
        plant(place, outside)
    except PermissionError:
        pytest.skip("this user cannot make it")
    before = state(outside)
    begun = time.monotonic()
    status = main(words)
    assert state(outside) == before, "a file outside has changed"
    assert status in (0, 2, 3, 4)
    assert time.monotonic() - begun < 20.0


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder to work in, one outside, and one for a copy of the first."""
    found = tmp_path / "place", tmp_path / "outside", tmp_path / "ready"
    found[0].mkdir()
    return found


@pytest.mark.long_cases("schema")
@pytest.mark.slow
@pytest.mark.parametrize("command", [*(pytest.param(name, marks=SLOW) for name in COMMANDS), *OTHERS])
def test_no_command_follows_what_is_planted_at_a_name_that_it_writes(
    command: str, places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folder, outside, ready = places
    words = prepared(command, folder, monkeypatch)
    shutil.copytree(folder, ready)
    names = planted_names(names_written(folder, words))
    tried = 0
    for name in names:
        for kind, plant in PLANTS.items():
            try:
                attack(folder, outside, ready, words, name, plant)
            except AssertionError as error:
                raise AssertionError(f"{command}: {kind} at {name}: {error}") from error
            tried += 1
            assert "Please report this" not in capsys.readouterr().err
    with capsys.disabled():
        print(f"\n{command}: {len(names)} names, {tried} plants")


# ---------------------------------------------------------------------------------------------------------------------
# Each place, with what is said


@pytest.fixture
def run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the run `run` of a small study, which is not complete."""
    install(monkeypatch)
    words = put_ready("resume", tmp_path)
    assert words == ["resume", str(tmp_path / "run")]
    return tmp_path


def test_the_folders_of_a_run_are_not_read_or_written_where_a_link_leads(run_there: Path, capsys: Captured) -> None:
    run, other = run_there / "run", run_there / "other"
    shutil.copytree(run, other)
    shutil.rmtree(run / "points")
    (other / "points" / ".old.tmp").write_text("")
    (other / "points" / "mine.parquet").write_text("")
    (run / "points").symlink_to(other / "points")
    before = state(other)
    export = ["export", "--out", str(run_there / "x.csv")]
    for words in (["resume"], ["show"], ["check"], ["check", "--repair"], ["report"], ["map"], export):
        capsys.readouterr()
        assert main([words[0], str(run), *words[1:]]) == 2
        said = capsys.readouterr().err
        assert f"{run / 'points'}: 1 problem\n  is a link, and tribosweep reads and writes nothing where it leads" in said
    assert state(other) == before
    for name in FOLDERS:
        assert (run / name == run / "points") or not (run / name).exists()
        with pytest.raises(OSError, match="is a link"):
            make_inner_folder(link_of(run_there / f"linked_{name}", other))


def link_of(place: Path, target: Path) -> Path:
    """A new link."""
    place.symlink_to(target)
    return place


def test_a_run_may_be_reached_through_a_link_that_the_user_names(run_there: Path, capsys: Captured) -> None:
    link = link_of(run_there / "latest", run_there / "run")
    assert main(["resume", str(link)]) == 0
    assert main(["map", str(link)]) == 0
    assert (run_there / "run" / "_SUCCESS").is_file()
    assert (run_there / "run" / "map.png").is_file()
    assert link.is_symlink()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("target", ["canary", "new"])
def test_a_file_takes_the_place_of_a_link_of_its_name(tmp_path: Path, target: str) -> None:
    (tmp_path / "canary").write_bytes(CANARY)
    writes: list[Callable[[Path], None]] = [lambda path: write_whole(path, b"new"), lambda path: write_together({path: b"new"})]
    for number, write in enumerate(writes):
        link = link_of(tmp_path / f"link_{number}", tmp_path / target)
        write(link)
        assert not link.is_symlink()
        assert link.read_bytes() == b"new"
    assert (tmp_path / "canary").read_bytes() == CANARY
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("plant", [pipe, endpoint, device, to_folder])
def test_no_file_takes_the_place_of_what_is_none(plant: Callable[[Path, Path], None], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    try:
        plant(tmp_path / "out", tmp_path)
    except PermissionError:
        pytest.skip("this user cannot make it")
    kind = (tmp_path / "out").lstat().st_mode
    with pytest.raises(OSError, match=r"is a (pipe|socket|device|directory), in whose place no file is written") as told:
        write_whole(tmp_path / "out", b"new")
    assert told.value.filename == str(tmp_path / "out")
    assert (tmp_path / "out").lstat().st_mode == kind
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("plant", PLANTS.values())
def test_a_lock_that_is_no_file_of_its_own_is_refused(plant: Callable[[Path, Path], None], run_there: Path, capsys: Captured) -> None:
    outside = run_there / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "canary").write_bytes(CANARY)
    try:
        plant(run_there / "run" / ".lock", outside)
    except PermissionError:
        pytest.skip("this user cannot make it")
    before = state(outside)
    capsys.readouterr()
    assert main(["resume", str(run_there / "run")]) == 2
    said = capsys.readouterr().err
    assert f"{run_there / 'run' / '.lock'}: cannot be locked: is a" in said
    assert "remove it" in said
    assert main(["show", str(run_there / "run")]) == 0
    assert state(outside) == before
    (run_there / "run" / ".lock").unlink()
    assert main(["resume", str(run_there / "run")]) == 0


def test_a_lock_that_a_killed_process_has_left_goes_when_the_run_is_asked_for(run_there: Path, capsys: Captured) -> None:
    run = run_there / "run"
    assert main(["resume", str(run)]) == 0
    for name in (".lock", ".lock-1-of-2"):
        (run / name).write_text('{"pid": 1}')
    (run / ".lock.notes").write_text("")
    descriptor = system.open_locked(run / ".lock-1-of-2", alone=True)  # as a process that lives
    assert main(["resume", str(run)]) == 0
    assert "already complete" in capsys.readouterr().err
    assert sorted(path.name for path in run.glob(".lock*")) == [".lock-1-of-2", ".lock.notes"]
    system.close(descriptor)
    lock.clear(run)
    assert [path.name for path in run.glob(".lock*")] == [".lock.notes"]


# ---------------------------------------------------------------------------------------------------------------------
# Several processes


WRITER = """
import sys
from pathlib import Path
from tribosweep.sweep.io.atomic import write_together, write_whole

folder, which, times = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for number in range(times):
    data = f"{which} {number}".encode() * 200
    write_together({folder / name: data for name in ("a", "b", f"of_{which}")}, [folder / f"of_{1 - which}"])
    write_whole(folder / "alone", data)
"""


def writers(folder: Path, times: int) -> list[subprocess.Popen[bytes]]:
    """Two processes that write one set of files after another: each set without a file of the other's."""
    root = Path(sweep.__file__).parents[2]
    return [subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(which), str(times)], cwd=root) for which in (0, 1)]


def test_processes_that_write_different_sets_into_one_folder_mix_nothing(tmp_path: Path) -> None:
    assert [each.wait(60) for each in writers(tmp_path, 40)] == [0, 0]
    there = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    last = there["a"]
    assert there.keys() == {"a", "b", "alone", f"of_{last.decode()[0]}"}
    assert {there[name] for name in there if name != "alone"} == {last}


@pytest.mark.slow
def test_writers_killed_at_any_moment_leave_nothing_that_the_next_does_not_remove(tmp_path: Path) -> None:
    left = 0
    for number in range(10):
        both = writers(tmp_path, 10**6)
        deadline = time.monotonic() + 20.0
        while not (tmp_path / "alone").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.003 * number)
        for each in both:
            each.kill()
            each.wait()
        left += len(list(tmp_path.glob(TEMPORARIES)))
        (tmp_path / "alone").unlink(missing_ok=True)
    assert left > 0
    assert [each.wait(60) for each in writers(tmp_path, 1)] == [0, 0]
    assert {path.name for path in tmp_path.iterdir()} in ({"a", "alone", "b", "of_0"}, {"a", "alone", "b", "of_1"})


# ---------------------------------------------------------------------------------------------------------------------
# One place that writes

WRITERS = {
    "sweep/io/system.py": "the one place",
    "kernels/runtime/private_files.py": "kept programs, in a folder that no other user can write, under new random names",
    "sweep/cli/explore.py": "the page that leads a browser to a run, in a folder that it has just made for itself",
    "kernels/runtime/native_library.py": "the compiled library, in a folder that it has just made for itself",
}
METHODS = {"write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "rename", "makedirs", "rmtree"}
METHODS |= {"copytree", "copyfile", "copy2", "move", "mkstemp", "mkdtemp", "tofile", "savetxt", "NamedTemporaryFile", "truncate"}


def changes_files(call: ast.Call) -> bool:
    """Whether a call looks like one that makes, fills, renames or removes a file."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
    of_module = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in ("os", "system")
    if name == "open":
        given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
        modes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str) and len(each.value) <= 3]
        return any(set(mode) & set("wax+") for mode in modes) or (of_module and ast.unparse(call).startswith("os.open"))
    if of_module and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "system":
        return False  # the one place does it
    return isinstance(call.func, ast.Attribute) and (name in METHODS or (of_module and name in ("replace", "remove", "link", "symlink")))


def test_files_are_opened_to_write_in_one_place() -> None:
    root = Path(sweep.__file__).parents[2]
    assert Path(kernels.__file__).parents[2] == root
    found = set()
    for package in ("kernels", "sweep", "tribosweep"):
        for path in sorted((root / package).rglob("*.py")):
            calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
            if any(changes_files(call) for call in calls):
                found.add(path.relative_to(root).as_posix())
    assert found - {"sweep/cli/__init__.py"} == WRITERS.keys()  # that one opens /dev/null in the place of a closed stream
