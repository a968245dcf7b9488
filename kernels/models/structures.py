"""Structures with supports: a body or a modal basis, its supports and its loads, as a `Model`. Nothing here imports JAX."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kernels.models.basis import AXES, Basis
from kernels.models.model import Model, Rule
from kernels.models.outputs import OBSERVED
from kernels.models.parameters import TIME, WEAR_LAW, derive_wear_law
from kernels.models.quantity import Quantity, Values
from kernels.models.rules import STEP_RULES, WINDOW_RULES
from kernels.models.schemes import EXACT, SCHEMES
from kernels.models.supports import PEAK_COUNTS, RING, SUPPORT, SUPPORT_OBSERVABLES, TWO_PLANES, ContactKind, Support, named
from kernels.models.wear_laws import SCAR

BODY, STRUCTURE = "body", "structure"
BASE, FORCE, MODE = "base", "force", "mode"
MOST_SUPPORTS = 64
CENTRE = "centre"  # the point of a body


class StructureKey(NamedTuple):
    """What a program knows of a structure.

    Attributes:
        body: whether it is a single body, whose mass, stiffness and damping are parameters. coordinates: their number.
        coupled: whether damping couples the coordinates. turned: whether supports may be turned by `angle`.
        contacts: the supports, those of one kind side by side. points: observed points, each with an axis.
        loads: their names. based: the places in `loads` of base accelerations. channels: those of loads that follow a record.
        recorded: whether rows follow records.
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
    channels: tuple[int, ...]
    recorded: bool
    peak_edges: tuple[float, ...] = ()
    modal_energies: bool = False

    @property
    def groups(self) -> list[list[ContactKind]]:
        """The supports of each kind."""
        return [list(group) for _, group in itertools.groupby(self.contacts, lambda kind: kind[1:])]


