"""Compiled programs are kept for their owner alone, where the user says, and without alarming anybody; what others planted does not run."""

from __future__ import annotations

import functools
import os
import pickle
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tribosweep.kernels.runtime import import_closure, jax_private, program_cache, stderr_filter
from tribosweep.kernels.runtime.private_files import PrivateFiles

ROOT = Path(__file__).parents[3]
MODULES = ("tribosweep.kernels.numerics.fusion",)
SCRIPT = """
import sys, numpy as np
from tribosweep.kernels.runtime import program_cache as cache
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import MODELS
folder = cache.use()
solution = solve(MODELS["rubbing_mass"], "exact", {"a0": np.linspace(0.5, 20.0, 64)}, {}, 64)
print(folder, solution.compile_seconds, solution.observables["wear_power"].tobytes().hex())
"""


def solve_elsewhere(**environment: str) -> tuple[str, float, str]:
    """The cache, the seconds of compiling and the results of a process; nothing may be said on stderr."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_", "TF_"))}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=ROOT, env=clean | environment)
    assert done.stderr == ""
    folder, seconds, results = done.stdout.split()
    return folder, float(seconds), results


def modes(folder: Path) -> set[int]:
    """The permissions of a folder and of the folders in it."""
    return {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


@pytest.mark.long_cases("2")
@pytest.mark.slow
@pytest.mark.parametrize("devices", ["1", "2"])
def test_a_second_process_takes_what_the_first_has_compiled(tmp_path: Path, devices: str) -> None:
    first = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path), JAX_NUM_CPU_DEVICES=devices)
    assert modes(tmp_path / "tribosweep") == {0o700}
    files = sorted((tmp_path / "tribosweep").rglob("*"))
    assert len([path for path in files if len(path.stem) == 64]) == 1  # and JAX's own
    second = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path), JAX_NUM_CPU_DEVICES=devices)
    assert sorted((tmp_path / "tribosweep").rglob("*")) == files
    assert second[1] < 0.4 * first[1]  # less than a tenth: neither traced nor compiled
    assert (second[0], second[2]) == (first[0], first[2])
    assert Path(first[0]).parent == tmp_path / "tribosweep"


class Maker:
    """Makes a program that adds `number`, and counts how often."""

    def __init__(self, number: float = 1.0) -> None:
        self.number, self.made, self.hit = number, 0, False

    def __call__(self, name: str) -> Any:
        def program(x: Any) -> Any:
            return x + self.number

        self.made += 1
        program.__name__ = name
        if self.hit:
            jax.monitoring.record_event(jax_private.HIT)
        everywhere = NamedSharding(Mesh(np.asarray(jax.devices()), ("device",)), PartitionSpec())
        return jax.jit(program, in_shardings=everywhere, out_shardings=everywhere).lower(jax.ShapeDtypeStruct((3,), np.float64)).compile()

    def kept(self, key: str = "sum") -> float:
        """What the first row of the kept program gives for 0."""
        return float(program_cache.kept(key, self, lambda program: program(np.zeros(3)), MODULES)(np.zeros(3))[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where programs are kept; every one is worth it."""
    files = PrivateFiles(tmp_path / "cpu")

    @functools.lru_cache(maxsize=1)
    def kept_there() -> PrivateFiles:
        return files

    kept_there()
    monkeypatch.setattr(program_cache, "_files", kept_there)
    monkeypatch.setattr(program_cache, "WORTH_KEEPING", 0.0)
    option = "jax_persistent_cache_min_compile_time_secs"
    before = getattr(jax.config, option)
    jax.config.update(option, 1e9)  # what JAX keeps itself is not kept here
    yield files.folder
    jax.config.update(option, before)


