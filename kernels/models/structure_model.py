"""The model of a structure with supports: its parameters, observables, derived defaults and rules. Nothing here imports JAX."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from tribosweep.kernels.models import arrays, structure_damping, structure_idle, structure_stability
from tribosweep.kernels.models.basis import AXES
from tribosweep.kernels.models.loads import OF_A_LOAD, fastest_of_pulse, is_none, pulse_rules, table_rules
from tribosweep.kernels.models.model import Model, Rule
from tribosweep.kernels.models.parameters import TIME, WEAR_LAW, derive_wear_law
from tribosweep.kernels.models.quantity import Quantity, Values
from tribosweep.kernels.models.rules import STEP_RULES, WINDOW_RULES
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.supports import FRICTION, PEAK_COUNTS, RING, SUPPORT, SUPPORT_OBSERVABLES, named
from tribosweep.kernels.models.wear_laws import SCAR

BODY, STRUCTURE = "body", "structure"
WHY_NOT_EXACT = (
    "scheme 'exact' does not run bodies and structures with supports: the normal force of an impact drives their friction, so that their "
    "phases are not linear"
)


def model_of(structure: Any) -> Model:
    """The model of a `structures.Structure`."""
    return Model(
        name=BODY if structure.body else STRUCTURE,
        description="a body with supports: m x'' + c x' + k x = loads + supports"
        if structure.body
        else "modes with supports: m_i (q_i'' + 2 xi_i w_i q_i' + w_i^2 q_i) = loads + supports",
        parameters=_parameters(structure),
        observables=_observables(structure),
        schemes=tuple(name for name in SCHEMES if name != EXACT),
        penalty=(),
        implied=(*(q.name for q in SUPPORT), *(q.name for q in WEAR_LAW), *SCAR),
        steady=False,
        derive=functools.partial(_derive, structure),
        rules=(*WINDOW_RULES, *_STEP_RULES, *_rules(structure)),
        structure=structure,
        fallbacks=tuple(q.name for q in SUPPORT if q.default is None),
    )


def parameters_of(structure: Any, support: Any) -> tuple[Quantity, ...]:
    """The parameters of a support, without its name."""
    flat = structure.kind_of(support).axes == 1
    found = tuple(q for q in SUPPORT if not (flat and q.name in _NEED_A_PLANE))
    if not structure.stands_along(support):
        return found
    places = structure.basis.places
    return (*found, replace(POSITION, lower=float(places[0]), upper=float(places[-1])))


def _parameters(structure: Any) -> tuple[Quantity, ...]:
    """Every parameter."""
    found: list[Quantity] = [*_OF_BODY] if structure.body else [*_OF_MODES]
    if structure.body:
        axes = [axis for axis, row in zip(AXES, structure.basis.at(structure.observed[0]), strict=True) if row.any()]
        found += [Quantity(named("x0", axis), "m", f"initial displacement along {axis}", default=0.0) for axis in axes]
        found += [Quantity(named("v0", axis), "m/s", f"initial velocity along {axis}", default=0.0) for axis in axes]
    if len(structure.bases) > 1:
        found.append(Quantity("basis", "", "modal basis of the row", kind="word", words=tuple(structure.bases), default=0.0))
    for mode in structure.own_modes:
        frequency = float(structure.basis.omega[mode]) / (2.0 * math.pi)
        found.append(Quantity(named("frequency", str(mode)), "Hz", f"frequency of mode {mode}, before frequency_factor", default=frequency,
                              lower=0.0))  # fmt: skip
        found.append(Quantity(named("damping", str(mode)), "1", f"damping ratio of mode {mode}, before damping_factor",
                              default=float(structure.basis.damping[mode]), lower=0.0))  # fmt: skip
    if structure.supports:
        found += SUPPORT
    for support in map(structure.support, structure.order):
        found += [
            replace(
                q,
                name=named(q.name, support.name),
                description=f"{q.description}; of {support.name}",
                default=None,
                default_rule=f"that of the point {support.point}"
                if q.name == POSITION.name
                else f"{q.name} of all supports{', else critical' * (q.name == 'c_t')}",
            )
            for q in parameters_of(structure, support)
        ]
    for load in structure.loads:
        found += [
            replace(
                q,
                name=named(q.name, load.name),
                unit=q.unit or ("" if q.kind == "word" else load.unit),
                description=f"{q.description} {load.name}",
            )
            for q in _OF_LOAD
        ]
    if structure.loads:
        found.append(Quantity("load_factor", "1", "factor of all loads", default=1.0))
    if any(load.channel is not None for load in structure.loads):
        found += _OF_RECORDS
    if any(structure.kind_of(support).obstacle == RING for support in structure.supports):
        found += _OF_SCARS
    return (*found, *WEAR_LAW, *TIME)


def of_support(structure: Any, support: Any) -> list[Quantity]:
    """The observables of a support that are numbers, without its name."""
    kind = structure.kind_of(support)
    return [
        q
        for q in (*SUPPORT_OBSERVABLES, *WORN_BY_LAWS, *(SCARRED if kind.obstacle == RING else ()))
        if not (kind.axes == 1 and q.name.startswith("orbit_2"))
    ]


def _observables(structure: Any) -> tuple[Quantity, ...]:
    """Every observable."""
    counted = [PEAK_COUNTS] if structure.peak_edges else []
    found: list[Quantity] = []
    if structure.lists:
        lists = {q.name: q for support in structure.supports for q in of_support(structure, support) if q.kind != "word"}
        order = ", ".join(structure.order)
        found = [
            replace(q, kind="list", optional=True, length=len(structure.order), description=f"{q.description}; at each of {order}")
            for q in lists.values()
        ]
    for support in map(structure.support, structure.order):
        numbers = [q for q in of_support(structure, support) if not structure.lists or q.kind == "word"]
        found += [
            replace(q, name=named(q.name, support.name), description=f"{q.description}; at {support.name}") for q in (*numbers, *counted)
        ]
    for point, axis in structure.rows:
        found += [
            replace(q, name=named(f"{axis}_{q.name}", point), description=f"{q.description} along {axis}; at {point}") for q in _OF_POINT
        ]
    energies = (_MODAL_ENERGY,) if structure.modal_energies else ()
    return (*found, *energies, *_OF_RUN)


def _derive(structure: Any, values: Values, xp: Any) -> dict[str, Any]:
    """Fill in what follows from other parameters."""
    p = dict(values)
    if structure.supports:
        of_all = {"mu_s": p["mu"], "mu_d": p["mu"], "k_t": p["k_n"], "c_t": 0.0}  # c_t: a placeholder, as each support has its own
        p |= {name: _given_or(values.get(name), default, xp) for name, default in of_all.items()}
    for support in structure.supports:
        name, quantities = support.name, parameters_of(structure, support)
        own = {q.name: p[named(q.name, name)] for q in quantities if named(q.name, name) in p}
        for q in quantities:
            full = named(q.name, name)
            if full in p:
                continue
            if q.name == POSITION.name:
                p[full] = float(structure.basis.position[support.point])
                continue
            # a support's own mu goes before the mu_s of all, and its own k_n before the k_t of all if that follows from k_n
            if q.name in ("mu_s", "mu_d") and "mu" in own:
                p[full] = _given_or(values.get(q.name), own["mu"], xp)
            elif q.name == "k_t" and "k_n" in own:
                p[full] = _given_or(values.get(q.name), own["k_n"], xp)
            elif q.name == "c_t" and _left_out(values.get(q.name)):
                p[full] = _given_or(values.get(q.name), structure_damping.critical(structure, support, p, xp), xp)
            else:
                p[full] = p[q.name]
    p.setdefault("record", math.nan)
    p.setdefault("window_end", p["end"])
    if "largest_step" not in p:
        p["largest_step"] = math.pi / (10.0 * _fastest(structure, p, xp))
    p.setdefault("smallest_step", 1e-6 * p["step"])
    derive_wear_law(p)
    for name in SCAR:  # a placeholder: nothing is computed from an absent parameter
        p.setdefault(name, 1.0)
    return p


def _left_out(value: Any) -> bool:
    """Whether a parameter is left out, in all rows (None) or in some (NaN)."""
    return value is None or (not arrays.is_traced(value) and bool(np.any(np.isnan(np.asarray(value)))))


def _given_or(value: Any, default: Any, xp: Any) -> Any:
    """A parameter, and its default in the rows that leave it out."""
    if value is None:
        return default
    return xp.where(xp.isnan(value), default, value) if _left_out(value) else value


def _fastest(structure: Any, p: Values, xp: Any) -> Any:
    """The largest circular frequency of loads and free structure [rad/s]; 2 pi at least a run."""
    if structure.body:
        held = xp.asarray(p["k"]) > 0.0  # guarded, as the derivative of the root of 0 is infinite
        natural = xp.where(held, xp.sqrt(xp.where(held, p["k"], 1.0) / p["m"]), 0.0)
    else:
        largest = np.array([basis.omega.max() for basis in structure.bases.values()])
        own = float(largest[0]) if len(largest) == 1 else xp.asarray(largest)[xp.asarray(p["basis"], int)]
        for mode in structure.own_modes:
            own = xp.maximum(own, 2.0 * math.pi * p[named("frequency", str(mode))])
        natural = p["frequency_factor"] * own
    found = xp.maximum(natural, 2.0 * math.pi / p["end"])
    for load in structure.loads:
        if not is_none(p[named("pulse", load.name)]):
            found = xp.maximum(found, fastest_of_pulse(p, xp, f"[{load.name}]"))
        amplitude = p[named("amplitude", load.name)]
        found = xp.maximum(found, xp.where(xp.asarray(amplitude) != 0.0, p[named("omega", load.name)], 0.0))
    return found


def _rules(structure: Any) -> tuple[Rule, ...]:
    """The rules between parameters."""
    largest = functools.partial(structure_stability.largest_step, structure)
    found = [
        Rule((named("mu_s", support.name), named("mu_d", support.name), named("mu", support.name)),
             f"static friction must be at least dynamic friction at {support.name}",
             functools.partial(_falls_short, support.name),
             functools.partial(_says_friction, support.name))
        for support in structure.supports
        if structure.kind_of(support).axes > 1
    ]  # fmt: skip
    found.append(
        Rule(
            ("step",),
            "a fixed step must be stable with every support touched",
            functools.partial(structure_stability.is_too_long, structure),
            lambda p, s: f"step = {p['step']:g} s is unstable: with scheme {s!r} it must be less than {float(np.min(largest(p, s))):.4g} s",
            largest,
        )
    )
    found += structure_idle.rules(structure)
    for load in structure.loads:
        tables = [named(name, load.name) for name in ("table_time", "table_value", "table_scale")]
        pulse, start, length = (named(name, load.name) for name in ("pulse", "pulse_start", "pulse_duration"))
        found += [*table_rules(*tables), *pulse_rules(pulse, start, length, [named("pulse_amplitude", load.name)])]
    return tuple(found)


def _falls_short(name: str, p: Values, _scheme: str) -> Any:
    """Mask of the rows with mu_s < mu_d at a support."""
    return arrays.asarray(p[named("mu_s", name)]) < p[named("mu_d", name)]


def _says_friction(name: str, p: Values, _scheme: str) -> str:
    """Both coefficients of a support."""
    return f"mu_s = {p[named('mu_s', name)]:g} is less than mu_d = {p[named('mu_d', name)]:g}"


POSITION = Quantity("position", "m", "place of the support along the structure; shapes are interpolated between points", "s")
_NEED_A_PLANE = (*FRICTION, *structure_idle.TURNS)
_STEP_RULES = tuple(rule for rule in STEP_RULES if "k_t" not in rule.parameters)
_OF_BODY = (
    Quantity("m", "kg", "mass", "m", default=1.0, lower=0.0, lower_open=True),
    Quantity("k", "N/m", "stiffness of the spring to the ground, in every direction", "k", default=0.0, lower=0.0),
    Quantity("c", "N s/m", "viscous damping to the ground, in every direction", "c", default=0.0, lower=0.0),
)  # fmt: skip
_OF_MODES = (
    Quantity("frequency_factor", "1", "factor of all frequencies; damping ratios stay, so that a damping matrix grows with it",
             default=1.0, lower=0.0, lower_open=True),
    Quantity("damping_factor", "1", "factor of all damping ratios, or of the damping matrix", default=1.0, lower=0.0),
    Quantity("start_factor", "1", "factor of the initial displacement", default=1.0),
    Quantity("start_rate_factor", "1", "factor of the initial velocity", default=1.0),
)  # fmt: skip
_OF_LOAD = (
    Quantity("amplitude", "", "amplitude of the sine of load", default=0.0),
    Quantity("omega", "rad/s", "circular frequency of load", r"\omega", default=2.0 * math.pi, lower=0.0, lower_open=True),
    Quantity("phase", "rad", "phase at t = 0 of load", r"\varphi", default=0.0),
    Quantity("constant", "", "constant part of load", default=0.0),
    *(replace(q, description=f"{q.description}; of load") for q in OF_A_LOAD),
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
WORN_BY_LAWS = (
    Quantity("wear_volume", "m^3", "volume worn in service by Archard's law: archard_k wear_power service_time", r"V_\mathrm{Archard}",
             needs=("service_time", "archard_k"), optional=True, unknown=True),
    Quantity("wear_depth", "m", "wear_volume over contact_area", r"h_\mathrm{Archard}",
             needs=("service_time", "archard_k", "contact_area"), optional=True, unknown=True),
    Quantity("wear_volume_edf_mz", "m^3", "volume worn in service by the law EDF-MZ", r"V_\mathrm{EDF-MZ}", needs=("service_time",),
             optional=True, unknown=True),
    Quantity("wear_depth_edf_mz", "m", "wear_volume_edf_mz over contact_area", r"h_\mathrm{EDF-MZ}", needs=("service_time", "contact_area"),
             optional=True, unknown=True),
)  # fmt: skip
_MODAL_ENERGY = Quantity("modal_energy", "J", "mean kinetic and elastic energy of each coordinate in the window", kind="list")
_OF_SCARS = (
    Quantity("tube_radius", "m", "outer radius of the tube in its rings, of which a scar is worn off", "r",
             default_rule="absent: no depths of scars", lower=0.0, lower_open=True),
    Quantity("contact_width", "m", "width of a ring along the tube", default_rule="absent: no depths of scars", lower=0.0, lower_open=True),
)  # fmt: skip
SCARRED = (
    Quantity("scar_depth", "m", "depth of the scar that the ring leaves on the tube: wear_volume over contact_width is its area; the "
             "diameter where the tube is worn through", needs=("service_time", "archard_k", *SCAR), optional=True, unknown=True),
)  # fmt: skip
WORN = (*WORN_BY_LAWS, *SCARRED)
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
