"""The rules between parameters that models share. Nothing here imports JAX."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import friction_laws, links, outside_laws
from tribosweep.kernels.models.features import used
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS, PRESLIDING
from tribosweep.kernels.models.loads import LOAD_RULES
from tribosweep.kernels.models.model import Rule, beyond
from tribosweep.kernels.models.quantity import Values
from tribosweep.kernels.models.schemes import (
    EXACT,
    MOST_STEPS,
    SCHEMES,
    STOPS,
    held_stiffness_and_damping,
    rubs,
    same_friction,
    wall_stiffness_and_damping,
)

TONES = ("tone_a0", "tone_omega", "tone_phase")


def _presliding(p: Values) -> Any:
    """Mask of the rows of LuGre or Dahl friction."""
    return sum(1 * friction_laws.has(p, switch) for switch in PRESLIDING) > 0


def _rules_of(law: outside_laws.OutsideLaw) -> list[Rule]:
    """The rules of a law of friction of another package: schemes, and what it does not read."""
    switch = law.switch
    others = {
        "mu_s": lambda p, _s: ~same_friction(np.maximum(p["mu_s"], p["mu_d"]), np.minimum(p["mu_s"], p["mu_d"])),
        **{name: functools.partial(lambda p, _s, name: used(p.get(name, 0.0)), name=name) for name in outside_laws.MAY_READ[1:]},
    }
    return [
        Rule((switch,), f"scheme 'exact' does not run {law.title}: choose a time scheme, or leave out {switch}",
             lambda p, s: (s == EXACT) & friction_laws.has(p, switch)),
        *(
            Rule((switch, name), f"{law.title} does not read {name}: leave it out",
                 functools.partial(lambda p, s, breaks: friction_laws.has(p, switch) & breaks(p, s), breaks=breaks))
            for name, breaks in others.items()
            if name not in law.reads
        ),
    ]  # fmt: skip


FRICTION_RULES = (
    Rule(("mu_s", "mu_d", "mu"),
         "static friction must be at least dynamic friction (mu_s >= mu_d), or the contact would chatter for ever: give a stribeck_speed, "
         "over which friction rises smoothly, or a greater mu_s",
         lambda p, _s: (np.asarray(p["mu_s"]) < p["mu_d"]) & ~used(p.get("stribeck_speed", 0.0)),
         lambda p, _s: f"mu_s = {p['mu_s']:g} is less than mu_d = {p['mu_d']:g}"),
    Rule(("k_t",), "a time scheme needs the penalised contact: give k_t",
         lambda p, s: (s != EXACT) & np.isposinf(p["k_t"]) & rubs(p) & ~friction_laws.has_law(p),
         lambda _p, s: f"scheme {s!r} needs the tangential stiffness k_t [N/m] (SDND104 uses 9e6), or choose the scheme 'exact'"),
    Rule(("stribeck_speed",), "scheme 'exact' has no Stribeck friction, whose phases are not linear: choose a time scheme, or leave out "
         "stribeck_speed",
         lambda p, s: (s == EXACT) & used(p.get("stribeck_speed", 0.0)),
         lambda p, _s: f"stribeck_speed = {p['stribeck_speed']:g} m/s"),
    Rule(("c_t", "k_t", "normal_amplitude"), "scheme 'exact' needs a damper beside the spring k_t under a normal force that varies, or the "
         "contact would yield and hold again infinitely often: give c_t, mu_s above mu_d, or choose a time scheme",
         lambda p, s: (s == EXACT) & used(p.get("normal_amplitude", 0.0)) & np.isfinite(p["k_t"]) & (np.asarray(p["c_t"]) == 0.0)
         & same_friction(np.asarray(p["mu_s"]), p["mu_d"]) & rubs(p)),
    Rule(tuple(PRESLIDING), "scheme 'exact' has no presliding friction (LuGre, Dahl), whose phases are not linear: choose a time scheme, "
         f"or leave out {' and '.join(PRESLIDING)}",
         lambda p, s: (s == EXACT) & _presliding(p),
         lambda p, _s: ", ".join(f"{name} = {p[name]:g} N/m" for name in PRESLIDING if name in p)),
    Rule(tuple(FRICTION_LAWS), f"friction has one law: give one of {' and '.join(FRICTION_LAWS)}",
         lambda p, _s: sum(1 * used(p.get(name, 0.0)) for name in FRICTION_LAWS) > 1),
    Rule((*PRESLIDING, "normal_amplitude"), "presliding friction (LuGre, Dahl) needs a constant normal force: leave out normal_amplitude",
         lambda p, _s: _presliding(p) & used(p.get("normal_amplitude", 0.0))),
    Rule(("dahl_stiffness", "stribeck_speed"), "Dahl friction has one limit, mu_d F_n: leave out stribeck_speed, or use LuGre friction",
         lambda p, _s: used(p.get("dahl_stiffness", 0.0)) & used(p.get("stribeck_speed", 0.0))),
    *(rule for law in friction_laws.OUTSIDE.values() for rule in _rules_of(law)),
)  # fmt: skip


def _unequal_tones(p: Values) -> Any:
    """Mask of the rows whose tables of tones differ in length."""
    first, second, third = (links.entries(p, name) for name in TONES)
    return (second != first) | (third != first)


EXCITATION_RULES = (
    Rule(TONES, "every tone needs an amplitude and a frequency: tone_a0, tone_omega and tone_phase (if given) must be of one length",
         lambda p, _s: _unequal_tones(p),
         lambda p, _s: ", ".join(f"{name} has {int(links.entries(p, name))}" for name in TONES)),
    Rule(("sweep_rate",), "scheme 'exact' needs a constant frequency, as the response to a sine that sweeps has no closed form in "
         "elementary functions: leave out sweep_rate, or choose a time scheme",
         lambda p, s: (s == EXACT) & (np.asarray(p.get("sweep_rate", 0.0)) != 0.0),
         lambda p, _s: f"sweep_rate = {p['sweep_rate']:g} rad/s^2"),
    *LOAD_RULES,
)  # fmt: skip


def _descends(p: Values, name: str) -> Any:
    """Mask of the rows of a table that does not ascend."""
    return np.any(np.diff(np.asarray(p.get(name, ()), float), axis=-1) <= 0.0, axis=-1)  # false where NaN pads it


def _unequal(p: Values, names: tuple[str, ...], least: int) -> Any:
    """Mask of the rows of tables that go together and are given, but differ in length or have fewer than `least` entries."""
    counts = [links.entries(p, name) for name in names]
    most = functools.reduce(np.maximum, counts)
    return (functools.reduce(np.minimum, counts) < np.maximum(most, least)) & (most > 0)


def _counts_in_words(names: tuple[str, ...]) -> Callable[[Values, str], str]:
    """Advice that tells the lengths of tables."""
    return lambda p, _s: ", ".join(f"{name} has {int(links.entries(p, name))}" for name in names)


_LINKED = tuple(links.LINKS)
LINK_RULES = (
    Rule(_LINKED, "scheme 'exact' has no links beside k and c, along which motion is not linear: choose a time scheme, or leave them out",
         lambda p, s: (s == EXACT) & links.linked(p),
         lambda p, _s: f"given: {', '.join(name for name in _LINKED if links.has(p, name))}"),
    Rule((*_LINKED, "m_2"), "two bodies move as one only with the same linear spring each: leave out m_2, or the links beside k and c",
         lambda p, _s: links.linked(p) & np.isfinite(p.get("m_2", np.inf))),
    *(
        Rule((ordinate, abscissa), f"the tables {abscissa} and {ordinate} must have the same number of entries, {least} at least",
             functools.partial(lambda p, _s, names, least: _unequal(p, names, least), names=(abscissa, ordinate), least=least),
             _counts_in_words((abscissa, ordinate)))
        for abscissa, ordinate, least in links.PAIRS
    ),
    *(
        Rule((abscissa,), f"the nodes of {abscissa} must ascend",
             functools.partial(lambda p, _s, name: _descends(p, name), name=abscissa))
        for abscissa in links.ASCENDING
    ),
    Rule(("hardening_force", "hardening_displacement"),
         "the curve of an elasto-plastic link must begin at 0, 0 with its greatest slope and never fall",
         lambda p, _s: links.unfit(p)),
)  # fmt: skip

WINDOW_RULES = (
    Rule(("window_end", "end"), "the window must end within the run: window_end <= end",
         lambda p, _s: beyond(p["window_end"], p["end"]),
         lambda p, _s: f"window_end = {p['window_end']:g} s is after end = {p['end']:g} s"),
    Rule(("window_start", "window_end"), "the window must have a length: window_start < window_end",
         lambda p, _s: ~(np.asarray(p["window_start"]) < p["window_end"]),
         lambda p, _s: f"window_start = {p['window_start']:g} s is not before window_end = {p['window_end']:g} s"),
)  # fmt: skip


def _unstable(p: Values, scheme: str) -> Any:
    """Mask of the rows whose fixed step is not stable."""
    bound = SCHEMES[scheme].largest_stable_step
    # a contact that lacks the stiffness it needs breaks another rule
    return np.False_ if bound is None else np.isfinite(held_stiffness_and_damping(p)[0]) & (np.asarray(p["step"]) >= bound(p))


def _stable_step(p: Values, scheme: str) -> Any:
    """Largest stable step [s] of a fixed-step scheme; inf for the others."""
    bound = SCHEMES[scheme].largest_stable_step
    return np.inf if bound is None else bound(p)


def _stiffness_in_words(p: Values) -> str:
    """The stiffness and damping that bound the step of one row most: of the wall, the contact or links; without them of the oscillator."""
    parts = {
        _wall_in_words: wall_stiffness_and_damping(p),
        _contact_in_words: held_stiffness_and_damping(p),
        _links_in_words: links.stiffness_and_damping(p),
    }

    def pace(part: tuple[Any, Any]) -> float:
        """The inverse of the largest stable step of a part alone, but for a factor [1/s]."""
        stiffness, damping = (float(value) / float(p["m"]) for value in part)
        return damping + math.sqrt(damping**2 + 4.0 * stiffness)

    worded, most = max(parts.items(), key=lambda each: pace(each[1]))
    if pace(most) == 0.0:
        return f"k = {p['k']:g} N/m and c = {p['c']:g} N s/m"
    return worded(p, *map(float, most))


def _wall_in_words(p: Values, k_n: float, c_n: float) -> str:
    """The stiffness and damping of a wall."""
    by_law = [law.title for switch, law in STOPS.items() if used(p.get(switch, 0.0))]
    return f"{by_law[0]} of up to {k_n:g} N/m and {c_n:g} N s/m" if by_law else f"k_n = {p['k_n']:g} N/m and c_n = {p['c_n']:g} N s/m"


def _contact_in_words(p: Values, k_t: float, c_t: float) -> str:
    """The stiffness and damping of a contact that rubs."""
    laws = {**dict.fromkeys(PRESLIDING, "N/m"), "bristle_damping": "N s/m"}
    given = [f"{name} = {p[name]:g} {unit}" for name, unit in laws.items() if used(p.get(name, 0.0))]
    titles = [law.title for law in friction_laws.OUTSIDE.values() if friction_laws.has(p, law.switch)]
    given += [f"{title} of up to {k_t:g} N/m and {c_t:g} N s/m" for title in titles]
    return " and ".join(given) or f"k_t = {p['k_t']:g} N/m and c_t = {p['c_t']:g} N s/m"


def _links_in_words(p: Values, k: float, c: float) -> str:
    """The stiffness and damping of links beside those of the oscillator."""
    return f"links of up to {k:g} N/m and {c:g} N s/m beside k = {p['k']:g} N/m and c = {p['c']:g} N s/m"


STOP_RULES = tuple(
    Rule((switch,), f"scheme 'exact' does not run {law.title}: choose a time scheme, or leave out {switch}",
         functools.partial(lambda p, s, switch: (s == EXACT) & used(p.get(switch, 0.0)), switch=switch))
    for switch, law in STOPS.items()
) + tuple(
    Rule(tuple(STOPS), f"a stop has one law: give one of {' and '.join(STOPS)}",
         lambda p, _s: sum(1 * used(p.get(name, 0.0)) for name in STOPS) > 1)
    for _ in range(len(STOPS) > 1)
)  # fmt: skip

STEP_RULES = (
    Rule(("step", "end"), f"a run has at most {MOST_STEPS:.0e} steps",
         lambda p, s: SCHEMES[s].fixed_step & (np.asarray(p["end"]) > MOST_STEPS * np.asarray(p["step"])),
         lambda p, _s: f"end = {p['end']:g} s takes {p['end'] / p['step']:.3g} steps of {p['step']:g} s"),
    Rule(("largest_step", "end"), f"a run has at most {MOST_STEPS:.0e} steps, of which none is longer than largest_step",
         lambda p, s: SCHEMES[s].adaptive & (np.asarray(p["end"]) > MOST_STEPS * np.asarray(p["largest_step"])),
         lambda p, _s: f"end = {p['end']:g} s takes {p['end'] / p['largest_step']:.3g} steps or more of at most {p['largest_step']:g} s"),
    Rule(("smallest_step", "step"), "smallest_step must not exceed step, the first one",
         lambda p, s: SCHEMES[s].adaptive & beyond(p["smallest_step"], p["step"]),
         lambda p, _s: f"smallest_step = {p['smallest_step']:g} s, step = {p['step']:g} s"),
    Rule(("largest_step", "smallest_step"), "largest_step must not be less than smallest_step",
         lambda p, s: SCHEMES[s].adaptive & beyond(p["smallest_step"], p["largest_step"]),
         lambda p, _s: f"largest_step = {p['largest_step']:g} s, smallest_step = {p['smallest_step']:g} s"),
    Rule(("retries",), "retries must be a whole number",
         lambda p, s: ("retries" in SCHEMES[s].reads) & (np.asarray(p["retries"]) != np.floor(p["retries"])),
         lambda p, _s: f"retries = {p['retries']:g}"),
    Rule(("step", "k_t", "c_t", "k", "c", "m"), "a fixed step must be stable for the stuck mass and on the wall",
         _unstable,
         lambda p, s: f"step = {p['step']:g} s is unstable: with scheme {s!r} it must be less than {float(_stable_step(p, s)):.4g} s "
                      f"for {_stiffness_in_words(p)}",
         _stable_step),
)  # fmt: skip

LEAST_TOLERANCE, LEAST_STEP = 2.0**-24, 1e-18  # of float32: its rounding error, and a step [s] whose square is in its range
SINGLE_RULES = (
    Rule(("tolerance",),
         "in float32 the tolerance must be at least 6e-8 = 2^-24: the error of a step below that is lost in rounding",
         lambda p, s: ("tolerance" in SCHEMES[s].reads) & (np.asarray(p["tolerance"]) < LEAST_TOLERANCE),
         lambda p, _s: f"tolerance = {p['tolerance']:g}: take a larger one, or leave precision out"),
    Rule(("smallest_step", "step", "largest_step"), f"in float32 no step may be below {LEAST_STEP:g} s",
         lambda p, s: SCHEMES[s].adaptive & (np.fmin(np.fmin(p["step"], p["largest_step"]), p["smallest_step"]) < LEAST_STEP),
         lambda p, _s: f"smallest_step = {p['smallest_step']:g} s, step = {p['step']:g} s, largest_step = {p['largest_step']:g} s"),
)  # fmt: skip
