"""What holds whatever the numbers: each function takes a setting and rows of it, and fails with the first row that breaks it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.walk.settings import TABLE, Row, Setting, admitted, codes, parts_of, run, whole, with_results
from tribosweep import kernels
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.features import EXPONENTS
from tribosweep.kernels.models.friction_laws import PRESLIDING
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT, SCHEMES

Relation = Callable[[Any, list[Row]], None]
RELATIONS: dict[str, Relation] = {}
# not of the motion: what a scheme did
OF_A_SCHEME = ("accepted_steps", "rejected_steps", "time_reached")
CLOSE = 1e-7  # of results that differ by rounding alone, which impacts may make larger
NEXT_TO = 1e-18  # m


def registered(where: dict[str, Relation]) -> Callable[[Relation], Relation]:
    """A decorator that registers relations of rows that are not refused, under their names."""

    def register(function: Relation) -> Relation:
        @functools.wraps(function)
        def of_admitted(setting: Any, many: list[Row]) -> None:
            if many := admitted(setting, many):
                function(setting, many)

        where[function.__name__] = of_admitted
        return of_admitted

    return register


relation = registered(RELATIONS)


def scales(model: Model, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """For each unit the largest number of that unit among the observables of a row, (n,)."""
    sizes: dict[str, np.ndarray] = {}
    for q in model.observables:
        if q.kind == "float" and q.name in found and q.name not in OF_A_SCHEME:
            value = np.abs(np.nan_to_num(np.asarray(found[q.name], float)))
            sizes[q.unit] = np.maximum(sizes.get(q.unit, 0.0), value)
    return sizes


def differ(
    model: Model,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    within: float,
    factors: Mapping[str, Any] | None = None,
    without: Iterable[str] = (),
    rows: np.ndarray | None = None,
) -> list[str]:
    """The observables of the first row in which two results differ.

    Args:
        model: of both. one, other: observables by name, (n,); those of `other` times `factors` are those of `one`.
        within: largest difference as a part of the scale of a unit in the row (see `scales`). Counts, words and statuses must be equal.
        without: names that are not compared. rows: mask of the rows that are.
    """
    sizes = scales(model, one)
    wrong: dict[int, list[str]] = {}
    kinds = {q.name: q for q in model.observables}
    for name in [n for n in one if n in other and n not in {*without, *OF_A_SCHEME}]:
        a, b = np.asarray(one[name], float), np.asarray(other[name], float)
        q = kinds.get(name)
        if a.ndim > 1:
            continue
        if q is None or q.kind != "float":
            bad = ~((a == b) | (np.isnan(a) & np.isnan(b)))
        else:
            b = b * (factors or {}).get(name, 1.0)
            bad = ~((np.abs(a - b) <= within * sizes[q.unit]) | (np.isnan(a) & np.isnan(b)))
        for row in np.flatnonzero(bad & (True if rows is None else rows)):
            wrong.setdefault(int(row), []).append(f"{name} {a[row]!r} and {b[row]!r}")
    return [f"row {(row := min(wrong))}", *wrong[row]] if wrong else []


def say(setting: Setting, many: list[Row], wrong: list[str]) -> None:
    """Fail with a row and what is wrong with it."""
    if wrong:
        row = many[int(wrong[0].split()[1])]
        raise AssertionError(f"{setting.name}, {setting.scheme}: {row}: {'; '.join(wrong[1:])}")


def one_of(found: Mapping[str, np.ndarray], row: int) -> dict[str, np.ndarray]:
    """The results of one row."""
    return {name: np.asarray(value)[row : row + 1] for name, value in found.items()}


@relation
def alone_as_among_others(setting: Setting, many: list[Row]) -> None:
    """A row has the same digits alone, in another order, and on another device."""
    found = run(setting, many)
    backwards = run(setting, many[::-1])
    say(setting, many, differ(setting.model, found, {name: value[::-1] for name, value in backwards.items()}, 0.0))
    last = len(many) - 1
    say(setting, many[last:], differ(setting.model, one_of(found, last), run(setting, many[last:]), 0.0))


@relation
def in_other_units(setting: Setting, many: list[Row]) -> None:
    """Metre, second and kilogram times powers of 2 change every number by these powers alone, and no count."""
    many = complete(setting, many)
    powers = {"m": 4.0, "s": 0.25, "kg": 32.0}
    with_powers = [{name: scaled(setting.model.parameter(name), value, powers) for name, value in row.items()} for row in many]
    found, other = run(setting, many), run(setting.in_units(powers), with_powers)
    factors = {q.name: 1.0 / factor(q.unit, powers) for q in setting.model.observables if q.unit}
    say(setting, many, differ(setting.model, found, other, 1e-12, factors))


def factor(unit: str, powers: Mapping[str, float]) -> float:
    """The factor of a quantity whose unit is this product of powers, where metre, second and kilogram have the factors `powers`."""
    basic = {"N": "kg m/s^2", "J": "kg m^2/s^2", "W": "kg m^2/s^3", "Pa": "kg/m/s^2"}
    found = 1.0
    for place, piece in enumerate(unit.split("/")):
        for name in piece.split():
            symbol, _, power = name.partition("^")
            size = factor(basic[symbol], powers) if symbol in basic else powers.get(symbol, 1.0)
            found *= size ** (int(power or 1) * (1 if place == 0 else -1))
    return found


def scaled(q: Quantity, value: Any, powers: Mapping[str, float]) -> Any:
    """A parameter in other units."""
    by = factor(q.unit, powers)
    return tuple(by * each for each in value) if isinstance(value, tuple) else by * value


def complete(setting: Setting, many: list[Row]) -> list[Row]:
    """Rows that state the defaults which have a unit of their own."""
    own = {q.name: float(q.default) for q in setting.model.parameters if isinstance(q.default, float) and math.isfinite(q.default)}
    read = {name for name in own if setting.model.parameter(name).kind == "float"} - set(WITHOUT_COMPLETION)
    read &= {q.name for q in setting.quantities} | {"end"} | set(SCHEMES[setting.scheme].reads)
    return [{name: own[name] for name in read} | row for row in many]


WITHOUT_COMPLETION = ("normal_amplitude",)


@relation
def a_default_stated_is_the_default(setting: Setting, many: list[Row]) -> None:
    """A parameter that is given its default is one left out; so a law with the stiffness 0 is no law, and a load of 0 N is none."""
    stated = [
        {
            q.name: float(q.default)
            for q in setting.model.parameters
            if q.kind == "float" and q.default is not None and math.isfinite(q.default)
        }
        | row
        for row in many
    ]
    say(setting, many, differ(setting.model, run(setting, many), run(setting, stated), 1e-12))


@relation
def a_part_at_0_is_no_part(setting: Setting, many: list[Row]) -> None:
    """A part whose size is 0 is none: a row with it, beside one whose part has a size, is that of a program without the part."""
    *others, part = setting.parts or ("",)
    if part not in parts_of(setting.model) or part in NO_ZERO or part.endswith("f_crit"):
        return
    law = EXPONENTS.get(part)  # whose exponent 1 is none
    plain = Setting(setting.name, setting.scheme, (*others, law) if law else tuple(others))
    own = {part} if law else set(parts_of(setting.model)[part])
    rest = {"largest_step": SHORT} if "largest_step" in SCHEMES[setting.scheme].reads else {}
    rest |= {"mu": 0.0, "mu_s": 0.0, "mu_d": 0.0} if part in PRESLIDING else {}  # such a law holds the mass in the place of k_t
    without = [{name: value for name, value in row.items() if name not in own} | rest for row in many]
    size: Row = {name: 1.0 if law else (0.0,) * TABLE if setting.model.parameter(name).kind == "list" else 0.0
                 for name in AT_0.get(part, (part,))}  # fmt: skip
    at_0 = [bare | {name: row[name] for name in own & row.keys()} | size for row, bare in zip(many, without, strict=True)]
    fine = (codes(setting, at_0) == 0) & (codes(plain, without) == 0)
    at_0, without = ([row for row, good in zip(rows, fine, strict=True) if good] for rows in (at_0, without))
    if at_0:
        found = run(setting, [whole(setting, rest), *at_0])
        say(setting, at_0, differ(setting.model, {n: v[1:] for n, v in found.items()}, run(plain, without), CLOSE))


SHORT = 0.02  # s, which the frequencies of a part do not shorten
# the parameters that are the size of a part, where these are not the one by which it is called
AT_0 = {"sweep": ("sweep_rate",), "tones": ("tone_a0",), "table": ("table_scale",), "pulse": ("pulse_f0", "pulse_a0")}
NO_ZERO = ("k_t", "m_2", "stribeck_speed")  # infinite where they are absent


@relation
def what_follows_from_parameters_has_derivatives(setting: Setting, many: list[Row]) -> None:
    """Numbers that follow from those of a row have derivatives in both modes, which are not NaN, also where nothing reads them."""
    for row in many[:2]:
        own = {n: float(v) for n, v in row.items() if setting.model.parameter(n).kind == "float"}
        given = {n: jnp.asarray(v, float) for n, v in row.items() if n not in own}

        def follows(p: dict[str, Any], given: dict[str, Any] = given) -> dict[str, jax.Array]:
            return arrays_of(setting.model.resolve(given | p, xp=jnp))

        values, forward = jax.jvp(follows, (own,), (dict.fromkeys(own, 1.0),))
        (backward,) = jax.vjp(follows, own)[1](jax.tree.map(jnp.ones_like, values))
        wrong = [n for n, slope in forward.items() if np.any(np.isnan(slope) & ~np.isnan(values[n]))]
        wrong += [n for n, slope in backward.items() if np.isnan(slope)]
        say(setting, [row], ["row 0", f"no derivative of or by {wrong}"] if wrong else [])


def arrays_of(found: Mapping[str, Any]) -> dict[str, jax.Array]:
    """What is a number or an array of them, as arrays."""
    return {name: jnp.asarray(value, float) for name, value in found.items() if not isinstance(value, str)}


@relation
def rounding_decides_nothing(setting: Setting, many: list[Row]) -> None:
    """A number next to a number gives the same counts and words, and nearly the same numbers; so does a gap shorter by 1e-18 m."""
    found = run(setting, many)
    gaps = [{n: v - NEXT_TO if n.partition("[")[0].endswith("gap") else v for n, v in row.items()} for row in many]
    nudged = [
        {
            n: math.nextafter(v, math.inf) if setting.model.parameter(n).kind == "float" and v and n not in TIED else v
            for n, v in row.items()
        }
        for row in many
    ]
    for others in (gaps, nudged):
        # a mass that rests in touch with a face is pushed by rounding alone, so whether it is, and for how long, may differ
        touches = [row.get("x0", 0.0) in (row.get("gap"), -row.get("left_gap", math.nan)) for row in many]
        other = run(setting, others)
        quiet = np.array(touches)
        if "peak_force" in found:
            quiet &= np.fmax(found["peak_force"], other["peak_force"]) <= CLOSE * np.array([pushed(setting, row) for row in many])
        fine = (codes(setting, others) == 0) & with_results(other)
        say(setting, many, differ(setting.model, found, other, CLOSE, rows=fine & ~quiet))
        say(setting, many, differ(setting.model, found, other, CLOSE, rows=fine, without=IN_TOUCH))


def pushed(setting: Setting, row: Row) -> float:
    """The sum of the sizes of the forces on a mass at its start [N]."""
    p = setting.model.resolve({name: np.asarray(value, float) for name, value in row.items()})
    return float(abs(p["load"]) + p["m"] * abs(p["a0"]) + abs(p["f0"]) + p["k"] * abs(p["x0"]) + p["mu_s"] * p["normal_force"])


IN_TOUCH = ("contact_time", "contact_ratio", "separation_time", "rebound_velocity", "exit_time", "return_time",
            "first_contact_time", "first_contact_velocity", "peak_force", "impulse", "max_penetration")  # fmt: skip
TIED = ("end", "step", "window_start", "window_end")


@relation
def the_mirrored_run_is_the_mirror(setting: Setting, many: list[Row]) -> None:
    """Without walls, or between two equal ones or two that change places, the mirrored run is the mirror of the run."""
    if setting.name not in ("rubbing_mass", "stop", "two_walls") or {"spring_force", "damper_force"} & set(setting.parts):
        return
    if setting.name == "stop":
        many = admitted(setting, [row | {"sides": 2.0} for row in many])
        many = [row for row in many if row.get("gap", 0.0) > 0.0 and "m_2" not in row]  # with gap 0 one wall is hit first
    if not many:
        return
    mirrored = [{exchanged(setting.model, name): -value if name in ODD and not isinstance(value, tuple) else
                 tuple(-each for each in value) if name in ODD else value for name, value in row.items()} for row in many]  # fmt: skip
    found, other = run(setting, many), run(setting, mirrored)
    other = {
        SIDES.get(name.partition("_")[0], name.partition("_")[0]) + name[len(name.partition("_")[0]) :]: v for name, v in other.items()
    }
    turned = {"drift", "x_end", "v_end", "first_contact_velocity", "rebound_velocity", "link_force_end", "link_plastic_set"}
    factors = dict.fromkeys(turned, -1.0)
    say(setting, many, differ(setting.model, found, other, 1e-9, factors))


ODD = ("x0", "v0", "a0", "f0", "load", "belt_speed", "tone_a0", "table_force", "pulse_f0", "pulse_a0")
SIDES = {"left": "right", "right": "left"}


def exchanged(model: Model, name: str) -> str:
    """A parameter of the wall at one side as that of the other side."""
    names = {q.name for q in model.parameters}
    return name.removeprefix("left_") if name.startswith("left_") else f"left_{name}" if f"left_{name}" in names else name


@relation
def either_wall_is_the_left_or_the_right(setting: Setting, many: list[Row]) -> None:
    """An observable without a side is the sum or the largest of those of the sides, or the first of them."""
    if setting.name != "two_walls":
        return
    found = run(setting, many)
    good = with_results(found)
    for name in [each for each in found if f"left_{each}" in found]:
        both, left, right = (np.asarray(found[side + name], float) for side in ("", "left_", "right_"))
        allowed = [left + right, np.fmax(left, right), np.fmin(left, right)]
        bad = good & ~np.any([np.isclose(both, each, rtol=1e-12, atol=0.0, equal_nan=True) for each in allowed], axis=0)
        say(setting, many, [f"row {np.flatnonzero(bad)[0]}", name] if bad.any() else [])


@relation
def observables_of_a_row_agree(setting: Setting, many: list[Row]) -> None:
    """What follows from definitions: ratios and rates of the window, largest values and integrals."""
    found = run(setting, many)
    good, wrong = with_results(found), {}
    resolved = [setting.model.resolve({n: np.asarray(v, float) for n, v in row.items()}) for row in many]
    length = np.array([float(p["window_end"]) - float(p["window_start"]) for p in resolved])
    rubs = {"slip_distance", "wear_energy"} <= found.keys()
    with np.errstate(all="ignore"):
        if "contact_time" in found:
            wrong["contact_ratio"] = ~np.isclose(found["contact_ratio"] * length, found["contact_time"], rtol=1e-9, atol=1e-12)
            wrong["impact_rate"] = ~np.isclose(found["impact_rate"] * length, found["impacts"], rtol=1e-9, atol=1e-12)
            wrong["impulse"] = found["impulse"] > found["peak_force"] * found["contact_time"] * (1.0 + 1e-6) + 1e-12
            wrong["impacts without force"] = (found["impacts"] > 0) & (found["peak_force"] == 0.0)
        if rubs:
            wrong["wear_power"] = ~np.isclose(found["wear_power"] * length, found["wear_energy"], rtol=1e-9, atol=1e-12)
            wrong["stick_fraction"] = (found["stick_fraction"] < 0.0) | (found["stick_fraction"] > 1.0 + 1e-12)
            moved = found["max_slip_speed"] * length * (1.0 + 1e-6) + 1e-12
            wrong["slip_distance"] = found["slip_distance"] > moved
        if "buckled" in found:
            wrong["buckled"] = (found["buckled"] == 1) != np.isfinite(found["buckling_time"])
    for name, bad in wrong.items():
        say(setting, many, [f"row {np.flatnonzero(bad & good)[0]}", name] if (bad & good).any() else [])


@relation
def a_run_goes_on_from_its_end(setting: Setting, many: list[Row]) -> None:
    """A run that begins where another ended, with the sine where it was, ends as the whole run, where nothing else is remembered."""
    if setting.scheme != EXACT or setting.name not in ("rubbing_mass", "stop") or not set(setting.parts) <= {"tones", "belt_speed"}:
        return
    many = [row | {"end": 1.0} for row in many]
    many = complete(setting, [row for row in admitted(setting, many) if not {"window_start", "window_end"} & row.keys()])
    if not many:
        return
    part = 0.375
    first, found = run(setting, [row | {"end": part} for row in many]), run(setting, many)
    second = []
    for number, row in enumerate(many):
        turned = {"phase": row["phase"] + part * row["omega"]}
        if "tone_omega" in row:
            phases = row.get("tone_phase", (0.0,) * len(row["tone_omega"]))
            turned |= {"tone_phase": tuple(p + part * w for p, w in zip(phases, row["tone_omega"], strict=True))}
        second.append(row | turned | {"x0": float(first["x_end"][number]), "v0": float(first["v_end"][number]), "end": 1.0 - part})
    fine = with_results(first)
    second = [row if good else many[number] for number, (row, good) in enumerate(zip(second, fine, strict=True))]
    later = run(setting, second)
    ends = {"x_end", "v_end"}
    say(setting, many, differ(setting.model, found, later, CLOSE, without=set(found) - ends, rows=fine))


@relation
def a_call_has_the_row_of_a_batch(setting: Setting, many: list[Row]) -> None:
    """A call from Python that gives only what a row has returns the results of the row in a batch, whose columns others may need."""
    found = run(setting, many)
    for number, row in enumerate(many[:2]):
        alone = {name: np.asarray(value)[None] for name, value in kernels.simulate(setting.model, row, setting.scheme).items()}
        say(setting, [row], differ(setting.model, one_of(found, number), alone, CLOSE))


@relation
def schemes_go_to_exact(setting: Setting, many: list[Row]) -> None:
    """With shorter steps or a tighter tolerance what a scheme computes goes to what `exact` has, where both count the same."""
    if setting.scheme == EXACT:
        return
    of = Setting(setting.name, EXACT, setting.parts)
    many = [{n: v for n, v in row.items() if n not in SCHEMES[setting.scheme].reads} for row in many]
    many = admitted(of, many)
    if not many:
        return
    right = run(of, many)
    coarse, fine = (run(setting, [row | pace for row in many]) for pace in PACES[setting.scheme])
    counts = {q.name for q in setting.model.observables if q.kind != "float"} & right.keys()
    same = with_results(right) & with_results(fine)
    for name in counts:
        same &= (right[name] == fine[name]) | (np.isnan(right[name]) & np.isnan(fine[name]))
    sizes, wrong = scales(setting.model, right), {}
    for q in setting.model.observables:
        if q.kind != "float" or q.name not in right or q.name not in fine or q.name in OF_A_SCHEME:
            continue
        errors = [np.abs(found[q.name] - right[q.name]) for found in (coarse, fine)]
        with np.errstate(invalid="ignore"):
            far = same & np.isfinite(right[q.name]) & ~(errors[1] <= np.fmax(CLOSENESS[setting.scheme] * sizes[q.unit], FALLS * errors[0]))
        for row in np.flatnonzero(far):
            wrong.setdefault(int(row), []).append(f"{q.name} {right[q.name][row]:.9g}, {coarse[q.name][row]:.9g}, {fine[q.name][row]:.9g}")
    say(setting, many, [f"row {(row := min(wrong))}", *wrong[row]] if wrong else [])


# of each scheme, coarse and fine; and what an observable may lack at the fine one, as a part of the scale of its unit
PACES: dict[str, tuple[Row, Row]] = {name: ({"step": 1e-3}, {"step": 2e-4}) for name in ("euler", "devogelaere")}
PACES |= {name: ({"step": 1e-3, "largest_step": 1e-3}, {"step": 2e-4, "largest_step": 2e-4}) for name in ("adapt1", "adapt2")}
PACES |= {name: ({"step": 1e-3, "tolerance": 1e-6}, {"step": 1e-3, "tolerance": 1e-9}) for name in ("rk32", "rk54")}
CLOSENESS = {"euler": 5e-3, "devogelaere": 2e-3, "adapt1": 5e-3, "adapt2": 2e-3, "rk32": 1e-4, "rk54": 1e-4}
FALLS = 0.5  # at least, of an error; where it is larger than that


@relation
def impacts_and_events_are_those_of_the_run(setting: Setting, many: list[Row]) -> None:
    """The list of impacts, the log of events and the trace tell what a run tells."""
    many = [{n: v for n, v in row.items() if n not in ("window_start", "window_end")} for row in many]
    many = many[:3]
    if setting.scheme != EXACT or not many or (setting.parts and not setting.model.walls):
        return
    found = run(setting, many)
    for number, row in enumerate(many):
        if not with_results(found)[number]:
            continue
        one = {name: value[number] for name, value in found.items()}
        motion = kernels.trace(setting.name, row, at=[row["end"]])
        told = {"x_end": motion.x[-1], "v_end": motion.v[-1]}
        log = kernels.event_log(setting.name, row)
        told_too = {"x_end": log["x"][-1], "v_end": log["v"][-1]}
        if setting.model.walls:
            hits = kernels.impacts(setting.name, row)
            told |= {"impacts": len(hits.time)}
            if len(hits.time) and not row.get("gap", 0.0) <= row.get("x0", 0.0):
                told |= {"peak_force": max(hits.peak_force)}
        room = {q.name: q for q in setting.model.observables}
        most = {unit: float(np.max(value)) for unit, value in scales(setting.model, {n: np.asarray([v]) for n, v in one.items()}).items()}
        for of in (told, told_too):
            wrong = [f"{n} {one[n]!r} and {v!r}" for n, v in of.items()
                     if not abs(float(one[n]) - float(v)) <= CLOSE * (most[room[n].unit] if room[n].kind == "float" else 0.0)]  # fmt: skip
            say(setting, many, [f"row {number}", *wrong] if wrong else [])