@dataclass(frozen=True, slots=True)
class Load:
    """A load: amplitude sin(omega t + phase) + constant, plus a channel of the record that the parameter `record` numbers.

    Attributes:
        name: of the load, in names of parameters.
        kind: BASE: an acceleration of the ground [m/s^2], relative to which the structure and its supports move; FORCE: a force at a point
            [N]; MODE: a generalised force on one coordinate [N].
        direction: of a base acceleration or force, made a unit vector.
        point: name of the point of a force. mode: number of the coordinate, counted from 0.
        channel: of the record; None for no record.

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
        length = float(np.linalg.norm(direction))
        if direction.shape != (len(AXES),) or not (math.isfinite(length) and length > 0.0):
            raise ValueError(f"load {self.name}: the direction must be three finite numbers, not all 0")
        object.__setattr__(self, "direction", tuple(float(part) for part in direction / length))
        if (self.kind == FORCE) != (self.point is not None):
            raise ValueError(f"load {self.name}: a force needs a point, and nothing else has one")
        if (self.kind == MODE) != (self.mode is not None):
            raise ValueError(f"load {self.name}: a modal force needs a mode, and nothing else has one")

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
        start, start_rate: initial coordinates [m], (N,), and velocities [m/s]; parameters scale them. Zero if None. A body has parameters
            for its start instead.

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

    def __post_init__(self) -> None:
        """Check the names, and bring supports of one kind together."""
        if len(self.supports) > MOST_SUPPORTS:
            raise ValueError(f"a structure has at most {MOST_SUPPORTS} supports, not {len(self.supports)}")
        for things in (self.supports, self.loads):
            names = [thing.name for thing in things]
            if len({*names}) < len(names):
                raise ValueError(f"two have the name {next(name for name in names if names.count(name) > 1)!r}")
        kinds = {support.name: self.kind_of(support) for support in self.supports}
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
            value = np.zeros(self.basis.count) if given is None else np.asarray(given, float)
            if value.shape != (self.basis.count,) or not np.isfinite(value).all():
                raise ValueError(f"{name} must have {self.basis.count} finite numbers, one for each coordinate")
            object.__setattr__(self, name, value)

    def shapes_of(self, support: Support) -> np.ndarray:
        """(3, N) displacements along the axes of a support."""
        shape = self.basis.at(support.point)
        if support.other is not None:
            shape = shape - self.basis.at(support.other)
        found: np.ndarray = np.asarray(support.axes) @ shape
        return found

    def kind_of(self, support: Support) -> ContactKind:
        """What a program knows of a support. A ring around a point that moves along one axis is two planes."""
        moves = np.flatnonzero(np.any(self.shapes_of(support) != 0.0, axis=1))
        axes = 1 + int(moves[-1]) if moves.size else 1
        obstacle = TWO_PLANES if support.obstacle == RING and axes == 1 else support.obstacle
        return ContactKind(support.name, obstacle, support.law, axes)

    def vector(self, load: Load) -> np.ndarray:
        """(N,) force on each coordinate for a load of 1; of a body with a base acceleration, for a mass of 1 kg."""
        if load.kind == BASE:
            return np.asarray(-self.basis.mass * (np.asarray(load.direction) @ self.basis.participation))
        if load.point is not None:
            return np.asarray(np.asarray(load.direction) @ self.basis.at(load.point))
        if load.mode is None or not 0 <= load.mode < self.basis.count:
            raise ValueError(f"load {load.name}: there is no mode {load.mode}; modes are counted from 0 to {self.basis.count - 1}")
        return np.asarray(np.eye(self.basis.count)[load.mode])

    @functools.cached_property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The observed points, each with every axis along which it moves."""
        return tuple((point, axis) for point in self.observed for axis, row in zip(AXES, self.basis.at(point), strict=True) if row.any())

    def key(self, turned: bool, recorded: bool) -> StructureKey:
        """The key of programs; `turned`: whether `angle` is given, `recorded`: whether `record` is."""
        channels = tuple(place for place, load in enumerate(self.loads) if load.channel is not None)
        return StructureKey(
            body=self.body,
            coordinates=self.basis.count,
            coupled=self.basis.damping.ndim > 1,
            turned=turned,
            contacts=tuple(self.kind_of(support) for support in self.supports),
            points=self.rows,
            loads=tuple(load.name for load in self.loads),
            based=tuple(place for place, load in enumerate(self.loads) if load.kind == BASE),
            channels=channels if recorded else (),
            recorded=recorded,
            peak_edges=self.peak_edges,
            modal_energies=self.modal_energies,
        )

    @functools.cached_property
    def arguments(self) -> dict[str, np.ndarray]:
        """Arguments that all rows share: name -> float64 array."""
        count = self.basis.count
        rows = [self.shapes_of(support)[: self.kind_of(support).axes] for support in self.supports]
        found = {
            "shapes": np.concatenate(rows) if rows else np.zeros((0, count)),
            "vectors": np.stack([self.vector(load) for load in self.loads]) if self.loads else np.zeros((0, count)),
            "points": np.stack([self.basis.at(point)[AXES.index(axis)] for point, axis in self.rows])
            if self.rows
            else np.zeros((0, count)),
        }
        if self.body:
            return found
        damping = self.basis.damping
        full = damping.ndim > 1
        found |= {
            "modal_mass": self.basis.mass,
            "modal_omega": self.basis.omega,
            "modal_drag": np.diag(damping) / self.basis.mass if full else 2.0 * damping * self.basis.omega,
            "start": np.asarray(self.start),
            "start_rate": np.asarray(self.start_rate),
        }
        if full:
            found["coupling"] = (damping - np.diag(np.diag(damping))) / self.basis.mass[:, None]
        return found

    @functools.cached_property
    def model(self) -> Model:
        """The model of its oscillators, which `kernels.simulate` and `kernels.batch.solve` take."""
        return Model(
            name=BODY if self.body else STRUCTURE,
            description="a body with supports: m x'' + c x' + k x = loads + supports"
            if self.body
            else "modes with supports: m_i (q_i'' + 2 xi_i w_i q_i' + w_i^2 q_i) = loads + supports",
            parameters=self._parameters(),
            observables=self._observables(),
            schemes=tuple(name for name in SCHEMES if name != EXACT),
            penalty=(),
            implied=(*(q.name for q in SUPPORT), *(q.name for q in WEAR_LAW), *SCAR),
            steady=False,
            derive=self._derive,
            rules=(*WINDOW_RULES, *_STEP_RULES, *self._rules()),
            structure=self,
        )

    def _of_supports(self) -> list[tuple[str, tuple[Quantity, ...]]]:
        """The parameters of each support, without the name of the support."""
        found = []
        for support in self.supports:
            flat = self.kind_of(support).axes == 1
            found.append((support.name, tuple(q for q in SUPPORT if not (flat and q.name in _NEED_A_PLANE))))
        return found

    def _parameters(self) -> tuple[Quantity, ...]:
        """Every parameter."""
        found: list[Quantity] = [*_OF_BODY] if self.body else [*_OF_MODES]
        if self.body:
            axes = [axis for axis, row in zip(AXES, self.basis.at(CENTRE), strict=True) if row.any()]
            found += [Quantity(named("x0", axis), "m", f"initial displacement along {axis}", default=0.0) for axis in axes]
            found += [Quantity(named("v0", axis), "m/s", f"initial velocity along {axis}", default=0.0) for axis in axes]
        if self.supports:
            found += SUPPORT
        for name, quantities in self._of_supports():
            found += [
                replace(
                    q,
                    name=named(q.name, name),
                    description=f"{q.description}; of {name}",
                    default=None,
                    default_rule=f"{q.name} of all supports",
                )
                for q in quantities
            ]
        for load in self.loads:
            found += [
                replace(q, name=named(q.name, load.name), unit=q.unit or load.unit, description=f"{q.description} {load.name}")
                for q in _OF_LOAD
            ]
        if self.loads:
            found.append(Quantity("load_factor", "1", "factor of all loads", default=1.0))
        if any(load.channel is not None for load in self.loads):
            found += _OF_RECORDS
        if any(self.kind_of(support).obstacle == RING for support in self.supports):
            found += _OF_SCARS
        return (*found, *WEAR_LAW, *TIME)

    def _observables(self) -> tuple[Quantity, ...]:
        """Every observable."""
        found: list[Quantity] = []
        counted = (PEAK_COUNTS,) if self.peak_edges else ()
        for support in self.supports:
            flat = self.kind_of(support).axes == 1
            found += [
                replace(q, name=named(q.name, support.name), description=f"{q.description}; at {support.name}")
                for q in (*SUPPORT_OBSERVABLES, *_WORN, *(_SCARRED if self.kind_of(support).obstacle == RING else ()), *counted)
                if not (flat and q.name.startswith("orbit_2"))
            ]
        for point, axis in self.rows:
            found += [
                replace(q, name=named(f"{axis}_{q.name}", point), description=f"{q.description} along {axis}; at {point}")
                for q in _OF_POINT
            ]
        energies = (_MODAL_ENERGY,) if self.modal_energies else ()
        return (*found, *energies, *_OF_RUN)

    def _derive(self, values: Values, xp: Any) -> dict[str, Any]:
        """Fill in what follows from other parameters."""
        p = dict(values)
        if self.supports:
            for name in ("mu_s", "mu_d"):
                p.setdefault(name, p["mu"])
            p.setdefault("k_t", p["k_n"])
        for name, quantities in self._of_supports():
            own = {q.name: p[named(q.name, name)] for q in quantities if named(q.name, name) in p}
            for q in quantities:
                full = named(q.name, name)
                if full in p:
                    continue
                # a support's own mu goes before the mu_s of all, and its own k_n before the k_t of all if that follows from k_n
                if q.name in ("mu_s", "mu_d") and "mu" in own and q.name not in values:
                    p[full] = own["mu"]
                elif q.name == "k_t" and "k_n" in own and "k_t" not in values:
                    p[full] = own["k_n"]
                else:
                    p[full] = p[q.name]
        p.setdefault("record", math.nan)
        p.setdefault("window_end", p["end"])
        if "largest_step" not in p:
            p["largest_step"] = math.pi / (10.0 * self._fastest(p, xp))
        p.setdefault("smallest_step", 1e-6 * p["step"])
        derive_wear_law(p)
        for name in SCAR:  # a placeholder: nothing is computed from an absent parameter
            p.setdefault(name, 1.0)
        return p

    def _fastest(self, p: Values, xp: Any) -> Any:
        """The largest circular frequency of loads and free structure [rad/s]; 2 pi at least a run."""
        natural = xp.sqrt(p["k"] / p["m"]) if self.body else p["frequency_factor"] * float(self.basis.omega.max())
        found = xp.maximum(natural, 2.0 * math.pi / p["end"])
        for load in self.loads:
            amplitude = p[named("amplitude", load.name)]
            found = xp.maximum(found, xp.where(xp.asarray(amplitude) != 0.0, p[named("omega", load.name)], 0.0))
        return found

    def _rules(self) -> tuple[Rule, ...]:
        """The rules between parameters."""
        found = [
            Rule((named("mu_s", name), named("mu_d", name), named("mu", name)),
                 f"static friction must be at least dynamic friction at {name}",
                 functools.partial(_falls_short, name),
                 functools.partial(_says_friction, name))
            for name, quantities in self._of_supports()
            if any(q.name == "mu_s" for q in quantities)
        ]  # fmt: skip
        found.append(
            Rule(
                ("step",),
                "a fixed step must be stable with every support touched",
                lambda p, s: SCHEMES[s].fixed_step & (np.asarray(p["step"]) >= self.largest_step(p, s)),
                lambda p, s: (
                    f"step = {p['step']:g} s is unstable: with scheme {s!r} it must be less than "
                    f"{float(np.min(self.largest_step(p, s))):.4g} s"
                ),
                self.largest_step,
            )
        )
        return tuple(found)

    def stiffest(self, p: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds of K / m [1/s^2], of the contacts' C / m and of the structure's own C / m [1/s] with every support touched.

        Each is the largest eigenvalue of the matrix scaled by the square roots of the modal masses, one number for each row.
        """
        modal = self.basis
        own_k, own_c = np.square(modal.omega), 2.0 * modal.damping * modal.omega if modal.damping.ndim == 1 else None
        names = [name for support in self.supports for q in _STIFF if (name := named(q, support.name)) in p]
        names += ["m", "k", "c"] if self.body else ["frequency_factor", "damping_factor"]
        columns = np.broadcast_arrays(*(np.asarray(p[name], float) for name in names)) if names else [np.zeros(())]
        shape = columns[0].shape
        rows, place = np.unique(np.stack([column.reshape(-1) for column in columns], axis=-1), axis=0, return_inverse=True)
        found = np.zeros((len(rows), 3))
        for number, row in enumerate(rows):
            values = dict(zip(names, row, strict=True))
            found[number] = self._stiffest_of(values, own_k, own_c)
        whole = found[place.reshape(-1)].reshape(*shape, 3)
        return whole[..., 0], whole[..., 1], whole[..., 2]

    def _stiffest_of(self, p: Mapping[str, float], own_k: np.ndarray, own_c: np.ndarray | None) -> tuple[float, float, float]:
        """`stiffest` of one row."""
        if not all(math.isfinite(value) for value in p.values()) or p.get("m", 1.0) <= 0.0:
            return math.nan, math.nan, math.nan
        modal = self.basis
        roots = np.sqrt(p["m"] * modal.mass if self.body else modal.mass)
        stiffness = np.full(modal.count, p["k"] / p["m"]) if self.body else own_k * p["frequency_factor"] ** 2
        if self.body:
            drag = np.diag(np.full(modal.count, p["c"] / p["m"]))
        elif own_c is None:
            drag = p["damping_factor"] * p["frequency_factor"] * modal.damping / np.outer(roots, roots)
        else:
            drag = np.diag(p["damping_factor"] * p["frequency_factor"] * own_c)
        total, contact = np.diag(stiffness), np.zeros((modal.count, modal.count))
        for support in self.supports:
            kind = self.kind_of(support)
            k_n, c_n, k_t, c_t, mu_s = (p.get(named(q, support.name), 0.0) for q in _STIFF)
            k_t, c_t = (k_t, c_t) if mu_s > 0.0 else (0.0, 0.0)
            flat = [max(k_n, k_t)] * 2 if kind.obstacle == RING else [k_n, k_t]
            slow = [max(c_n, c_t)] * 2 if kind.obstacle == RING else [c_n, c_t]
            shapes = self.shapes_of(support)[: kind.axes] / roots
            total = total + shapes.T @ np.diag([*flat, k_t][: kind.axes]) @ shapes
            contact = contact + shapes.T @ np.diag([*slow, c_t][: kind.axes]) @ shapes
        largest = [float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1]) for matrix in (total, contact, drag)]
        return largest[0], largest[1], largest[2]

    def largest_step(self, p: Values, scheme: str) -> Any:
        """Largest stable step [s] of a fixed-step scheme for every row, inf for the others (see `schemes.euler_stability`).

        The bound is sufficient: stiffness and damping are at their largest together.
        """
        if not SCHEMES[scheme].fixed_step:
            return np.asarray(np.inf)
        stiffness, contact, own = self.stiffest(p)
        with np.errstate(divide="ignore", invalid="ignore"):
            if scheme == "euler":
                damping = contact + own
                return 4.0 / (damping + np.sqrt(damping**2 + 4.0 * stiffness))
            damping = own + 6.0 * contact
            return np.minimum(24.0 / (damping + np.sqrt(damping**2 + 72.0 * stiffness)), 4.0 / own)


def _falls_short(name: str, p: Values, _scheme: str) -> Any:
    """Mask of the rows with mu_s < mu_d at a support."""
    return np.asarray(p[named("mu_s", name)]) < p[named("mu_d", name)]


def _says_friction(name: str, p: Values, _scheme: str) -> str:
    """Both coefficients of a support."""
    return f"mu_s = {p[named('mu_s', name)]:g} is less than mu_d = {p[named('mu_d', name)]:g}"


_STIFF = ("k_n", "c_n", "k_t", "c_t", "mu_s")
_NEED_A_PLANE = ("mu", "mu_s", "mu_d", "k_t", "c_t", "angle", "centre_2")
_STEP_RULES = tuple(rule for rule in STEP_RULES if "k_t" not in rule.parameters)
_OF_BODY = (
    Quantity("m", "kg", "mass", "m", default=1.0, lower=0.0, lower_open=True),
    Quantity("k", "N/m", "stiffness of the spring to the ground, in every direction", "k", default=0.0, lower=0.0),
    Quantity("c", "N s/m", "viscous damping to the ground, in every direction", "c", default=0.0, lower=0.0),
)  # fmt: skip
_OF_MODES = (
    Quantity("frequency_factor", "1", "factor of all frequencies", default=1.0, lower=0.0, lower_open=True),
    Quantity("damping_factor", "1", "factor of all damping ratios, or of the damping matrix", default=1.0, lower=0.0),
    Quantity("start_factor", "1", "factor of the initial displacement", default=1.0),
    Quantity("start_rate_factor", "1", "factor of the initial velocity", default=1.0),
)  # fmt: skip
_OF_LOAD = (
    Quantity("amplitude", "", "amplitude of the sine of load", default=0.0),
    Quantity("omega", "rad/s", "circular frequency of load", r"\omega", default=2.0 * math.pi, lower=0.0, lower_open=True),
    Quantity("phase", "rad", "phase at t = 0 of load", r"\varphi", default=0.0),
    Quantity("constant", "", "constant part of load", default=0.0),
)  # fmt: skip
_OF_RECORDS = (
    Quantity("record", "", "which record the loads follow, counted from 0", kind="integer", default_rule="absent: none", lower=0.0),
    Quantity("record_scale", "1", "factor of the record", default=1.0),
)  # fmt: skip
_OF_POINT = (
    Quantity("end", "m", "displacement at the end of the run"),
    Quantity("rate_end", "m/s", "velocity at the end of the run"),
    Quantity("rms", "m", "root mean square displacement in the window"),
    Quantity("max", "m", "largest size of the displacement in the window"),
)  # fmt: skip
_WORN = (
    Quantity("wear_volume", "m^3", "volume worn in service by Archard's law: archard_k wear_power service_time", r"V_\mathrm{Archard}",
             needs=("service_time", "archard_k"), optional=True),
    Quantity("wear_depth", "m", "wear_volume over contact_area", r"h_\mathrm{Archard}",
             needs=("service_time", "archard_k", "contact_area"), optional=True),
    Quantity("wear_volume_edf_mz", "m^3", "volume worn in service by the law EDF-MZ", r"V_\mathrm{EDF-MZ}", needs=("service_time",),
             optional=True),
    Quantity("wear_depth_edf_mz", "m", "wear_volume_edf_mz over contact_area", r"h_\mathrm{EDF-MZ}", needs=("service_time", "contact_area"),
             optional=True),
)  # fmt: skip
_MODAL_ENERGY = Quantity("modal_energy", "J", "mean kinetic and elastic energy of each coordinate in the window", kind="list")
_OF_SCARS = (
    Quantity("tube_radius", "m", "outer radius of the tube in its rings, of which a scar is worn off", "r",
             default_rule="absent: no depths of scars", lower=0.0, lower_open=True),
    Quantity("contact_width", "m", "width of a ring along the tube", default_rule="absent: no depths of scars", lower=0.0, lower_open=True),
)  # fmt: skip
_SCARRED = (
    Quantity("scar_depth", "m", "depth of the scar that the ring leaves on the tube: wear_volume over contact_width is its area; none "
             "beyond the middle of the tube", needs=("service_time", "archard_k", *SCAR), optional=True),
)  # fmt: skip
_OF_RUN = (
    Quantity("energy_end", "J", "kinetic and elastic energy at the end of the run, without that of the supports"),
    Quantity("load_work", "J", "work of the loads in the run"),
    Quantity("damping_work", "J", "work of the structure's own damping in the run, negative"),
    Quantity("support_work", "J", "work of all supports on the structure in the run"),
    Quantity("energy_error", "1", "what the balance of the energies lacks, over the largest of them"),
    Quantity("time_reached", "s", "time that the run reached: its end, or where a row failed", survives=True),
    Quantity("accepted_steps", "", "steps of the time scheme", kind="integer"),
    Quantity("rejected_steps", "", "steps that the time scheme tried, found too long and tried again shorter", kind="integer"),
)  # fmt: skip
