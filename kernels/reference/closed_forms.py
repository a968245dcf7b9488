"""Published closed forms of a mass that rubs (rigid friction) or hits a stop, in plain floats. Engines are checked against them.

No study is computed with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# eta = mu g / a0 below which a mass without spring never sticks once it slips (SDND104, V5.01.104, section 2)
ETA_STAR = 2.0 / math.sqrt(math.pi**2 + 4.0)


def slip_slip_wear_power(m: float, g: float, mu: float, a0: float, omega: float) -> float:
    """Limit of the mean wear power [W] of slip without sticking, eta <= eta*: (m g a0 / (pi omega)) sqrt(4 - pi^2 eta^2) (SDND104)."""
    eta = mu * g / a0
    return m * g * a0 / (math.pi * omega) * math.sqrt(4.0 - (math.pi * eta) ** 2)


def slip_slip_phase(eta: float) -> float:
    """Angle omega theta = acos(pi eta / 2) [rad] of the excitation at the reversals of the established slip-slip motion (SDND104)."""
    return math.acos(0.5 * math.pi * eta)


@dataclass(frozen=True, slots=True)
class DenHartog:
    """Steady motion of an oscillator with spring and Coulomb friction that never stops (c = 0).

    With beta = omega / sqrt(k/m), V = 1/(1 - beta^2), U = sin(pi/beta) / (beta (1 + cos(pi/beta))), eta = F_friction / (m a0), the
    amplitude is x_0 = (m a0 / k) sqrt(V^2 - eta^2 U^2). Motion without stops needs eta <= |V| / sqrt(U^2 + 1/beta^4). Source: Den Hartog
    (1931); Westermo and Udwadia (1983); Shaw (1986).

    Attributes:
        m: mass [kg]. k: stiffness [N/m], > 0. a0: amplitude of the base acceleration [m/s^2]. omega: circular frequency [rad/s].
        friction: mu F_n [N]. normal_force: F_n [N].
    """

    m: float
    k: float
    a0: float
    omega: float
    friction: float
    normal_force: float

    @property
    def beta(self) -> float:
        """Frequency ratio omega / sqrt(k/m)."""
        return self.omega / math.sqrt(self.k / self.m)

    @property
    def eta(self) -> float:
        """Friction over excitation, mu F_n / (m a0)."""
        return self.friction / (self.m * self.a0)

    @property
    def amplitude(self) -> float:
        """Amplitude x_0 [m]."""
        v, u = den_hartog_factors(self.beta)
        return self.m * self.a0 / self.k * math.sqrt(v**2 - (self.eta * u) ** 2)

    @property
    def wear_power(self) -> float:
        """Mean wear power (2 omega / pi) F_n x_0 [W]: the mass slips 4 x_0 in a period."""
        return 2.0 * self.omega / math.pi * self.normal_force * self.amplitude

    @property
    def phase(self) -> float:
        """Phase [rad] of -m a0 sin(omega t + phase) with which the steady motion starts at rest at x = x_0."""
        v, u = den_hartog_factors(self.beta)
        cosine = self.amplitude * self.k / (self.m * self.a0 * v)
        return math.atan2(-cosine, -self.eta * u / v)


def damped_impact(m: float, k_n: float, c_n: float) -> tuple[float, float]:
    """Time [s] in contact and restitution (speed after over speed before) of a mass that hits a spring and damper that never pull.

    With beta = c_n / (2 m) and omega^2 = k_n / m - beta^2 > 0, the force comes to 0 after t = (pi - atan2(2 beta omega,
    omega^2 - beta^2)) / omega, while the spring is still compressed. The restitution is exp(-beta t).

    Args:
        m: mass [kg]. k_n: stiffness [N/m]. c_n: damping [N s/m], below the critical 2 sqrt(k_n m).

    Source: T. Schwager and T. Poeschel, Granular Matter 9 (2007), 465-469.
    """
    beta = 0.5 * c_n / m
    omega = math.sqrt(k_n / m - beta**2)
    time = (math.pi - math.atan2(2.0 * beta * omega, omega**2 - beta**2)) / omega
    return time, math.exp(-beta * time)


def den_hartog_factors(beta: float) -> tuple[float, float]:
    """V and U of `DenHartog` at the frequency ratio beta > 0, beta not 1."""
    return 1.0 / (1.0 - beta**2), math.sin(math.pi / beta) / (beta * (1.0 + math.cos(math.pi / beta)))


def den_hartog_limit(beta: float) -> float:
    """Largest eta without stops, eta*(beta) = |V| / sqrt(U^2 + 1/beta^4). It is a necessary bound, sufficient above beta of about 0.5."""
    v, u = den_hartog_factors(beta)
    return abs(v) / math.sqrt(u**2 + beta**-4)
