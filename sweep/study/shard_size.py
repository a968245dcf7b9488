"""The number of points of a shard."""

from __future__ import annotations

from collections.abc import Iterable

from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.sweep.design.designs import Adaptive, Design, most_draws
from tribosweep.sweep.excitation.records import Recorded
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.study.excitation import Excitation

MOST_POINTS = 10**12
MOST_SHARDS = 10**6  # file names have six digits, so that names sort like numbers
SHARD_POINTS = (1, 2**20)  # least and largest value
SHARD_OF_EXACT, SHARD_OF_STEPS = 131_072, 8_192
BANK, MOST_BANK = 2**28, 2**31  # bytes of the draws of a shard: target and upper limit


def check_shards(
    given: int | None,
    design: Design,
    schemes: list[str],
    window: str | None,
    asked: Asked,
    excitation: Excitation | None,
    problems: list[Problem],
) -> int:
    """The points of a shard: the number in [output], or a number that takes seconds on a small machine and fills a large one.

    A shard that takes longer is written piece by piece; see `execution.shard`.

    The size depends only on the study, so that every worker computes the same shards. The random draws of a shard must fit into
    memory.
    """
    least, most = SHARD_POINTS
    points = given if given is not None else (SHARD_OF_EXACT if is_quick(schemes, window, asked, excitation) else SHARD_OF_STEPS)
    if excitation is not None and not problems:
        points = fitting(design, excitation, points, given is not None, problems)
    if given is not None and not least <= given <= most:
        problems.append(Problem("output.shard_points", f"{given} is out of bounds: must be >= {least} and <= {most} (points of a shard)"))
    elif not problems and design.count > MOST_POINTS:
        problems.append(Problem("sweep", f"{design.count:.3g} points: a study has at most {MOST_POINTS:.0e}"))
    elif not problems and not isinstance(design, Adaptive) and design.count > points * MOST_SHARDS:
        need = -(-design.count // MOST_SHARDS)
        message = f"{points} is too few for {design.count:.7g} points: must be >= {need}, for a study has at most {MOST_SHARDS:,} shards"
        problems.append(Problem("output.shard_points", message))
    return points


def is_quick(schemes: Iterable[str], window: str | None, asked: Asked, excitation: Excitation | None) -> bool:
    """Whether a row takes some milliseconds at most: exact, over a given window, without records and statistics."""
    return set(schemes) <= {EXACT} and window != STEADY and not asked.names and excitation is None


def fitting(design: Design, excitation: Excitation, points: int, given: bool, problems: list[Problem]) -> int:
    """The points of a shard whose draws fit into memory: `points`, or fewer unless `points` is `given`.

    The result does not depend on the total number of draws, so that a study can be extended by more draws.
    """
    if isinstance(excitation, Recorded):
        return points
    size = 8 * excitation.samples * excitation.channels
    if given:
        if most_draws(design, points) * size > MOST_BANK:
            message = (
                f"{points} points with up to {most_draws(design, points):,} draws of {excitation.samples:,} samples are more than "
                f"{MOST_BANK / 2**30:g} GiB: take fewer points, or leave this out"
            )
            problems.append(Problem("output.shard_points", message))
        return points
    while points > 1 and most_draws(design, points, counted=False) * size > BANK:
        points //= 2
    return points
