"""Compiled programs are kept for their owner alone, where the user says, and without alarming anybody."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kernels.runtime import program_cache, stderr_filter

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys, numpy as np
from kernels.runtime import program_cache as cache
from kernels.batch.solve import solve
from kernels.models import MODELS
folder = cache.use()
solution = solve(MODELS["rubbing_mass"], "exact", {"a0": np.linspace(0.5, 20.0, 64)}, {}, 64)
print(folder, solution.compile_seconds, solution.observables["wear_power"].tobytes().hex())
"""


def solve_elsewhere(**environment: str) -> tuple[str, float, str]:
    """The cache, the seconds of compiling and the results of a process; nothing may be said on stderr."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=ROOT, env=clean | environment)
    assert done.stderr == ""
    folder, seconds, results = done.stdout.split()
    return folder, float(seconds), results


def modes(folder: Path) -> set[int]:
    """The permissions of a folder and of the folders in it."""
    return {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


@pytest.mark.slow
def test_a_second_process_takes_what_the_first_has_compiled(tmp_path: Path) -> None:
    first = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path))
    assert modes(tmp_path / "tribosweep") == {0o700}
    files = sorted((tmp_path / "tribosweep").rglob("*"))
    assert [path.suffix for path in files].count(".program") == 1
    second = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path))
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
            jax.monitoring.record_event(program_cache.HIT)
        everywhere = NamedSharding(Mesh(np.asarray(jax.devices()), ("device",)), PartitionSpec())
        return jax.jit(program, in_shardings=everywhere, out_shardings=everywhere).lower(jax.ShapeDtypeStruct((3,), np.float64)).compile()

    def kept(self, key: str = "sum") -> float:
        """What the first row of the kept program gives for 0."""
        return float(program_cache.kept(key, self, lambda program: program(np.zeros(3)))(np.zeros(3))[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs are kept; every one is worth it."""

    @functools.lru_cache(maxsize=1)
    def use() -> Path:
        return tmp_path

    use()
    monkeypatch.setattr(program_cache, "use", use)
    monkeypatch.setattr(program_cache, "WORTH_KEEPING", 0.0)
    return tmp_path


def test_a_kept_program_is_made_once_for_each_key_and_version_of_the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker()
    assert [maker.kept(), maker.kept()] == [1.0, 1.0]
    assert (maker.made, len(list(folder.iterdir()))) == (1, 1)
    assert Maker(2.0).kept("other") == 2.0
    monkeypatch.setattr(program_cache, "sources", lambda: "of another version")
    assert Maker(3.0).kept() == 3.0
    assert len(list(folder.iterdir())) == 3


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
    found = program_cache.kept("sum", maker, lambda _: 1 / 0)  # it can be read and does not run
    assert (float(found(np.zeros(3))[0]), maker.made) == (2.0, 1)


def test_what_jax_had_kept_is_not_kept_again(folder: Path) -> None:
    maker = Maker()
    maker.hit = True
    assert [maker.kept(), maker.kept()] == [1.0, 1.0]
    assert maker.made == 2
    assert not list(folder.iterdir())


def test_programs_that_nobody_uses_are_removed(folder: Path) -> None:
    for name, age in (("old.program", 40), ("young.program", 20), ("old.tmp", 40), ("of-jax-cache", 40)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (0.0, time.time() - age * 86400.0))
    Maker().kept()
    assert {path.name for path in folder.iterdir() if path.stem in ("old", "young", "of-jax-cache")} == {"young.program", "of-jax-cache"}


@pytest.mark.slow
def test_the_variables_of_jax_win(tmp_path: Path) -> None:
    own = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"))
    off = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_ENABLE_COMPILATION_CACHE="0")
    assert own[0] == off[0] == "None"
    assert not (tmp_path / "xdg").exists()
    assert list((tmp_path / "own").iterdir())


def test_a_folder_that_others_could_read_is_closed_and_one_of_others_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    assert program_cache.private_folder(tmp_path / "open", "cpu") == tmp_path / "open" / "cpu"
    assert modes(tmp_path / "open") == {0o700}
    (tmp_path / "link").symlink_to(tmp_path / "open")
    assert program_cache.private_folder(tmp_path / "link", "cpu") is None
    (tmp_path / "file").write_text("")
    assert program_cache.private_folder(tmp_path / "file" / "below", "cpu") is None
    assert program_cache.private_folder(Path("relative"), "cpu") is None
    monkeypatch.setattr("os.getuid", lambda: 12345)
    assert program_cache.private_folder(tmp_path / "open", "cpu") is None


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
def test_only_the_false_alarm_is_held_back(
    line: str, held_back: bool, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(jax.config), "jax_compilation_cache_dir", "somewhere", raising=False)
    with stderr_filter.without_false_alarm():
        os.write(2, f"before\n{line}\nafter".encode())
    said = capfd.readouterr().err
    assert said == ("before\nafter" if held_back else f"before\n{line}\nafter")


def test_last_words_are_not_lost_where_a_process_ends_at_once() -> None:
    code = """
import os, sys, jax
from kernels.runtime import stderr_filter
jax.config.update("jax_compilation_cache_dir", "/nowhere")
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
