"""Loops in C++ are compiled only if the user asks, kept for one user and one compiler, and never in the way where they cannot be had."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tribosweep.kernels.runtime import jax_setup, native_library

ROOT = Path(__file__).parents[3]
COMPILER = next((found for name in native_library.COMPILERS if (found := shutil.which(name))), None)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler is installed")
# Shell commands of a compiler that makes a library with an empty function, in a tenth of the time
STUB = f"""for last; do :; done
echo 'extern "C" void {native_library.EULER}() {{}}' | {COMPILER} -x c++ - -shared -fPIC -o "$last"
"""
SCRIPT = """
from tribosweep.kernels.runtime import jax_setup, native_library
jax_setup.prepare()
native_library._REGISTERED.append("nothing")  # JAX would call the empty function
print(native_library.in_use(), native_library.why_not())
"""


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of its own, no library from before, and none that JAX learns of: it would call it in other tests."""
    monkeypatch.setattr(native_library, "_REGISTERED", ["nothing"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(native_library.SWITCH, "1")
    monkeypatch.delenv("CXX", raising=False)
    native_library.forget()
    yield
    native_library.forget()


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Shell commands -> they are the compiler from now on; the file that logs each call but those for its version."""

    def chosen(commands: str) -> Path:
        script, log = tmp_path / "compiler", tmp_path / "log"
        script.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo compiler 1.0; exit 0; fi\necho called >> {log}\n{commands}\n')
        script.chmod(0o755)
        monkeypatch.setenv("CXX", str(script))
        return log

    return chosen


def kept(tmp_path: Path) -> list[Path]:
    """The kept files."""
    return sorted((tmp_path / "cache").rglob("*.program"))


def test_nothing_is_compiled_unless_the_user_asks(monkeypatch: pytest.MonkeyPatch, compiler: Callable[[str], Path]) -> None:
    log = compiler("exit 1")
    for value in ("", "0", None):
        monkeypatch.delenv(native_library.SWITCH) if value is None else monkeypatch.setenv(native_library.SWITCH, value)
        assert not native_library.in_use()
        assert native_library.why_not() == ""
        assert native_library.describe().startswith("off")
    assert not log.exists()


def test_without_a_compiler_jax_runs_everything_and_a_sentence_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not native_library.in_use()
    assert native_library.why_not() == "no C++ compiler is there: none of c++, g++, clang++"
    assert native_library.describe() == "off: JAX runs everything"
    assert "native" not in jax_setup.describe()
    assert any(native_library.SWITCH in problem and "no C++ compiler" in problem for problem in jax_setup.problems())
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    native_library.forget()
    assert native_library.why_not() == "CXX is no-such-compiler -O1, which is no command"
    monkeypatch.setenv("CXX", "g++ 'abc")
    native_library.forget()
    assert not native_library.in_use()
    assert native_library.why_not() == "CXX is g++ 'abc, which is no command (No closing quotation)"
    assert any("g++ 'abc" in problem for problem in jax_setup.problems())


def test_a_compiler_that_hangs_holds_a_run_for_seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert native_library.LONGEST == 30.0
    monkeypatch.setattr(native_library, "LONGEST", 0.5)
    script = tmp_path / "compiler"
    script.write_text("#!/bin/sh\nsleep 600\nexit 0\n")  # the shell waits for another process, which has its pipes
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    begun = time.monotonic()
    assert not native_library.in_use()
    assert time.monotonic() - begun < 20.0
    assert native_library.why_not() == f"{script} did not end within 0.5 s"


def test_whatever_goes_wrong_with_the_library_jax_runs_everything(monkeypatch: pytest.MonkeyPatch, compiler: Callable[[str], Path]) -> None:
    def broken(*_: object) -> None:
        raise UnicodeError("odd")

    compiler("exit 0")
    monkeypatch.setattr(native_library, "_provide", broken)
    assert not native_library.in_use()
    assert native_library.why_not() == "odd"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ("echo warning: hm >&2; echo 'x.cc:1: fatal error: no such header' >&2; exit 1", "status 1: x.cc:1: fatal error: no such header"),
        ("exit 3", "status 3: it does not say why"),
        ("exit 0", "library.so"),  # it writes no file
        ('for last; do :; done; echo rubbish > "$last"', "library.so"),
        ("kill -9 $$", "failed with status -9"),
    ],
)
def test_a_broken_compiler_is_named_and_nothing_is_kept(compiler: Callable[[str], Path], tmp_path: Path, commands: str, said: str) -> None:
    log = compiler(commands)
    assert not native_library.in_use()
    assert said in native_library.why_not()
    assert "\n" not in native_library.why_not()
    assert log.read_text() == "called\n"  # once, however often it is asked for
    assert not kept(tmp_path)


@needs_compiler
def test_the_library_is_kept_and_a_damaged_one_is_compiled_again(compiler: Callable[[str], Path], tmp_path: Path) -> None:
    log = compiler(STUB)

    def calls() -> int:
        native_library.forget()
        assert native_library.in_use(), native_library.why_not()
        return log.read_text().count("called")

    assert calls() == 1
    assert calls() == 1
    (file,) = kept(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert calls() == 2
    assert len(kept(tmp_path)) == 1
    file.chmod(0o666)  # others could have written it
    assert calls() == 3
    assert native_library.describe() == jax_setup.describe()["native"] == "euler in lockstep, by compiler 1.0"


@needs_compiler
def test_a_library_without_its_function_is_refused(compiler: Callable[[str], Path], tmp_path: Path) -> None:
    compiler(STUB.replace(native_library.EULER, "another"))
    assert not native_library.in_use()
    assert native_library.why_not() == f"the compiled library has no function {native_library.EULER}"
    assert not kept(tmp_path)


@pytest.mark.slow
@needs_compiler
def test_two_processes_at_once_both_get_the_library(compiler: Callable[[str], Path], tmp_path: Path) -> None:
    log = compiler("sleep 1\n" + STUB)
    both = [subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].strip() for process in both] == ["True", "True"]
    assert log.read_text() == "called\n" * 2
    assert len(kept(tmp_path)) == 1
    assert not list((tmp_path / "cache").rglob("*.tmp"))
