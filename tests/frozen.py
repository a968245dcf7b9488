"""Results of every program, frozen bit by bit on one machine and compared after a change that should move none.

    python -m tests.frozen write before [PATTERN]       on the code before the change: one file a case in the folder `before`
    python -m tests.frozen compare before [PATTERN]     on the code after it, on the same machine

A case is one program: engine, contacts, excitation, precision and outputs, with a few hundred random rows (fewer where one takes long).
PATTERN is a regular expression for the names of cases. A comparison prints, for each case that moved, the observable that moved most, by
how much (relative to the largest magnitude of its column), and in how many rows; it exits 1 where a difference exceeds 1e-13 (in float32:
1e-6). All cases take about a quarter of an hour on two cores, nearly all of it compiling.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep import kernels
from tribosweep.kernels import Records
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, SCHEMES, STEADY

LARGEST = 1e-13  # relative difference that rounding may explain
LARGEST_SINGLE = 1e-6
TINY = 1e-300
# an observable that is zero but for rounding -> the magnitude to compare its rounding with, in its unit: drift of motions of 0.1 m
LEAST = {"drift": 0.1}
EVERYTHING = Asked(blocks=4, statistics=True)
RECORDS = Records(np.random.default_rng(7).normal(0.0, 2.0, (5, 400)), 0.01)
TABLE = {
    "post_set": np.array([2.0, 3.0, 4.0, 5.0]) / 100,
    "post_stiffness": np.array([20.0, 15.0, 12.5, 10.0]),
    "post_damping": np.array([5.0, 4.0, 3.0, 2.0]) / 10,
}

Case = Callable[[], dict[str, np.ndarray]]


def uniform(name: str, count: int, **ranges: tuple[float, float]) -> dict[str, Any]:
    """Random columns of a case: always the same for the same name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return {key: rng.uniform(low, high, count) for key, (low, high) in ranges.items()}


def oscillators(name: str, count: int) -> dict[str, Any]:
    """Masses on a spring and a damper, shaken."""
    columns = uniform(name, count, m=(0.5, 2.0), k=(0.0, 60.0), c=(0.0, 2.0), a0=(0.2, 8.0), omega=(4.0, 9.0), phase=(0.0, 6.0))
    return {**columns, **uniform(name + "v0", count, v0=(-0.5, 0.5)), "end": 4.0, "window_start": 1.0}


FRICTION: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "bare": lambda _name, _count: {},
    "rigid": lambda name, count: uniform(name + "mu", count, mu=(0.05, 0.3)) | {"normal_force": 8.0},
    "penalised": lambda name, count: uniform(name + "mu", count, mu=(0.05, 0.3), k_t=(1e3, 5e3)) | {"normal_force": 8.0},
}

WALLS: dict[str, tuple[str, Callable[[str, int], dict[str, Any]]]] = {
    "stop": ("stop", lambda name, count: uniform(name, count, k_n=(300.0, 3000.0), c_n=(0.0, 10.0), gap=(0.0, 0.05)) | {"sides": 2.0}),
    "two bodies": ("stop", lambda name, count: uniform(name, count, k_n=(300.0, 3000.0), m_2=(0.5, 3.0), v0_2=(-1.0, 0.0))),
    "buckling": (
        "buckling_wall",
        lambda name, count: (
            uniform(name, count, k_n=(100.0, 300.0), f_crit=(1.0, 3.0), v0=(0.2, 1.0)) | {"f_post": 0.5, "k_post": 90.0, "gap": 0.01}
        ),
    ),
    "buckling by a table": (
        "buckling_wall",
        lambda name, count: (
            uniform(name, count, k_n=(100.0, 300.0), v0=(0.2, 1.0))
            | {"f_crit": 1.0, "f_post": 0.5, "plateau": 0.01, "softening": 0.005, "c_n": 1.0, "c_buckled": 0.5, **TABLE}
        ),
    ),
    "buckling, damping excluded": (
        "buckling_wall",
        lambda name, count: (
            uniform(name, count, k_n=(100.0, 300.0), v0=(0.2, 1.0))
            | {"f_crit": 1.0, "f_post": 0.5, "plateau": 0.01, "softening": 0.005, "c_n": 1.0, "c_buckled": 0.5, **TABLE}
            | {"damping_criterion": 1.0}
        ),
    ),
    "two walls": (
        "two_walls",
        lambda name, count: (
            uniform(name, count, k_n=(300.0, 3000.0), gap=(0.0, 0.05), left_k_n=(100.0, 300.0))
            | {"left_gap": 0.02, "left_f_crit": 2.0, "left_f_post": 0.5, "left_k_post": 90.0}
        ),
    ),
}

