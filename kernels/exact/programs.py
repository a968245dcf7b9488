"""The programs of the exact engine by name: over a fixed window, the same with the forces at its end, or to the steady motion."""

from __future__ import annotations

import functools
from collections.abc import Callable

from kernels.elementary import Array
from kernels.exact import loop, moment, sections, steady
from kernels.exact.oscillators import BUCKLING, PENALISED, RIGID, STOP, Kind, simulate
from kernels.exact.single import loop as single
from kernels.schemes import Asked

Program = Callable[..., tuple[dict[str, Array], Array]]

# resolved parameters of one row -> observables by name, and the status code
PROGRAMS: dict[str, Program] = {
    "exact-lean": functools.partial(loop.simulate, free=True),
    "exact-general": functools.partial(loop.simulate, free=False),
    "exact-lean in float32": functools.partial(single.simulate, free=True),
    "exact-general in float32": functools.partial(single.simulate, free=False),
    **{f"exact-{friction}": functools.partial(simulate, kind=Kind(friction)) for friction in (RIGID, PENALISED)},  # rigid: of rows that
    # are driven by more than one sine, or of which more is asked than the two above can tell
    **{
        f"exact-{friction or 'bare'}-{wall}{'-bent' if bends else ''}": functools.partial(simulate, kind=Kind(friction, wall, bends))
        for wall, bends in ((STOP, False), (BUCKLING, False), (BUCKLING, True))
        for friction in (None, RIGID, PENALISED)
    },
    **{f"moment-{friction}": functools.partial(moment.simulate, kind=Kind(friction)) for friction in (RIGID, PENALISED)},
    **{
        f"moment-{friction or 'bare'}-{wall}{'-bent' if bends else ''}": functools.partial(
            moment.simulate, kind=Kind(friction, wall, bends)
        )
        for wall, bends in ((STOP, False), (BUCKLING, False), (BUCKLING, True))
        for friction in (None, RIGID, PENALISED)
    },
    "steady-lean": functools.partial(steady.simulate, build=functools.partial(sections.rigid, free=True)),
    "steady-general": functools.partial(steady.simulate, build=functools.partial(sections.rigid, free=False)),
    "steady-penalised": functools.partial(steady.simulate, build=functools.partial(sections.contacts, kind=Kind(PENALISED))),
    **{
        f"steady-{friction or 'bare'}-{STOP}": functools.partial(
            steady.simulate, build=functools.partial(sections.contacts, kind=Kind(friction, STOP))
        )
        for friction in (None, RIGID, PENALISED)
    },
}


def program(name: str, asked: Asked) -> Program:
    """The program of that name for what is `asked` of it besides; KeyError where there is none."""
    return functools.partial(PROGRAMS[name], asked=asked) if asked.names else PROGRAMS[name]
