"""A map and a report of every shipped study and of every model x design: drawn, or refused in a sentence that says what to do."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from tests.sweep.conftest import FakeKernels, FakeSolution
from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.status import Status
from tribosweep.sweep import run
from tribosweep.sweep.cli import main
from tribosweep.sweep.design.designs import DESIGNS
from tribosweep.sweep.design.sensitivity import SAMPLERS
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.report.content import read_content

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
OTHERS = {"branches", "calibration", "optimise"}  # sections of studies that are not run
STUDIES = sorted(file for file in CONFIGS.glob("*.toml") if not OTHERS & tomllib.loads(file.read_text(encoding="utf-8")).keys())
FEW = 3  # values of an axis
Captured = pytest.CaptureFixture[str]


def solve_smoothly(
    model: Model, scheme: str, columns: Mapping[str, Any], absent: Mapping[str, np.ndarray], count: int, window: str | None = None, *_: Any,
    asked: Any = None, **__: Any,
) -> FakeSolution:  # fmt: skip
    """Stand in for `batch.solve` as kernels answer: a number that rises with every parameter, words that follow it, no regime
    without friction, and one row in nine that fails.
    """
    row = np.ones(count)
    for number, value in enumerate(columns.values()):
        array = np.asarray(value, dtype=np.float64)
        row += (number + 1.0) * np.nan_to_num(array if array.shape == (count,) else np.nanmean(array) if array.size else 0.0) * 1e-3
    failed = np.arange(count) % 9 == 8
    rubs = np.broadcast_to(np.asarray(columns.get("mu", columns.get("mu_s", 0.0)), dtype=np.float64) > 0.0, (count,)).ravel()[:count]
    rank = np.argsort(np.argsort(row))
    observables: dict[str, np.ndarray] = {}
    for quantity in model.returns(window, [*columns, *(asked.names if asked else ())]):
        if quantity.kind == "word":
            codes = rank * len(quantity.words) // count
            there = rubs if quantity.name == "regime" else np.ones(count, bool)
            observables[quantity.name] = np.where(failed | ~there, -1, codes).astype(np.int8)
        elif quantity.kind == "list":
            observables[quantity.name] = np.where(failed[:, None], np.nan, row[:, None] + np.array([0.0, 1.0, 2.0]))
        else:
            observables[quantity.name] = np.where(failed, np.nan, rank % 4 if quantity.kind == "integer" else row)
    return FakeSolution(observables, np.where(failed, Status.NOT_FINITE, Status.OK).astype(np.int8), 0.1, 0.1)


@pytest.fixture
def smooth(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that look like those of a model, computed at once."""
    from tribosweep.kernels.batch import solve as batch

    monkeypatch.setattr(batch, "solve", solve_smoothly)


def reduced(spec: Any) -> Any:
    """An axis with few values."""
    if isinstance(spec, list):
        return spec[:FEW]
    if spec.get("spacing") == "integer" and "count" not in spec:
        return {**spec, "to": spec["from"] + FEW - 1} if isinstance(spec["from"], int) else spec
    return {**spec, "count": min(spec["count"], FEW)} if "count" in spec else spec


def smaller(part: dict[str, Any]) -> dict[str, Any]:
    """A design with few points."""
    sizes = {"count": 16, "halvings": 2, "width": 1e-2}
    if part.get("design") == SUBSET:
        sizes = {"count": 20, "level_probability": 0.5, "levels": 2}
    axes = {name: reduced(spec) for name, spec in part.get("axes", {}).items()}
    return {key: axes if key == "axes" else sizes.get(key, value) for key, value in part.items()}


def study_of(file: Path) -> dict[str, Any]:
    """A shipped study, smaller, with the paths of its files."""
    raw = tomllib.loads(file.read_text(encoding="utf-8"))
    sweep = raw.get("sweep", {})
    raw["sweep"] = [smaller(part) for part in sweep] if isinstance(sweep, list) else smaller(sweep)
    text = json.dumps(raw)
    for path in CONFIGS.glob("*/*"):
        text = text.replace(f'"{path.relative_to(CONFIGS).as_posix()}"', json.dumps(str(path)))
    return dict(json.loads(text))


# what a study needs to be drawn, where `map` and `report` cannot know it
WISHES = {
    "convergence": ("a convergence study has no map; its picture: tribosweep convergence", []),
    "quake": ("--at: record has several values too", ["--x", "mu", "--y", "record_scale", "--at", "record=main_shock"]),
    "fretting": ("name the two that are the axes", ["--x", "normal_amplitude", "--y", "normal_phase", "--at", "friction_sides=1"]),
    "tube_in_supports": ("name the two that are the axes", ["--at", "draw=0"]),
    "random_support": ("name the two that are the axes", ["--at", "draw=0"]),
    "sdnd105d": ("this run varies only damping_criterion, which holds no numbers", []),
}
# a report shows them over one parameter, a map does not
ONE_AXIS = {"impact_bifurcation": [], "sdnd104": [], "sdnd105a": [], "sdnd105b": [], "sdnd106": [], "bouncing_ball": ["--at", "x0=0"]}


def check_report(directory: Path, *options: str) -> None:
    """Write a report without traces, and compare its numbers of points with those of the run."""
    assert main(["report", str(directory), "--traces", "0", *options]) == 0
    text = (directory / "report.html").read_text(encoding="utf-8")
    facts = json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    sentences = dict(facts["summary"])
    failed = sum(count for status, count in facts["statuses"].items() if status != "ok")
    assert sentences["Failures"].startswith(f"{failed:,} of {sum(facts['statuses'].values()):,} points failed" if failed else "None")
    assert len(sentences) >= 3


