"""Linear motion under a constant and a harmonic force, and a guarded root finder.

In slip the motion is a sum of polynomials times exponentials, built from the
characteristic polynomial with its exact root multiplicities: k = 0, c = 0, critical
damping and exact resonance are ordinary cases. The digits lost close to them are
covered by the working precision, which the caller sets.
"""

from collections.abc import Callable

from mpmath import mp, mpc, mpf


def root_in(value_slope: Callable[[mpf], tuple[mpf, mpf]], low: mpf, high: mpf) -> mpf:
    """Zero of a function that changes sign from ``low`` to ``high``.

    Newton steps that leave the bracket, or gain too little, become bisections.
    """
    sign_low = mp.sign(value_slope(low)[0]) or -mp.sign(value_slope(high)[0])
    tolerance = mpf(10) ** (15 - mp.dps) * (abs(high) + abs(high - low))
    point, last = (low + high) / 2, abs(high - low)
    for _ in range(40 + 4 * mp.prec):
        value, slope = value_slope(point)
        if value == 0:
            return point
        if mp.sign(value) == sign_low:
            low = point
        else:
            high = point
        step = value / slope if slope else 2 * last
        guess = point - step
        if not low < guess < high or abs(step) > last / 2:
            guess = (low + high) / 2
        last = abs(guess - point)
        point = guess
        if last <= tolerance:
            return point
    raise ArithmeticError("no convergence in root_in")


Mode = tuple[mpc, list[list[mpc]]]  # real entries where the exponent is real


def _mode(exponent: mpc, polynomial: list[mpc]) -> Mode:
    """Exponent s and the polynomials of p e^{s t} and its first three derivatives."""
    if exponent.imag == 0:
        exponent, polynomial = exponent.real, [c.real for c in polynomial]
    chain = [polynomial]
    for _ in range(3):
        p = chain[-1]
        shifted = [*(n * c for n, c in enumerate(p) if n), mpf(0)]
        chain.append([a + exponent * b for a, b in zip(shifted, p, strict=True)])
    return exponent, chain


class Motion:
    """Solution of m x'' + c x' + k x = constant + amplitude sin(omega t + angle).

    The real part of a sum of polynomials times exponentials of t.
    """

    def __init__(
        self,
        mck: tuple[mpf, mpf, mpf],
        constant: mpf,
        harmonic: tuple[mpf, mpf, mpf],
        start: tuple[mpf, mpf],
    ) -> None:
        m, c, k = mck
        amplitude, omega, angle = harmonic
        sine = mpc(0, -1) * amplitude * mp.expj(angle)
        self._modes: list[Mode] = []
        for exponent, coefficient in ((mpc(0), constant), (mpc(0, omega), sine)):
            quadratic = k + exponent * (c + exponent * m)
            values = (quadratic, c + 2 * m * exponent, 2 * m)
            multiplicity = next(r for r, p in enumerate(values) if p != 0)
            term = [mpf(0)] * multiplicity + [coefficient / values[multiplicity]]
            self._modes.append(_mode(exponent, term))
        x, v = (a - b for a, b in zip(start, self.jet(mpf(0)), strict=False))
        discriminant = c * c - 4 * m * k
        self.fastest = omega
        if discriminant == 0:
            exponent = -c / (2 * m)
            self._modes.append(_mode(exponent, [x, v - exponent * x]))
        elif discriminant > 0:
            large = -(c + mp.sqrt(discriminant)) / (2 * m)
            small = k / (m * large)
            part = (v - small * x) / (large - small)
            self._modes += [_mode(large, [part]), _mode(small, [x - part])]
        else:  # the conjugate pair: twice one of the two in the real part
            one = mpc(-c, mp.sqrt(-discriminant)) / (2 * m)
            part = (v - one.conjugate() * x) / mpc(0, one.imag)
            self._modes.append(_mode(one, [part]))
            self.fastest = max(omega, one.imag)

    def jet(self, t: mpf) -> list[mpf]:
        """Position and its first three derivatives at ``t``."""
        total = [mpf(0)] * 4
        for exponent, chain in self._modes:
            factor = mp.exp(exponent * t) if exponent else mpf(1)
            for order, polynomial in enumerate(chain):
                value = polynomial[-1]
                for coefficient in polynomial[-2::-1]:
                    value = value * t + coefficient
                total[order] += (value * factor).real
        return total
