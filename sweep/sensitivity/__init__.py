"""Sensitivity studies: distributions, designs by index, indices, derivatives, propagated uncertainty, pictures."""

from __future__ import annotations

from enum import StrEnum


class Picture(StrEnum):
    """What can be drawn."""

    bars = "bars"
    plane = "plane"
    scatter = "scatter"
    sizes = "sizes"
