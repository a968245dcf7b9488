"""Many oscillators: the place where studies meet the one-oscillator kernels.

Rows are checked, sorted by cost, and spread over all devices. The exact engine runs them in blocks of lanes under `vmap`, each until its
slowest lane is done; so it does rows that take steps of one length over one window, abreast. Other rows of a time scheme have one block of
lanes a device, in which every lane is at its own time and step and takes the next row as soon as it is done with one, so that a slow row
delays no other. What a row returns depends on its own numbers alone (bitwise on one
machine, for the same set of varying columns): the number of lanes is fixed, lanes do not talk, and which program runs a row (rigid without
spring and damper, rigid, penalised; with tones, a record) depends on that row. Records are one bank for all rows, which no lane copies.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernels.batch import program_key
from kernels.excitation.record import Records
from kernels.models import SINGLE_RULES, Model, wear_laws
from kernels.models.schemes import EXACT, NOTHING_ELSE, OBSERVED, PACE, STEADY, VARIED, Asked, check_asked, check_window
from kernels.models.status import RESULTS, Status
from kernels.runtime import jax_setup, program_cache
from kernels.runtime.threads import side_by_side

# what float32 is for
STEPS_SINGLE = "float32 has neither blocks nor statistics"
RIGID_SINGLE = (
    "float32 by scheme 'exact' needs rigid friction (no k_t) without a wall, one sine, a window [start, end], and neither blocks"
    " nor statistics"
)
# a parameter of every model that is given one value a row, so that there are lanes to count: one that costs the program little
_COUNTED, _COUNTED_ABREAST = "end", "x0"


@dataclass(frozen=True, slots=True)
class Solution:
    """What a batch returns, one entry a row, in the order of the rows.

    Attributes:
        observables: name -> float64 (NaN where the row failed); a "word" as int8 codes into `Quantity.words`, -1 where it failed; a "list"
            (count, OBSERVED), padded with NaN.
        status: int8 codes into `status.SENTENCES`.
        compile_seconds, run_seconds: time spent compiling and computing [s]; programs that are compiled side by side count each.
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
        absent: name -> mask of the rows whose entry in `columns` is omitted (whatever number stands there).
        count: number of rows.
        window: "steady" for one period of the motion that the run tends to, by scheme exact (then `end`, `window_start` and `window_end`
            are not given); None for that of the columns.
        room: how many rows programs are made for at least, so that batches of up to that many rows share them; places that are not
            filled cost memory and no time.
        dtype: numpy.float32 for numbers of 7 digits. By a time scheme times and sums over a run are float64 all the same; by fixed steps
            wear powers are off by 2e-7 in the median and 2e-6 / (1 - eta) at worst, eta = mu g / a0; where a scheme chooses its steps they
            differ as those of two first steps or tolerances do. A tolerance must be 2^-24 at least (else RULE_BROKEN). By scheme exact, of
            rigid friction under one sine over a window that is given, they are off by 4e-7 in most rows (where sqrt(k/m) or c/m are more
            than 3 omega, it computes in float64 all the same). See docs/runs.md.
        records: which the parameter `record` chooses from.
        asked: block means and statistics, of rows over a window that is given and in float64; they have programs of their own.

    Returns:
        See `Solution`. Never raises on the numbers of a row: one that is not finite, out of bounds, breaks a rule of the model, or fails in
        the computation has NaN observables and a status.

    Raises:
        KeyError: a name or scheme that the model does not have.
        ValueError: another `window`, or a steady one with a time scheme or with an end; another `dtype`, or float32 with blocks or
            statistics, or by scheme exact for other rows than those that `dtype` names; rows with a record where there are no `records`.
    """
    if scheme not in model.schemes:
        raise KeyError(f"{model.name} has no scheme {scheme!r}; it has {', '.join(model.schemes)}")
    check_window(window, scheme, columns, model.steady)
    check_asked(asked, window)
    if dtype not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, not {dtype}")
    with np.errstate(all="ignore"):
        resolved = model.resolve(columns, absent)
        if window == STEADY:  # the program knows no end; here one period tells how long its pieces are
            resolved["end"] = resolved["window_end"] = 2.0 * np.pi / np.asarray(resolved["omega"])
        ruled = model if dtype is np.float64 else replace(model, rules=(*model.rules, *SINGLE_RULES))
        status = check(ruled, scheme, resolved, columns, absent or {}, count)
        check_records(resolved, columns, records, status)
    good = np.flatnonzero(status == Status.OK)
    given = {*columns, *asked.names}
    returned = model.returns(window, given)
    observables = {q.name: np.full((count, OBSERVED) if q.kind == "list" else count, np.nan) for q in returned}

    compiling = running = 0.0
    if good.size:
        doubles = resolved if scheme == EXACT else PACE  # times are float64, and where a run goes from event to event what it begins with
        rows = {name: np.asarray(value, dtype=np.float64 if name in doubles else dtype) for name, value in resolved.items()}
        groups = program_key.groups(model, scheme, window, rows, good, count, asked)
        if dtype is np.float32:
            singles = [program_key.in_float32(kind, rows, members, count) for kind, members in groups if members.size]
            if asked.names or not all(singles):
                raise ValueError(RIGID_SINGLE if scheme == EXACT else STEPS_SINGLE)
            groups = [each for some in singles for each in some]
        shared = {} if records is None else records.arguments(dtype)
        tasks = [
            functools.partial(_solve_group, kind, model, scheme, rows, shared, members, count, observables, status, room, asked)
            for kind, members in groups
            if members.size
        ]
        compiling, running = map(sum, zip(*side_by_side(tasks), strict=True))

    with np.errstate(all="ignore"):  # rows that failed may hold anything
        worn = wear_laws.volumes(resolved, observables["wear_power"], given)
    for quantity in returned:
        if quantity.name in worn:  # none in a row that lacks what it needs
            lacks = [np.asarray((absent or {}).get(name, np.False_)) for name in quantity.needs]
            observables[quantity.name] = np.where(functools.reduce(np.logical_or, lacks), np.nan, worn[quantity.name])

    needed = [observables[quantity.name] for quantity in returned if not quantity.optional and quantity.kind != "list"]
    overflow = np.isin(status, RESULTS) & ~np.all([np.isfinite(values) for values in needed], axis=0)
    status[overflow] = Status.OVERFLOW
    failed = ~np.isin(status, RESULTS)
    for quantity in returned:
        values = observables[quantity.name]
        if not quantity.survives:
            values[failed] = np.nan
        if quantity.kind == "word":
            observables[quantity.name] = np.where(failed, -1, np.nan_to_num(values, nan=-1.0)).astype(np.int8)
    return Solution(observables=observables, status=status, compile_seconds=compiling, run_seconds=running)


def check(
    model: Model,
    scheme: str,
    resolved: Mapping[str, Any],
    columns: Mapping[str, np.ndarray | float],
    absent: Mapping[str, np.ndarray],
    count: int,
) -> np.ndarray:
    """Status codes (int8, length `count`) of rows before they run: the first that applies of NOT_FINITE, OUT_OF_BOUNDS, RULE_BROKEN, OK."""
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
    """Mark, in place, rows whose `record` is not among the `records`, and bound, in place, steps that nobody gave by their interval."""
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
    kind: str,
    model: Model,
    scheme: str,
    rows: Mapping[str, np.ndarray],
    shared: Mapping[str, np.ndarray],
    members: np.ndarray,
    count: int,
    observables: dict[str, np.ndarray],
    status: np.ndarray,
    room: int,
    asked: Asked,
) -> tuple[float, float]:
    """Run the rows `members` through one compiled program, with what all have `shared`, write their results in place, and return
    (compile, run) seconds.
    """  # noqa: D205 - one sentence
    import jax

    width, devices = jax_setup.lanes(kind, rows["m"].dtype == np.float32), len(jax.devices())
    with np.errstate(all="ignore"):  # rows that are not members may hold anything
        cost = program_key.cost(kind, scheme, rows, count)[members]
    members = members[np.argsort(-cost, kind="stable")]
    blocks = -(-max(members.size, room) // width)
    # few sizes, so that shards and groups of any length share their programs: devices x a power of two blocks, and never a single one, of
    # which XLA makes another program (without a loop, and then with a division or two done otherwise: results differ in the last bit)
    per_device = 1 << max(1, -(-blocks // devices) - 1).bit_length()
    padded = np.resize(members, devices * per_device * width)
    # neighbours go to different devices, so that each gets its share of the slow lanes
    deal = np.arange(padded.size).reshape(per_device, devices, width).swapaxes(0, 1).reshape(devices * per_device, width)
    dealt = padded[deal]
    shares = np.count_nonzero(deal.reshape(devices, -1) < members.size, axis=1).astype(np.int32)  # rows that are not padding
    switches = {name: program_key.everywhere(rows[name], count)[members] for name in VARIED if name in rows}
    unread = model.unread(scheme, switches) | (set(model.penalty) if program_key.is_rigid(kind) else set())
    unread |= program_key.unread(kind)
    counted = _COUNTED_ABREAST if program_key.is_abreast(kind) else _COUNTED
    lanes = {name: value.ndim > (name in model.tables) for name, value in rows.items()} | {counted: True}
    rows = {**rows, counted: program_key.everywhere(rows[counted], count)}
    arguments = {name: value[dealt] if lanes[name] else value for name, value in rows.items() if name not in unread}
    arguments |= {name: value for name, value in shared.items() if name not in unread}

    shapes = {name: (value.shape, value.dtype) for name, value in arguments.items()}
    program, compiling = _compiled(kind, scheme, devices, shapes, tuple(sorted(name for name in shapes if lanes.get(name))), asked)
    with _DEVICES:
        start = time.perf_counter()
        results, codes = jax.block_until_ready(program(arguments, shares))
        running = time.perf_counter() - start

    real = deal < members.size
    for part, here in enumerate(np.split(np.arange(len(deal)), devices)):  # device by device, whose memory need not be joined first
        some = ... if real[here].all() else real[here]
        where = dealt[here][some]
        for target, values in [*((observables[name], values) for name, values in results.items()), (status, codes)]:
            target[where] = np.asarray(values.addressable_shards[part].data)[some]
    return compiling, running


# Threads prepare and finish batches side by side. The devices take one at a time, Python traces one at a time, and each core compiles one.
_DEVICES, _TRACING, _COMPILING = threading.Lock(), threading.Lock(), threading.BoundedSemaphore(jax_setup.cores())
_PROGRAMS: dict[Any, Callable[..., Any]] = {}
_BEING_MADE: defaultdict[Any, threading.Lock] = defaultdict(threading.Lock)


def _compiled(
    kind: str, scheme: str, devices: int, shapes: Mapping[str, tuple[tuple[int, ...], np.dtype]], lanes: tuple[str, ...], asked: Asked
) -> tuple[Callable[..., Any], float]:
    """The program for arguments of these shapes and types, of which `lanes` have one entry a row; and the seconds it took to have it."""
    import jax

    key = (kind, scheme, devices, tuple(shapes.items()), lanes, asked)
    if key in _PROGRAMS:
        return _PROGRAMS[key], 0.0

    def make(name: str) -> Any:
        shape = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
        with _TRACING:
            lowered = _program(kind, scheme, devices, lanes, asked, name).lower(shape, jax.ShapeDtypeStruct((devices,), np.int32))
        with _COMPILING:
            return lowered.compile()

    def works(program: Callable[..., Any]) -> None:
        with _DEVICES:  # none of the rows is to be run
            program({name: np.zeros(*one) for name, one in shapes.items()}, np.zeros(devices, np.int32))

    with _BEING_MADE[key]:
        if key in _PROGRAMS:
            return _PROGRAMS[key], 0.0
        begun = time.perf_counter()
        with program_cache.without_false_alarm():
            _PROGRAMS[key] = program_cache.kept(key, make, works)
        return _PROGRAMS[key], time.perf_counter() - begun


@functools.cache
def _program(kind: str, scheme: str, devices: int, lanes: tuple[str, ...], asked: Asked = NOTHING_ELSE, name: str = "program") -> Any:
    """Jitted function, of that name, to observables and codes (blocks, width).

    Its arguments: {name: (blocks, width) array for `lanes`, scalar for the rest; tables have one axis more}, and how
    many rows of each device are not padding.
    """
    import jax
    from jax.sharding import Mesh, PartitionSpec

    from kernels.batch.programs import program as program_of
    from kernels.stepping import lockstep

    base = program_key.base(kind)
    run: Any = None
    if base != program_key.STEP:
        run = functools.partial(lockstep.simulate, scheme=scheme) if program_key.is_abreast(kind) else program_of(base, asked)

    def block(varying: dict[str, Any], fixed: dict[str, Any]) -> Any:
        return jax.vmap(lambda row: run({**row, **fixed}))(varying)

    def on_device(varying: dict[str, Any], share: Any, fixed: dict[str, Any]) -> Any:
        if base == program_key.STEP:
            return _queue(scheme, asked, varying, fixed, share[0])
        return _blocks(block, varying, fixed, share[0])

    mesh = Mesh(np.asarray(jax.devices()[:devices]), ("device",))
    split, whole = PartitionSpec("device"), PartitionSpec()
    spread = jax.shard_map(on_device, mesh=mesh, in_specs=(split, split, whole), out_specs=split, check_vma=False)

    def program(arguments: dict[str, Any], shares: Any) -> Any:
        varying = {name: arguments[name] for name in lanes}
        return spread(varying, shares, {name: value for name, value in arguments.items() if name not in varying})

    program.__name__ = name
    return jax.jit(program)


def _blocks(run: Callable[[dict[str, Any], dict[str, Any]], Any], varying: dict[str, Any], fixed: dict[str, Any], share: Any) -> Any:
    """Run rows in blocks of lanes, one block after the other, as `jax.lax.map` does, but only the blocks that have rows.

    Args:
        run: (name -> (width,) array), (name -> scalar) to observables and codes, (width,).
        varying: name -> (blocks, width) array. fixed: name -> scalar. share: how many of the rows are to be run, from the first on.

    Returns:
        Observables and codes, (blocks, width), lists (blocks, width, L); 0 in blocks that were not run.
    """
    import jax
    import jax.numpy as jnp

    blocks, width = next(iter(varying.values())).shape[:2]
    run = jax.jit(run, inline=True)  # traced once, for its shapes and for the loop
    shapes = jax.eval_shape(lambda: run({name: values[0] for name, values in varying.items()}, fixed))
    start = jax.tree.map(lambda one: jnp.zeros((blocks, *one.shape), one.dtype), shapes)

    def block(index: Any, results: Any) -> Any:
        found = run({name: values[index] for name, values in varying.items()}, fixed)
        return jax.tree.map(lambda old, new: old.at[index].set(new), results, found)

    return jax.lax.fori_loop(0, -(-share // width), block, start)


def _queue(scheme: str, asked: Asked, varying: dict[str, Any], fixed: dict[str, Any], share: Any) -> Any:
    """Run rows through one block of lanes: every CHUNK attempts, lanes that are done hand in their results and take the next rows.

    Args:
        scheme: a time scheme (compile-time). asked: what is told besides (compile-time).
        varying: name -> (blocks, width) array. fixed: name -> scalar. share: how many of the rows are to be run, from the first on.

    Returns:
        Observables and codes, (blocks, width); NaN (-1 in codes) and 0 where a row was not run.
    """
    import jax
    import jax.numpy as jnp

    from kernels.stepping import loop

    stepper = loop.STEPPERS[scheme]
    blocks, width = next(iter(varying.values())).shape[:2]
    count = blocks * width
    queue = {name: values.reshape(count, *values.shape[2:]) for name, values in varying.items()}

    def each(function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one run's setup for every lane, traced once; what depends on fixed parameters alone stays one number for all."""

        def of_lanes(lanes: dict[str, Any], fixed: dict[str, Any], *others: Any) -> Any:
            return jax.vmap(lambda p, *rest: function(loop.prepare(stepper, {**p, **fixed}, asked), *rest))(lanes, *others)

        traced = jax.jit(of_lanes, inline=True)
        return lambda row, *others: traced({name: values[jnp.minimum(row, count - 1)] for name, values in queue.items()}, fixed, *others)

    def attempts(setup: Any, run: Any) -> Any:
        run = loop.closed(setup, jax.lax.fori_loop(0, loop.CHUNK, lambda _, now: loop.attempt(stepper, setup, now), run))
        return run, loop.active(setup, run), loop.finish(setup, run)

    begin, advance = each(functools.partial(loop.begin, stepper)), each(attempts)

    def chunk(carry: Any) -> Any:
        row, following, run, results, codes = carry
        run, active, (found, status) = advance(row, run)
        done = (row < share) & ~active
        place = jnp.where(done, row, count)
        results = {name: values.at[place].set(found[name], mode="drop") for name, values in results.items()}
        codes = codes.at[place].set(status, mode="drop")
        row = jnp.where(done, following + jnp.cumsum(done) - 1, row)
        run = jax.tree.map(lambda new, old: jnp.where(done if new.ndim == 1 else done[:, None], new, old), begin(row), run)
        return row, following + jnp.sum(done), run, results, codes

    row = jnp.arange(width)
    run = begin(row)
    found, status = jax.eval_shape(lambda: advance(row, run)[2])
    results = {
        name: jnp.full((count, *one.shape[1:]), jnp.nan if jnp.issubdtype(one.dtype, jnp.floating) else -1, one.dtype)
        for name, one in found.items()
    }
    start = row, jnp.asarray(width), run, results, jnp.zeros(count, status.dtype)
    *_, results, codes = jax.lax.while_loop(lambda carry: jnp.any(carry[0] < share), chunk, start)
    return {name: values.reshape(blocks, width, *values.shape[1:]) for name, values in results.items()}, codes.reshape(blocks, width)
