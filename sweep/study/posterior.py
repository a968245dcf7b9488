"""Reading [sweep] of a posterior: draws from a file, and further axes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import INTEGER, Axis, Counted, Listed
from tribosweep.sweep.design.grid import Grid
from tribosweep.sweep.design.posterior import Empirical, Posterior
from tribosweep.sweep.design.sobol import MOST_SAMPLED
from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import Problem, advise, first_of
from tribosweep.sweep.study import point_table
from tribosweep.sweep.study.sampling import MOST_SEED
from tribosweep.sweep.study.schema import DRAWN_SEED, PARAMETERS

if TYPE_CHECKING:
    from tribosweep.sweep.study.schema import Sweep

POSTERIOR = "posterior"
KEYS = ("count", "seed", "columns")
ABOUT_DRAWS = ("chain", "draw", "stage", "log_density", "log_prior", "log_likelihood")  # columns that describe a draw


def is_crossed(raw: Any) -> bool:
    """Whether every draw runs at all the values of an axis: a list or a range with a count, and nothing that is drawn."""
    if not isinstance(raw, dict):
        return True
    return "distribution" not in raw and "times" not in raw and ("count" in raw or raw.get("spacing") == INTEGER)


def read_posterior(
    sweep: Sweep, where: str, model: Model, axes: tuple[Axis, ...], random: set[str], folder: Path, problems: list[Problem]
) -> tuple[Posterior | Grid, str]:
    """Read the draws of a posterior and the digest of their file; an empty grid if there are problems.

    Args:
        sweep: [sweep]. where: its path. model: the columns of the file name its parameters.
        axes: the axes besides the file. random: names of those that are drawn for each draw; the others are crossed.
        folder: folder to which the path of the file is relative.
        problems: list to which problems are added.
    """
    before = len(problems)
    seed = DRAWN_SEED if sweep.seed is None else sweep.seed
    if not 0 <= seed <= MOST_SEED:
        problems.append(Problem(f"{where}.seed", f"{seed} is out of bounds: must be >= 0 and <= {MOST_SEED} (of the random numbers)"))
    if sweep.count is not None and not 1 <= sweep.count <= MOST_SAMPLED:
        problems.append(Problem(f"{where}.count", f"{sweep.count} is out of bounds: must be >= 1 and <= {MOST_SAMPLED:.0e} (draws)"))
    if sweep.file is None:
        problems.append(Problem(f"{where}.file", f'missing: design "{POSTERIOR}" needs the CSV or Parquet file of its draws'))
        return Grid(()), ""
    path = folder / sweep.file
    drawn = read_draws(path, sweep.columns, model, f"{where}.file", f"{where}.columns", problems)
    names = {axis.name for axis in drawn}
    problems += [
        Problem(f"{where}.axes.{axis.name}", f"given twice: {path.name} has a column of it; {where}.columns chooses what is read")
        for axis in axes
        if axis.name in names
    ]
    total = len(drawn[0].order) if drawn else 0
    drawn_axes = tuple(axis for axis in axes if axis.name in random)
    if drawn and not drawn_axes and sweep.count is not None and sweep.count > total:
        message = f"{sweep.count:,} draws of {total:,} would repeat points: must be <= {total:,} (rows of {path.name})"
        problems.append(Problem(f"{where}.count", f"{message}; with an axis that has a distribution it can be more"))
    if len(problems) > before or not drawn:
        return Grid(()), ""
    crossed = tuple(axis for axis in axes if isinstance(axis, Counted) and axis.name not in random)
    return Posterior(crossed, drawn, drawn_axes, sweep.count or total, seed), tables.digest(path)


def read_draws(path: Path, chosen: list[str] | None, model: Model, where: str, key: str, problems: list[Problem]) -> tuple[Empirical, ...]:
    """Read the parameters of a file of draws; empty and problems if there are any.

    Columns about a draw (chain, draw, log_density ...) and the factor of the noise of a calibration are left out.
    `post_stiffness[0]`, `post_stiffness[1]` ... are the nodes of a table.
    """
    before = len(problems)
    selection = point_table.Selection(ABOUT_DRAWS, None if chosen is None else tuple(chosen), key, "noise")
    columns = point_table.read_points(path, model, "", where, problems, selection)
    for axis in columns:
        check_cells(axis, f"{where}: {path.name}, column {axis.name}", problems)
    found = tables_of_nodes(columns, by_name(model.parameters), f"{where}: {path.name}", problems)
    if len(problems) > before:
        return ()
    if not found:
        problems.append(Problem(where, f"{path.name} has no column of a parameter; {PARAMETERS}"))
    return tuple(Empirical(axis.name, axis.values, axis.quantity) for axis in found if axis.quantity is not None)


def check_cells(axis: Listed, label: str, problems: list[Problem]) -> None:
    """Check that every draw has a value: a draw without one is no draw."""
    finite = np.isfinite(axis.values) if axis.values.ndim == 1 else np.isfinite(axis.values[:, :1]).all(axis=1)
    wrong = np.flatnonzero(~finite | axis.absent).tolist()
    problems += first_of(wrong, lambda row: Problem(f"{label}, row {row + 1}", "a draw must have a finite number"), label, "cells")


def tables_of_nodes(columns: tuple[Listed, ...], known: Mapping[str, Quantity], label: str, problems: list[Problem]) -> list[Listed]:
    """The columns with those of the nodes of each table joined to one, at the place of its first node."""
    found: dict[str, list[Listed]] = {}
    for axis in columns:
        found.setdefault(axis.name if axis.name in known else axis.name.partition("[")[0], []).append(axis)
    joined: list[Listed] = []
    for name, axes in found.items():
        if name == axes[0].name and len(axes) == 1:
            joined += axes
            continue
        nodes = {axis.name: axis for axis in axes}
        needed = [f"{name}[{node}]" for node in range(len(axes))]
        lacking = [node for node in needed if node not in nodes]
        if lacking:
            message = f"missing: the nodes of a table start at 0 and leave none out; {advise(lacking[0], [*nodes])}"
            problems.append(Problem(f"{label}, column {lacking[0]}", message))
            continue
        if len(needed) * len(axes[0].values) > tables.MOST_NUMBERS:
            message = f"{len(axes[0].values):,} draws of {len(needed)} nodes: at most {tables.MOST_NUMBERS:,} numbers are read"
            problems.append(Problem(f"{label}, column {name}", message))
            continue
        values = np.stack([np.asarray(nodes[node].values) for node in needed], axis=1)
        joined.append(Listed(name, values, np.zeros(len(values), dtype=bool), known[name]))
    return joined
