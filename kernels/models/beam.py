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

from kernels.models.basis import Basis, eigenvectors

FREE, PINNED, CLAMPED, GUIDED = "free", "pinned", "clamped", "guided"
ENDS: Mapping[str, tuple[bool, bool]] = {  # whether displacement and rotation are held
    FREE: (False, False),
    PINNED: (True, False),
    CLAMPED: (True, True),
    GUIDED: (False, True),
}
ELEMENTS = 200
MOST_ELEMENTS = 1000
MOST_NODES = 1200  # the modes of more take longer than 20 s


@dataclass(frozen=True, slots=True)
class Beam:
    """A straight uniform beam.

    Attributes:
        length: [m]. bending_stiffness: E I [N m^2]. mass_per_length: [kg/m], with that of the fluid that moves along.
        ends: how both ends are held: FREE, PINNED, CLAMPED or GUIDED (it may move but not turn).
        springs: (position [m], stiffness [N/m]) of springs to the ground, the same in both planes.
        masses: (position [m], mass [kg]) of added masses, without rotational inertia.
        elements: least number of elements; every position has a node.

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
        mass, stiffness, free = self.matrices(nodes)
        if not 1 <= modes <= free.size // 2:
            raise ValueError(f"{modes} modes of {free.size} degrees of freedom: ask for 1 to {free.size // 2}, or give more elements")
        squares, vectors = eigenvectors(mass[np.ix_(free, free)], stiffness[np.ix_(free, free)])
        squares, vectors = squares[:modes], vectors[:, :modes]
        ratios = np.broadcast_to(np.asarray(damping, float), (modes,)) if np.ndim(damping) == 0 else np.asarray(damping, float)
        if ratios.shape != (modes,):
            raise ValueError(f"there are {modes} modes, but {ratios.size} damping ratios")
        if corrected:
            rows = [np.flatnonzero(free == 2 * self.node(nodes, points[name])) for name in corrected]
            held = [name for name, row in zip(corrected, rows, strict=True) if not row.size]
            if held:
                raise ValueError(f"the point {held[0]!r} is held by an end: there is nothing to correct")
            inside = np.ix_(free, free)
            more_squares, more = residual_shapes(mass[inside], stiffness[inside], vectors, squares, [int(row[0]) for row in rows])
            squares, vectors = np.concatenate([squares, more_squares]), np.concatenate([vectors, more], axis=1)
            ratios = np.concatenate([ratios, np.full(more_squares.size, correction_damping)])
        whole = np.zeros((2 * nodes.size, vectors.shape[1]))
        whole[free] = vectors
        rigid = np.zeros(2 * nodes.size)
        rigid[::2] = 1.0
        along = (mass @ rigid) @ whole  # participation of unit modal masses: the force on a mode under a = 1 m/s^2, without its sign
        shapes = {}
        for name, position in points.items():
            row = whole[2 * self.node(nodes, position)]
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
        """Positions of the nodes [m], ascending: evenly spaced ones, and the given ones."""
        even = np.linspace(0.0, self.length, self.elements + 1)
        special = np.array([*positions, *(place for place, _ in self.springs), *(place for place, _ in self.masses)], float)
        near = 0.3 * self.length / self.elements
        keep = [place for place in even if not special.size or np.min(np.abs(special - place)) > near or place in (0.0, self.length)]
        found = np.unique(np.concatenate([keep, special]))
        together = np.flatnonzero(np.diff(found) < 1e-9 * self.length)
        return np.delete(found, together)

    def node(self, nodes: np.ndarray, position: float) -> int:
        """The node at a position."""
        return int(np.argmin(np.abs(nodes - position)))

    def matrices(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mass and stiffness of displacement and rotation at every node, and which of these the ends leave free."""
        count = 2 * nodes.size
        mass, stiffness = np.zeros((count, count)), np.zeros((count, count))
        for first, h in enumerate(np.diff(nodes)):
            where = np.ix_(range(2 * first, 2 * first + 4), range(2 * first, 2 * first + 4))
            stiffness[where] += self.bending_stiffness / h**3 * np.array(
                [[12.0, 6.0 * h, -12.0, 6.0 * h], [6.0 * h, 4.0 * h**2, -6.0 * h, 2.0 * h**2],
                 [-12.0, -6.0 * h, 12.0, -6.0 * h], [6.0 * h, 2.0 * h**2, -6.0 * h, 4.0 * h**2]])  # fmt: skip
            mass[where] += self.mass_per_length * h / 420.0 * np.array(
                [[156.0, 22.0 * h, 54.0, -13.0 * h], [22.0 * h, 4.0 * h**2, 13.0 * h, -3.0 * h**2],
                 [54.0, 13.0 * h, 156.0, -22.0 * h], [-13.0 * h, -3.0 * h**2, -22.0 * h, 4.0 * h**2]])  # fmt: skip
        for place, value in self.springs:
            stiffness[2 * self.node(nodes, place), 2 * self.node(nodes, place)] += value
        for place, value in self.masses:
            mass[2 * self.node(nodes, place), 2 * self.node(nodes, place)] += value
        held = [2 * node + part for node, end in ((0, self.ends[0]), (nodes.size - 1, self.ends[1])) for part in (0, 1) if ENDS[end][part]]
        return mass, stiffness, np.setdiff1d(np.arange(count), held)


def residual_shapes(
    mass: np.ndarray, stiffness: np.ndarray, modes: np.ndarray, squares: np.ndarray, places: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Static corrections, as w^2 [1/s^2] and shapes of unit modal mass that are orthogonal to the modes.

    Args:
        mass, stiffness: (n, n). modes: (n, m) of unit modal mass, with their `squares` (m,). places: where forces act.

    A structure that may move as a whole has no static deflection; it gets that under the force and the inertia of the rigid motion.
    """
    forces = np.zeros((mass.shape[0], len(places)))
    forces[places, range(len(places))] = 1.0
    rigid = modes[:, squares == 0.0]
    forces -= mass @ (rigid @ (rigid.T @ forces))  # inertia relief
    grounded = stiffness + (mass @ rigid) @ (mass @ rigid).T * (np.trace(stiffness) / np.trace(mass) if rigid.size else 0.0)
    shapes = np.linalg.solve(grounded, forces)
    for _ in range(2):  # once more, against rounding
        shapes = shapes - modes @ (modes.T @ (mass @ shapes))
    more, parts = eigenvectors(shapes.T @ mass @ shapes, shapes.T @ stiffness @ shapes)
    return more, shapes @ parts


def in_turn(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(2 n,): an entry of one, an entry of the other, and so on."""
    return np.stack([one, other], axis=-1).reshape(-1)