DRIVES: dict[str, dict[str, Any]] = {
    "tones": {"tone_a0": np.array([1.0, 0.5]), "tone_omega": np.array([3.0, 11.0]), "tone_phase": np.array([0.3, 1.0])},
    "record": {"record": 2.0, "record_scale": 1.5},
    "sweep": {"sweep_rate": 0.7},
}

VARIED: dict[str, dict[str, Any]] = {
    "varying normal force": {"normal_amplitude": 3.0, "normal_omega": 11.0},
    "two surfaces": {"normal_amplitude": 12.0, "normal_omega": 11.0, "friction_sides": 2.0},
    "Stribeck": {"stribeck_speed": 0.1, "mu_s": 0.35},
    "Stribeck with an exponent": {"stribeck_speed": 0.1, "mu_s": 0.35, "stribeck_exponent": 1.7},
    "belt": {"belt_speed": 0.2},
    "LuGre": {"bristle_stiffness": 3e3, "bristle_damping": 20.0, "viscous_friction": 0.5},
    "LuGre with Stribeck": {"bristle_stiffness": 3e3, "stribeck_speed": 0.1, "mu_s": 0.35},
    "Dahl": {"dahl_stiffness": 3e3, "dahl_exponent": 1.0},
    "all at once": {"belt_speed": 0.2, "stribeck_speed": 0.1, "mu_s": 0.35, "normal_amplitude": 3.0, "normal_omega": 11.0},
}


def by_batch(model: str, scheme: str, columns: dict[str, Any], count: int, **options: Any) -> Case:
    """A case of `tribosweep.kernels.batch.solve`."""

    def run() -> dict[str, np.ndarray]:
        solution = solve(MODELS[model], scheme, columns, count=count, **options)
        return {**solution.observables, "status": solution.status}

    return run


def by_call(function: str, *arguments: Any, derivative: str = "", **options: Any) -> Case:
    """A case of `tribosweep.simulate` or its like, or of its derivative by a parameter."""

    def run() -> dict[str, np.ndarray]:
        import jax
        import jax.numpy as jnp

        model, params = arguments
        call = getattr(kernels, function)
        if not derivative:
            return {name: np.asarray(value) for name, value in call(model, params, **options).items()}

        def along(value: Any) -> Any:
            return {n: v for n, v in call(model, {**params, derivative: value}, **options).items() if jnp.issubdtype(v.dtype, jnp.floating)}

        at = jnp.asarray(params[derivative])
        values, rates = jax.jit(lambda at: jax.jvp(along, (at,), (jnp.ones_like(at),)))(at)
        found = {name: np.asarray(value) for name, value in values.items()}
        return found | {f"d{name}": np.asarray(value) for name, value in rates.items()}

    return run


def cases() -> Iterator[tuple[str, Case]]:
    """Every program by name, with what runs it."""
    yield from _exact()
    yield from _walls()
    yield from _steady()
    yield from _steps()
    yield from _calls()


def _exact(count: int = 300) -> Iterator[tuple[str, Case]]:
    for friction in ("rigid", "penalised"):
        name = f"exact, {friction}"
        rows = oscillators(name, count) | FRICTION[friction](name, count)
        yield name, by_batch("rubbing_mass", EXACT, rows, count)
        yield f"{name}, observed", by_batch("rubbing_mass", EXACT, rows, count, asked=EVERYTHING)
        for drive in ("tones", "record"):
            yield f"{name}, {drive}", by_batch("rubbing_mass", EXACT, rows | DRIVES[drive], count, records=RECORDS)
    rows = oscillators("lean", count) | FRICTION["rigid"]("lean", count)
    free = rows | {"k": 0.0, "c": 0.0}
    yield "exact, rigid, lean", by_batch("rubbing_mass", EXACT, free, count)
    yield "exact, rigid, lean, float32", by_batch("rubbing_mass", EXACT, free, count, dtype=np.float32)
    yield "exact, rigid, float32", by_batch("rubbing_mass", EXACT, rows, count, dtype=np.float32)
    static = rows | uniform("static", count, mu_s=(0.3, 0.5))
    yield "exact, rigid, static friction", by_batch("rubbing_mass", EXACT, static, count)


def _walls(count: int = 60) -> Iterator[tuple[str, Case]]:
    for wall, (model, parameters) in WALLS.items():
        short = {"end": 0.5, "window_start": 0.1} if "excluded" in wall else {}  # Taylor series take long
        for friction, pressed in FRICTION.items():
            if ("excluded" in wall or wall == "two bodies") and friction != "bare":  # takes minutes a row; is forbidden by a rule
                continue
            name = f"exact, {wall}, {friction}"
            rows = oscillators(name, count) | {"a0": 2.0} | short | parameters(name, count) | pressed(name, count)
            yield name, by_batch(model, EXACT, rows, count)
        name = f"exact, {wall}, rigid"
        rows = oscillators(name, count) | {"a0": 2.0} | short | parameters(name, count) | FRICTION["rigid"](name, count)
        if "excluded" not in wall and wall != "two bodies":
            yield f"{name}, observed", by_batch(model, EXACT, rows, count, asked=EVERYTHING)
            for drive in ("tones", "record"):
                yield f"{name}, {drive}", by_batch(model, EXACT, rows | DRIVES[drive], count, records=RECORDS)


