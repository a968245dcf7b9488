"""Which program runs a row. A row is judged by its own numbers alone, so that no result depends on other rows. Nothing here imports JAX."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tribosweep.kernels.excitation.record import features_of, is_zero
from tribosweep.kernels.models.arrays import is_traced, plain
from tribosweep.kernels.models.contacts import BUCKLING, PENALISED, RIGID, STOP, VARYING, WallContact, WallLaw
from tribosweep.kernels.models.features import DRIVEN, EXPONENTS, FEATURES, HARMONIC, VARIED, used, varied
from tribosweep.kernels.models.links import LINKS
from tribosweep.kernels.models.loads import SHAPES
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.outputs import MULTIPLIERS, NOTHING_ELSE, Asked
from tribosweep.kernels.models.schemes import DOUBLE, EXACT, PACE, SCHEMES, STEADY
from tribosweep.kernels.models.structures import StructureKey
from tribosweep.kernels.models.supports import named

EULER = "euler"
LOCKSTEP, QUEUE = "lockstep", "queue"  # how time schemes run: all rows share their steps; or each lane has its own, row after row
IMAGE = "image"  # from a point of a Poincare section to the point some periods later, with derivatives
STIFFEST = 3.0  # largest sqrt(k/m) / omega and c / (m omega) in float32: beyond, the two time scales of a motion need more than 7 digits
# further properties of a row, besides PENALISED and the names in FEATURES and VARIED; the last two follow the prefix of their wall
_FREE, _BARE, _SOFT, _STIFF, _BUCKLES, _DAMPING_VARIES = "free", "bare", "soft", "stiff", "buckles", "damping varies"
_NATIVE, _DAMPED = "native", "strongly damped"
_READ_IN_CPP = ("m", "x0", "v0", "mu_s", "mu_d", "normal_force", "a0", "f0", "omega", "phase", "load", "k_t", "c_t", "k", "c")
_TURN, _PHASE = 2.0, 1e5  # rad: largest turn of the excitation in a step, and largest phase, of the loop in C++
_MANY = 600.0  # a contact is stiff if its motion turns by more than this angle [rad] in a period of the excitation, or in the run
_DECAYS = 6e4, 100.0  # damping is strong if c / m is so many times above 1 / period and sqrt(k / m): the loop of all laws is faster then
_DECIDE_DAMPING = ("m", "c", "k", "omega", "end")
_SAMPLES = 0.1  # s; for that time instead under a record, whose samples end stretches anyway
_LAWS = {STOP: "stop", BUCKLING: "wall that buckles", VARYING: "wall that buckles with varying damping"}


@dataclass(frozen=True, slots=True)
class ProgramKey:
    """Everything that decides which program runs a row, except the shapes of its arguments.

    Attributes:
        engine: EXACT (event by event), STEADY (event by event to the periodic motion), IMAGE, LOCKSTEP or QUEUE.
        scheme: a name of `SCHEMES`.
        friction: RIGID, PENALISED, or None if no normal force presses the mass. Time schemes always have PENALISED.
        walls: the walls of the model, each with the simplest law that its rows allow.
        varied: the names in VARIED by which friction varies, and those of links.
        features: the names in FEATURES that the excitation has.
        free: whether the program relies on k = c = 0.
        stiff: whether the event loop of all laws tries stretches longer than the time scales of its contacts. It runs rows of rigid
            friction with strong damping, too.
        precision: DOUBLE or SINGLE.
        asked: the outputs asked for. Its `columns` are what the program returns (empty: all that it has).
        forces: whether the forces at the end of the run are outputs.
        structure: of a structure with supports; None of an oscillator with one coordinate.
        native: whether the loop in C++ runs the rows (see `runtime.native_library`).
        along: the parameters that change along the directions in which IMAGE takes derivatives.
    """

    engine: str
    scheme: str = EXACT
    friction: str | None = RIGID
    walls: tuple[WallLaw, ...] = ()
    varied: tuple[str, ...] = ()
    features: tuple[str, ...] = (HARMONIC,)
    free: bool = False
    precision: str = DOUBLE
    asked: Asked = NOTHING_ELSE
    forces: bool = False
    structure: StructureKey | None = None
    stiff: bool = False
    native: bool = False
    along: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The key in words: "exact, rigid friction, stop, tones"."""
        lanes = "lockstep" if self.engine == LOCKSTEP else "a queue"
        words = [self.engine if self.engine in (EXACT, STEADY, IMAGE) else f"{self.scheme} in {lanes}"]
        if self.structure is not None:
            count, supports = self.structure.coordinates, len(self.structure.contacts)
            words += [
                f"{count} coordinates",
                f"{supports} supports",
                *["record"] * self.structure.recorded,
                *["shaped loads"] * self.structure.shaped,
            ]
            return ", ".join(words + [self.precision] * (self.precision != DOUBLE))
        words += [f"{self.friction or 'no'} friction", *self.varied]
        words += [f"{wall.prefix.replace('_', ' ')}{_LAWS[wall.law]}" for wall in self.walls]
        words += [name for name in self.features if self.features != (HARMONIC,)]
        words += ["k = c = 0"] * self.free + ["stiff"] * self.stiff + ["in C++"] * self.native
        words += [self.precision] * (self.precision != DOUBLE)
        words += [*sorted(self.asked.names), *["forces"] * self.forces, *[f"by {name}" for name in self.along]]
        return ", ".join(words + [f"only {' and '.join(self.asked.columns)}"] * bool(self.asked.columns))

    @property
    def rigid_loop(self) -> bool:
        """Whether the event loop of rigid friction alone runs the rows; the event loop of all laws runs any row."""
        alone = self.friction == RIGID and not self.walls and not self.varied and self.features == (HARMONIC,) and not self.stiff
        return self.engine in (EXACT, STEADY) and alone and not self.asked.names - {MULTIPLIERS} and not self.forces

    @property
    def for_strong_damping(self) -> ProgramKey:
        """The key of rows whose damping is strong, from that of others like them, which the loop of rigid friction runs."""
        return replace(self, free=False, precision=DOUBLE, stiff=True)

    @property
    def queues(self) -> bool:
        """Whether lanes take row after row on their own: their runs differ in length more than storing results on the way costs."""
        if self.rigid_loop:
            return False
        return self.engine in (QUEUE, STEADY) or (self.engine == EXACT and self.friction is not None)

    @property
    def loop(self) -> str:
        """The name of the loop in `jax_setup.LANES`, if its best number of lanes was measured; else "other"."""
        if self.structure is not None:
            return f"structure, {self.engine}"
        if self.scheme != EXACT:
            return self.engine
        if self.rigid_loop:
            return "rigid, k = c = 0" if self.free else "rigid"
        driven = self.features != (HARMONIC,) or bool(self.varied)
        return "penalised" if self.friction == PENALISED and not self.walls and not driven else "other"

    def unread(self, model: Model) -> set[str]:
        """The parameters of the model that the program does not read."""
        steps = {name for scheme in SCHEMES.values() for name in scheme.reads if name not in SCHEMES[self.scheme].reads}
        if self.structure is not None:
            contacts = self.structure.contacts
            angles = () if self.structure.turned else [named("angle", kind.name) for kind in contacts]
            places = [named("position", kind.name) for kind in contacts if kind.name not in self.structure.moved]
            curves = [named(name, kind.name) for name in ("curve", "places") for kind in contacts if kind.name not in self.structure.moved]
            shapes = [] if self.structure.shaped else [named(name, load) for load in self.structure.loads for name in SHAPES]
            return {*model.implied, *steps, *angles, *places, *curves, *shapes, *(() if self.structure.recorded else FEATURES["record"])}
        constant = {name for law, names in VARIED.items() if law not in self.varied for name in names}
        silent = {name for feature, names in FEATURES.items() if feature not in self.features for name in names}
        penalty = () if self.friction == PENALISED else model.penalty
        return {*model.implied, *steps, *constant, *silent, *penalty, *(("k", "c") if self.free and self.engine == LOCKSTEP else ())}


