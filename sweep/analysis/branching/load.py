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
from tribosweep.sweep.analysis.calibration.load import FREE_KEYS, at_home, at_values, model_of, read_free
from tribosweep.sweep.analysis.calibration.parameters import Free
from tribosweep.sweep.analysis.calibration.posterior.settings import whole
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.io.errors import Problem, advise, first_of, shorten
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.io.values import Value
from tribosweep.sweep.study import capabilities
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.rules import check_rules

BRANCHES, FREQUENCY, SECOND_BODY = "branches", "omega", "m_2"
KEYS = {
    "along": "the parameter that changes along the branches, with its bounds, such as { omega = { from = 1.0, to = 4.0 } }",
    "curves": "a second parameter, with its bounds: special points of the branches are followed as curves in the plane of both",
    "places": "number of its values, bounds included, at which steady motions are looked for; default 5",
    "periods": "largest number of periods of the excitation after which a followed motion repeats; default 8",
    "most": "largest number of branches of a point of the study; default 32",
    "points": "largest number of points of each side of a branch; default 2000",
    "backbone": "whether free motions without damping and friction are computed too, along which a frequency response leans; default false",
}  # key of [branches] -> what it is
ALONG_KEYS = {key: text for key, text in FREE_KEYS.items() if key not in ("prior", "start")}
MOST_PLACES, MOST_PERIODS, MOST_BRANCHES, MOST_POINTS, MOST_ROWS = 1000, 16, 1000, 100_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Branching:
    """A checked study of branches.

    Attributes:
        config: the study, with the parameter at its lower bound; each of its points has branches of its own.
        section: [branches] as given. along: the parameter and its bounds. second: the other one of curves of special points, and its
            bounds; None without curves. places, periods, most, points, backbone: see `KEYS`.
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
    section = raw.get(BRANCHES)
    study = {key: value for key, value in raw.items() if key != BRANCHES}
    if not isinstance(section, dict):
        other = "; tribosweep run carries out this study" if "sweep" in raw or "parameters" in raw else ""
        problems.append(Problem(BRANCHES, f"missing: a study of branches has a table [branches], with along{other}"))
        return None
    along = section.get("along")
    model, study, homes = model_of(study, {"free": along}, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    unknown = [str(key) for key in section if key not in KEYS]
    problems += first_of(unknown, lambda key: Problem(f"{BRANCHES}.{key}", f"unknown key; {advise(key, KEYS)}"), BRANCHES, "keys")
    places, periods, most, points = (
        whole(section, "places", 5, 1, MOST_PLACES, "values of the parameter", problems, BRANCHES),
        whole(section, "periods", 8, 1, MOST_PERIODS, "of the excitation", problems, BRANCHES),
        whole(section, "most", 32, 1, MOST_BRANCHES, "branches of a point of the study", problems, BRANCHES),
        whole(section, "points", 2000, 2, MOST_POINTS, "of each side of a branch", problems, BRANCHES),
    )
    frees = read_free(along, model, study.get("parameters", {}), problems, f"{BRANCHES}.along", ALONG_KEYS)
    if len(frees) > 1:
        problems.append(Problem(f"{BRANCHES}.along", f"names {len(frees)} parameters: branches are followed in one; others are axes"))
    second = read_second(section, frees, model, study.get("parameters", {}), problems)
    check_window(study, problems)
    backbone = read_backbone(section, frees, problems)
    problems[:] = [at_home(problem, homes) for problem in problems]
    if problems or not frees:
        return None
    started = {**study, "parameters": at_values(study.get("parameters", {}), frees, [free.lower for free in frees])}
    started["time"] = {**study.get("time", {}), "window": STEADY}
    before = len(problems)
    config = studies.check(started, source, folder, stem, problems, capabilities.BRANCHES)
    problems[before:] = [at_home(problem, homes) for problem in problems[before:]]
    if config is None:
        return None
    check_design(config, frees[0], problems)
    if second is not None:
        check_second(config, second, problems)
    if not problems:
        problems += [at_home(problem, homes) for problem in check_corners(config, frees[0], second)]
    if backbone and SECOND_BODY in {*config.fixed, *config.swept}:
        problems.append(Problem(f"{BRANCHES}.backbone", f"is of one mass, and {SECOND_BODY} is a second one: leave backbone out"))
    return None if problems else Branching(config, dict(section), frees[0], second, places, periods, most, points, backbone)


def read_second(
    section: Mapping[str, Any], along: Sequence[Free], model: Model, parameters: Mapping[str, Any], problems: list[Problem]
) -> Free | None:
    """Read the second parameter of curves; None without curves, or with problems."""
    if "curves" not in section:
        return None
    path = f"{BRANCHES}.curves"
    found = read_free(section["curves"], model, parameters, problems, path, ALONG_KEYS)
    if len(found) > 1:
        problems.append(Problem(path, f"names {len(found)} parameters: curves are followed in that of along and one more"))
    if not found or found[0].name in {each.name for each in along}:
        if found:
            problems.append(Problem(f"{path}.{found[0].name}", "changes along the branches: curves need another parameter as well"))
        return None
    return found[0]


def read_backbone(section: Mapping[str, Any], along: Sequence[Free], problems: list[Problem]) -> bool:
    """Whether the backbone is asked for."""
    path, asked = f"{BRANCHES}.backbone", section.get("backbone", False)
    if not isinstance(asked, bool):
        problems.append(Problem(path, f"must be true or false, not {shorten(asked)}"))
        return False
    if asked and along and along[0].name != FREQUENCY:
        problems.append(Problem(path, f"is a curve over the frequency, and these branches are along {along[0].name}: leave backbone out"))
    return bool(asked)


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
