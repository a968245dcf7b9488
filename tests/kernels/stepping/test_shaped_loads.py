"""Loads of bodies and structures that are tables or pulses, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.kernels.excitation.test_tables_and_pulses import spring
from tribosweep.kernels import structure_history
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models.loads import PULSES
from tribosweep.kernels.models.structures import BASE, CENTRE, FORCE, Load, Structure, body_basis

BODY = Structure(body_basis("x"), [], [Load("pull", FORCE, point=CENTRE), Load("ground", BASE)], body=True).model
SHAPES, HEIGHT, DURATION, START, END = PULSES[1:], 1.7, 0.37, 0.21, 1.3
TIMES, VALUES = np.array([0.2, 0.5, 0.5, 0.8]), np.array([0.0, 3.0, 1.0, 1.0])
COMMON = {
    "k": 9.0, "end": END, "step": 2e-4, "largest_step": 2e-4, "pulse_start[pull]": START, "pulse_duration[pull]": DURATION,
    "pulse_start[ground]": START, "pulse_duration[ground]": DURATION,
}  # fmt: skip


@pytest.mark.long_cases("rk54-2e-07", "devogelaere-*", "adapt2-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "tolerance"),
    [
        ("devogelaere", 1e-4),
        ("adapt2", 5e-8),
        ("rk54", 2e-7),
        pytest.param("adapt1", 2e-4, marks=pytest.mark.long),
        pytest.param("rk32", 2e-7, marks=pytest.mark.long),
    ],
)
def test_pulses_and_tables_have_the_closed_form(scheme: str, tolerance: float) -> None:
    n = len(SHAPES)
    codes = np.array([PULSES.index(shape) for shape in SHAPES], float)
    none, tables = np.zeros(n), np.full((2 * n + 1, TIMES.size), math.nan)
    tables[-1] = TIMES
    values = np.where(np.isnan(tables), math.nan, VALUES)
    rows = COMMON | {
        "pulse[pull]": np.concatenate([codes, none, [0.0]]), "pulse_amplitude[pull]": np.concatenate([none + HEIGHT, none, [0.0]]),
        "pulse[ground]": np.concatenate([none, codes, [0.0]]), "pulse_amplitude[ground]": np.concatenate([none, none - HEIGHT, [0.0]]),
        "table_time[pull]": tables, "table_value[pull]": values, "table_scale[pull]": 2.0,
    }  # fmt: skip
    found = solve(BODY, scheme, rows, count=2 * n + 1).observables[f"x_end[{CENTRE}]"]
    pulses = [spring(HEIGHT, shape, DURATION, START, END) for shape in SHAPES]
    # up to 6 N in a line from 0.2 to 0.5 s, then 2 N for ever
    ramp, step = spring(6.0, "ramp", 0.3, 0.2, END), spring(4.0, "rectangle", math.inf, 0.5, END)
    assert np.allclose(found, [*pulses, *pulses, ramp - step], rtol=0.0, atol=tolerance)


WITHOUT_PULSE = {name: value for name, value in COMMON.items() if not name.startswith("pulse")}


@pytest.mark.slow
def test_a_trace_follows_a_table() -> None:
    course = structure_history.trace(
        BODY, {**WITHOUT_PULSE, "table_time[pull]": TIMES, "table_value[pull]": VALUES, "table_scale[pull]": 2.0}, "rk54", rows=0
    )
    ends = [spring(6.0, "ramp", 0.3, 0.2, t) - spring(4.0, "rectangle", math.inf, 0.5, t) for t in course["time"]]
    assert np.allclose(course[f"x[{CENTRE}]"], ends, rtol=0.0, atol=2e-7)
    assert {0.2, 0.5, 0.8} <= {*course["time"]}  # steps end where the force bends or jumps


@pytest.mark.slow
def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match=r"a pulse needs a duration, unless it is a rectangle: give pulse_duration\[pull\]"):
        structure_history.trace(BODY, {"pulse[pull]": 2.0, "pulse_amplitude[pull]": 1.0}, "rk54")
    with pytest.raises(ValueError, match=r"must be of one length; table_time\[pull\] has 4, table_value\[pull\] has 3"):
        structure_history.trace(BODY, {"table_time[pull]": TIMES, "table_value[pull]": VALUES[:3]}, "rk54")