def is_infinite(value: Any) -> bool:
    """Whether a parameter (a number or an array) is known to be infinite in every row. A traced one is not."""
    return not is_traced(value) and bool(np.all(np.isposinf(np.asarray(value))))


def everywhere(value: Any, count: int) -> np.ndarray:
    """A value of every row (count,), from one value for all rows or one for each."""
    return np.broadcast_to(np.asarray(value), (count,))


def groups(
    model: Model,
    scheme: str,
    window: str | None,
    rows: Mapping[str, np.ndarray],
    good: np.ndarray,
    asked: Asked = NOTHING_ELSE,
    precision: str = DOUBLE,
    native: bool = False,
) -> dict[ProgramKey, np.ndarray]:
    """The programs that run some rows.

    Args:
        model, scheme, window, asked: see `solve`. precision: DOUBLE or SINGLE.
        rows: resolved parameters, one for all rows or (count,), tables (L,) or (count, L).
        good: positions of the rows that are to be run, ascending. native: whether loops in C++ may run them.

    Returns:
        The keys of the programs, each with the positions of its rows, ascending. Every key has at least one row.
    """
    if model.structure is not None:
        return _groups_of_structures(model, scheme, rows, good, precision)
    engine = window or EXACT
    if scheme != EXACT:
        shared = SCHEMES[scheme].fixed_step and not asked.names and not any(np.ndim(rows[name]) for name in PACE)
        engine = LOCKSTEP if shared else QUEUE
    traits = _traits(model, rows)
    if native and engine == LOCKSTEP and scheme == EULER and precision == DOUBLE:
        traits[_NATIVE] = _in_cpp(rows)
    always = {name for name, mask in traits.items() if not np.ndim(mask) and mask}
    sometimes = [name for name, mask in traits.items() if np.ndim(mask)]
    code = sum((2**place * traits[name][good] for place, name in enumerate(sometimes)), start=np.zeros(good.size, dtype=int))
    found: dict[ProgramKey, list[np.ndarray]] = defaultdict(list)
    for each in np.unique(code):
        has = always | {name for place, name in enumerate(sometimes) if int(each) >> place & 1}
        found[_key(model, engine, scheme, has, asked, precision)].append(good[code == each])
    return {key: np.sort(np.concatenate(parts)) for key, parts in found.items()}


