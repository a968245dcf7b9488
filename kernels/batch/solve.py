"""Many oscillators: rows are checked, each runs in its program, and results are put in the order of the rows.

Rows of one program are sorted by cost and spread over all devices (`queue` runs them there). The result of a row depends on its own numbers
alone. On one machine it is the same to the last bit as long as the same columns vary: the number of lanes is fixed, lanes do not exchange
numbers, and each row has its own choice of program (`program_key`). All rows share one bank of records, which no lane copies.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import program_key
from tribosweep.kernels.batch.finish import as_codes, finish, in_lists, without_support
from tribosweep.kernels.batch.program_key import LOCKSTEP, ProgramKey
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import SINGLE_RULES, Model, wear_laws
from tribosweep.kernels.models.limits import check_uses
from tribosweep.kernels.models.links import COLUMNS as LINK_COLUMNS
from tribosweep.kernels.models.outputs import NOTHING_ELSE, OBSERVED, Asked, check_asked
from tribosweep.kernels.models.schemes import DOUBLE, EXACT, PACE, STEADY
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.runtime import jax_setup, native_library
from tribosweep.kernels.runtime.threads import side_by_side

# programs take the number of rows from one parameter, which must have a value for each row: one for which that costs little
_COUNTED, _COUNTED_IN_LOCKSTEP = "end", "x0"


@dataclass(frozen=True, slots=True)
class Solution:
    """Results of a batch, one entry for each row, in the order of the rows.

    Attributes:
        observables: name -> float64 (NaN where the row failed); a "word" as int8 codes into `Quantity.words`, -1 where it failed; a "list"
            (count, OBSERVED), padded with NaN.
        status: int8 codes into `status.SENTENCES`.
        compile_seconds, run_seconds: time spent compiling and computing [s], summed over programs even if they ran side by side.
    """

    observables: dict[str, np.ndarray]
    status: np.ndarray
    compile_seconds: float
    run_seconds: float


def solve(
    model: Model,
    scheme: str,
    columns: Mapping[str, np.ndarray | float],
    absent: Mapping[str, np.ndarray] | None = None,
    count: int = 1,
    window: str | None = None,
    room: int = 0,
    dtype: type[np.floating[Any]] = np.float64,
    records: Records | None = None,
    asked: Asked = NOTHING_ELSE,
) -> Solution:
    """Run `count` oscillators.

    Args:
        model: the model. scheme: a name of `model.schemes`.
        columns: parameter name -> float64 array of length `count`, or a float for all rows (SI units); omitted names take their default. A
            word is its code; a table is (count, L), or (L,) for all rows, padded with NaN at its end.
        absent: name -> mask of the rows whose entry in `columns` is omitted; that entry is not read.
        count: number of rows.
        window: None for the window of the columns; "steady" for one period of the motion that the run tends to (scheme exact; the columns
            then have no `end`, `window_start` and `window_end`).
        room: least number of rows for which programs are made. Batches of up to that many rows share programs. Unused places cost memory
            but no time.
        dtype: numpy.float64, or numpy.float32 for numbers of 7 digits. Time schemes keep times and sums over a run in float64. At fixed
            steps the error of wear powers is 2e-7 in the median and 2e-6 / (1 - eta) at worst, eta = mu g / a0. Where a scheme chooses its
            steps, results differ as for another first step or tolerance; a tolerance must be 2^-24 at least (else RULE_BROKEN). Scheme
            exact has float32 for rigid friction under one sine over a given window: the error is 4e-7 in most rows. Its other rows, and
            those with sqrt(k/m) or c/m above 3 omega, run in float64. See docs/how-to/runs.md.
        records: the records that the parameter `record` numbers.
        asked: block means and statistics, of rows over a given window; or the only observables to compute. A row then fails by OVERFLOW
            only if one of these is not finite.

    Returns:
        See `Solution`. The numbers of a row never raise: a row that is not finite, out of bounds, breaks a rule of the model, or fails in
        the computation has NaN observables and a status.

    Raises:
        KeyError: the model has no parameter or scheme of that name.
        ValueError: `window` or `dtype` has neither of its values; a column is no observable; a steady window is not possible; float32
            with links beside k and c; rows name a record, but there are no `records`.
    """
    if scheme not in model.schemes:
        raise KeyError(f"{model.name} has no scheme {scheme!r}; it has {', '.join(model.schemes)}")
    if model.structure is not None and model.structure.lists:
        plain = replace(model.structure.scalars.model, rules=model.rules)
        found = solve(plain, scheme, columns, absent, count, window, room, dtype, records, asked._replace(columns=()))
        returned = asked.chosen(model.returns(window, {*columns, *asked.names}))
        listed = in_lists(returned, model.structure.order, found.observables, np)
        return replace(found, observables={q.name: listed[q.name] for q in returned} if asked.columns else listed)
    if dtype not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, not {dtype}")
    precision = np.dtype(dtype).name
    check_asked(asked)
    there = [name for name in columns if not (absent and name in absent and np.all(absent[name]))]
    check_uses(model, scheme, there, window, asked, precision)
    with np.errstate(all="ignore"):
        resolved = model.resolve(columns, absent)
        if window == STEADY:  # the program does not read the end; one period serves to estimate costs
            resolved["end"] = resolved["window_end"] = 2.0 * np.pi / np.asarray(resolved["omega"])
        ruled = model if precision == DOUBLE else replace(model, rules=(*model.rules, *SINGLE_RULES))
        status = check(ruled, scheme, resolved, columns, absent or {}, count)
        check_records(resolved, columns, records, status)
    good = np.flatnonzero(status == Status.OK)
    given = {*columns, *asked.names}
    whole = model.returns(window, given)
    returned = asked.chosen(whole)
    computed = whole if not asked.columns else [q for q in whole if q in returned or q.name.partition("[")[0] == "wear_power"]
    # wear in service follows from wear powers; in the order of the model, so that the same columns have the same program
    asked = asked._replace(columns=tuple(q.name for q in computed) if asked.columns and model.structure is None else ())
    observables = {q.name: np.full((count, OBSERVED) if q.kind == "list" else count, np.nan) for q in computed}
    for name in set(observables).intersection(LINK_COLUMNS):  # programs of rows without a link do not compute them
        observables[name][:] = 0.0

    compiling = running = 0.0
    if good.size:
        wide = resolved if scheme == EXACT else PACE  # times are float64; the exact engine narrows a row's numbers itself
        rows = {name: np.asarray(value, dtype=np.float64 if name in wide else dtype) for name, value in resolved.items()}
        shared = shared_arguments(model, records, np.float64 if scheme == EXACT else dtype)
        native = scheme == program_key.EULER and native_library.in_use()
        tasks = [
            functools.partial(_solve_group, key, model, rows, shared, members, count, observables, status, room)
            for key, members in program_key.groups(model, scheme, window, rows, good, asked, precision, native).items()
        ]
        compiling, running = map(sum, zip(*side_by_side(tasks), strict=True))
        if scheme != EXACT:  # which has a program of its own for rows without friction
            observables |= without_support(model, resolved, observables, np)

    with np.errstate(all="ignore"):  # rows that failed may hold anything
        worn = wear_laws.of_all(resolved, observables, given)
    for quantity in computed:
        if quantity.name in worn:  # NaN in a row that lacks a parameter that the quantity needs
            lacks = [np.asarray((absent or {}).get(name, np.False_)) for name in quantity.needs]
            observables[quantity.name] = np.where(functools.reduce(np.logical_or, lacks), np.nan, worn[quantity.name])

    observables, status = finish(observables, status, np)
    observables = {q.name: observables[q.name] for q in returned}
    words = {quantity.name: as_codes(observables[quantity.name], np.int8, np) for quantity in returned if quantity.kind == "word"}
    return Solution(observables=observables | words, status=status, compile_seconds=compiling, run_seconds=running)


def shared_arguments(model: Model, records: Records | None, dtype: type[np.floating[Any]] = np.float64) -> dict[str, np.ndarray]:
    """Arguments that all rows share: the bank of records, and the arrays of a structure."""
    shared = {} if records is None else records.arguments(dtype)
    if model.structure is None:
        if records is not None and records.samples.ndim > 2:
            raise ValueError("an oscillator follows a single acceleration: records must be (R, L), without channels")
        return shared
    if shared and shared["bank"].ndim == 2:
        shared["bank"] = shared["bank"][:, None]
    if shared:
        given = shared["bank"].shape[1]
        for load in model.structure.loads:
            if load.channel is not None and load.channel >= given:
                raise ValueError(
                    f"load {load.name} follows channel {load.channel}, counted from 0, and the records have {given} "
                    f"channel{'s' * (given > 1)}: (R, C, L) samples"
                )
    return shared | {name: value.astype(dtype) for name, value in model.structure.arguments.items()}


def check(
    model: Model,
    scheme: str,
    resolved: Mapping[str, Any],
    columns: Mapping[str, np.ndarray | float],
    absent: Mapping[str, np.ndarray],
    count: int,
) -> np.ndarray:
    """Status codes (int8, (count,)) of rows before they run: the first of NOT_FINITE, OUT_OF_BOUNDS, RULE_BROKEN, OK that applies."""
    status = np.full(count, Status.OK, dtype=np.int8)
    broken = np.zeros(count, dtype=bool)
    for rule in model.rules:
        broken |= program_key.everywhere(rule.broken(resolved, scheme), count)
    status[broken] = Status.RULE_BROKEN
    given = {name: (np.asarray(value, dtype=np.float64), ~np.asarray(absent.get(name, np.False_))) for name, value in columns.items()}
    for name, (values, present) in given.items():
        outside = model.parameter(name).out_of_bounds(values)
        status[program_key.everywhere((outside.any(axis=-1) if name in model.tables else outside) & present, count)] = Status.OUT_OF_BOUNDS
    for name, (values, present) in given.items():
        strange = np.isinf(values).any(axis=-1) if name in model.tables else ~np.isfinite(values)  # tables are padded with NaN
        status[program_key.everywhere(strange & present, count)] = Status.NOT_FINITE
    return status


def check_records(resolved: dict[str, Any], columns: Mapping[str, np.ndarray | float], records: Records | None, status: np.ndarray) -> None:
    """In place: OUT_OF_BOUNDS where a `record` is not in `records` (ValueError if None), the interval bounds omitted `largest_step`s."""
    present = ~np.isnan(resolved.get("record", np.nan))
    if not np.any(present):
        return
    if records is None:
        raise ValueError("rows name a record, but no records are given: solve(..., records=Records(samples, interval))")
    outside = program_key.everywhere(present & (np.asarray(resolved["record"]) >= records.count), status.size)
    status[outside & (status == Status.OK)] = Status.OUT_OF_BOUNDS
    if "largest_step" not in columns:
        longest = np.asarray(resolved["largest_step"])
        resolved["largest_step"] = np.where(present, np.minimum(longest, records.interval), longest)


def _solve_group(
    key: ProgramKey,
    model: Model,
    rows: Mapping[str, np.ndarray],
    shared: Mapping[str, np.ndarray],
    members: np.ndarray,
    count: int,
    observables: dict[str, np.ndarray],
    status: np.ndarray,
    room: int,
) -> tuple[float, float]:
    """Run the rows `members` through one program and store their results in place. `shared` are arguments of all programs.

    Returns the times of compiling and of computing [s].
    """
    import jax

    width, devices = jax_setup.lanes(key.loop, key.precision), len(jax.devices())
    with np.errstate(all="ignore"):  # rows that are not members may hold anything
        cost = program_key.cost(key, rows, count)[members]
    members = members[np.argsort(-cost, kind="stable")]
    blocks = -(-max(members.size, room) // width)
    # Each device has a power of two of blocks: with few sizes, shards and groups of any length share programs. It is never a single block,
    # for which XLA leaves out the loop and computes some divisions in another way: results would differ in the last bit.
    per_device = 1 << max(1, -(-blocks // devices) - 1).bit_length()
    padded = np.resize(members, devices * per_device * width)
    # neighbours go to different devices, so that each device gets its share of slow rows
    deal = np.arange(padded.size).reshape(per_device, devices, width).swapaxes(0, 1).reshape(devices * per_device, width)
    dealt = padded[deal]
    shares = np.count_nonzero(deal.reshape(devices, -1) < members.size, axis=1).astype(np.int32)  # rows that are not padding
    unread = key.unread(model)
    counted = _COUNTED_IN_LOCKSTEP if key.engine == LOCKSTEP and key.structure is None else _COUNTED
    lanes = {name: value.ndim > (name in model.tables) for name, value in rows.items()} | {counted: True}
    rows = {**rows, counted: program_key.everywhere(rows[counted], count)}
    arguments = {name: value[dealt] if lanes[name] else value for name, value in rows.items() if name not in unread}
    arguments |= {name: value for name, value in shared.items() if name not in unread}

    shapes = {name: (value.shape, value.dtype) for name, value in arguments.items()}
    program, compiling = programs.compiled(key, devices, shapes, tuple(sorted(name for name in shapes if lanes.get(name))))
    with programs.DEVICES:
        start = time.perf_counter()
        results, codes = jax.block_until_ready(program(arguments, shares))
        running = time.perf_counter() - start

    real = deal < members.size
    for part, here in enumerate(np.split(np.arange(len(deal)), devices)):  # device by device, so that their memory need not be joined
        some = ... if real[here].all() else real[here]
        where = dealt[here][some]
        for target, values in [*((observables[name], values) for name, values in results.items() if name in observables), (status, codes)]:
            target[where] = np.asarray(values.addressable_shards[part].data)[some]
    return compiling, running
