"""The points of the levels of a convergence study, and the last level of each point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tribosweep.sweep.design.axis import SCHEME_NAMES
from tribosweep.sweep.design.points import Points, by_scheme
from tribosweep.sweep.design.refinement import Convergence, divisor_of, refined_by

if TYPE_CHECKING:
    from tribosweep.sweep.study.config import Config


def level_points(config: Config, level: int, positions: np.ndarray) -> Points:
    """The points at `positions` of a convergence study, refined `level` times.

    Args:
        config: the study.
        level: number of divisions of the refined quantities, from 0.
        positions: (n,) positions in the grid.

    Returns:
        The points, numbered by level, with the refined quantities as columns. A quantity is absent at points whose scheme does not refine
        it, unless the study sets it.
    """
    design = convergence_design(config)
    whole = design.points(0, design.count)
    columns = {name: values[positions] for name, values in whole.columns.items()}
    absent = {name: mask[positions] for name, mask in whole.absent.items()}
    schemes = None if whole.schemes is None else whole.schemes[positions]
    with np.errstate(all="ignore"):
        start = config.model.resolve({**config.fixed, **columns}, absent)
    words = scheme_names(config, schemes, len(positions))
    divisors = np.array([divisor_of(word) for word in words])
    for name in design.refined:
        mask = np.array([name in refined_by(word) for word in words])
        columns[name] = np.where(mask, start[name] / divisors**level, config.fixed.get(name, np.nan))
        if name not in config.fixed and not mask.all():
            absent[name] = ~mask
    return Points(level * design.count + positions, columns, absent, schemes, level)


def last_levels(config: Config) -> np.ndarray:
    """(n,) the last level of every point, limited by the study and by the rules, such as those on steps."""
    design = convergence_design(config)
    last = np.zeros(design.count, dtype=np.int64)
    positions = np.arange(design.count)
    for level in range(1, design.halvings + 1):
        points = level_points(config, level, positions)
        broken = np.zeros(points.count, dtype=bool)
        for part in by_scheme(points, config.scheme):
            with np.errstate(all="ignore"):
                resolved = config.model.resolve({**config.fixed, **part.columns}, part.absent)
                for rule in config.model.rules:
                    broken[part.rows] |= np.asarray(rule.broken(resolved, part.scheme))
        positions = positions[~broken]
        last[positions] = level
    return last


def scheme_names(config: Config, schemes: np.ndarray | None, count: int) -> list[str]:
    """The names of the schemes of `count` points; `schemes` are their codes if the scheme is swept."""
    return [config.scheme] * count if schemes is None else [SCHEME_NAMES[code] for code in schemes]


def leading(config: Config) -> list[str]:
    """The parameters that control the accuracy of the points: step, largest step, tolerance."""
    design = convergence_design(config)
    schemes = scheme_names(config, design.points(0, design.count).schemes, design.count)
    return [name for name in design.refined if any(refined_by(scheme)[0] == name for scheme in set(schemes))]


def convergence_design(config: Config) -> Convergence:
    """The design of a convergence study; TypeError for another design."""
    if not isinstance(config.design, Convergence):
        raise TypeError(f"{config.name} is no convergence study")
    return config.design
