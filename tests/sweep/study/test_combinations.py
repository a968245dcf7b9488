"""The table of combinations: each refusal is one that the program makes, with that reason, and what works is accepted.

A refusal is tried on the first model and scheme that have it; what works with one scheme: each feature on each model, each pair on an
oscillator and on a structure. Commands that compute are not carried out. `test_combinations_agree.py` computes some of what works.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.loads import PULSES
from tribosweep.kernels.models.outputs import BLOCKS, MULTIPLIERS, STATISTICS
from tribosweep.kernels.models.schemes import SINGLE, STEADY
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analyses.basins.rows import refused
from tribosweep.sweep.analyses.events.log import events_of
from tribosweep.sweep.analyses.events.request import EventsRequest
from tribosweep.sweep.analyses.sensitivity.analysis import check
from tribosweep.sweep.analyses.sensitivity.request import SensitivityRequest
from tribosweep.sweep.analyses.spectra.read import of_responses
from tribosweep.sweep.analyses.trace.motion import trace_of
from tribosweep.sweep.analysis.branching.load import load as load_branches
from tribosweep.sweep.analysis.calibration.load import load as load_calibration
from tribosweep.sweep.analysis.optimisation.load import load as load_optimisation
from tribosweep.sweep.cli.topics import listed_models
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.structure.basis_files import write_basis
from tribosweep.sweep.study import capabilities as uses
from tribosweep.sweep.study.combinations import LOAD, SUPPORT, TIME, USES, Combination, combinations, example_of

STRUCTURES = {
    "body": {"supports": {SUPPORT: {"obstacle": "ring", "gap": 1e-3}}, "loads": {LOAD: {"channel": 0}}},
    "structure": {
        "structure": {"basis": "basis.npz", "observed": ["POINT"]},
        "supports": {SUPPORT: {"point": "POINT", "obstacle": "ring", "gap": 1e-3}},
        "loads": {LOAD: {"point": "POINT", "channel": 0}},
    },
}
FREE = {"from": 0.5, "to": 2.0}


@pytest.fixture(scope="module")
def found() -> list[Combination]:
    return combinations(listed_models())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a basis, a record and tests, which is where the test runs."""
    write_basis(tmp_path / "basis.npz", listed_models()["structure"].structure.basis)
    time = 0.01 * np.arange(101)
    (tmp_path / "quake.csv").write_text("time,acceleration,force\n" + "".join(f"{t:.2f},{np.sin(9 * t):.6f},1\n" for t in time))
    (tmp_path / "tests.csv").write_text("measured\n0.5\n0.5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study_of(features: tuple[str, ...], model: str, scheme: str) -> dict[str, Any]:
    """The study that says some features."""
    given = dict(example_of(features, listed_models()[model], scheme) or {})
    asked = {*features, *(other for name in features if name in USES for other in USES[name].implies)}
    document: dict[str, Any] = copy.deepcopy(STRUCTURES.get(model, {}))
    document |= {"study": {"model": model, "scheme": scheme}, "time": dict(TIME)}
    if given.pop(DRAW, None) is not None:
        given.pop(RECORD)
        document["excitation"] = {"random": {"band": [1.0, 20.0], "rms": 1.0, "duration": 1.0, "interval": 0.01}}
    elif given.pop(RECORD, None) is not None:
        document["excitation"] = {"records": "quake.csv"}
    document["parameters"] = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    output: dict[str, Any] = {}
    if STEADY in asked:
        document["time"] = {"step": TIME["step"], "window": STEADY}
    output |= {"multipliers": True} if MULTIPLIERS in asked else {}
    known = document["parameters"]
    known |= {key: PULSES[int(value)] for key, value in known.items() if key.partition("[")[0] == "pulse"}
    output |= {"statistics": True} if STATISTICS in asked else {}
    if BLOCKS in asked:
        document["time"]["blocks"] = 4
    if uses.SIGNALS in asked:
        channel = "x" if model in MODELS else f"normal_force[{SUPPORT}]"
        output["signals"] = {"interval": 0.01, "segment": 16, "psd": [channel]}
    if SINGLE in asked:
        document["study"]["precision"] = SINGLE
    add_command(document, asked, model)
    return document | ({"output": output} if output else {})


def add_command(document: dict[str, Any], asked: set[str], model: str) -> None:
    """Add the design, or the section of the command, that is asked for."""
    goal = "wear_power" if model in MODELS else "energy_end"
    axis = "m" if model != "structure" else "frequency_factor"
    if uses.BOUNDARY in asked:
        other = f"k_n[{SUPPORT}]" if model in STRUCTURES else "a0"
        axes = {axis: {**FREE, "count": 3}, other: {"from": 1.0, "to": 2.0, "count": 3}}
        document["sweep"] = {"design": "boundary", "axes": axes}
        document["parameters"].pop(other, None)
    elif uses.CONVERGENCE in asked:
        document["sweep"] = {"design": "convergence", "axes": {axis: [1.0, 1.5]}}
        if model in STRUCTURES:
            document["sweep"]["observable"] = "energy_end"
    elif uses.CALIBRATION in asked:
        compare = {goal: {"column": "measured", "sd": 0.1}}
        document["calibration"] = {"data": "tests.csv", "free": {axis: FREE}, "compare": compare}
    elif uses.OPTIMISATION in asked:
        document["optimise"] = {"minimise": goal, "variables": {axis: FREE}}
    elif uses.BRANCHES in asked:
        document["branches"] = {"along": {axis: FREE}}
    elif uses.DERIVATIVES in asked:
        document["sweep"] = {"design": "saltelli", "count": 16, "axes": {axis: {**FREE}}}
    elif uses.BASINS in asked:
        document["sweep"] = {"axes": {"x0": [0.0, 0.1]}} if model in MODELS else {"axes": {axis: [1.0, 1.5]}}


def carry_out(features: tuple[str, ...], document: Mapping[str, Any]) -> None:
    """Read the study as the command of its features does; nothing is computed where that is not refused before."""
    ways: dict[str, Callable[[], Any]] = {
        uses.CALIBRATION: lambda: load_calibration(document),
        uses.OPTIMISATION: lambda: load_optimisation(document),
        uses.BRANCHES: lambda: load_branches(document),
        uses.DERIVATIVES: lambda: check(load(document), SensitivityRequest(derivatives=8)),
    }
    after: dict[str, Callable[[Any], Any]] = {
        uses.EVENTS: lambda config: events_of(config, EventsRequest(most=100)),
        uses.IMPACTS: lambda config: events_of(config, EventsRequest(impacts=True)),
        uses.FLOOR: lambda config: of_responses(_kept(config), [0], 10.0),
        uses.TRACE: lambda config: trace_of(config, 0),
        uses.BASINS: lambda config: _raise(refused(config)),
    }
    for name in features:
        if name in ways:
            ways[name]()
            return
    config = load(document)
    for name in features:
        if name in after:
            after[name](config)


def _kept(config: Any) -> Path:
    """The file of a study."""
    path = Path("study.toml")
    path.write_text(config.to_toml())
    return path


def _raise(problems: list[Any]) -> None:
    if problems:
        raise ConfigError("study", problems)


def test_every_refusal_is_made_with_that_reason(found: list[Combination], folder: Path) -> None:
    assert folder.exists()
    seen, wrong = set(), []
    for each in found:
        if not each.why or (each.features, each.why, each.model in MODELS) in seen:
            continue
        seen.add((each.features, each.why, each.model in MODELS))
        document = study_of(each.features, each.model, each.scheme)
        reason = each.why
        for name in each.features:
            for other in (name, *(USES[name].implies if name in USES else ())):
                if other in USES:
                    reason = reason.removeprefix(f"{USES[other].stated} ")
        try:
            carry_out(each.features, document)
        except ConfigError as error:
            if reason not in str(error):
                wrong.append((each, str(error)))
        else:
            wrong.append((each, "not refused"))
    assert not wrong, "\n".join(map(str, wrong[:12])) + f"\n{len(wrong)} of {len(seen)}"


@pytest.mark.slow
def test_what_works_is_accepted(found: list[Combination], folder: Path) -> None:
    """Every feature and pair that works, on each model with one scheme; a pair of a study, not of a command that computes."""
    assert folder.exists()
    wrong, seen = [], set()
    for each in found:
        computes = {uses.EVENTS, uses.IMPACTS, uses.FLOOR, uses.TRACE} & {*each.features}
        key = each.features, each.model if len(each.features) == 1 else each.model in MODELS
        if each.why or computes or key in seen:
            continue
        seen.add(key)
        try:
            carry_out(each.features, study_of(each.features, each.model, each.scheme))
        except ConfigError as error:
            wrong.append((each, str(error)))
    assert not wrong, "\n".join(map(str, wrong[:12])) + f"\n{len(wrong)} of {len(seen)}"
