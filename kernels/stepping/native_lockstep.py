"""The loop of `lockstep` in C++, for scheme euler: a rubbing mass with penalised friction under one sine. See `kernels/native/euler.h`.

Results differ from those of `lockstep` by rounding errors. In C++ steps are 2 to 4 times as fast as in XLA's loop, because a step whose
contact goes on as it is takes no choice, and because a block of lanes tests that with one branch.
"""

from __future__ import annotations

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from tribosweep.kernels.models.schemes import MOST_STEPS
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.runtime.native_library import EULER
from tribosweep.kernels.stepping.lockstep import ends_of_window
from tribosweep.kernels.stepping.loop import STEPPERS, Even, begin, finish, prepare
from tribosweep.kernels.stepping.observe_friction import Tally
from tribosweep.kernels.stepping.progress import Counted


def simulate(p: dict[str, Any]) -> tuple[dict[str, Array], Array]:
    """Run one oscillator at a fixed step, in lockstep with all others of a `vmap`. They share step, end and window.

    Args:
        p: as for `lockstep.simulate`, of a row of a `native` program (`batch.program_key`).

    Returns:
        The results of `lockstep.simulate`, except for rounding errors. No derivatives.
    """
    setup = prepare(STEPPERS["euler"], p)
    run, law, force = begin(STEPPERS["euler"], setup), cast("Any", setup.body.friction), cast("Any", setup.excitation)
    whole = cast("Even", setup.pace).whole
    steps = jnp.where(whole > MOST_STEPS, 0.0, whole)
    rate = whole / p["end"]
    times = (steps, setup.h, *ends_of_window(p, steps), p["window_start"] * rate, p["window_end"] * rate)
    mass = (p["m"], p["x0"], p["v0"], law.static_limit, law.dynamic_force, force.amplitude, force.omega, force.phase, force.load)
    columns = [jnp.asarray(value, jnp.float64) for value in (*times, *mass, law.k_t, law.c_t, setup.p["k"], setup.p["c"])]
    result = [jax.ShapeDtypeStruct((), jnp.float64)] * 8
    *sums, x, v = jax.ffi.ffi_call(EULER, result, vmap_method="broadcast_all")(*columns, free=np.bool_(setup.body.free))
    run = run._replace(
        clock=cast("Counted", run.clock)._replace(steps=whole),
        state=run.state._replace(x=x, v=v),
        sums=run.sums._replace(friction=Tally(*sums)),
    )
    return finish(setup, run)
