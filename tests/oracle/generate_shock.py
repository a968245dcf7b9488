"""Write the reference data of the tests of stops and walls (seeded, deterministic).

Run as ``python -m tests.oracle.generate_shock`` from the top folder. Points closer than ``MARGIN`` (relative) to another sequence of
events, or whose end depends too much on the start, are drawn again: their results are ill-conditioned.
"""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import pi, sqrt
from random import Random
from typing import Any

from mpmath import isnan, mp, mpf, nstr

from . import shock
from .generate import DIGITS, TINY, log_uniform, write
from .shock_events import DIGITS as WORKING
from .shock_events import Oscillator

Params = dict[str, Any]

MARGIN = 1e-5
SENSITIVE = 300.0  # largest growth of a disturbance of the start
EPSILON = mpf("1e-20")
LISTED = 6  # impacts written one by one, with SHORT digits
SHORT = 18
MANY = 60  # more impacts than this are drawn again


def base(rng: Random) -> Params:
    """A mass in front of a wall that it meets at about 1/4 to 4 m/s."""
    m, k_n = log_uniform(rng, 0.2, 20.0), log_uniform(rng, 10.0, 1e5)
    v0 = log_uniform(rng, 0.25, 4.0)
    gap = rng.choice([0.0, v0 * 2 * pi * sqrt(m / k_n) * rng.uniform(0.1, 2.0)])
    return {"m": m, "c": 0.0, "k": 0.0, "v0": v0, "x0": 0.0, "gap": gap, "k_n": k_n, "c_n": 0.0}


def contact_period(p: Params) -> float:
    """Of the mass on the elastic contact."""
    return 2 * pi * sqrt(p["m"] / p["k_n"])


def carry(rng: Random, p: Params, factor: float = 1.0) -> None:
    """Put the mass on a spring that brings it back."""
    p["k"] = p["k_n"] * log_uniform(rng, 1e-3, 0.1) * factor
    p["c"] = 2 * sqrt(p["m"] * p["k"]) * rng.choice([0.0, log_uniform(rng, 1e-3, 0.3)])


def shake(rng: Random, p: Params, omega: float, speed: float) -> None:
    """Shake the base so that the free mass would reach about ``speed``."""
    p["omega"], p["a0"] = omega, speed * omega
    if rng.random() < 0.6:
        p["phase"] = rng.uniform(-pi, pi)
    if rng.random() < 0.25:
        p["f0"] = p["m"] * p["a0"] * rng.uniform(-0.4, 0.4)


def free_flight(rng: Random) -> tuple[Params, float]:
    """An elastic stop, hit once by a free mass or again and again by one on a spring."""
    p = base(rng)
    if rng.random() < 0.5:
        carry(rng, p)
        p["c"] = 0.0
    if rng.random() < 0.2:
        p["gap"] = -p["v0"] * contact_period(p) * rng.uniform(0.02, 0.1)
    return p, contact_period(p) * rng.uniform(2, 12)


def damped_stop(rng: Random) -> tuple[Params, float]:
    """A stop with a damper, underdamped to overdamped."""
    p = base(rng)
    p["c_n"] = 2 * sqrt(p["m"] * p["k_n"]) * rng.choice([1.0, log_uniform(rng, 0.01, 0.9), log_uniform(rng, 1.1, 8.0)])
    if rng.random() < 0.6:
        carry(rng, p)
    if rng.random() < 0.3:
        p["x0"] = p["gap"] + p["v0"] * contact_period(p) * rng.uniform(-0.2, 0.2)
    return p, contact_period(p) * rng.uniform(2, 15)


def two_sided(rng: Random) -> tuple[Params, float]:
    """A mass between two stops on a shaken base."""
    p = base(rng) | {"sides": 2}
    period = contact_period(p) * log_uniform(rng, 2.0, 12.0)
    shake(rng, p, 2 * pi / period, p["v0"])
    p["gap"] = rng.choice([0.0, p["v0"] * period * rng.uniform(0.02, 0.3), p["v0"] * period * rng.uniform(0.02, 0.3)])
    p["v0"] *= rng.choice([0.0, rng.uniform(-1, 1)])
    p["c_n"] = 2 * sqrt(p["m"] * p["k_n"]) * log_uniform(rng, 0.05, 0.9)
    if rng.random() < 0.7:
        carry(rng, p)
        p["c"] = max(p["c"], 2 * sqrt(p["m"] * p["k"]) * 0.02)
    return p, period * rng.uniform(2, 8)