def _groups_of_structures(
    model: Model, scheme: str, rows: Mapping[str, np.ndarray], good: np.ndarray, precision: str
) -> dict[ProgramKey, np.ndarray]:
    """`groups` of structures with supports."""
    structure = model.structure
    count = int(good[-1]) + 1

    def any_of(masks: list[Any]) -> np.ndarray:
        """Mask of the good rows in which one of several masks, of all rows or of each, is true."""
        whole = functools.reduce(np.logical_or, map(np.atleast_1d, masks), np.zeros(1, bool))
        mask: np.ndarray = np.broadcast_to(whole, (max(count, whole.size),))[good]
        return mask

    turned = any_of([rows[name] != 0.0 for support in structure.supports if (name := named("angle", support.name)) in rows])
    recorded = any_of([~np.isnan(np.asarray(rows.get("record", np.nan)))])
    places = {support.name: named("position", support.name) for support in structure.supports if structure.stands_along(support)}
    elsewhere = any_of([rows[column] != structure.place_of(name) for name, column in places.items()])
    tabled = [~np.isnan(rows[named("table_time", load.name)]).all(axis=-1) for load in structure.loads]
    shaped = any_of([*tabled, *(rows[named("pulse", load.name)] != 0.0 for load in structure.loads)])
    code = 8 * shaped + 4 * elsewhere + 2 * turned + recorded
    shared = SCHEMES[scheme].fixed_step and not any(np.ndim(rows[name]) for name in PACE)
    engine, found = LOCKSTEP if shared else QUEUE, {}
    for each in np.unique(code):
        key = structure.key(bool(each & 2), bool(each & 1), tuple(places) if each & 4 else (), bool(each & 8))
        found[ProgramKey(engine, scheme, PENALISED, precision=precision, structure=key)] = good[code == each]
    return found


