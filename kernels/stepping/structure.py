"""A structure with supports as a time scheme sees it: the same interface as `scheme.Body`, with a list of coordinates in place of one.

Where many structures run side by side (`side_by_side`), every array has an axis of lanes at its end, of length 1 if the lanes share it.
Lists of coordinates are then (N, lanes), and numbers are (lanes,). Matrices that all lanes share have no such axis.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.contact.impact_sliding import ImpactSliding, Touch, Vector
from tribosweep.kernels.excitation.harmonic import Rotation
from tribosweep.kernels.excitation.table import TabledForce
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.models.supports import RING, named
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.observables.slip import holds_to

Touches = tuple[Touch, ...]
# Products of matrices and lists of lanes are written out term by term up to this number of terms. That reaches the speed of the vector
# unit: 8 x 30 there and back took 31 ns a lane in blocks of 64, 41 ns as a call of XLA's library, 108 ns as XLA's own loop. Programs grow.
_MOST_TERMS = 128


class Acting(NamedTuple):
    """What all loads do at an instant.

    Attributes:
        force: on the coordinates [N], (N,). sizes: of each load, (L,).
        elapsed: time since the instant of the contacts' memory [s], if the structure has moved since then at the velocity of the
            evaluation; None if it has not, or if there is no memory.
        stored: compile-time promise that coordinates and velocities have passed a `fusion_barrier`.
        keeps: where the supports keep the phases of their memory (`ImpactSliding.evaluate`), a boolean of each structure; None for nowhere.
        arcs: see `Structure.around`; () where they follow from the ways.
    """

    force: Array
    sizes: Array
    elapsed: Array | None = None
    stored: bool = False
    keeps: Array | None = None
    arcs: tuple[Array | None, ...] = ()

    def against(self, moved: Array) -> Array:
        """A displacement relative to the support that carries the contact: supports rest."""
        return moved


def times(matrix: Array, vector: Array, stored: bool = False) -> Array:
    """The product of a matrix (R, N) and a list (N,): (R,). Either may have lanes. `stored`: the list has passed a `fusion_barrier`."""
    if vector.ndim == 1:
        return matrix @ vector
    if matrix.ndim == 2:
        if vector.shape[0] > _MOST_TERMS:
            return matrix @ vector
        matrix = matrix[..., None]
    once = vector if stored else fusion_barrier(vector)[0]
    return total([matrix[:, place] * each for place, each in enumerate(once)], 0.0 * matrix[:, :0].sum(axis=1))


def spread(vector: Array, matrix: Array) -> Array:
    """The product of a list (R,) and a matrix (R, N): (N,). Either may have lanes."""
    if vector.ndim == 1:
        return vector @ matrix
    if matrix.ndim == 2:
        if vector.shape[0] > _MOST_TERMS:
            return matrix.T @ vector
        matrix = matrix[..., None]
    return total([row * each for row, each in zip(matrix, fusion_barrier(vector)[0], strict=True)], 0.0 * matrix[:0].sum(axis=0))


def total(terms: Sequence[Array], none: Array) -> Array:
    """The sum of terms, `none` if there are none, written out: XLA on CPU computes it for a whole vector of lanes at once."""
    return functools.reduce(operator.add, terms) if len(terms) else none


def summed(values: Array) -> Array:
    """The sum over the first axis."""
    return jnp.sum(values, axis=0) if values.ndim == 1 or not 0 < values.shape[0] <= _MOST_TERMS else total([*values], values[0])


def summed_squares(factors: Array, values: Array) -> Array:
    """The sum of factor times squared value over the first axis."""
    if values.ndim == 1 or not 0 < values.shape[0] <= _MOST_TERMS:
        return summed(factors * values * values)
    return total([factor * each * each for factor, each in zip(factors, values, strict=True)], values[0])


class Structure(NamedTuple):
    """N coordinates with modal stiffness and damping, and groups of supports.

    Attributes:
        by_mass: 1/m_i [1/kg], (N,). stiffness: w_i^2 [1/s^2], (N,). drag: 2 xi_i w_i [1/s], (N,).
        coupling: what damping does beyond `drag`: C / m_i without its diagonal [1/s], (N, N); None where it is diagonal.
        shapes: displacements along all axes of all supports for coordinates of 1, (R, N), group by group, in each axis by axis (`by_axes`).
        turns: for each group sine and cosine of `angle`, (G,) each; None where no axis is turned.
        groups: the supports.
        one: 1.0 in the type of the other numbers.
    """

    by_mass: Array
    stiffness: Array
    drag: Array
    coupling: Array | None
    shapes: Array
    turns: tuple[tuple[Array, Array] | None, ...]
    groups: tuple[ImpactSliding, ...]
    one: Array

    def at_start(self, _load: Acting, _v: Array) -> Touches:
        """The memory of the supports at t = 0, before any evaluation."""
        return tuple(group.untouched() for group in self.groups)

    def along(self, coordinates: Array, stored: bool = False) -> list[Vector]:
        """What a list of coordinates (N,) is along the axes of the supports of each group. `stored`: see `times`."""
        (whole,) = fusion_barrier(times(self.shapes, coordinates, stored))
        found: list[Vector] = []
        first = 0
        for group, turn in zip(self.groups, self.turns, strict=True):
            count = group.gap.shape[0]
            starts = range(first, first + count * group.kind.axes, count)
            found.append(turned(tuple(whole[start : start + count] for start in starts), turn, 1.0))
            first += count * group.kind.axes
        return found

    def around(self, memory: Touches, v: Array) -> tuple[Array | None, ...]:
        """Velocities around the rings of each group [m/s], (G,), at the places of the memory; None for other supports.

        A scheme that has evaluated several instants of a step integrates them to the `arcs` of the next one.
        """
        every = zip(self.groups, memory, self.along(v), strict=True)
        return tuple(group.around(touch.place, speed) if group.kind.obstacle == RING else None for group, touch, speed in every)

    def push(self, load: Acting, memory: Touches, x: Array, moved: Array, v: Array, _rest: Array | None = None) -> tuple[Array, Touches]:
        """Acceleration of the coordinates without `drag` (N,), and the memory of the supports after this evaluation.

        Args:
            load: what acts. memory: of the supports. x, moved, v: coordinates, their change since the memory, and velocities, (N,).
        """
        speeds = self.along(v, load.stored)
        if load.elapsed is None:
            places, ways = self.along(x), self.along(moved + 0.0 * x)  # at the start `moved` is a plain 0
        else:
            ways = [tuple(load.elapsed * each for each in speed) for speed in speeds]
            places = [
                tuple(place + each for place, each in zip(was.place, way, strict=True)) for was, way in zip(memory, ways, strict=True)
            ]
        forces: list[Array] = []
        after = []
        arcs = load.arcs or (None,) * len(self.groups)
        for group, turn, was, place, way, speed, arc in zip(self.groups, self.turns, memory, places, ways, speeds, arcs, strict=True):
            force, now = group.evaluate(was, place, way, speed, load.keeps, arc)
            forces += turned(force, turn, -1.0)
            after.append(now)
        pull = load.force
        if forces:
            pull = pull + spread(jnp.concatenate(forces), self.shapes)
        a = pull * self.by_mass - self.stiffness * x
        return (a if self.coupling is None else a - times(self.coupling, v, load.stored)), tuple(after)

    def acceleration(
        self, load: Acting, memory: Touches, x: Array, moved: Array, v: Array, rest: Array | None = None
    ) -> tuple[Array, Touches]:
        """Acceleration of the coordinates (N,), and the memory of the supports after this evaluation. The arguments are those of `push`."""
        a, after = self.push(load, memory, x, moved, v, rest)
        return a - self.drag * v, after


def turned(vector: Vector, turn: tuple[Array, Array] | None, way: float) -> Vector:
    """Components along axes that are turned about the third; `way` is -1.0 for the components along the unturned axes."""
    if turn is None or len(vector) < 2:
        return vector
    sine, cosine = way * turn[0], turn[1]
    first, second, *third = vector
    return cosine * first + sine * second, cosine * second - sine * first, *third


def by_axes(shapes: Array, groups: list[ImpactSliding]) -> Array:
    """Rows (R, N), in each group support by support, put in the order of axes: the first axis of all its supports, then the second."""
    parts, first = [], 0
    for group in groups:
        count, axes = group.gap.shape[0], group.kind.axes
        rows = shapes[first : first + count * axes]
        parts += [rows[axis::axes] for axis in range(axes)]
        first += count * axes
    return jnp.concatenate(parts) if parts else shapes


class Loads(NamedTuple):
    """All loads of a structure: sines, constants and channels of a record.

    Attributes:
        vectors: forces on the coordinates for loads of 1, (L, N). amplitude, omega, phase, constant: of each load, (L,).
        channels: the place in `vectors` of each load that follows a record, and its channel (compile-time).
        record: number of the record, NaN for none. bank: (R, C, samples + 2) records of C channels. interval: of the records [s].
        scale: factor of the record. gain: factor of all loads.
        shaped: for each load its table, if there is one in any row, and its pulse; () without any.
    """

    vectors: Array
    amplitude: Array
    omega: Array
    phase: Array
    constant: Array
    gain: Array
    channels: tuple[tuple[int, int], ...] = ()
    record: Array | None = None
    bank: Array | None = None
    interval: Array | None = None
    scale: Array | None = None
    shaped: tuple[tuple[TabledForce, ...], ...] = ()

    @property
    def largest(self) -> Array:
        """Bound of the force on each coordinate [N], (N,)."""
        sizes = jnp.abs(self.amplitude) + jnp.abs(self.constant)
        if self.bank is not None and self.scale is not None:
            peaks = jnp.max(jnp.abs(self.bank), axis=(0, 2))
            places, channels = jnp.asarray(self.channels).T
            sizes = sizes.at[places].add(jnp.abs(self.scale) * peaks[channels])
        if self.shaped:
            sizes = sizes + jnp.stack([sum((each.largest for each in load), start=0.0 * sizes[0]) for load in self.shaped])
        return jnp.abs(self.gain) * (sizes @ jnp.abs(self.vectors))

    def next_after(self, time: Array) -> Array:
        """The first instant of a table or a pulse after a time [s]; inf if there is none."""
        instants = [each.next_after(time) for load in self.shaped for each in load]
        return functools.reduce(jnp.minimum, instants, jnp.full_like(time, jnp.inf))

    def at(self, time: Array, before: bool = False) -> Acting:
        """What acts at a time [s] (float64); where a load jumps, after the jump, or `before` it."""
        return self.acting(Rotation.at(self, time).sine, time, before)

    def acting(self, sines: Array, time: Array, before: bool = False) -> Acting:
        """What acts at a time [s] (float64), where the sines of all loads are known, (L,). `before`: see `at`."""
        sizes = self.constant + self.amplitude * sines
        if self.shaped:
            now = [sum((each.at(time, before) for each in load), start=size) for load, size in zip(self.shaped, sizes, strict=True)]
            sizes = jnp.stack(jnp.broadcast_arrays(*now))
        if self.bank is not None and self.interval is not None and self.record is not None and self.scale is not None:
            place = time / self.interval
            last = self.bank.shape[-1] - 2
            sample = jnp.clip(jnp.floor(place), 0, last)
            part = jnp.clip(place - sample, 0.0, 1.0).astype(sizes.dtype)
            index, number = sample.astype(int), jnp.nan_to_num(self.record).astype(int)
            scale = jnp.where(jnp.isnan(self.record), 0.0, self.scale)
            found = list(sizes)
            for load, channel in self.channels:
                low, high = (self.bank[number, channel, index + after] for after in (0, 1))
                found[load] = found[load] + scale * ((1.0 - part) * low + part * high)
            sizes = jnp.stack(jnp.broadcast_arrays(*found))
        sizes = self.gain * sizes
        return Acting(spread(sizes, self.vectors), sizes)


def build(key: StructureKey, p: dict[str, Any]) -> tuple[Structure, Loads]:
    """The structure and its loads, from resolved parameters (scalars) and the arrays of its row (see `of_row`)."""
    one = jnp.ones((), p["shapes"].dtype)
    ones = jnp.ones(key.coordinates, one.dtype)
    coupling = None
    if key.body:
        by_mass, stiffness, drag = ones / p["m"], ones * (p["k"] / p["m"]), ones * (p["c"] / p["m"])
        vectors = p["vectors"]
        if key.based:
            vectors = vectors * jnp.stack([p["m"] if place in key.based else one for place in range(len(key.loads))])[:, None]
    else:
        factor = p["frequency_factor"]
        by_mass, stiffness = 1.0 / p["modal_mass"], jnp.square(factor * p["modal_omega"])
        drag, vectors = p["damping_factor"] * factor * p["modal_drag"], p["vectors"]
        coupling = p["damping_factor"] * factor * p["coupling"] if key.coupled else None

    def of(name: str, names: list[str]) -> Array:
        return jnp.stack([p[named(name, each)] for each in names])

    groups, turns = [], []
    for kinds in key.groups:
        names, kind = [kind.name for kind in kinds], kinds[0]
        plain = {name: of(name, names) for name in ("gap", "k_n", "c_n")}
        centres = [of(name, names) for name in ("centre_1", "centre_2")[: kind.axes]]
        centre = (*centres, *[jnp.zeros_like(centres[0])] * (kind.axes - len(centres)))
        if kind.axes > 1:
            plain |= {name: of(name, names) for name in ("mu_s", "mu_d", "k_t", "c_t")}
            plain["mu_s"] = holds_to(plain["mu_s"])
        else:
            plain |= dict.fromkeys(("mu_s", "mu_d", "k_t", "c_t"), 0.0 * plain["gap"])
        groups.append(ImpactSliding(kind, **plain, centre=centre))
        angle = of("angle", names) if key.turned and kind.axes > 1 else None
        turns.append(None if angle is None else (jnp.sin(angle), jnp.cos(angle)))
    body = Structure(by_mass, stiffness, drag, coupling, by_axes(p["shapes"], groups), tuple(turns), tuple(groups), one)
    return body, loads_of(key, p, vectors, one)


def of_row(key: StructureKey, p: dict[str, Any]) -> dict[str, Array]:
    """The arrays of `models.structures.Structure.arguments` that depend on the row: its basis, its own modes, places of supports."""
    found = {}
    if key.bases > 1:
        number = p["basis"].astype(int)
        names = ("shapes", "vectors", "points", "coupling", "modal_mass", "modal_omega", "modal_drag", "start", "start_rate")
        moving = [named(name, each) for each in key.moved for name in ("curve", "places")]
        found = {name: jnp.take(p[name], number, axis=0) for name in (*names, *moving) if name in p}
    if key.own_modes:
        omega, drag = p["modal_omega"], p["modal_drag"]
        modes = jnp.asarray(key.own_modes)
        own = 2.0 * jnp.pi * jnp.stack([p[named("frequency", str(mode))] for mode in key.own_modes])
        ratio = jnp.stack([p[named("damping", str(mode))] for mode in key.own_modes])
        found |= {"modal_omega": omega.at[modes].set(own), "modal_drag": drag.at[modes].set(2.0 * ratio * own)}
    if key.moved:
        whole = found.get("shapes", p["shapes"])
        parts, first = [], 0
        for kind in (kind for kinds in key.groups for kind in kinds):
            rows = whole[first : first + kind.axes]
            first += kind.axes
            parts.append(_at_place({**p, **found}, kind.name) if kind.name in key.moved else rows)
        found["shapes"] = jnp.concatenate(parts)
    return found


def _at_place(p: dict[str, Any], name: str) -> Array:
    """(A, N) displacements along the axes of a support at its `position`; see `models.basis.Basis.curve`."""
    place, places, curve = p[named("position", name)], p[named("places", name)], p[named("curve", name)]
    piece = jnp.clip(jnp.sum(places <= place) - 1, 0, places.shape[0] - 2)
    along, shape = place - jnp.take(places, piece), jnp.take(curve, piece, axis=0)
    found: Array = ((shape[0] * along + shape[1]) * along + shape[2]) * along + shape[3]
    return found


def loads_of(key: StructureKey, p: dict[str, Any], vectors: Array, one: Array) -> Loads:
    """The loads of resolved parameters."""
    if not key.loads:
        none = jnp.zeros(0, one.dtype)
        return Loads(vectors, none, none, none, none, one)
    amplitude, omega, phase, constant = (
        jnp.stack([p[named(name, load)] for load in key.loads]) for name in ("amplitude", "omega", "phase", "constant")
    )
    plain = Loads(vectors, amplitude, omega, phase, constant, p["load_factor"])
    if key.shaped:
        plain = plain._replace(shaped=tuple(_shapes_of(load, p) for load in key.loads))
    if not key.recorded:
        return plain
    return plain._replace(channels=key.channels, record=p["record"], bank=p["bank"], interval=p["interval"], scale=p["record_scale"])


def _shapes_of(load: str, p: dict[str, Any]) -> tuple[TabledForce, ...]:
    """The table of a load, if there is one, and its pulse."""
    times, values, scale, shape, start, duration, height = (
        p[named(name, load)]
        for name in ("table_time", "table_value", "table_scale", "pulse", "pulse_start", "pulse_duration", "pulse_amplitude")
    )
    table = (TabledForce.of(times, values, scale),) if times.shape[0] else ()
    return (*table, TabledForce.pulse(shape, height, start, duration))
