"""Reading the curves of a convergence study."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analyses.convergence.result import ConvergenceCurve, ConvergenceCurves
from tribosweep.sweep.analysis.run_state import study_table, varies
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.refinement import divisor_of, refined_by
from tribosweep.sweep.execution.adaptive.convergence_table import relative
from tribosweep.sweep.execution.adaptive.history import read_levels
from tribosweep.sweep.execution.adaptive.refinement import convergence_design
from tribosweep.sweep.execution.adaptive.step_halving import empty_history
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.load import load

MOST = 8  # curves that can be told apart


def read_curves(path: Path) -> ConvergenceCurves:
    """Read the curves of the convergence study in a directory, complete or not.

    Raises:
        ConfigError: there is no run, its design is no convergence study, or no difference is above 0.
    """
    table = study_table(path)
    directory = RunDirectory(path)
    config = load(directory.read_document())
    design, history = convergence_design(config), read_levels(directory, config, empty_history(config))
    if table is None:
        raise ConfigError(str(path), [Problem("", "no level is written yet: nothing to draw")])
    columns: dict[str, list[Any]] = table.to_pydict()
    of_scheme = Quantity(SCHEME, "", "time scheme", kind="word")
    told = [of_scheme if name == SCHEME else config.model.parameter(name) for name in (*config.swept, SCHEME) if varies(columns[name])]
    curves = []
    for point, (scheme, exactly) in enumerate(zip(columns[SCHEME], columns["exact"], strict=True)):
        levels = np.flatnonzero(np.isfinite(history.values[:, point]))
        values = history.values[levels, point]
        if len(values) < 2:
            continue
        refined = config.model.parameter(refined_by(scheme)[0])
        places = columns[refined.name][point] * divisor_of(scheme) ** (columns["halvings"][point] - levels)
        limit = columns["extrapolated"][point]
        limit, exact = values[-1] if limit is None else limit, math.nan if exactly is None else exactly
        given = tuple((quantity, columns[quantity.name][point]) for quantity in told) or ((of_scheme, scheme),)
        differences = (relative(values - each, np.array(each)) for each in (exact, limit))
        curves.append(ConvergenceCurve(point, given, refined, places, *differences))
    visible = [curve for curve in curves if curve.visible]
    if not visible:
        raise ConfigError(str(path), [Problem("", "no point has two results that differ: nothing to draw")])
    drawn = [visible[place] for place in np.unique(np.linspace(0, len(visible) - 1, MOST).round().astype(int))]
    notes = (
        []
        if directory.is_marked(directory.read_manifest())
        else ["The run is not complete: what is written is drawn, and nothing is known of exact yet."]
    )
    if len(visible) < design.count:
        notes.append(f"{design.count - len(visible):,} of {design.count:,} points have no difference above 0 to draw.")
    if len(drawn) < len(visible):
        notes.append(f"{len(drawn)} of {len(visible):,} curves are drawn, spread evenly over the points.")
    observable = by_name(config.model.observables)[design.observable]
    count = f"{len(drawn)} of {design.count:,} points" if len(drawn) < design.count else f"{design.count:,} points"
    return ConvergenceCurves(f"{config.name}: {count}", observable, tuple(drawn), notes)
