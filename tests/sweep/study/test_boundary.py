"""Studies of boundaries that cannot be are refused with their reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tribosweep.sweep.cli import main
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.study.load import load

Captured = pytest.CaptureFixture[str]
AXES = "[sweep.axes]\na0 = { from = 1.0, to = 2.0, count = 3 }\nmu = { from = 0.1, to = 0.2, count = 3 }\n"
HEAD = '[sweep]\ndesign = "boundary"\n'
REFUSED = {
    "an unknown observable names the nearest": (
        f'{HEAD}observable = "regim"\n{AXES}',
        ["sweep.observable: 'regim' is no observable of rubbing_mass; did you mean 'regime' ("],
    ),
    "a number needs a level": (f'{HEAD}observable = "wear_power"\n{AXES}', ["sweep.level: missing: wear_power is a number", "in W"]),
    "a word has no level": (f"{HEAD}level = 1.0\n{AXES}", ["sweep.level: regime is a word (stick, stick-slip, slip-slip)"]),
    "a level is a number": (
        f'{HEAD}observable = "wear_power"\nlevel = "high"\n{AXES}',
        ["sweep.level: must be a number, not 'high' (wear_power: "],
    ),
    "a level is finite": (f'{HEAD}observable = "wear_power"\nlevel = inf\n{AXES}', ["sweep.level: must be a finite number"]),
    "one axis is no plane": (
        f"{HEAD}[sweep.axes]\nmu = {{ from = 0.1, to = 0.2, count = 3 }}",
        ["sweep.axes: boundaries are curves over two parameters: give two axes, not 1 (mu)"],
    ),
    "three axes are too many": (f"{HEAD}{AXES}k = {{ from = 1.0, to = 2.0, count = 3 }}", ["give two axes, not 3 (a0, mu, k)"]),
    "no axes are too few": (HEAD, ["give two axes, none is given"]),
    "a list cannot be halved": (f"{HEAD}{AXES}".replace("{ from = 0.1, to = 0.2, count = 3 }", "[0.1, 0.2]"), ["sweep.axes.mu: must be"]),
    "a word cannot be halved": (
        f'{HEAD}[sweep.axes]\nscheme = ["exact"]\nmu = {{ from = 0.1, to = 0.2, count = 3 }}',
        ["sweep.axes.scheme: must be a range of numbers that can be halved"],
    ),
    "a table cannot be halved": (
        f'[study]\nmodel = "buckling_wall"\n{HEAD}[sweep.axes]\npost_set = [[1.0], [2.0]]\nv0 = {{ from = 0.1, to = 0.2, count = 3 }}',
        ["sweep.axes.post_set: must be a range of numbers"],
    ),
    "whole numbers cannot be halved": (
        f'[study]\nmodel = "stop"\n{HEAD}{AXES}'.replace(
            "mu = { from = 0.1, to = 0.2, count = 3 }", "sides = { from = 1, to = 2, count = 2 }"
        ),
        ["sweep.axes.sides: must be a range of numbers"],
    ),
    "a cell has two ends": (f"{HEAD}{AXES}".replace("count = 3 }\nmu", "count = 1 }\nmu"), ["sweep.axes.a0.count: 1 is out of bounds"]),
    "a range has two ends": (f"{HEAD}{AXES}".replace("to = 2.0", "to = 1.0"), ["sweep.axes.a0: from = 1 to 1 is no range"]),
    "a width is above 0": (f"{HEAD}width = 0.0\n{AXES}", ["sweep.width: 0.0 is out of bounds: must be >= 1e-14 and <= 0.1"]),
    "a width is above rounding": (f"{HEAD}width = 1e-17\n{AXES}", ["sweep.width: 1e-17 is out of bounds"]),
    "a width is a number": (f'{HEAD}width = "small"\n{AXES}', ["sweep.width: must be a number"]),
    "halvings do not go back": (f"{HEAD}halvings = -1\n{AXES}", ["sweep.halvings: -1 is out of bounds: must be >= 0 and <= 20"]),
    "cells differ by more than rounding": (
        f"{HEAD}halvings = 20\n{AXES}".replace("count = 3 }\nmu", "count = 33 }\nmu"),
        ["sweep.halvings: 32 cells halved 20 times are 33,554,432"],
    ),
    "a coarse grid is coarse": (
        f"{HEAD}{AXES}".replace("count = 3", "count = 1000"),
        ["sweep.axes: 1,000,000 points: a coarse grid has at most 131,072"],
    ),
    "a level has the unit of its observable": (
        f'{HEAD}observable = "wear_power"\nlevel = "3 mm"\n{AXES}',
        ["sweep.level: '3 mm': 'mm' cannot be converted to W (wear_power: "],
    ),
    "a seed has the units of the axes": (
        f'{HEAD}seeds = [["150 cm/s^2", 0.15], ["1.5 mm", 0.15]]\n{AXES}',
        ["sweep.seeds[1]: '1.5 mm': 'mm' cannot be converted to m/s^2"],
    ),
    "a seed with a unit lies within the axes": (f'{HEAD}seeds = [["3 g", 0.15]]\n{AXES}', ["a0 = '3 g' is outside its axis, 1 to 2 m/s^2"]),
    "a seed is a pair": (f"{HEAD}seeds = [1.0, 0.1]\n{AXES}", ["sweep.seeds: must be a list of points [a0, mu], such as [[1.0, 2.0]]"]),
    "a seed lies within the axes": (
        f"{HEAD}seeds = [[1.5, 0.15], [3.0, 0.15]]\n{AXES}",
        ["sweep.seeds[1]: a0 = 3.0 m/s^2 is outside its axis, 1 to 2 m/s^2"],
    ),
    "a grid has no width": (f"[sweep]\nwidth = 1e-6\n{AXES}", ["sweep.width: belongs to design = \"boundary\"; this one is 'grid'"]),
    "a study of boundaries stands alone": (
        f'[[sweep]]\ndesign = "boundary"\n{AXES}[[sweep]]\n{AXES}'.replace("[sweep.axes]", "[sweep.axes]"),
        ["sweep[0].design: a boundary study stands alone"],
    ),
    "everything is said at once": (
        f'{HEAD}observable = "wear_power"\nwidth = 0\nhalvings = 30\nseeds = 3\n{AXES}',
        ["4 problems", "sweep.level", "sweep.width", "sweep.halvings", "sweep.seeds"],
    ),
}


@pytest.mark.parametrize(("text", "fragments"), REFUSED.values(), ids=REFUSED.keys())
def test_a_study_that_cannot_be_is_refused_with_its_reason(text: str, fragments: list[str], tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "study.toml").write_text(text)
    assert main(["run", str(tmp_path / "study.toml")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for fragment in fragments:
        assert fragment in said.err
    assert not list(Path.cwd().iterdir())


def test_level_and_seeds_may_have_units() -> None:
    design = load(
        {
            "study": {"model": "stop"},
            "parameters": {"k_n": 1e5, "gap": 0.01},
            "sweep": {
                "design": "boundary",
                "observable": "impulse",
                "level": "-2 N ms",
                "seeds": [["0.15 g", "12 mm"], ["1.5m/s^2", 0.012]],
                "axes": {"a0": {"from": 1.0, "to": 2.0, "count": 3}, "gap": {"from": 0.01, "to": 0.02, "count": 3}},
            },
        }
    ).design
    assert isinstance(design, Boundary)
    assert design.level == pytest.approx(-0.002, rel=4e-16)
    assert design.seeds == (pytest.approx((0.15 * 9.80665, 0.012), rel=4e-16), pytest.approx((1.5, 0.012), rel=4e-16))