def test_a_kept_program_is_made_once_for_each_key_version_and_set_of_options(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker()
    assert [maker.kept(), maker.kept()] == [1.0, 1.0]
    assert (maker.made, len(list(folder.iterdir()))) == (1, 1)
    assert Maker(2.0).kept("other") == 2.0
    monkeypatch.setattr(import_closure, "digest", lambda modules: f"another version of {modules}")
    assert Maker(3.0).kept() == 3.0
    assert len(list(folder.iterdir())) == 3
    monkeypatch.setenv("XLA_FLAGS", f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=1")
    assert Maker(5.0).kept() == 5.0
    assert len(list(folder.iterdir())) == 4
    monkeypatch.setattr(import_closure, "digest", lambda _: None)  # files have changed since
    maker = Maker(4.0)
    assert [maker.kept(), maker.kept(), maker.made] == [4.0, 4.0, 2]
    assert len(list(folder.iterdir())) == 4


def test_a_program_is_not_kept_if_its_files_change_while_it_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker, found = Maker(), iter(["before", None, "before", "before"])
    monkeypatch.setattr(import_closure, "digest", lambda _: next(found))
    assert (maker.kept(), list(folder.iterdir())) == (1.0, [])
    assert (maker.kept(), len(list(folder.iterdir()))) == (1.0, 1)


def test_what_was_kept_and_cannot_be_read_is_made_again(folder: Path) -> None:
    Maker().kept()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole[:-1] + bytes([whole[-1] ^ 1]), b"no program"):
        file.write_bytes(damaged)
        maker = Maker()
        assert maker.kept() == 1.0
        assert maker.made == 1
        assert file.read_bytes() != damaged
    maker = Maker(2.0)
    found = program_cache.kept("sum", maker, lambda _: 1 / 0, MODULES)  # it can be read and does not run
    assert (float(found(np.zeros(3))[0]), maker.made) == (2.0, 1)


def test_what_jax_had_kept_is_not_kept_again(folder: Path) -> None:
    maker = Maker()
    maker.hit = True
    assert [maker.kept(), maker.kept()] == [1.0, 1.0]
    assert maker.made == 2
    assert not list(folder.iterdir())


class Planted:
    """As a pickle, it makes a file when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def test_a_pickle_that_is_no_program_is_not_run(folder: Path, tmp_path: Path) -> None:
    Maker().kept()
    (file,) = folder.iterdir()
    mark = tmp_path / "was here"
    pickle.loads(pickle.dumps(Planted(mark)))
    assert mark.exists()
    mark.unlink()
    for planted in (Planted(mark), (pickle.dumps(Planted(mark)), None, None)):
        PrivateFiles(folder).put(file.stem, zlib.compress(pickle.dumps(planted)))
        maker = Maker()
        assert (maker.kept(), maker.made) == (1.0, 1)
    assert not mark.exists()


TWO_PROGRAMS = """
import sys, jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from tribosweep.kernels.runtime import jax_setup, program_cache as cache
jax_setup.prepare()
cache.WORTH_KEEPING = 0.0
folder, number = cache.use(), float(sys.argv[1])

def make(name):
    def program(x):
        return x + number
    program.__name__ = name
    everywhere = NamedSharding(Mesh(np.asarray(jax.devices()), ("device",)), PartitionSpec())
    return jax.jit(program, in_shardings=everywhere, out_shardings=everywhere).lower(jax.ShapeDtypeStruct((3,), np.float64)).compile()

@jax.jit
def ours(x):
    return x + 1.0

@jax.jit
def planted(x):
    return x + 666.0

whole = cache.kept("sum", make, lambda program: program(np.zeros(3)), ("tribosweep.kernels.numerics.fusion",))(np.zeros(3))[0]
if number == 666.0:
    planted(np.zeros(3))
print(float(whole), float(ours(np.zeros(3))[0]), folder, cache.why_not(), sep="|")
"""


def two_programs(cache: Path, number: float = 1.0) -> tuple[float, float, str]:
    """The results of two programs in a process of its own, one kept by its origin and one by JAX; and why nothing was kept."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    clean |= {"XDG_CACHE_HOME": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    command = [sys.executable, "-W", "error", "-c", TWO_PROGRAMS, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=clean)
    whole, ours, _, why = done.stdout.strip().split("|")
    return float(whole), float(ours), why


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which both programs add 666, where they should add 1."""
    cache = tmp_path_factory.mktemp("planted")
    assert two_programs(cache, 666.0)[0] == 666.0
    (folder,) = (cache / "tribosweep").iterdir()
    (wrong,) = folder.glob("jit_planted-*")
    (right,) = folder.glob("jit_ours-*")
    data = PrivateFiles(folder).get(wrong.stem)
    assert data is not None
    PrivateFiles(folder).put(right.stem, data)
    assert two_programs(cache) == (666.0, 666.0, "")  # where this user has done it, it runs
    return cache


def everything(change: Callable[[Path], object]) -> Callable[[Path], None]:
    """The change, done to all files in a cache."""

    def changed(cache: Path) -> None:
        for file in cache.glob("tribosweep/*/*"):
            change(file)

    return changed


def link(path: Path) -> None:
    """Another user's symbolic link, to a place that he can write to."""
    place = path.parent / f"place of {path.name}"
    place.mkdir()
    path.rename(place / path.name)
    place.chmod(0o777)
    path.symlink_to(place / path.name)


def give_away(path: Path) -> None:
    os.chown(path, 12345, 12345, follow_symlinks=False)


def shared(cache: Path) -> None:
    """XDG_CACHE_HOME is a folder like /tmp, in which another user was there first."""
    cache.chmod(0o1777)
    give_away(cache / "tribosweep")


as_root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can give files to another user")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda cache: (cache / "tribosweep").chmod(0o777), "tribosweep can be written to by others", id="folder open"),
        pytest.param(lambda cache: cache.chmod(0o775), "can be written to by others (mode 0775)", id="folder above open"),
        pytest.param(lambda cache: link(cache / "tribosweep"), "can be written to by others", id="folder a link"),
        pytest.param(everything(lambda file: file.chmod(0o666)), "", id="files open"),
        pytest.param(everything(link), "", id="files links"),
        pytest.param(everything(lambda file: os.link(file, f"{file}.second")), "", id="files with second names"),
        pytest.param(everything(give_away), "", id="files of another", marks=as_root),
        pytest.param(lambda cache: give_away(cache / "tribosweep"), "belongs to another user", id="folder of another", marks=as_root),
        pytest.param(shared, "belongs to another user", id="shared", marks=as_root),
    ],
)
def test_a_program_that_another_can_have_planted_does_not_run(
    planted: Path, tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(planted, cache)
    change(cache)
    whole, ours, why = two_programs(cache)
    assert (whole, ours) == (1.0, 1.0)
    assert said in why
    assert bool(said) == bool(why)


@pytest.mark.long
@pytest.mark.slow
def test_the_variables_of_jax_win(tmp_path: Path) -> None:
    own = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"))
    off = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_ENABLE_COMPILATION_CACHE="0")
    assert own[0] == off[0] == "None"
    assert not (tmp_path / "xdg").exists()
    assert list((tmp_path / "own").iterdir())


