"""Reading a study of branches from TOML; all problems are reported at once."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.io.values import Value
from tribosweep.sweep.study import capabilities
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study.branches import BRANCHES, Branches
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.document import read_section
from tribosweep.sweep.study.free import Free, at_home, at_values, model_of, read_free
from tribosweep.sweep.study.rules import check_rules

FREQUENCY, SECOND_BODY = "omega", "m_2"
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Branching:
    """A checked study of branches.

    Attributes:
        config: the study, with the parameter at its lower bound; each of its points has branches of its own.
        section: [branches] as given. along: the parameter and its bounds. second: the other one of curves of special points, and its
            bounds; None without curves. places, periods, most, points, backbone: see `Branches`.
    """

    config: Config
    section: dict[str, Any]
    along: Free
    second: Free | None
    places: int
    periods: int
    most: int
    points: int
    backbone: bool = False

    @property
    def pair(self) -> tuple[Free, ...]:
        """The parameters that change: that along the branches, and the second one of curves."""
        return (self.along,) if self.second is None else (self.along, self.second)


def load(source: str | os.PathLike[str] | Mapping[str, Any], overrides: Sequence[str] = ()) -> Branching:
    """Read and check a study of branches.

    Args:
        source: path of a TOML file, name of a shipped study, or its content as nested dicts.
        overrides: "path=value" texts that replace keys before the check.

    Raises:
        ConfigError: lists everything that is wrong.
    """
    return read_checked(check, source, overrides)


def check(raw: dict[str, Any], source: str, folder: Path, stem: str, problems: list[Problem]) -> Branching | None:
    """Check a study of branches and append to `problems`; None if there are any."""
    without = "a study of branches has a table [branches], with along"
    if (asked := read_section(Branches, BRANCHES, raw, without, problems)) is None:
        return None
    section, study = raw[BRANCHES], {key: value for key, value in raw.items() if key != BRANCHES}
    model, study, homes = model_of(study, asked.along, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    frees = read_free(asked.along, model, study.get("parameters", {}), problems, f"{BRANCHES}.along")
    if len(frees) > 1:
        problems.append(Problem(f"{BRANCHES}.along", f"names {len(frees)} parameters: branches are followed in one; others are axes"))
    second = read_second(asked, frees, model, study.get("parameters", {}), problems)
    check_window(study, problems)
    if asked.backbone and frees and frees[0].name != FREQUENCY:
        message = f"is a curve over the frequency, and these branches are along {frees[0].name}: leave backbone out"
        problems.append(Problem(f"{BRANCHES}.backbone", message))
    at_home(problems, homes)
    if not frees:
        return None
    started = {**study, "parameters": at_values(study.get("parameters", {}), frees, [free.lower for free in frees])}
    started["time"] = {**study.get("time", {}), "window": STEADY}
    found: list[Problem] = []
    config = studies.check(started, source, folder, stem, found, capabilities.BRANCHES)
    at_home(found, homes)
    problems += found
    if config is None:
        return None
    check_design(config, frees[0], problems)
    if second is not None:
        check_second(config, second, problems)
    if not problems:
        problems += check_corners(config, frees[0], second)
        at_home(problems, homes)
    if asked.backbone and SECOND_BODY in {*config.fixed, *config.swept}:
        problems.append(Problem(f"{BRANCHES}.backbone", f"is of one mass, and {SECOND_BODY} is a second one: leave backbone out"))
    if problems:
        return None
    return Branching(config, dict(section), frees[0], second, asked.places, asked.periods, asked.most, asked.points, asked.backbone)


def read_second(
    asked: Branches, along: Sequence[Free], model: Model, parameters: Mapping[str, Any], problems: list[Problem]
) -> Free | None:
    """Read the second parameter of curves; None without curves, or with problems."""
    if asked.curves is None:
        return None
    path = f"{BRANCHES}.curves"
    found = read_free(asked.curves, model, parameters, problems, path)
    if len(found) > 1:
        problems.append(Problem(path, f"names {len(found)} parameters: curves are followed in that of along and one more"))
    if found and found[0].name in {each.name for each in along}:
        problems.append(Problem(f"{path}.{found[0].name}", "changes along the branches: curves need another parameter as well"))
        return None
    return found[0] if found else None


def check_second(config: Config, second: Free, problems: list[Problem]) -> None:
    """Add a problem of a second parameter that has no value of its own at the branches."""
    if second.name in config.swept:
        problems.append(Problem(f"sweep.axes.{second.name}", "changes along curves: it is no axis; the branches need one value of it"))
    elif second.name not in config.fixed:
        problems.append(Problem(f"parameters.{second.name}", "missing: the branches on which curves begin need a value of it"))


def check_corners(config: Config, along: Free, second: Free | None) -> list[Problem]:
    """Problems of the rules of the model at the ends of the ranges of the parameters that change; the first corner with problems counts.

    What a rule excludes lies at an end of a range. A second parameter is also checked at its stated value, where curves begin.
    """
    ranges: dict[str, tuple[Value, ...]] = {along.name: (along.upper, along.lower)}
    if second is not None:
        ranges[second.name] = (config.fixed[second.name], second.upper, second.lower)
    for values in itertools.product(*ranges.values()):
        there = replace(config, fixed={**config.fixed, **dict(zip(ranges, values, strict=True))})
        if problems := check_rules(there):
            return problems
    return []


def check_window(study: Mapping[str, Any], problems: list[Problem]) -> None:
    """Add a problem of a given window: a periodic motion is observed over its own period."""
    time = study.get("time", {})
    if isinstance(time, dict) and "window" in time and time["window"] != STEADY:
        problems.append(Problem("time.window", f'must be "{STEADY}", or left out: branches have the period of their motions as window'))


def check_design(config: Config, along: Free, problems: list[Problem]) -> None:
    """Add problems of points that have no branches."""
    if isinstance(config.design, Adaptive):
        problems.append(Problem("sweep.design", "its points follow from results: points that have branches are a grid, a list or a sample"))
        return
    if config.design.count > MOST_ROWS:
        problems.append(Problem("sweep", f"{config.design.count:,} points with branches: at most {MOST_ROWS:,}"))
        return
    if along.name in {axis.name for axis in config.design.axes}:
        problems.append(Problem(f"sweep.axes.{along.name}", "changes along the branches: it is no axis"))
    if config.design.points(0, config.design.count).absent:
        problems.append(Problem("sweep", 'branches need every parameter in every point: no "default", no empty cell'))
