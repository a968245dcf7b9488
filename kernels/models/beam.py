"""Modal bases of straight beams by finite elements: Euler-Bernoulli bending in two planes, the same in both. Nothing here imports JAX.

The beam lies along z and bends in x and y, so that the ring of a support with the default axes surrounds it. Cubic (Hermite) elements with
consistent mass: frequencies converge from above with the fourth power of the element length.

Static correction: for each corrected point, the deflection under a force there, less what the modes have of it (residual flexibility).
These shapes are orthogonal to the modes in mass and stiffness. Among themselves they are made so by an eigenproblem, whose solutions are
further coordinates of high frequency: pseudo-modes, which give the local stiffness and bound the step. Source: Craig and Kurdila,
Fundamentals of Structural Dynamics, chapter on component mode synthesis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.eigenmodes import Flexibility, eigenvectors, modes_of, of_unit_mass

FREE, PINNED, CLAMPED, GUIDED = "free", "pinned", "clamped", "guided"
ENDS: Mapping[str, tuple[bool, bool]] = {  # whether displacement and rotation are held
    FREE: (False, False),
    PINNED: (True, False),
    CLAMPED: (True, True),
    GUIDED: (False, True),
}
ELEMENTS = 200
MOST_ELEMENTS = 1000
TOGETHER = 2e-4  # of the length: positions nearer to each other share a node
SAME = 1e-10  # of unit modal mass: what is less beside other shapes is the same motion
MOST_NODES = 1200  # the modes of more take longer than 20 s


@dataclass(frozen=True, slots=True)
class Beam:
    """A straight uniform beam.

    Attributes:
        length: [m]. bending_stiffness: E I [N m^2]. mass_per_length: [kg/m], with that of the fluid that moves along.
        ends: how both ends are held: FREE, PINNED, CLAMPED or GUIDED (it may move but not turn).
        springs: (position [m], stiffness [N/m]) of springs to the ground, the same in both planes.
        masses: (position [m], mass [kg]) of added masses, without rotational inertia.
        elements: number of elements; positions have nodes of their own (see `nodes`).

    Raises:
        ValueError: a length, stiffness or mass that is not positive, an unknown end, a position that is not on the beam.
    """

    length: float
    bending_stiffness: float
    mass_per_length: float
    ends: tuple[str, str] = (PINNED, PINNED)
    springs: Sequence[tuple[float, float]] = ()
    masses: Sequence[tuple[float, float]] = ()
    elements: int = ELEMENTS

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name, value in (
            ("length", self.length),
            ("bending_stiffness", self.bending_stiffness),
            ("mass_per_length", self.mass_per_length),
        ):
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} of a beam must be a positive number, not {value:g}")
        for end in self.ends:
            if end not in ENDS:
                raise ValueError(f"the ends of a beam are {', '.join(ENDS)}, not {end!r}")
        if not 2 <= self.elements <= MOST_ELEMENTS:
            raise ValueError(f"a beam has 2 to {MOST_ELEMENTS} elements, not {self.elements}")
        for what, pairs in (("spring", self.springs), ("mass", self.masses)):
            for position, value in pairs:
                self.require(position, what)
                if not (math.isfinite(value) and value >= 0.0):
                    raise ValueError(f"the {what} at {position:g} m is {value:g}: it must not be negative")

    def require(self, position: float, what: str) -> None:
        """Raise ValueError for a position that is not on the beam."""
        if not 0.0 <= position <= self.length:
            raise ValueError(f"the {what} at {position:g} m is not on the beam, which is from 0 to {self.length:g} m")

    def basis(
        self,
        modes: int,
        points: Mapping[str, float],
        damping: float | Sequence[float] = 0.01,
        corrected: Sequence[str] = (),
        correction_damping: float = 0.05,
    ) -> Basis:
        """Its modes, those along x and along y in turn, with unit modal masses.

        Args:
            modes: number of modes in each plane. points: name -> position [m].
            damping: damping ratio of all modes, or of each of the `modes`.
            corrected: names of points that get a static correction in each plane. correction_damping: damping ratio of its pseudo-modes.

        Raises:
            ValueError: points that are not on the beam or held, too many of them, more modes than the elements can have, a wrong number of
                damping ratios.
        """
        for name, position in points.items():
            self.require(position, f"point {name!r}")
        for name in corrected:
            if name not in points:
                raise ValueError(f"there is no point {name!r} to correct")
        nodes = self.nodes([*points.values()])
        if nodes.size > MOST_NODES:
            raise ValueError(f"the beam has {nodes.size:,} nodes, one at every named position: at most {MOST_NODES:,}, so name fewer")
        free = self.free(nodes)
        if not 1 <= modes <= free.size // 2:
            raise ValueError(f"{modes} modes of {free.size} degrees of freedom: ask for 1 to {free.size // 2}, or give more elements")
        mass, flexibility = self.mass(nodes), Flexibility.of(self.stretches(nodes)[:, free], self.rigid(nodes)[free])
        own = mass[np.ix_(free, free)]
        squares, vectors = modes_of(own, flexibility.rigid, flexibility.kept, flexibility.upper, modes)
        squares, vectors = squares[:modes], vectors[:, :modes]
        ratios = np.broadcast_to(np.asarray(damping, float), (modes,)) if np.ndim(damping) == 0 else np.asarray(damping, float)
        if ratios.shape != (modes,):
            raise ValueError(f"there are {modes} modes, but {ratios.size} damping ratios")
        if corrected:
            forces = np.stack([self.shape(nodes, points[name])[free] for name in corrected], axis=1)
            held = [name for name, force in zip(corrected, forces.T, strict=True) if not force.any()]
            if held:
                raise ValueError(f"the point {held[0]!r} is held by an end: there is nothing to correct")
            more_squares, more = residual_shapes(own, flexibility, vectors, forces)
            squares, vectors = np.concatenate([squares, more_squares]), np.concatenate([vectors, more], axis=1)
            ratios = np.concatenate([ratios, np.full(more_squares.size, correction_damping)])
        whole = np.zeros((2 * nodes.size, vectors.shape[1]))
        whole[free] = vectors
        rigid = np.zeros(2 * nodes.size)
        rigid[::2] = 1.0
        along = (mass @ rigid) @ whole  # participation of unit modal masses: the force on a mode under a = 1 m/s^2, without its sign
        shapes = {}
        for name, position in points.items():
            row = self.shape(nodes, position) @ whole
            shapes[name] = np.stack([in_turn(row, 0.0 * row), in_turn(0.0 * row, row), np.zeros(2 * row.size)])
        return Basis(
            omega=np.repeat(np.sqrt(squares), 2),
            mass=np.ones(2 * squares.size),
            damping=np.repeat(ratios, 2),
            points=shapes,
            participation=np.stack([in_turn(along, 0.0 * along), in_turn(0.0 * along, along), np.zeros(2 * along.size)]),
            position=dict(points),
        )

    def nodes(self, positions: Sequence[float]) -> np.ndarray:
        """Positions of the nodes [m], ascending: the ends, the given ones, and evenly spaced ones between them.

        Of positions within TOGETHER of the length from one another, or from an end, only the first has a node: so short an element would
        take its digits from all frequencies. The others are between two nodes.
        """
        special = sorted([*positions, *(place for place, _ in self.springs), *(place for place, _ in self.masses)])
        apart, kept = TOGETHER * self.length, [0.0]
        for place in special:
            if place - kept[-1] > apart and self.length - place > apart:
                kept.append(place)
        kept.append(self.length)
        near = 0.3 * self.length / self.elements
        even = np.linspace(0.0, self.length, self.elements + 1)
        distance = np.abs(even[:, None] - np.array(kept)).min(axis=1)
        return np.unique(np.concatenate([even[distance > near], kept]))

    def shape(self, nodes: np.ndarray, position: float) -> np.ndarray:
        """(2 n,) displacement at a position [m] for displacements and rotations of 1 at the nodes: 1 at a node, else Hermite's cubics."""
        found = np.zeros(2 * nodes.size)
        first = int(np.clip(np.searchsorted(nodes, position, side="right") - 1, 0, nodes.size - 2))
        h = nodes[first + 1] - nodes[first]
        part = (position - nodes[first]) / h
        cubics = [
            1.0 - 3.0 * part**2 + 2.0 * part**3,
            part * (1.0 - part) ** 2 * h,
            part**2 * (3.0 - 2.0 * part),
            part**2 * (part - 1.0) * h,
        ]
        found[2 * first : 2 * first + 4] = cubics
        return found

    def free(self, nodes: np.ndarray) -> np.ndarray:
        """The displacements and rotations, of those of all nodes in turn, that the ends leave free."""
        held = [2 * node + part for node, end in ((0, self.ends[0]), (nodes.size - 1, self.ends[1])) for part in (0, 1) if ENDS[end][part]]
        return np.setdiff1d(np.arange(2 * nodes.size), held)

    def mass(self, nodes: np.ndarray) -> np.ndarray:
        """(2 n, 2 n) mass of displacement and rotation at every node."""
        mass = np.zeros((2 * nodes.size, 2 * nodes.size))
        for first, h in enumerate(np.diff(nodes)):
            where = slice(2 * first, 2 * first + 4)
            mass[where, where] += self.mass_per_length * h / 420.0 * np.array(
                [[156.0, 22.0 * h, 54.0, -13.0 * h], [22.0 * h, 4.0 * h**2, 13.0 * h, -3.0 * h**2],
                 [54.0, 13.0 * h, 156.0, -22.0 * h], [-13.0 * h, -3.0 * h**2, -22.0 * h, 4.0 * h**2]])  # fmt: skip
        for place, value in self.masses:
            shape = self.shape(nodes, place)
            mass += value * np.outer(shape, shape)
        return mass

    def stretches(self, nodes: np.ndarray) -> np.ndarray:
        """(rows, 2 n) of a matrix R with R^T R the stiffness: bending of every element in two modes, and stretches of springs.

        An element has the strain energy E I / (2 h) (a^2 + 3 b^2), where a is the difference of the rotations of its ends, and b their sum
        less twice the slope of its chord. Frequencies from R have the digits that those from the stiffness have lost: short elements are
        stiff, and nothing of that is in the motion of the whole beam.
        """
        rows = np.zeros((2 * (nodes.size - 1) + len(self.springs), 2 * nodes.size))
        for first, h in enumerate(np.diff(nodes)):
            where = slice(2 * first, 2 * first + 4)
            root = math.sqrt(self.bending_stiffness / h)
            rows[2 * first, where] = root * np.array([0.0, -1.0, 0.0, 1.0])
            rows[2 * first + 1, where] = math.sqrt(3.0) * root * np.array([2.0 / h, 1.0, -2.0 / h, 1.0])
        for row, (place, value) in enumerate(self.springs, 2 * (nodes.size - 1)):
            rows[row] = math.sqrt(value) * self.shape(nodes, place)
        return rows

    def rigid(self, nodes: np.ndarray) -> np.ndarray:
        """(2 n, R) motions without bending that neither ends nor springs hold: R is 0, 1 or 2."""
        turned = np.stack([nodes, np.ones(nodes.size)], axis=-1).reshape(-1)
        moves = np.stack([np.tile([1.0, 0.0], nodes.size), turned / self.length], axis=1)
        held = [[1.0, float(side)] for side, end in enumerate(self.ends) if ENDS[end][0]]
        held += [[0.0, 1.0] for end in self.ends if ENDS[end][1]]
        held += [[1.0, place / self.length] for place, value in self.springs if value > 0.0]
        if not held:
            return moves
        sizes, ways = np.linalg.svd(np.array(held))[1:]
        found: np.ndarray = moves @ ways[np.count_nonzero(sizes > 1e-12) :].T
        return found


