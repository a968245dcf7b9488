"""Boundaries between regimes, from theory and from the curves found by a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.features import DRIVES
from tribosweep.kernels.models.links import LINKS
from tribosweep.kernels.models.presliding import PRESLIDING
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.execution.adaptive.probabilities import END_OF_INTERVAL
from tribosweep.sweep.execution.dataset import read_table
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem

ETA_AXES = {"a0", "mu", "g", "m"}
DEN_HARTOG_AXES = ETA_AXES | {"omega", "k"}
WALL_AXES = {"v0", "m", "k_n", "f_crit", "f_post", "plateau", "softening"}
FORCES = ("c", "load", "f0", "normal_amplitude", "stribeck_speed", "belt_speed", *PRESLIDING)  # parameters that theory needs to be 0
DERIVED = ("mu_s", "mu_d", "normal_force")
MEASURED = Path("boundaries") / "boundaries.parquet"
BETA_LOWEST = 0.5  # below it, motions have several stops per period and Den Hartog's condition is not sufficient

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BoundaryLine:
    """A line on a map.

    Attributes:
        name: its name, with mathtext. plain: the same without mathtext.
        pieces: (n, 2) float64 each, x and y in the units of the axes, in order along the line.
        theory: True for a line from a closed form, False for a line found by the run.
        tends: whether the line holds for the steady motion that the rows approach, rather than for the rows themselves; or
            whether it is a side of a band.
    """

    name: str
    plain: str
    pieces: tuple[np.ndarray, ...]
    theory: bool
    tends: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A boundary as a level line of a function of the parameters.

    Attributes:
        name, plain: see `BoundaryLine`.
        axes: the parameters on which the field may depend.
        field: function of resolved values (arrays that broadcast together). Its value is 1 on the line, and NaN where the theory fails.
        tends: see `BoundaryLine`.
    """

    name: str
    plain: str
    axes: frozenset[str]
    field: Callable[[Values], Any]
    tends: bool = False