def test_the_folder_is_that_of_the_specification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert program_cache.cache_home() == tmp_path / "tribosweep"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for nothing in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert program_cache.cache_home() == tmp_path / "home" / ".cache" / "tribosweep"
    assert program_cache.cpu() == program_cache.cpu()


@pytest.mark.parametrize(
    ("line", "held_back"),
    [
        (
            "E1122 cpu_aot_loader.cc:195] Loading XLA:CPU AOT result. Target machine feature +prefer-no-gather is not  supported",
            True,
        ),
        (
            "E1122 cpu_aot_loader.cc:195] Loading XLA:CPU AOT result. Target machine feature +avx512f is not  supported",
            False,
        ),
        ("E1122 other.cc:1] Target machine feature +prefer-no-gather is not  supported", False),
        ("E1122 14:41:11.025160    7480 slow_operation_alarm.cc:73] ", True),
        ("[Compiling module jit__lambda for CPU] Very slow compile? If you want to file a bug, run with envvar XLA_FLAGS=...", True),
        ("*" * 32, True),
        ("*" * 31, False),
    ],
)
def test_only_the_false_alarm_is_held_back(line: str, held_back: bool, capfd: pytest.CaptureFixture[str]) -> None:
    with stderr_filter.without_false_alarm():
        os.write(2, f"before\n{line}\nafter".encode())
    said = capfd.readouterr().err
    assert said == ("before\nafter" if held_back else f"before\n{line}\nafter")


def test_a_bar_of_progress_goes_on_while_alarms_are_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    alarm = "E1122 cpu_aot_loader.cc:195] Loading XLA:CPU AOT result. Target machine feature +prefer-no-gather is not  supported"
    pieces = ["compiling 0 %", "\r\x1b[2Kcompiling 1 %", alarm[:40], alarm[40:] + "\n", "\r\x1b[2K7 of 9", " points\r", "8 of 9 points\r"]
    said = ""
    with stderr_filter.without_false_alarm():
        for piece in pieces:
            os.write(2, piece.encode())
            deadline = time.monotonic() + (0.05 if piece in alarm + "\n" else 10.0)
            while time.monotonic() < deadline and not said.endswith(piece):
                said += capfd.readouterr().err
                time.sleep(0.001)
            assert said.endswith(piece) == (piece not in alarm + "\n"), piece
    assert said + capfd.readouterr().err == "compiling 0 %\r\x1b[2Kcompiling 1 %\r\x1b[2K7 of 9 points\r8 of 9 points\r"


@pytest.mark.slow
def test_no_program_that_jax_loads_says_a_word_on_stderr(tmp_path: Path) -> None:
    """XLA's loader finds its own preferences (+prefer-no-gather) missing in every CPU, and says so in 3 kB for every program."""
    code = """
{}
from tribosweep import kernels
from tribosweep.kernels.runtime import jax_private, program_cache
import jax, jax.numpy as jnp
program_cache.use()
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax_private.hits()
print(jax.jit(lambda x: jnp.sum(jnp.sin(x)[::2]))(jnp.arange(1000.0)), jax_private.hits())
"""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_", "TF_"))}
    hits = []
    for before in ("", "", "import jax"):
        command = [sys.executable, "-c", code.format(before)]
        environment = clean | {"XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
        assert done.stderr == ""
        hits.append(int(done.stdout.split()[1]))
    assert hits[0] == 0 < hits[1] == hits[2]


@pytest.mark.slow
def test_last_words_are_not_lost_where_a_process_ends_at_once() -> None:
    code = """
import os, sys
from tribosweep.kernels.runtime import stderr_filter
with stderr_filter.without_false_alarm():
    for line in range(1000):
        print("last words", line, file=sys.stderr)
    sys.stderr.flush()
    stderr_filter.flush_stderr()
    os._exit(130)
"""
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert done.returncode == 130
    assert done.stderr.splitlines() == [f"last words {line}" for line in range(1000)]
