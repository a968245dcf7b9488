"""Excitation beyond one sine: a sum of sines whose first may sweep, and a record of base acceleration, piecewise linear.

    (f0 - m a0) sin(omega t + sweep_rate t^2 / 2 + phase) + load - m [sum of tone_a0 sin(tone_omega t + tone_phase) + record_scale a(t)]
    + table_scale F(t) + (pulse_f0 - m pulse_a0) s(t),  s the shape of a pulse

The parameters of a program select the parts of its excitation at compile time (`models.features.FEATURES`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp

from tribosweep.kernels.excitation.harmonic import Harmonic, Turn, wrap
from tribosweep.kernels.excitation.table import PiecewiseForce, TabledForce
from tribosweep.kernels.models.features import DRIVEN, FEATURES
from tribosweep.kernels.models.loads import HALF_SINE
from tribosweep.kernels.numerics.elementary import chord, sincos
from tribosweep.kernels.numerics.numbers import Array


class SampledForce(NamedTuple):
    """The force of a record: linear from sample to sample, 0 from one interval after its last sample on.

    Attributes:
        bank: accelerations of all records, each followed by two zeros (R, L + 2) [m/s^2]. row: number of the record, a whole float.
        interval: time between samples [s]. factor: force over acceleration [N s^2/m].
    """

    bank: Array
    row: Array
    interval: Array
    factor: Array

    @property
    def last(self) -> int:
        """Number of the first zero behind the samples; from there on the force is 0."""
        return self.bank.shape[1] - 2

    def sample(self, number: Array) -> Array:
        """Force at a sample [N], `number` a whole number of any type from 0 to last + 1."""
        place = self.row.astype(int) * self.bank.shape[1] + number.astype(int)
        return self.factor * self.bank.reshape(-1).at[place].get(mode="promise_in_bounds")

    def time(self, number: Array) -> Array:
        """Time of a sample [s]; inf after number `last`."""
        return jnp.where(number <= self.last, number * self.interval, jnp.inf)

    def slope(self, number: Array) -> Array:
        """Rate of the force between sample `number` and the next [N/s]."""
        return (self.sample(number + 1.0) - self.sample(number)) / self.interval

    def begin(self) -> Array:
        """See `table.PiecewiseForce`; the piece of a number is that after the sample of this number."""
        return jnp.zeros_like(self.factor)

    def until(self, piece: Array) -> Array:
        """See `table.PiecewiseForce`."""
        return self.time(piece + 1.0)

    def after(self, piece: Array) -> Array:
        """See `table.PiecewiseForce`."""
        return piece + 1.0

    def force(self, piece: Array, time: Array) -> Array:
        """See `table.PiecewiseForce`."""
        return self.sample(piece) + self.slope(piece) * (time - self.time(piece))

    def at_end(self, piece: Array) -> Array:
        """See `table.PiecewiseForce`."""
        return self.sample(piece + 1.0)

    def jump(self, piece: Array) -> None:  # noqa: ARG002 (a record never jumps)
        """See `table.PiecewiseForce`."""
        return

    def at(self, time: Array) -> Array:
        """Force [N] at a time [s], which is float64 whatever the type of the others. Before t = 0 it is extrapolated linearly."""
        place = jnp.minimum(time / self.interval, float(self.last))
        number = jnp.maximum(jnp.floor(place), 0.0)
        part = (place - number).astype(self.factor.dtype)
        here = self.sample(number)
        return here + part * (self.sample(number + 1.0) - here)


class Driven(NamedTuple):
    """External force on one oscillator.

    Attributes:
        amplitude, omega, phase: of the sines (n,) [N], [rad/s], [rad]. The harmonic excitation, if there is one, is the first.
        load: constant force [N].
        sweep: rate of change of the first frequency [rad/s^2]; None if it is constant. record: force of a record; None without one.
        tables: forces of a table and of a pulse, as far as there are any.
        arches: whether the last of the sines but that of `swing` is that of a pulse, which acts only while it lasts (compile-time).
        swing: amplitude of a normal force [N] that varies with the last of the sines, which then has no amplitude of its own; else None.
    """

    amplitude: Array
    omega: Array
    phase: Array
    load: Array
    sweep: Array | None
    record: SampledForce | None
    tables: tuple[TabledForce, ...] = ()
    arches: bool = False
    swing: Array | None = None

    @classmethod
    def of(cls, p: dict[str, Any], by_events: bool = False) -> Driven:
        """The excitation of resolved parameters (scalars; tones (n,) padded with NaN; the bank).

        `by_events`: the half sine of a pulse is the last of the sines, for an event loop that knows the piece (`amplitudes`).
        """
        sines = []
        if "a0" in p:
            sines.append(tuple(jnp.asarray(value)[None] for value in (p["f0"] - p["m"] * p["a0"], p["omega"], p["phase"])))
        if "tone_a0" in p:
            a0, omega, phase = (p[name] for name in FEATURES["tones"])
            there = ~jnp.isnan(a0)
            sines.append((-p["m"] * jnp.where(there, a0, 0.0), jnp.where(there, omega, 1.0), jnp.where(there, phase, 0.0)))
        tables, arches = [], by_events and "pulse" in p
        if "table_time" in p:
            tables.append(TabledForce.of(p["table_time"], p["table_force"], p["table_scale"]))
        if "pulse" in p:
            height = p["pulse_f0"] - p["m"] * p["pulse_a0"]
            tables.append(TabledForce.pulse(p["pulse"], height, p["pulse_start"], p["pulse_duration"]))
            if arches:
                half = p["pulse"] == HALF_SINE
                omega = jnp.pi / jnp.where(half, p["pulse_duration"], 1.0)
                sines.append((jnp.where(half, height, 0.0)[None], omega[None], (-omega * p["pulse_start"])[None]))
        nothing = [jnp.zeros((0,), jnp.result_type(p["m"]))]
        amplitude, omega, phase = (jnp.concatenate([each[i] for each in sines] or nothing) for i in range(3))
        record = None
        if "record" in p:
            none, most = jnp.isnan(p["record"]), p["bank"].shape[0] - 1.0
            row = jnp.clip(jnp.where(none, 0.0, p["record"]), 0.0, most)  # nothing outside the bank is ever read
            record = SampledForce(p["bank"], row, p["interval"], jnp.where(none, 0.0, -p["m"] * p["record_scale"]))
        return cls(amplitude, omega, phase, p["load"], p.get("sweep_rate"), record, tuple(tables), arches)

    @property
    def pieces(self) -> tuple[PiecewiseForce, ...]:
        """The forces that are linear between instants."""
        return (*([] if self.record is None else [self.record]), *self.tables)

    def amplitudes(self, pieces: tuple[Array, ...]) -> Array:
        """The amplitudes of the sines [N] in these pieces of `pieces`."""
        return self._gated(self.tables[-1].gate(pieces[-1])) if self.arches else self.amplitude

    def _gated(self, gate: Array | float) -> Array:
        """The amplitudes of the sines [N], that of a pulse times `gate`."""
        return self.amplitude.at[-1 if self.swing is None else -2].multiply(gate) if self.arches else self.amplitude

    def moving(self, sine: Array, pieces: tuple[Array, ...]) -> Array:
        """`force` in these pieces of `pieces`."""
        return jnp.sum(self.amplitudes(pieces) * sine) + self.load

    @property
    def largest(self) -> Array:
        """A bound of the force [N]."""
        most = jnp.sum(jnp.abs(self._gated(0.0))) + jnp.abs(self.load)
        if self.record is not None:
            most = most + jnp.abs(self.record.factor) * jnp.max(jnp.abs(self.record.bank))
        return sum((table.largest for table in self.tables), start=most)

    def turn(self, time: Array) -> Turn:
        """The rotation of the sines in a time [s], where all frequencies are constant."""
        return Turn(*chord(self.omega * time))

    def force(self, sine: Array) -> Array:
        """Force [N] without those of record, table and pulse, where the sines (n,) are `sine`."""
        return jnp.sum(self._gated(0.0) * sine) + self.load

    def at(self, time: Array, before: bool = False) -> Array:
        """Force [N] at a time [s], which may be of a wider type than the other numbers; where it jumps, that after or `before` the jump."""
        angle = self.omega.astype(time.dtype) * time + self.phase.astype(time.dtype)
        if self.sweep is not None:
            angle = jnp.concatenate([angle[:1] + (0.5 * self.sweep).astype(time.dtype) * time * time, angle[1:]])
        return self.with_pieces(self.force(sincos(wrap(angle).astype(self.amplitude.dtype))[0]), time, before)

    def with_pieces(self, force: Array, time: Array, before: bool = False) -> Array:
        """A force [N], plus those of record, table and pulse at a time [s]. `before`: see `at`."""
        if self.record is not None:
            force = force + self.record.at(time)
        return sum((table.at(time, before) for table in self.tables), start=force)

    def next_after(self, time: Array) -> Array:
        """The first instant of a table or pulse after a time [s]; inf if there is none."""
        return functools.reduce(jnp.minimum, [table.next_after(time) for table in self.tables], jnp.inf * jnp.ones_like(time))


Excitation = Harmonic | Driven


def beside(excitation: Excitation, normal: Harmonic) -> Driven:
    """An excitation whose last sine is that of a normal force that varies."""
    amplitude, omega, phase = (
        jnp.concatenate([jnp.atleast_1d(own), jnp.atleast_1d(last)])
        for own, last in zip(excitation[:3], (jnp.zeros_like(normal.amplitude), normal.omega, normal.phase), strict=True)
    )
    whole = excitation if isinstance(excitation, Driven) else Driven(amplitude, omega, phase, excitation.load, None, None)
    return whole._replace(amplitude=amplitude, omega=omega, phase=phase, swing=normal.amplitude)


def excitation_of(p: dict[str, Any], by_events: bool = False) -> Excitation:
    """The excitation of resolved parameters (scalars): `Driven` if one of its own parameters is given, else `Harmonic`. See `Driven.of`."""
    return Driven.of(p, by_events) if any(name in p for feature in DRIVEN for name in FEATURES[feature]) else Harmonic.of(p)
