"""The list of analyses of a run: one line each, and those of other packages, by their entry point `tribosweep.analyses`."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from tribosweep.sweep.io.errors import shorten
from tribosweep.sweep.results.analysis import Analysis

GROUP = "tribosweep.analyses"
OWN = (  # packages with an ANALYSIS, in the order in which `tribosweep --help` lists them
    "tribosweep.sweep.analyses.correlation",
    "tribosweep.sweep.analyses.fragility",
    "tribosweep.sweep.analyses.rare_event",
    "tribosweep.sweep.analyses.basins",
)


@cache
def analyses() -> dict[str, Analysis[Any]]:
    """The analyses by name. One of another package that cannot be loaded is left out with a warning."""
    found = {each.name: each for package in OWN for each in [import_module(package).ANALYSIS]}
    for point in entry_points(group=GROUP):
        try:
            other = point.load()
            problem = "" if isinstance(other, Analysis) else f"is {shorten(other)}, not an Analysis"
        except Exception as error:
            problem = f"cannot be loaded: {type(error).__name__}: {error}"
        if not problem and other.name in found:
            problem = f"is called {other.name}, as another one is"
        if problem:
            warnings.warn(f"the analysis {point.value} (entry point {point.name} of {GROUP}) {problem}", RuntimeWarning, stacklevel=2)
        else:
            found[other.name] = other
    return found