def _steady(count: int = 100) -> Iterator[tuple[str, Case]]:
    def windowless(name: str) -> dict[str, Any]:
        return {key: value for key, value in oscillators(name, count).items() if key not in ("end", "window_start")}

    for friction in ("rigid", "penalised"):
        name = f"steady, {friction}"
        yield name, by_batch("rubbing_mass", EXACT, windowless(name) | FRICTION[friction](name, count), count, window=STEADY)
    name = "steady, rigid, lean"
    rows = windowless(name) | FRICTION["rigid"](name, count) | {"k": 0.0, "c": 0.0}
    yield name, by_batch("rubbing_mass", EXACT, rows, count, window=STEADY)
    for friction, pressed in FRICTION.items():
        name, few = f"steady, stop, {friction}", 40
        rows = {key: value[:few] for key, value in (windowless(name) | uniform(name, count, k=(5.0, 60.0), c=(0.3, 2.0))).items()}
        rows |= {"a0": 2.0, "k_n": 800.0, "c_n": 5.0, "gap": 0.02} | pressed(name, few)
        yield name, by_batch("stop", EXACT, rows, few, window=STEADY)


def _steps(count: int = 200) -> Iterator[tuple[str, Case]]:
    for scheme in (name for name in SCHEMES if name != EXACT):
        name = f"{scheme}, penalised"
        rows = oscillators(name, count) | FRICTION["penalised"](name, count) | {"end": 2.0, "step": 1e-3, "tolerance": 1e-6}
        free = rows | {"k": 0.0, "c": 0.0}
        own_pace = rows | uniform(name + "end", count, end=(1.5, 2.5))
        singles = {"dtype": np.float32}
        yield name, by_batch("rubbing_mass", scheme, rows, count)
        yield f"{name}, float32", by_batch("rubbing_mass", scheme, rows, count, **singles)
        yield f"{name}, lean", by_batch("rubbing_mass", scheme, free, count)
        yield f"{name}, lean, float32", by_batch("rubbing_mass", scheme, free, count, **singles)
        yield f"{name}, ends of its own", by_batch("rubbing_mass", scheme, own_pace, count)
        yield f"{name}, ends of its own, float32", by_batch("rubbing_mass", scheme, own_pace, count, **singles)
        yield f"{name}, observed", by_batch("rubbing_mass", scheme, rows, count, asked=EVERYTHING)
        for drive, driven in DRIVES.items():
            yield f"{name}, {drive}", by_batch("rubbing_mass", scheme, rows | driven, count, records=RECORDS)
        for law, varied in VARIED.items():
            yield f"{name}, {law}", by_batch("rubbing_mass", scheme, rows | varied, count)
        yield f"{name}, all at once, ends of its own", by_batch("rubbing_mass", scheme, own_pace | VARIED["all at once"], count)
        yield f"{name}, all at once, float32", by_batch("rubbing_mass", scheme, rows | VARIED["all at once"], count, **singles)
        yield f"{name}, all at once, observed", by_batch("rubbing_mass", scheme, rows | VARIED["all at once"], count, asked=EVERYTHING)
        for wall in ("stop", "two bodies", "buckling by a table", "buckling, damping excluded", "two walls"):
            model, parameters = WALLS[wall]
            rubs = rows | {"a0": 2.0} | parameters(name + wall, count)
            yield f"{scheme}, {wall}", by_batch(model, scheme, rubs, count)
            if wall == "stop":
                yield f"{scheme}, {wall}, float32", by_batch(model, scheme, rubs, count, **singles)
                yield f"{scheme}, {wall}, observed", by_batch(model, scheme, rubs, count, asked=EVERYTHING)


