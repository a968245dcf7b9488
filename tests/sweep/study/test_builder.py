"""A study built in Python is the study of a file: the same document, the same checks, the same messages."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models import MODELS
from tribosweep.sweep import ConfigError, Study, between, distribution, geomspace, integers, linspace, load, run
from tribosweep.sweep.study.parameter_names import Parameters

FILE = """
[study]
name = "my_map"
model = "rubbing_mass"
precision = "float64"

[parameters]
m = 0.8
normal_force = "2 kN"

[time]
end = 12.0
window = [4.0, 12.0]

[sweep.axes]
a0 = { from = "0.05 g", to = 20.0, count = 4, spacing = "linear" }
k = { from = 1.0, to = 100.0, count = 3, spacing = "log" }
mu = [0.1, 0.2]
"""


def test_it_is_the_study_of_a_file(tmp_path: Path) -> None:
    study = Study(
        "rubbing_mass", name="my_map", precision="float64", m=0.8, normal_force="2 kN", end=12.0, window=(4.0, 12.0),
        a0=linspace("0.05 g", 20.0, 4), k=geomspace(1.0, 100.0, 3), mu=np.array([0.1, 0.2]),
    )  # fmt: skip
    assert study.document == tomllib.loads(FILE) == tomllib.loads(study.to_toml())
    (tmp_path / "file.toml").write_text(FILE)
    read = load(tmp_path / "file.toml")
    assert load(study).digest == load(study.write(tmp_path / "written.toml")).digest == read.digest
    assert read.fixed["normal_force"] == 2000.0
    assert load(study, ["parameters.m=2"]).fixed["m"] == 2.0


def test_its_parts_go_where_a_file_has_them() -> None:
    found = Study(
        "stop", design="sobol", count=8, seed=3, scheme="rk54", step=1e-4, window="steady", blocks=4, gap=between("1 mm", 0.01, log=True),
        k_n=distribution("normal", mean=1e6, std=1e5), sections={"sweep": {"correlations": []}, "output": {"shard_points": 4}},
    ).document  # fmt: skip
    assert found["study"] == {"model": "stop", "scheme": "rk54"}
    assert found["time"] == {"window": "steady", "blocks": 4, "step": 1e-4}
    assert found["sweep"]["axes"] == {
        "gap": {"from": "1 mm", "to": 0.01, "spacing": "log"},
        "k_n": {"distribution": "normal", "mean": 1e6, "std": 1e5},
    }
    assert {key: value for key, value in found["sweep"].items() if key != "axes"} == {
        "design": "sobol", "count": 8, "seed": 3, "correlations": []
    }  # fmt: skip
    assert found["output"] == {"shard_points": 4}
    assert Study(scheme=["exact", "euler"], k_t=9e6).document["sweep"]["axes"] == {"scheme": ["exact", "euler"]}
    assert Study(record=integers(0, 3)).document["sweep"]["axes"] == {"record": {"from": 0, "to": 3, "spacing": "integer"}}


@pytest.mark.parametrize(
    ("value", "swept"), [([1.0, 2.0], False), ([[1.0], [2.0, 3.0]], True), (np.ones(2), False), (np.ones((2, 2)), True)]
)
def test_a_table_of_numbers_is_swept_by_a_list_of_tables(value: Any, swept: bool) -> None:
    document = Study("buckling_wall", post_set=value).document
    assert ("sweep" in document, "parameters" in document) == (swept, not swept)


@pytest.mark.parametrize("number", [np.float64(0.5), np.array(0.5), 0.5, "50 %"])
def test_a_number_is_no_axis(number: Any) -> None:
    assert load(Study(mu=number)).fixed["mu"] == 0.5


def test_its_problems_are_those_of_a_file(tmp_path: Path) -> None:
    wrong = Study(name="x", mo=0.1, m=-1.0, a0=linspace(1.0, 2.0, 0), end="3 kg")  # type: ignore[call-arg]
    with pytest.raises(ConfigError) as built:
        load(wrong)
    with pytest.raises(ConfigError) as read:
        load(wrong.write(tmp_path / "x.toml"))
    assert built.value.problems == read.value.problems
    assert len(built.value.problems) == 4
    assert any("did you mean 'm" in str(problem) for problem in built.value.problems)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict, lambda table: pl.DataFrame(table).to_arrow()])
def test_a_table_of_points_runs_row_by_row(fake: FakeKernels, library: Any) -> None:
    points = library({"a0": [1.0, 2.0, 3.0], "mu": [0.1, None, 0.3]})
    found = run(Study(points=points, m=2.0)).to_pandas()
    assert found["a0"].tolist() == [1.0, 2.0, 3.0]
    assert found["wear_power"].tolist() == pytest.approx([11.0, 12.0, 33.0])  # mu is 0.1 where it is missing
    assert found["mu"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_of_a_table_may_state_units(library: Any) -> None:
    points = library({"a0 [mm/s^2]": [1000.0, 2500.0], "mu (%)": [10.0, None], "k [N/mm]": [1.0, 2.0], "omega": [3.0, 4.0]})
    config = load(Study(points=points))
    found = config.design.points(0, 2)
    assert {name: values.tolist() for name, values in found.columns.items() if name != "mu"} == {
        "a0": [1.0, 2.5], "k": [1000.0, 2000.0], "omega": [3.0, 4.0],
    }  # fmt: skip
    assert found.columns["mu"][0] == pytest.approx(0.1)
    assert found.absent["mu"].tolist() == [False, True]
    standard = load(Study(points={"a0 (g)": [1.0]})).design.points(0, 1)
    assert standard.columns["a0"][0] == pytest.approx(9.80665)


def test_a_wrong_unit_of_a_column_is_told_and_a_name_in_brackets_is_none() -> None:
    with pytest.raises(ConfigError, match=r"sweep.axes.a0\[0\]: '1.0 kg': 'kg' cannot be converted to m/s\^2"):
        load(Study(points={"a0 [kg]": [1.0]}))
    with pytest.raises(ConfigError, match="a0 is given twice"):
        Study(points={"a0 [g]": [1.0], "a0": [1.0]})
    document = Study("body", points={"gap[ring]": [1e-3], "k_n[ring] [N/mm]": [1e3]}).document
    assert document["sweep"]["axes"] == {"gap[ring]": [1e-3], "k_n[ring]": ["1000.0 N/mm"]}


def test_editors_and_notebooks_complete_every_parameter() -> None:
    names = list(dict.fromkeys(q.name for model in MODELS.values() for q in model.parameters))
    assert list(get_type_hints(Parameters)) == names
    assert set(names) < set(inspect.signature(Study).parameters)


def test_it_is_one_line() -> None:
    assert repr(Study(mu=0.1, a0=[1, 2])) == "<Study study.model = 'rubbing_mass', parameters.mu = 0.1, sweep.axes.a0 = [1, 2]>"
