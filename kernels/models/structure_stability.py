"""How large a fixed step of a structure with supports may be. Nothing here imports JAX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tribosweep.kernels.models.arrays import is_traced
from tribosweep.kernels.models.quantity import Values
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.kernels.models.supports import RING, named

OF_SUPPORTS = ("k_n", "c_n", "k_t", "c_t", "mu_s", "position")


def largest_step(structure: Any, p: Values, scheme: str) -> Any:
    """Largest stable step [s] of a fixed-step scheme for every row, inf for the others (see `schemes.euler_stability`).

    The bound is sufficient: every support is touched, and stiffness and damping are at their largest together.

    Args:
        structure: the `structures.Structure`. p: resolved parameters (floats or arrays that broadcast). scheme: of `SCHEMES`.
    """
    if not SCHEMES[scheme].fixed_step:
        return np.asarray(np.inf)
    return _step(scheme, *_of_rows(structure, p))


def is_too_long(structure: Any, p: Values, scheme: str) -> Any:
    """Mask of the rows whose fixed `step` is not stable. Eigenvalues are computed only where a simple bound does not suffice."""
    if not SCHEMES[scheme].fixed_step:
        return np.asarray(np.False_)
    if any(is_traced(p[name]) for name in (*_names(structure, p), "step")):  # eigenvalues need numbers: such a run is not judged
        return np.asarray(np.False_)
    names, columns = _columns(structure, p)
    *whole, step = np.broadcast_arrays(*columns, np.asarray(p["step"], float))
    values = dict(zip(names, whole, strict=True))
    doubtful = np.asarray(~(step < _step(scheme, *_traces(structure, values))))
    found = np.zeros(step.shape, bool)
    if doubtful.any():
        some = {name: value[doubtful] for name, value in values.items()}
        found[doubtful] = step[doubtful] >= _step(scheme, *_of_rows(structure, some))
    return found


def _step(scheme: str, stiffness: Any, contact: Any, own: Any) -> Any:
    """The largest step for bounds of stiffness [1/s^2], and of damping by contacts and of the structure's own [1/s]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if scheme == "euler":
            damping = contact + own
            return 4.0 / (damping + np.sqrt(damping**2 + 4.0 * stiffness))
        damping = own + 6.0 * contact
        return np.minimum(24.0 / (damping + np.sqrt(damping**2 + 72.0 * stiffness)), 4.0 / np.asarray(own))


def _columns(structure: Any, p: Values) -> tuple[list[str], list[np.ndarray]]:
    """Names and values of the parameters on which the bound depends."""
    names = _names(structure, p)
    return names, [np.asarray(p[name], float) for name in names]


def _names(structure: Any, p: Values) -> list[str]:
    """Names of the parameters on which the bound depends."""
    names = [name for support in structure.supports for q in OF_SUPPORTS if (name := named(q, support.name)) in p]
    names += ["m", "k", "c"] if structure.body else ["frequency_factor", "damping_factor"]
    names += [named(name, str(mode)) for mode in structure.own_modes for name in ("frequency", "damping")]
    return [*names, *(["basis"] if len(structure.bases) > 1 else [])]


