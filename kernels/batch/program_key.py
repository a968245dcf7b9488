"""Which program runs a row: chosen row by row, so that no result depends on other rows. Nothing here imports JAX.

A kind of program has a name such as "exact-rigid+harmonic+record": the engine, the contacts and, behind a + each, what shakes the mass
where that is more than one sine.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernels.models import Model
from kernels.models.schemes import DRIVEN, EXACT, FEATURES, PACE, SCHEMES, STEADY, Asked, varied

STEP, ABREAST = "step", "abreast"  # the programs of rows that take steps, each at its own pace or abreast
_LEAN = "-lean"  # behind those of rows without spring and damper
_SINGLE = " in float32"  # ends the names of programs of the exact engine that compute with 7 digits
SOFT = 3.0  # sqrt(k/m) / omega and c / (m omega) up to which it does
_RIGID = ("lean", "general", "bare", "rigid")  # programs that read nothing of the penalised contact


def everywhere(value: Any, count: int) -> np.ndarray:
    """One entry a row (count,) of a value that all rows or each of them has."""
    return np.broadcast_to(np.asarray(value), (count,))


def groups(
    model: Model, scheme: str, window: str | None, rows: Mapping[str, np.ndarray], good: np.ndarray, count: int, asked: Asked
) -> list[tuple[str, np.ndarray]]:
    """The programs that a scheme has, each with the rows of `good` that it runs: chosen row by row.

    A name is that of a program, and behind a + each feature of the excitation where it is more than harmonic.
    """
    features = _features(rows)
    driven = functools.reduce(operator.or_, (features[name] for name in DRIVEN))
    if not np.any(driven):
        return _plain_groups(model, scheme, window, rows, good, count, asked)
    code = sum(2**place * everywhere(mask & driven, count)[good] for place, mask in enumerate(features.values()))
    found = []
    for each in np.unique(code):
        members = good[code == each]
        ending = "".join(f"+{name}" for place, name in enumerate(features) if int(each) >> place & 1)
        for kind, some in _plain_groups(model, scheme, window, rows, members, count, asked):
            found.append((kind + ending, some))
    if scheme != EXACT:
        return found
    # the event loop of all laws takes any excitation; those of rigid friction alone take one sine
    merged: dict[str, list[np.ndarray]] = {}
    for kind, some in found:
        base, plus, ending = kind.partition("+")
        general = base.replace("-lean", "-rigid").replace("-general", "-rigid") if plus else base
        merged.setdefault(general + plus + ending, []).append(some)
    return [(kind, np.sort(np.concatenate(parts))) for kind, parts in merged.items()]


def _features(rows: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Mask of the rows whose excitation has each of the FEATURES; one that sweeps has an amplitude."""
    harmonic = (rows["a0"] != 0.0) | (rows["f0"] != 0.0)
    return {
        "harmonic": harmonic,
        "sweep": harmonic & (rows.get("sweep_rate", 0.0) != 0.0),
        "tones": np.any(np.nan_to_num(rows.get("tone_a0", np.zeros(1))) != 0.0, axis=-1),
        "record": ~np.isnan(rows.get("record", np.nan)),
    }


def _plain_groups(
    model: Model, scheme: str, window: str | None, rows: Mapping[str, np.ndarray], good: np.ndarray, count: int, asked: Asked
) -> list[tuple[str, np.ndarray]]:
    """`groups`, whatever the excitation."""
    if scheme != EXACT:
        abreast = SCHEMES[scheme].fixed_step and not asked.names and not any(np.ndim(rows[name]) for name in PACE)
        free = (rows["k"] == 0.0) & (rows["c"] == 0.0) & (abreast and "k_n" not in rows)
        code = sum(2**place * everywhere(mask, count)[good] for place, mask in enumerate((free, *varied(rows).values())))
        return [((ABREAST + _LEAN * (int(each) & 1)) if abreast else STEP, good[code == each]) for each in np.unique(code)]
    penalised = everywhere(np.isfinite(rows["k_t"]), count)[good]
    engine = window or EXACT
    if "k_n" in rows:
        bare = everywhere(rows["normal_force"] == 0.0, count)[good]
        masks = {"bare": bare, "rigid": ~bare & ~penalised, "penalised": ~bare & penalised}
        if len(model.walls) > 1:
            return _groups_of_walls(model, {f"{engine}-{name}": mask for name, mask in masks.items()}, rows, good, count)
        groups = {f"{engine}-{name}-{model.name}": mask for name, mask in masks.items()}
        if "damping_criterion" in rows:
            bent = everywhere(_bends(rows), count)[good]
            groups = {f"{name}{ending}": mask & each for name, mask in groups.items() for ending, each in (("", ~bent), ("-bent", bent))}
        return [(name, good[mask]) for name, mask in groups.items()]
    if asked.names:
        return [(f"{engine}-{name}", good[mask]) for name, mask in (("rigid", ~penalised), ("penalised", penalised))]
    lean = everywhere((rows["k"] == 0.0) & (rows["c"] == 0.0), count)[good]
    masks = {"lean": lean & ~penalised, "general": ~lean & ~penalised, "penalised": penalised}
    return [(f"{engine}-{name}", good[mask]) for name, mask in masks.items()]


