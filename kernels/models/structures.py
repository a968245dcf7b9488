"""Structures with supports: a body or a modal basis, its supports and its loads, as a `Model`. Nothing here imports JAX."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tribosweep.kernels.models.basis import AXES, Basis, alike
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.outputs import OBSERVED
from tribosweep.kernels.models.structure_model import model_of
from tribosweep.kernels.models.supports import RING, ContactKind, Support, named

BASE, FORCE, MODE = "base", "force", "mode"
MOST_SUPPORTS = MOST_LOADS = 64
CENTRE = "centre"  # the point of a body


class StructureKey(NamedTuple):
    """What a program knows of a structure.

    Attributes:
        body: whether it is a single body, whose mass, stiffness and damping are parameters. coordinates: their number.
        coupled: whether damping couples the coordinates. turned: whether supports may be turned by `angle`.
        bases: number of bases, one of which the parameter `basis` of a row numbers.
        moved: names of the supports that may stand at another `position` than their point's.
        own_modes: coordinates whose frequency and damping are parameters.
        contacts: the supports, those of one kind side by side. points: observed points, each with an axis.
        loads: their names. based: the places in `loads` of base accelerations. channels: the place of each load that follows
            a record, and its channel.
        recorded: whether rows follow records. shaped: whether loads have tables or pulses.
        peak_edges: bounds of the classes of impact peaks [N]; () for none. modal_energies: whether energies of modes are observed.
    """

    body: bool
    coordinates: int
    coupled: bool
    turned: bool
    contacts: tuple[ContactKind, ...]
    points: tuple[tuple[str, str], ...]
    loads: tuple[str, ...]
    based: tuple[int, ...]
    channels: tuple[tuple[int, int], ...]
    recorded: bool
    peak_edges: tuple[float, ...] = ()
    modal_energies: bool = False
    bases: int = 1
    moved: tuple[str, ...] = ()
    own_modes: tuple[int, ...] = ()
    shaped: bool = False

    @property
    def groups(self) -> list[list[ContactKind]]:
        """The supports of each kind."""
        return [list(group) for _, group in itertools.groupby(self.contacts, lambda kind: kind[1:])]


@dataclass(frozen=True, slots=True)
class Load:
    """A load: amplitude sin(omega t + phase) + constant, plus a table and a pulse, and a channel of the record that `record` numbers.

    Attributes:
        name: of the load, in names of parameters.
        kind: BASE: an acceleration of the ground [m/s^2], relative to which the structure and its supports move; FORCE: a force at a point
            [N]; MODE: a generalised force on one coordinate [N].
        direction: of a base acceleration or force, made a unit vector.
        point: name of the point of a force. mode: number of the coordinate, counted from 0.
        channel: of the record, counted from 0; None for no record. Loads may share one.

    Raises:
        ValueError: an unknown kind, a direction without length, or a part that is missing.
    """

    name: str
    kind: str = BASE
    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)
    point: str | None = None
    mode: int | None = None
    channel: int | None = None

    def __post_init__(self) -> None:
        """Check the load, and make its direction a unit vector."""
        if self.kind not in (BASE, FORCE, MODE):
            raise ValueError(f"load {self.name}: it must be of the kind {BASE}, {FORCE} or {MODE}, not {self.kind!r}")
        direction = np.asarray(self.direction, float)
        with np.errstate(over="ignore"):
            length = float(np.linalg.norm(direction))
        if direction.shape != (len(AXES),) or not (math.isfinite(length) and length > 0.0):
            raise ValueError(f"load {self.name}: the direction must be three finite numbers, not all 0")
        object.__setattr__(self, "direction", tuple(float(part) for part in direction / length))
        if (self.kind == FORCE) != (self.point is not None):
            raise ValueError(f"load {self.name}: a force needs a point, and nothing else has one")
        if (self.kind == MODE) != (self.mode is not None):
            raise ValueError(f"load {self.name}: a modal force needs a mode, and nothing else has one")
        if self.channel is not None and self.channel < 0:
            raise ValueError(f"load {self.name}: channels are counted from 0, and {self.channel} is none")

    @property
    def unit(self) -> str:
        """The unit of its amplitude."""
        return "m/s^2" if self.kind == BASE else "N"


def body_basis(directions: str = "xyz") -> Basis:
    """The basis of a body that moves along some of x, y and z, of mass 1 kg, without spring and damper."""
    axes = sorted(AXES.index(axis) for axis in directions if axis in AXES)
    if not axes or len({*axes}) < len(directions):
        raise ValueError(f"a body moves along some of x, y and z, not {directions!r}")
    shapes = np.eye(3)[:, axes]
    zero, one = np.zeros(len(axes)), np.ones(len(axes))
    return Basis(zero, one, zero, {CENTRE: shapes}, shapes)


@dataclass(frozen=True, eq=False)
class Structure:
    """A body or a modal basis with supports and loads.

    Attributes:
        basis: how it moves (`body_basis` of a body). supports, loads: in any order, with names of their own.
        observed: names of points whose displacements are observed; of a body its centre.
        body: whether it is a body, whose mass m, stiffness k and damping c (in every direction) are parameters.
        peak_edges: bounds of classes of the largest force of an impact [N], ascending; `peak_counts` of each support has the number of
            impacts in each class. () for none.
        modal_energies: whether `modal_energy`, the mean energy of each coordinate, is observed; of at most 64 coordinates.
        own_modes: numbers of coordinates whose frequency [Hz] and damping ratio are parameters: `frequency[3]`, `damping[3]`.
        lists: whether observables of supports are lists, one entry for each support in the order of `supports`, in place of numbers with
            the names of supports.
        bases: several bases by name, of which the parameter `basis` of a row is one; the first is `basis`. Those of fewer coordinates get
            coordinates that nothing moves. They have the same points.
        order: names of the supports as they were given; `supports` has those of one kind side by side.
        start, start_rate: initial coordinates [m] and velocities [m/s], of a basis from matrices those of the matrices, else modal ones;
            parameters scale them. Zero if None. A body has parameters for its start instead.

    Raises:
        ValueError: unknown points, modes that do not exist, names given twice, shapes that do not fit.
    """

    basis: Basis
    supports: Sequence[Support] = ()
    loads: Sequence[Load] = ()
    observed: Sequence[str] = ()
    body: bool = False
    start: np.ndarray | None = None
    start_rate: np.ndarray | None = None
    peak_edges: tuple[float, ...] = ()
    modal_energies: bool = False
    own_modes: Sequence[int] = ()
    lists: bool = False
    bases: Mapping[str, Basis] = field(default_factory=dict)
    order: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Check the names, and bring supports of one kind together."""
        object.__setattr__(self, "bases", alike(self.bases or {"": self.basis}))
        object.__setattr__(self, "basis", next(iter(self.bases.values())))
        self._check_own_modes()
        for what, things, most in (("supports", self.supports, MOST_SUPPORTS), ("loads", self.loads, MOST_LOADS)):
            if len(things) > most:
                raise ValueError(f"a structure has at most {most} {what}, not {len(things)}")
        for things in (self.supports, self.loads):
            names = [thing.name for thing in things]
            if len({*names}) < len(names):
                raise ValueError(f"two have the name {next(name for name in names if names.count(name) > 1)!r}")
        kinds = {support.name: self.kind_of(support) for support in self.supports}
        object.__setattr__(self, "order", tuple(kinds))
        object.__setattr__(self, "supports", tuple(sorted(self.supports, key=lambda support: kinds[support.name][1:])))
        for load in self.loads:
            self.vector(load)
        if self.body and not self.observed:
            object.__setattr__(self, "observed", (CENTRE,))
        for point in self.observed:
            self.basis.at(point)
        edges = np.asarray(self.peak_edges, float)
        if edges.size and not (2 <= edges.size <= OBSERVED + 1 and np.isfinite(edges).all() and (np.diff(edges) > 0.0).all()):
            raise ValueError(f"peak_edges must be 2 to {OBSERVED + 1} finite forces [N], ascending")
        object.__setattr__(self, "peak_edges", tuple(map(float, edges)))
        if self.modal_energies and self.basis.count > OBSERVED:
            raise ValueError(f"energies of at most {OBSERVED} coordinates are observed, and there are {self.basis.count}")
        for name in ("start", "start_rate"):
            given = getattr(self, name)
            value = np.zeros(self.start_size) if given is None else np.asarray(given, float)
            if given is not None and len({self._start_form(basis) for basis in self.bases.values()}) > 1:
                raise ValueError(f"{name}: the bases have different coordinates in which it is given (of matrices, or modal ones)")
            if value.shape != (self.start_size,) or not np.isfinite(value).all():
                of = "coordinate" if self.basis.projection is None else "coordinate of the matrices"
                raise ValueError(f"{name} must have {self.start_size} finite numbers, one for each {of}")
            object.__setattr__(self, name, value)

    @staticmethod
    def _start_form(basis: Basis) -> tuple[bool, int]:
        """Whether a start in a basis is one of matrices, and how many numbers it has."""
        return (False, basis.count) if basis.projection is None else (True, int(basis.projection.shape[1]))

    @property
    def start_size(self) -> int:
        """How many numbers `start` has."""
        return self._start_form(self.basis)[1]

    def started(self, basis: Basis, given: np.ndarray) -> np.ndarray:
        """(N,) modal coordinates in a basis for a `start` or `start_rate`."""
        if not given.any():
            return np.zeros(basis.count)
        if basis.projection is not None:
            return np.asarray(basis.projection @ given)
        return np.asarray(given * basis.moving if len(self.bases) > 1 else given)

    def _check_own_modes(self) -> None:
        """Check `own_modes`."""
        count = self.basis.count
        for number in self.own_modes:
            if not 0 <= number < count:
                raise ValueError(f"there is no mode {number}; modes are counted from 0 to {count - 1}")
        if self.own_modes and (self.body or len(self.bases) > 1 or self.basis.damping.ndim > 1):
            why = (
                "a body has none" if self.body else "of several bases, or with a full damping matrix, modes have no parameters of their own"
            )
            raise ValueError(f"frequency and damping of single modes: {why}")
        object.__setattr__(self, "own_modes", tuple(sorted({*map(int, self.own_modes)})))

    def shapes_of(self, support: Support, basis: Basis | None = None, point: str | None = None) -> np.ndarray:
        """(3, N) displacements along the axes of a support, in a basis (by default the first), at its own or another point."""
        basis = self.basis if basis is None else basis
        shape = basis.at(support.point if point is None else point)
        if support.other is not None:
            shape = shape - basis.at(support.other)
        found: np.ndarray = np.asarray(support.axes) @ shape
        return found

    def curve_of(self, support: Support, basis: Basis) -> np.ndarray:
        """(P - 1, 4, A, N) `Basis.curve` along the axes of a support that its contact has, less the displacement of its second point."""
        axes = self.kind_of(support).axes
        found: np.ndarray = (np.asarray(support.axes) @ basis.curve)[:, :, :axes]
        if support.other is not None:
            found[:, -1] -= (np.asarray(support.axes) @ basis.at(support.other))[:axes]
        return found

    def stands_along(self, support: Support) -> bool:
        """Whether a support has a parameter `position`: its point has one, and other points too."""
        return support.point in self.basis.position and len(self.basis.places) > 1

    def support(self, name: str) -> Support:
        """The support of a name."""
        return next(support for support in self.supports if support.name == name)

    def place_of(self, name: str) -> float:
        """The position of the point of a support [m]."""
        return float(self.basis.position[self.support(name).point])

    def kind_of(self, support: Support) -> ContactKind:
        """What a program knows of a support. A ring has two axes: its centre may be beside the way of the point."""
        points = [support.point, *(self.basis.position if self.stands_along(support) else ())]
        shapes = [self.shapes_of(support, basis, point) for basis in self.bases.values() for point in points]
        moves = np.flatnonzero(np.any([shape != 0.0 for shape in shapes], axis=(0, 2)))
        axes = max(2 if support.obstacle == RING else 1, 1 + int(moves[-1]) if moves.size else 1)
        return ContactKind(support.name, support.obstacle, support.law, axes)

    def vector(self, load: Load, basis: Basis | None = None) -> np.ndarray:
        """(N,) force on each coordinate for a load of 1; of a body with a base acceleration, for a mass of 1 kg."""
        basis = self.basis if basis is None else basis
        if load.kind == BASE:
            return np.asarray(-basis.mass * (np.asarray(load.direction) @ basis.participation))
        if load.point is not None:
            return np.asarray(np.asarray(load.direction) @ basis.at(load.point))
        if load.mode is None or not 0 <= load.mode < self.basis.count:
            raise ValueError(f"load {load.name}: there is no mode {load.mode}; modes are counted from 0 to {self.basis.count - 1}")
        return np.asarray(np.eye(self.basis.count)[load.mode] * (basis.moving if len(self.bases) > 1 else 1.0))

    @functools.cached_property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The observed points, each with every axis along which it moves."""
        return tuple(
            (point, axis)
            for point in self.observed
            for row, axis in enumerate(AXES)
            if any(basis.at(point)[row].any() for basis in self.bases.values())
        )

    def key(self, turned: bool, recorded: bool, moved: Sequence[str] = (), shaped: bool = False) -> StructureKey:
        """The key of programs; `turned`: whether `angle` is given, `recorded`: whether `record` is, `moved`: supports with a `position`.

        `shaped`: whether a load has a table or a pulse.
        """
        channels = tuple((place, load.channel) for place, load in enumerate(self.loads) if load.channel is not None)
        return StructureKey(
            body=self.body,
            coordinates=self.basis.count,
            coupled=self.coupled,
            turned=turned,
            contacts=tuple(self.kind_of(support) for support in self.supports),
            points=self.rows,
            loads=tuple(load.name for load in self.loads),
            based=tuple(place for place, load in enumerate(self.loads) if load.kind == BASE),
            channels=channels if recorded else (),
            recorded=recorded,
            peak_edges=self.peak_edges,
            modal_energies=self.modal_energies,
            bases=len(self.bases),
            moved=tuple(moved),
            own_modes=tuple(self.own_modes),
            shaped=shaped,
        )

    @property
    def coupled(self) -> bool:
        """Whether damping couples the coordinates of some basis."""
        return any(basis.damping.ndim > 1 for basis in self.bases.values())

    @functools.cached_property
    def arguments(self) -> dict[str, np.ndarray]:
        """Arguments that all rows share: name -> float64 array."""
        found = [self._arguments_in(basis) for basis in self.bases.values()]
        return found[0] if len(found) == 1 else {name: np.stack([each[name] for each in found]) for name in found[0]}

    def _arguments_in(self, basis: Basis) -> dict[str, np.ndarray]:
        """`arguments` in one basis."""
        count = basis.count
        none = np.zeros((0, count))
        rows = [self.shapes_of(support, basis)[: self.kind_of(support).axes] for support in self.supports]
        found = {
            "shapes": np.concatenate(rows) if rows else none,
            "vectors": np.stack([self.vector(load, basis) for load in self.loads]) if self.loads else none,
            "points": np.stack([basis.at(point)[AXES.index(axis)] for point, axis in self.rows]) if self.rows else none,
        }
        for support in self.supports:
            if self.stands_along(support):
                found[named("curve", support.name)] = self.curve_of(support, basis)
                found[named("places", support.name)] = basis.places
        if self.body:
            return found
        damping = basis.damping
        full = damping.ndim > 1
        found |= {
            "modal_mass": basis.mass,
            "modal_omega": basis.omega,
            "modal_drag": np.diag(damping) / basis.mass if full else 2.0 * damping * basis.omega,
            "start": self.started(basis, np.asarray(self.start)),
            "start_rate": self.started(basis, np.asarray(self.start_rate)),
        }
        if self.coupled:
            found["coupling"] = (damping - np.diag(np.diag(damping))) / basis.mass[:, None] if full else np.zeros((count, count))
        return found

    @functools.cached_property
    def scalars(self) -> Structure:
        """The same structure, whose observables of supports are numbers."""
        return replace(self, lists=False)

    @functools.cached_property
    def model(self) -> Model:
        """The model of its oscillators, which `tribosweep.simulate` and `tribosweep.kernels.batch.solve` take."""
        return model_of(self)
