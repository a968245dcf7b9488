"""Tests mostly wait for programs: they are compiled with the least effort, and all processes share them. See tests/TIERS.md."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from fnmatch import fnmatchcase

import pytest

# Values do not depend on the effort of the compiler, but for their last digits: `.ci/run long` runs all tests at the level of users. An
# option in XLA_FLAGS stays as it is. At level 0 programs compile sooner, and their loops run up to ten times as long.
LEAST_EFFORT = ("--xla_backend_optimization_level=0",)
os.environ["XLA_FLAGS"] = " ".join(
    [given := os.environ.get("XLA_FLAGS", ""), *(option for option in LEAST_EFFORT if option.partition("=")[0] not in given)]
).strip()
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy is not imported yet; matrices of the tests are small, and threads only wait
# Compiled programs are kept in this folder: for one run, or where TEST_PROGRAMS says, for later runs too.
if "TEST_PROGRAMS" not in os.environ:
    os.environ["TEST_PROGRAMS"] = tempfile.mkdtemp(prefix="tribosweep-tests-")
    atexit.register(shutil.rmtree, os.environ["TEST_PROGRAMS"], ignore_errors=True)
os.environ["XDG_CACHE_HOME"] = os.environ["TEST_PROGRAMS"]
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # each process that tests start would compile all modules, in 3 s
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="tribosweep-bytecode-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

from tests.figures import Figures  # noqa: E402
from tribosweep.kernels.batch import compile as programs  # noqa: E402
from tribosweep.kernels.runtime import jax_setup, program_cache  # noqa: E402

gc.disable()  # of cycles: a process that has traced much traces in half of the time


def pytest_configure(config: pytest.Config) -> None:
    """Keep programs, and count what a run compiles."""
    jax_setup.prepare()
    program_cache.use()
    config.pluginmanager.register(Figures(config), "figures")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cases that the mark `long_cases` names are long."""
    for item in items:
        patterns = [pattern for mark in item.iter_markers("long_cases") for pattern in mark.args]
        if any(fnmatchcase(item.callspec.id, pattern) for pattern in patterns):  # type: ignore[attr-defined] # it has parameters
            item.add_marker("long")


@pytest.fixture(autouse=True, scope="module")
def _room_for_programs() -> None:
    """Programs and garbage of earlier files go where a process would have too much of them."""
    if not programs.make_room(13_000) and gc.get_count()[0] > 1_000_000:  # some 2 GB of programs, or that many objects
        gc.collect()
