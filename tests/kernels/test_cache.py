"""Compiled programs are kept for their owner alone, where the user says, and without alarming anybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels import cache

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, numpy as np
from kernels import cache
from kernels.batch import solve
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
    files = list((tmp_path / "tribosweep").rglob("*-cache"))
    assert files
    second = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path))
    assert list((tmp_path / "tribosweep").rglob("*-cache")) == files
    assert second[1] < 0.8 * first[1]  # about a third; tracing is not kept
    assert (second[0], second[2]) == (first[0], first[2])
    assert Path(first[0]).parent == tmp_path / "tribosweep"


@pytest.mark.slow
def test_the_variables_of_jax_win(tmp_path: Path) -> None:
    own = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"))
    off = solve_elsewhere(XDG_CACHE_HOME=str(tmp_path / "xdg"), JAX_ENABLE_COMPILATION_CACHE="0")
    assert own[0] == off[0] == "None"
    assert not (tmp_path / "xdg").exists()
    assert list((tmp_path / "own").iterdir())


def test_a_folder_that_others_could_read_is_closed_and_one_of_others_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    assert cache.private_folder(tmp_path / "open", "cpu") == tmp_path / "open" / "cpu"
    assert modes(tmp_path / "open") == {0o700}
    (tmp_path / "link").symlink_to(tmp_path / "open")
    assert cache.private_folder(tmp_path / "link", "cpu") is None
    (tmp_path / "file").write_text("")
    assert cache.private_folder(tmp_path / "file" / "below", "cpu") is None
    monkeypatch.setattr("os.getuid", lambda: 12345)
    assert cache.private_folder(tmp_path / "open", "cpu") is None


def test_the_folder_is_that_of_the_specification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_home() == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for nothing in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert cache.cache_home() == tmp_path / "home" / ".cache"
    assert cache.cpu() == cache.cpu()


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
    import jax

    monkeypatch.setattr(type(jax.config), "jax_compilation_cache_dir", "somewhere", raising=False)
    with cache.without_false_alarm():
        os.write(2, f"before\n{line}\nafter".encode())
    said = capfd.readouterr().err
    assert said == ("before\nafter" if held_back else f"before\n{line}\nafter")


def test_last_words_are_not_lost_where_a_process_ends_at_once() -> None:
    code = """
import os, sys, jax
from kernels import cache
jax.config.update("jax_compilation_cache_dir", "/nowhere")
with cache.without_false_alarm():
    for line in range(1000):
        print("last words", line, file=sys.stderr)
    sys.stderr.flush()
    cache.flush_stderr()
    os._exit(130)
"""
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert done.returncode == 130
    assert done.stderr.splitlines() == [f"last words {line}" for line in range(1000)]
