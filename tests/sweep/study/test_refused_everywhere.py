"""What a run refuses is refused by studies of every kind: each rule of each model, in [parameters], in a trace, at the ends of a range."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kernels.batch.test_refusals import BASE, broken, cases
from tribosweep import sweep
from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.sweep.analysis.branching import load as branching
from tribosweep.sweep.analysis.calibration import load as calibration
from tribosweep.sweep.analysis.optimisation import load as optimisation
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study import rules

OF_TIME = ("end", "step", "largest_step", "smallest_step", "retries")  # keys of [time]
WINDOW = ("window_start", "window_end")
RANGE = {"a0": {"from": 1.0, "to": 9.0}}
READERS: dict[str, tuple[Callable[[dict[str, Any]], object], dict[str, Any]]] = {  # what reads a study, and the section of its own
    "run": (sweep.load, {}),
    "calibrate": (calibration.load, {"calibration": {"data": "rows.csv", "free": RANGE, "compare": {"x_max": {"sd": 0.1}}}}),
    "optimise": (optimisation.load, {"optimise": {"minimise": "x_max", "variables": RANGE}}),
    "branches": (branching.load, {"branches": {"along": RANGE}}),
}


def document(model: Model, params: dict[str, Any], scheme: str) -> dict[str, Any]:
    """A study of these parameters."""

    def stated(name: str, value: Any) -> Any:
        quantity = model.parameter(name)
        return quantity.words[int(value)] if quantity.kind == "word" else value

    time = {name: params[name] for name in OF_TIME if name in params}
    if not params.keys().isdisjoint(WINDOW):
        time["window"] = [params.get("window_start", 0.0), params.get("window_end", params["end"])]
    given = {name: stated(name, value) for name, value in params.items() if name not in {*OF_TIME, *WINDOW}}
    return {"study": {"model": model.name, "scheme": scheme}, "parameters": given, "time": time}


def said(read: Callable[[dict[str, Any]], object], study: dict[str, Any]) -> str:
    """How a study is refused."""
    with pytest.raises(sweep.ConfigError) as caught:
        read(study)
    return str(caught.value)


def sentences(model: Model, params: dict[str, Any], scheme: str) -> list[str]:
    """The sentences of the rules that parameters break."""
    return [model.rules[place].sentence.split(";")[0] for place in broken(model, params, scheme)]


@pytest.mark.long_cases("buckling_wall-*")  # its rules are among those of two walls
@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * bool(MODELS[name].walls)) for name in MODELS])
def test_every_study_refuses_what_breaks_a_rule(name: str, kind: str) -> None:
    model, (read, section) = MODELS[name], READERS[kind]
    Path("rows.csv").write_text("omega,x_max\n1.0,1.0\n2.0,2.0\n3.0,3.0\n")
    for scheme, params in cases(model):
        words = said(read, {**document(model, params, scheme), **section})
        other = kind == "branches" and ("a study of branches" in words or "branches have" in words)
        assert other or any(sentence in words for sentence in sentences(model, params, scheme)), (scheme, params, words)


@pytest.mark.parametrize("name", MODELS)
def test_settings_of_a_trace_break_the_same_rules(name: str) -> None:
    model, count = MODELS[name], 0
    Path("trace.csv").write_text("time,x\n0.5,0.1\n1.0,0.2\n2.0,0.1\n")
    for scheme, params in cases(model):
        settings = {each: value for each, value in params.items() if BASE[name].get(each) != value and each not in {*OF_TIME, *WINDOW}}
        plain = all(model.parameter(each).kind == "float" for each in settings)
        if scheme != EXACT or not settings or not plain or not BASE[name].keys() <= params.keys():
            continue
        trace = {"file": "trace.csv", "settings": settings, "compare": {"x": {"sd": 0.1}}}
        study = {**document(model, BASE[name], scheme), "calibration": {"free": {"m": {"from": 0.5, "to": 2.0}}, "traces": [trace]}}
        del study["time"]
        words = said(calibration.load, study)
        assert any(sentence in words for sentence in sentences(model, params, scheme)), (params, words)
        count += 1
    assert count > 3


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("pair", [("mu_s", "mu_d"), ("gap", "a0")])
def test_branches_are_not_followed_to_where_a_rule_is_broken(pair: tuple[str, str], swap: bool) -> None:
    model = "stop" if "gap" in pair else "rubbing_mass"
    ends = {"mu_s": (0.2, 0.5), "mu_d": (0.1, 0.3), "gap": (-0.1, 0.5), "a0": (1.0, 9.0)}
    parameters = {"k": 1.0, "mu_s": 0.25, "mu_d": 0.15, "a0": 5.0} | ({"sides": 2, "gap": 0.2} if model == "stop" else {})
    ranges = {name: {"from": ends[name][0], "to": ends[name][1]} for name in pair}
    along, other = pair[::-1] if swap else pair
    section = {"along": {along: ranges[along]}, "curves": {other: ranges[other]}}
    study = {"study": {"model": model}, "parameters": parameters, "branches": section}
    words = said(branching.load, study)
    assert ("mu_s >= mu_d" if "mu_s" in pair else "the gap must not be negative") in words
    within = {"mu_s": 0.31, "gap": 0.0}
    for each in ("along", "curves"):
        section[each] = {name: {**ends, "from": within.get(name, ends["from"])} for name, ends in section[each].items()}
    branching.load({**study, "parameters": {**parameters, "mu_s": 0.4}})


def test_a_study_of_branches_is_checked_once_and_its_rules_at_every_corner(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, corners = [], []
    check, check_rules = studies.check, rules.check_rules
    monkeypatch.setattr(studies, "check", lambda *given: (checks.append(given), check(*given))[1])
    monkeypatch.setattr(branching, "check_rules", lambda config: (corners.append(config.fixed), check_rules(config))[1])
    section = {"along": {"mu_d": {"from": 0.1, "to": 0.3}}, "curves": {"mu_s": {"from": 0.31, "to": 0.9}}}
    branching.load({"study": {"model": "rubbing_mass"}, "parameters": {"k": 1.0, "mu_s": 0.4, "a0": 5.0}, "branches": section})
    assert len(checks) == 1
    assert {(at["mu_d"], at["mu_s"]) for at in corners} == {(along, other) for along in (0.1, 0.3) for other in (0.31, 0.4, 0.9)}
