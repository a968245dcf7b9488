"""Motion under a damping that grows linearly with the position, by Taylor series."""

from mpmath import mp, mpf

ORDER = 60
DIGITS = 50


def _value(coefficients: list[mpf], t: mpf) -> mpf:
    """Of a polynomial, highest order first."""
    value = mpf(0)
    for each in coefficients:
        value = value * t + each
    return value


class Quadratic:
    """Solution of m x'' + (c + beta (x - anchor)) x' + k x = constant + amplitude sin(omega t + angle).

    With z = x - anchor the quadratic term is beta (z^2)'/2, so that every coefficient follows from those before. A series is used
    as far as its last terms are below rounding, then the next one starts.
    """

    def __init__(
        self, mck: tuple[mpf, mpf, mpf], beta: mpf, anchor: mpf, constant: mpf, harmonic: tuple[mpf, mpf, mpf], start: tuple[mpf, mpf]
    ) -> None:
        self.mck, self.beta, self.anchor = mck, beta, anchor
        self.constant = constant - mck[2] * anchor
        self.harmonic = harmonic
        self.pieces: list[tuple[mpf, mpf, list[list[mpf]]]] = []  # start, stop, coefficients of x - anchor and its derivatives
        self._extend(mpf(0), start[0] - anchor, start[1])

    def _extend(self, t: mpf, z: mpf, v: mpf) -> None:
        """Add the series about ``t``."""
        m, c, k = self.mck
        amplitude, omega, angle = self.harmonic
        a, squares = [z, v], [z * z]
        factor = amplitude
        for n in range(ORDER - 1):
            load = factor * mp.sin(omega * t + angle + n * mp.pi / 2) + (self.constant if n == 0 else 0)
            squares.append(mp.fdot((a[i], a[n + 1 - i]) for i in range(n + 2)))
            right = load - k * a[n] - (n + 1) * (c * a[n + 1] + self.beta * squares[n + 1] / 2)
            a.append(right / (m * (n + 1) * (n + 2)))
            factor *= omega / (n + 1)
        # the last terms below rounding, those of the third derivative too
        size = [mp.root(abs(a[n]) * n**3, n) for n in (ORDER - 1, ORDER) if a[n]]
        scale = max(abs(z), abs(v), mpf(10) ** -DIGITS)
        step = mpf(10) ** (-mpf(DIGITS + 2) / ORDER) * min(1, mp.root(scale, ORDER)) / max(size) if size else mp.inf
        chain = [a]
        for _ in range(3):
            chain.append([n * b for n, b in enumerate(chain[-1]) if n])
        self.pieces.append((t, t + step, [each[::-1] for each in chain]))

    def jet(self, t: mpf) -> list[mpf]:
        """Position and its first three derivatives at ``t``."""
        while t > self.pieces[-1][1]:
            start, stop, chain = self.pieces[-1]
            self._extend(stop, *(_value(each, stop - start) for each in chain[:2]))
        start, _, chain = next(piece for piece in self.pieces if t <= piece[1])
        z, *rest = (_value(each, t - start) for each in chain)
        return [z + self.anchor, *rest]
