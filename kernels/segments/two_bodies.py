"""Two bodies that collide, treated as one: the relative motion of a body and of a second body that carries the wall.

    m x_1'' = f - k x_1 - c x_1' - F        m_2 x_2'' = -k_2 x_2 - c_2 x_2' + F

k_2 and c_2 are not parameters: k_2 / m_2 = k / m and c_2 / m_2 = c / m. Then the relative displacement x = x_1 - x_2 and the centre of mass
are uncoupled. The relative motion is that of one body of mass m m_2 / (m + m_2) against the wall. An infinite m_2 is a wall on the support.
A base acceleration, be it of sines or of a record, acts on both bodies equally and hence not on their relative motion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kernels.excitation.multi_tone import Driven, Excitation, SampledForce
from kernels.models.features import DRIVEN, FEATURES
from kernels.numerics.elementary import sincos
from kernels.numerics.fusion import for_every_lane
from kernels.numerics.numbers import Array
from kernels.segments.damped import Damped, over_sines
from kernels.segments.interface import Anchor


class Centre(NamedTuple):
    """The centre of mass of two bodies.

    Attributes:
        x, v: displacement [m] and velocity [m/s] at t = 0. base: amplitudes of the base accelerations, as the sines of the excitation (n,)
            or its one [m/s^2]. scale: factor of the record of base acceleration; None without one. All 0 if the wall stands on the support.
        first, second: share of each body in the relative motion; 1 and 0 if the wall stands on the support.
    """

    x: Array
    v: Array
    base: Array
    scale: Array | None
    first: Array
    second: Array

    def bodies(self, p: dict[str, Any], excitation: Excitation, x: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Displacement [m] and velocity [m/s] of the first and of the second body at the end, from x and v of the relative motion.

        Args:
            p: parameters of the relative motion. excitation: the force in its equation.
        """
        if isinstance(excitation, Driven) and (excitation.sweep is not None or excitation.tables):  # never with two bodies
            return x, v, 0.0 * x, 0.0 * v
        # the centre of mass has the excitation f / (m + m_2); `excitation` and p["m"] hold f and m, both times m_2 / (m + m_2)
        count = self.base.shape[0] if self.base.ndim else 1  # without the sine of a normal force, which two bodies do not have
        amplitude, omega, phase = (each[:count] if each.ndim else each for each in excitation[:3])
        amplitude = amplitude / p["m"] * self.second - self.base
        load = excitation.load / p["m"] * self.second
        zeta, w2 = 0.5 * p["c"] / p["m"], p["k"] / p["m"]

        def start(t: Array, moved: Array, v: Array, pushed: Array) -> Anchor:
            """The centre at a time [s], where everything but the sines accelerates it by `pushed` [m/s^2]."""
            angle = omega * t + phase + 0.0 * amplitude
            sine, cosine = sincos(angle)
            return Anchor(v, over_sines(amplitude * sine) + pushed - 2.0 * zeta * v - w2 * moved, angle, sine, cosine)

        record = None
        if isinstance(excitation, Driven) and excitation.record is not None and self.scale is not None:
            record = excitation.record._replace(factor=-self.scale)
        x0, zero = self.x + 0.0 * x, jnp.zeros_like(p["end"] + 0.0 * x)
        if record is None:
            moved = Damped(amplitude, omega + 0.0 * amplitude, zeta, w2).motion(start(zero, x0, self.v, load), p["end"] + zero)
            centre_x, centre_v = x0 + moved.d, moved.v
        else:
            centre_x, centre_v = self._shaken(record, p["end"] + zero, start, (amplitude, omega), (zeta, w2, load))
        return centre_x + self.first * x, centre_v + self.first * v, centre_x - self.second * x, centre_v - self.second * v

    def settled(self, p: dict[str, Any], excitation: Excitation) -> Centre:
        """The centre of mass at the start of a period of its steady motion under one sine.

        Without spring nothing holds the centre: by convention it is where it was at t = 0. Without damper it keeps the velocity that it had
        then, or, on a spring, a free oscillation, which is left out.

        Args:
            p: parameters of the relative motion. excitation: the force in its equation; one sine.
        """
        alpha = excitation.amplitude / p["m"] * self.second - self.base
        load = excitation.load / p["m"] * self.second
        rate, w2, omega = p["c"] / p["m"], p["k"] / p["m"], excitation.omega
        spring, damper = w2 > 0.0, rate > 0.0
        detuned, damped = w2 - omega * omega, rate * omega
        square = detuned * detuned + damped * damped
        response = jnp.where(square > 0.0, alpha / jnp.where(square > 0.0, square, 1.0), 0.0)  # 0 in an undamped resonance, which grows
        sine, cosine = sincos(excitation.phase + 0.0 * alpha)
        x = response * (detuned * sine - damped * cosine) + load / jnp.where(spring, w2, 1.0)
        v = omega * response * (detuned * cosine + damped * sine) + jnp.where(spring, 0.0, load / jnp.where(damper, rate, 1.0))
        return self._replace(x=jnp.where(spring, x, self.x), v=jnp.where(spring | damper, v, self.v))

    def _shaken(
        self,
        record: SampledForce,
        end: Array,
        start: Callable[[Array, Array, Array, Array], Anchor],
        sines: tuple[Array, Array],
        rates: tuple[Array, Array, Array],
    ) -> tuple[Array, Array]:
        """Displacement [m] and velocity [m/s] of the centre at the end [s], from sample to sample of a record, which is linear between.

        Args:
            record: accelerations that act on the centre. start: see `bodies`. sines: their amplitudes and frequencies.
            rates: zeta, w2 and the constant acceleration.
        """
        (amplitude, omega), (zeta, w2, load) = sines, rates
        pair = self.second > 0.0
        count = jnp.where(pair, jnp.minimum(jnp.floor(end / record.interval), float(record.last)), 0.0)

        def along(n: Array, until: Array, x: Array, v: Array) -> tuple[Array, Array]:
            segment = Damped(amplitude, omega + 0.0 * amplitude, zeta, w2, record.slope(n), 1.0 / record.interval)
            since = jnp.minimum(n, float(record.last)) * record.interval
            m = segment.motion(start(since, x, v, load + record.sample(n)), until - since)
            return x + m.d, m.v

        def sample(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            n, x, v = carry
            return n + 1.0, *along(n, (n + 1.0) * record.interval, x, v)

        first = for_every_lane((jnp.zeros_like(end), self.x + 0.0 * end, self.v + 0.0 * end), end, pair, count)
        n, x, v = jax.lax.while_loop(lambda carry: carry[0] < count, sample, first)
        return along(n, end, x, v)


def relative(p: dict[str, Any]) -> tuple[dict[str, Any], Centre]:
    """Parameters of the relative motion from the resolved ones (scalars; unchanged if m_2 is infinite), and the centre of mass."""
    ratio = p["m"] / p["m_2"]
    first = 1.0 / (1.0 + ratio)  # also the reduced mass over m
    pair = jnp.isfinite(p["m_2"])
    shakes: dict[str, Any] = {name: p[name] for name in ("a0", "tone_a0", "record_scale") if name in p}
    shaken = {name: jnp.where(pair & ~jnp.isnan(value), 0.0, value) for name, value in shakes.items()}
    sines = [jnp.nan_to_num(shakes[name]) for name in ("a0", "tone_a0") if name in shakes]
    one = "a0" in p and not any(name in p for feature in DRIVEN for name in FEATURES[feature])
    base = sines[0] if one else jnp.concatenate([jnp.zeros(0, jnp.result_type(p["m"])), *(jnp.atleast_1d(each) for each in sines)])
    centre = Centre(
        jnp.where(pair, (ratio * p["x0"] + p["x0_2"]) * first, 0.0),
        jnp.where(pair, (ratio * p["v0"] + p["v0_2"]) * first, 0.0),
        jnp.where(pair, base, 0.0),
        jnp.where(pair & ~jnp.isnan(p["record"]), p["record_scale"], 0.0) if "record" in p else None,
        first,
        jnp.where(pair, ratio * first, 0.0),
    )
    scaled: dict[str, Any] = {name: p[name] * first for name in ("m", "k", "c", "f0", "load") if name in p}
    return {**p, **scaled, "x0": p["x0"] - p["x0_2"], "v0": p["v0"] - p["v0_2"], **shaken}, centre