def _calls(count: int = 20) -> Iterator[tuple[str, Case]]:
    base = {"m": 1.0, "a0": 3.0, "mu": 0.1, "end": 3.0, "window_start": 1.0, "omega": 6.0}
    rubbing = {"rigid, lean": base, "rigid": base | {"k": 20.0, "c": 0.5}, "penalised": base | {"k": 20.0, "c": 0.5, "k_t": 4e3}}
    for friction, params in rubbing.items():
        rows = params | {"a0": np.linspace(0.8, 6.0, count)}
        yield f"simulate, {friction}", by_call("simulate", "rubbing_mass", rows)
        yield f"simulate, {friction}, by a0", by_call("simulate", "rubbing_mass", rows, derivative="a0")
        yield f"moment, {friction}", by_call("moment", "rubbing_mass", rows)
        yield f"trace, {friction}", by_call("trace", "rubbing_mass", params)
    rows = rubbing["penalised"] | {"a0": np.linspace(0.8, 6.0, count), "step": 1e-3}
    for scheme in ("euler", "devogelaere", "rk32"):
        yield f"simulate, {scheme}, by a0", by_call("simulate", "rubbing_mass", rows, derivative="a0", scheme=scheme)
    wall = {"m": 1.0, "v0": np.linspace(0.5, 1.0, count), "k_n": 100.0, "f_crit": 3.0, "f_post": 1.0, "k_post": 60.0, "end": 2.0}
    yield "simulate, buckling, by v0", by_call("simulate", "buckling_wall", wall, derivative="v0")
    yield "moment, buckling", by_call("moment", "buckling_wall", wall)
    stop = {"m": 1.0, "a0": 3.0, "omega": 6.0, "k": 5.0, "c": 0.5, "k_n": 500.0, "gap": 0.02, "end": 3.0}
    yield "trace, stop", by_call("trace", "stop", stop)
    steady = {name: value for name, value in rubbing["rigid"].items() if name not in ("end", "window_start")}
    yield "simulate, steady, rigid, by a0", by_call("simulate", "rubbing_mass", steady, derivative="a0", window=STEADY)


def result(name: str) -> dict[str, np.ndarray]:
    """Observable -> values of a case, one entry a row."""
    begun = time.perf_counter()
    try:
        found = dict(cases())[name]()
    except (KeyError, ValueError) as error:  # what is refused is frozen as well
        found = {"refused": np.array(f"{type(error).__name__}: {error}")}
    print(f"{time.perf_counter() - begun:6.1f} s  {name}", file=sys.stderr, flush=True)
    return {key: np.asarray(value) for key, value in found.items()}


def results(pattern: str) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """The cases whose name matches and their results, computed in two processes, which start anew now and then to free their programs."""
    names = [name for name, _ in cases() if re.search(pattern, name)]
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=20) as pool:
        yield from zip(names, pool.imap(result, names), strict=True)


def difference(before: np.ndarray, after: np.ndarray, least: float) -> tuple[float, int]:
    """Largest difference over the largest magnitude (infinite where results cannot be compared), and the number of entries that moved.

    `least` is the least magnitude [SI units] to divide by.
    """
    if before.shape != after.shape or before.dtype.kind != after.dtype.kind:
        return np.inf, max(before.size, after.size)
    if before.dtype.kind not in "fiub":
        return (0.0, 0) if np.array_equal(before, after) else (np.inf, 1)
    before, after = before.astype(np.float64), after.astype(np.float64)
    moved = ~((before == after) | (np.isnan(before) & np.isnan(after)))
    if not moved.any():
        return 0.0, 0
    if not (np.isfinite(before[moved]).all() and np.isfinite(after[moved]).all()):
        return np.inf, int(moved.sum())
    scale = np.max(np.abs(before[np.isfinite(before)]), initial=least)
    return float(np.max(np.abs(before - after)[moved]) / scale), int(moved.sum())


def compare(folder: Path, pattern: str) -> bool:
    """Print what moved, case by case, and whether all of it may be rounding."""
    fine, largest, same, count, new = True, 0.0, 0, 0, 0
    for name, found in results(pattern):
        file = folder / f"{name}.npz"
        if not file.exists():
            new += 1
            continue
        with np.load(file) as stored:
            frozen = {key: stored[key] for key in stored.files}
        bound = LARGEST_SINGLE if "float32" in name else LARGEST
        moved = {key: difference(frozen[key], found[key], LEAST.get(key, TINY)) if key in found else (np.inf, 0) for key in frozen}
        size, observable = max((size, key) for key, (size, _) in moved.items())
        fine, largest, same, count = fine and size <= bound, max(size, largest), same + (size == 0.0), count + 1
        if size > 0.0:
            print(f"{size:9.2e}  {name}: {observable}, {moved[observable][1]} entries", flush=True)
    print(f"{count} programs: {same} to the last bit, largest difference {largest:.2e}; {new} cases are new")
    return fine


def main() -> None:
    """Write or compare (see the top of this file)."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=("write", "compare", "list"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("pattern", nargs="?", default="")
    asked = parser.parse_args()
    if asked.action == "list":
        print("\n".join(name for name, _ in cases()))
    elif asked.action == "write":
        asked.folder.mkdir(parents=True, exist_ok=True)
        for name, found in results(asked.pattern):
            np.savez_compressed(asked.folder / f"{name}.npz", **found)
    else:
        sys.exit(0 if compare(asked.folder, asked.pattern) else 1)


if __name__ == "__main__":
    main()
