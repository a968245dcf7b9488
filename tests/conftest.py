"""All processes of a test run share their compiled programs, because XLA's compiler takes most of the time."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from kernels.runtime.program_cache import JAX_VARIABLES

if not any(name in os.environ for name in JAX_VARIABLES):
    os.environ[JAX_VARIABLES[0]] = tempfile.mkdtemp(prefix="tribosweep-tests-")
    atexit.register(shutil.rmtree, os.environ[JAX_VARIABLES[0]], ignore_errors=True)
