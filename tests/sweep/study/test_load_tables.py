"""The key `table` of a study: a file with a force over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sweep import load
from sweep.io.errors import ConfigError

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
    assert "a pulse needs a duration" in wrong({"parameters": {"pulse": "triangle", "pulse_f0": 1.0}})
