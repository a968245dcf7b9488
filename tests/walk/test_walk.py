"""The project walks its own product: drawn settings and rows, and relations that hold whatever the numbers.

WALK_SEED draws other settings and rows in the long walk. A failing row is shrunk by hypothesis; add it to `FOUND` in `test_found.py`.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.walk import derivatives
from tests.walk.derivatives import wrong_derivatives
from tests.walk.relations import RELATIONS
from tests.walk.settings import Row, Setting, drawn, rows, whole
from tests.walk.structures import OF_STRUCTURES, Built
from tribosweep.kernels.models import MODELS

SEED = int(os.environ.get("WALK_SEED", "1"))
EXAMPLES = 8  # batches of some 4 rows, for each of the relations
MANY = 40
# programs of their own
COMPILING = ("impacts_and_events_are_those_of_the_run", "commands_print_what_calls_return", "schemes_go_to_exact",
             "a_call_has_the_row_of_a_batch", "a_part_at_0_is_no_part", "tables_of_a_run_are_printed_in_full",
             "analyses_print_what_calls_return")  # fmt: skip
NEAR = (Setting("rubbing_mass"), Setting("stop"))  # whose programs compile soon
FAR = 8  # settings of the long walk, which is drawn when it begins
STRUCTURES = tuple(Built(name, scheme) for name in ("body", "pair", "modes") for scheme in ("euler", "rk32"))
FOR_STRUCTURES = ("alone_as_among_others", "in_other_units", "a_default_stated_is_the_default", "rounding_decides_nothing")
OF_ALL = RELATIONS | OF_STRUCTURES


def walk(setting: Setting, name: str, examples: int, of: int) -> None:
    """Draw rows of a setting, and ask whether a relation holds."""

    @seed(of)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(many=rows(setting))
    def holds(many: list[Row]) -> None:
        OF_ALL[name](setting, many)

    holds()


@pytest.mark.long_cases("stop exact-tracing*", "stop exact-what_follows*")
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RELATIONS if name not in COMPILING])
@pytest.mark.parametrize("setting", NEAR, ids=str)
def test_relations_hold_on_a_walk(setting: Setting, name: str) -> None:
    walk(setting, name, EXAMPLES, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FOR_STRUCTURES, "a_structure_turned_by_half_a_turn_is_its_mirror"])
def test_relations_of_structures_hold_on_a_walk(name: str) -> None:
    walk(STRUCTURES[0], name, EXAMPLES, 1)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", [*FOR_STRUCTURES, "a_call_has_the_row_of_a_batch", *OF_STRUCTURES])
@pytest.mark.parametrize("setting", STRUCTURES, ids=str)
def test_relations_of_structures_hold_on_a_long_walk(setting: Setting, name: str) -> None:
    walk(setting, name, EXAMPLES, SEED)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("setting", [Setting(name, scheme, parts) for name, model in MODELS.items() for scheme in model.schemes
                                     for parts in ((), ("k_t",))], ids=str)  # fmt: skip
def test_derivatives_by_every_parameter_lie_between_one_sided_differences(setting: Setting) -> None:
    assert wrong_derivatives(setting) == []


@pytest.mark.parametrize(("finer", "difference", "wrong"), [(1.4, 1.0, False), (1.6, 1.0, True), (1.4, 0.7, True), (1.1, 0.7, False)])
def test_a_derivative_by_a_scheme_comes_nearer_to_differences_of_steps_as_fine(
    monkeypatch: pytest.MonkeyPatch, finer: float, difference: float, wrong: bool
) -> None:
    """By stand-ins for all that computes: 1.9 with the first steps, beside a difference of 1."""
    setting = Setting("rubbing_mass", "euler")
    row, a0 = whole(setting, {}), setting.model.parameter("a0")
    shape = lambda value: np.full((1, 1, 1), value)  # noqa: E731
    of_steps = {derivatives.SHARP["euler"]["step"]: 1.9, derivatives.FINER["euler"]["step"]: finer}
    stand_ins = {
        "reference": lambda of: of,
        "places": lambda _: [(a0, row)],
        "asked_of": lambda _: [a0],
        "run": lambda *_: {"x_end": np.ones(1), "status": np.zeros(1)},
        "jacobian": lambda _setting, _names, _many, fixed, _observables: shape(of_steps[fixed["step"]]),
        "differences": lambda _setting, _pairs, _observables, paces=derivatives.SHARP: (
            shape(difference if paces is derivatives.FINER else 1.0) + np.zeros((1, 2, 1)),
            np.zeros((1, 2, 1)),
        ),
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(derivatives, name, stand_in)
    assert bool(wrong_derivatives(setting)) == wrong


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("place", range(FAR))
def test_relations_hold_on_a_long_walk(place: int, name: str) -> None:
    setting = drawn(SEED, FAR)[place]
    print(setting)
    walk(setting, name, MANY, SEED)
