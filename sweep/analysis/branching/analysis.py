"""Branches of the points of a study, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analysis.branching import results
from tribosweep.sweep.analysis.branching.load import Branching
from tribosweep.sweep.analysis.branching.results import BLOCK, Branches
from tribosweep.sweep.execution.lock import hold
from tribosweep.sweep.io.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pyarrow as pa


def carry_out(branching: Branching, directory: Path, tell: Callable[[int, int], None] | None = None) -> Branches:
    """Follow the branches of all points of a study, and write them.

    Blocks of points that were computed before are kept: after an interruption the same call goes on.

    Args:
        branching: see `load.load`. directory: where the files go. tell: called with the number of points of the study that are done, and
            of all.

    Raises:
        ConfigError: the directory holds something else, another process writes to it, or points have contacts of several kinds.
        OSError: a file cannot be written.
    """
    results.check_directory(branching, directory)
    with hold(directory):
        results.begin(branching, directory)
        from tribosweep.kernels.runtime import jax_setup, program_cache

        jax_setup.prepare()
        program_cache.use()
        count = branching.config.design.count
        for number in range(results.block_count(branching)):
            if not results.is_there(branching, directory, number):
                results.write_block(directory, number, block_tables(branching, number))
            if tell is not None:
                tell(min((number + 1) * BLOCK, count), count)
        return results.finish(branching, directory)


def block_tables(branching: Branching, number: int) -> dict[str, pa.Table]:
    """Follow the branches of one block of points: folder -> table.

    Raises:
        ConfigError: points have contacts of several kinds.
    """
    from tribosweep.kernels.branches.collect import branches
    from tribosweep.kernels.branches.curve_steps import STEPS
    from tribosweep.kernels.branches.curves import curves
    from tribosweep.kernels.branches.follow import Steps

    config, along, second = branching.config, branching.along, branching.second
    points = config.design.points(number * BLOCK, min((number + 1) * BLOCK, config.design.count))
    columns = {**{name: value for name, value in config.fixed.items() if name != along.name}, **points.columns}
    try:
        found = branches(
            config.model, columns, along.name, (along.lower, along.upper), along.logarithmic, branching.places,
            Steps(most=branching.points), branching.periods, branching.most, rows=points.count,
        )  # fmt: skip
        tables = {results.FOLDER: results.block_table(branching, points, found)}
        if second is not None:
            pair = branching.pair
            curved = curves(
                config.model, columns, (along.name, second.name), [(each.lower, each.upper) for each in pair],
                [each.logarithmic for each in pair], found, replace(STEPS, most=branching.points), rows=points.count,
            )  # fmt: skip
            tables[results.CURVES] = results.curve_table(branching, points, found, curved)
    except ValueError as error:
        raise ConfigError(config.source, [Problem("sweep", str(error))]) from error
    return tables
