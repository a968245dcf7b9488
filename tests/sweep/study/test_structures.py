"""[structure], [supports] and [loads]: what is accepted, and what is said of everything else."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tribosweep.kernels.models import structure_stability
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.beam import Beam
from tribosweep.sweep import load
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.structure.basis_files import write_basis
from tribosweep.sweep.study.config import Config

BASE: dict[str, Any] = {
    "study": {"name": "tube", "model": "structure", "scheme": "euler"},
    "structure": {"basis": "tube.npz", "observed": ["p2"]},
    "supports": {"p1": {"obstacle": "ring", "gap": "0.1 mm"}, "end": {"point": "p3", "normal": [0.0, 1.0, 0.0]}},
    "loads": {"left": {"point": "p1", "channel": 0}, "right": {"point": "p3", "direction": [0.0, 1.0, 0.0], "channel": 1}},
    "excitation": {"random": {"band": [5.0, 50.0], "rms": 3.0, "duration": 0.1, "interval": 1e-3}},
    "parameters": {"k_n": 1e6, "mu": 0.3},
    "time": {"end": 0.1, "step": 1e-5, "window": [0.02, 0.1]},
    "sweep": {"axes": {"gap[end]": [1e-4, 2e-4], "draw": [0, 1]}},
}


@functools.cache
def tube(length: float) -> Basis:
    """The modes of a tube between two pins."""
    return Beam(length, 1e3, 0.9, elements=24).basis(4, {"p1": 0.75, "p2": 1.5, "p3": 2.25}, damping=0.02)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the basis of a tube, which is where the test runs."""
    write_basis(tmp_path / "tube.npz", tube(3.0))
    write_basis(tmp_path / "short.json", tube(3.0).first(4))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The study after a change."""
    document = copy.deepcopy(BASE)
    change(document)
    return document


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change that sets a key."""

    def change(tables: dict[str, Any]) -> None:
        *above, last = path.split("/")
        for key in above:
            tables = tables.setdefault(key, {})
        tables[last] = value

    return change


def test_parameters_of_supports_may_stand_in_their_tables() -> None:
    config = load(BASE)
    assert config.fixed["gap[p1]"] == pytest.approx(1e-4)
    assert config.swept == ["gap[end]", "draw"]
    support = config.model.structure.support("end")
    np.testing.assert_allclose(support.axes, [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], atol=1e-15)


def test_a_resolved_study_is_the_same_study(folder: Path) -> None:
    config = load(BASE)
    (folder / "resolved.toml").write_text(config.to_toml())
    again = load(folder / "resolved.toml")
    assert again.digest == config.digest
    sent = pickle.loads(pickle.dumps(config))
    assert isinstance(sent, Config)
    assert sent.digest == config.digest


def test_the_digest_tells_of_the_basis_but_not_of_its_folder(folder: Path) -> None:
    before = load(BASE).digest
    (folder / "elsewhere").mkdir()
    (folder / "tube.npz").rename(folder / "elsewhere" / "tube.npz")
    moved = changed(put("structure/basis", "elsewhere/tube.npz"))
    assert load(moved).digest == before
    write_basis(folder / "elsewhere" / "tube.npz", tube(3.1))
    assert load(moved).digest != before