def residual_shapes(mass: np.ndarray, flexibility: Flexibility, modes: np.ndarray, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Static corrections, as w^2 [1/s^2] and shapes of unit modal mass that are orthogonal to the modes.

    Args:
        mass: (n, n). modes: (n, m) of unit modal mass. forces: (n, s), each of which gives a shape.

    Raises:
        ValueError: shapes that are the same motion to rounding.

    A structure that may move as a whole has no static deflection; it gets that under the force and the inertia of the rigid motion.
    """
    rigid = of_unit_mass(mass, flexibility.rigid)
    forces = forces - mass @ (rigid @ (rigid.T @ forces))  # inertia relief
    shapes = flexibility.deflection(forces)
    whole = np.sqrt(np.sum(shapes * (mass @ shapes), axis=0))
    for _ in range(2):  # once more, against rounding
        shapes = shapes - rigid @ (rigid.T @ (mass @ shapes))
        shapes = shapes - modes @ (modes.T @ (mass @ shapes))
    size = np.sqrt(np.sum(shapes * (mass @ shapes), axis=0))
    shapes = shapes / np.where(size > 0.0, size, 1.0)
    alike = np.linalg.eigvalsh(shapes.T @ mass @ shapes)[0]
    if alike < SAME or (size < SAME * whole).any():
        raise ValueError(
            "the static corrections are not independent of each other and of the modes: correct fewer points, points that are farther "
            "apart, or keep fewer modes"
        )
    more, parts = eigenvectors(shapes.T @ mass @ shapes, flexibility.energies(shapes))
    return more, shapes @ parts


def in_turn(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(2 n,): an entry of one, an entry of the other, and so on."""
    return np.stack([one, other], axis=-1).reshape(-1)
