"""Checks of a law that another package brings; see `docs/how-to/laws.md`. They compile programs, for one to five minutes.

from tribosweep.testing import check_law

def test_my_law():
    check_law("tanh_speed", {"mu": 0.1, "normal_force": 5.0, "tanh_speed": 0.05, "k": 20.0, "v0": 0.4})
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models import MODELS, Model, outside_laws
from tribosweep.kernels.models.outside_laws import FRICTION, LINK, OutsideLaw
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import Status

if TYPE_CHECKING:
    from jax import Array

TIME_SCHEMES = tuple(name for name in SCHEMES if name != EXACT)
PRECISE_TOLERANCE = 1e-10  # of rk54
SEEN = ("x_end", "v_end")


def check_law(
    switch: str, parameters: Mapping[str, float], *, model: str = "", schemes: Sequence[str] = TIME_SCHEMES, allowed: float = 2e-2
) -> list[str]:
    """Check a law that a package brings by the entry point `tribosweep.laws`, in runs with its parameters.

    Rows do not depend on their neighbours; NaN gives the status of bad parameters; the force of friction is that of its state, and
    opposes slip; what friction or a link dissipates over a closed cycle is the work on it; each scheme tends to an accurate run of rk54;
    derivatives, forward in every scheme and in reverse in those of fixed step, tend to those of differences.

    Args:
        switch: the parameter that switches the law on.
        parameters: of a run in which the law matters, by name (numbers, SI units). `end` is 1 s and `step` 1e-3 s unless they are given.
        model: of the runs; by default "stop" for a law of a wall, else "rubbing_mass".
        schemes: the time schemes to check; if there are none only the cycle is checked.
        allowed: largest error of theirs at `step`, as a part of the largest of |x_end| and |v_end|; five times that of derivatives.

    Returns:
        What was found, a sentence each.

    Raises:
        ValueError: there is no such law, or a run breaks a rule of the model.
        AssertionError: with all that is wrong.
    """
    law = outside_laws.laws().get(switch)
    if law is None:
        why = (
            "; ".join(outside_laws.faults())
            or f"the laws are switched on by {', '.join(outside_laws.laws()) or 'nothing: none is installed'}"
        )
        raise ValueError(f"no law is switched on by {switch!r}: {why}")
    chosen = MODELS[model or ("stop" if law.kind == outside_laws.WALL else "rubbing_mass")]
    given = {"end": 1.0, "step": 1e-3} | dict(parameters)
    if not given.get(switch):
        raise ValueError(f"give {switch}, which switches the law on")
    found, wrong = list[str](), list[str]()
    checks = (_rows, _cycle, _converges, _derivatives)
    for check in checks:
        for right, sentence in check(law, chosen, given, schemes, allowed):
            (found if right else wrong).append(sentence)
    if wrong:
        raise AssertionError(f"{law.title}: " + "; ".join(wrong))
    return found


Finding = tuple[bool, str]


def _run(model: Model, given: Mapping[str, Any], scheme: str, **more: Any) -> Any:
    """The observables of a run."""
    from tribosweep.kernels import simulate

    return simulate(model.name, {**given, **more}, scheme=scheme)


def _rows(law: OutsideLaw, model: Model, given: Mapping[str, float], schemes: Sequence[str], _allowed: float) -> list[Finding]:
    """Rows beside others, and a row with NaN."""
    import numpy as np

    if not schemes:
        return []
    scheme = schemes[0]
    parts = [1.0, 0.5, np.nan, *([] if law.kind == FRICTION else [0.0])]  # without its law a row of friction lacks k_t
    several = {**given, law.switch: np.array(parts) * given[law.switch]}
    rows, alone = _run(model, several, scheme), _run(model, given, scheme)
    status = [int(each) for each in np.asarray(rows["status"])]
    found = [
        (_same(rows, 0, alone), f"by {scheme} a row beside others has the motion of that row alone"),
        (status[2] != Status.OK, f"a row with {law.switch} = NaN has the status {_status(status[2])}"),
    ]
    if law.kind == FRICTION:
        return found
    without = _run(model, {name: value for name, value in given.items() if name not in by_name(law.parameters)}, scheme)
    return [*found, (_same(rows, 3, without), f"a row with {law.switch} = 0 beside others has the motion without the law")]


def _same(rows: Any, row: int, alone: Any) -> bool:
    """Whether a row has the ends of a run alone, but for the last digits, in which the vectors of a processor may differ."""
    return all(abs(float(rows[name][row]) - float(alone[name])) <= 1e-12 * max(abs(float(alone[each])) for each in SEEN) for name in SEEN)


def _status(code: int) -> str:
    """The name of a status."""
    return next(each.name for each in Status if each == code)


def _cycle(law: OutsideLaw, model: Model, given: Mapping[str, float], _schemes: Sequence[str], _allowed: float) -> list[Finding]:
    """What is dissipated over a closed cycle, the second one, is the work on the law."""
    import jax.numpy as jnp
    import numpy as np

    from tribosweep.kernels.contact.link_law import Travel
    from tribosweep.kernels.contact.path import Path

    if law.kind not in (FRICTION, LINK):
        return []
    made = law.of({name: jnp.asarray(value, float) for name, value in _resolved(law, model, given).items()})
    count, size = 500, 0.3
    angle = np.linspace(0.0, 4.0 * np.pi, 2 * count + 1)
    x, v, h = (jnp.asarray(each) for each in (size * np.sin(angle), size * np.cos(angle), angle[1] - angle[0]))
    work, moved, lost, phases = 0.0, 0.0, 0.0, list[Finding]()
    if law.kind == LINK:
        state = made.at_start(x[0])
        for n in range(2 * count):
            travel = Travel(x[n], Path.of(h, v[n], v[n + 1], x[n + 1] - x[n]))
            after = made.along(state, travel)
            if n >= count:
                powers = [float(made.force(memory, x[at], v[at]) * v[at] * h) for memory, at in ((state, n), (after, n + 1))]
                work, moved = work + 0.5 * sum(powers), moved + 0.5 * sum(map(abs, powers))
                lost += float(made.dissipated(state, travel, after))
            state = after
    else:
        work, moved, lost, phases = _cycle_of_friction(made, x, v, h, count)
    right = abs(work - lost) < 1e-2 * moved  # of what goes to and fro
    return [
        *phases,
        (right, f"a cycle of {size} m does a work of {work:.6g} J and dissipates {lost:.6g} J"),
        (lost > -1e-9 * moved, "it gains no energy" if lost > -1e-9 * moved else "it gains energy"),
    ]


def _cycle_of_friction(made: Any, x: Array, v: Array, h: Array, count: int) -> tuple[float, float, float, list[Finding]]:
    """Work [J] on a law of friction over the second of two cycles, and that of its parts without signs; what it dissipates [J].

    Of displacements `x` [m] at velocities `v` [m/s]. Also whether the force follows from the state, and opposes slip.
    """
    import jax.numpy as jnp

    from tribosweep.kernels.contact.friction_law import SupportStep

    zero, work, size, lost = jnp.zeros(()), 0.0, 0.0, 0.0
    memory = made.at_start(v[0])
    before = made.force(memory, v[0])
    differs, helps = 0.0, 0
    for n in range(2 * count):
        moved = x[n + 1] - x[n]
        force, after = made.evaluate(memory, moved, v[n + 1], zero, None, h)
        if n >= count:
            powers = [float(-each * v[at] * h) for each, at in ((before, n), (force, n + 1))]
            work, size = work + 0.5 * sum(powers), size + 0.5 * sum(map(abs, powers))
            lost += _dissipated(made, SupportStep(h, v[n], v[n + 1], moved, None, memory, after))
        differs = max(differs, abs(float(force - made.force(after, v[n + 1]))) / max(abs(float(force)), 1e-30))
        helps += bool(after.slips) and float(force * v[n + 1]) > 0.0
        memory, before = after, force
    phases = [
        (differs < 1e-12, f"the force after a step differs from that of its state by {differs:.2g}"),
        (helps == 0, f"friction drives the slip in {helps} of {2 * count} steps"),
    ]
    return work, size, lost, phases


def _dissipated(made: Any, step: Any) -> float:
    """Energy [J] that friction dissipates in a step, as a run counts it."""
    sliding = made.rubs(step)
    if sliding is None:
        return abs(float(made.force(step.after, step.v1) * step.slid)) if bool(step.after.slips) else 0.0
    if sliding.friction is not None:
        return float(sliding.friction)
    return abs(float(made.force(step.after, step.v1) * sliding.slid)) if bool(sliding.works(step.after)) else 0.0


def _resolved(law: OutsideLaw, model: Model, given: Mapping[str, float]) -> dict[str, Any]:
    """Resolved parameters, those of other laws left out."""
    others = {quantity.name for quantity in outside_laws.parameters()} - {quantity.name for quantity in law.parameters}
    return {name: value for name, value in model.resolve(given).items() if name not in others}


def _converges(law: OutsideLaw, model: Model, given: Mapping[str, float], schemes: Sequence[str], allowed: float) -> list[Finding]:
    """Every scheme tends to an accurate run."""
    del law
    if not schemes:
        return []
    exact = _run(model, {**given, "tolerance": PRECISE_TOLERANCE}, "rk54")
    scale = max(abs(float(exact[name])) for name in SEEN)
    found = []
    for scheme in schemes:
        errors = []
        for part in (1.0, 0.25):
            steps = {"step": given["step"] * part, "largest_step": given["step"] * part, "tolerance": 1e-6 * part}
            run = _run(model, given, scheme, **steps)
            errors.append(max(abs(float(run[name]) - float(exact[name])) for name in SEEN) / scale)
        right = errors[0] < allowed and (errors[1] < 0.6 * errors[0] or errors[1] < 1e-6)
        found.append((right, f"{scheme} is off by {errors[0]:.2g} at {given['step']:g} s and {errors[1]:.2g} at a quarter of it"))
    return found


def _derivatives(law: OutsideLaw, model: Model, given: Mapping[str, float], schemes: Sequence[str], allowed: float) -> list[Finding]:
    """Derivatives of x_end and v_end by the parameters of the law and v0, against differences of an accurate run.

    Where a force jumps, as at the face of a damped stop, differences of a run with steps do not know when; derivatives do.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    if not schemes:
        return []
    names = ["v0", *(quantity.name for quantity in law.parameters if quantity.kind == "float" and quantity.name in given)]
    at = np.array([float(given.get(name, 0.0)) for name in names])
    size = 1e-4 * np.maximum(np.abs(at), 1e-2)
    columns = np.concatenate([at + np.diag(size), at - np.diag(size)]).T
    both = _run(model, {**given, **dict(zip(names, columns, strict=True)), "tolerance": PRECISE_TOLERANCE}, "rk54")
    expected = np.stack([(np.asarray(both[name])[: len(names)] - np.asarray(both[name])[len(names) :]) / (2.0 * size) for name in SEEN])
    weight = np.abs(at) + 1e-2  # of a relative change of each
    largest = max(float((np.abs(expected) * weight).max()), 1e-30)

    def ends(values: Array, scheme: str, step: float) -> Array:
        steps = {"step": step, "largest_step": step, "tolerance": PRECISE_TOLERANCE}
        run = _run(model, {**given, **dict(zip(names, values, strict=True))}, scheme, **steps)
        return jnp.stack([run[name] for name in SEEN])

    found = []
    for scheme in schemes:
        ways = {"forward": jax.jacfwd} | ({"in reverse": jax.jacrev} if SCHEMES[scheme].fixed_step else {})
        for way, differentiate in ways.items():
            of = [functools.partial(ends, scheme=scheme, step=given["step"] * part) for part in (1.0, 0.25)]
            derivatives = [np.asarray(differentiate(each)(jnp.asarray(at))) for each in of]
            coarse, fine = (float((np.abs(each - expected) * weight).max()) / largest for each in derivatives)
            right = coarse < 5.0 * allowed and fine < max(0.6 * coarse, 1e-3)
            sentence = f"derivatives by {scheme}, {way}, are off by {coarse:.2g} of the largest at {given['step']:g} s"
            found.append((right, f"{sentence} and {fine:.2g} at a quarter of it"))
    return found
