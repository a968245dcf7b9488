"""The key `table` of a study: a file with a force over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tribosweep.sweep import load
from tribosweep.sweep.io.errors import ConfigError

STRUCTURE: dict[str, Any] = {"study": {"model": "body"}, "time": {"end": 1.0}, "structure": {"directions": "x"}}


def wrong(study: dict[str, Any]) -> str:
    """What is said of a study."""
    with pytest.raises(ConfigError) as caught:
        load(study)
    return str(caught.value)


@pytest.fixture
def pull(tmp_path: Path) -> str:
    """A file in other units, with a jump."""
    path = tmp_path / "pull.csv"
    path.write_text("time [ms],force [kN]\n0,3\n200,3\n200,0\n")
    return str(path)


def test_a_file_is_read_into_the_lists_of_a_mass(pull: str) -> None:
    config = load({"parameters": {"table": pull, "mu": 0.1}})
    assert config.fixed["table_time"].tolist() == [0.0, 0.2, 0.2]
    assert config.fixed["table_force"].tolist() == [3000.0, 3000.0, 0.0]
    assert "table" not in config.document["parameters"]  # the resolved study needs no file
    assert load(config.document).digest == config.digest


def test_a_file_is_read_into_the_lists_of_a_load(pull: str, tmp_path: Path) -> None:
    config = load({**STRUCTURE, "loads": {"pull": {"point": "centre", "table": pull}}})
    assert config.fixed["table_value[pull]"].tolist() == [3000.0, 3000.0, 0.0]
    ground = tmp_path / "ground.csv"
    ground.write_text("time,acceleration [g]\n0,1\n1,0\n")
    config = load({**STRUCTURE, "loads": {"ground": {"table": str(ground)}}})
    assert config.fixed["table_value[ground]"].tolist() == [9.80665, 0.0]


def test_what_is_wrong_is_said(pull: str, tmp_path: Path) -> None:
    assert "parameters.table: given twice: table_time is a column of this file" in wrong(
        {"parameters": {"table": pull, "table_time": [0.0]}}
    )
    said = wrong({"parameters": {"table": 3}})
    assert 'parameters.table: must be a file with the columns time and force (or acceleration), such as "pull.csv", not 3' in said
    missing = str(tmp_path / "missing.csv")
    assert "loads.pull.table" in wrong({**STRUCTURE, "loads": {"pull": {"point": "centre", "table": missing}}})
    back = tmp_path / "back.csv"
    back.write_text("time,force\n0,1\n1,2\n0.5,3\n")
    assert "the instants of a table must ascend" in wrong({"parameters": {"table": str(back)}})
    empty = tmp_path / "empty.csv"
    empty.write_text("time,force\n")
    assert f"parameters.table: {empty} has a header and no row: a table has a row for each instant" in wrong(
        {"parameters": {"table": str(empty)}}
    )
    assert "a pulse needs a duration" in wrong({"parameters": {"pulse": "triangle", "pulse_f0": 1.0}})


def test_an_excitation_that_does_nothing_is_refused() -> None:
    ramp = {"pulse": "ramp", "pulse_duration": 0.1}
    assert wrong({"parameters": ramp}).endswith("  parameters.pulse: a pulse needs a height: give pulse_f0 or pulse_a0")
    assert wrong({"parameters": {"pulse_start": 0.1}}).endswith(
        "  parameters.pulse_start: a start and a duration need a pulse: give pulse and pulse_f0 or pulse_a0, or leave them out"
    )
    assert wrong({"parameters": {"table_scale": 2.0}}).endswith(
        "  parameters.table_scale: the factor of a table needs a table: give table_time and table_force, or leave out table_scale"
    )
    pull = {"point": "centre", **ramp}
    assert wrong({**STRUCTURE, "loads": {"pull": pull}}).endswith("loads.pull.pulse: a pulse needs a height: give pulse_amplitude[pull]")
    told = wrong({**STRUCTURE, "loads": {"pull": {"point": "centre", "table_scale": 2.0}}})
    assert "loads.pull.table_scale: the factor of a table needs a table: give table_time[pull] and table_value[pull]" in told


def test_a_sweep_may_pass_through_no_excitation() -> None:
    """Heights from 0 on, and a shape that is none at some points, are rows of a comparison."""
    heights = load({"parameters": {"pulse": "ramp", "pulse_duration": 0.1}, "sweep": {"axes": {"pulse_f0": [0.0, 1.0]}}})
    assert heights.design.count == 2
    shapes = load(
        {"parameters": {"pulse_duration": 0.1}, "sweep": {"design": "zip", "axes": {"pulse": ["none", "ramp"], "pulse_f0": [0, 1]}}}
    )
    assert shapes.design.count == 2


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("table_force", "[loads.pull] calls it 'table_value'"),
        ("pulse_f0", "[loads.pull] calls it 'pulse_amplitude'"),
        ("pulse_a0", "[loads.pull] calls it 'pulse_amplitude'"),
        ("a0", "[loads.pull] calls it 'amplitude'"),
        ("tabel_time", "did you mean 'table_time'?"),
    ],
)
def test_a_wrong_key_of_a_load_is_sought_among_those_of_loads(key: str, advice: str) -> None:
    told = wrong({**STRUCTURE, "loads": {"pull": {"point": "centre", key: 1.0}}})
    assert f"loads.pull.{key}: unknown key; {advice}" in told


def test_the_key_of_a_file_is_known_where_others_are_suggested() -> None:
    assert "parameters.tabel: unknown parameter; did you mean 'table' (CSV or Parquet file" in wrong({"parameters": {"tabel": "pull.csv"}})
    axis = wrong({"sweep": {"axes": {"table": ["a.csv", "b.csv"]}}})
    assert "sweep.axes.table: a file with one table, which [parameters] and [loads] alone can name" in axis
    assert "loads.pull.end: belongs in [time], as time.end" in wrong({**STRUCTURE, "loads": {"pull": {"point": "centre", "end": 1.0}}})
