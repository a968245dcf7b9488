"""Indices of sensitivity for a report, of runs whose design samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tribosweep.sweep.analyses.sensitivity.analysis import analyse
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.analyses.sensitivity.result import INDICES, Line, group_noun
from tribosweep.sweep.analysis.study_rows import read_study
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.results.section import Section, Shown

# the measures that a report shows, in the order of preference, and what they are
MEASURES = {"S1": "first order", "ST": "total", "mu_star": "mean size of the effect", "sigma": "its spread"}
NO_EFFECT = 1e-9  # part of the largest index
NAMES = {"S1": "S1", "ST": "ST", "mu_star": "\N{GREEK SMALL LETTER MU}*", "sigma": "\N{GREEK SMALL LETTER SIGMA}"}


def section_of(shown: Shown) -> Section | str:
    """The indices of an observable of a complete run whose design samples, and else the reason why there are none ("" by design)."""
    path, state, shade = shown.directory, shown.state, shown.shade
    if state["design"] not in SAMPLERS or state["state"] != "complete" or shade.kind == "list":
        return ""
    try:
        found = analyse(path, read_study(path), SensitivityRequest(observables=(shade.name,)))
    except ConfigError as error:  # SALib is missing, too few points are left, or a file of the study is gone
        return f"No indices of sensitivity: {error.problems[0]}."
    lines = [line for line in found.lines[INDICES] if not line.estimate.other]
    measures = [measure for measure in MEASURES if any(line.estimate.measure == measure for line in lines)]
    if not measures:
        return f"No indices of sensitivity: {' '.join(found.notes)}" if found.notes else ""
    table = {name: [numbers(lines, name, measure) for measure in measures] for name in found.sample.names}
    rank = "ST" if "ST" in measures else measures[0]
    place = measures.index(rank)
    largest = max((abs(values[place][0] or 0.0) for values in table.values()), default=0.0)
    for values in table.values():  # effects that are rounding errors are none
        values[:] = [[0.0, None] if value is not None and abs(value) <= NO_EFFECT * largest else [value, half] for value, half in values]
    order = sorted(table, key=lambda name: -(table[name][place][0] or 0.0))
    effects = measures[0] == "mu_star"
    unit = shade.unit_suffix if effects else ""
    facts = {
        "title": f"Sensitivity of {shade.name.replace('_', ' ')}: {lines[0].method}, {lines[0].groups:,} {group_noun(found.sample)}",
        "measures": [f"{NAMES[measure]}, {MEASURES[measure]}{f' [{unit.strip()}]' if unit else ''}" for measure in measures],
        "rows": [{"parameter": name, "values": table[name]} for name in order],
        "note": "A number after \N{PLUS-MINUS SIGN} is half the 95 % confidence interval."
        + (" An index of 0.5 explains half of the variance." if not effects else ""),
    }
    ranking = [f"{name} ({NAMES[rank]} = {table[name][place][0]:.3g}{unit})" for name in order if table[name][place][0]]
    sentence = f"{shade.name} depends most on {', then '.join(ranking[:3])}." if ranking else "no index is above 0."
    return Section(facts, [("Sensitivity", sentence)])


def numbers(lines: Sequence[Line], parameter: str, measure: str) -> list[float | None]:
    """An index and half its interval, None where there is none."""
    of = [line.estimate for line in lines if line.estimate.parameter == parameter and line.estimate.measure == measure]
    pair = (of[0].value, of[0].half_width) if of else (math.nan, math.nan)
    return [each if math.isfinite(each) else None for each in pair]
