"""What a run of a structure consists of: what stays, its progress, its state, and its sums."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax.numpy as jnp

from tribosweep.kernels.contact.impact_sliding import Touch
from tribosweep.kernels.models.basis import AXES
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.models.supports import named
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.stepping import progress
from tribosweep.kernels.stepping.observe_contacts import ContactSums
from tribosweep.kernels.stepping.progress import Clock
from tribosweep.kernels.stepping.scheme import Limits, StepState
from tribosweep.kernels.stepping.structure import Loads, Structure


class StructureSetup(NamedTuple):
    """What does not change during a run.

    Attributes:
        key: of the program. p: resolved parameters. body, loads: the structure and what acts on it.
        mass: of the coordinates [kg], (N,). resistance: `Structure.drag` times mass [N s/m], (N,).
        finite: whether all parameters are finite numbers. h: length of the fixed steps, or of the first step [s].
        pace: number of fixed steps (a whole float), or the limits of chosen ones.
    """

    key: StructureKey
    p: dict[str, Array]
    body: Structure
    loads: Loads
    mass: Array
    resistance: Array
    finite: Array
    h: Array
    pace: Array | Limits


class Work(NamedTuple):
    """Work [J] of loads, own damping and supports since the start of the run."""

    loads: Array
    damping: Array
    supports: Array


class PointSums(NamedTuple):
    """Sums of points and coordinates over the window.

    Attributes:
        square, largest: integral of the square of each point's displacement [m^2 s], and its largest size [m], (P,).
        energy: integral of the energy of each coordinate [J s], (N,); None if it is not asked for.
    """

    square: Array
    largest: Array
    energy: Array | None = None


class StructureSums(NamedTuple):
    """Sums of a run: of each group of supports, of points, and of work. totals: float64 sums of a run in float32, else None."""

    contacts: tuple[ContactSums, ...]
    points: PointSums
    work: Work
    totals: Any = None


class Seen(NamedTuple):
    """What the sums need of an instant.

    Attributes:
        sizes: of the loads, (L,). along: displacements along the loads [m], (L,). points: displacements of points [m], (P,).
        braking: power of the structure's own damping [W].
    """

    sizes: Array
    along: Array
    points: Array
    braking: Array


class StructureRun(NamedTuple):
    """A structure after a step: its progress, its state, what was seen at that instant and the sums."""

    clock: Clock
    state: StepState
    seen: Seen
    sums: StructureSums

    def time(self, setup: StructureSetup) -> Array:
        """The time that it has reached [s]."""
        return progress.time(self.clock, None if isinstance(setup.pace, Limits) else setup.p["end"] / setup.pace)


def initial(setup: StructureSetup) -> tuple[Array, Array]:
    """Coordinates and velocities at t = 0."""
    p, key = setup.p, setup.key
    none = jnp.zeros(key.coordinates, setup.body.one.dtype) + 0.0 * setup.h
    if key.body:
        axes = [axis for axis in AXES if named("x0", axis) in p]
        x, v = (jnp.stack([p[named(name, axis)] for axis in axes]) for name in ("x0", "v0"))
        return none + x, none + v
    return none + p["start_factor"] * p["start"], none + p["start_rate_factor"] * p["start_rate"]


def active(setup: StructureSetup, run: StructureRun) -> Array:
    """Whether the run goes on: it has neither reached its end nor failed."""
    return progress.goes_on(run.clock, None if isinstance(setup.pace, Limits) else setup.pace, setup.p["end"])


def touches_of(state: StepState) -> tuple[Touch, ...]:
    """The states of all supports."""
    return cast("tuple[Touch, ...]", state.memory)
