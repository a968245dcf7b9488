"""All processes of a test run share their compiled programs, because XLA's compiler takes most of the time."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest

from kernels.batch import compile as programs
from kernels.runtime.program_cache import JAX_VARIABLES

if not any(name in os.environ for name in JAX_VARIABLES):
    os.environ[JAX_VARIABLES[0]] = tempfile.mkdtemp(prefix="tribosweep-tests-")
    atexit.register(shutil.rmtree, os.environ[JAX_VARIABLES[0]], ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def _room_for_programs() -> None:
    """Programs of earlier files go where a process would have too many of them."""
    programs.make_room(13_000)  # some 2 GB
