"""The interface of time schemes (`Stepper`), and the oscillator as a scheme sees it (`Body`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast

from tribosweep.kernels.contact.friction_law import FrictionLaw
from tribosweep.kernels.contact.links import Links
from tribosweep.kernels.contact.wall import Crush, Wall, new_crush
from tribosweep.kernels.numerics.fusion import fusion_barrier
from tribosweep.kernels.numerics.numbers import Array


class Memory(NamedTuple):
    """What the contacts remember from one step to the next.

    Attributes:
        friction: what the friction law remembers. walls: what each wall of the body remembers, in the order of `Body.walls`.
        links: what the links beside k and c remember; None without them.
    """

    friction: Any
    walls: tuple[Crush, ...]
    links: Any = None


class External(NamedTuple):
    """What acts on an oscillator at an instant, besides its own state. A scheme passes it on to the `Body` unchanged.

    Attributes:
        force: external force [N].
        normal: signed normal force [N] (see `Pressing`); None if it is constant.
        carried: displacement of the support [m] since the instant of the contact's memory; None if the support rests.
        elapsed: time since that instant [s]; None if neither the friction law nor a link reads it.
    """

    force: Array
    normal: Array | None = None
    carried: Array | None = None
    elapsed: Array | None = None

    def against(self, moved: Array) -> Array:
        """A displacement of the mass since that instant, relative to the support [m]."""
        return moved if self.carried is None else moved - self.carried


class Body(NamedTuple):
    """One oscillator without its excitation: m x'' + c x' + k x = external force + contact forces, less the force of its links.

    Attributes:
        by_mass: 1/m [1/kg]. stiffness: k [N/m]. drag: c/m [1/s]. friction: its friction law. walls: the walls that it may hit.
        one: 1.0 in the type of the other numbers. free: compile-time promise that k = c = 0.
        links: the links beside k and c; None without them.
    """

    by_mass: Array
    stiffness: Array
    drag: Array
    friction: FrictionLaw
    walls: tuple[Wall, ...]
    one: Array
    free: bool = False
    links: Links | None = None

    def at_start(self, load: External, v: Array) -> Memory:
        """The memory of the contacts at t = 0, before any evaluation, of a mass that moves at `v` [m/s]: walls that nothing has touched."""
        against = v if self.friction.belt is None else v - self.friction.belt
        links = None if self.links is None else self.links.at_start(v)
        return Memory(self.friction.at_start(against, load.normal), tuple(new_crush(0.0 * self.one) for _ in self.walls), links)

    def around(self, _memory: Memory, _v: Array) -> tuple[Array | None, ...]:
        """Velocities around rings, of which one oscillator has none."""
        return ()

    def settled(self, memory: Memory) -> Memory:
        """The memory with its slip state computed only once, because many results depend on it (see `fusion_barrier`)."""
        (slip_state,) = fusion_barrier(memory.friction.slip_state)
        return memory._replace(friction=memory.friction._replace(slip_state=slip_state))

    def push(self, load: External, memory: Memory, x: Array, moved: Array, v: Array, rest: Array | None = None) -> tuple[Array, Memory]:
        """Acceleration without that of the damper c [m/s^2], and the memory of the contacts after this evaluation.

        Args:
            load: what acts at the instant of the evaluation.
            memory: of the contacts, at the start of the step or at an evaluation within it (`Stepper.remembers`).
            x: displacement [m]. moved: displacement since the instant of that memory [m]. v: velocity [m/s].
            rest: part of x lost by rounding [m]; None if it is not carried.
        """
        pull = needed = load.force if self.free else load.force - self.stiffness * x
        still, walls = 0.0 * v, []
        belt = self.friction.belt
        if belt is not None:  # a mass that rests on the belt moves with it
            still = still + belt
            needed = needed - belt * self.drag / self.by_mass
        for wall, before in zip(self.walls, memory.walls, strict=True):
            push, after = wall.evaluate(before, x, v, rest)
            pull, needed = pull + push, needed + wall.evaluate(after, x, still, rest)[0]
            walls.append(after)
        held = memory.links
        if self.links is not None:
            held = self.links.evaluate(held, x, moved, v, cast("Array", load.elapsed))
            pull, needed = pull - self.links.force(held, x, v), needed - self.links.force(held, x, still)
        against = v if belt is None else v - belt
        force, grip = self.friction.evaluate(memory.friction, load.against(moved), against, needed, load.normal, load.elapsed)
        return (pull + force) * self.by_mass, Memory(grip, tuple(walls), held)

    def acceleration(
        self, load: External, memory: Memory, x: Array, moved: Array, v: Array, rest: Array | None = None
    ) -> tuple[Array, Memory]:
        """Acceleration [m/s^2], and the memory of the contacts after this evaluation. The arguments are those of `push`."""
        a, memory = self.push(load, memory, x, moved, v, rest)
        return (a if self.free else a - self.drag * v), memory


class StepState(NamedTuple):
    """One oscillator after an accepted step.

    Attributes:
        x: displacement [m]. v: velocity [m/s].
        a: acceleration of the last evaluation [m/s^2], as the scheme defines it.
        memory: of the contacts.
        own: further numbers that the scheme carries.
        rest, slack: parts of x [m] and v [m/s] (or of the velocity that the scheme sums) lost by rounding; None if they are not carried.
            With them rounding errors do not add up: under a constant force every step would be rounded to the same side.
    """

    x: Array
    v: Array
    a: Array
    memory: Memory
    own: tuple[Array, ...]
    rest: Array | None = None
    slack: Array | None = None

    def after(self, moved: Array) -> tuple[Array, Array | None]:
        """Displacement [m] once the oscillator has `moved` [m] from this state, and its part lost by rounding [m]."""
        return add(self.x, moved, self.rest)

    def faster(self, change: Array) -> tuple[Array, Array | None]:
        """Velocity [m/s] after a `change` [m/s], and its part lost by rounding [m/s]."""
        return add(self.v, change, self.slack)


def add(value: Array, change: Array, left_out: Array | None) -> tuple[Array, Array | None]:
    """The sum value + change and its part lost by rounding, given that of `value` (Kahan 1965). With None it is a plain sum."""
    if left_out is None:
        return value + change, None
    change = change + left_out
    total = value + change
    return total, change - (total - value)


class Trial(NamedTuple):
    """A step that may be accepted.

    Attributes:
        state: after it. moved: displacement of the step [m].
        doubt: two numbers by which the step size control judges the step; None at a fixed step.
    """

    state: StepState
    moved: Array
    doubt: tuple[Array, Array] | None


class Limits(NamedTuple):
    """Bounds of a study: largest and smallest step [s], relative tolerance, retries of one step; 1 where a scheme does not read it."""

    largest: Array
    smallest: Array
    tolerance: Array
    retries: Array


class StepVerdict(NamedTuple):
    """Decision of the step size control on a trial.

    Attributes:
        accepted: whether the step is taken.
        longer: length of the next step [s] if it is taken. shorter: length of the next trial [s] if it is not.
        after, again: memory of the control if it is taken, and if it is not.
    """

    accepted: Array
    longer: Array
    shorter: Array
    after: tuple[Array, ...]
    again: tuple[Array, ...]


class Control(Protocol):
    """Step size control of a scheme."""

    def start(self, x: Array, v: Array, pull: Array, h: Array) -> tuple[Array, ...]:
        """Its memory at t = 0, from the initial state, the largest external force over mass `pull` [m/s^2] and the first step `h` [s]."""

    def judge(self, memory: tuple[Array, ...], doubt: tuple[Array, Array], tried: Array, planned: Array, x: Array, v: Array,
              limits: Limits) -> StepVerdict:  # fmt: skip
        """Judge a trial that ends at `x` and `v`. Its length `tried` [s] is less than `planned` [s] if it was cut to hit an instant."""

    def unsure(self, memory: tuple[Array, ...], limits: Limits) -> Array | None:
        """What the displacement lacks by the tolerance [m], with the memory of the control; None without a tolerance."""


def from_now_on(state: StepState, change: Array) -> StepState:
    """The state after a jump of the external force, for a scheme whose next step uses the acceleration from there on alone."""
    return state._replace(a=state.a + change)


def at_end(state: StepState, change: Callable[[Array], Array]) -> StepState:
    """The state whose velocity has changed at the end of the step, for a scheme that carries no other velocity."""
    return state._replace(v=change(state.v))


class Stepper(NamedTuple):
    """A time scheme.

    Attributes:
        fractions: fractions of a step at which the external force is needed, ascending; the last is 1.
        start: (body, function from a time [s] to `External`, x0, v0, first step h [s]) -> state at t = 0.
        step: (body, `External` at each of `fractions`, state, h [s]) -> trial.
        control: its step size control; None for a fixed step.
        remembers: True if an evaluation has the contacts' memory of the one before it, False if that of the start of the step.
        undamped: whether `StepState.a` leaves out the damper c.
        degree: of the polynomial in time that is the motion within a step (see `dense_output.motion`): 5 with the accelerations at
            its ends, 3 without them; 1 where straight lines do.
        jumped: (state at an instant where the external force jumps, change of the acceleration [m/s^2]) -> state after the jump.
        kicked: (state, function of a velocity) -> the state with that function of every velocity that carries the motion on.
    """

    fractions: tuple[float, ...]
    start: Callable[[Body, Callable[[Array], External], Array, Array, Array], StepState]
    step: Callable[[Body, tuple[External, ...], StepState, Array], Trial]
    control: Control | None = None
    remembers: bool = False
    undamped: bool = False
    degree: int = 1
    jumped: Callable[[StepState, Array], StepState] = from_now_on
    kicked: Callable[[StepState, Callable[[Array], Array]], StepState] = at_end


def evaluate_once(body: Body, force: Callable[[Array], External], x: Array, v: Array, _h: Array) -> StepState:
    """The state at t = 0 of a scheme that carries no further numbers, from one evaluation of unloaded contacts."""
    zero = 0.0 * body.one
    load = force(zero)
    a, memory = body.acceleration(load, body.at_start(load, v), x, zero, v)
    return StepState(x, v, a, memory, ())
