"""Write the reference data of the penalised-friction tests (seeded, deterministic).

Run as ``python -m tests.oracle.generate_penalised`` from the top folder. Points closer than ``MARGIN`` (relative) to another sequence of
events are drawn again: their results are ill-conditioned.
"""

from math import pi, sqrt
from random import Random
from typing import Any

from mpmath import nstr

from . import penalised_friction
from .generate import MARGIN, as_text, common, log_uniform, write

Params = dict[str, Any]

KINDS = {
    "critical": 10,
    "ringing": 6,
    "undamped contact": 5,
    "overdamped contact": 6,
    "soft contact": 6,
    "static above dynamic": 6,
    "oscillator": 10,
    "stiff oscillator": 3,
}
# SDND104: k_t [N/m] and c_t [N s/m], None for critical
NAMED = ((9e6, 6000.0), (9e6, None), (9e6, 300.0), (9e6, 0.0), (9e5, None), (9e5, 300.0), (9e5, 0.0))


def critical(p: Params) -> float:
    """The documented default of c_t."""
    return max(0.0, 2.0 * sqrt(p["m"] * (p["k"] + p["k_t"])) - p["c"])


def draw(rng: Random, kind: str) -> Params:
    """Parameters of one row; stiffnesses relative to m omega^2."""
    p = common(rng, log_uniform(rng, 0.05, 1.0))
    if kind != "static above dynamic":
        p["mu_d"] = p["mu_s"]
    elif p["mu_d"] == p["mu_s"]:
        p["mu_d"] = p["mu_s"] * rng.uniform(0.4, 0.99)
    unit = p["m"] * p["omega"] ** 2
    p["k_t"] = unit * {
        "ringing": log_uniform(rng, 1e2, 1e6), "undamped contact": log_uniform(rng, 1e2, 1e4), "soft contact": log_uniform(rng, 0.3, 30.0),
    }.get(kind, log_uniform(rng, 1e3, 1e7))  # fmt: skip
    if "oscillator" in kind:
        p["k"] = unit * (log_uniform(rng, 0.02, 5.0) if kind == "oscillator" else log_uniform(rng, 50.0, 200.0))
        p["c"] = rng.choice([0.0, 2.0 * sqrt(p["m"] * p["k"]) * log_uniform(rng, 1e-3, 3.0)])
    factor = {"ringing": log_uniform(rng, 0.01, 0.5), "undamped contact": 0.0, "overdamped contact": log_uniform(rng, 1.1, 5.0)}
    p["c_t"] = critical(p) * factor.get(kind, 1.0)
    if kind == "soft contact":
        p["c_t"] *= rng.choice([0.0, 0.1, 1.0])
    return p


def row_of(kind: str, p: Params, end: float, window: list[float]) -> dict[str, Any]:
    """One row: the exact input and the results."""
    result = penalised_friction.run(p, end, (window[0], window[1]))
    margin = float(nstr(result.pop("margin"), 3))
    written = {name: value if isinstance(value, int | str) else as_text(value) for name, value in result.items()}
    return {"kind": kind, "params": p, "end": end, "window": window, "margin": margin, "result": written}


def drawn_rows(seed: int) -> list[dict[str, Any]]:
    """Rows of every kind, each drawn until its margin is large enough."""
    rng = Random(seed)
    rows = []
    for kind, count in KINDS.items():
        accepted = 0
        while accepted < count:
            p = draw(rng, kind)
            end = rng.uniform(2, 5) * 2 * pi / p["omega"]
            window = [rng.uniform(0, 0.7) * end, end]
            if rng.random() < 0.5:
                window[1] = rng.uniform(window[0] + 0.1 * end, end)
            row = row_of(kind, p, end, window)
            if row["margin"] >= MARGIN:
                rows.append(row)
                accepted += 1
    return rows


def named_rows() -> list[dict[str, Any]]:
    """SDND104 with the spring of the original tool."""
    rows = []
    for k_t, c_t in NAMED:
        for a0 in (15.0, 1.5, 1.01):
            p: Params = {"m": 1.0, "c": 0.0, "k": 3e-5, "g": 10.0, "mu_s": 0.1, "mu_d": 0.1, "a0": a0, "omega": 2 * pi, "k_t": k_t}
            p["c_t"] = critical(p) if c_t is None else c_t
            rows.append(row_of(f"SDND104 a0={a0} k_t={k_t:g} c_t={c_t or 'critical' if c_t is None else c_t}", p, 12.0, [4.0, 12.0]))
    return rows


def main() -> None:
    """Write the file."""
    about = "Penalised Coulomb friction, parameters taken as exact binary64 numbers"
    write("penalised.json", about, [*named_rows(), *drawn_rows(2024)])


if __name__ == "__main__":
    main()
