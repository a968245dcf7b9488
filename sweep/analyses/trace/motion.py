"""The time history of one point of a study: a structure by the scheme of its row, any other oscillator by the exact engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.analyses.trace.request import ROWS
from tribosweep.sweep.analyses.trace.result import TIME, Clearance, TimeTrace
from tribosweep.sweep.analysis.study_rows import given_of, scheme_of
from tribosweep.sweep.analysis.supports import require_support
from tribosweep.sweep.execution.record_bank import record_of_row
from tribosweep.sweep.execution.shard import solve_points
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.rules import check_fixed

RESTARTED = ("x_end", "v_end", "x_end_2", "v_end_2", "period", "buckled")  # what tells where a steady motion begins
PERIODS = 20  # of the excitation: longer runs show only their last ones where nothing else is asked for
SETTLING = 50  # periods for a contact with memory to return to its steady motion
MOST_EVENTS = 1_000_000
MOST_ROWS = 10_000_000
_OF_COORDINATES = (
    Quantity("q", "m", "coordinate"),
    Quantity("v", "m/s", "velocity of the coordinate"),
)  # fmt: skip
_OF_SUPPORTS = {
    q.name: q
    for q in (
        Quantity("penetration", "m", "penetration of the support, negative off it"),
        Quantity("penetration_rate", "m/s", "rate of the penetration"),
        Quantity("normal_force", "N", "normal force of the support", r"F_n"),
        Quantity("tangential_force", "N", "size of the friction force", r"F_t"),
        Quantity("sliding_speed", "m/s", "size of the tangential velocity"),
        Quantity("slips", "", "1 where the contact slips, else 0"),
        Quantity("place_1", "m", "displacement from the clearance's centre along the first axis of the support"),
        Quantity("place_2", "m", "displacement from the clearance's centre along the second axis of the support"),
    )
}


def trace_of(
    config: Config, point: int, rows: int = ROWS, start: float | None = None, stop: float | None = None, support: str | None = None
) -> TimeTrace:
    """The time history of a point.

    Args:
        config: the study. point: number of the point.
        rows: about how many instants there are. Of a structure 0 stands for all steps; others have more instants around their events.
        start, stop: times [s] of the first and the last instant; default the whole run, or one period of a steady motion.
        support: the only support whose columns there are; None for all.

    Raises:
        ConfigError: no such point or support, times outside the run, or a run that cannot be traced or fails.
    """
    require_support(config.source, config.model, support)
    given = given_of(config, point)
    scheme = EXACT if config.model.structure is None else scheme_of(config, point)
    if problems := check_fixed(config.model, scheme, given, config.paths, set()):
        raise ConfigError(config.source, problems)
    least = 2 if config.model.structure is None else 0
    if not least <= rows <= MOST_ROWS:
        raise ConfigError("--rows", [Problem("", f"{rows:,} is no number of instants: give {least} to {MOST_ROWS:,}")])
    steady = config.window == STEADY
    end = math.inf if steady else float(config.model.resolve(given)["end"])
    begins, ends = 0.0 if start is None else start, end if stop is None else stop
    if not (0.0 <= begins < ends <= end * (1.0 + 1e-12) and not math.isnan(ends)):
        run = "a run" if steady else f"the run, which ends at {end:g} s"
        raise ConfigError("--from, --to", [Problem("", f"from {begins:g} s to {ends:g} s is no time of {run}")])
    try:
        if config.model.structure is not None:
            return _of_structure(config, point, scheme, given, rows, (begins, ends), support)
        return _of_steady(config, point, given, rows, (begins, ends)) if steady else _of_run(config, point, given, rows, (begins, ends))
    except ValueError as error:
        raise ConfigError(config.source, [Problem(f"point {point}", str(error))]) from None


def _of_structure(
    config: Config, point: int, scheme: str, given: Mapping[str, Any], rows: int, within: tuple[float, float], support: str | None
) -> TimeTrace:
    """The trace of a structure."""
    from tribosweep.kernels import structure_history

    structure = config.model.structure
    shaken, records = record_of_row(config.excitation, given)
    found = structure_history.trace(structure.model, shaken, scheme, rows, records, within)
    clearances = tuple(each for each in clearances_of(config.model, given) if support in (None, each.name))
    columns, quantities = {TIME.name: found["time"]}, [TIME]

    def add(quantity: Quantity, values: np.ndarray) -> None:
        columns[quantity.name] = values
        quantities.append(quantity)

    for name, axis in structure.rows:
        add(Quantity(named(axis, name), "m", f"displacement along {axis}; at {name}"), found[named(axis, name)])
        add(Quantity(named(f"{axis}_rate", name), "m/s", f"velocity along {axis}; at {name}"), found[named(f"{axis}_rate", name)])
    for each in clearances:
        for name, quantity in _OF_SUPPORTS.items():
            if (full := named(name, each.name)) in found:
                about = f"{quantity.description}; at {each.name}"
                add(Quantity(full, quantity.unit, about, quantity.symbol), found[full])
    for quantity in _OF_COORDINATES:
        for number, values in enumerate(found[quantity.name].T):
            add(Quantity(f"{quantity.name}_{number}", quantity.unit, f"{quantity.description} {number}"), values)
    return TimeTrace(config.name, point, scheme, columns, tuple(quantities), clearances, math.nan)


def clearances_of(model: Model, given: Mapping[str, Any]) -> list[Clearance]:
    """The supports of a structure with the clearances of one row."""
    p = model.resolve(given)
    found = []
    for name in model.structure.order:
        support = model.structure.support(name)
        kind = model.structure.kind_of(support)
        found.append(Clearance(name, kind.obstacle, float(np.ravel(p[named("gap", name)])[0]), kind.axes == 1))
    return found


def _of_run(config: Config, point: int, given: Mapping[str, Any], rows: int, within: tuple[float, float]) -> TimeTrace:
    """The trace of an oscillator with one coordinate from t = 0 on."""
    from tribosweep import kernels

    (start, stop), end = within, float(config.model.resolve(given)["end"])
    shaken, records = record_of_row(config.excitation, given)
    samples = max(2, round((rows - 1) * (end - start) / (stop - start)) + 1)
    if samples > MOST_ROWS:
        raise ValueError(f"a run of {end:g} s has too many instants {(stop - start) / (rows - 1):.3g} s apart: give fewer --rows")
    columns = kernels.trace(config.model.name, shaken, start, samples, MOST_EVENTS, records)
    if columns["time"][-1] < stop * (1.0 - 1e-12):
        raise ValueError(f"its events stop at t = {columns['time'][-1]:g} s, because it has more than {MOST_EVENTS:,} of them")
    return _plain(config, point, columns, stop, excitation_period(config.model, given))


def _of_steady(config: Config, point: int, given: Mapping[str, Any], rows: int, within: tuple[float, float]) -> TimeTrace:
    """The trace of a steady motion over its period, from where the run of its row ends."""
    whole = replace(config, asked=config.asked._replace(columns=()))
    solution = solve_points(whole, config.design.points(point, point + 1))
    at = {name: float(solution.observables[name][0]) for name in RESTARTED if name in solution.observables}
    found = steady_trace(config.model, given, at, rows, within[1])
    if found is None:
        if at.get("buckled"):
            raise ValueError("a trace of its steady motion would begin at a wall that has buckled before: give a window [start, end] in s")
        raise ValueError("it has no steady motion with a period: see the column `status` of its row")
    columns, period = found
    keep = columns["time"] >= within[0] * (1.0 - 1e-12)
    return _plain(config, point, {name: values[keep] for name, values in columns.items()}, within[1], period)


def _plain(config: Config, point: int, columns: dict[str, np.ndarray], stop: float, period: float) -> TimeTrace:
    """The trace of an oscillator with one coordinate up to a time."""
    from tribosweep.kernels.time_history import TRACE_COLUMNS

    keep = columns["time"] <= stop * (1.0 + 1e-12)
    return TimeTrace(config.name, point, EXACT, {name: values[keep] for name, values in columns.items()}, TRACE_COLUMNS, (), period)


def excitation_period(model: Model, given: Mapping[str, Any]) -> float:
    """Period of the excitation [s]; NaN if there is none."""
    p = model.resolve(given)
    return 2.0 * math.pi / float(p["omega"]) if float(p["a0"]) != 0.0 or float(p["f0"]) != 0.0 else math.nan


def steady_trace(
    model: Model, given: Mapping[str, Any], at: Mapping[str, float | None], samples: int, longest: float = math.inf
) -> tuple[dict[str, np.ndarray], float] | None:
    """Trace a steady motion.

    Args:
        model, given: of the row. at: those of its observables that are in `RESTARTED`; if one lacks, there is no trace.
        samples: number of instants at equal steps. longest: length of the trace [s], if it is finite; else one period of the motion.

    Returns:
        The columns of `tribosweep.trace`, with the time since the start of a period, and the period of the excitation [s]; None if the row
        has no steady motion, lacks such an observable, or begins beside a wall that has buckled, whose plastic set is no parameter.
    """
    from tribosweep import kernels

    period = excitation_period(model, given)
    needed = {quantity.name for quantity in model.returns(STEADY, set(given))} & {*RESTARTED}
    if not needed <= at.keys() or at.get("buckled"):
        return None
    count, place = at["period"], at["x_end"]
    if not count or math.isnan(count) or not math.isfinite(period) or place is None or math.isnan(place):
        return None
    length = count * period
    settling = SETTLING * length if "k_t" in given else 0.0
    length = longest if math.isfinite(longest) else length
    timed = {name: value for name, value in given.items() if not name.startswith("window")}
    timed |= {"x0": place, "v0": at["v_end"], "end": settling + length}
    if "m_2" in given:
        timed |= {"x0_2": at["x_end_2"], "v0_2": at["v_end_2"]}
    columns = kernels.trace(model.name, timed, settling, samples, MOST_EVENTS)
    columns["time"] -= settling
    return columns, period
