"""Tables of force over time, and pulses: their parameters and rules. Nothing here imports JAX."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models.links import entries
from tribosweep.kernels.models.model import Rule
from tribosweep.kernels.models.quantity import Quantity, Values

PULSES = ("none", "rectangle", "triangle", "half-sine", "ramp")
TRIANGLE, HALF_SINE, RAMP = float(PULSES.index("triangle")), float(PULSES.index("half-sine")), float(PULSES.index("ramp"))

PULSE = (
    Quantity("pulse", "", "shape of a pulse: rectangle (without a duration a step that stays), triangle, half-sine, or a ramp that stays "
             "at its height", kind="word", words=PULSES, default=0.0),
    Quantity("pulse_start", "s", "start of the pulse", r"t_\mathrm{pulse}", default=0.0, lower=0.0),
    Quantity("pulse_duration", "s", "duration of the pulse, or of the rise of a ramp", default=math.inf, lower=0.0, lower_open=True),
)  # fmt: skip
TABLE_TIME = Quantity("table_time", "s", "instants of a table, ascending; two equal ones are a jump", kind="list", default=(), lower=0.0)
TABLES = (
    TABLE_TIME,
    Quantity("table_force", "N", "forces of the table at its instants: linear between them, the first before and the last after them",
             kind="list", default=()),
    Quantity("table_scale", "1", "factor of the table of force", default=1.0),
)  # fmt: skip
OF_A_LOAD = (
    TABLE_TIME,
    Quantity("table_value", "", "values of the table at its instants: linear between them, the first before and the last after them",
             kind="list", default=()),
    Quantity("table_scale", "1", "factor of the table", default=1.0),
    *PULSE,
    Quantity("pulse_amplitude", "", "height of the pulse", default=0.0),
)  # fmt: skip
SHAPES = tuple(q.name for q in OF_A_LOAD)
PULSES_OF_A_MASS = (
    *PULSE,
    Quantity("pulse_f0", "N", "height of the pulse of force", default=0.0),
    Quantity("pulse_a0", "m/s^2", "height of the pulse of base acceleration", default=0.0),
)


def is_none(value: Any) -> bool:
    """Whether a value is the plain number 0, of all rows: no pulse, no height. A column that has other values is not."""
    return isinstance(value, float | int) and value == 0.0


def table_rules(time: str, value: str, scale: str) -> tuple[Rule, ...]:
    """The rules of a table with parameters of these names."""
    return (
        Rule((time, value), f"every instant of a table needs a value: {time} and {value} must be of one length",
             lambda p, _s: entries(p, time) != entries(p, value),
             lambda p, _s: f"{time} has {int(entries(p, time))}, {value} has {int(entries(p, value))}"),
        Rule((time,), f"the instants of a table must ascend, and two equal ones are a jump: {time}",
             lambda p, _s: np.any(np.diff(np.asarray(p.get(time, ())), axis=-1) < 0.0, axis=-1)),
        Rule((scale, time, value), f"the factor of a table needs a table: give {time} and {value}, or leave out {scale}",
             lambda p, _s: (np.asarray(p.get(scale, 1.0)) != 1.0) & (np.size(p.get(time, ())) == 0)),
    )  # fmt: skip


def pulse_rules(pulse: str, start: str, duration: str, heights: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of a pulse with parameters of these names."""
    return (
        Rule((pulse, duration), f"a pulse needs a duration, unless it is a rectangle: give {duration}",
             lambda p, _s: (np.asarray(p.get(pulse, 0.0)) >= TRIANGLE) & ~np.isfinite(p.get(duration, math.inf)),
             lambda p, _s: f"{pulse} = {PULSES[int(p[pulse])]}"),
        Rule((pulse, *heights), f"a pulse needs a shape: {pulse} = one of {', '.join(PULSES[1:])}",
             lambda p, _s: (np.asarray(p.get(pulse, 0.0)) == 0.0)
             & functools.reduce(operator.or_, (np.asarray(p.get(height, 0.0)) != 0.0 for height in heights))),
        Rule((pulse, *heights), f"a pulse needs a height: give {' or '.join(heights)}",
             lambda p, _s: (np.asarray(p.get(pulse, 0.0)) != 0.0) & all(is_none(p.get(height, 0.0)) for height in heights)),
        Rule((duration, start, pulse), f"a start and a duration need a pulse: give {pulse} and {' or '.join(heights)}, or leave them out",
             lambda p, _s: is_none(p.get(pulse, 0.0)) & all(is_none(p.get(height, 0.0)) for height in heights)
             & (np.isfinite(p.get(duration, math.inf)) | (np.asarray(p.get(start, 0.0)) != 0.0))),
    )  # fmt: skip


LOAD_RULES = (
    *table_rules("table_time", "table_force", "table_scale"),
    *pulse_rules("pulse", "pulse_start", "pulse_duration", ("pulse_f0", "pulse_a0")),
)


def fastest_of_pulse(p: Values, xp: Any, of: str = "") -> Any:
    """A circular frequency [rad/s] whose period is twice the duration of the pulse; 0 without one. `of`: behind the parameters' names."""
    length = xp.asarray(p[f"pulse_duration{of}"])
    shaped = (xp.asarray(p[f"pulse{of}"]) != 0.0) & xp.isfinite(length)
    return xp.where(shaped, math.pi / xp.where(shaped, length, 1.0), 0.0)
