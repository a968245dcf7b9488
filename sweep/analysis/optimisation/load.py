"""Reading an optimisation from TOML; all problems are reported at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.optimisation.functions import FORMS, Constraint, Measure, Objective, read_constraint, read_measure
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study.capabilities import OPTIMISATION, check_derivatives
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.document import read_section
from tribosweep.sweep.study.free import Free, at_home, at_values, model_of, read_free
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.optimise import EVOLUTION, OPTIMISE, SLSQP, Optimise

MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Optimisation:
    """A checked optimisation.

    Attributes:
        config: the study, with the variables at their start; its points are the rows of every point of the optimisation.
        section: [optimise] as given.
        space: the variables. objectives: one, or two of a front. constraints: limits.
        starts: number of searches. seed: of their starts. method: SLSQP or EVOLUTION. front: number of points of a front.
    """

    config: Config
    section: dict[str, Any]
    space: Space
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    starts: int
    seed: int
    method: str
    front: int


def load(source: str | os.PathLike[str] | Mapping[str, Any], overrides: Sequence[str] = ()) -> Optimisation:
    """Read and check an optimisation.

    Args:
        source: path of a TOML file, name of a shipped study, or its content as nested dicts.
        overrides: "path=value" texts that replace keys before the check.

    Raises:
        ConfigError: lists everything that is wrong.
    """
    return read_checked(check, source, overrides)


def check(raw: dict[str, Any], source: str, folder: Path, stem: str, problems: list[Problem]) -> Optimisation | None:
    """Check an optimisation and append to `problems`; None if there are any."""
    without = "an optimisation has a table [optimise], with minimise or maximise, and variables"
    if (asked := read_section(Optimise, OPTIMISE, raw, without, problems)) is None:
        return None
    section, study = raw[OPTIMISE], {key: value for key, value in raw.items() if key != OPTIMISE}
    model, study, homes = model_of(study, asked.variables, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    check_derivatives(study, model, problems, OPTIMISATION)
    frees = read_free(asked.variables, model, study.get("parameters", {}), problems, f"{OPTIMISE}.variables")
    at_home(problems, homes)
    found: list[Problem] = []
    started = {**study, "parameters": at_values(study.get("parameters", {}), frees, [free.start for free in frees])}
    config = studies.check(started, source, folder, stem, found)
    at_home(found, homes)
    problems += found
    if config is None:
        return None
    check_design(config, frees, problems)
    objectives, constraints = read_functions(asked, section, config, problems)
    if "points" in asked.model_fields_set and len(objectives) == 1:
        problems.append(Problem(f"{OPTIMISE}.points", "are those of a front of two objectives, and there is one"))
    method = read_method(asked.method, objectives, constraints, problems)
    if problems:
        return None
    return Optimisation(config, dict(section), Space(frees), objectives, constraints, asked.starts, asked.seed, method, asked.points)


def check_design(config: Config, frees: Sequence[Free], problems: list[Problem]) -> None:
    """Add a problem if the rows of [sweep] cannot be those of every point."""
    design = config.design
    if isinstance(design, Adaptive):
        problems.append(Problem("sweep.design", "its points follow from results: the rows of a point are a grid, a list or a sample"))
        return
    if design.count > MOST_ROWS:
        message = f"{design.count:,} rows for every point: at most {MOST_ROWS:,}, and a few dozen cases or draws are usual"
        problems.append(Problem("sweep", message))
        return
    swept = {axis.name for axis in design.axes}
    if SCHEME in swept:
        problems.append(Problem(f"sweep.axes.{SCHEME}", "an optimisation has one scheme"))
    names = [free.quantity.name for free in frees if free.quantity.name in swept]
    problems += [Problem(f"sweep.axes.{name}", f"is chosen in {OPTIMISE}.variables: it is no axis") for name in dict.fromkeys(names)]
    if design.points(0, design.count).absent:
        problems.append(Problem("sweep", 'derivatives need every parameter in every row: no "default", no empty cell'))


def read_functions(
    asked: Optimise, section: Mapping[str, Any], config: Config, problems: list[Problem]
) -> tuple[tuple[Objective, ...], tuple[Constraint, ...]]:
    """Read objectives and constraints of what is asked, which stands in the file as `section`; add problems."""
    model, rows = config.model, 0 if isinstance(config.design, Adaptive) else config.design.count
    objectives, constraints = [], []

    def path(key: str, place: int) -> str:
        return f"{OPTIMISE}.{key}[{place}]" if isinstance(section[key], list) else f"{OPTIMISE}.{key}"

    for key, given in (("minimise", asked.minimise), ("maximise", asked.maximise)):
        for place, text in enumerate(given):
            if text is None:
                continue
            try:
                objectives.append(Objective(read_measure(text, model, rows, ""), key == "maximise"))
            except ValueError as error:
                problems.append(Problem(path(key, place), str(error)))
                continue
            problems += lacking(objectives[-1].measure, config, path(key, place))
    count = len(asked.minimise) + len(asked.maximise)
    if not count and all(unsaid(f"{OPTIMISE}.{key}", problems) for key in ("minimise", "maximise")):
        problems.append(Problem(f"{OPTIMISE}.minimise", f"missing: what is to be made small (or, with maximise, large): {FORMS}"))
    elif count > 2:
        problems.append(Problem(f"{OPTIMISE}.minimise", f"{count} objectives: one, or two for a front; the others can be constraints"))
    for place, text in enumerate(asked.constraints):
        if text is None:
            continue
        try:
            constraints.append(read_constraint(text, model, rows))
        except ValueError as error:
            problems.append(Problem(path("constraints", place), str(error)))
            continue
        problems += lacking(constraints[-1].measure, config, path("constraints", place))
    return tuple(objectives), tuple(constraints)


def lacking(measure: Measure, config: Config, path: str) -> list[Problem]:
    """The problems of the observables of a measure which the study lacks."""
    known = by_name(config.model.observables)
    return [Problem(path, why) for name in measure.names if (why := config.lacking(known[name]))]


def read_method(asked: str | None, objectives: Sequence[Objective], constraints: Sequence[Constraint], problems: list[Problem]) -> str:
    """The method: that which is asked for, else the one that the functions allow."""
    functions: list[Objective | Constraint] = [*objectives, *constraints]
    stepped = [each for each in functions if each.measure.counts]
    method = asked or (EVOLUTION if stepped else SLSQP)
    if stepped and method == SLSQP:
        message = f"{stepped[0].measure} takes steps and has no derivative to follow: {EVOLUTION} needs none"
        problems.append(Problem(f"{OPTIMISE}.method", message))
    elif len(objectives) > 1 and method == EVOLUTION:
        message = (
            f"a front follows derivatives, and {stepped[0].measure} takes steps" if stepped else "a front follows derivatives: leave it out"
        )
        problems.append(Problem(f"{OPTIMISE}.method", message))
    return method
