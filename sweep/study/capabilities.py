"""The limits of the engines: steady window, float32, block means and statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernels.models import Model
from kernels.models.features import DRIVES
from kernels.models.outputs import BLOCKS, MULTIPLIERS, OBSERVED, STATISTICS, Asked
from kernels.models.quantity import Quantity, by_name
from kernels.models.schemes import DOUBLE, EXACT, PAIR, RUN, SINGLE, STEADY
from sweep.design.designs import Adaptive, Design
from sweep.design.refinement import Convergence
from sweep.io.errors import Problem, advise, shorten
from sweep.study.schema import OBSERVABLES, Document

KEYS_OF_ASKED = {BLOCKS: "time.blocks", STATISTICS: "output.statistics", MULTIPLIERS: "output.multipliers"}


def check_steady(model: Model, schemes: list[str], paths: Mapping[str, str], problems: list[Problem]) -> None:
    """Add problems of the window "steady", which excludes times of the run, schemes other than exact, and models without steady motion."""
    if not model.steady:
        problems.append(
            Problem("time.window", f'"{STEADY}" is not available for the model {model.name}: give the window as [start, end] in s')
        )
        return
    message = f'time.window = "{STEADY}" is one period of the motion, wherever it is reached, and does not read this: leave it out'
    problems += [Problem(paths[name], message) for name in RUN if name in paths]
    problems += [Problem(paths[name], f'time.window = "{STEADY}" is of one body: leave this out') for name in PAIR if name in paths]
    problems += [
        Problem(paths[name], f'time.window = "{STEADY}" is of motion that repeats with one sine: leave this out')
        for name in DRIVES
        if name in paths
    ]
    others = [name for name in schemes if name != EXACT]
    if others and not any(problem.path == "study.scheme" for problem in problems):
        listed = ", ".join(map(repr, others))
        problems.append(Problem("time.window", f'"{STEADY}" needs scheme {EXACT!r}, not {listed}: give the window as [start, end] in s'))


def check_precision(
    precision: str,
    model: Model,
    schemes: list[str],
    window: str | None,
    asked: Asked,
    paths: Mapping[str, str],
    design: Design,
    problems: list[Problem],
) -> None:
    """Add problems of the precision: float32 is available for time schemes, and for rigid friction in the scheme exact."""
    path, known = "study.precision", (DOUBLE, SINGLE)
    if precision not in known:
        problems.append(Problem(path, f"{precision!r} is not a precision; {advise(precision, known)}"))
    if precision != SINGLE:
        return
    if EXACT in schemes:
        check_single_exact(model, window, asked, paths, design, problems)
    elif asked.names:
        found = ", ".join(KEYS_OF_ASKED[name] for name in KEYS_OF_ASKED if name in asked.names)
        problems.append(Problem(path, f"{SINGLE} has neither blocks nor statistics; here {found}: leave precision out"))


def check_single_exact(
    model: Model, window: str | None, asked: Asked, paths: Mapping[str, str], design: Design, problems: list[Problem]
) -> None:
    """Add problems for everything that the scheme exact cannot do in float32."""
    found = [f"model {model.name!r}"] if "k_n" in by_name(model.parameters) else []
    found += [paths[name] for name in ("k_t", *DRIVES) if name in paths]
    found += [KEYS_OF_ASKED[name] for name in KEYS_OF_ASKED if name in asked.names]
    found += ["time.window"] if window == STEADY else []
    found += ["sweep.design"] if isinstance(design, Convergence) else []
    if found:
        message = (
            f"{SINGLE} by scheme {EXACT!r} needs rigid friction (no k_t) without a wall, one sine, a window [start, end], and neither"
            " blocks, statistics nor convergence"
        )
        problems.append(Problem("study.precision", f"{message}; here {', '.join(found)}: leave precision out"))


def check_columns(asked: Asked, returned: Sequence[Quantity], design: Design, model: Model, problems: list[Problem]) -> None:
    """Add problems of [output] columns: names of no observable that the study returns (`returned`), and designs that read observables."""
    if not asked.columns:
        return
    known = by_name(tuple(returned))
    for place, name in enumerate(asked.columns):
        path, others = f"output.columns[{place}]", {quantity.name for quantity in model.observables}
        if name in asked.columns[:place]:
            problems.append(Problem(path, f"{name!r} is named twice"))
        elif name in others and name not in known:
            problems.append(Problem(path, f"the study does not compute {name!r}: `tribosweep list observables` says what it needs"))
        elif name not in known:
            problems.append(Problem(path, f"unknown observable {name!r}; {advise(name, known, OBSERVABLES)}"))
    if isinstance(design, Adaptive):
        problems.append(Problem("output.columns", "the points of this design follow from observables: leave columns out"))


def check_asked(document: Document, model: Model, problems: list[Problem]) -> Asked:
    """Read the block means, the statistics and the columns that the study requests."""
    columns = document.output.columns
    right = columns is None or (isinstance(columns, list) and bool(columns) and all(isinstance(name, str) for name in columns))
    if not right:
        message = f"must be a list of names of observables, not {shorten(columns)}; without it all are computed"
        problems.append(Problem("output.columns", message))
    output = document.output
    asked = Asked(document.time.blocks or 0, bool(output.statistics), tuple(columns or ()) if right else (), bool(output.multipliers))
    if document.time.blocks is not None and not 2 <= document.time.blocks <= OBSERVED:
        message = f"{document.time.blocks} is out of bounds: must be a whole number from 2 to {OBSERVED} (equal blocks of the window)"
        problems.append(Problem("time.blocks", message))
    if document.time.window == STEADY:
        message = f'needs a window [start, end] in s: time.window = "{STEADY}" is one period of the motion, which repeats'
        problems += [Problem(KEYS_OF_ASKED[name], message) for name in KEYS_OF_ASKED if name in asked.names - {MULTIPLIERS}]
    elif asked.multipliers and model.structure is None:
        message = f'Floquet multipliers are of a periodic motion: they need time.window = "{STEADY}"'
        problems.append(Problem(KEYS_OF_ASKED[MULTIPLIERS], message))
    if model.structure is not None:
        others = dict.fromkeys(KEYS_OF_ASKED, "observables of supports and points have means, root mean squares and extremes as they are")
        others[MULTIPLIERS] = "Floquet multipliers are of models with a steady window"
        problems += [
            Problem(key, f"is not of a {model.name}: {others[name]}") for name, key in KEYS_OF_ASKED.items() if name in asked.names
        ]
    elif document.output.support_lists is not None:
        problems.append(Problem("output.support_lists", f"{model.name} has no supports with names"))
    return asked
