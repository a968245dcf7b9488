"""Maps and reports of structures: the support that they show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from tests.sweep.conftest import FakeKernels, FakeSolution
from tribosweep.sweep import ConfigError, run
from tribosweep.sweep.analysis.group_map import CHANCE, Statistic, read_groups
from tribosweep.sweep.analysis.regime_map import read_map, theory_of
from tribosweep.sweep.analysis.run_notes import notes_on
from tribosweep.sweep.cli import main
from tribosweep.sweep.report.content import read_content

Captured = pytest.CaptureFixture[str]
SECTIONS: dict[str, Any] = {
    "study": {"name": "rod", "model": "body", "scheme": "euler"},
    "structure": {"directions": "xy"},
    "supports": {"ring": {"obstacle": "ring"}, "stop": {"normal": [0.0, 1.0, 0.0]}},
    "loads": {"east": {}},
    "time": {"end": 0.1, "step": 1e-5},
    "sweep": {"axes": {"gap[ring]": [1e-3, 2e-3, 3e-3], "mu": [0.1, 0.2]}},
}
LISTS = {**SECTIONS, "output": {"support_lists": True}}


@pytest.fixture
def solver(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> FakeKernels:
    """Every number of the ring is its gap [mm], of the stop 10 mu; contact_regime is the number of the row in its block, modulo 3."""

    def solve(
        model: Any, scheme: str, columns: dict[str, Any], absent: dict[str, np.ndarray], count: int, *_: Any, **__: Any
    ) -> FakeSolution:
        fake.calls.append(count)
        values = model.resolve(columns, absent)
        of = {"ring": 1e3 * np.asarray(values.get("gap[ring]", 0.0)), "stop": 10.0 * np.asarray(values.get("mu", 0.0))}
        of = {name: np.broadcast_to(each, count).astype(float) for name, each in of.items()}
        found: dict[str, np.ndarray] = {}
        for q in model.returns(None, columns):
            support = q.name.partition("[")[2].removesuffix("]")
            if q.kind == "word":
                found[q.name] = (np.arange(count) % 3).astype(np.int8)
            elif q.kind == "list":
                found[q.name] = np.stack([of[name] for name in model.structure.order], axis=-1)
            else:
                found[q.name] = of.get(support, of["stop"]).copy()
        return FakeSolution(found, np.zeros(count, np.int8), 0.0, 0.0)

    monkeypatch.setattr(sys.modules["tribosweep.kernels.batch.solve"], "solve", solve)
    return fake


@pytest.mark.parametrize("sections", [SECTIONS, LISTS], ids=["columns", "lists"])
def test_a_map_shows_the_chosen_support(solver: FakeKernels, sections: dict[str, Any], tmp_path: Path) -> None:
    directory = run(sections, tmp_path / "run").directory
    ring = read_map(directory, support="ring")
    assert (ring.x.name, ring.y.name, ring.areas) == ("gap[ring]", "mu", "contact_regime[ring]")
    assert ring.shade is not None
    assert ring.shade.name == "wear_power[ring]"
    assert ring.words == ("no contact", "impacts", "permanent contact", "none")
    np.testing.assert_allclose(ring.shades, [[1.0, 2.0, 3.0]] * 2)
    assert sorted(ring.regimes.ravel().tolist()) == [0, 0, 1, 1, 2, 2]
    stop = read_map(directory, support="stop", color="impulse", areas="impacts")
    assert (stop.areas, stop.words) == ("impacts[stop]", ("1 impacts at stop", "2 impacts at stop", "none"))
    np.testing.assert_allclose(stop.shades, [[1.0] * 3, [2.0] * 3])
    first = read_map(directory)
    assert first.shade is not None
    assert first.areas == f"contact_regime[{first.shade.name.partition('[')[2]}"
    chance = read_groups(directory, Statistic(CHANCE, "impacts[ring]>=2"))
    np.testing.assert_allclose(chance.shades, [[0.0, 1.0, 1.0]] * 2)
    assert theory_of(ring, ring.x_values, ring.y_values) == []
    assert [note.partition(":")[0] for note in notes_on(directory)] == ["Note"]  # of c_t


@pytest.mark.slow
def test_a_map_of_a_structure_is_drawn_and_labelled(solver: FakeKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = run(SECTIONS, tmp_path / "run").directory
    picture = tmp_path / "map.svg"
    assert main(["map", str(directory), "--support", "ring", "--out", str(picture)]) == 0
    text = picture.read_text(encoding="utf-8")
    for label in ("wear power at ring [W]", "gap of ring [m]", "permanent contact"):
        assert label in text
    assert main(["map", str(directory), "--out", str(tmp_path / "map.png")]) == 0
    assert imread(tmp_path / "map.png").std() > 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--support", "rnig"], "--support: 'rnig' is no support of this structure; did you mean 'ring'? Known: ring, stop"),
        (["--color", "wear_power[rnig]"], "'wear_power[rnig]' is no observable; did you mean 'wear_power[ring]'?"),
        (["--chance", "impacts[ring]>1", "--support", "ring"], "needs no --color, no --areas and no --support"),
        (["--chance", "impacts[rnig]>1"], "'impacts[rnig]' is no observable of the model body; did you mean 'impacts[ring]'"),
    ],
)
def test_a_support_that_is_not_there_is_refused(
    solver: FakeKernels, options: list[str], message: str, tmp_path: Path, capsys: Captured
) -> None:
    directory = run(SECTIONS, tmp_path / "run").directory
    assert main(["map", str(directory), *options]) == 2
    assert message in capsys.readouterr().err
    assert not (directory / "map.png").exists()


def test_a_run_without_words_is_divided_by_its_statuses(solver: FakeKernels, tmp_path: Path) -> None:
    free = {key: value for key, value in SECTIONS.items() if key != "supports"}
    directory = run({**free, "sweep": {"axes": {"c": [1.0, 2.0], "k": [1.0, 2.0]}}}, tmp_path / "run").directory
    drawn = read_map(directory)
    assert (drawn.areas, set(drawn.regimes.ravel().tolist())) == ("status", {0})
    facts = read_content(directory, traces=0).facts
    assert facts["support"] is None
    assert [each["name"] for each in facts["columns"]].count("status") == 1


@pytest.mark.parametrize("sections", [SECTIONS, LISTS], ids=["columns", "lists"])
def test_a_report_shows_the_chosen_support(solver: FakeKernels, sections: dict[str, Any], tmp_path: Path) -> None:
    directory = run(sections, tmp_path / "run").directory
    facts = read_content(directory, support="ring", traces=0).facts
    assert (facts["shade"], facts["areas"]) == ("wear_power[ring]", "contact_regime[ring]")
    assert facts["support"] == {"name": "ring", "obstacle": "ring"}
    assert facts["axes"][0]["label"] == "gap of ring [m]"
    names = [each["name"] for each in facts["columns"]]
    assert names.index("impulse[ring]") < names.index("impulse[stop]")
    assert "impulse" not in names
    assert next(each["said"] for each in facts["columns"] if each["name"] == "wear_power[ring]") == "wear power at ring"
    with pytest.raises(ConfigError, match="did you mean 'ring'"):
        read_content(directory, support="rnig", traces=0)


def test_depths_of_supports_that_are_implausible_are_noted(solver: FakeKernels, tmp_path: Path) -> None:
    worn = {"service_time": 1e9, "archard_k": 1e-14, "contact_area": 1e-4}
    for sections, said in ((SECTIONS, "6 of 6 rows have a wear_depth[ring]"), (LISTS, "12 of 12 entries have a wear_depth ")):
        directory = run({**sections, "parameters": worn}, tmp_path / said[:2].strip()).directory
        assert any(note.startswith(said) for note in notes_on(directory))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Note: c_t is not given at ring, stop: while it holds the point has critical damping, c_t = max(0, 2 sqrt(m (k + k_t)) - c)"),
        ({"c_t[stop]": 0.0}, "Note: c_t is not given at ring: while it holds"),
        ({"c_t": 0.0}, ""),
        ({"c_t[ring]": 5.0, "c_t[stop]": 5.0}, ""),
    ],
)
def test_a_run_says_where_the_damper_of_friction_is_the_default(
    solver: FakeKernels, given: dict[str, float], said: str, tmp_path: Path
) -> None:
    notes = notes_on(run({**SECTIONS, "parameters": given}, tmp_path / "run").directory)
    assert [note.startswith(said) for note in notes] == [True] * bool(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "says"), [({"k_t": 1e4, "mu": 0.1}, True), ({"k_t": 1e4, "mu": 0.1, "c_t": 3.0}, False), ({"mu": 0.1}, False)]
)
def test_a_run_of_one_mass_says_it_too(given: dict[str, float], says: bool, tmp_path: Path) -> None:
    study = {"study": {"model": "rubbing_mass"}, "parameters": given, "time": {"end": 1.0}, "sweep": {"axes": {"a0": [1.0, 2.0]}}}
    notes = notes_on(run(study, tmp_path / "run").directory)
    assert [note.startswith("Note: c_t is not given: while the contact holds") for note in notes] == [True] * says