def _groups_of_walls(
    model: Model, masks: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray], good: np.ndarray, count: int
) -> list[tuple[str, np.ndarray]]:
    """The programs of a model with several walls: a row has the law of each wall in the name of its program."""
    found = [(f"{name}-{model.name}:", mask) for name, mask in masks.items()]
    for place, wall in enumerate(model.walls):
        buckles = everywhere(np.isfinite(rows[f"{wall.prefix}f_crit"]), count)[good]
        varies = buckles & everywhere(_bends(rows, wall.prefix), count)[good]
        laws = {"stop": ~buckles, "buckling": buckles & ~varies, "varying": varies}
        found = [(f"{name}{',' * (place > 0)}{law}", mask & each) for name, mask in found for law, each in laws.items()]
    return [(name, good[mask]) for name, mask in found if np.any(mask)]


def _bends(rows: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """Mask of the walls whose damping varies while they yield and comes on top of their force: those phases are not linear."""
    criterion, dampings, buckled, c_n, softening = (
        rows[prefix + name] for name in ("damping_criterion", "post_damping", "c_buckled", "c_n", "softening")
    )
    varies = np.any((dampings != buckled[..., None]) & ~np.isnan(dampings), axis=-1)
    return (criterion != 0.0) & (varies | ((buckled != c_n) & (softening > 0.0)))


def base(kind: str) -> str:
    """The name of a program without the features of its excitation."""
    return kind.partition("+")[0]


def unread(kind: str) -> set[str]:
    """The parameters of spring, damper and excitation that a program does not read; without features the latter is harmonic."""
    _, plus, ending = kind.partition("+")
    features = ending.split("+") if plus else ["harmonic"]
    names = {name for feature, names in FEATURES.items() if feature not in features for name in names}
    return names | ({"k", "c"} if is_abreast(kind) and base(kind).endswith(_LEAN) else set())


def is_abreast(kind: str) -> bool:
    """Whether the rows of a program take their steps abreast."""
    return kind.startswith(ABREAST)


def is_rigid(kind: str) -> bool:
    """Whether a program reads nothing of the penalised contact."""
    return kind.startswith((EXACT, STEADY)) and base(kind).removesuffix(_SINGLE).split("-")[1] in _RIGID


def in_float32(kind: str, rows: Mapping[str, np.ndarray], members: np.ndarray, count: int) -> list[tuple[str, np.ndarray]]:
    """The programs that run the rows `members` of a program in float32, each with its rows; none where there is none.

    Springs and dampers that are stiff against the excitation go on in float64: their motion has two scales of time, which 7 digits do not
    hold.
    """
    if is_abreast(kind) or base(kind) == STEP:
        return [(kind, members)]
    if kind not in (f"{EXACT}-lean", f"{EXACT}-general"):
        return []
    pace = rows["m"] * rows["omega"]
    soft = everywhere((rows["k"] <= SOFT**2 * pace * rows["omega"]) & (rows["c"] <= SOFT * pace), count)[members]
    return [(name, members[mask]) for name, mask in ((kind + _SINGLE, soft), (kind, ~soft)) if np.any(mask)]


def cost(kind: str, scheme: str, rows: Mapping[str, np.ndarray], count: int) -> np.ndarray:
    """Cost of each row up to a factor: steps, or periods of excitation and of the free oscillator. Equal costs keep their order."""
    if SCHEMES[scheme].fixed_step:
        return everywhere(np.ceil(rows["end"] / rows["step"]), count)
    stiffness = rows["k"] + (0.0 if is_rigid(kind) else rows["k_t"])
    # rounded to powers of 2^(1/4), since only large differences are worth reordering
    periods = rows["end"] * (rows["omega"] + np.sqrt(stiffness / rows["m"]))
    cost = everywhere(np.round(4.0 * np.log2(periods)), count)
    if kind.startswith(EXACT) and is_rigid(kind) and "k_n" not in rows and "+" not in kind:  # what is never released costs next to nothing
        largest = np.abs(rows["f0"] - rows["m"] * rows["a0"]) + np.abs(rows["load"] - rows["k"] * rows["x0"])
        cost = np.where((rows["v0"] == 0.0) & (largest <= rows["mu_s"] * rows["normal_force"]), -np.inf, cost)
    return cost