def test_several_bases_several_numbers_of_modes_and_single_modes_are_parameters() -> None:
    both = load(changed(lambda d: (put("structure/basis", ["tube.npz", "short.json"])(d), put("sweep/axes/basis", ["short", "tube"])(d))))
    assert list(both.model.structure.bases) == ["tube", "short"]
    assert {basis.count for basis in both.model.structure.bases.values()} == {8}
    some = load(changed(lambda d: (put("structure/modes", [2, 6])(d), put("sweep/axes/basis", ["2", "6"])(d))))
    assert some.model.parameter("basis").words == ("2", "6")
    own = load(changed(lambda d: (put("parameters/frequency[2]", "31 Hz")(d), put("sweep/axes/damping[0]", [0.01, 0.05])(d))))
    assert own.model.structure.own_modes == (0, 2)
    assert own.fixed["frequency[2]"] == 31.0


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (lambda d: d["structure"].pop("basis"), "structure.basis", "missing: a file"),
        (put("structure/basis", "none.npz"), "structure.basis", "none.npz: No such file"),
        (put("structure/basis", "tube.mat"), "structure.basis", "ends in .npz, .json"),
        (put("structure/observed", ["p9"]), "structure.observed[0]", "did you mean 'p3'?"),
        (put("structure/modes", 9), "structure.modes", "whole numbers from 1 to 8"),
        (put("structure/modes", [4, 4]), "structure.modes", "different"),
        (put("structure/directions", "xy"), "structure.directions", "is of a body"),
        (put("structure/start", [1.0]), "structure", "start must have 8 finite numbers"),
        (put("structure/start", "rest"), "structure.start", "a list of numbers"),
        (put("structure/peak_edges", [2.0, 1.0]), "structure", "ascending"),
        (put("supports/p9", {}), "supports.p9.point", "(point = 'p9' by default); did you mean 'p3'?"),
        (put("supports/p1/obstacle", "rign"), "supports.p1.obstacle", "did you mean 'ring'?"),
        (put("supports/p1/law", "stored"), "supports.p1.law", "did you mean 'stored force'?"),
        (put("supports/p1/gapp", 1e-3), "supports.p1.gapp", "did you mean 'gap'?"),
        (put("supports/p1/gap", "3 kg"), "supports.p1.gap", "cannot be converted to m"),
        (put("supports/p1/k_n", -1.0), "supports.p1.k_n", "must be > 0"),
        (put("supports/p1/other", "p8"), "supports.p1.other", "no point"),
        (put("supports/p1/normal", [1, 0, 0]), "supports.p1.normal", "a ring has an axis"),
        (put("supports/p1/axis", [0, 0, 0]), "supports.p1.axis", "must be a direction"),
        (put("supports/end/axes", [[1, 0, 0], [1, 1, 0], [0, 0, 1]]), "supports.end.axes", "give either normal or axes"),
        (put("supports/p1/axes", [[1, 0, 0], [1, 1, 0], [0, 0, 1]]), "supports.p1.axes", "orthogonal"),
        (put("supports/a.b", {"point": "p1"}), "supports.a.b", "is no name"),
        (put("parameters/gap[p1]", 1e-3), "supports.p1.gap", "given twice: also in parameters.gap[p1]"),
        (put("parameters/gap[pp]", 1e-3), "parameters.gap[pp]", "did you mean 'gap[p1]' (clearance)?"),
        (put("parameters/frequency[99]", 3.0), "structure", "modes are counted from 0 to 7"),
        (put("sweep/axes/position[p1]", [0.5]), "sweep.axes.position[p1][0]", "must be >= 0.75 and <= 2.25"),
        (put("loads/left/point", "p7"), "loads.left.point", "no point"),
        (put("loads/left/kind", "push"), "loads.left.kind", "Known: base, force, mode"),
        (put("loads/left/mode", 2), "loads.left", "a modal force needs a mode, and nothing else has one"),
        (put("loads/base", {"channel": 0}), "loads.base.channel", "[excitation] has one or the other"),
        (put("excitation/random/correlation", [[1.0]]), "excitation.random.correlation", "a load follows channel 1"),
        (put("excitation/random/correlation", [[1.0, 2.0], [2.0, 1.0]]), "excitation.random.correlation", "semidefinite"),
        (
            put("excitation/random/correlation", {"length": 1.0, "positions": [0.1]}),
            "excitation.random.correlation.positions",
            "1 channels",
        ),
        (put("excitation/random/correlation", {"lenth": 1.0}), "excitation.random.correlation.lenth", "did you mean 'length'?"),
        (put("excitation/random/factors", [1.0, "x"]), "excitation.random.factors", "a list of numbers"),
        (put("excitation/random/rms", "3 g"), "excitation.random.rms", "cannot be converted to N"),
        (put("study/scheme", "exact"), "study.scheme", "the normal force of an impact drives their friction"),
        (put("study/model", "structur"), "study.model", "did you mean 'structure'?"),
        (put("study/model", "stop"), "supports", "belongs to a study whose model is"),
        (put("time/step", 5e-3), "time.step", "must be less than"),
        (put("time/blocks", 4), "time.blocks", "not of a structure"),
        (put("output/statistics", True), "output.statistics", "not of a structure"),
        (put("time/window", "steady"), "time.window", "not available"),
    ],
)
def test_what_is_wrong_is_named(change: Callable[[dict[str, Any]], Any], path: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(changed(change))
    said = {problem.path: problem.message for problem in caught.value.problems}
    assert path in said, said
    assert message in said[path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"frequency": [1.0, float("nan")], "mass": [1, 1]}, "entry 1, must be finite"),
        ({"frequency": [1.0, 2.0], "mass": [1, -1.0]}, "masses must be positive"),
        ({"frequency": list(range(1, 10_001))}, "10,000 modes, of which at most 2,000"),
        ({"frequency": [1.0, 2.0], "points": {"a": [[1, 0], [0, 1]]}}, "must have the shape (3, 2)"),
        ({"freq": [1.0]}, "did you mean 'frequency'?"),
        ({"frequency": [1.0], "points": {"a": [[1.0], [0.0], [0.0]]}}, "no point"),
    ],
)
def test_a_basis_that_is_none_is_named(folder: Path, content: dict[str, Any], message: str) -> None:
    (folder / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=r"structure\.basis|no point") as caught:
        load(changed(put("structure/basis", "bad.json")))
    assert message in str(caught.value)


