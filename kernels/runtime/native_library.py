"""Loops in C++, an optional way of running: compiled for this CPU when they are first needed, kept, and given to JAX.

They run only if the environment variable TRIBOSWEEP_NATIVE is set (to anything but 0) and a C++ compiler is there: the one that CXX names,
else c++, g++ or clang++. Otherwise JAX runs the same rows with its own loops. `kernels/native` has the sources.

The library is machine code. It lies beside the compiled programs (`program_cache`), under a name that is a hash of all that it depends on,
and is read by the same rules (`private_files`). Where programs are not kept it is compiled in every process.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tribosweep.kernels.runtime import other_program, program_cache
from tribosweep.kernels.runtime.private_files import PrivateFiles, private

SWITCH = "TRIBOSWEEP_NATIVE"
EULER = "tribosweep_euler"  # the name of the function in `native/library.cc`, and of the target that JAX calls
COMPILERS = ("c++", "g++", "clang++")
SOURCES, MAIN = Path(__file__).parents[1] / "native", "library.cc"
# The library lies in a folder of this kind of CPU. Compilers for ARM do not all know -march=native, and need it less. A product and a sum
# are one rounding where the CPU has an instruction for both. The rest must hold whatever the command of the user says.
OPTIONS = (
    *(("-march=native",) if platform.machine().lower() in ("x86_64", "amd64") else ()),
    "-ffp-contract=fast", "-fno-fast-math", "-O3", "-std=c++17", "-fPIC", "-shared",
)  # fmt: skip
LONGEST = 30.0  # s that a compiler may take in all; g++ takes 3 s
_ONE_AT_A_TIME = threading.Lock()
_REGISTERED: list[str] = []  # in this process


class Library(NamedTuple):
    """The loaded library, by the first line of what its compiler says of itself."""

    compiler: str


class _UnavailableError(RuntimeError):
    """There is no library; the message says why."""


def asked_for() -> bool:
    """Whether the user asks for loops in C++."""
    return os.environ.get(SWITCH, "").strip() not in ("", "0")


def in_use() -> bool:
    """Whether loops in C++ run what they can run. If asked for, the first call starts JAX, and compiles or loads them."""
    return asked_for() and isinstance(_library(), Library)


def why_not() -> str:
    """Why loops in C++ do not run though they are asked for, in words; else empty."""
    found = _library() if asked_for() else ""
    return found if isinstance(found, str) else ""


def describe() -> str:
    """What compiled the loops in C++, or that JAX runs everything; for provenance and `tribosweep doctor`."""
    if not asked_for():
        return f"off ({SWITCH}=1 switches it on)"
    found = _library()
    return "off: JAX runs everything" if isinstance(found, str) else f"euler in lockstep, by {found.compiler}"


def forget() -> None:
    """Look for compiler and library anew at the next call. JAX goes on with the functions that it has."""
    _found.cache_clear()


def _library() -> Library | str:
    with _ONE_AT_A_TIME:
        return _found()


@functools.lru_cache(maxsize=1)
def _found() -> Library | str:
    """The library, loaded and known to JAX; or why there is none."""
    try:
        compiler, until = _compiler(), time.monotonic() + LONGEST
        made = Library(_output([*compiler, "--version"], until).partition("\n")[0] or shlex.join(compiler))
        _provide(compiler, made.compiler, until)
    except Exception as problem:
        return " ".join(str(problem).split()) or type(problem).__name__
    return made


def _compiler() -> list[str]:
    """The command of the C++ compiler, where it is of use."""
    import jax

    if jax.default_backend() != "cpu":
        raise _UnavailableError("JAX computes on another device than a CPU")
    given = os.environ.get("CXX", "")
    try:
        chosen = shlex.split(given)
    except ValueError as error:
        raise _UnavailableError(f"CXX is {given}, which is no command ({error})") from None
    for command in [chosen] if chosen else [[name] for name in COMPILERS]:
        if path := shutil.which(command[0]):
            return [path, *command[1:]]
    raise _UnavailableError(
        f"CXX is {shlex.join(chosen)}, which is no command" if chosen else f"no C++ compiler is there: none of {', '.join(COMPILERS)}"
    )


def _output(command: Sequence[str], until: float) -> str:
    """What a command prints that ends before `until` on the monotonic clock [s]."""
    try:
        done = other_program.run(command, max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise _UnavailableError(f"{command[0]} did not end within {LONGEST:g} s") from error
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200]).strip()
        raise _UnavailableError(f"{command[0]} failed with status {done.returncode}: {said or 'it does not say why'}")
    return done.stdout


def _provide(compiler: Sequence[str], version: str, until: float) -> None:
    """Load the library where it is kept; else compile it before `until` on the monotonic clock [s], load and keep it."""
    import jax
    import jaxlib.version

    files = None
    with suppress(OSError):  # programs are not kept either, and `program_cache.why_not` says why
        files = PrivateFiles(program_cache.cache_home() / program_cache.cpu())
    depends_on = f"{sources()} {shlex.join(compiler)} {version} {OPTIONS} {jaxlib.version.__version__} {sys.platform}"
    name = hashlib.sha256(depends_on.encode()).hexdigest()
    if files is not None and (data := files.get(name)) is not None:
        with suppress(OSError, RuntimeError):  # then it is compiled again
            _load(data)
            return
    with _own_folder() as folder:
        _output([*compiler, *OPTIONS, "-isystem", jax.ffi.include_dir(), str(SOURCES / MAIN), "-o", str(folder / "library.so")], until)
        data = (folder / "library.so").read_bytes()
    _load(data)
    if files is not None:
        files.put(name, data)


def _load(data: bytes) -> None:
    """Load the library and tell JAX of its functions. What was verified is what is loaded: it comes from a new file."""
    import jax

    with _own_folder() as folder:
        (folder / "library.so").write_bytes(data)
        library = ctypes.CDLL(str(folder / "library.so"))
    function = getattr(library, EULER, None)
    if function is None:
        raise _UnavailableError(f"the compiled library has no function {EULER}")
    if not _REGISTERED:  # JAX takes a target once
        jax.ffi.register_ffi_target(EULER, jax.ffi.pycapsule(function), platform="cpu")
        _REGISTERED.append(EULER)


@contextmanager
def _own_folder() -> Iterator[Path]:
    """A folder for the time being, in which only this user can write, and whose place no other user can take."""
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        yield private(Path(folder).absolute())


def sources() -> str:
    """A hash of the files in `kernels/native`."""
    files = sorted(path for path in SOURCES.iterdir() if path.suffix in (".h", ".cc"))
    return hashlib.sha256(b"".join(f"{path.name} ".encode() + path.read_bytes() for path in files)).hexdigest()
