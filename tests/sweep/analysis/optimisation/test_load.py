"""Reading [optimise] from TOML."""

from __future__ import annotations

from typing import Any

import pytest

from tribosweep import sweep
from tribosweep.sweep.analysis.optimisation.load import load
from tribosweep.sweep.io import shipped
from tribosweep.sweep.study.optimise import EVOLUTION, SLSQP

NAMES = [name for name in shipped.names() if name.startswith("optimise_")]
GOAL: dict[str, Any] = {"minimise": "wear_power", "variables": {"mu": {"from": 0.1, "to": 0.5}}}


def study(**changed: Any) -> dict[str, Any]:
    return {"parameters": {"a0": 5.0}, "time": {"end": 2.0}, "optimise": {**GOAL, **changed}}


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_optimisation_is_sound_and_named_after_its_file(name: str) -> None:
    found = load(name)
    assert found.config.name == name
    assert found.constraints


def test_the_method_follows_from_the_functions() -> None:
    assert load(study()).method == SLSQP
    assert load(study(constraints=["stops <= 3"])).method == EVOLUTION
    assert load(study(method=EVOLUTION)).method == EVOLUTION


def test_a_variable_starts_at_its_nominal_value() -> None:
    assert load(study()).space.starts.tolist() == [pytest.approx(0.3)]
    assert load({**study(), "parameters": {"mu": 0.2}}).space.starts.tolist() == [0.2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"minimise": "wear_powr"}, "optimise.minimise: 'wear_powr' is no observable of the model rubbing_mass; did you mean 'wear_power'"),
        ({"minimise": []}, "optimise.minimise: missing"),
        ({"minimise": ["wear_power", "drift", "x_end"]}, "3 objectives: one, or two for a front"),
        ({"minimise": 3}, "optimise.minimise: must be a text such as 'peak_force', not 3"),
        ({"constraints": ["drift <= 1 N"]}, "optimise.constraints[0]: 'drift <= 1 N': '1 N': 'N' cannot be converted to m"),
        ({"constraints": ["wear_depth <= 1 mm"]}, "optimise.constraints[0]: wear_depth needs parameters."),
        ({"variables": {}}, "optimise.variables: missing"),
        ({"variables": {"muu": {"from": 0.1, "to": 0.5}}}, "optimise.variables.muu"),
        ({"variables": {"mu": {"from": 0.5, "to": 0.1}}}, "optimise.variables.mu: from must be below to"),
        ({"variables": {"mu": {"from": 0.1, "to": 0.5, "prior": 1}}}, "optimise.variables.mu.prior: unknown key"),
        ({"variables": {"mu": {"from": -0.1, "to": 0.5}}}, "optimise.variables.mu.from: -0.1 is out of bounds"),
        ({"start": 4}, "optimise.start: unknown key; did you mean 'starts'"),
        ({"starts": 0}, "optimise.starts: must be a whole number from 1 to"),
        ({"points": 5}, "optimise.points: are those of a front of two objectives"),
        ({"method": "newton"}, "optimise.method: 'newton' is none; Known: slsqp, differential_evolution"),
        ({"minimise": "stops", "method": "slsqp"}, "stops takes steps and has no derivative to follow"),
        ({"minimise": ["stops", "wear_power"]}, "a front follows derivatives, and stops takes steps"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sweep.ConfigError) as error:
        load(study(**changed))
    assert said in str(error.value)


def test_the_section_and_its_functions_are_read_together() -> None:
    with pytest.raises(sweep.ConfigError) as error:
        load(
            study(minimise=["wear_powr", 3], constraints=[4, "drift <= 1 N"], starts=0, variables={"mu": 3.0, "muu": {"from": 1, "to": 2}})
        )
    told = [problem.path for problem in error.value.problems]
    paths = ("minimise[0]", "minimise[1]", "constraints[0]", "constraints[1]", "starts", "variables.mu", "variables.muu")
    assert sorted(told) == sorted(f"optimise.{path}" for path in paths)


def test_rows_must_be_the_same_at_every_point() -> None:
    for sweeps, said in (
        ({"axes": {"mu": [0.1, 0.2]}}, "sweep.axes.mu: is chosen in optimise.variables"),
        ({"axes": {"scheme": ["exact", "euler"], "k_t": [1e5]}}, "sweep.axes.scheme: an optimisation has one scheme"),
        ({"axes": {"a0": ["default", 2.0]}}, 'no "default"'),
    ):
        raw = {**study(minimise="worst of wear_power"), "parameters": {}, "sweep": sweeps}
        with pytest.raises(sweep.ConfigError) as error:
            load(raw)
        assert said in str(error.value)


def test_other_commands_name_the_one_that_is_meant() -> None:
    with pytest.raises(sweep.ConfigError, match="this study is an optimisation: tribosweep optimise carries it out"):
        sweep.load(study())
    with pytest.raises(sweep.ConfigError, match=r"an optimisation has a table \[optimise\]"):
        load({"parameters": {"a0": 5.0}})
    with pytest.raises(sweep.ConfigError, match=r"an optimisation follows the derivatives of 'exact', or of the steps .*, not 'rk54'"):
        load({**study(), "study": {"scheme": "rk54"}})


@pytest.mark.parametrize("where", ["", "optimise", "optimise.variables", "sweep", "supports", "loads"])
@pytest.mark.parametrize("key", ["[key]", 1, None, "0"])
def test_an_odd_key_is_no_traceback(where: str, key: Any) -> None:
    """ "[key]" is also pydantic's mark of a wrong key; keys that are no texts come from Python alone."""
    found: dict[Any, Any] = {"study": {"model": "structure" if where in ("supports", "loads") else "rubbing_mass"}, "optimise": dict(GOAL)}
    table = found
    for part in filter(None, where.split(".")):
        table[part] = table = dict(table.get(part, {}))
    table[key] = 1
    with pytest.raises(sweep.ConfigError):
        load(found)
