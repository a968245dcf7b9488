"""The project walks its own product: drawn settings and rows, and relations that hold whatever the numbers.

WALK_SEED draws other settings and rows in the long walk. A failing row is shrunk by hypothesis; add it to `FOUND` in `test_found.py`.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.walk.relations import RELATIONS
from tests.walk.settings import Row, Setting, drawn, rows

SEED = int(os.environ.get("WALK_SEED", "1"))
EXAMPLES = 8  # batches of some 4 rows, for each of the relations
MANY = 40
COMPILING = "impacts_and_events_are_those_of_the_run"  # programs of their own
NEAR = (Setting("rubbing_mass"), Setting("stop"))  # whose programs compile soon
FAR = drawn(SEED, 8)


def walk(setting: Setting, name: str, examples: int, of: int) -> None:
    """Draw rows of a setting, and ask whether a relation holds."""

    @seed(of)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(many=rows(setting))
    def holds(many: list[Row]) -> None:
        RELATIONS[name](setting, many)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RELATIONS if name not in COMPILING])
@pytest.mark.parametrize("setting", NEAR, ids=str)
def test_relations_hold_on_a_walk(setting: Setting, name: str) -> None:
    walk(setting, name, EXAMPLES, 1)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("setting", FAR, ids=str)
def test_relations_hold_on_a_long_walk(setting: Setting, name: str) -> None:
    walk(setting, name, MANY, SEED)
