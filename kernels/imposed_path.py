"""The force of contacts whose displacement is imposed, as on a rig that measures a hysteresis loop: no mass, no spring, no excitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.contact.friction_law import FrictionLaw
from tribosweep.kernels.contact.friction_registry import LAWS, friction_law
from tribosweep.kernels.contact.penalised import Penalised
from tribosweep.kernels.contact.presliding import Presliding
from tribosweep.kernels.contact.wall import Wall, new_crush
from tribosweep.kernels.excitation.record import is_zero
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.arguments import check_given, model_of
from tribosweep.kernels.models.contacts import WallContact
from tribosweep.kernels.models.features import VARIED
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS
from tribosweep.kernels.models.loops import LOOP_COLUMNS, check_loop
from tribosweep.kernels.models.parameters import normal_force_of_motion
from tribosweep.kernels.models.rules import STEP_RULES
from tribosweep.kernels.numerics.numbers import Array
from tribosweep.kernels.results import Results

ANY_STEP = "rk54"  # a scheme with every contact law and no largest stable step


def hysteresis(model: str | Model, params: Mapping[str, Any], x: ArrayLike, time: ArrayLike | None = None, steady: bool = False) -> Results:
    """The force that imposes a displacement on the contacts of a model: friction, walls, or both.

    The displacement is straight between its samples. The contacts start unloaded at the first one. What moves the mass in a run counts
    for nothing here: inertia, k, c, gravity beside normal_force, and the excitation.

    Args:
        model: see `simulate`.
        params: the numbers of one contact, SI units; see `simulate`. Friction needs k_t, or the parameter of a law
            in its place, such as dahl_stiffness.
        x: (n,) displacement relative to the support [m].
        time: (n,) times of the samples [s], ascending. Without them the path counts as slow: dampers (c_t, c_n) have no force, and laws
            whose force depends on the slip speed are refused. The damper of the contact acts only if c_t is given: its default is that of
            a mass.
        steady: whether the path is a closed loop that is repeated: the result is that of its second pass.

    Returns:
        force, friction_force and wall_force, (n,) each [N]; NaN where traced numbers are out of bounds or break a rule. Differentiable in
        the parameters, with both modes; works under jit and vmap.

    Raises:
        KeyError: unknown model or parameter. ValueError: a value that is no number or out of bounds, numbers that break a rule of the
            model, an array of parameters, fewer than two samples, a path or times that are not finite, times that do not ascend, friction
            without a stiffness, friction that varies in time, or a link beside k and c.

    Source: the laws of SDND104 and SDND105 (V5.01.104, V5.01.105), one evaluation per sample, which is exact on straight pieces of a slow
    path; validated by tests/kernels/test_imposed_path.py.

    Examples:
        >>> x = 1e-3 * numpy.sin(numpy.linspace(0.0, 2.0 * numpy.pi, 200))
        >>> loop = hysteresis("rubbing_mass", {"mu": 0.2, "normal_force": 50.0, "k_t": 1e5}, x, steady=True)
        >>> float(loop.force.max())
        10.0
    """
    chosen = model_of(model, oscillator=True)
    params = _switched_on(check_given(chosen, params, one=True))
    traced = {name for name, value in params.items() if isinstance(value, jax.core.Tracer)}
    plain = chosen.resolve({name: value for name, value in params.items() if name not in traced})
    if why := check_loop(params, time is not None, rubs=not traced.isdisjoint(("mu", "mu_s")) or float(plain["mu_s"]) > 0.0):
        raise ValueError(f"{why[0]}: {why[1]}")
    excluded = refused(chosen, params, ANY_STEP, without=STEP_RULES, one=True)
    path = np.asarray(x, dtype=np.float64)
    times = np.arange(path.size, dtype=np.float64) if time is None else np.asarray(time, dtype=np.float64)
    if path.ndim != 1 or path.size < 2 or times.shape != path.shape:
        raise ValueError(f"x and time must be lists of the same length, of two samples at least, not of shapes {path.shape}, {times.shape}")
    if not np.isfinite(path).all() or not np.isfinite(times).all() or not np.all(np.diff(times) > 0.0):
        raise ValueError("x and time must be finite numbers, and the times must ascend")
    passes = 2 if steady else 1
    if steady:
        path, times = np.concatenate([path, path]), np.concatenate([times, times + times[-1] - times[0] + np.diff(times)[-1]])
    found = along_path(model, params, jnp.asarray(path), jnp.asarray(times), time is not None)
    if excluded is not None:
        found = {name: jnp.where(excluded > 0, jnp.nan, values) for name, values in found.items()}
    return Results({name: values[(passes - 1) * len(values) // passes :] for name, values in found.items()}, LOOP_COLUMNS)


def along_path(model: str | Model, params: Mapping[str, Any], path: Array, times: Array, timed: bool) -> dict[str, Array]:
    """The columns of LOOP_COLUMNS along a path (n,) [m] sampled at times (n,) [s], for parameters that are checked; see `hysteresis`.

    Without `timed` dampers have no force. Samples at one time, as after the end of a shorter path, repeat the state before them.
    """
    chosen, params = model_of(model), _switched_on(params)
    resolved = {
        name: jnp.asarray(value, float)
        for name, value in chosen.resolve({name: jnp.asarray(value, float) for name, value in params.items()}, xp=jnp).items()
    }
    resolved["normal_force"] = normal_force_of_motion(params, resolved)
    if "c_t" not in params:
        resolved["c_t"] = jnp.zeros(())
    law = _friction_of(resolved, params)
    walls = [Wall.of(resolved, _buckles(chosen, params, wall), False, wall.prefix, wall.sides) for wall in chosen.walls]
    zero = jnp.zeros(())

    def follow(states: Any, sample: tuple[Array, Array, Array]) -> tuple[Any, tuple[Array, Array]]:
        x, moved, h = sample
        v = moved / jnp.where(h > 0.0, h, 1.0)
        speed = v if timed else 0.0 * v
        grip, crushed = states
        friction = zero
        if law is not None:
            friction, grip = _rub(law, grip, moved, v, speed, h)
        pushes = [wall.evaluate(memory, x, speed) for wall, memory in zip(walls, crushed, strict=True)]
        wall_force = sum((force for force, _ in pushes), zero)
        return (grip, tuple(after for _, after in pushes)), (friction, wall_force)

    start = (None if law is None else law.at_start(zero), tuple(new_crush(zero) for _ in walls))
    steps = jnp.concatenate([jnp.zeros(1), jnp.diff(path)]), jnp.concatenate([jnp.zeros(1), jnp.diff(times)])
    _, (friction, push) = jax.lax.scan(follow, start, (path, *steps))
    return {"force": -friction - push, "friction_force": friction, "wall_force": jnp.abs(push)}


def _switched_on(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without the switches that are 0: a law whose switch is 0 is not there."""
    return {name: value for name, value in params.items() if name not in VARIED or not is_zero(value)}


