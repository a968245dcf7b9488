"""Write the reference data of the rigid-friction tests (seeded, deterministic).

Run as ``python -m tests.oracle.generate`` from the top folder. Points closer than
``MARGIN`` (relative) to another sequence of events are drawn again: their results are
ill-conditioned.
"""

import json
from collections.abc import Callable
from math import exp, log, pi, sqrt
from pathlib import Path
from random import Random
from typing import Any

from mpmath import mpf, nstr

from .rigid_friction import run

DATA = Path(__file__).resolve().parent.parent / "data"
MARGIN = 1e-6
DIGITS = 25
TINY = 1e-40  # below it a result is zero up to rounding
Params = dict[str, Any]

K0_KINDS = {"slip-slip": 120, "stick-slip": 105, "stick": 35}
OSCILLATOR_KINDS = {
    "generic": 40,
    "undamped": 20,
    "resonant undamped": 14,
    "resonant damped": 12,
    "nearly resonant": 6,
    "critical": 12,
    "overdamped": 14,
    "damped, no spring": 12,
    "tiny spring": 14,
    "stiff": 8,
    "frictionless": 8,
}


def log_uniform(rng: Random, low: float, high: float) -> float:
    """Random number whose logarithm is uniform."""
    return exp(rng.uniform(log(low), log(high)))


def common(rng: Random, eta: float, *, plain: bool = False) -> Params:
    """Mass, friction, excitation and initial state for eta = mu_s F_n/(m a0)."""
    m, g = log_uniform(rng, 0.2, 20.0), rng.choice([10.0, 9.81, rng.uniform(1, 20)])
    mu_s = log_uniform(rng, 0.02, 0.8)
    normal = m * g * rng.uniform(0.3, 3.0) if rng.random() < 0.2 else None
    hold = mu_s * (normal or m * g)
    omega = log_uniform(rng, 0.5, 60.0)
    force = hold / eta  # amplitude of the excitation
    speed = force / (m * omega)
    p: Params = {
        "m": m, "c": 0.0, "k": 0.0, "g": g, "mu_s": mu_s, "mu_d": mu_s,
        "normal_force": normal, "a0": force / m, "omega": omega, "phase": 0.0,
        "f0": 0.0, "load": 0.0, "x0": 0.0, "v0": 0.0,
    }  # fmt: skip
    if rng.random() < 0.35:
        p["phase"] = rng.uniform(-pi, pi)
    if plain:
        return p
    if rng.random() < 0.2:
        p["x0"] = rng.uniform(-1, 1) * speed / omega
    if rng.random() < 0.25:
        p["v0"] = rng.uniform(-1, 1) * speed
    if rng.random() < 0.2:
        p["load"] = rng.uniform(-0.5, 0.5) * hold
    if rng.random() < 0.15:
        p["f0"] = rng.uniform(-0.4, 0.4) * force
    if rng.random() < 0.25:
        p["mu_d"] = mu_s * rng.uniform(0.4, 0.99)
    return p


def draw_k0(rng: Random, kind: str) -> Params:
    """Parameters of a mass without spring and damper."""
    if kind == "slip-slip":
        return common(rng, log_uniform(rng, 0.02, 0.54))
    if kind == "stick-slip":
        return common(rng, rng.uniform(0.5, 1.02))
    return common(rng, rng.uniform(1.0, 1.3), plain=rng.random() < 0.6)


