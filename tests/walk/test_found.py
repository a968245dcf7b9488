"""Rows that a walk found, kept as examples: the relation, the setting, and what the row changes of the base of the setting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.walk.relations import RELATIONS
from tests.walk.settings import Setting, whole

FOUND: tuple[tuple[str, Setting, dict[str, Any]], ...] = (
    # friction holds a mass at rest in touch with a face: whether a force of 1e-17 N pushes it is decided by rounding, its motion is not
    ("rounding_decides_nothing", Setting("stop"), {"gap": 0.0}),
    # a weight that is laid on a spring: one impact where it begins at the face, none where it begins 1e-18 m inside
    ("rounding_decides_nothing", Setting("stop"), {"gap": 0.0, "v0": 0.0, "load": 1.0, "mu": 0.0, "k": 0.0, "a0": 0.0, "k_n": 50.0}),
    # a mass that a load takes from the face before it is deeper than rounding may decide: no impact, also where it begins 1e-18 m inside
    ("rounding_decides_nothing", Setting("stop", "euler"), {"gap": 0.0, "v0": 1e-12, "load": -1.0, "a0": 0.0, "mu": 0.0}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting", "change"), FOUND, ids=lambda value: None if isinstance(value, dict) else str(value))
def test_what_a_walk_found_holds(name: str, setting: Setting, change: dict[str, Any]) -> None:
    RELATIONS[name](setting, [whole(setting, change)])
