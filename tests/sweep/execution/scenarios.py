"""Commands that write files, each with a state before it: what tests interrupt in every way, with a stand-in for the physics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.sweep.conftest import FakeKernels, install_fake, install_small_pieces, install_small_shards
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analysis.branching import analysis as following
from tribosweep.sweep.analysis.branching import results as branching
from tribosweep.sweep.analysis.branching.load import Branching
from tribosweep.sweep.analysis.calibration import analysis
from tribosweep.sweep.analysis.calibration.fitting import CONVERGED, Fits
from tribosweep.sweep.analysis.calibration.load import Calibration
from tribosweep.sweep.analysis.calibration.optima import Optimum, starts_of
from tribosweep.sweep.analysis.calibration.results import CalibrationRequest, CalibrationResult
from tribosweep.sweep.analysis.calibration.system import FitPoint, System
from tribosweep.sweep.analysis.calibration.uncertainty import Profile, fit_uncertainty
from tribosweep.sweep.analysis.optimisation import analysis as searches
from tribosweep.sweep.analysis.optimisation.evaluation import Functions
from tribosweep.sweep.analysis.optimisation.front import FrontPoint
from tribosweep.sweep.analysis.optimisation.load import Optimisation
from tribosweep.sweep.analysis.optimisation.optimality import Conditions
from tribosweep.sweep.analysis.optimisation.optimality import Optimum as Best
from tribosweep.sweep.analysis.optimisation.results import OptimisationResult
from tribosweep.sweep.analysis.optimisation.searching import Candidate, Scales
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.toml import to_toml
from tribosweep.sweep.report import traces

COMPUTING = ("run", "extend", "resume", "repair", "boundary", "convergence", "subset", "sample")  # they write rows
OF_A_RUN = ("report", "map", "show", "sensitivity")  # they leave the rows of a run as they are
WITHOUT_RUN = ("calibrate", "optimise")
COMMANDS = (*COMPUTING, *OF_A_RUN, *WITHOUT_RUN)
# commands beside those that compute: name -> its words, for a run in `run` and files in the folder
OTHERS = {
    "export": ["export", "run", "--out", "rows.csv"],
    "explore": ["explore", "run", "--out", "page.html"],
    "init": ["init", "mine.toml", "--like", "regime_map"],
    "schema": ["schema", "--out", "grammar.json"],
    "check": ["check", "run"],
}
OPENING = ("create_file", "open_file", "open_folder")
CALLS = (*OPENING, "lock", "truncate", "write", "flush", "replace", "remove", "make_folder", "remove_folder", "flush_folder")
PICTURES = {"report": "report.html", "map": "map.png", "show": "means.parquet"}  # the one file of a command

AXIS = {"from": -1.0, "to": 1.0, "count": 3}
BOUNDARY = {"sweep": {"design": "boundary", "halvings": 0, "width": 0.1, "axes": {"x0": AXIS, "v0": AXIS}}}
CONVERGENCE = {
    "study": {"scheme": "euler"},
    "parameters": {"k_t": 9e6},
    "sweep": {"design": "convergence", "axes": {"a0": [1.0, 2.0, 3.0]}},
}
SUBSET = {
    "sweep": {
        "design": "subset_simulation", "event": "wear_power > 1 kW", "count": 20, "level_probability": 0.5, "levels": 3, "seed": 1,
        "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}},
    },
}  # fmt: skip
SAMPLE = {
    "study": {"name": "sample"},
    "sweep": {"design": "saltelli", "count": 16, "axes": {"a0": {"from": 1.0, "to": 2.0}, "mu": {"from": 0.1, "to": 0.2}}},
}
FIT: dict[str, Any] = {
    "study": {"name": "fit", "model": "rubbing_mass"},
    "parameters": {"omega": 6.0},
    "time": {"end": 4.0, "window": [1.0, 4.0]},
    "calibration": {
        "data": "slides.csv",
        "starts": 3,
        "free": {"mu": {"from": 0.02, "to": 1.0}, "m": {"from": 0.3, "to": 6.0}},
        "compare": {"wear_power": {"sd": 0.01}},
    },
}
CHOICE: dict[str, Any] = {
    "study": {"name": "choice", "model": "rubbing_mass"},
    "parameters": {"omega": 6.0, "a0": 3.0},
    "time": {"end": 4.0},
    "optimise": {
        "minimise": ["wear_power", "slip_distance"],
        "constraints": ["friction_power <= 9 W"],
        "starts": 3,
        "variables": {"mu": {"from": 0.02, "to": 1.0}, "m": {"from": 0.3, "to": 6.0}},
    },
}

PATHS = {
    "study": {"name": "paths", "model": "stop"},
    "parameters": {"k": 1.0, "k_n": 30.0, "gap": 0.5, "a0": 0.4, "omega": 1.0},
    "branches": {
        "along": {"omega": {"from": 0.5, "to": 2.0}},
        "curves": {"a0": {"from": 0.1, "to": 2.0}},
        "backbone": True,
    },
    "sweep": {"axes": {"c": [0.1, 0.2]}},
}


def plane(count: int) -> dict[str, Any]:
    """A study of `count` times five points over two axes, in shards of ten points."""
    axes = {"a0": [1.0 + 0.1 * i for i in range(count)], "mu": {"from": 0.1, "to": 0.2, "count": 5}}
    return {"study": {"name": "grid"}, "sweep": {"axes": axes}}


def write(path: Path, raw: dict[str, Any]) -> str:
    """A study as a file."""
    path.write_text(to_toml(raw) if {"calibration", "optimise", "branches"} & raw.keys() else load(raw).to_toml())
    return str(path)


def flip(path: Path) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 8
    path.write_bytes(data)


def damage(run: Path) -> None:
    """Take one shard away, damage another one and the manifest."""
    (run / "points" / "part-000001.parquet").unlink()
    flip(run / "points" / "part-000002.parquet")
    flip(run / "manifest.json")


def put_ready(command: str, folder: Path) -> list[str]:
    """Put the state before a command into a folder; return the words of the command."""
    out = folder / "run"
    if command == "calibrate":
        return put_calibration(folder)
    if command == "optimise":
        return put_optimisation(folder)
    if command == "branches":
        return ["branches", write(folder / "paths.toml", PATHS), "--out", str(out)]
    studies: dict[str, dict[str, Any]] = {
        "boundary": BOUNDARY,
        "convergence": CONVERGENCE,
        "subset": SUBSET,
        "sample": SAMPLE,
        "sensitivity": SAMPLE,
    }
    study = write(folder / "study.toml", studies[command] if command in studies else plane(9))
    if command in ("run", "boundary", "convergence", "subset", "sample"):
        return ["run", study, "--out", str(out)]
    before = write(folder / "before.toml", plane(5)) if command == "extend" else study
    assert main(["run", before, "--out", str(out)]) == 0
    if command == "extend":
        return ["run", study, "--out", str(out), "--extend"]
    if command in ("resume", "repair"):
        damage(out)
        return ["resume", str(out)] if command == "resume" else ["check", str(out), "--repair"]
    if command == "sensitivity":
        assert main(["sensitivity", str(out), "--picture", "sizes", "--out", str(folder / "bars.png")]) == 0
        return ["sensitivity", str(out), "--resamples", "50", "--out", str(folder / "bars.png")]
    picture = folder / PICTURES[command]
    picture.write_bytes(b"old")
    return [command, str(out), *(["--over", "mu"] if command == "show" else []), "--out", str(picture)]


def put_calibration(folder: Path) -> list[str]:
    """Put a calibration with its result into a folder; return the words that carry it out otherwise."""
    (folder / "slides.csv").write_text("a0,wear_power\n3.0,1.0\n4.0,2.0\n5.0,3.0\n")
    fit = {**FIT, "calibration": {**FIT["calibration"], "data": str(folder / "slides.csv")}}
    words = ["calibrate", write(folder / "fit.toml", fit), "--out", str(folder / "fit"), "--picture", str(folder / "fit.png")]
    assert main([*words, "--profile", "all"]) == 0
    return [*words, "--set", "calibration.confidence=0.9", "--set", "parameters.omega=7.0"]


def fake_fit(calibration: Calibration, request: CalibrationRequest | None = None, _tell: object = None) -> CalibrationResult:
    """Stands in for the fits of a calibration: the starts are taken for optima."""
    system = System(calibration.config, calibration.space, calibration.data)
    starts, data = starts_of(system, calibration.starts, calibration.seed), calibration.data
    lanes, n = starts.shape
    jacobian = np.broadcast_to(np.vander(np.arange(1.0, 1.0 + data.count), n), (lanes, data.count, n))
    point = FitPoint(np.ones((lanes, data.count)), jacobian, np.zeros((lanes, len(data.runs), 0)), np.tile(data.measured, (lanes, 1)))
    fits = Fits(starts, point, np.full(lanes, CONVERGED, dtype=object), np.ones(lanes, dtype=int), [])
    optima = [Optimum(np.array([lane]), float(data.count), starts[lane], np.zeros(n), CONVERGED) for lane in range(lanes)]
    known = [
        fit_uncertainty(calibration.space, each.coordinates, jacobian[0], each.chi2, calibration.known, calibration.confidence)
        for each in optima
    ]
    values = np.array([1.0, 2.0, 3.0])
    profiled = [Profile(name, values, values, 1.0, 3.0, 3.84) for name in (request.profiles if request else ())]
    return CalibrationResult(calibration, system, fits, optima, known, [], profiled)


def put_optimisation(folder: Path) -> list[str]:
    """Put an optimisation with its result into a folder; return the words that carry it out otherwise, without a front."""
    words = ["optimise", write(folder / "choice.toml", CHOICE), "--out", str(folder / "best")]
    assert main(words) == 0
    return [*words, "--set", "optimise.minimise=wear_power", "--set", "parameters.omega=7.0"]


def fake_searches(optimisation: Optimisation, *_others: object) -> OptimisationResult:
    """Stands in for the searches of an optimisation: points along a diagonal, the first of which is the optimum."""
    functions = (*optimisation.objectives, *optimisation.constraints)
    n, count = len(optimisation.space.frees), len(optimisation.objectives)
    candidates = []
    for search, part in enumerate((0.25, 0.5, 0.75)):
        rows = tuple((np.array([part]), np.ones((1, n))) for _ in functions)
        found = Functions(rows[:count], rows[count:], np.full(len(functions), part), np.zeros((1, 1)), good=True)
        candidates.append(Candidate(search, np.full(n, part), found, part, 0.0))
    best = Best(candidates[0], Conditions(0.0, np.zeros(len(functions) - count), np.zeros(n), np.zeros(n)), (0, 1, 2))
    front = [FrontPoint(candidate, 1.0, 0.0) for candidate in candidates] if count > 1 else []
    evaluator: Any = SimpleNamespace(functions=functions, count=1, runs=3, plain=0)
    scales = Scales(np.ones(count), np.ones(len(functions) - count))
    return OptimisationResult(optimisation, evaluator, scales, [best], candidates, front=front)


def fake_motions(study: Branching, row: int, values: Sequence[float], size: float = 1.0) -> Any:
    """Stands in for a branch, or a curve: motions at some values of the parameters that change, with numbers of about one size."""
    count = len(values)
    names = [name for name in branching.observables(study) if name != "stability"]
    observables = {name: size * (1.0 + np.arange(count)) for name in names}
    observables |= {name: np.zeros(count) for name, each in branching.observables(study).items() if each.kind == "word"}
    kinds = ["", "fold", "grazing", "flip"]
    return SimpleNamespace(
        row=row, periods=1, origin="steady motion", parent=-1, ends=("bound", "lost"), value=np.array(values), kind="fold", branch=row,
        kinds=[kinds[place % 4] for place in range(count)], y=size * np.ones((count, 2)), x=size * np.ones(count),
        multipliers=size * np.full((count, 2), 0.5 + 0.1j), stable=np.arange(count) % 2 == 0,
        passages=dict.fromkeys(range(2, count, 4), "ends"), points=SimpleNamespace(observables=observables),
    )  # fmt: skip


def fake_blocks(study: Branching, number: int, values: Sequence[float] = (0.6, 0.9, 1.2, 1.5, 1.8), size: float = 1.0) -> dict[str, Any]:
    """Stands in for the branches of a block, one for each point of the study, and a curve of special points for each."""
    first = number * branching.BLOCK
    points = study.config.design.points(first, min(first + branching.BLOCK, study.config.design.count))
    found = [fake_motions(study, row, values, size) for row in range(points.count if len(values) else 0)]
    tables = {branching.FOLDER: branching.block_table(study, points, found)}
    if study.second is not None:
        curves = [fake_motions(study, row, values, size) for row in range(len(found))]
        for curve in curves:
            curve.value = np.stack([curve.value, curve.value / 2.0], axis=1)
        tables[branching.CURVES] = branching.curve_table(study, points, found, curves)
    return tables


def fake_trace(*_: object, **__: object) -> tuple[dict[str, np.ndarray], float]:
    """Stands in for a trace of the exact engine."""
    times = np.linspace(0.0, 1.0, 50)
    return {"time": times, **{name: np.sin(times) for name in ("x", "v", "friction_force", "wall_force")}}, 1.0


def install(patch: pytest.MonkeyPatch) -> FakeKernels:
    """Put stand-ins in the place of all that computes; nothing imports JAX then. Shards have ten points, written as six and four."""
    from tribosweep.kernels.runtime import program_cache

    fake = install_fake(patch)
    fake.words_by_value = True
    install_small_shards(patch)
    install_small_pieces(patch, 6)
    install_regimes(patch, fake)
    patch.setattr(program_cache, "use", lambda: None)
    patch.setattr(traces, "trace_run", fake_trace)
    patch.setattr(analysis, "carry_out", fake_fit)
    patch.setattr(searches, "carry_out", fake_searches)
    patch.setattr(following, "block_tables", fake_blocks)
    return fake


def install_regimes(patch: pytest.MonkeyPatch, fake: FakeKernels) -> None:
    """Let the regime change along a circle, and the wear power depend on the step, as adaptive designs need."""
    from tribosweep.kernels.batch import solve as batch

    solve: Any = fake.solve

    def compute(model: Any, scheme: str, columns: Any, absent: Any, count: int, window: Any, *_: Any, **__: Any) -> Any:
        solution = solve(model, scheme, columns, absent, count, window)
        values = {
            name: np.broadcast_to(value, (count,)) for name, value in model.resolve(columns, absent).items() if name in ("x0", "v0", "step")
        }
        solution.observables["regime"] = np.where(values["x0"] ** 2 + values["v0"] ** 2 < 0.5, 1, 0).astype(np.int8)
        if scheme == "euler":
            solution.observables["wear_power"] = 1.0 + values["step"]
            solution.observables["accepted_steps"] = np.floor(12.0 / values["step"])
        return solution

    patch.setattr(batch, "solve", compute)


def rows_of(path: Path) -> pa.Table | None:
    """The rows of a run; None if there is none."""
    try:
        return Dataset(path).table()
    except ConfigError:
        return None


def bits(table: pa.Table | None) -> list[Any]:
    """The rows for comparison, NaN equal to NaN."""
    return [] if table is None else [tuple(map(repr, row.values())) for row in table.to_pylist()]


def files(folder: Path) -> list[str]:
    """Every file of a folder, but for the lock that a killed process leaves if it had nothing more to do."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != ".lock")


