"""Frequencies and shapes of K u = w^2 M u that keep their digits beside rigid motions and stiff members. Nothing here imports JAX."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

# of a stiffness matrix with ones on its diagonal:
_NEGATIVE = 1e-9  # below -1 times this an eigenvalue is no rounding of 0
_SOFTEST = 3e-14  # times the square root of its rows: below, the softest motion has about two digits at most
_LOST = 1e-7  # of the largest flexibility: smaller ones have less than nine digits


def eigenvectors(mass: np.ndarray, stiffness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w^2 [1/s^2], ascending, and vectors of unit modal mass of K u = w^2 M u. The first entry near the largest of a vector is positive.

    Raises:
        ValueError: M is not positive definite, K not positive semidefinite, or so ill-conditioned that its softest motions are rounding.

    Rigid motions are the null space of K: with its diagonal scaled to 1, what belongs to eigenvalues below 4 sqrt(N) eps of the
    largest. Their w^2 is exactly 0. The others come from the flexibility of the structure, of which some coordinates are held (`modes_of`):
    a stiff member costs a soft motion no digits.
    """
    count, diagonal = len(stiffness), np.diag(stiffness)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(stiffness * np.outer(scale, scale))
    if values[0] < -_NEGATIVE or (diagonal < 0.0).any():
        lowest = values[0] if values[0] < -_NEGATIVE else diagonal.min()
        raise ValueError(f"K must be positive semidefinite: scaled to a diagonal of 1 it has the eigenvalue {lowest:.3g}")
    null = values < 4.0 * math.sqrt(count) * np.finfo(float).eps * max(values[-1], 1.0)
    soft = values[~null]
    if soft.size and soft[0] < _SOFTEST * math.sqrt(count):
        raise ValueError(
            f"K is too ill-conditioned for float64: scaled to a diagonal of 1 its smallest eigenvalue but those of rigid motions is "
            f"{soft[0]:.2g}, so that the lowest frequencies would be rounding; merge points that nearly coincide, or members that are "
            f"nearly rigid"
        )
    held = largest_rows(vectors[:, null])
    kept = np.setdiff1d(np.arange(count), held)
    upper = np.linalg.cholesky(stiffness[np.ix_(kept, kept)]).T if kept.size else np.zeros((0, 0))
    rigid = np.zeros((count, len(held)))
    rigid[held, range(len(held))] = 1.0
    if held.size and kept.size:
        rigid[kept] = -np.linalg.solve(upper, np.linalg.solve(upper.T, stiffness[np.ix_(kept, held)]))
    return modes_of(mass, rigid, kept, upper)


def modes_of(
    mass: np.ndarray, rigid: np.ndarray, kept: np.ndarray, upper: np.ndarray, wanted: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """w^2 [1/s^2], ascending, and vectors of unit modal mass of a structure of which rigid motions and a factor of its stiffness are known.

    Args:
        mass: (N, N). rigid: (N, R), whose columns span the rigid motions. kept: (N - R,) the coordinates that are left where R others are
            held, so that nothing can move as a whole. upper: (N - R, N - R), upper triangular, with upper^T upper the stiffness of the
            kept coordinates. wanted: how many of the lowest modes are needed; more may be returned. None for all.

    Raises:
        ValueError: M is not positive definite.

    1/w^2 are the eigenvalues of the flexibility, held as said, of what forces do beside the rigid motions. Those below 1e-7 of the largest
    have lost digits: they are found again beside the motions that are known by then.
    """
    try:
        lower = np.linalg.cholesky(mass)
    except np.linalg.LinAlgError as error:
        raise ValueError("M must be positive definite") from error
    count, known = len(mass), of_unit_mass(mass, rigid)
    squares = np.zeros(known.shape[1])
    while known.shape[1] < (count if wanted is None else min(wanted, count)):
        roots = lower - mass @ known @ (known.T @ lower)
        stretched = np.linalg.solve(upper.T, roots[kept])
        flexible, directions = np.linalg.eigh(stretched.T @ stretched)
        flexible, directions = flexible[::-1][: count - known.shape[1]], directions[:, ::-1][:, : count - known.shape[1]]
        sure = flexible > _LOST * flexible[0]
        vectors = np.linalg.solve(lower.T, directions[:, sure])
        vectors = of_unit_mass(mass, vectors - known @ (known.T @ (mass @ vectors)))
        known, squares = np.concatenate([known, vectors], axis=1), np.concatenate([squares, 1.0 / flexible[sure]])
    size = np.abs(known)
    signs = np.sign(known[np.argmax(size > 0.999 * size.max(axis=0), axis=0), range(known.shape[1])])
    return squares, known * signs


def of_unit_mass(mass: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Shapes that span the same motions (N, R) and are orthogonal in mass, of unit modal mass."""
    for _ in range(2):  # once more, against rounding
        shapes = shapes / np.sqrt(np.sum(shapes * (mass @ shapes), axis=0))
        shapes = np.linalg.solve(np.linalg.cholesky(shapes.T @ mass @ shapes), shapes.T).T if shapes.size else shapes
    return shapes


def largest_rows(vectors: np.ndarray) -> np.ndarray:
    """As many rows of (N, R) vectors as there are columns, which are as independent as can be had one by one."""
    found, rest = list[int](), vectors.copy()
    for _ in range(vectors.shape[1]):
        row = int(np.argmax(np.sum(rest**2, axis=1)))
        found.append(row)
        way = rest[row] / np.linalg.norm(rest[row])
        rest = rest - np.outer(rest @ way, way)
    return np.array(found, dtype=int)


class Flexibility(NamedTuple):
    """The stiffness of a beam, or of any structure whose rigid motions are known, as what it is made of.

    Attributes:
        rows: (rows, N), with rows^T rows the stiffness. rigid: (N, R) rigid motions. kept: (N - R,) the coordinates that are left where as
            many as there are rigid motions are held. upper: (N - R, N - R), upper triangular, upper^T upper the stiffness of those.
    """

    rows: np.ndarray
    rigid: np.ndarray
    kept: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, rigid: np.ndarray) -> Flexibility:
        """That of a structure of rows with its rigid motions."""
        held = largest_rows(rigid * np.sqrt(np.sum(rows * rows, axis=0))[:, None])  # displacements and rotations in one measure
        kept = np.setdiff1d(np.arange(rows.shape[1]), held)
        upper = np.linalg.qr(rows[np.argsort(-np.abs(rows).max(axis=1))][:, kept], mode="r")  # rows by size: digits of small ones stay
        return cls(rows, rigid, kept, np.asarray(upper))

    def energies(self, shapes: np.ndarray) -> np.ndarray:
        """shapes^T K shapes of shapes (N, S)."""
        stretched = self.rows @ shapes
        return np.asarray(stretched.T @ stretched)

    def deflection(self, forces: np.ndarray) -> np.ndarray:
        """(N, S) displacements under forces (N, S) that do no work on rigid motions, but for such a motion."""
        found = np.zeros_like(forces)
        found[self.kept] = np.linalg.solve(self.upper, np.linalg.solve(self.upper.T, forces[self.kept]))
        return found
