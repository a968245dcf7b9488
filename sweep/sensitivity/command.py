"""What `tribosweep sensitivity` reads from its options and prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernels.models.quantity import Quantity
from sweep.config import Config, load
from sweep.problems import ConfigError, Problem
from sweep.running import default_directory, load_run
from sweep.sensitivity.analysis import DERIVATIVES, INDICES, UNCERTAINTY, Line, Study, records
from sweep.sensitivity.data import parts_of
from sweep.terminal import emit, print_json, print_table

Tell = Callable[[str], None]
FIRST, SECOND = ("S1", "ST"), "S2"


def read_target(target: Path, settings: Sequence[str], tell: Tell) -> tuple[Config, Path, bool]:
    """The study of a run's directory or of a TOML file, where it lies, and whether it is to be run first.

    Raises:
        ConfigError: there is none, it samples nothing, or `settings` would change a run that is there.
    """
    if target.is_dir():
        if settings:
            raise ConfigError("--set", [Problem("", f"changes a study, and {target} is the directory of a run: give its TOML file")])
        study, path = load_run(target, tell), target
    else:
        study = load(target, settings)
        path = default_directory(study)
    parts_of(study)
    return study, path, not target.is_dir()


def read_numbers(option: str, texts: Sequence[str]) -> list[tuple[str, float]]:
    """NAME=NUMBER texts of an option."""
    found, problems = [], []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found.append((name.strip(), float(value)))
        except ValueError:
            problems.append(Problem("", f"{text!r} must be NAME=NUMBER, such as wear_power=1.0"))
    if problems:
        raise ConfigError(option, problems)
    return found


def print_study(study: Study) -> None:
    """The tables of a study on stdout."""
    for quantity in study.quantities:
        own = {which: [line for line in lines if line.observable == quantity.name] for which, lines in study.lines.items()}
        if own[INDICES]:
            print_indices(study, quantity, own[INDICES])
        if own[UNCERTAINTY]:
            print_uncertainty(study, quantity, own[UNCERTAINTY])
        if own[DERIVATIVES]:
            print_derivatives(quantity, own[DERIVATIVES])


def heading(quantity: Quantity, lines: Sequence[Line], things: str) -> str:
    """The title of a table: the observable, the method and what it is from."""
    return f"{quantity.name}: {lines[0].method} from {lines[0].groups:,} {things}"


def print_indices(study: Study, quantity: Quantity, lines: Sequence[Line]) -> None:
    """One row a parameter with all its indices, then one row a pair."""
    from sweep.sensitivity.analysis import things

    what = "points of a curve" if study.sample.method == "fast" else things(study.sample)
    plain = [line for line in lines if not line.estimate.other]
    print_wide(heading(quantity, lines, what), plain)
    emit("")
    pairs = [line.estimate for line in lines if line.estimate.other]
    if pairs:
        rows = [(each.parameter, each.other, each.value, each.half_width) for each in pairs]
        print_table(f"{quantity.name}: second order", ["parameter", "other", SECOND, "+-"], rows, right=[SECOND, "+-"])
        emit("")


def print_wide(title: str, lines: Sequence[Line]) -> None:
    """One row a parameter, one column a measure, each that has an interval followed by half of it."""
    measures = list(dict.fromkeys(line.estimate.measure for line in lines))
    cells = {(line.estimate.parameter, line.estimate.measure): line.estimate for line in lines}
    bounded = [measure for measure in measures if any(math.isfinite(e.half_width) for (_, m), e in cells.items() if m == measure)]
    header = ["parameter"]
    for measure in measures:
        header += [measure, f"+- {measure}"] if measure in bounded else [measure]
    rows = []
    for parameter in dict.fromkeys(line.estimate.parameter for line in lines):
        row: list[Any] = [parameter]
        for measure in measures:
            estimate = cells[parameter, measure]
            row.append(short(estimate.value))
            if measure in bounded:
                row.append(short(estimate.half_width, 2))
        rows.append(row)
    emit(title)  # which a narrow table would break
    print_table("", header, rows, right=header[1:])


def short(value: float, digits: int = 5) -> str:
    """A number of a result in as many digits as its interval bears out; "-" where it is undefined."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "-"


def print_uncertainty(study: Study, quantity: Quantity, lines: Sequence[Line]) -> None:
    """Mean, spread, quantiles and chances, each with the ends of its interval."""
    unit = f" [{quantity.unit}]" if quantity.unit not in ("", "1") else ""
    level = f"{100.0 * study.request.level:g} %"
    origin = f"{lines[0].groups:,} points" + (f" in {len(study.sample.parts)} replicates" if lines[0].method == "replicates" else "")
    header = ["number", "estimate", f"from ({level})", "to"]
    rows = [(e.measure, short(e.value, 7), short(e.low, 7), short(e.high, 7)) for e in (line.estimate for line in lines)]
    emit(f"{quantity.name}{unit}: uncertainty from {origin}")
    print_table("", header, rows, right=header[1:])
    emit("")


def print_derivatives(quantity: Quantity, lines: Sequence[Line]) -> None:
    """DGSM with bounds, and elasticities."""
    for method in dict.fromkeys(line.method for line in lines):
        own = [line for line in lines if line.method == method]
        print_wide(f"{quantity.name}: {method}{f', {own[0].groups:,} points' if own[0].groups > 1 else ''}", own)
        emit("")


def print_as_json(study: Study, path: Path, files: Sequence[Path]) -> None:
    """The whole study as one JSON value on stdout."""
    groups = {
        name: {"used": len(kept.groups), "total": kept.total, "missing": kept.missing, "failed": kept.failed, "void": kept.void,
               "elsewhere": kept.elsewhere}
        for name, kept in study.kept.items()
    }  # fmt: skip
    facts = {"directory": str(path), "design": study.sample.method, "rows": len(study.sample.failed), "failed": study.failed}
    tables = {which: records(lines) for which, lines in study.lines.items()}
    print_json({**facts, "groups": groups, **tables, "notes": study.notes, "files": [str(file) for file in files]})
