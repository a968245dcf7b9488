"""Subset simulations that cannot be are refused with their reason; others are read back as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tribosweep.sweep import load
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.subset_simulation import SubsetSimulation

Captured = pytest.CaptureFixture[str]
WALL = '[study]\nmodel = "buckling_wall"\n[parameters]\nk_n = 1.0\nf_post = 0.1\nk_post = 1.0\n'
AXES = '[sweep.axes]\nv0 = { distribution = "normal", mean = 1.0, std = 0.1 }\nk_n = { from = 1.0, to = 2.0 }\n'
HEAD = f'{WALL}[sweep]\ndesign = "subset_simulation"\n'.replace("k_n = 1.0\n", "")
EVENT, COUNT = 'event = "peak_force > 2 N"\n', "count = 200\n"
REFUSED = {
    "an event is needed": (f"{HEAD}{COUNT}{AXES}", ["sweep.event: missing: a subset simulation needs the rare event, such as"]),
    "an event is a comparison": (f'{HEAD}{COUNT}event = "buckled"\n{AXES}', ["sweep.event: 'buckled' is about a yes or no"]),
    "a number alone is no event": (f'{HEAD}{COUNT}event = "peak_force"\n{AXES}', ["'peak_force' must be an observable, one of"]),
    "an unknown observable names the nearest": (
        f'{HEAD}{COUNT}event = "peak_forc > 2"\n{AXES}',
        ["sweep.event: 'peak_forc' is no observable of the model buckling_wall; did you mean 'peak_force'"],
    ),
    "yes or no is no way up": (
        f'{HEAD}{COUNT}event = "buckled=1"\n{AXES}',
        ["sweep.event: 'buckled=1' is about a yes or no (1 if the force reached", 'for buckled=1 write "peak_force >= f_crit"'],
    ),
    "nor is a word": (f'{HEAD}{COUNT}event = "wall_regime=plateau"\n{AXES}', ["is about a word, which does not say how near a row is"]),
    "an exact value is not near": (f'{HEAD}{COUNT}event = "impacts=3"\n{AXES}', ["is about an exact value, to which no row is near"]),
    "a unit is that of the observable": (f'{HEAD}{COUNT}event = "peak_force > 2 kg"\n{AXES}', ["sweep.event: '2 kg'", "N"]),
    "a parameter has the unit of the observable": (
        f'{HEAD}{COUNT}event = "peak_force > gap"\n{AXES}',
        ["sweep.event: peak_force has N, and gap has m: the limit must be of the same kind"],
    ),
    "an unknown limit names the nearest parameter": (
        f'{HEAD}{COUNT}event = "peak_force > f_crt"\n{AXES}',
        ["or a parameter in N; did you mean 'f_crit'"],
    ),
    "a count is needed": (f"{HEAD}{EVENT}{AXES}", ["sweep.count: missing"]),
    "a few points are too few": (f"{HEAD}{EVENT}count = 90\n{AXES}", ["sweep.count: 90 is out of bounds: must be >= 100 (10 chains"]),
    "chains are of equal length": (f"{HEAD}{EVENT}count = 207\n{AXES}", ["cannot be divided into chains of 10", "take 210"]),
    "a share is no word": (f'{HEAD}{EVENT}{COUNT}level_probability = "few"\n{AXES}', ["sweep.level_probability: must be a number"]),
    "a share has bounds": (f"{HEAD}{EVENT}{COUNT}level_probability = 0.9\n{AXES}", ["0.9 is out of bounds: must be >= 0.02 and <= 0.5"]),
    "a share is one over a length": (f"{HEAD}{EVENT}{COUNT}level_probability = 0.3\n{AXES}", ["take 0.333333, as 1/3"]),
    "repeats have bounds": (f"{HEAD}{EVENT}{COUNT}repeats = 0\n{AXES}", ["sweep.repeats: 0 is out of bounds: must be >= 1 and <= 1000"]),
    "levels have bounds": (f"{HEAD}{EVENT}{COUNT}levels = 0\n{AXES}", ["sweep.levels: 0 is out of bounds: must be >= 1 and <= 40"]),
    "a grid has no event": (f"{WALL}[sweep]\n{EVENT}[sweep.axes]\nv0 = [1.0]", ['"subset_simulation"; this one is']),
    "it stands alone": (
        f"{HEAD}{EVENT}{COUNT}{AXES}[[sweep]]\n".replace("[sweep]", "[[sweep]]", 1) + "[sweep.axes]\nv0 = [1.0]\nk_n = [1.0]",
        ["sweep[0].design: a subset simulation study stands alone"],
    ),
    "points follow from observables": (f'{HEAD}{EVENT}{COUNT}{AXES}[output]\ncolumns = ["impacts"]', ["output.columns: the points of"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "fragments"), REFUSED.values(), ids=REFUSED.keys())
def test_a_study_that_cannot_be_is_refused_with_its_reason(text: str, fragments: list[str], tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(text)
    assert main(["run", str(tmp_path / "study.toml")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for fragment in fragments:
        assert fragment in said.err
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize("event", ["peak_force > 2 N", "peak_force>=f_crit", "rebound_velocity < -3.5 m/s", "impacts > 4"])
def test_a_study_is_read_back_as_it_was_written(event: str, tmp_path: Path) -> None:
    more = f'event = "{event}"\nseed = 5\nrepeats = 3\nlevels = 4\nlevel_probability = 0.05\ncorrelations = [["v0", "k_n", -0.5]]\n'
    (tmp_path / "study.toml").write_text(f"{HEAD}{COUNT}{more}{AXES}")
    config = load(tmp_path / "study.toml")
    design = config.design
    assert isinstance(design, SubsetSimulation)
    (tmp_path / "again.toml").write_text(config.to_toml())
    assert load(tmp_path / "again.toml").digest == load(config.document).digest
    assert load(config.document).design == design
    assert (design.chains, design.chain_length, design.count, design.most_points) == (10, 20, 600, 600 + 4 * 19 * 10 * 3)
    assert design.correlations == (("v0", "k_n", -0.5),)
