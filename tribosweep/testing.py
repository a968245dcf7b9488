"""Checks of a law that another package brings; see `docs/how-to/laws.md`. They compile programs, for one to five minutes.

from tribosweep.testing import check_law

def test_my_law():
    check_law("tanh_speed", {"mu": 0.1, "normal_force": 5.0, "tanh_speed": 0.05, "k": 20.0, "v0": 0.4})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models import MODELS, Model, outside_laws
from tribosweep.kernels.models.outside_laws import FRICTION, LINK, OutsideLaw
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
    derivatives, forward in every scheme and in reverse in those of fixed step, are those of differences.

    Args:
        switch: the parameter that switches the law on.
        parameters: of a run in which the law matters, by name (numbers, SI units). `end` is 1 s and `step` 1e-3 s unless they are given.
        model: of the runs; by default "stop" for a law of a wall, else "rubbing_mass".
        schemes: the time schemes to check; if there are none only the cycle is checked.
        allowed: largest error of theirs at `step`, as a part of the largest of |x_end| and |v_end|.

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
    several = {**given, law.switch: np.array([1.0, 0.5, np.nan]) * given[law.switch]}
    rows, alone = _run(model, several, scheme), _run(model, given, scheme)
    differ = [name for name in SEEN if float(rows[name][0]) != float(alone[name])]
    status = [int(each) for each in np.asarray(rows["status"])]
    return [
        (
            not differ,
            f"by {scheme} a row beside others is {'not ' if differ else ''}that row alone" + f": {', '.join(differ)}" * bool(differ),
        ),
        (status[2] != Status.OK, f"a row with {law.switch} = NaN has the status {_status(status[2])}"),
    ]


def _status(code: int) -> str:
    """The name of a status."""
    return next(each.name for each in Status if each == code)


def _cycle(law: OutsideLaw, _model: Model, given: Mapping[str, float], _schemes: Sequence[str], _allowed: float) -> list[Finding]:
    """What is dissipated over a closed cycle, the second one, is the work on the law."""
    import jax.numpy as jnp
    import numpy as np

    from tribosweep.kernels.contact.link_law import Travel
    from tribosweep.kernels.contact.path import Path

    if law.kind not in (FRICTION, LINK):
        return []
    made = law.of({name: jnp.asarray(value, float) for name, value in _resolved(law, given).items()})
    count, size = 500, 0.3
    angle = np.linspace(0.0, 4.0 * np.pi, 2 * count + 1)
    x, v, h = (jnp.asarray(each) for each in (size * np.sin(angle), size * np.cos(angle), angle[1] - angle[0]))
    work, lost, phases = 0.0, 0.0, list[Finding]()
    if law.kind == LINK:
        state = made.at_start(x[0])
        for n in range(2 * count):
            travel = Travel(x[n], Path.of(h, v[n], v[n + 1], x[n + 1] - x[n]))
            after = made.along(state, travel)
            if n >= count:
                work += 0.5 * float((made.force(state, x[n], v[n]) * v[n] + made.force(after, x[n + 1], v[n + 1]) * v[n + 1]) * h)
                lost += float(made.dissipated(state, travel, after))
            state = after
    else:
        work, lost, phases = _cycle_of_friction(made, x, v, h, count)
    scale = max(abs(work), abs(lost), 1e-30)
    stored = float(given[law.switch]) * size * size  # a spring's cycle closes to rounding alone
    right = abs(work - lost) < 1e-2 * scale or max(abs(work), abs(lost)) < 1e-6 * stored
    return [
        *phases,
        (right, f"a cycle of {size} m does a work of {work:.6g} J and dissipates {lost:.6g} J"),
        (lost > -1e-9 * scale, "it gains no energy" if lost > -1e-9 * scale else "it gains energy"),
    ]


def _cycle_of_friction(made: Any, x: Array, v: Array, h: Array, count: int) -> tuple[float, float, list[Finding]]:
    """Work [J] on a law of friction over the second of two cycles of displacements [m] and velocities [m/s], and what it dissipates.

    Also whether the force follows from the state, and opposes the motion where the contact slips.
    """
    import jax.numpy as jnp

    from tribosweep.kernels.contact.friction_law import SupportStep

    zero, work, lost = jnp.zeros(()), 0.0, 0.0
    memory = made.at_start(v[0])
    before = made.force(memory, v[0])
    differs, helps = 0.0, 0
    for n in range(2 * count):
        moved = x[n + 1] - x[n]
        force, after = made.evaluate(memory, moved, v[n + 1], zero, None, h)
        if n >= count:
            work -= 0.5 * float((before * v[n] + force * v[n + 1]) * h)
            sliding = made.rubs(SupportStep(h, v[n], v[n + 1], moved, None, memory, after))
            lost += float(sliding.friction)
        differs = max(differs, abs(float(force - made.force(after, v[n + 1]))) / max(abs(float(force)), 1e-30))
        helps += bool(after.slips) and float(force * v[n + 1]) > 0.0
        memory, before = after, force
    return (
        work,
        lost,
        [
            (differs < 1e-12, f"the force after a step differs from that of its state by {differs:.2g}"),
            (helps == 0, f"friction drives the slip in {helps} of {2 * count} steps"),
        ],
    )


def _resolved(law: OutsideLaw, given: Mapping[str, float]) -> dict[str, Any]:
    """Resolved parameters of the rubbing mass, those of other laws left out."""
    resolved = MODELS["rubbing_mass"].resolve(given)
    others = {quantity.name for quantity in outside_laws.parameters()} - {quantity.name for quantity in law.parameters}
    return {name: value for name, value in resolved.items() if name not in others}


def _converges(law: OutsideLaw, model: Model, given: Mapping[str, float], schemes: Sequence[str], allowed: float) -> list[Finding]:
    """Every scheme tends to an accurate run."""
    del law
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


def _derivatives(law: OutsideLaw, model: Model, given: Mapping[str, float], schemes: Sequence[str], _allowed: float) -> list[Finding]:
    """Derivatives of x_end and v_end by the parameters of the law and v0, against differences of the scheme itself."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    names = ["v0", *(quantity.name for quantity in law.parameters if quantity.kind == "float" and quantity.name in given)]
    at = jnp.asarray([float(given.get(name, 0.0)) for name in names])
    found = []
    for scheme in schemes:
        steps: dict[str, Any] = {"largest_step": given["step"], "tolerance": PRECISE_TOLERANCE}

        def ends(values: Array, scheme: str = scheme, steps: Mapping[str, Any] = steps) -> Array:
            run = _run(model, {**given, **dict(zip(names, values, strict=True))}, scheme, **steps)
            return jnp.stack([run[name] for name in SEEN])

        size = 1e-4 * np.maximum(np.abs(np.asarray(at)), 1e-2)
        columns = np.concatenate([np.asarray(at) + np.diag(size), np.asarray(at) - np.diag(size)]).T
        both = _run(model, {**given, **dict(zip(names, columns, strict=True))}, scheme, **steps)
        expected = np.stack([(np.asarray(both[name])[: len(names)] - np.asarray(both[name])[len(names) :]) / (2.0 * size) for name in SEEN])
        weight = np.abs(np.asarray(at)) + 1e-2  # of a relative change of each
        ways = {"forward": jax.jacfwd(ends)} | ({"in reverse": jax.jacrev(ends)} if SCHEMES[scheme].fixed_step else {})
        for way, of in ways.items():
            difference = np.abs(np.asarray(of(at)) - expected) * weight
            error = float(difference.max() / max((np.abs(expected) * weight).max(), 1e-30))
            found.append((error < 1e-3, f"derivatives by {scheme}, {way}, differ from differences by {error:.2g} of the largest"))
    return found