def falling(rng: Random) -> tuple[Params, float]:
    """A mass that falls on a stop; gravity is a load towards it."""
    p = base(rng)
    g, height = rng.choice([9.81, 10.0]), log_uniform(rng, 0.01, 2.0)
    p |= {"load": p["m"] * g, "v0": 0.0, "gap": rng.choice([0.0, height])}
    p["c_n"] = 2 * sqrt(p["m"] * p["k_n"]) * rng.choice([0.0, log_uniform(rng, 0.02, 1.5)])
    p["x0"] = p["gap"] - height
    return p, 2 * sqrt(2 * height / g) * rng.uniform(0.8, 4.0) + contact_period(p)


def buckle(rng: Random, p: Params, *, table: bool, plateau: bool = True, softening: bool = True, damped: bool = False) -> None:
    """Turn the stop into a wall that the mass buckles, more or less far."""
    crit, post = 1.0, rng.uniform(0.2, 0.9)
    scale = p["v0"] * sqrt(p["m"] * p["k_n"]) * rng.uniform(0.15, 0.95)  # f_crit: the elastic wall would give v0 sqrt(m k_n)
    elastic = scale / p["k_n"]
    p |= {"f_crit": scale * crit, "f_post": scale * post}
    p["plateau"] = elastic * rng.uniform(0.1, 2.0) if plateau else 0.0
    p["softening"] = elastic * rng.uniform(0.2, 3.0) if softening else 0.0
    end = elastic + p["plateau"] + p["softening"]
    if table:
        count = rng.choice([1, 2, 3, 4, 6])
        totals = list(accumulate([elastic * rng.uniform(0.3, 2.5) for _ in range(count)], initial=end))
        part, sets = p["plateau"], []
        for before, after in pairwise(totals):
            part += (after - before) * rng.choice([1.0, rng.uniform(0.2, 0.95)])
            sets.append(part)
        p["post_set"] = sets
        p["post_stiffness"] = [p["f_post"] / (total - part) for total, part in zip(totals[1:], sets, strict=True)]
    else:
        p["k_post"] = p["f_post"] / (end - p["plateau"]) * rng.uniform(1.01, 4.0)
    if damped:
        full = 2 * sqrt(p["m"] * p["k_n"])
        p["c_n"] = full * log_uniform(rng, 0.02, 0.6)
        p["c_buckled"] = full * log_uniform(rng, 0.02, 0.6)
        if table:
            p["post_damping"] = [full * log_uniform(rng, 0.02, 0.6) for _ in p["post_set"]]


def once(rng: Random, p: Params) -> tuple[Params, float]:
    """The span of one impact, more or less."""
    if rng.random() < 0.4:
        carry(rng, p, 0.1)
    return p, (contact_period(p) + abs(p["gap"]) / max(p["v0"], 0.1)) * rng.uniform(1.0, 6.0)


def wall(rng: Random, *, table: bool) -> tuple[Params, float]:
    """A wall without damping, with everything."""
    p = base(rng)
    buckle(rng, p, table=table)
    return once(rng, p)


def brittle(rng: Random) -> tuple[Params, float]:
    """A wall that has no plateau, or whose force drops at once."""
    p = base(rng)
    which = rng.randrange(3)
    buckle(rng, p, table=rng.random() < 0.5, plateau=which == 0, softening=which == 1, damped=rng.random() < 0.3)
    if "post_damping" in p or p["c_n"]:
        p["damping_criterion"] = rng.choice(["included", "excluded"])
    return once(rng, p)


def damped_wall(rng: Random, criterion: str) -> tuple[Params, float]:
    """A wall with a damper."""
    p = base(rng)
    p["v0"] *= 2.0
    buckle(rng, p, table=rng.random() < 0.7, damped=True)
    p["damping_criterion"] = criterion
    if rng.random() < 0.15:
        p["x0"] = p["gap"] + p["f_crit"] / p["k_n"] * rng.uniform(0.2, 2.0)
    return once(rng, p)


def again(rng: Random) -> tuple[Params, float]:
    """A mass on a spring that comes back to the buckled wall, driven near its resonance."""
    p = base(rng)
    buckle(rng, p, table=rng.random() < 0.6, damped=rng.random() < 0.7)
    p["damping_criterion"] = rng.choice(["included", "excluded"])
    carry(rng, p)
    own = sqrt(p["k"] / p["m"])
    shake(rng, p, own * rng.uniform(0.7, 1.4), p["v0"] * rng.uniform(0.2, 1.0))
    return p, 2 * pi / own * rng.uniform(2, 5)