def key_of(
    model: Model,
    params: Mapping[str, Any],
    scheme: str,
    window: str | None = None,
    asked: Asked = NOTHING_ELSE,
    forces: bool = False,
) -> ProgramKey:
    """The key of the one program that runs all rows of a call from Python. A traced parameter counts as neither 0 nor infinite.

    Args:
        model, scheme, window: see `tribosweep.simulate`. asked, forces: see `ProgramKey`.
        params: the parameters of the call: numbers or arrays, traced or not.
    """
    known = {name: plain(value) for name, value in params.items()}
    key = mild_key_of(model, known, scheme, window, asked, forces)
    damped = strongly_damped(model, known) if key.rigid_loop else None
    return key if damped is None or not damped.all() else key.for_strong_damping


def mild_key_of(
    model: Model, params: Mapping[str, Any], scheme: str, window: str | None = None, asked: Asked = NOTHING_ELSE, forces: bool = False
) -> ProgramKey:
    """The key of rows whose damping is not strong (`strongly_damped`).

    `params`: what `models.arrays.plain` makes of the parameters of the call; for the other arguments see `key_of`.
    """
    if model.structure is not None:
        turned = any(name in params and not is_zero(params[name]) for name in params if name.partition("[")[0] == "angle")
        places = {support.name: named("position", support.name) for support in model.structure.supports}
        moved = any(name in params for name in places.values())
        every = tuple(name for name in places if model.structure.stands_along(model.structure.support(name)))
        shaped = any(name.partition("[")[0] in SHAPES for name in params)
        key = model.structure.key(turned, "record" in params, every if moved else (), shaped)
        return ProgramKey(QUEUE, scheme, PENALISED, structure=key)

    def known_zero(*names: str) -> bool:
        return all(is_zero(params.get(name, 0.0)) for name in names)

    has = features_of(params) | {name for name in VARIED if name not in EXPONENTS and not known_zero(name)}
    has |= {exponent for exponent, law in EXPONENTS.items() if law in has and not is_zero(params.get(exponent, 1.0) - 1.0)}
    if not is_infinite(params.get("k_t", np.inf)):
        has.add(PENALISED)
    if any(is_traced(value) for value in params.values()):
        has.add(_STIFF)
    elif scheme == EXACT:
        with np.errstate(all="ignore"):  # numbers out of bounds have a status later
            resolved = model.resolve(params)
            has |= {_STIFF} if np.any(_stiff(model, resolved, (resolved["a0"] != 0.0) | (resolved["f0"] != 0.0))) else set()
    has |= {_FREE} if known_zero("k", "c") else set()
    has |= {_BARE} if known_zero("mu", "mu_s", "normal_force") else set()
    for wall in model.walls:
        force, criterion, *dampings = (wall.prefix + name for name in ("f_crit", "damping_criterion", "c_buckled", "post_damping"))
        if wall.buckles and not is_infinite(params.get(force, model.parameter(force).default or np.inf)):
            has.add(wall.prefix + _BUCKLES)
            if not known_zero(criterion) and any(name in params for name in dampings):
                has.add(wall.prefix + _DAMPING_VARIES)
    engine = (window or EXACT) if scheme == EXACT else QUEUE
    return _key(model, engine, scheme, has, asked, forces=forces)


def strongly_damped(model: Model, params: Mapping[str, Any]) -> np.ndarray | None:
    """Mask of the rows of a call from Python whose damping is strong (see `_strong`), in a shape that broadcasts to theirs.

    None where m, c, k, omega or end is traced, so that nobody knows. `params`: see `mild_key_of`. It matters only where the loop of rigid
    friction runs the others (`ProgramKey.rigid_loop`).
    """
    if any(is_traced(params.get(name)) for name in _DECIDE_DAMPING):
        return None
    read = {q.name: params.get(q.name, q.default) for q in model.parameters if q.name in (*_DECIDE_DAMPING, "a0", "f0")}
    traced = any(is_traced(read[name]) for name in ("a0", "f0"))
    rows = {name: np.asarray(value, float) for name, value in read.items() if not is_traced(value)}
    return np.asarray(_strong(rows, traced or (rows["a0"] != 0.0) | (rows["f0"] != 0.0)))


