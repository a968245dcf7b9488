"""The programs of the exact engine by name: over a fixed window, the same with the forces at its end, or to the steady motion."""

from __future__ import annotations

import functools
from collections.abc import Callable

from kernels.contact.wall import BUCKLING, STOP, VARYING
from kernels.exact import forces, periodic_orbit, poincare, rigid_loop
from kernels.exact import rigid_loop_float32 as single
from kernels.exact.oscillator import PENALISED, RIGID, Kind, simulate, walls_of
from kernels.models import BUCKLING_WALL, TWO_WALLS
from kernels.models import STOP as ELASTIC_STOP
from kernels.models.schemes import Asked
from kernels.numerics.numbers import Array

Program = Callable[..., tuple[dict[str, Array], Array]]

# walls by name: of the models with one wall its law, of the one with two the laws of the right and the left
WALLS = {
    "stop": walls_of(ELASTIC_STOP, (STOP,)),
    "buckling_wall": walls_of(BUCKLING_WALL, (BUCKLING,)),
    "buckling_wall-bent": walls_of(BUCKLING_WALL, (VARYING,)),
    **{
        f"two_walls:{right},{left}": walls_of(TWO_WALLS, (right, left))
        for right in (STOP, BUCKLING, VARYING)
        for left in (STOP, BUCKLING, VARYING)
    },
}

# resolved parameters of one row -> observables by name, and the status code
PROGRAMS: dict[str, Program] = {
    "exact-lean": functools.partial(rigid_loop.simulate, free=True),
    "exact-general": functools.partial(rigid_loop.simulate, free=False),
    "exact-lean in float32": functools.partial(single.simulate, free=True),
    "exact-general in float32": functools.partial(single.simulate, free=False),
    **{f"exact-{friction}": functools.partial(simulate, kind=Kind(friction)) for friction in (RIGID, PENALISED)},  # rigid: of rows that
    # are driven by more than one sine, or of which more is asked than the two above can tell
    **{
        f"exact-{friction or 'bare'}-{name}": functools.partial(simulate, kind=Kind(friction, walls))
        for name, walls in WALLS.items()
        for friction in (None, RIGID, PENALISED)
    },
    **{f"moment-{friction}": functools.partial(forces.simulate, kind=Kind(friction)) for friction in (RIGID, PENALISED)},
    **{
        f"moment-{friction or 'bare'}-{name}": functools.partial(forces.simulate, kind=Kind(friction, walls))
        for name, walls in WALLS.items()
        for friction in (None, RIGID, PENALISED)
    },
    "steady-lean": functools.partial(periodic_orbit.simulate, build=functools.partial(poincare.rigid, free=True)),
    "steady-general": functools.partial(periodic_orbit.simulate, build=functools.partial(poincare.rigid, free=False)),
    "steady-penalised": functools.partial(periodic_orbit.simulate, build=functools.partial(poincare.contacts, kind=Kind(PENALISED))),
    **{
        f"steady-{friction or 'bare'}-stop": functools.partial(
            periodic_orbit.simulate, build=functools.partial(poincare.contacts, kind=Kind(friction, WALLS["stop"]))
        )
        for friction in (None, RIGID, PENALISED)
    },
}


def program(name: str, asked: Asked) -> Program:
    """The program of that name for what is `asked` of it besides; KeyError where there is none."""
    return functools.partial(PROGRAMS[name], asked=asked) if asked.names else PROGRAMS[name]
