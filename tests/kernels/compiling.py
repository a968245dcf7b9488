"""Programs that run only once."""

from __future__ import annotations

import functools

import jax

# LLVM optimises hardly at all: derivatives of the event loop compile in half the time, and what they are does not depend on it
hastily = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