def _key(
    model: Model, engine: str, scheme: str, has: Collection[str], asked: Asked, precision: str = DOUBLE, forces: bool = False
) -> ProgramKey:
    """The key of rows with exactly the properties `has` (named as in `_traits`)."""
    features = tuple(name for name in FEATURES if name in has) if any(name in has for name in DRIVEN) else (HARMONIC,)
    changing = tuple(name for name in VARIED if name in has)
    walls = tuple(_law(wall, has, scheme) for wall in model.walls)
    if scheme != EXACT:
        if any(name in has for name in LINKS):
            engine = QUEUE
        free = engine == LOCKSTEP and _FREE in has and not walls
        native = _NATIVE in has and not walls and not changing and features == (HARMONIC,)
        return ProgramKey(engine, scheme, PENALISED, walls, changing, features, free, precision, asked, forces, native=native)
    friction = None if walls and _BARE in has else PENALISED if PENALISED in has else RIGID
    key = functools.partial(ProgramKey, engine, scheme, friction, walls, changing, features, asked=asked, forces=forces)
    if not key().rigid_loop:
        return key(stiff=_STIFF in has)
    if _DAMPED in has:
        return key().for_strong_damping
    # float32 is of the loop of rigid friction over a given window; everything else by the scheme exact is float64
    return key(free=_FREE in has, precision=precision if _SOFT in has and engine == EXACT else DOUBLE)


def _law(wall: WallContact, has: Collection[str], scheme: str) -> WallLaw:
    """The simplest law of a wall for rows with the properties `has`. Time schemes have a single law for walls that buckle."""
    law = STOP if wall.prefix + _BUCKLES not in has else VARYING if scheme == EXACT and wall.prefix + _DAMPING_VARIES in has else BUCKLING
    return WallLaw(law, wall.prefix, wall.sides)


