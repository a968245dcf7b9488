"""Studies of friction that varies: what the exact engine, and theories of constant friction, have nothing to say of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.sweep import load
from tribosweep.sweep.analyses.events.log import events_of
from tribosweep.sweep.analyses.events.request import EventsRequest
from tribosweep.sweep.analysis.theory import known_levels
from tribosweep.sweep.io.errors import ConfigError

CONFIGS = Path(__file__).parents[3] / "configs"


def test_events_of_friction_whose_phases_are_not_linear_are_refused() -> None:
    config = load(CONFIGS / "stribeck.toml")
    with pytest.raises(ConfigError, match="choose a time scheme"):
        events_of(config, EventsRequest(points=config.design.count - 1))


def test_a_steady_window_needs_constant_friction(tmp_path: Path) -> None:
    path = tmp_path / "steady.toml"
    path.write_text('[parameters]\nbelt_speed = 0.1\nnormal_amplitude = 1.0\n[time]\nwindow = "steady"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"parameters.belt_speed: .*is of a constant normal force and a support at rest") as refused:
        load(path)
    assert "parameters.normal_amplitude: " in str(refused.value)


@pytest.mark.parametrize(
    "given", [{"normal_amplitude": 1.0}, {"stribeck_speed": 0.1}, {"belt_speed": 0.1}], ids=lambda row: next(iter(row))
)
def test_no_line_of_theory_is_drawn_where_friction_varies(given: dict[str, float]) -> None:
    assert len(list(known_levels(RUBBING_MASS, "a0", "mu", {}, steady=False))) == 2
    assert list(known_levels(RUBBING_MASS, "a0", "mu", given, steady=False)) == []


def test_what_is_wrong_with_a_friction_law_is_said_with_its_key(tmp_path: Path) -> None:
    text = (CONFIGS / "stribeck.toml").read_text(encoding="utf-8").replace("stribeck_speed = 0.05", "stribeck_speed = 0.0")
    path = tmp_path / "stribeck.toml"
    path.write_text(text.replace("mu_s = 0.3", "mu_s = 0.1"), encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(path)
    said = str(refused.value)
    assert "parameters.stribeck_speed: " in said
    assert "is out of bounds: must be > 0" in said
    assert "parameters.mu_s: static friction must be at least dynamic friction" in said