def check_map(directory: Path, *options: str) -> None:
    """Draw a map, and look whether there is something on it."""
    assert main(["map", str(directory), *options]) == 0
    assert imread(directory / "map.png").std() > 0.02


@pytest.mark.long_cases("quake_by_spectrum")
@pytest.mark.slow
@pytest.mark.usefixtures("smooth")
@pytest.mark.parametrize(
    "file", [pytest.param(file, id=file.stem, marks=pytest.mark.slow if file.stem == "quake_by_spectrum" else ()) for file in STUDIES]
)
def test_every_shipped_study_has_a_map_and_a_report(file: Path, tmp_path: Path, capsys: Captured) -> None:
    directory = run(study_of(file), tmp_path / "a").directory
    message, options = WISHES.get(file.stem, ("", []))
    if file.stem in ONE_AXIS:
        options = ONE_AXIS[file.stem]
        assert main(["map", str(directory), *options]) == 2
        assert "tribosweep report draws it over one" in capsys.readouterr().err
    else:
        if message:
            assert main(["map", str(directory)]) == 2
            assert message in capsys.readouterr().err
        if options or not message:
            check_map(directory, *options)
    if options or not message:
        check_report(directory, *options)


AXES: dict[str, tuple[dict[str, float], dict[str, Any]]] = {
    "rubbing_mass": ({"m": 1.0}, {"a0": (1.0, 10.0), "mu": (0.1, 0.8)}),
    "stop": ({"k_n": 1e3, "load": 1.0}, {"v0": (0.2, 2.0), "gap": (0.1, 0.4)}),
    "two_walls": ({"m": 1.0}, {"v0": (0.2, 2.0), "k": (1.0, 3.0)}),
    "buckling_wall": ({"k_n": 1.0, "f_post": 0.1, "k_post": 1.0}, {"v0": (0.2, 2.0), "f_crit": (0.5, 2.0)}),
}


MARKS = {
    "rubbing_mass": [pytest.mark.slow],
    "stop": [pytest.mark.slow, pytest.mark.long],
    "two_walls": [pytest.mark.slow, pytest.mark.long],
}


def sweep_of(design: str, axes: Mapping[str, tuple[float, float]], folder: Path) -> Any:
    """A small [sweep] of a design over two axes."""
    ranges = {name: {"from": low, "to": high} for name, (low, high) in axes.items()}
    counted = {name: {**spec, "count": 4} for name, spec in ranges.items()}
    if design in SAMPLERS and design != "posterior":
        return {"design": design, "count": 65 if design == "fast" else 8, "axes": ranges}
    if design in ("table", "posterior"):
        names = list(axes)
        rows = [",".join(f"{low + part * (high - low):.3f}" for low, high in axes.values()) for part in (0.0, 0.3, 1.0)]
        (folder / "points.csv").write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
        return {"design": design, "file": str(folder / "points.csv")}
    if design == "boundary":
        return {"design": design, "axes": counted}
    if design == SUBSET:
        return {"design": design, "count": 20, "level_probability": 0.5, "levels": 2, "axes": ranges}
    if design == "several":
        return [{"design": "grid", "axes": counted}, {"design": "sobol", "count": 8, "axes": ranges}]
    return {"design": design, "axes": counted}


@pytest.mark.slow
@pytest.mark.usefixtures("smooth")
@pytest.mark.parametrize("design", [*(name for name in DESIGNS if name != "convergence"), "several"])
@pytest.mark.parametrize("model", [pytest.param(name, marks=MARKS.get(name, ())) for name in AXES])
def test_every_model_has_a_map_and_a_report_for_every_design(model: str, design: str, tmp_path: Path) -> None:
    parameters, axes = AXES[model]
    sweep = sweep_of(design, axes, tmp_path)
    if design == SUBSET:
        sweep["event"] = f"{MODELS[model].main} > 1e9"
    if design == "boundary":
        main_observable = MODELS[model].main
        sweep |= {"observable": main_observable, "level": 1.01, "halvings": 1, "width": 0.01}
    directory = run({"study": {"model": model}, "parameters": parameters, "sweep": sweep}, tmp_path / "a").directory
    check_map(directory)
    check_report(directory)
    kind = read_content(directory, traces=0).facts["kind"]
    assert kind == ("grid" if design in ("grid", "draws") else "scattered") or design == "boundary"


def test_every_model_is_drawn() -> None:
    assert set(AXES) == set(MODELS)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("model", ["buckling_wall", pytest.param("two_walls", marks=pytest.mark.long)])
def test_a_wall_without_friction_is_drawn_with_its_traces(model: str, tmp_path: Path) -> None:
    parameters, axes = AXES[model]
    study = {"study": {"model": model}, "parameters": parameters, "time": {"end": 4.0}, "sweep": sweep_of("grid", axes, tmp_path)}
    directory = run(study, tmp_path / "a").directory
    check_map(directory)
    content = read_content(directory, traces=2)
    regime = next(each for each in content.facts["columns"] if each["name"] == "regime")
    assert regime["words"] == []  # nothing rubs
    assert content.traced == 2
    (trace, *_) = content.facts["traces"]
    assert {"time", "x", "v", "wall_force", "friction_force"} <= set(trace["columns"])
    check_report(directory)
