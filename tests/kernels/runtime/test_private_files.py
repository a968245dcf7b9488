"""Files whose contents are executed are read only where no other user can have written them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tribosweep.kernels.runtime import private_files
from tribosweep.kernels.runtime.private_files import PrivateFiles, private

ROOT = Path(__file__).parents[3]
SOMEBODY_ELSE = 12345
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner and mode to ask for")
as_root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can give files to another user")


@pytest.fixture
def files(tmp_path: Path) -> PrivateFiles:
    """Files in XDG_CACHE_HOME/tribosweep/cpu, of which there is one."""
    files = PrivateFiles(tmp_path / "home" / "tribosweep" / "cpu")
    files.put("name", b"data")
    assert files.get("name") == b"data"
    return files


@pytest.fixture(params=[0o000, 0o002, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_folders_and_files_are_made_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    files = PrivateFiles(tmp_path / "home" / "tribosweep" / "cpu")
    files.put("name", b"data")
    modes = {path.relative_to(tmp_path).parts[-1]: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"home": 0o700, "tribosweep": 0o700, "cpu": 0o700, "name.program": 0o600}
    assert (files.get("name"), files.get("other")) == (b"data", None)
    files.put("name", b"")
    assert files.get("name") == b""


def chmod(mode: int) -> Callable[[Path], None]:
    return lambda path: path.chmod(mode)


def give_away(path: Path) -> None:
    os.chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE, follow_symlinks=False)


def move_and_link(path: Path) -> None:
    """A symbolic link to what was here, as another user would leave it: in an open folder."""
    elsewhere = Path(tempfile.mkdtemp(dir=path.parent)) / path.name
    path.rename(elsewhere)
    elsewhere.parent.chmod(0o777)
    path.symlink_to(elsewhere)


FOLDERS = {
    "the folder": lambda files: files.folder,
    "the one above": lambda files: files.folder.parent,
    "XDG_CACHE_HOME": lambda files: files.folder.parents[1],
}


@pytest.mark.parametrize("which", FOLDERS)
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702, 0o720])
def test_nothing_is_read_or_written_where_others_can_write_to_a_folder(files: PrivateFiles, which: str, mode: int) -> None:
    folder = FOLDERS[which](files)
    folder.chmod(mode)
    with pytest.raises(PermissionError, match=rf"{folder} can be written to by others \(mode 0{mode:o}\)"):
        PrivateFiles(files.folder)
    before = sorted(files.folder.iterdir())
    files.put("new", b"data")
    assert files.get("name") is None
    assert sorted(files.folder.iterdir()) == before  # nothing new, and nothing removed that may be another's
    assert folder.stat().st_mode & 0o777 == mode


@as_root
@pytest.mark.parametrize("which", FOLDERS)
def test_nothing_is_read_where_another_user_owns_a_folder(files: PrivateFiles, which: str) -> None:
    give_away(FOLDERS[which](files))
    assert files.get("name") is None
    with pytest.raises(PermissionError, match="belongs to another user"):
        PrivateFiles(files.folder)


@pytest.mark.parametrize(
    "change",
    [
        chmod(0o666),
        chmod(0o620),
        move_and_link,
        lambda file: os.link(file, file.parent / "second name"),
        lambda file: (file.unlink(), os.mkfifo(file, 0o600)),
        lambda file: (file.unlink(), file.mkdir()),
        pytest.param(give_away, marks=as_root),
    ],
    ids=["0666", "0620", "link", "second name", "pipe", "folder", "another's"],
)
def test_a_file_that_another_can_have_written_is_not_read(files: PrivateFiles, change: Callable[[Path], object]) -> None:
    file = files.folder / "name.program"
    change(file)
    assert files.get("name") is None
    if not file.is_dir():
        files.put("name", b"new")
        assert files.get("name") == b"new"
        assert file.lstat().st_mode & 0o777 == 0o600


def test_what_others_could_write_to_is_discarded(files: PrivateFiles) -> None:
    (files.folder / "name.program").chmod(0o666)
    assert files.get("name") is None
    assert not list(files.folder.iterdir())


def test_a_damaged_file_and_one_that_was_given_another_name_are_not_read(files: PrivateFiles) -> None:
    whole = (files.folder / "name.program").read_bytes()
    for damaged in (b"", whole[:10], whole[:-1], whole + b"x", whole[:-1] + b"x"):
        (files.folder / "name.program").write_bytes(damaged)
        assert files.get("name") is None
    (files.folder / "other.program").write_bytes(whole)
    (files.folder / "other.program").chmod(0o600)
    assert files.get("other") is None


def test_a_link_of_this_user_leads_to_a_private_folder(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".cache").symlink_to("../scratch/cache")  # whose target is still to be made
    files = PrivateFiles(tmp_path / "home" / ".cache" / "tribosweep")
    assert files.folder == tmp_path / "scratch" / "cache" / "tribosweep"
    (tmp_path / "scratch").chmod(0o777)
    with pytest.raises(PermissionError, match="scratch can be written to by others"):
        private(tmp_path / "home" / ".cache" / "tribosweep")


@as_root
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "ours").mkdir(mode=0o700)
    link = tmp_path / "shared" / "tribosweep"
    link.symlink_to(tmp_path / "ours")
    assert private(link) == tmp_path / "ours"
    give_away(link)
    for folder in (link, link / "cpu"):
        with pytest.raises(PermissionError, match="belongs to another user"):
            private(folder)
    assert not list((tmp_path / "ours").iterdir())


def test_in_a_shared_folder_only_what_this_user_made_first_is_used(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)  # as /tmp
    PrivateFiles(shared / "tribosweep" / "cpu").put("name", b"data")
    with pytest.raises(PermissionError, match="mode 1777"):  # which others can fill, though not rename in
        private(shared)
    (shared / "tribosweep").chmod(0o1777)  # where others can add a link to a folder of ours, from which old files would be removed
    with pytest.raises(PermissionError, match="mode 1777"):
        PrivateFiles(shared / "tribosweep" / "cpu")
    if os.geteuid() == 0:
        give_away(shared / "tribosweep")
        with pytest.raises(PermissionError, match=r"belongs to another user \(number 12345\)"):
            private(shared / "tribosweep" / "cpu")


def test_what_is_no_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for folder, said in (
        (tmp_path / "file", "Not a directory"),
        (tmp_path / "file" / "below", "Not a directory"),
        (tmp_path / "loop" / "below", "symbolic links"),
        (Path("relative"), "not an absolute path"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        with pytest.raises(OSError, match=said):
            private(folder)
    assert private(tmp_path / "new" / ".." / "second") == tmp_path / "second"


def test_keeping_never_raises(files: PrivateFiles) -> None:
    files.put("x" * 300, b"data")
    assert files.get("x" * 300) is None
    shutil.rmtree(files.folder.parents[1])
    assert files.get("name") is None
    files.put("name", b"data")  # where the folder is made again
    assert files.get("name") == b"data"


def test_what_was_used_longest_ago_is_removed_beyond_a_size(files: PrivateFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    (files.folder / "name.program").unlink()
    beside = PrivateFiles(files.folder.parent / "another-cpu")
    beside.put("beside", bytes(1000))
    for age, name in enumerate(("first", "second", "third", "fourth")):
        files.put(name, bytes(1000))
        os.utime(files.folder / f"{name}.program", (0.0, time.time() - 1000 + age))
    os.utime(beside.folder / "beside.program", (0.0, time.time() - 2000))
    assert files.get("first") == bytes(1000)  # and so is the last that was used
    monkeypatch.setattr(private_files, "LARGEST", 3 * 1032 / 2**20)
    files.put("fifth", bytes(1000))
    assert {path.stem for path in files.folder.parent.glob("*/*")} == {"fifth", "first", "fourth"}
    files.put("too large", bytes(5000))
    assert files.get("too large") is None


def test_the_size_is_what_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = PrivateFiles(tmp_path / "home" / "tribosweep" / "cpu")
    monkeypatch.setenv(private_files.SIZE, "1")
    for name in ("first", "second", "third", "fourth"):
        files.put(name, bytes(300_000))
        os.utime(files.folder / f"{name}.program", (0.0, time.time() - 10.0))
        time.sleep(0.01)
    assert {path.stem for path in files.folder.iterdir()} == {"second", "third", "fourth"}
    monkeypatch.setenv(private_files.SIZE, " ")
    assert private_files.largest() == 256 * 2**20
    for wrong in ("1.5", "-1", "much"):
        monkeypatch.setenv(private_files.SIZE, wrong)
        with pytest.raises(OSError, match=f"TRIBOSWEEP_CACHE_MIB is '{wrong}', which is no whole number of MiB"):
            PrivateFiles(tmp_path / "home" / "tribosweep" / "cpu")
        files.put("fifth", bytes(300_000))  # it does not fail


def test_files_are_looked_through_now_and_then(files: PrivateFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(private_files, "trim", looks.append)
    monkeypatch.setenv(private_files.SIZE, "64")
    for name in range(7):
        files.put(str(name), bytes(2**19))
    assert len(looks) == 3  # after every MiB


def test_what_nobody_uses_is_removed_and_what_has_another_ending_stays(files: PrivateFiles) -> None:
    for name, age in (("old.program", 40), ("young.program", 20), ("old.tmp", 40), ("old-cache", 40), ("old.py", 40)):
        (files.folder / name).write_bytes(b"")
        os.utime(files.folder / name, (0.0, time.time() - age * 86400.0))
    files.put("new", b"data")
    assert (files.folder / "old.program").exists()  # this object has looked through the files before
    PrivateFiles(files.folder).put("new", b"data")
    assert {path.name for path in files.folder.iterdir()} == {"name.program", "new.program", "young.program", "old.py"}


def test_writers_at_the_same_time_do_not_disturb_each_other(files: PrivateFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_files, "LARGEST", 5 * 1032 / 2**20)
    wrong: list[object] = []

    def work(own: int) -> None:
        try:
            for turn in range(40):
                name = str((own + turn) % 7)
                files.put(name, name.encode() * 1000)
                found = files.get(str(turn % 7))
                if found not in (None, str(turn % 7).encode() * 1000):
                    wrong.append(found)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not list(files.folder.glob("*.tmp"))
    assert sum(path.stat().st_size for path in files.folder.iterdir()) <= 5 * 1032


@as_root
def test_a_user_who_is_not_root_trusts_root_and_nobody_else() -> None:
    code = f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from tribosweep.kernels.runtime.private_files import PrivateFiles
os.setgroups([])
os.setgid({SOMEBODY_ELSE})
os.setuid({SOMEBODY_ELSE})
for name in ("ours", "roots", "roots/ours", "others/ours"):
    try:
        files = PrivateFiles(Path(sys.argv[1]) / name / "cpu")
        files.put("name", b"data")
        print(name, files.get("name"))
    except PermissionError as error:
        print(name, str(error).removeprefix(sys.argv[1]))
"""
    here = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        here.chmod(0o1777)
        for name, owner in (("roots", 0), ("roots/ours", SOMEBODY_ELSE), ("others", SOMEBODY_ELSE + 1), ("others/ours", SOMEBODY_ELSE)):
            (here / name).mkdir(mode=0o755)
            os.chown(here / name, owner, owner)
        said = subprocess.run([sys.executable, "-c", code, str(here)], check=True, capture_output=True, text=True).stdout.splitlines()
    finally:
        shutil.rmtree(here)
    assert said == [
        "ours b'data'",
        "roots /roots belongs to another user (number 0)",
        "roots/ours b'data'",
        f"others/ours /others belongs to another user (number {SOMEBODY_ELSE + 1})",
    ]