def draw_oscillator(rng: Random, kind: str) -> Params:
    """Parameters of a mass on a spring and a damper."""
    p = common(rng, log_uniform(rng, 0.03, 1.2))
    beta, zeta = log_uniform(rng, 0.3, 10.0), log_uniform(rng, 1e-3, 0.9)
    if kind == "stiff":
        beta = rng.uniform(0.04, 0.08)
    if "resonant" in kind:
        beta = 1.0
        if rng.random() < 0.5:  # k = m omega^2 without rounding
            p["m"] = rng.randint(1, 80) / 8
            p["omega"] = rng.randint(8, 640) / 16
    m, omega = p["m"], p["omega"]
    k = m * (omega / beta) ** 2
    if kind == "nearly resonant":
        k *= 1 + rng.choice([-1, 1]) * log_uniform(rng, 1e-12, 1e-5)
    if kind == "tiny spring":
        k = log_uniform(rng, 1e-9, 1e-5)
        zeta = rng.choice([0.0, log_uniform(rng, 1e-2, 1.0)])
    if kind in ("undamped", "resonant undamped"):
        zeta = 0.0
    if kind == "nearly resonant":
        zeta = rng.choice([0.0, log_uniform(rng, 1e-9, 1e-4)])
    if kind == "critical":
        zeta = 1.0
        if rng.random() < 0.5:  # c^2 = 4 m k without rounding
            p["m"] = m = rng.choice([0.25, 1.0, 4.0, 16.0])
            k = m * (rng.randint(1, 400) / 16) ** 2
    if kind == "overdamped":
        zeta = log_uniform(rng, 1.1, 50.0)
    p["k"], p["c"] = k, 2 * zeta * sqrt(m * k)
    if kind == "damped, no spring":
        p["k"], p["c"] = 0.0, m * omega * log_uniform(rng, 1e-6, 30.0)
    if kind == "frictionless":
        p["mu_s"] = p["mu_d"] = 0.0
    return p


def as_text(value: mpf) -> str:
    """Write a result with ``DIGITS`` digits."""
    return nstr(value, DIGITS) if abs(value) > TINY else "0.0"


def row_of(kind: str, p: Params, end: float, window: list[float]) -> dict[str, Any]:
    """One row: the exact input and the results with ``DIGITS`` digits."""
    result = run(p, end, (window[0], window[1]))
    margin = float(nstr(result.pop("margin"), 3))
    written = {name: value if isinstance(value, int | str) else as_text(value) for name, value in result.items()}
    return {
        "kind": kind,
        "params": p,
        "end": end,
        "window": window,
        "margin": margin,
        "result": written,
    }


def draw_rows(seed: int, kinds: dict[str, int], draw: Callable[[Random, str], Params]) -> list[dict[str, Any]]:
    """Rows of every kind, each drawn until its margin is large enough."""
    rng = Random(seed)
    rows = []
    for kind, count in kinds.items():
        accepted = 0
        while accepted < count:
            p = draw(rng, kind)
            end = rng.uniform(3, 15) * 2 * pi / p["omega"]
            window = [rng.uniform(0, 0.9) * end, end]
            if rng.random() < 0.15:
                window[0] = 0.0
            if rng.random() < 0.7:
                window[1] = rng.uniform(window[0] + 0.05 * end, end)
            row = row_of(kind, p, end, window)
            if row["margin"] >= MARGIN:
                rows.append(row)
                accepted += 1
    return rows


def named_rows() -> list[dict[str, Any]]:
    """SDND104 with and without the spring of the original tool."""
    return [
        row_of(
            f"SDND104 a0={a0} k={k} window end {last}",
            {"m": 1.0, "c": 0.0, "k": k, "g": 10.0, "mu_s": 0.1, "mu_d": 0.1,
             "normal_force": None, "a0": a0, "omega": 2 * pi, "phase": 0.0,
             "f0": 0.0, "load": 0.0, "x0": 0.0, "v0": 0.0},
            12.0,
            [4.0, last],
        )
        for k in (0.0, 3e-5)
        for last in (12.0, 11.99)
        for a0 in (15.0, 1.5, 1.01, 0.99)
    ]  # fmt: skip


def write(name: str, description: str, rows: list[dict[str, Any]]) -> None:
    """Write one file with one row per line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    head = json.dumps(description)
    text = f'{{"description": {head},\n"rows": [\n{lines}\n]}}\n'
    (DATA / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the three files."""
    DATA.mkdir(exist_ok=True)
    about = "Rigid Coulomb friction, parameters taken as exact binary64 numbers: "
    write("named.json", about + "SDND104", named_rows())
    write("rigid_k0.json", about + "k = 0, c = 0", draw_rows(104, K0_KINDS, draw_k0))
    write(
        "rigid_oscillator.json",
        about + "with spring and damper",
        draw_rows(1931, OSCILLATOR_KINDS, draw_oscillator),
    )


if __name__ == "__main__":
    main()