def rub(rng: Random, p: Params, part: float) -> None:
    """Rigid friction that resists ``part`` of the excitation."""
    p["mu_s"], p["g"] = log_uniform(rng, 0.05, 0.8), rng.choice([9.81, 10.0])
    p["normal_force"] = part * p["m"] * p["a0"] / p["mu_s"]
    p["mu_d"] = p["mu_s"] * rng.choice([1.0, rng.uniform(0.5, 0.99)])


def rubbing(rng: Random, *, penalised: bool) -> tuple[Params, float]:
    """A rubbing mass that meets stops, or a wall."""
    p, end = two_sided(rng)
    p["sides"] = rng.choice([1, 2])
    rub(rng, p, log_uniform(rng, 0.02, 0.7))
    if penalised:
        unit = p["m"] * p["omega"] ** 2
        p["mu_d"] = p["mu_s"]
        p["k_t"] = unit * log_uniform(rng, 1e2, 1e4)
        p["c_t"] = max(0.0, 2 * sqrt(p["m"] * (p["k"] + p["k_t"])) - p["c"]) * rng.choice([1.0, 1.0, 0.2])
    elif p["sides"] == 1 and rng.random() < 0.5:
        p["v0"] = log_uniform(rng, 0.25, 4.0)
        buckle(rng, p, table=rng.random() < 0.5, damped=rng.random() < 0.7)
        p["damping_criterion"] = rng.choice(["included", "excluded"])
    return p, end


def pressed(rng: Random) -> tuple[Params, float]:
    """A mass that a load presses on its contact, pulled so hard that the force is 0 for a while before it leaves."""
    p = base(rng)
    p |= {"v0": 0.0, "load": p["k_n"] * log_uniform(rng, 1e-3, 1e-2), "c_n": 2 * sqrt(p["m"] * p["k_n"]) * rng.uniform(0.3, 2.0)}
    p |= {"f0": p["load"] * rng.uniform(1.1, 2.0), "omega": sqrt(p["k_n"] / p["m"]) * rng.uniform(0.3, 2.0), "phase": rng.uniform(-pi, pi)}
    p["x0"] = p["gap"] + p["load"] / p["k_n"] * rng.uniform(0.2, 1.2)
    if rng.random() < 0.5:
        p |= {
            "f_crit": p["load"] * rng.uniform(1.1, 1.8),
            "plateau": p["load"] / p["k_n"] * rng.uniform(0.5, 3.0),
            "c_buckled": p["c_n"] * 0.5,
        }
        p |= {"f_post": p["f_crit"] * rng.uniform(0.8, 0.99), "softening": p["plateau"] * rng.uniform(1.0, 5.0)}
        p |= {"k_post": p["k_n"] * 1.5, "damping_criterion": rng.choice(["included", "excluded"])}
    return p, 2 * pi / p["omega"] * rng.uniform(1.5, 4.0)


def capped(rng: Random) -> tuple[Params, float]:
    """A wall whose damper alone reaches the criterion, and lets it go again."""
    p = base(rng)
    buckle(rng, p, table=rng.random() < 0.5, damped=True)
    p |= {"damping_criterion": "included", "c_n": 2 * sqrt(p["m"] * p["k_n"]) * rng.uniform(0.3, 3.0)}
    p |= {"v0": p["f_crit"] / p["c_n"] * rng.uniform(1.02, 2.0)}
    return once(rng, p)


def healing(rng: Random) -> tuple[Params, float]:
    """A buckled wall that is hit fast again: with the damping included its plastic set shrinks."""
    p = base(rng)
    buckle(rng, p, table=rng.random() < 0.6, damped=True)
    p["damping_criterion"] = "included"
    p["c_buckled"] = 2 * sqrt(p["m"] * p["k_n"]) * rng.uniform(0.1, 0.6)
    p["k"] = p["k_n"] * log_uniform(rng, 1e-2, 0.1)
    own = sqrt(p["k"] / p["m"])
    shake(rng, p, own * rng.uniform(0.7, 1.4), p["v0"] * rng.uniform(0.5, 2.0))
    return p, 2 * pi / own * rng.uniform(1.5, 3.5)


KINDS: dict[str, tuple[int, Callable[[Random], tuple[Params, float]]]] = {
    "free flight": (10, free_flight),
    "damped stop": (10, damped_stop),
    "two-sided stop": (12, two_sided),
    "falling": (10, falling),
    "wall": (10, lambda rng: wall(rng, table=False)),
    "wall with a table": (12, lambda rng: wall(rng, table=True)),
    "no plateau or no softening": (12, brittle),
    "damping included": (12, lambda rng: damped_wall(rng, "included")),
    "damping excluded": (12, lambda rng: damped_wall(rng, "excluded")),
    "again and again": (14, again),
    "rubbing": (12, lambda rng: rubbing(rng, penalised=False)),
    "penalised rubbing": (8, lambda rng: rubbing(rng, penalised=True)),
    "pressed": (6, pressed),
    "capped": (6, capped),
    "healing": (8, healing),
}
WANTED = {"pressed": "LIFTED ELASTIC", "capped": "CAPPED ELASTIC", "healing": "healed"}  # events that must be seen


