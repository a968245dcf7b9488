"""What does not go together, and why: the declarations that checks, their messages and `tribosweep list combinations` read.

A use is something that a study asks for besides the parameters: a steady window, float32, block means. Conditions between parameters are
the rules of a model. Nothing here imports JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.features import DRIVES, LINEAR
from tribosweep.kernels.models.links import LINKS
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.outputs import BLOCKS, MULTIPLIERS, STATISTICS, Asked
from tribosweep.kernels.models.schemes import EXACT, RUN, SCHEMES, SINGLE, STEADY

BUCKLING = ("f_crit", "left_f_crit")  # of walls
TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)


def any_model(_model: Model) -> bool:
    """Every model."""
    return True


def is_structure(model: Model) -> bool:
    """Bodies and structures with supports."""
    return model.structure is not None


def is_oscillator(model: Model) -> bool:
    """Oscillators with one coordinate."""
    return model.structure is None


def always_buckles(model: Model) -> bool:
    """Oscillators at a wall that may buckle whatever is given."""
    return is_oscillator(model) and any(q.name == BUCKLING[0] and q.default is not None for q in model.parameters)


@dataclass(frozen=True, slots=True)
class Limit:
    """What a use excludes. It applies where each condition that it states is met.

    Attributes:
        use: what is excluded. reason: why, a clause that follows the name of the use; {model} stands for the name of the model.
        models: with which models. schemes: with one of these schemes; empty: with any.
        parameters: where one of these is given; empty: whatever is given.
        uses: where one of these is asked for too; empty: whatever is. without: where one of these is not asked for.
    """

    use: str
    reason: str
    models: Callable[[Model], bool] = any_model
    schemes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A limit that applies, and to what.

    Attributes:
        limit: which. model: name of the model.
        schemes, parameters, uses: those of the limit that are there, in the order in which they were given.
    """

    limit: Limit
    model: str
    schemes: tuple[str, ...]
    parameters: tuple[str, ...]
    uses: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why, as a clause that follows the name of the use."""
        return self.limit.reason.format(model=self.model)

    @property
    def detail(self) -> str:
        """The schemes that it excludes, to follow the reason; empty if it is not about schemes."""
        return f", not {', '.join(map(repr, self.schemes))}" if self.schemes else ""


READS_NO_END = "is one period of the motion, wherever it is reached, and reads neither end nor window"
LIMITS = (
    Limit(STEADY, "is not available for the model {model}", models=lambda model: not model.steady),
    Limit(STEADY, f"needs scheme {EXACT!r}", schemes=TIME_SCHEMES),
    Limit(STEADY, READS_NO_END, parameters=RUN),
    Limit(STEADY, "is of motion that repeats with one sine", parameters=DRIVES),
    Limit(STEADY, "is of a constant normal force and a support at rest", parameters=LINEAR),
    *(
        Limit(use, "is not of a {model}: observables of supports and points have means, root mean squares and extremes as they are",
              models=is_structure)
        for use in (BLOCKS, STATISTICS)
    ),
    *(Limit(use, "needs a window [start, end] in s", uses=(STEADY,)) for use in (BLOCKS, STATISTICS)),
    Limit(MULTIPLIERS, "is of a periodic motion: it needs the window 'steady'", without=(STEADY,)),
    Limit(SINGLE, "has no links beside k and c, whose energies need more digits", parameters=tuple(LINKS)),
    *(Limit(SINGLE, f"is not tried with {law.title}", parameters=(switch,)) for switch, law in outside_laws.laws().items()),
)  # fmt: skip


def conflicts(
    limits: Iterable[Limit], use: str, model: Model, schemes: Sequence[str], given: Collection[str], uses: Collection[str]
) -> list[Conflict]:
    """The limits of a use that apply.

    Args:
        limits: all of them. use: what is asked for. model, schemes: of the rows.
        given: names of the parameters that are given. uses: everything that is asked for.
    """
    found = []
    for limit in limits:
        if limit.use != use or not limit.models(model) or (limit.without and not set(limit.without) - set(uses)):
            continue
        there = (
            tuple(name for name in schemes if name in limit.schemes),
            tuple(name for name in limit.parameters if name in given),
            tuple(name for name in limit.uses if name in uses),
        )
        stated = (limit.schemes, limit.parameters, limit.uses)
        if all(some or not each for some, each in zip(there, stated, strict=True)):
            found.append(Conflict(limit, model.name, *there))
            if not any((*stated, limit.without)):  # the model has no such use: nothing else matters
                return found[-1:]
    return found


def check_uses(model: Model, scheme: str, given: Collection[str], window: str | None, asked: Asked, precision: str) -> None:
    """Raise ValueError if `window` is neither None nor "steady", or if rows cannot have what is asked of them.

    Args:
        model, scheme: of the rows. given: the names of the given parameters. window, asked, precision: as asked for.
    """
    if window not in (None, STEADY):
        raise ValueError(f"window must be {STEADY!r} or None (window_start and window_end are parameters), not {window!r}")
    uses = [*([STEADY] if window == STEADY else []), *([SINGLE] if precision == SINGLE else []), *sorted(asked.names)]
    for use in uses:
        for found in conflicts(LIMITS, use, model, [scheme], given, uses):
            what = f"window {STEADY!r}" if use == STEADY else use if use == SINGLE else f"output {use!r}"
            advice = f": leave out {', '.join(found.parameters)}" if found.parameters else ""
            raise ValueError(f"{what} {found.reason}{found.detail}{advice}")
