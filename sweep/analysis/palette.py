"""Colours of words on maps, shared by pictures and reports; those of lines are `results.picture.HUES`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tribosweep.sweep.analysis.map_areas import FAILED, MISSING, VOID

FLAT = {"stick": "#e4e2dd", "stick-slip": "#8dbde0", "slip-slip": "#d9853b"}
EMPTY = {FAILED: ("failed", "#ffffff"), MISSING: ("not computed", "#f7f7f7"), VOID: ("did not happen", "#ffffff")}
# Each regime runs from light to dark. Grey, blue and orange can be told apart with every kind of colour blindness. In print without
# colour, the lines between areas and the words on them tell areas apart. Other words take the ramps of OTHERS in their order.
RAMPS = {
    "stick": ("#e4e2dd", "#e4e2dd"), "stick-slip": ("#eaf3fb", "#17568c"), "slip-slip": ("#fdeedd", "#a8480a"),
    "no friction": ("#f1e9f4", "#6b3d80"),
}  # fmt: skip
OTHERS = (
    ("#f3f1ec", "#77736a"), ("#eaf3fb", "#17568c"), ("#fdeedd", "#a8480a"), ("#f1e9f4", "#5f2f78"), ("#e3f3ee", "#0b5f4c"),
    ("#fbf4d3", "#7d6608"), ("#fae8ee", "#8f2350"), ("#e8e8e8", "#2e2e2e"), ("#e0f2fb", "#0a6a8a"), ("#f5e9e0", "#5b3a1e"),
    ("#eef3dc", "#4f6212"), ("#e9e6f6", "#3b3a8c"),
)  # fmt: skip
Ramp = tuple[str, str]


def ramps_of(words: Sequence[str]) -> dict[str, Ramp]:
    """The colours of regimes for small and for large values of the shaded observable, as "#rrggbb"."""
    free = [word for word in words if word not in RAMPS]
    return {word: RAMPS[word] if word in RAMPS else OTHERS[free.index(word) % len(OTHERS)] for word in words}


def mixed(light: str, dark: str, part: float = 0.25) -> str:
    """Mix two colours; `part` is the share of the second."""
    ends = [[int(color[place : place + 2], 16) for place in (1, 3, 5)] for color in (light, dark)]
    return "#" + "".join(f"{round(one + part * (other - one)):02x}" for one, other in zip(*ends, strict=True))


def flat(word: str, ramps: Mapping[str, Ramp]) -> str:
    """The colour of a regime in a map without shading."""
    return FLAT.get(word) or mixed(*ramps[word], 0.5)
