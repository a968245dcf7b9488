"""Reading an optimisation from TOML; all problems are reported at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analysis.calibration.load import FREE_KEYS, MOST_STARTS, at_home, at_values, check_derivatives, model_of, read_free
from tribosweep.sweep.analysis.calibration.parameters import Free, Space
from tribosweep.sweep.analysis.calibration.posterior.settings import whole
from tribosweep.sweep.analysis.optimisation.functions import FORMS, Constraint, Measure, Objective, read_constraint, read_measure
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.io.errors import Problem, advise, first_of, shorten
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study.capabilities import OPTIMISATION
from tribosweep.sweep.study.config import Config

OPTIMISE = "optimise"
SLSQP, EVOLUTION = "slsqp", "differential_evolution"
METHODS = (SLSQP, EVOLUTION)
KEYS = {
    "minimise": "what is made small: an observable, or its mean, quantile, worst or probability over the rows of [sweep]; two for a front",
    "maximise": "what is made large, likewise; with minimise it is the second objective of a front",
    "constraints": "limits that must be kept, such as ['peak_force <= 5 kN', 'quantile 0.95 of wear_power <= 2 W']",
    "variables": "the parameters that are chosen, each with its bounds",
    "starts": "number of searches from different starts; default 16",
    "seed": "seed of the random starts; default 1",
    "method": "slsqp: by derivatives (default); differential_evolution: without them (default where a count or a probability has none)",
    "points": "of a front of two objectives: number of its points; default 15",
}  # key of [optimise] -> what it is
VARIABLE_KEYS = {
    **{key: text for key, text in FREE_KEYS.items() if key != "prior"},
    "start": "where the first search starts; default the value of [parameters], else the middle",
}
MOST_ROWS = 100_000
MOST_FRONT = 1000


@dataclass(frozen=True, slots=True)
class Optimisation:
    """A checked optimisation.

    Attributes:
        config: the study, with the variables at their start; its points are the rows of every point of the optimisation.
        section: [optimise] as given.
        space: the variables. objectives: one, or two of a front. constraints: limits.
        starts: number of searches. seed: of their starts. method: one of METHODS. front: number of points of a front.
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
    section = raw.get(OPTIMISE)
    study = {key: value for key, value in raw.items() if key != OPTIMISE}
    if not isinstance(section, dict):
        other = "; tribosweep run carries out this study" if "sweep" in raw or "parameters" in raw else ""
        message = "missing: an optimisation has a table [optimise], with minimise or maximise, and variables"
        problems.append(Problem(OPTIMISE, f"{message}{other}"))
        return None
    variables = section.get("variables")
    model, study, homes = model_of(study, {"free": variables}, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    check_derivatives(study, model, problems, OPTIMISATION)
    unknown = [str(key) for key in section if key not in KEYS]
    problems += first_of(unknown, lambda key: Problem(f"{OPTIMISE}.{key}", f"unknown key; {advise(key, KEYS)}"), OPTIMISE, "keys")
    starts = whole(section, "starts", 16, 1, MOST_STARTS, "searches from different starts", problems, OPTIMISE)
    seed = whole(section, "seed", 1, 0, 2**31 - 1, "of the random starts", problems, OPTIMISE)
    front = whole(section, "points", 15, 2, MOST_FRONT, "of the front", problems, OPTIMISE)
    frees = read_free(variables, model, study.get("parameters", {}), problems, f"{OPTIMISE}.variables", VARIABLE_KEYS)
    problems[:] = [at_home(problem, homes) for problem in problems]
    before = len(problems)
    started = {**study, "parameters": at_values(study.get("parameters", {}), frees, [free.start for free in frees])}
    config = studies.check(started, source, folder, stem, problems)
    problems[before:] = [at_home(problem, homes) for problem in problems[before:]]
    if config is None:
        return None
    check_design(config, frees, problems)
    objectives, constraints = read_functions(section, config, problems)
    if "points" in section and len(objectives) == 1:
        problems.append(Problem(f"{OPTIMISE}.points", "are those of a front of two objectives, and there is one"))
    method = read_method(section, objectives, constraints, problems)
    if problems:
        return None
    return Optimisation(config, dict(section), Space(frees), objectives, constraints, starts, seed, method, front)


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
    section: Mapping[str, Any], config: Config, problems: list[Problem]
) -> tuple[tuple[Objective, ...], tuple[Constraint, ...]]:
    """Read objectives and constraints; add problems."""
    model, rows = config.model, 0 if isinstance(config.design, Adaptive) else config.design.count
    objectives, constraints = [], []
    for key in ("minimise", "maximise"):
        for path, text in texts(section, key, problems):
            try:
                objectives.append(Objective(read_measure(text, model, rows, ""), key == "maximise"))
            except ValueError as error:
                problems.append(Problem(path, str(error)))
                continue
            problems += lacking(objectives[-1].measure, config, path)
    given = len([*texts(section, "minimise", []), *texts(section, "maximise", [])])
    if not given and not {"minimise", "maximise"} & section.keys():
        problems.append(Problem(f"{OPTIMISE}.minimise", f"missing: what is to be made small (or, with maximise, large): {FORMS}"))
    elif given > 2:
        problems.append(Problem(f"{OPTIMISE}.minimise", f"{given} objectives: one, or two for a front; the others can be constraints"))
    for path, text in texts(section, "constraints", problems):
        try:
            constraints.append(read_constraint(text, model, rows))
        except ValueError as error:
            problems.append(Problem(path, str(error)))
            continue
        problems += lacking(constraints[-1].measure, config, path)
    return tuple(objectives), tuple(constraints)


def lacking(measure: Measure, config: Config, path: str) -> list[Problem]:
    """The problems of the observables of a measure which the study lacks."""
    known = by_name(config.model.observables)
    return [Problem(path, why) for name in measure.names if (why := config.lacking(known[name]))]


def texts(section: Mapping[str, Any], key: str, problems: list[Problem]) -> list[tuple[str, str]]:
    """The texts of a key, each with its path; one text may stand without a list."""
    raw = section.get(key, [])
    listed = raw if isinstance(raw, list) else [raw]
    found = []
    for place, each in enumerate(listed):
        path = f"{OPTIMISE}.{key}[{place}]" if isinstance(raw, list) else f"{OPTIMISE}.{key}"
        if isinstance(each, str):
            found.append((path, each))
        else:
            problems.append(Problem(path, f"must be a text such as 'peak_force', not {shorten(each)}"))
    return found


def read_method(
    section: Mapping[str, Any], objectives: Sequence[Objective], constraints: Sequence[Constraint], problems: list[Problem]
) -> str:
    """The method: that of the study, else the one that the functions allow."""
    functions: list[Objective | Constraint] = [*objectives, *constraints]
    stepped = [each for each in functions if each.measure.counts]
    method = section.get("method", EVOLUTION if stepped else SLSQP)
    if method not in METHODS:
        problems.append(Problem(f"{OPTIMISE}.method", f"{shorten(method)} is none of {', '.join(METHODS)}"))
    elif stepped and method == SLSQP:
        message = f"{stepped[0].measure} takes steps and has no derivative to follow: {EVOLUTION} needs none"
        problems.append(Problem(f"{OPTIMISE}.method", message))
    elif len(objectives) > 1 and method == EVOLUTION:
        message = (
            f"a front follows derivatives, and {stepped[0].measure} takes steps" if stepped else "a front follows derivatives: leave it out"
        )
        problems.append(Problem(f"{OPTIMISE}.method", message))
    return str(method)