def _of_rows(structure: Any, p: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest eigenvalues of K / m [1/s^2], of the contacts' C / m and of the structure's own C / m [1/s], with every support touched.

    The matrices are scaled by the square roots of the modal masses. One number for each row.
    """
    names, columns = _columns(structure, p)
    whole = np.broadcast_arrays(*columns)
    rows, place = np.unique(np.stack([column.reshape(-1) for column in whole], axis=-1), axis=0, return_inverse=True)
    found = np.array([_of_one(structure, dict(zip(names, map(float, row), strict=True))) for row in rows])
    each = found[place.reshape(-1)].reshape(*whole[0].shape, 3)
    return each[..., 0], each[..., 1], each[..., 2]


def _modes(structure: Any, p: Mapping[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    """The basis of one row, its circular frequencies [rad/s], and its own damping over mass [1/s], (N,) or (N, N), with all factors."""
    basis = list(structure.bases.values())[int(p.get("basis", 0))]
    if structure.body:
        return basis, np.full(basis.count, math.sqrt(p["k"] / p["m"])), np.full(basis.count, p["c"] / p["m"])
    omega, ratios = basis.omega.copy(), basis.damping
    for mode in structure.own_modes:
        omega[mode] = 2.0 * math.pi * p[named("frequency", str(mode))]
        ratios = np.where(np.arange(basis.count) == mode, p[named("damping", str(mode))], ratios)
    factor = p["frequency_factor"] * p["damping_factor"]
    roots = np.sqrt(basis.mass)
    own = 2.0 * ratios * omega if ratios.ndim == 1 else ratios / np.outer(roots, roots)
    return basis, omega * p["frequency_factor"], factor * own


def _contacts(structure: Any, basis: Any, p: Mapping[str, Any]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each support of one row: its shapes over the roots of the masses, (A, N), and stiffness and damping along its axes, (A,)."""
    roots = np.sqrt(p["m"] * basis.mass if structure.body else basis.mass)
    found = []
    for support in structure.supports:
        kind = structure.kind_of(support)
        k_n, c_n, k_t, c_t, mu_s = (p.get(named(q, support.name), 0.0) for q in OF_SUPPORTS[:-1])
        k_t, c_t = (k_t, c_t) if mu_s > 0.0 else (0.0, 0.0)
        stiff = [max(k_n, k_t)] * 2 if kind.obstacle == RING else [k_n, k_t]
        slow = [max(c_n, c_t)] * 2 if kind.obstacle == RING else [c_n, c_t]
        shapes = structure.shapes_of(support, basis)
        place = p.get(named("position", support.name))
        if place is not None and place != basis.position[support.point] and basis.places[0] <= place <= basis.places[-1]:
            shapes = np.asarray(support.axes) @ (basis.shape_at(place) - (basis.at(support.other) if support.other else 0.0))
        found.append((shapes[: kind.axes] / roots, np.array([*stiff, k_t][: kind.axes]), np.array([*slow, c_t][: kind.axes])))
    return found


def _of_one(structure: Any, p: Mapping[str, float]) -> tuple[float, float, float]:
    """`_of_rows` of one row."""
    if not all(math.isfinite(value) for value in p.values()) or p.get("m", 1.0) <= 0.0 or p.get("k", 0.0) < 0.0:
        return math.nan, math.nan, math.nan
    basis, omega, drag = _modes(structure, p)
    total, contact = np.diag(omega**2), np.zeros((basis.count, basis.count))
    for shapes, stiffness, damping in _contacts(structure, basis, p):
        total = total + shapes.T @ (stiffness[:, None] * shapes)
        contact = contact + shapes.T @ (damping[:, None] * shapes)
    if not (np.isfinite(total).all() and np.isfinite(contact).all()):  # products beyond floats have no eigenvalues
        return math.nan, math.nan, math.nan
    own = drag.max() if drag.ndim == 1 else np.linalg.eigvalsh(0.5 * (drag + drag.T))[-1]
    largest = [float(np.linalg.eigvalsh(matrix)[-1]) for matrix in (total, contact)]
    return largest[0], largest[1], float(own)


def _traces(structure: Any, values: Mapping[str, np.ndarray]) -> tuple[Any, Any, Any]:
    """Upper bounds of `_of_rows`, by the traces of the contacts' matrices: cheap for many rows."""
    one = {name: float(np.ravel(value)[0]) for name, value in values.items()}
    if any(name.startswith(("position[", "frequency[", "damping[", "basis")) and np.ptp(value) for name, value in values.items()):
        return np.inf, np.inf, np.inf
    if not all(math.isfinite(value) for value in one.values()) or one.get("m", 1.0) <= 0.0 or one.get("k", 0.0) < 0.0:
        return np.inf, np.inf, np.inf
    unit = {**one, "m": 1.0, "k": 0.0, "c": 0.0} if structure.body else {**one, "frequency_factor": 1.0, "damping_factor": 1.0}
    basis, omega, drag = _modes(structure, unit)
    own = drag.max(initial=0.0) if drag.ndim == 1 else np.linalg.eigvalsh(0.5 * (drag + drag.T))[-1]
    if structure.body:
        by_mass: Any = 1.0 / values["m"]
        stiffness, own = values["k"] * by_mass, values["c"] * by_mass
    else:
        by_mass = 1.0
        stiffness = (omega.max() * values["frequency_factor"]) ** 2
        own = own * values["frequency_factor"] * values["damping_factor"]
    damping: Any = 0.0
    for support, (shapes, _, _) in zip(structure.supports, _contacts(structure, basis, unit), strict=True):
        squares = np.sum(shapes * shapes, axis=1)
        across = squares[:2].sum() if structure.kind_of(support).obstacle == RING else squares[0]
        k_n, c_n, k_t, c_t = (values.get(named(q, support.name), 0.0) for q in OF_SUPPORTS[:4])
        stiffness = stiffness + (across * k_n + squares.sum() * k_t) * by_mass
        damping = damping + (across * c_n + squares.sum() * c_t) * by_mass
    return stiffness, damping, own
