"""Reading [sweep] of draws at every combination of other axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tribosweep.sweep.design.axis import Axis, Counted
from tribosweep.sweep.design.draws import Draws
from tribosweep.sweep.design.sobol import MOST_SAMPLED
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.study.sampling import MOST_SEED, read_correlations
from tribosweep.sweep.study.schema import DRAWN_SEED

if TYPE_CHECKING:
    from tribosweep.sweep.study.schema import Sweep

DRAWS = "draws"
KEYS = ("count", "seed", "correlations")


def read_draws(sweep: Sweep, where: str, axes: tuple[Axis, ...], random: set[str], problems: list[Problem]) -> Draws | None:
    """Read independent draws of the `random` axes at the values of the others; None and problems if they are invalid."""
    before, seed = len(problems), DRAWN_SEED if sweep.seed is None else sweep.seed
    drawn = tuple(axis for axis in axes if axis.name in random)
    crossed = tuple(axis for axis in axes if isinstance(axis, Counted) and axis.name not in random)
    if not 0 <= seed <= MOST_SEED:
        problems.append(Problem(f"{where}.seed", f"{seed} is out of bounds: must be >= 0 and <= {MOST_SEED} (of the random numbers)"))
    if drawn and sweep.count is None:
        problems.append(Problem(f"{where}.count", f"missing: the number of draws of {', '.join(axis.name for axis in drawn)}"))
    elif sweep.count is not None and not 1 <= sweep.count <= MOST_SAMPLED:
        problems.append(Problem(f"{where}.count", f"{sweep.count} is out of bounds: must be >= 1 and <= {MOST_SAMPLED:.0e} (draws)"))
    elif sweep.count is not None and not random:
        problems.append(Problem(f"{where}.count", "no axis is drawn: one of them needs a distribution, or a range without a count"))
    correlations = read_correlations(sweep, where, drawn, problems)
    return None if len(problems) > before else Draws(crossed, drawn, sweep.count or 1, seed, correlations)
