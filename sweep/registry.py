"""The list of analyses of a run: one line each, and those of other packages, by their entry point `tribosweep.analyses`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from tribosweep.sweep.io.errors import shorten
from tribosweep.sweep.results.analysis import Analysis, fault_of

GROUP = "tribosweep.analyses"
OWN = (  # packages with an ANALYSIS, in the order in which `tribosweep --help` lists them
    "tribosweep.sweep.analyses.correlation",
    "tribosweep.sweep.analyses.fragility",
    "tribosweep.sweep.analyses.rare_event",
    "tribosweep.sweep.analyses.basins",
    "tribosweep.sweep.analyses.sensitivity",
    "tribosweep.sweep.analyses.trace",
    "tribosweep.sweep.analyses.events",
    "tribosweep.sweep.analyses.spectra",
    "tribosweep.sweep.analyses.signals",
    "tribosweep.sweep.analyses.bifurcation",
    "tribosweep.sweep.analyses.convergence",
)
COMMANDS = (  # names of commands that are no analyses
    "init", "run", "resume", "check", "verify", "list", "schema", "show", "map", "report", "explore", "export",
    "calibrate", "branches", "optimise", "modes", "doctor",
)  # fmt: skip


def analyses() -> dict[str, Analysis[Any]]:
    """The analyses by name. One of another package that cannot be used is left out; see `faults`."""
    return found()[0]


def faults() -> list[str]:
    """Sentences on the analyses of other packages that cannot be used."""
    return found()[1]


@cache
def found() -> tuple[dict[str, Analysis[Any]], list[str]]:
    """The analyses by name, and what is wrong with others."""
    known = {each.name: each for package in OWN for each in [import_module(package).ANALYSIS]}
    wrong = []
    for point in entry_points(group=GROUP):
        try:
            other = point.load()
            problem = fault_in(point, other, known)
        except (Exception, SystemExit) as error:  # the code of another package
            problem = f"cannot be loaded: {type(error).__name__}: {error}"
        if problem:
            wrong.append(f"the analysis {point.value} (entry point {point.name}) {problem}")
        else:
            known[other.name] = other
    return known, wrong


def fault_in(point: EntryPoint, other: Any, known: dict[str, Analysis[Any]]) -> str:
    """What is wrong with an object that another package brings as an analysis; empty if nothing is."""
    if not isinstance(other, Analysis):
        return f"is {shorten(other)}, not an Analysis"
    if other.name in known:
        return f"is called {other.name}, as another one is"
    if other.name in COMMANDS:
        return f"is called {other.name}, as a command is"
    spec = find_spec(other.package)
    if spec is None or spec.submodule_search_locations is None:
        return f"is in the module {point.module}: it must be a package, whose module `result` is beside its ANALYSIS"
    return fault_of(other)
