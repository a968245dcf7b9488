"""The rows of a run for its fragility: intensity, demand, whether the event happened, and what rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analyses.fragility.input_intensity import OF_INPUT, SPECTRAL, quantity_of
from tribosweep.sweep.analyses.fragility.input_intensity import values_of as input_of
from tribosweep.sweep.analysis.group_statistics import group
from tribosweep.sweep.analysis.run_rows import TABLE, ZIP, have_results, is_numeric, must_be_held, repeats, slice_at, varying_of
from tribosweep.sweep.analysis.run_state import model_of, state_of
from tribosweep.sweep.analysis.supports import add_entries, lists_of, with_entries
from tribosweep.sweep.design.axis import DRAW, RECORD, SCHEME
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.excitation.intensity import MEASURES
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.capabilities import CONVERGENCE
from tribosweep.sweep.study.event import Event, named_in, outcome_in, read_events, values_in

if TYPE_CHECKING:
    import pyarrow as pa

STATUS = "status"


@dataclass(frozen=True, slots=True)
class FragilityRows:
    """The rows of a run, (n,) each.

    Attributes:
        state: state of the run (`run_state.state_of`).
        event: what may happen. demand: the observable of the event, of a joined one the first. intensity: the quantity on the axis.
        x: intensities. values: of the demand, or codes of its words; NaN without one. happened, unknown: masks of the rows in which it
            happened, and of those with results of which that is unknown. good: mask of the other rows with results.
        groups: numbers of what rows share (a record, a draw), from 0 on.
        over: names of what groups are told apart by; empty if each row is a group of its own.
        curves: numbers of the curves; labels: the value that each curve stands for, by parameter.
        held: parameter -> value that defines the slice.
    """

    state: dict[str, Any]
    event: Event
    demand: Quantity
    intensity: Quantity
    x: np.ndarray
    values: np.ndarray
    happened: np.ndarray
    unknown: np.ndarray
    good: np.ndarray
    groups: np.ndarray
    over: tuple[str, ...]
    curves: np.ndarray
    labels: list[dict[str, Any]]
    held: dict[str, Any]


def read(path: Path, event: str, intensity: str, over: Sequence[str], by: str | None, at: Sequence[str]) -> FragilityRows:
    """Read the rows of a run, complete or not.

    Args:
        path: directory of the run. event: such as "buckled=1" or "peak_force > 5 kN".
        intensity: parameter that the run varies, observable that is a number, or measure of the input (`input_intensity`), such as "pga".
        over: parameters whose values are what is random; default the draws and records of the run, else every row is one by itself.
        by: parameter that gives each of its values a curve. at: "name=value" texts that hold further parameters.

    Raises:
        ConfigError: there is no run or no row; a name or the event is wrong; or a parameter varies that is neither random nor named.
    """
    state = state_of(path)
    if not state["rows"]:
        raise ConfigError(str(path), [Problem("", "no shard is written yet: nothing happened")])
    if state["design"] == CONVERGENCE:
        raise ConfigError(str(path), [Problem("", "a convergence study has rows of several steps for a point: no probabilities")])
    if state["design"] == SUBSET:
        message = f"the rows of a subset simulation crowd around its event; the probability of the event: tribosweep rare {path}"
        raise ConfigError(str(path), [Problem("", message)])
    model, dataset = with_entries(model_of(path)), Dataset(path)
    (what,) = read_events("--event", [event], model)
    parameters, observables = by_name(model.parameters), by_name(model.observables)
    names = [name for name in dataset.names if name in parameters or name == SCHEME]
    needed = named_in(what)
    entries = lists_of(model, [*needed, intensity], dataset.names)
    problems: list[Problem] = []
    there = {name: each for name, each in observables.items() if name in dataset.names or name in entries}
    if absent := [name for name in needed if name not in there]:
        raise ConfigError(str(path), [Problem("--event", f"{name} is no column of this run") for name in absent])
    wanted = [name for name in (*needed, intensity) if name in dataset.names and name not in names]
    table = dataset.table(list(dict.fromkeys([*names, STATUS, *wanted, *(base for base, _ in entries.values())])))
    table = add_entries(table, model, entries)
    table, held = slice_at(table, varying_of(table, names), at, problems)
    varying = varying_of(table, names)
    measure = None if intensity in (*parameters, *there) else quantity_of(intensity)
    axis = measure or axis_of(intensity, varying, parameters, there, problems)
    random = random_of(over, varying, intensity, problems)
    if by is not None and (by not in varying or by in (intensity, *random)):
        message = (
            f"{by!r} is the intensity or random" if by in varying else f"{by!r} is nothing that this run varies; {advise(by, varying)}"
        )
        problems.append(Problem("--by", message))
    loose = [name for name in varying if name not in (intensity, by, *random, *(OF_INPUT if measure else ()))]
    if axis is not None:  # else the intensity may be what is loose
        problems += [in_words(table, name) for name in loose if not state_is_sampled(state) and must_be_named(table, name)]
    if problems or axis is None:
        raise ConfigError(str(path), problems)
    values, results = values_in(what, model, table), have_results(table.column(STATUS))
    happened, unknown = outcome_in(what, model, values)
    curves = group(table, [by] if by else [])
    first = np.unique(curves, return_index=True)[1]
    labels: list[dict[str, Any]] = [{by: table.column(by)[int(row)].as_py()} if by else {} for row in first]
    groups = group(table, random) if random else np.arange(table.num_rows)
    x = input_of(path, intensity, table) if measure else table.column(intensity).to_numpy(zero_copy_only=False)
    x = np.asarray(x, dtype=np.float64)
    return FragilityRows(
        state, what, there[needed[0]], axis, x, values[needed[0]], happened, results & unknown, results & ~unknown, groups, tuple(random),
        curves, labels, held,
    )  # fmt: skip


def axis_of(
    name: str, varying: Sequence[str], parameters: dict[str, Quantity], there: dict[str, Quantity], problems: list[Problem]
) -> Quantity | None:
    """The quantity of the intensity: a parameter that varies, or an observable that is a number; None and a problem if there is none."""
    numbers = [each for each in varying if each in parameters and parameters[each].kind in ("float", "integer")]
    known = {each: parameters[each] for each in numbers} | {n: q for n, q in there.items() if q.kind in ("float", "integer")}
    if name in known:
        return known[name]
    same = "is the same in every row" if name in parameters and name not in varying else "is no number that this run varies or observes"
    problems.append(
        Problem("--intensity", f"{name!r} {same} (a spectral acceleration is {SPECTRAL}); {advise(name, {**MEASURES, **known})}")
    )
    return None


def random_of(over: Sequence[str], varying: Sequence[str], intensity: str, problems: list[Problem]) -> list[str]:
    """The parameters whose values are random: those that are named, else draws and records if they vary."""
    for name in over:
        if name == intensity:
            problems.append(Problem("--over", f"{name!r} is the intensity"))
        elif name not in varying:
            problems.append(Problem("--over", f"{name!r} is nothing that this run varies; {advise(name, varying)}"))
    return list(dict.fromkeys(over)) or [name for name in (DRAW, RECORD) if name in varying and name != intensity]


def state_is_sampled(state: dict[str, Any]) -> bool:
    """Whether the parameters of a run are a sample, so that all of them vary together."""
    return state["design"] in (*SAMPLERS, ZIP, TABLE)


def must_be_named(table: pa.Table, name: str) -> bool:
    """Whether a parameter has a few values, each in many rows, so that it is not clear that they are meant as random."""
    return not is_numeric(table.column(name)) or repeats(table.column(name))


def in_words(table: pa.Table, name: str) -> Problem:
    """The problem of a parameter that varies without having a place."""
    held = must_be_held(table, name)
    more = f", give each a curve with --by {name}, or say that they are random with --over {name}" if name != SCHEME else ""
    return Problem("", f"{held.message}{more}")