def _traits(model: Model, rows: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The properties on which keys depend -> mask of the rows that have them: one for all rows, or (count,)."""
    harmonic = (rows["a0"] != 0.0) | (rows["f0"] != 0.0)
    with np.errstate(all="ignore"):  # rows that are not run may hold anything
        pace = rows["m"] * rows["omega"]
        soft = (rows["k"] <= STIFFEST**2 * pace * rows["omega"]) & (rows["c"] <= STIFFEST * pace)
    return {
        HARMONIC: harmonic,
        "sweep": harmonic & (rows.get("sweep_rate", 0.0) != 0.0),
        "tones": np.any(np.nan_to_num(rows.get("tone_a0", np.zeros(1))) != 0.0, axis=-1),
        "record": ~np.isnan(rows.get("record", np.nan)),
        "table": np.any(~np.isnan(rows.get("table_time", np.full(1, np.nan))), axis=-1),
        "pulse": np.asarray(rows.get("pulse", 0.0)) != 0.0,
        **varied(rows),
        PENALISED: np.isfinite(rows["k_t"]),
        _FREE: (rows["k"] == 0.0) & (rows["c"] == 0.0),
        _BARE: (rows["normal_force"] == 0.0) & ~used(rows.get("normal_amplitude", 0.0)),
        _SOFT: soft,
        _STIFF: _stiff(model, rows, harmonic),
        _DAMPED: _strong(rows, harmonic),
        **{wall.prefix + _BUCKLES: np.isfinite(rows[f"{wall.prefix}f_crit"]) for wall in model.walls if wall.buckles},
        **{wall.prefix + _DAMPING_VARIES: _damping_varies(rows, wall.prefix) for wall in model.walls if wall.buckles},
    }


def _in_cpp(rows: Mapping[str, np.ndarray]) -> Any:
    """Mask of the rows whose numbers the loop in C++ takes: finite ones, an excitation that turns little in a step, no huge phase."""
    with np.errstate(all="ignore"):
        finite = functools.reduce(np.logical_and, (np.isfinite(rows[name]) for name in _READ_IN_CPP))
        return finite & (rows["omega"] * np.minimum(rows["step"], rows["end"]) <= _TURN) & (np.abs(rows["phase"]) <= _PHASE)


def _stiff(model: Model, rows: Mapping[str, Any], harmonic: Any) -> Any:
    """Mask of the rows with a contact that is much faster than the excitation. Penalised friction counts as such a contact."""
    with np.errstate(all="ignore"):
        spring = functools.reduce(lambda most, wall: np.maximum(most, rows[f"{wall.prefix}k_n"]), model.walls, np.zeros(()))
        damper = functools.reduce(lambda most, wall: np.maximum(most, rows[f"{wall.prefix}c_n"]), model.walls, np.zeros(()))
        rate = np.maximum(np.sqrt((rows["k"] + spring) / rows["m"]), (rows["c"] + damper) / rows["m"])
        period = np.where(np.isnan(rows.get("record", np.nan)), _period(rows, harmonic), _SAMPLES)
        return (rate * period > _MANY) | np.isfinite(rows["k_t"])


def _strong(rows: Mapping[str, Any], harmonic: Any) -> Any:
    """Mask of the rows whose damping alone is so strong that their free motion decays at once, but for its slow part."""
    with np.errstate(all="ignore"):
        rate = rows["c"] / rows["m"]
        return (rate * _period(rows, harmonic) > _DECAYS[0]) & (rate > _DECAYS[1] * np.sqrt(rows["k"] / rows["m"]))


def _period(rows: Mapping[str, Any], harmonic: Any) -> Any:
    """Period of the excitation of each row, or the length of the run where that is shorter or nothing is `harmonic` [s]."""
    return np.where(harmonic, np.minimum(2.0 * np.pi / rows["omega"], rows["end"]), rows["end"])


def _damping_varies(rows: Mapping[str, np.ndarray], prefix: str) -> Any:
    """Mask of the rows in which the wall's viscous force is outside the criterion, and its damping varies while the wall yields."""
    criterion, first, buckled, softening, nodes = (
        rows[prefix + name] for name in ("damping_criterion", "c_n", "c_buckled", "softening", "post_damping")
    )
    differ = np.any((nodes != buckled[..., None]) & ~np.isnan(nodes), axis=-1)
    return (criterion != 0.0) & (differ | ((buckled != first) & (softening > 0.0)))


def cost(key: ProgramKey, rows: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """Relative cost of each row (count,), for sorting: number of steps, or logarithm of the number of periods of excitation and oscillator.

    Costs that differ little are made equal, so that such rows keep their order.
    """
    if SCHEMES[key.scheme].fixed_step:
        return everywhere(np.ceil(rows["end"] / rows["step"]), count)
    if key.structure is not None:
        return everywhere(np.round(4.0 * np.log2(rows["end"] / rows["largest_step"])), count)
    stiffness = rows["k"] + (rows["k_t"] if key.friction == PENALISED else 0.0)
    # rounded to powers of 2^(1/4): small differences are not worth a new order
    periods = rows["end"] * (rows["omega"] + np.sqrt(stiffness / rows["m"]))
    found = everywhere(np.round(4.0 * np.log2(periods)), count)
    if key.engine == EXACT and key.friction == RIGID and not key.walls and not key.varied and key.features == (HARMONIC,):
        # a mass that is never released costs next to nothing
        largest = np.abs(rows["f0"] - rows["m"] * rows["a0"]) + np.abs(rows["load"] - rows["k"] * rows["x0"])
        found = np.where((rows["v0"] == 0.0) & (largest <= rows["mu_s"] * rows["normal_force"]), -np.inf, found)
    return found