def friction_ratio(values: Values) -> Any:
    """Return eta = mu g / |a0|: the largest friction force over the largest inertia force of a mass that rubs on a shaken support.

    The limits below hold without damping and other forces, with mu_s = mu_d and the normal force m g. A mass at rest at x = 0 sticks for
    eta >= 1. A mass without a spring that has begun to slip never sticks for eta <= eta* = 2/sqrt(pi^2 + 4).

    Args:
        values: `mu` [1], `g` [m/s^2] and `a0` [m/s^2] of the rubbing mass, floats or arrays that broadcast together.

    Returns:
        eta, of the broadcast shape; inf where a0 = 0. Source: SDND104 (V5.01.104), section 2.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(values["mu"]) * values["g"] / np.abs(values["a0"])


def no_stops(values: Values) -> Any:
    """Return eta / eta*(beta), at most 1 where the steady motion of a mass that rubs on a spring has no stops.

    With b = 1/beta = sqrt(k/m)/omega, beta^2 V = 1/(b^2 - 1) and beta^2 U = tan(pi b/2)/b: eta* = |beta^2 V| / sqrt((beta^2 U)^2 + 1).
    This limit is 2/sqrt(pi^2 + 4) for b -> 0 and pi/4 at resonance.

    Args:
        values: `mu`, `g`, `a0` as in `friction_ratio`, `k` [N/m], `m` [kg] and `omega` [rad/s].

    Returns:
        The ratio, of the broadcast shape; NaN for beta <= 0.5. Source: Den Hartog (1931).
    """
    b = np.asarray(np.sqrt(np.asarray(values["k"]) / values["m"]) / values["omega"], dtype=np.float64)
    inside, away = b < 1.0 / BETA_LOWEST, np.abs(b - 1.0) > 1e-7
    safe = np.where(inside & away, b, 0.5)
    u = np.where(safe > 0.0, np.tan(0.5 * math.pi * safe) / np.where(safe > 0.0, safe, 1.0), 0.5 * math.pi)
    limit = np.where(away, np.abs(1.0 / (safe**2 - 1.0)) / np.hypot(u, 1.0), 0.25 * math.pi)
    return np.where(inside, friction_ratio(values) / limit, np.nan)


def wall_energies(values: Values) -> dict[str, Any]:
    """Energies [J] that a wall absorbs up to the ends of the pieces of its envelope: elastic, plateau, softening, table.

    The first is f_crit^2 / (2 k_n). The next add f_crit plateau, (f_crit + f_post) softening / 2, and f_post times the way to the last node
    of the table. A free undamped body passes the end of a piece if its energy is larger. Source: the areas under the envelope of SDND105.
    """
    f_crit, f_post = np.asarray(values["f_crit"]), np.asarray(values["f_post"])
    elastic = 0.5 * f_crit**2 / values["k_n"]
    plateau = elastic + f_crit * values["plateau"]
    softening = plateau + 0.5 * (f_crit + f_post) * values["softening"]
    energies = {"elastic limit": elastic}
    if np.any(np.asarray(values["plateau"]) > 0.0):
        energies["end of the plateau"] = plateau
    if np.any(np.asarray(values["softening"]) > 0.0):
        energies["end of the softening"] = softening
    if values["post_set"]:
        last = values["post_set"][-1] + f_post / values["post_stiffness"][-1]
        way = last - (f_crit / values["k_n"] + values["plateau"] + values["softening"])
        energies["end of the table"] = softening + f_post * way
    return energies


def known_levels(model: Model, x: str, y: str, fixed: Values, steady: bool) -> Iterator[Level]:
    """The boundaries that theory gives for a map over two parameters.

    Args:
        model: of the map. x, y: its axes. fixed: values that the study sets for all rows; other parameters have their defaults.
        steady: whether the rows are steady motions.
    """
    from tribosweep.kernels.reference.closed_forms import ETA_STAR

    given = {name: value for name, value in fixed.items() if name not in (x, y)}
    if model.structure is not None or is_driven(model, given):
        return

    def at_rest(*names: str) -> bool:
        return (
            all(not np.any(given.get(name, 0.0)) for name in names)
            and not {x, y} & {*names, *LINKS}
            and not any(name in given for name in LINKS)
        )

    derived = any(name in given for name in DERIVED)
    if model.name == "rubbing_mass" and {x, y} <= DEN_HARTOG_AXES and at_rest(*FORCES) and not derived:
        springs = "k" in (x, y) or given.get("k", 0.0) != 0.0
        if at_rest("v0") and (at_rest("x0") or not springs):
            yield Level(r"$\eta = 1$", "η = 1", frozenset(ETA_AXES), friction_ratio)
        tends = springs and not steady
        if springs:
            named = r"$\eta^*(\beta)$" + ", steady" * tends, "η*(β)" + ", steady" * tends
        else:
            named = rf"$\eta^* = {ETA_STAR:.4f}$", f"η* = {ETA_STAR:.4f}"
        if springs or at_rest("v0"):
            yield Level(*named, frozenset(DEN_HARTOG_AXES), no_stops, tends)
    if model.name == "buckling_wall" and {x, y} <= WALL_AXES and "m_2" not in given and not derived:
        still = at_rest(*FORCES, "k", "a0", "mu", "c_n", "gap", "x0") and not given.get("c_buckled")
        if still and not any(given.get("post_damping", ())):
            varied = dict.fromkeys((x, y), 1.0)  # a part of the envelope exists if its length varies
            for name in wall_energies(resolved(model, {**given, **varied})):
                yield Level(name, name, frozenset(WALL_AXES), impact_over(name))


def is_driven(model: Model, given: Values) -> bool:
    """Whether anything but a single sine of constant frequency shakes the rows of a map; the theory covers only that sine."""
    shaken = any(q.name == DRAW or (q.name == RECORD and q.default is not None) for q in model.parameters)
    shaken = shaken or given.get(RECORD) is not None
    return shaken or any(np.any(np.asarray(given[name]) != 0.0) for name in DRIVES if name in given and name != RECORD)


def impact_over(name: str) -> Callable[[Values], Any]:
    """Return the function that divides the energy of an impact by one of the `wall_energies`."""

    def ratio(values: Values) -> Any:
        speed = np.maximum(values["v0"], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return 0.5 * np.asarray(values["m"]) * speed**2 / wall_energies(values)[name]

    return ratio


def resolved(model: Model, given: Values) -> dict[str, Any]:
    """The given values, with the default of every other parameter that has one."""
    return {q.name: given.get(q.name, q.default) for q in model.parameters if q.default is not None or q.name in given}


def known_boundaries(
    model: Model, axes: tuple[Quantity, Quantity], fixed: Values, steady: bool, x: np.ndarray, y: np.ndarray
) -> list[BoundaryLine]:
    """The boundaries that theory gives for a map.

    Args:
        model, fixed, steady: see `known_levels`. axes: the axes of the map.
        x: (n_x,) ascending values of its x axis, in its unit. y: (n_y,) of its y axis. Lines are straight between neighbouring values.
    """
    from contourpy import contour_generator

    names = (axes[0].name, axes[1].name)
    found = []
    for level in known_levels(model, *names, fixed, steady):
        if level.axes.isdisjoint(names):
            continue
        places = resolved(model, fixed) | {names[0]: x[np.newaxis, :], names[1]: y[:, np.newaxis]}
        field = np.broadcast_to(np.asarray(level.field(places), dtype=np.float64), (len(y), len(x)))
        # the logarithm is closer to linear if the quantity is a product of powers
        with np.errstate(divide="ignore"):
            values = np.ma.masked_invalid(np.log(np.maximum(field, 0.0)))
        pieces = contour_generator(x, y, values).lines(0.0) if values.count() else []
        if pieces:
            found.append(
                BoundaryLine(level.name, level.plain, tuple(np.asarray(piece) for piece in pieces), theory=True, tends=level.tends)
            )
    return found


def read_measured(path: Path, x: str, y: str) -> tuple[BoundaryLine, ...]:
    """Read the boundaries over two parameters that a run has found; none if its design is no boundary study.

    Raises:
        ConfigError: the file cannot be read, or holds boundaries over other parameters.
    """
    import pyarrow as pa

    from tribosweep.sweep.execution.adaptive.boundary_table import KINDS

    file = path / MEASURED
    if not file.exists():
        return ()
    try:
        table = read_table(RunDirectory(path), file, {**KINDS, x: pa.float64(), y: pa.float64()}, [*KINDS, x, y])
        curves, names = table.column("curve").to_numpy(), table.column("between").to_pylist()
        places = np.stack([table.column(name).to_numpy() for name in (x, y)], axis=1)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ConfigError(str(file), [Problem("", f"cannot be read as boundaries over {x} and {y}: {error}")]) from None
    pieces: dict[str, list[np.ndarray]] = {}
    for curve in np.unique(curves):
        rows = np.flatnonzero(curves == curve)
        line = places[rows]
        if "closed" in table.column_names and table.column("closed")[int(rows[0])].as_py():
            line = np.concatenate([line, line[:1]])
        pieces.setdefault(names[rows[0]], []).append(line)
    return tuple(BoundaryLine(name, name, tuple(lines), theory=False, tends=END_OF_INTERVAL in name) for name, lines in pieces.items())
