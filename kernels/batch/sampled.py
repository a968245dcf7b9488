"""Signals of many rows: the motion of each at equal steps, and what is computed of it, some samples at a time.

Rows of one program fill the lanes of all devices, block after block. A lane keeps the sums of Welch's method, counts of crossings and of
impacts; samples whose cycles are counted come to the host. Memory does not grow with the length of a run.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch.program_key import QUEUE, ProgramKey, everywhere, groups
from tribosweep.kernels.batch.programs import contacts_of
from tribosweep.kernels.batch.solve import shared_arguments
from tribosweep.kernels.exact import at_times as by_events
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.signals import DURATIONS, OF_WEAR, PEAKS, Signals, slope_of, struck
from tribosweep.kernels.models.status import RESULTS
from tribosweep.kernels.models.supports import named
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables import impact_classes, turning, wear_classes, welch
from tribosweep.kernels.observables.rainflow import Cycles
from tribosweep.kernels.runtime.stderr_filter import without_false_alarm
from tribosweep.kernels.stepping import at_times as by_steps
from tribosweep.kernels.stepping import structure_at_times, structure_loop
from tribosweep.kernels.stepping.loop import STEPPERS

WIDTH = 64  # lanes of a device
_START, _LENGTH, _COUNT = "signals start", "signals length", "signals count"  # of a row: start [s] and length [s] of a part, its samples


class Counted(NamedTuple):
    """A channel whose cycles and crossings are counted: its last sample and slope, and the crossings of each level so far."""

    value: Array
    slope: Array
    crossings: tuple[Array, ...]


class Part(NamedTuple):
    """The sums of one part of a window: of spectra, channels in the order of `Signals.counted`, and wear. None where not asked for."""

    spectra: welch.Welch | None
    counted: tuple[Counted, ...]
    worn: wear_classes.WearClasses | None


class Sampler(NamedTuple):
    """How the motion of one row is followed; functions of its parameters."""

    prepare: Any
    begin: Any
    advance: Any
    sample: Any
    classes: Any


def signals(
    model: Model,
    scheme: str,
    asked: Signals,
    columns: Mapping[str, np.ndarray | float],
    absent: Mapping[str, np.ndarray] | None,
    status: np.ndarray,
    records: Records | None = None,
) -> dict[str, np.ndarray]:
    """The signals of rows that `solve` has run.

    Args:
        model, scheme, columns, absent, records: as for `solve`, over a given window, in float64. asked: what is computed.
        status: (n,) of `solve`; rows without results have none here either.

    Returns:
        The columns of `asked.columns(model)`, (n,) or (n, length), NaN where a row has no results or a part is too short for a segment.
    """
    laid = {q.name: q for q, _ in asked.columns(model).values()}
    if model.structure is not None and model.structure.lists:
        model = model.structure.scalars.model
    count = len(status)
    with np.errstate(all="ignore"):
        resolved = model.resolve(columns, absent)
    if records is not None and "largest_step" not in columns and "largest_step" in resolved:
        resolved["largest_step"] = np.minimum(np.asarray(resolved["largest_step"]), records.interval)
    rows = {name: np.asarray(value, float) for name, value in resolved.items()}
    found = {q.name: np.full((count, q.length) if q.kind == "list" else count, np.nan) for q in laid.values()}
    good = np.flatnonzero(np.isin(status, [int(each) for each in RESULTS]))
    if not good.size:
        return found
    start, stop = (everywhere(rows[name], count) for name in ("window_start", "window_end"))
    length = (stop - start) / asked.parts
    own = {_START: start, _LENGTH: length, _COUNT: np.floor(length / asked.interval * (1.0 + 1e-12))}
    shared = shared_arguments(model, records)
    for found_key, members in groups(model, scheme, None, rows, good).items():
        key = replace(found_key, engine=EXACT if scheme == EXACT else QUEUE, free=False, native=False)
        unread = key.unread(model) - {"k", "c"}
        read = {name: value for name, value in rows.items() if name not in unread}
        fixed = {name: value for name, value in shared.items() if name not in unread}
        _solve_group(key, model, asked, read, own, fixed, members, found)
    return found


@without_false_alarm()
def _solve_group(
    key: ProgramKey,
    model: Model,
    asked: Signals,
    rows: Mapping[str, np.ndarray],
    own: Mapping[str, np.ndarray],
    fixed: Mapping[str, np.ndarray],
    members: np.ndarray,
    found: dict[str, np.ndarray],
) -> None:
    """Store the signals of the rows `members`, all of one program, in place."""
    count = len(own[_START])
    members = members[np.argsort(-own[_COUNT][members], kind="stable")]  # rows of a block have about as many samples
    devices = len(jax.devices())
    width = devices * WIDTH
    varying = {name for name, value in rows.items() if value.ndim > (name in model.tables)} | {*own}
    whole = {**rows, **own}
    shape = tuple(sorted(varying))
    edges = {"peaks": np.asarray(asked.peaks, float), "durations": np.asarray(asked.durations, float)}
    rest = {**fixed, **{name: value for name, value in rows.items() if name not in varying}, **edges}
    made = _programs(key, asked, devices, len(struck(model)))
    for first in range(0, members.size, width):
        block = members[first : first + width]
        lanes = np.resize(block, width)
        p = {name: np.broadcast_to(whole[name], (count, *whole[name].shape[1:]))[lanes] for name in shape}
        _block(asked, key, made, (p, rest), block, found)


def _block(asked: Signals, key: ProgramKey, made: Any, arguments: Any, block: np.ndarray, found: dict[str, np.ndarray]) -> None:
    """Follow one block of rows through the parts of their windows, and store what is found."""
    begin, chunk, end, classes = made
    p, _ = arguments
    many = np.asarray(p[_COUNT])
    with programs.DEVICES:
        run, nothing = begin(*arguments)
        for part in range(asked.parts):
            ahead = "" if asked.parts == 1 else f"part{part + 1}_"
            cycles = [Cycles(len(block), edges, asked.exponent) for _, edges in asked.rainflow]
            sums = nothing
            for first in range(0, int(many.max()), asked.hop):
                run, sums, samples = chunk(*arguments, run, sums, float(part), float(first))
                for (name, _), each in zip(asked.rainflow, cycles, strict=True):
                    each.add(np.asarray(samples[name])[: len(block)])
            for name, values in end(sums).items():
                found[ahead + name][block] = np.asarray(values)[: len(block)]
            seconds = np.asarray(p[_COUNT])[: len(block)] * asked.interval
            for (name, _), each in zip(asked.rainflow, cycles, strict=True):
                found[f"{ahead}rainflow_{name}"][block] = each.counts()
                if asked.exponent is not None:
                    found[f"{ahead}equivalent_range_{name}"][block] = each.equivalent(asked.rate * seconds)
        if asked.peaks or asked.durations:
            run, *_ = chunk(*arguments, run, nothing, float(asked.parts), 0.0)  # to the end of the window
            _store_impacts(asked, key, classes(run), block, found)


def _store_impacts(
    asked: Signals, key: ProgramKey, classes: impact_classes.Classes, block: np.ndarray, found: dict[str, np.ndarray]
) -> None:
    """Store the counts of impacts, (lanes, parts, S, classes)."""
    order = [""] if key.structure is None else [kind.name for group in key.structure.groups for kind in group]
    for what, edges, values in ((PEAKS, asked.peaks, classes.peaks), (DURATIONS, asked.durations, classes.durations)):
        host = np.asarray(values)[: len(block)] if edges else np.empty(0)
        for part in range(asked.parts if edges else 0):
            ahead = "" if asked.parts == 1 else f"part{part + 1}_"
            for place, of in enumerate(order):
                found[ahead + (named(what, of) if of else what)][block] = host[:, part, place]


def _sampler(key: ProgramKey, asked: Signals, supports: int) -> Sampler:
    """The sampler of a program."""
    counts = bool(asked.peaks or asked.durations) and supports > 0

    def classes(p: dict[str, Any]) -> impact_classes.Classes:
        start, length = p[_START], p[_LENGTH]
        number = supports if key.structure is not None else 1
        return impact_classes.init(p["peaks"], p["durations"], start, length, asked.parts, number if counts else 0)

    def physical(p: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in p.items() if name not in {_START, _LENGTH, _COUNT, "peaks", "durations"}}

    if key.scheme == EXACT:
        kind = contacts_of(key)
        return Sampler(
            lambda p: by_events.prepare(physical(p), kind),
            lambda p, setup: by_events.begin(setup, classes(p)),
            by_events.advance,
            by_events.sample,
            lambda run: run.classes,
        )
    stepper = STEPPERS[key.scheme]
    if key.structure is not None:
        structure = key.structure
        return Sampler(
            lambda p: structure_loop.prepare(stepper, physical(p), structure),
            lambda p, setup: structure_at_times.begin(stepper, setup, classes(p) if counts else None),
            functools.partial(structure_at_times.advance, stepper),
            structure_at_times.sample,
            lambda run: run.impacts.classes,
        )
    return Sampler(
        lambda p: by_steps.prepare(stepper, physical(p), key.walls),
        lambda p, setup: by_steps.begin(stepper, setup, classes(p)),
        functools.partial(by_steps.advance, stepper),
        by_steps.sample,
        lambda run: run.classes,
    )


@functools.lru_cache(maxsize=64)
def _programs(key: ProgramKey, asked: Signals, devices: int, supports: int) -> Any:
    """The jitted functions of a block: its start, some samples further, the results of a part; and where a run has its impacts."""
    sampler = _sampler(key, asked, supports)
    mesh = Mesh(np.asarray(jax.devices()[:devices]), ("device",))
    split, whole = PartitionSpec("device"), PartitionSpec()

    def spread(function: Any, arguments: int, extra: int = 0) -> Any:
        """A function of one row, of every lane of all devices: parameters of rows, those of all rows, `arguments` of lanes, and `extra`."""

        def on_device(p: Any, rest: Any, *others: Any) -> Any:
            mine, numbers = others[:arguments], others[arguments:]
            return jax.vmap(lambda row, *more: function({**row, **rest}, *more, *numbers))(p, *mine)

        specs = (split, whole, *[split] * arguments, *[whole] * extra)
        return jax.jit(jax.shard_map(on_device, mesh=mesh, in_specs=specs, out_specs=split, check_vma=False))

    def begin(p: Any) -> Any:
        return sampler.begin(p, sampler.prepare(p)), _nothing(asked, 0.0 * p[_START])

    def chunk(p: Any, run: Any, sums: Part, part: Array, first: Array) -> Any:
        setup = sampler.prepare(p)
        start, stop, count = p[_START] + part * p[_LENGTH], p[_START] + asked.parts * p[_LENGTH], p[_COUNT]

        def one(run: Any, number: Array) -> Any:
            time = jnp.minimum(start + jnp.minimum(first + number, count - 1.0) * asked.interval, stop)
            run = sampler.advance(setup, run, time)
            seen = sampler.sample(setup, run, time)
            return run, {name: seen[name] for name in _followed(asked)}

        run, samples = jax.lax.scan(one, run, jnp.arange(asked.hop, dtype=float))
        return run, *_update(asked, sums, samples, first, count)

    results = jax.jit(jax.vmap(functools.partial(_finish, asked)))
    return spread(begin, 0), spread(chunk, 2, 2), results, sampler.classes


def _followed(asked: Signals) -> tuple[str, ...]:
    """The channels that are sampled: those asked for, and the velocities of counted displacements."""
    slopes = [slope for name in asked.counted if (slope := slope_of(name)) is not None]
    return tuple(
        dict.fromkeys([*asked.spectral, *asked.counted, *slopes, *_of_worn(asked, "normal_force"), *_of_worn(asked, "sliding_speed")])
    )


def _of_worn(asked: Signals, name: str) -> list[str]:
    """A channel of each support whose wear is asked for."""
    return [named(name, support) for support in asked.worn]


def _nothing(asked: Signals, like: Array) -> Part:
    """The sums of a part before its first sample."""
    levels = dict(asked.crossings)
    counted = tuple(Counted(like, like, (jnp.zeros(len(levels[name])) + like,) if name in levels else ()) for name in asked.counted)
    worn = wear_classes.init(like, len(asked.worn)) if asked.kwu_epri is not None else None
    return Part(welch.init(asked, like) if asked.spectral else None, counted, worn)


def _update(asked: Signals, sums: Part, samples: dict[str, Array], first: Array, count: Array) -> tuple[Part, dict[str, Array]]:
    """The sums after `hop` more samples, and the sequences whose cycles are counted."""
    spectra, levels, sequences, counted = sums.spectra, dict(asked.crossings), {}, []
    if spectra is not None:
        spectra = welch.update(spectra, asked, jnp.stack([samples[name] for name in asked.spectral]), first, count)
    for name, was in zip(asked.counted, sums.counted, strict=True):
        values, slope = samples[name], slope_of(name)
        before, slopes = jnp.where(first > 0.0, was.value, values[0]), values * 0.0
        sequence = values
        if slope is not None:
            slopes = samples[slope]
            sequence = turning.with_extremes(before, values, jnp.where(first > 0.0, was.slope, slopes[0]), slopes, asked.interval)
        crossings = tuple(each + turning.upward(before, sequence, jnp.asarray(levels[name])) for each in was.crossings)
        counted.append(Counted(values[-1], slopes[-1], crossings))
        sequences[name] = sequence
    worn = sums.worn
    if worn is not None and asked.kwu_epri is not None:
        force, speed = (jnp.stack([samples[each] for each in _of_worn(asked, name)]) for name in ("normal_force", "sliding_speed"))
        worn = wear_classes.update(worn, asked.kwu_epri, force, speed, first, count)
    return Part(spectra, tuple(counted), worn), {name: sequences[name] for name, _ in asked.rainflow}


def _finish(asked: Signals, sums: Part) -> dict[str, Array]:
    """Spectra, crossings and wear by column, of one part."""
    found = {}
    if sums.spectra is not None:
        power, cross = welch.finish(sums.spectra, asked)
        place = {name: row for row, name in enumerate(asked.spectral)}
        found = {f"psd_{name}": power[place[name]] for name in asked.psd}
        for row, (one, other) in enumerate(asked.cross_psd):
            found |= {f"cross_psd_re_{one}_{other}": cross[row].real, f"cross_psd_im_{one}_{other}": cross[row].imag}
    counts = dict(zip(asked.counted, sums.counted, strict=True))
    found |= {f"crossings_{name}": counts[name].crossings[0] for name, _ in asked.crossings}
    if sums.worn is not None and asked.kwu_epri is not None:
        for (name, *_), values in zip(OF_WEAR, wear_classes.finish(sums.worn, asked.kwu_epri), strict=True):
            found |= {named(name, support): values[place] for place, support in enumerate(asked.worn)}
    return found
