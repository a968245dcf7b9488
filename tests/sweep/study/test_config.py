"""A study that is right: defaults, overrides, canonical form and identity."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tribosweep.kernels.models import MODELS
from tribosweep.sweep import Config, ConfigError, load
from tribosweep.sweep.design.axis import Continuous
from tribosweep.sweep.design.latin_hypercube import LatinHypercube
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.study import shard_size
from tribosweep.sweep.study.schema import Sweep

STUDY: dict[str, Any] = {
    "study": {"name": "both"},
    "parameters": {"mu": 0.2, "m": 2},
    "time": {"window": [1, 12]},
    "sweep": {"axes": {"omega": {"from": 1, "to": 10, "count": 3, "spacing": "log"}, "k": [0, 1e-3], "scheme": ["exact"]}},
}


def test_nothing_is_needed_but_a_file(tmp_path: Path) -> None:
    (tmp_path / "rest.toml").write_text("")
    config = load(tmp_path / "rest.toml")
    assert (config.name, config.model.name, config.scheme, config.design.count) == ("rest", "rubbing_mass", "exact", 1)
    assert config.fixed == {}


def test_the_resolved_study_reads_back_as_itself(tmp_path: Path) -> None:
    config = load(STUDY)
    (tmp_path / "config.toml").write_text(config.to_toml())
    again = load(tmp_path / "config.toml")
    assert again.document == config.document
    assert list(again.document["sweep"]["axes"]) == ["omega", "k", "scheme"]
    assert (again.digest, again.to_toml()) == (config.digest, config.to_toml())


def test_the_digest_knows_studies_apart_and_nothing_else() -> None:
    same = {**STUDY, "parameters": {"m": 2.0, "mu": 0.2}}
    other_order = {**STUDY, "sweep": {"axes": dict(reversed(STUDY["sweep"]["axes"].items()))}}
    assert load(same).digest == load(STUDY).digest
    assert load(other_order).digest != load(STUDY).digest
    assert load(STUDY, ["parameters.mu=0.3"]).digest != load(STUDY).digest


def test_a_steady_window_is_part_of_the_study() -> None:
    study = {"parameters": {"mu": 0.1}, "time": {"window": "steady"}}
    config = load(study)
    assert config.window == "steady"
    assert config.document["time"] == {"window": "steady"}
    assert 'window = "steady"' in config.to_toml()
    assert "default: end" not in config.to_toml()
    again = load({"study": {"name": config.name}, **tomllib.loads(config.to_toml())})
    assert again.digest == config.digest != load({"parameters": {"mu": 0.1}}).digest
    assert load({"parameters": {"mu": 0.1}}).window is None


def test_float32_is_part_of_the_study() -> None:
    study: dict[str, Any] = {
        "study": {"name": "fine", "scheme": "euler"},
        "parameters": {"k_t": 9e6},
        "sweep": {"axes": {"a0": [15.0, 1.5]}},
    }
    fine, single = load(study), load(study, ["study.precision=float32"])
    assert (fine.precision, single.precision) == ("float64", "float32")
    assert load(study, ["study.precision=float64"]).digest == fine.digest != single.digest
    assert load(single.document).digest == single.digest


def test_a_study_may_ask_for_some_columns_only() -> None:
    whole, some = load(STUDY), load(STUDY, ['output.columns=["regime", "wear_power"]'])
    assert [quantity.name for quantity in some.returns] == ["wear_power", "regime"]
    assert some.digest != whole.digest
    assert load(some.document).digest == some.digest
    drift = next(quantity for quantity in whole.returns if quantity.name == "drift")
    assert (whole.lacking(drift), some.lacking(drift)) == ("", "drift is not among output.columns")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('output.columns=["regmie"]', r"output\.columns\[0\]: unknown observable 'regmie'; did you mean 'regime'"),
        ('output.columns=["regime", "regime"]', r"output\.columns\[1\]: 'regime' is named twice"),
        ('output.columns=["wear_volume"]', r"output\.columns\[0\]: the study does not compute 'wear_volume'"),
        ("output.columns=[]", r"output\.columns: must be a list of names of observables, not \[\]"),
        ("output.columns=[3]", r"output\.columns: must be a list of names of observables"),
        ("output.columns='regime'", r"output\.columns: must be a list of names of observables"),
    ],
)
def test_wrong_columns_are_refused(change: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(STUDY, [change])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("study.precision=float16", "did you mean 'float64'"),
        ("parameters.maxwell_stiffness=[2.0]", "here parameters.maxwell_stiffness"),
    ],
)
def test_float32_has_no_links(change: str, named: str) -> None:
    study = {"study": {"precision": "float32", "scheme": "euler"}, "parameters": {"k_t": 9e6}, "sweep": {"axes": {"a0": [15.0, 1.5]}}}
    assert load(study, ["time.blocks=4", "output.statistics=true"]).asked.blocks == 4
    with pytest.raises(ConfigError, match=r"study\.precision") as caught:
        load(study, [change])
    assert named in str(caught.value)


def test_a_tolerance_that_float32_cannot_resolve_is_refused() -> None:
    study: dict[str, Any] = {
        "study": {"precision": "float32", "scheme": "rk54"},
        "parameters": {"k_t": 9e6},
        "time": {"tolerance": 1e-6},
        "sweep": {"axes": {"a0": [15.0, 1.5], "end": [3.0, 4.0]}},
    }
    load(study)
    with pytest.raises(ConfigError, match=r"time\.tolerance: in float32 the tolerance must be at least 6e-8"):
        load(study, ["time.tolerance=1e-8"])
    load(study, ["time.tolerance=1e-8", "study.precision=float64"])
    del study["time"]
    with pytest.raises(ConfigError, match=r"sweep\.axes\.tolerance.*leave precision out \(broken at 4 of 8 points\)"):
        load(study, ["sweep.axes.tolerance=[1e-8, 1e-7]"])


@pytest.mark.parametrize(
    "change",
    ["parameters.k_t=9e6", "sweep.axes.k_t=[1e5, 1e6]", "study.model=stop", "time.window=steady", "time.blocks=4", "parameters.tone_a0=[]"],
)
def test_float32_by_exact_excludes_nothing(change: str) -> None:
    study = {"study": {"precision": "float32"}, "sweep": {"axes": {"a0": [15.0, 1.5]}}}
    assert load(study, [change]).precision == "float32"


def test_a_table_counts_by_its_content(tmp_path: Path) -> None:
    digests = []
    for folder, content in (("a", "mu\n0.1\n"), ("b", "mu\n0.1\n"), ("c", "mu\n0.2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "points.csv").write_text(content)
        (tmp_path / folder / "study.toml").write_text('[sweep]\ndesign = "table"\nfile = "points.csv"\n')
        config = load(tmp_path / folder / "study.toml")
        assert config.document["sweep"]["file"] == str((tmp_path / folder / "points.csv").resolve())
        digests.append(config.digest)
    assert digests[0] == digests[1] != digests[2]


def test_overrides_replace_keys_and_are_read_as_toml() -> None:
    config = load(STUDY, ["parameters.mu=0.5", "study.name=other", "time.window=[2, 3]", "sweep.axes.k=[1.0]", "parameters.g = 9.81"])
    assert (config.name, config.fixed["mu"], config.fixed["window_end"], config.fixed["g"]) == ("other", 0.5, 3.0, 9.81)
    assert config.design.count == 3
    assert STUDY["parameters"] == {"mu": 0.2, "m": 2}


def test_the_scheme_of_the_study_is_the_default_of_its_axis() -> None:
    config = load({"study": {"scheme": "exact"}, "sweep": {"axes": {"scheme": ["default", "exact"]}}})
    schemes = config.design.points(0, 2).schemes
    assert schemes is not None
    assert schemes.tolist() == [0, 0]


def test_arrays_and_paths_are_accepted_from_python(tmp_path: Path) -> None:
    assert load({"sweep": {"axes": {"mu": np.linspace(0.1, 1.0, 4)}}, "parameters": {"m": np.float64(2.0)}}).design.count == 4
    (tmp_path / "points.csv").write_text("mu\n0.1\n")
    assert load({"sweep": {"design": "table", "file": tmp_path / "points.csv"}}).design.count == 1


def test_a_checked_study_passes_through_and_takes_no_overrides() -> None:
    config = load(STUDY)
    assert load(config) is config
    with pytest.raises(ConfigError):
        load(config, ["parameters.mu=0.3"])


def test_neither_jax_nor_pandas_is_imported_before_a_run() -> None:
    code = (
        "import sys, tribosweep, tribosweep.sweep.cli; tribosweep.load({'parameters': {'mu': 0.1}})\n"
        "print({'jax', 'pandas', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert done.stdout == "set()\n"


known = sorted({q.name for model in MODELS.values() for q in model.parameters})
names = st.sampled_from(known) | st.sampled_from(["scheme", "window", "nonsense", "", "from", "é\n"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["default", "exact", "euler", "steady", "x", "log", "excluded"])
)
axes = st.lists(scalars | st.lists(scalars | st.floats(0.1, 9.0), max_size=3), max_size=4) | st.fixed_dictionaries(
    {}, optional={"from": scalars, "to": scalars, "count": st.integers(-1, 9), "spacing": scalars}
)
values = scalars | axes
sections = st.fixed_dictionaries(
    {},
    optional={
        "study": st.dictionaries(st.sampled_from(["name", "model", "scheme", "x"]), values | st.sampled_from([*MODELS]), max_size=3)
        | values,
        "parameters": st.dictionaries(names, values, max_size=4) | values,
        "time": st.dictionaries(st.sampled_from(["end", "step", "window", "x"]), values, max_size=3) | values,
        "sweep": st.fixed_dictionaries(
            {},
            optional={
                "design": st.sampled_from(["grid", "zip", "table", "convergence", 3]),
                "file": values,
                "observable": st.sampled_from(["wear_power", "regime", "x"]) | values,
                "digits": st.integers(-1, 20) | values,
                "halvings": st.integers(-1, 40) | values,
                "axes": st.dictionaries(names, axes, max_size=3) | values,
            },
        ),
        "x": values,
    },
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(sections)
def test_whatever_a_study_holds_it_is_accepted_or_its_problems_are_listed(study: dict[str, object]) -> None:
    try:
        config = load(study)
    except ConfigError as error:
        assert error.problems
        assert all(problem.message for problem in error.problems)
    else:
        assert isinstance(config, Config)
        assert load(config.document).digest == config.digest


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_whatever_a_file_holds_it_is_accepted_or_its_problems_are_listed(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "study.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        load(path)
    except ConfigError as error:
        assert error.problems


@settings(max_examples=100, deadline=None)
@given(st.text().filter(lambda text: "=" in text) | st.from_regex(r"(sweep|time|study|parameters)(\.[a-z]+)*=.*"))
def test_whatever_is_set_it_is_accepted_or_its_problems_are_listed(override: str) -> None:
    try:
        load(STUDY, [override])
    except ConfigError as error:
        assert error.problems


def test_an_axis_wins_over_a_nominal_value_and_the_study_says_so() -> None:
    axes = {"sweep": {"axes": {"mu": [0.1, 0.2]}}}
    config = load({"parameters": {"mu": 0.3}, **axes})
    assert config.unused == ("parameters.mu is a nominal value that no row uses: sweep.axes.mu gives mu",)
    assert "mu" not in config.fixed
    assert config.digest == load(axes).digest
    assert load(axes).unused == ()
    assert load(axes, ["parameters.mu=0.3"]).unused == config.unused


def test_a_nominal_value_serves_the_parts_without_such_an_axis() -> None:
    config = load({"parameters": {"mu": 0.3}, "sweep": [{"axes": {"mu": [0.1, 0.2]}}, {"axes": {"a0": [1.0]}}]})
    assert config.unused == ()
    assert config.fixed == {"mu": 0.3}


@pytest.mark.parametrize("design", [*SAMPLERS, "draws", "posterior", "subset_simulation"])
def test_the_default_seed_is_the_one_that_is_described(design: str, tmp_path: Path) -> None:
    described = re.search(r"default (\d+), of draws and of a posterior (\d+)$", str(Sweep.model_fields["seed"].description))
    assert described is not None
    sweep: dict[str, Any] = {"design": design, "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}}
    sweep |= {"event": "wear_power > 1"} if design == "subset_simulation" else {}
    if design == "posterior":
        (tmp_path / "draws.csv").write_text("a0\n1.0\n2.0\n")
        sweep |= {"file": str(tmp_path / "draws.csv"), "axes": {"mu": {"from": 0.1, "to": 0.2}}}
    sweep |= {"count": 2 if design == "posterior" else 200}
    found: Any = load({"sweep": sweep}).design
    assert found.seed == int(described[2 if design in ("draws", "posterior") else 1])


@pytest.mark.parametrize("channels", [1, 3])
def test_the_draws_of_a_shard_fill_half_of_their_room_or_more(channels: int) -> None:
    design = LatinHypercube((Continuous("draw", 0.0, 1.0, False),), 10**6, 1)
    excitation: Any = SimpleNamespace(samples=2**14, channels=channels)
    points = shard_size.fitting(design, excitation, shard_size.SHARD_OF_STEPS, False, [])
    assert shard_size.BANK / 2 < points * np.zeros((channels, 2**14)).nbytes <= shard_size.BANK
