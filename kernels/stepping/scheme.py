"""What a time scheme is: the interface that each file of this folder fills, and the oscillator as a scheme sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from kernels.contact.friction_law import FrictionLaw
from kernels.contact.wall import Crush, Wall, new_crush
from kernels.numerics.fusion import fusion_barrier
from kernels.numerics.numbers import Array


class Memory(NamedTuple):
    """What the contacts remember from one step to the next.

    Attributes:
        friction: what the friction law remembers. walls: what each wall of the body remembers, in the order of `Body.walls`.
    """

    friction: Any
    walls: tuple[Crush, ...]


class External(NamedTuple):
    """What acts on an oscillator from outside at an instant; a scheme hands it on to the `Body` as it is.

    Attributes:
        force: external force [N].
        normal: what presses the mass on its support [N]; None where that does not vary in time.
        carried: displacement of the support since the instant that the contact remembers [m]; None where it rests.
        elapsed: time since that instant [s]; None where the law of friction does not read it.
    """

    force: Array
    normal: Array | None = None
    carried: Array | None = None
    elapsed: Array | None = None

    def against(self, moved: Array) -> Array:
        """A displacement since that instant [m] as the support sees it."""
        return moved if self.carried is None else moved - self.carried


class Body(NamedTuple):
    """One oscillator but for its excitation: m x'' + c x' + k x = external force + contact force.

    Attributes:
        by_mass: 1/m [1/kg]. stiffness: k [N/m]. drag: c/m [1/s]. friction: the law of its friction. walls: the walls that it may hit, whose
            forces add.
        one: 1.0, of the type of the other numbers. free: compile-time promise that k = c = 0.
    """

    by_mass: Array
    stiffness: Array
    drag: Array
    friction: FrictionLaw
    walls: tuple[Wall, ...]
    one: Array
    free: bool = False

    def untouched(self) -> Memory:
        """What contacts remember that are not loaded."""
        zero = 0.0 * self.one
        return Memory(self.friction.new_memory(zero), tuple(new_crush(zero) for _ in self.walls))

    def settled(self, memory: Memory) -> Memory:
        """The memory of an evaluation that much is built on (see `fusion_barrier`)."""
        (slip_state,) = fusion_barrier(memory.friction.slip_state)
        return memory._replace(friction=memory.friction._replace(slip_state=slip_state))

    def push(self, load: External, memory: Memory, x: Array, moved: Array, v: Array, rest: Array | None = None) -> tuple[Array, Memory]:
        """Acceleration but for the damper c [m/s^2], and what the contacts remember of this evaluation.

        Args:
            load: what acts from outside.
            memory: of the contacts at the start of the step, wherever in the step the evaluation is.
            x: displacement [m]. moved: displacement since the start of the step [m]. v: velocity [m/s].
            rest: what rounding left out of x [m]; None: nothing that counts.
        """
        pull = needed = load.force if self.free else load.force - self.stiffness * x
        still, walls = 0.0 * v, []
        belt = self.friction.belt
        if belt is not None:  # a mass at rest on it moves with it
            still = still + belt
            needed = needed - belt * self.drag / self.by_mass
        for wall, before in zip(self.walls, memory.walls, strict=True):
            push, after = wall.evaluate(before, x, v, rest)
            pull, needed = pull + push, needed + wall.evaluate(after, x, still, rest)[0]
            walls.append(after)
        against = v if belt is None else v - belt
        force, grip = self.friction.evaluate(memory.friction, load.against(moved), against, needed, load.normal, load.elapsed)
        return (pull + force) * self.by_mass, Memory(grip, tuple(walls))

    def acceleration(
        self, load: External, memory: Memory, x: Array, moved: Array, v: Array, rest: Array | None = None
    ) -> tuple[Array, Memory]:
        """Acceleration [m/s^2], and what the contacts remember of this evaluation; arguments as those of `push`."""
        a, memory = self.push(load, memory, x, moved, v, rest)
        return (a if self.free else a - self.drag * v), memory


class StepState(NamedTuple):
    """One oscillator after a step that was accepted.

    Attributes:
        x: displacement [m]. v: velocity [m/s].
        a: acceleration of the last evaluation [m/s^2], as the scheme defines it.
        memory: of the contact.
        own: what the scheme carries besides.
        rest, slack: what rounding left out of x [m] and of v [m/s] (or of what the scheme sums up for it), so that they are the sums of
            their steps to rounding: under a constant force every step would be rounded to the same side. None where they are not carried.
    """

    x: Array
    v: Array
    a: Array
    memory: Memory
    own: tuple[Array, ...]
    rest: Array | None = None
    slack: Array | None = None

    def after(self, moved: Array) -> tuple[Array, Array | None]:
        """Displacement [m] once the oscillator has `moved` from here [m], and what rounding leaves out of it."""
        return add(self.x, moved, self.rest)

    def faster(self, change: Array) -> tuple[Array, Array | None]:
        """Velocity [m/s] after a `change` [m/s], and what rounding leaves out of it."""
        return add(self.v, change, self.slack)


def add(value: Array, change: Array, left_out: Array | None) -> tuple[Array, Array | None]:
    """A sum and what rounding leaves out of it, given what it left out of `value` (Kahan 1965); None: that is not asked for."""
    if left_out is None:
        return value + change, None
    change = change + left_out
    total = value + change
    return total, change - (total - value)


class Trial(NamedTuple):
    """A step that may be accepted.

    Attributes:
        state: after it. moved: displacement of the step [m].
        doubt: two numbers that the scheme's control judges the step by; of a scheme of fixed step, none.
    """

    state: StepState
    moved: Array
    doubt: tuple[Array, Array] | None


class Limits(NamedTuple):
    """What a study allows: largest and smallest step [s], tolerance (relative), retries of one step; 1 where a scheme does not read it."""

    largest: Array
    smallest: Array
    tolerance: Array
    retries: Array


class StepVerdict(NamedTuple):
    """What a control says of a trial.

    Attributes:
        accepted: whether the step is taken.
        longer: length of the next step [s] if it is. shorter: length to try if it is not.
        after, again: what the control remembers in either case.
    """

    accepted: Array
    longer: Array
    shorter: Array
    after: tuple[Array, ...]
    again: tuple[Array, ...]


class Control(Protocol):
    """Who chooses the steps."""

    def start(self, x: Array, v: Array, pull: Array, h: Array) -> tuple[Array, ...]:
        """What it remembers at first: of the initial state, the largest external force per mass `pull` [m/s^2], the first step `h` [s]."""

    def judge(self, memory: tuple[Array, ...], doubt: tuple[Array, Array], tried: Array, planned: Array, x: Array, v: Array,
              limits: Limits) -> StepVerdict:  # fmt: skip
        """Judge a trial of length `tried` [s], which an instant to be hit may have cut from the `planned` one, that ends at `x` and `v`."""


class Stepper(NamedTuple):
    """A time scheme.

    Attributes:
        fractions: where in a step the external force is needed, ascending; the last is 1.
        start: (body, what acts from outside at a time [s], x0, v0, first step h [s]) -> state at t = 0.
        step: (body, what acts from outside at `fractions`, state, h [s]) -> trial.
        control: how it chooses its steps; None: fixed step.
        remembers: whether at each of the `fractions` the contact remembers the one before it, not the start of the step.
    """

    fractions: tuple[float, ...]
    start: Callable[[Body, Callable[[Array], External], Array, Array, Array], StepState]
    step: Callable[[Body, tuple[External, ...], StepState, Array], Trial]
    control: Control | None = None
    remembers: bool = False


def evaluate_once(body: Body, force: Callable[[Array], External], x: Array, v: Array, _h: Array) -> StepState:
    """The state at t = 0 of a scheme that carries nothing of its own: one evaluation of a contact that is not loaded."""
    zero = 0.0 * body.one
    a, memory = body.acceleration(force(zero), body.untouched(), x, zero, v)
    return StepState(x, v, a, memory, ())