def as_text(value: mpf, digits: int = DIGITS) -> str:
    """Write a result, or nan."""
    if isnan(value):
        return "nan"
    return nstr(value, digits) if abs(value) > TINY else "0.0"


def sensitivity(p: Params, end: float) -> float:
    """Growth of small disturbances of x0, and of v0 times the span, to the end; v there over the frequency of the contact."""
    with mp.workdps(WORKING):
        swing = max(1.0, end)
        plain = Oscillator(p, end).segments[-1].jet(mpf(end))
        worst = mpf(0)
        for name, unit in (("x0", mpf(1)), ("v0", 1 / mpf(swing))):
            moved = Oscillator({**p, name: mpf(p.get(name, 0.0)) + EPSILON * unit}, end).segments[-1].jet(mpf(end))
            worst = max(worst, abs(moved[0] - plain[0]) / EPSILON, abs(moved[1] - plain[1]) / EPSILON / sqrt(p["k_n"] / p["m"]))
        return float(worst)


def row_of(kind: str, p: Params, end: float) -> dict[str, Any]:
    """One row: the exact input and the results."""
    result = shock.run(p, end)
    margin = float(nstr(result.pop("margin"), 3))
    events, impacts = result.pop("events"), result.pop("each_impact")
    written = {name: value if isinstance(value, int) else as_text(value) for name, value in result.items()}
    each = [{name: as_text(value, SHORT) for name, value in vars(impact).items()} for impact in impacts[:LISTED]]
    phases = [[float(nstr(time, 9)), name] for time, name, _, _ in events[: 5 * LISTED]]
    return {"kind": kind, "params": p, "end": end, "margin": margin, "result": written, "each_impact": each, "events": phases}


def drawn_rows(seed: int) -> list[dict[str, Any]]:
    """Rows of every kind, each drawn until it is well-conditioned."""
    rows = []
    for kind, (count, draw) in KINDS.items():
        rng = Random(f"{seed} {kind}")
        accepted = 0
        while accepted < count:
            p, end = draw(rng)
            try:
                row = row_of(kind, p, end)
            except ArithmeticError:
                continue
            hit = 0 < row["result"]["impacts"] <= MANY and (kind not in WANTED or WANTED[kind] in [name for _, name in row["events"]])
            if hit and row["margin"] >= MARGIN and sensitivity(p, end) <= SENSITIVE:
                rows.append(row)
                accepted += 1
    return rows


def named_rows() -> list[dict[str, Any]]:
    """SDND105 without and with the spring of the original tool."""
    a: Params = {"m": 1.0, "v0": 2.0, "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "k_post": 0.5}
    b = a | {"k_n": 0.5, "k_post": 0.25}
    c: Params = {
        "m": 1.0, "v0": 2.0 * sqrt(2.0), "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0,
        "post_set": [2.0, 3.0, 4.0, 5.0], "post_stiffness": [0.2, 0.15, 0.125, 0.1],
    }  # fmt: skip
    d = c | {"c_n": 10.0, "c_buckled": 5.0, "post_damping": [5.0, 5.0, 5.0, 5.0]}
    cases = (
        ("A", a, 12.0), ("C", c, 12.0), ("C cut at 9 s", c, 9.0),
        ("D included", d | {"damping_criterion": "included"}, 70.0), ("D excluded", d | {"damping_criterion": "excluded"}, 12.0),
    )  # fmt: skip
    rows = [row_of(f"SDND105 {name} k={k:g}", p | {"k": k}, end) for name, p, end in cases for k in (0.0, 1e-7)]
    # two masses of 1 kg that meet at +-2 m/s: the relative motion has half the mass, twice the speed
    relative = b | {"m": 0.5, "v0": 4.0}
    return [*rows, *(row_of(f"SDND105 B k={k:g}", relative | {"k": k / 2}, 12.0) for k in (0.0, 1e-7))]


def main() -> None:
    """Write the file."""
    about = "Elastic stops and walls that buckle, parameters taken as exact binary64 numbers"
    write("shock.json", about, [*named_rows(), *drawn_rows(105)])


if __name__ == "__main__":
    main()