def _buckles(model: Model, params: Mapping[str, Any], wall: WallContact) -> bool:
    """Whether a wall of the model may buckle: its f_crit is given, or has a default."""
    name = f"{wall.prefix}f_crit"
    return wall.buckles and (name in params or model.parameter(name).default is not None)


def _friction_of(resolved: Mapping[str, Array], params: Mapping[str, Any]) -> FrictionLaw | None:
    """The friction law of resolved parameters; None where nothing rubs."""
    if not {"k_t", *FRICTION_LAWS} & params.keys():
        return None
    unread = {name for name in (*VARIED, *LAWS) if name not in params}
    return friction_law({name: value for name, value in resolved.items() if name not in unread})


def _rub(law: FrictionLaw, grip: Any, moved: Array, v: Array, speed: Array, h: Array) -> tuple[Array, Any]:
    """The friction after a straight piece of the path, and the state of the law there.

    A spring and damper slip by the direction of the motion, however slow it is; `speed` is the velocity that the damper sees.
    """
    if isinstance(law, Penalised):
        slow = law._replace(c_t=law.c_t * jnp.abs(speed))
        return slow.evaluate(grip, moved, jnp.sign(moved), jnp.zeros_like(moved))
    if isinstance(law, Presliding):
        grip = grip._replace(speed=v)  # the velocity is constant along the piece, and jumps at its beginning
    return law.evaluate(grip, moved, v, jnp.zeros_like(moved), None, h)
