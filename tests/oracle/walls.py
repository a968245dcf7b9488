"""Elastic stop and wall that buckles in continuous time: what they remember, their phases, guards and transitions.

F is the push of the contact, y = x - gap its compression, v = y' (the second side of a stop: y = -x - gap).

Elastic stop: F = max(0, k_n y + c_n v) for y > 0.

Wall that buckles. Memory: the largest compression X and the plastic set d. One evaluation at y > 0, taken literally:
X = max(X, y); F = k_u(X) (y - d) [+ c(X) v where the damping is included in the criterion]; if F >= F_c(X): F = F_c and
d = max(0, y - F_c/k_u); [+ c(X) v where it is excluded]; F = max(0, F); F = 0 for y < d. `Piece` holds F_c, D(X) = X - F_c/k_u and c, all
linear in X between the nodes. In the limit of small steps this is a sequence of phases:

OFF       y < 0, no force.
BEHIND    0 < y < d, no force.
LIFTED    y > d but k_u (y - d) + c v < 0, no force.
ELASTIC   F = k_u (y - d) + c v > 0 with constant X, d. It ends where F reaches 0 and where k_u (y - d) [+ c v, included] reaches F_c.
          X grows in it only below f_crit/k_n, where nothing depends on X: d <= max(0, D(X)) holds always, so that the elastic force is at
          least F_c on y = X above. Hence k_u and c are constant.
YIELD     y = X and v > 0. In the next evaluation the elastic part is F_c + O(dy), so that it goes on yielding to v = 0 (included: the
          trial is F_c + c v + O(dy)), then it unloads from d = max(0, D(X)). Included: F = F_c(X), c does not act. Excluded:
          F = F_c(X) + c(X) v. F_c is constant (plateau, after the softening) or falls with y (softening: a negative stiffness).
RELOAD    included only: v > 0 and k_u (y - d) + c v reaches F_c at y < X, with y >= F_c/k_u. F = F_c(X) with X constant and
          d = y - F_c/k_u, which is smaller than before: the plastic set heals. By the argument of YIELD it lasts to v = 0 or to y = X.
CAPPED    the same at y < F_c/k_u: d = 0, F = F_c(X) as long as the trial k_u y + c v exceeds it; ELASTIC with d = 0 if it no longer does.
          A fast first contact starts so. BEHIND too may go over to RELOAD or CAPPED: the criterion comes before "F = 0 for y < d".

Every phase is linear with constant coefficients but one: YIELD with the damping excluded from the criterion where c(X) varies,
that is in softening with c_buckled != c_n and between nodes of different post_damping. There the term (c + alpha + beta y) v is quadratic.
With the damping included, c acts in ELASTIC and LIFTED only, where X is constant.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf

Jet = list[mpf]  # position and its first three derivatives
Line = tuple[mpf, mpf, mpf]  # g = g[0] + g[1] x + g[2] v

FORCELESS = ("OFF", "BEHIND", "LIFTED")
YIELDING = ("YIELD", "RELOAD", "CAPPED")


def tiny() -> mpf:
    """What is rounding, relative."""
    return mpf(10) ** (12 - mp.dps)


@dataclass(frozen=True)
class Piece:
    """Envelope for lower < X <= upper: each pair is a value at ``lower`` and a slope."""

    lower: mpf
    upper: mpf
    forces: tuple[mpf, mpf]
    sets: tuple[mpf, mpf]
    dampings: tuple[mpf, mpf]
    name: str

    def force(self, X: mpf) -> mpf:
        """F_c."""
        return self.forces[0] + self.forces[1] * (X - self.lower)

    def plastic(self, X: mpf) -> mpf:
        """D(X) = X - F_c/k_u."""
        return self.sets[0] + self.sets[1] * (X - self.lower)

    def damping(self, X: mpf) -> mpf:
        """c(X)."""
        return self.dampings[0] + self.dampings[1] * (X - self.lower)


def envelope(params: Mapping[str, Any]) -> list[Piece]:
    """The pieces of the wall; none for an elastic stop."""
    if params.get("f_crit") is None:
        return []
    k_n, c_n = mpf(params["k_n"]), mpf(params.get("c_n", 0.0))
    crit, post = mpf(params["f_crit"]), mpf(params["f_post"])
    plateau, softening = mpf(params.get("plateau", 0.0)), mpf(params.get("softening", 0.0))
    table = list(params.get("post_set") or [])
    damped = params.get("c_buckled")
    buckled = c_n if damped is None else mpf(damped)
    if not 0 < post <= crit or plateau < 0 or softening < 0:
        raise ValueError("0 < f_post <= f_crit, plateau >= 0 and softening >= 0 must hold")
    u0, zero = crit / k_n + plateau, mpf(0)
    u1 = u0 + softening
    pieces = [Piece(zero, u0, (crit, zero), (-crit / k_n, mpf(1)), (c_n, zero), "plateau")]
    if softening:
        pieces.append(Piece(u0, u1, (crit, (post - crit) / softening), (plateau, zero), (c_n, (buckled - c_n) / softening), "softening"))
    if not table:
        stiffness = mpf(params["k_post"])
        if stiffness * (u1 - plateau) < post:
            raise ValueError("k_post must not be below f_post/(u1 - plateau)")
        return [*pieces, Piece(u1, mp.inf, (post, zero), (u1 - post / stiffness, mpf(1)), (buckled, zero), "post")]
    stiffnesses = [mpf(s) for s in params["post_stiffness"]]
    dampings = [mpf(c) for c in params.get("post_damping") or [buckled] * len(table)]
    nodes = [(u1, plateau, buckled)]
    nodes += [(mpf(d) + post / s, mpf(d), c) for d, s, c in zip(table, stiffnesses, dampings, strict=True)]
    for i, ((a, d_a, c_a), (b, d_b, c_b)) in enumerate(pairwise(nodes)):
        if b <= a or d_b < d_a:
            raise ValueError("the total compression of the nodes must increase, and post_set must not decrease")
        pieces.append(Piece(a, b, (post, zero), (d_a, (d_b - d_a) / (b - a)), (c_a, (c_b - c_a) / (b - a)), f"node {i + 1}"))
    last, d_last, c_last = nodes[-1]
    pieces.append(Piece(last, mp.inf, (post, zero), (d_last, mpf(1)), (c_last, zero), "beyond"))
    return pieces


class Wall:
    """One side: its memory, and the phase it is in."""

    def __init__(self, params: Mapping[str, Any], side: int, pieces: list[Piece]) -> None:
        self.side, self.pieces = side, pieces
        self.gap = mpf(params.get("gap", 0.0))
        self.k_n, self.c_n = mpf(params.get("k_n", 0.0)), mpf(params.get("c_n", 0.0))
        criterion = params.get("damping_criterion", "included")
        if criterion not in ("included", "excluded"):
            raise ValueError("damping_criterion is included or excluded")
        self.included = criterion == "included"
        self.phase, self.X, self.d, self.index = "OFF", mpf(0), mpf(0), 0

    @property
    def piece(self) -> Piece:
        """Where X is."""
        return self.pieces[self.index]

    @property
    def force_c(self) -> mpf:
        """F_c(X)."""
        return self.piece.force(self.X) if self.pieces else mp.inf

    @property
    def stretch(self) -> mpf:
        """F_c/k_u, the elastic compression on the envelope."""
        return self.X - self.piece.plastic(self.X) if self.pieces else mp.inf

    @property
    def stiffness(self) -> mpf:
        """k_u(X)."""
        return self.force_c / self.stretch if self.pieces else self.k_n

    @property
    def damping(self) -> mpf:
        """c(X)."""
        return self.piece.damping(self.X) if self.pieces else self.c_n

    @property
    def yields(self) -> bool:
        """Whether the force is at the criterion."""
        return self.phase in YIELDING

    @property
    def trial(self) -> Line:
        """k_u (y - d) + c v."""
        return -self.stiffness * self.d, self.stiffness, self.damping

    @property
    def held(self) -> Line:
        """What is held against the criterion."""
        constant, stiffness, damping = self.trial
        return constant, stiffness, damping if self.included else mpf(0)

    def law(self) -> tuple[Line, mpf, mpf]:
        """F = f[0] + f[1] y + (f[2] + slope (y - anchor)) v: f, slope, anchor."""
        zero = mpf(0)
        if self.phase == "ELASTIC":
            return self.trial, zero, zero
        if self.phase in ("RELOAD", "CAPPED"):
            return (self.force_c, zero, zero), zero, zero
        if self.phase == "YIELD":
            (level, slope), p = self.piece.forces, self.piece
            damping = (zero, zero) if self.included else p.dampings
            return (level - slope * p.lower, slope, damping[0]), damping[1], p.lower
        return (zero, zero, zero), zero, zero

    def guards(self) -> Iterator[tuple[str, Line]]:
        """Name of each guard and the guard, which is positive in the phase."""
        zero, one = mpf(0), mpf(1)
        constant, stiffness, damping = self.held
        criterion = (self.force_c - constant, -stiffness, -damping)
        if self.phase == "OFF":
            yield "contact", (zero, -one, zero)
        elif self.phase == "BEHIND":
            yield "out", (zero, one, zero)
            yield "touch", (self.d, -one, zero)
            if self.pieces and self.included and damping:
                yield "criterion", criterion
        elif self.phase == "LIFTED":
            yield "push", (-self.trial[0], -self.trial[1], -self.trial[2])
            yield "below", (-self.d, one, zero)
        elif self.phase == "ELASTIC":
            yield "force zero", self.trial
            if self.pieces:
                yield "criterion", criterion
        elif self.phase == "CAPPED":
            yield "uncapped", (constant - self.force_c, stiffness, damping)
            yield "stretched", (self.stretch, -one, zero)
        else:
            yield "turn", (zero, zero, one)
            end = self.X if self.phase == "RELOAD" else self.piece.upper
            if end < mp.inf:
                yield "envelope" if self.phase == "RELOAD" else "piece", (end, -one, zero)

    def pass_guard(self, name: str, y: mpf, v: mpf) -> None:
        """Go to the next phase after the guard ``name`` has reached 0 at (y, v)."""
        if name == "contact":
            self.enter(y, v)
        elif name == "criterion":
            self.reach(y)
        elif name in ("push", "touch"):
            self.phase = "ELASTIC"
        elif name == "force zero" and self.damping > 0:
            self.phase = "LIFTED"
        elif name in ("force zero", "below"):
            self.phase = "BEHIND" if self.d > 0 else "OFF"
        elif name == "out":
            self.phase = "OFF"
        elif name == "uncapped":
            self.X, self.phase = max(self.X, y), "ELASTIC"
        elif name in ("stretched", "envelope"):
            if name == "envelope" or y >= self.X * (1 - tiny()):
                self.follow(y)
            else:
                self.phase = "RELOAD"
        elif name == "piece":
            self.X = self.piece.upper
            self.index += 1
        elif name == "turn":
            self.rest(y)

    def enter(self, y: mpf, v: mpf) -> None:
        """Come into contact at y = 0 with v >= 0."""
        self.phase = "BEHIND" if self.d > 0 else "ELASTIC"
        constant, stiffness, damping = self.held
        if self.pieces and constant + stiffness * y + damping * v >= self.force_c:
            self.reach(y)

    def reach(self, y: mpf) -> None:
        """The criterion is reached at y with v > 0."""
        small = tiny() * self.X
        if y < self.stretch - small:
            self.d, self.phase = mpf(0), "CAPPED"
        elif y < self.X - small:
            self.d, self.phase = y - self.stretch, "RELOAD"
        else:
            self.follow(y)

    def follow(self, y: mpf) -> None:
        """Yield along the envelope."""
        self.X, self.phase = max(self.X, y), "YIELD"
        if self.piece.upper * (1 - tiny()) <= self.X:  # no plateau
            self.index += 1

    def rest(self, y: mpf) -> None:
        """V = 0: unload from here."""
        if self.phase == "YIELD":
            self.X = y
            self.d = max(mpf(0), self.piece.plastic(y))
        elif self.phase == "RELOAD":
            self.d = y - self.stretch
        if self.yields:
            self.phase = "ELASTIC"

    def moved(self, y: mpf) -> None:
        """Remember the largest compression."""
        if y > self.X and self.phase in ("ELASTIC", "CAPPED"):
            self.X = y

    def begin(self, y: mpf, v: mpf, heading: mpf) -> None:
        """The first evaluation, at t = 0; the mass moves, or will move, to the side of ``heading``."""
        if y < 0 or (y == 0 and heading <= 0):
            return
        self.X = y
        self.index = sum(y > piece.upper for piece in self.pieces)
        if y == 0:
            self.enter(y, v)
            return
        self.phase = "ELASTIC"
        trial = [line[0] + line[1] * y + line[2] * v for line in (self.held, self.trial)]
        if self.pieces and trial[0] >= self.force_c:
            self.phase = "CAPPED" if y < self.stretch else "YIELD"
            if heading <= 0:
                self.rest(y)
                trial[1] = self.trial[0] + self.trial[1] * y + self.trial[2] * v
        if self.phase == "ELASTIC" and trial[1] < 0:
            self.phase = "LIFTED"

    def set_off(self, y: mpf, heading: int) -> None:
        """From rest, to the side of ``heading``."""
        small = tiny() * max(self.X, abs(y), self.gap)
        if heading <= 0:
            return
        if self.phase == "OFF" and abs(y) <= small:
            self.enter(mpf(0), mpf(0))
        elif self.phase == "ELASTIC" and self.pieces and abs(y - self.d - self.stretch) <= small:
            self.reach(y)

    def push(self, jet: Jet) -> Jet:
        """F and its first two derivatives, where (y, v, a, jerk) is ``jet``."""
        (constant, stiffness, damping), slope, anchor = self.law()
        y, v, a, jerk = jet
        c = damping + slope * (y - anchor)
        return [
            constant + stiffness * y + c * v,
            stiffness * v + slope * v * v + c * a,
            stiffness * a + 3 * slope * v * a + c * jerk,
        ]

    def spring(self, y: mpf) -> tuple[mpf, mpf]:
        """F_e = k_u (y - d) and the elastic energy."""
        if self.phase in ("OFF", "BEHIND"):
            return mpf(0), mpf(0)
        if self.phase == "YIELD":
            force, stretch = self.piece.force(y), y - max(mpf(0), self.piece.plastic(y))
        elif self.phase == "RELOAD":
            force, stretch = self.force_c, self.stretch
        else:
            stretch = y - self.d
            force = self.stiffness * stretch
        return force, force * stretch / 2


def seen(wall: Wall, jet: Jet) -> Jet:
    """The motion as compression of ``wall``."""
    return [wall.side * jet[0] - wall.gap, *(wall.side * each for each in jet[1:])]


def as_x(wall: Wall, line: Line) -> Line:
    """A line in (y, v) of ``wall`` as one in the (x, v) of the mass."""
    return line[0] - line[1] * wall.gap, line[1] * wall.side, line[2] * wall.side