def test_a_study_without_any_part_of_a_structure_says_what_is_missing() -> None:
    with pytest.raises(ConfigError, match=r"structure\.basis"):
        load({"study": {"model": "structure"}})
    assert load({"study": {"model": "body"}}).design.count == 1


def test_only_points_whose_step_is_near_the_bound_need_eigenvalues() -> None:
    study = changed(put("sweep/axes", {"k_n[end]": {"from": 1e4, "to": 1e5, "count": 40_000}}))
    with mock.patch.object(structure_stability, "_of_one", side_effect=AssertionError):
        assert load(study).design.count == 40_000
    with pytest.raises(ConfigError, match=r"step = 0\.001 s is unstable.* \(broken at 3 of 4 points\)"):
        load(
            changed(
                lambda d: (
                    put("sweep/axes", {"k_n[end]": [1e4, 3e7, 1e8, 1e9]})(d),
                    put("time/step", 1e-3)(d),
                    put("parameters/c_t", 0.0)(d),
                )
            )
        )


def test_channels_of_a_record_are_columns_of_its_file(folder: Path) -> None:
    rows = [f"{0.001 * n},{np.sin(n)},{np.cos(n)}" for n in range(101)]
    (folder / "forces.csv").write_text("\n".join(["time [s],fx [kN],fy [kN]", *rows]))
    study = changed(put("excitation", {"records": "forces.csv", "channels": ["fx", "fy"]}))
    del study["sweep"]["axes"]["draw"]
    config = load(study)
    _, bank = config.excitation.take(np.zeros(1), 1)  # type: ignore[union-attr]
    assert bank.shape == (1, 2, 101)
    np.testing.assert_allclose(bank[0, 1], 1e3 * np.cos(np.arange(101)), atol=1e-9)
    assert load(config.document).digest == config.digest
    for channels, path, message in (
        (["fx"], "excitation.channels", "a load follows channel 1"),
        (["fx", "fz"], "excitation.records", "'fz'"),
        ("fx", "excitation.channels", "must be a list of columns"),
    ):
        with pytest.raises(ConfigError) as caught:
            load({**study, "excitation": {"records": "forces.csv", "channels": channels}})
        assert any(problem.path.startswith(path) and message in problem.message for problem in caught.value.problems), caught.value
