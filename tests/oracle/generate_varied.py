"""Write the reference data of friction that varies, by scheme exact (seeded, deterministic).

Run as ``python -m tests.oracle.generate_varied`` from the top folder; it takes minutes.
"""

import math
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.oracle import varied_surface
from tests.oracle.driven_friction import Drive
from tests.oracle.generate import as_text, write

NAMES = ("wear_power", "wear_energy", "friction_power", "slip_distance", "stick_fraction", "drift", "max_slip_speed", "x_end", "v_end")
KINDS = {"rigid": 44, "penalised": 44, "rigid on a belt": 40, "penalised on a belt": 40, "varying on a belt": 40, "tones and record": 40}
RECORD = [0.0, 1.3, -2.1, 0.4, 3.0, -1.7, -0.6, 2.2, 0.9, -2.8, 1.1, 0.2]  # m/s^2
INTERVAL = 0.09  # s
TIMES = {"end": 2.0, "window_start": 0.5, "window_end": 1.8}

Row = dict[str, Any]


def draw(rng: Random, kind: str, place: int) -> Row:
    """Parameters of one row."""
    m, n0 = rng.uniform(0.5, 3.0), rng.uniform(4.0, 20.0)
    mu_d = rng.uniform(0.08, 0.5)
    omega = rng.uniform(3.0, 9.0)
    row = {
        "m": m, "mu_d": mu_d, "mu_s": mu_d * (1.0, 1.0, 1.2, 1.5)[place % 4], "omega": omega, "phase": rng.uniform(-3.0, 3.0),
        "a0": mu_d * n0 / m * rng.uniform(0.6, 4.0), "load": rng.choice([0.0, 0.2 * mu_d * n0]), "normal_force": n0,
        "k": rng.choice([0.0, m * rng.uniform(1.0, 200.0)]), "c": rng.choice([0.0, m * rng.uniform(0.2, 3.0)]),
        "x0": rng.choice([0.0, 0.02]), "v0": rng.choice([0.0, rng.uniform(-0.5, 0.5)]), **TIMES,
    }  # fmt: skip
    if kind in ("rigid", "penalised", "varying on a belt", "tones and record"):
        row |= {
            "normal_amplitude": n0 * (0.4, 0.9, 1.7, -2.5)[place // 4 % 4], "normal_omega": rng.choice([omega, rng.uniform(2.0, 15.0)]),
            "normal_phase": rng.uniform(-3.0, 3.0), "friction_sides": 1.0 + (place % 3 == 2),
        }  # fmt: skip
    if "belt" in kind:
        row |= {"belt_speed": rng.choice([-1.0, 1.0]) * rng.uniform(0.02, 0.6)}
    if "penalised" in kind or (kind in ("varying on a belt", "tones and record") and place % 2):
        row["k_t"] = m * math.exp(rng.uniform(math.log(1e3), math.log(2e4)))
        row["c_t"] = rng.choice([1.0, 0.3, 2.0]) * 2.0 * math.sqrt(m * (row["k"] + row["k_t"]))
    if kind == "tones and record":
        row |= {"tone_a0": [rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 2.0)], "tone_omega": [11.0, 4.7], "tone_phase": [0.3, -1.0]}
        row |= {"record": 0.0, "record_scale": rng.uniform(-1.0, 1.0)}
    return row


def of_oracle(row: Row) -> tuple[Any, ...]:
    """The arguments of `varied_surface.run`."""
    m = row["m"]
    sines = [(-m * row["a0"], row["omega"], row["phase"])]
    sines += [(-m * a, w, phase) for a, w, phase in zip(*(row.get(f"tone_{name}", []) for name in ("a0", "omega", "phase")), strict=True)]
    shaken = [-m * row["record_scale"] * each for each in RECORD] if "record" in row else []
    surface = varied_surface.Surface(
        (row["normal_force"], row.get("normal_amplitude", 0.0), row.get("normal_omega", 1.0), row.get("normal_phase", 0.0)),
        int(row.get("friction_sides", 1.0)),
        row.get("belt_speed", 0.0),
    )
    p = {name: row[name] for name in ("m", "c", "k", "x0", "v0", "mu_s", "mu_d", "k_t", "c_t") if name in row}
    return p, Drive(row["load"], sines, shaken, INTERVAL), surface, row["end"], (row["window_start"], row["window_end"])


def rows(seed: int = 28) -> Iterator[Row]:
    """The rows, with the results as text."""
    rng = Random(seed)
    for kind, count in KINDS.items():
        for place in range(count):
            row = draw(rng, kind, place)
            found = varied_surface.run(*of_oracle(row))
            params = {name: number for name, number in row.items() if name not in TIMES}
            told = {name: as_text(found[name]) for name in NAMES}
            yield {
                "kind": kind, "params": params, "end": row["end"], "window": [row["window_start"], row["window_end"]], "result": told,
                "events": found["events"],
            }  # fmt: skip


if __name__ == "__main__":
    write("varied.json", "Friction that varies, parameters taken as exact binary64 numbers", list(rows()))