def results(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their content, without the times at which it was written."""
    return {name: content(folder / name) for name in files(folder)}


def content(path: Path) -> bytes:
    """What a file says, without the times at which it was written."""
    if path.name == "manifest.json" and (manifest := RunDirectory(path.parent).stored_manifest()):
        times = ("created", "finished", "seconds", "computed", "checksum")
        return repr({key: value for key, value in manifest.items() if key not in times}).encode()
    if path.suffix == ".parquet" and path.parent.name == "points":
        try:
            table = sealed_parquet.read(path)
        except sealed_parquet.DamageError:
            return path.read_bytes()
        return f"{table.schema.remove_metadata()} {bits(table)}".encode()
    return path.read_bytes()


def mixture(command: str, there: dict[str, bytes], before: dict[str, bytes], whole: dict[str, bytes]) -> list[str]:
    """The files of an earlier call that stand beside files of a later one, if a command writes several that belong together."""
    folder = {"sensitivity": "run/sensitivity/", "calibrate": "fit/", "optimise": "best/"}.get(command)
    own = {name for name in there if folder is not None and name.startswith(folder) and not name.endswith(".tmp")}
    old, new = ({name for name in own if there[name] == state.get(name)} for state in (before, whole))
    return sorted(own - new) if own not in (old, new) else []
