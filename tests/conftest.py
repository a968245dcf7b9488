"""Tests mostly wait for programs: all processes share those that are compiled, and Python's collector does not interrupt tracing."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile

import pytest

from kernels.batch import compile as programs
from kernels.runtime.program_cache import JAX_VARIABLES

if not any(name in os.environ for name in JAX_VARIABLES):
    os.environ[JAX_VARIABLES[0]] = tempfile.mkdtemp(prefix="tribosweep-tests-")
    atexit.register(shutil.rmtree, os.environ[JAX_VARIABLES[0]], ignore_errors=True)


gc.disable()  # of cycles: a process that has traced much traces in half of the time


@pytest.fixture(autouse=True, scope="module")
def _room_for_programs() -> None:
    """Programs and garbage of earlier files go where a process would have too much of them."""
    if not programs.make_room(13_000) and gc.get_count()[0] > 1_000_000:  # some 2 GB of programs, or that many objects
        gc.collect()
