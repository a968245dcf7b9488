"""Checking the rules between parameters on the points of a design before a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model, Rule
from tribosweep.sweep.design.axis import RECORD, SCHEME
from tribosweep.sweep.design.points import SchemeRows, by_scheme
from tribosweep.sweep.io.errors import Problem

if TYPE_CHECKING:
    from tribosweep.sweep.study.config import Config

CHUNK = 1 << 18
CHUNKS = 16


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that some points break.

    Attributes:
        count: number of these points.
        margin: margin of the worst point, the smaller the worse; 0 if all points are equally bad.
        problem: message about the worst point.
    """

    count: int
    margin: float
    problem: Problem


def check_rules(config: Config) -> list[Problem]:
    """The rules that some points break, with the number of points and advice.

    The advice is for the first row that breaks the rule or, for unstable steps, for the row that needs the smallest step. Rows with NaN or
    infinite numbers are skipped: they get a status. In a design with more than CHUNK * CHUNKS points, only this number is checked, in
    blocks spread evenly from the first to the last point. Unchecked rows that break a rule get a status.
    """
    total = config.design.count
    whole = total <= CHUNK * CHUNKS
    starts = list(range(0, total, CHUNK)) if whole else [round(start) for start in np.linspace(0, total - CHUNK, CHUNKS)]
    broken: dict[int, Broken] = {}
    for start in starts:
        points = config.design.points(start, min(start + CHUNK, total))
        for part in by_scheme(points, config.scheme):
            check_block(config, part, points.numbers[part.rows], broken)
    looked_at = min(total, CHUNK * CHUNKS)
    return [
        found.problem
        if total == 1
        else Problem(found.problem.path, f"{found.problem.message} (broken at {found.count} of {looked_at} points)")
        for _, found in sorted(broken.items())
    ]


def check_block(config: Config, part: SchemeRows, numbers: np.ndarray, broken: dict[int, Broken]) -> None:
    """Add to `broken`, by position of the rule, how many of the rows break it, with the message about one of them."""
    scheme, columns, absent, count = part.scheme, part.columns, part.absent, part.count
    with np.errstate(all="ignore"):
        shaken = {} if config.excitation is None else {RECORD: 0.0}  # rules on records hold also where a study need not choose one
        resolved = config.model.resolve({**shaken, **config.fixed, **columns}, absent)
        usable = np.ones(count, dtype=bool)
        for name, values in columns.items():
            if name not in config.model.tables:  # nodes of tables are finite, and NaN after them is only padding
                usable &= np.isfinite(values) | absent.get(name, np.False_)
        for position, rule in enumerate(config.model.rules):
            mask = np.broadcast_to(np.asarray(rule.broken(resolved, scheme)), (count,)) & usable
            hits = int(np.count_nonzero(mask))
            if not hits:
                continue
            margin = np.where(mask, rule.margin(resolved, scheme), np.inf)
            worst = int(np.argmin(margin))
            before = broken.get(position)
            if before is not None and before.margin <= margin[worst]:
                broken[position] = replace(before, count=before.count + hits)
                continue
            point = int(numbers[worst])
            problem = explain(config, rule, resolved, scheme, worst, point)
            broken[position] = Broken(hits + (before.count if before else 0), float(margin[worst]), problem)


def explain(config: Config, rule: Rule, resolved: Mapping[str, Any], scheme: str, row: int, point: int) -> Problem:
    """The problem of a broken rule: the key that it refers to, the rule, and advice for one row."""
    tables = config.model.tables
    one = {name: single(values[row] if np.ndim(values) > (name in tables) else values) for name, values in resolved.items()}
    return phrase(rule, one, scheme, config.paths, f"point {point}: " if config.design.count > 1 else "")


def single(value: Any) -> Any:
    """A parameter of one oscillator in the form that rules need for advice: a float64, or the (L,) nodes of a table."""
    return np.asarray(value) if np.ndim(value) else np.float64(value)  # advice may divide by a number so small that it is 0


def phrase(rule: Rule, values: Mapping[str, Any], scheme: str, paths: Mapping[str, str], place: str = "") -> Problem:
    """The problem of a rule that the resolved `values` of one oscillator break, at `place`; `paths` are the keys of the study."""
    advice = rule.advice(values, scheme)
    path = next((paths[name] for name in rule.parameters if name in paths), f"parameters.{rule.parameters[0]}")
    message = f"{rule.sentence}; {place}{advice}" if advice else rule.sentence
    if SCHEME in paths and "scheme" in rule.sentence:
        message += '; if the scheme is swept, design = "zip" gives each scheme its own value, and "default" leaves the value out'
    return Problem(path, message)


def check_fixed(model: Model, scheme: str, fixed: Mapping[str, Any], paths: Mapping[str, str], doubtful: set[str]) -> list[Problem]:
    """Check rules on the fixed parameters of a study, for studies whose other problems prevent a check of all points.

    Rules on a `doubtful` parameter (swept, or with a problem of its own) are not checked.
    """
    with np.errstate(all="ignore"):
        values = {name: single(value) for name, value in model.resolve(fixed).items()}
        certain = [rule for rule in model.rules if not doubtful & {*rule.parameters, *([SCHEME] if "scheme" in rule.sentence else [])}]
        return [phrase(rule, values, scheme, paths) for rule in certain if np.any(rule.broken(values, scheme))]
