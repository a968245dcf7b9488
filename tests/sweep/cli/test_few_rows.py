"""Every command reads runs of one row, without rows, of failed rows and of equal rows: a result or a sentence, never a defect."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tests.sweep.analysis.optimisation.analytic import Analytic
from tests.sweep.conftest import FakeKernels
from tests.sweep.execution import scenarios
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.analysis.branching import analysis as following
from tribosweep.sweep.analysis.optimisation import analysis as searches
from tribosweep.sweep.api.branching import branches
from tribosweep.sweep.cli import app, main
from tribosweep.sweep.cli.shared import BAD_CONFIG, FAILED_CHECK, FAILED_ROWS, INTERRUPTED
from tribosweep.sweep.cli.terminal import print_table
from tribosweep.sweep.execution import dask_pool
from tribosweep.sweep.execution.executors import WorkerPool
from tribosweep.sweep.io import sealed_parquet

Captured = pytest.CaptureFixture[str]
AXES = "a0 = { from = 1.0, to = 2.0 }\nmu = { from = 0.1, to = 0.3 }\n"
GRID = AXES.replace(" }", ", count = COUNT }")
SAMPLED = '[sweep]\ndesign = "{}"\ncount = COUNT\n[sweep.axes]\n' + AXES
STUDIES = {
    "grid": "[sweep.axes]\n" + GRID,
    "zip": '[sweep]\ndesign = "zip"\n[sweep.axes]\n' + GRID,
    "table": '[sweep]\ndesign = "table"\nfile = "points.csv"\n',
    "draws": '[sweep]\ndesign = "draws"\ncount = COUNT\n[sweep.axes]\n'
             'a0 = { distribution = "normal", mean = 2.0, std = 0.1 }\nmu = [0.1, 0.2]\n',
    **{name: SAMPLED.replace("{}", name) for name in ("latin_hypercube", "sobol", "halton", "saltelli")},
    "morris": '[sweep]\ndesign = "morris"\ncount = 2\n[sweep.axes]\n' + AXES,
    "fast": '[sweep]\ndesign = "fast"\ncount = 65\n[sweep.axes]\n' + AXES,
    "boundary": '[sweep]\ndesign = "boundary"\nobservable = "regime"\nhalvings = 2\n[sweep.axes]\n' + GRID.replace("COUNT", "3"),
    "level": '[sweep]\ndesign = "boundary"\nobservable = "wear_power"\nlevel = 1e6\nhalvings = 2\n[sweep.axes]\n'
             + GRID.replace("COUNT", "3"),
    "convergence": '[study]\nscheme = "euler"\n[parameters]\nk_t = 1e4\n[time]\nend = 1.0\nstep = 1e-4\n'
                   '[sweep]\ndesign = "convergence"\nobservable = "wear_power"\nhalvings = 2\n[sweep.axes]\na0 = [1.0]\n',
    "rare": '[sweep]\ndesign = "subset_simulation"\nevent = "wear_power > 9 W"\ncount = 50\nlevel_probability = 0.2\nlevels = 2\n'
            '[sweep.axes]\n'
            'a0 = { distribution = "normal", mean = 2.0, std = 0.1 }\n',
    "signals": '[time]\nend = 4.0\nwindow = [0.0, 4.0]\n[output.signals]\ninterval = "10 ms"\npsd = ["x"]\nsegment = 64\n'
               '[sweep.axes]\n' + GRID,
}  # fmt: skip
ENDS = ("usual", "one", "failed", "equal", "none")
READERS = (
    "show {}", "show {} --json", "show {} --failed", "show {} --failed --json", "show {} --over mu", "show {} --over a0 --json",
    "show {} --over a0 --quantile 0.5 --chance wear_power>1 --out means.csv", "show {} --over a0 --out means.png",
    "map {} --out map.png", "map {} --color stick_fraction --out map.png", "map {} --over mu --mean --out map.png",
    "map {} --color none --areas regime --out map.png", "report {} --out report.html", "export {} --out rows.csv",
    "export {} --out rows.parquet",
    "export {} --out rows.nc", "explore {} --out page.html", "bifurcation {} --out bifurcation.png", "convergence {} --out convergence.png",
    "bifurcation {} --json", "convergence {} --json", "convergence {} --out differences.csv",
    "signals {}", "signals {} --json", "signals {} --out signals.png", "sensitivity {}", "sensitivity {} --json",
    "sensitivity {} --exceeds wear_power=1 --chance wear_power>1 --out bars.png", "sensitivity {} --picture sizes --out sizes.png",
    "fragility {} --event wear_power>1 --intensity a0", "fragility {} --event wear_power>1 --intensity a0 --json --out fragility.png",
    "fragility {} --event wear_power>1 --intensity a0 --method cloud", "fragility {} --event wear_power>1 --intensity a0 --by mu",
    "rare {}", "rare {} --json", "rare {} --out rare.png", "basins {}", "correlation {}",
    "correlation {} --observable stick_fraction --json --out ranks.png --resamples 50",
    "check {}", "check {} --json", "run study.toml", "resume {}",
)  # fmt: skip


def behave(fake: FakeKernels, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all rows fail, or have equal results."""
    from tribosweep.kernels.batch import solve as batch

    def solve(*asked: Any, **more: Any) -> Any:
        found = fake.solve(*asked, **more)
        for name, values in found.observables.items():
            if end == "failed":
                found.observables[name] = np.full_like(values, -1) if values.dtype == np.int8 else np.full_like(values, np.nan)
            elif end == "equal":
                found.observables[name] = np.full_like(values, 1)
        if end == "failed":
            found.status[:] = Status.NOT_FINITE
        return found

    monkeypatch.setattr(batch, "solve", solve)


@pytest.mark.slow
@pytest.mark.long_cases(
    "zip-*",
    "table-*",
    "latin_hypercube-*",
    "sobol-*",
    "halton-*",
    "morris-*",
    "fast-*",
    "level-*",
    "*-usual",
    "*-none",
    "boundary-one",
    "signals-equal",
)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("design", STUDIES)
def test_every_reader_of_a_run_finds_a_result_or_says_why_there_is_none(
    design: str, end: str, fake: FakeKernels, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    behave(fake, end, monkeypatch)
    fake.words_by_value = True
    Path("points.csv").write_text("a0,mu\n" + "".join(f"{1.0 + row},0.1\n" for row in range(1 if end == "one" else 3)))
    Path("study.toml").write_text(STUDIES[design].replace("COUNT", "1" if end == "one" else "3"))
    fake.fail_at = 0 if end == "none" else -1
    status = main(["run", "study.toml"])
    expected = {"none": [INTERRUPTED], "failed": [FAILED_ROWS]}.get(end, [0, FAILED_ROWS] if design in ("rare", "convergence") else [0])
    assert status in expected, capsys.readouterr().err
    for reader in READERS:
        capsys.readouterr()
        status = main(reader.format("runs/study").split())
        told = capsys.readouterr()
        assert status in (0, BAD_CONFIG, FAILED_CHECK, FAILED_ROWS, INTERRUPTED), f"{reader}: {told.err}"
        assert told.out or told.err, f"{reader} is silent"
        if status == 0 and reader.endswith("--json"):
            json.loads(told.out, parse_constant=pytest.fail)


def test_a_table_without_rows_has_its_head(capsys: Captured) -> None:
    assert print_table("title", ["a", "b"], [], right=["a"], prose=["b"], spare=["b"]) == []
    assert capsys.readouterr().out.split()[:3] == ["title", "a", "b"]


def test_a_study_of_boundaries_without_a_curve_says_so(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    behave(fake, "equal", monkeypatch)
    Path("study.toml").write_text(STUDIES["boundary"])
    assert main(["run", "study.toml"]) == 0
    assert "No curve, from 9 points" in capsys.readouterr().err
    assert main(["show", "runs/study"]) == main(["show", "runs/study", "--json"]) == 0


@pytest.mark.parametrize("order", [(3, 1, 4, 2), (1, 2, 3, 4)])
def test_parts_without_a_shard_are_done_at_once_and_the_run_is_complete_with_the_last_shard(
    order: tuple[int, ...], fake: FakeKernels, capsys: Captured
) -> None:
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0, 2.0]\n")
    for part in order:
        assert main(["run", "study.toml", "--shard", f"{part}/4"]) == 0
        assert ("none of which is in this part" in capsys.readouterr().err) == (fake.calls == [])
    assert (Path("runs/study/_SUCCESS").exists(), fake.calls) == (True, [2])


def test_workers_that_do_not_end_in_time_lose_no_run(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are written when the cluster is closed: what fails there must not keep the run from its mark."""

    @contextmanager
    def slow_to_close(*_: object) -> Iterator[WorkerPool]:
        with ExitStack() as stack, ThreadPoolExecutor(1) as executor:
            stack.callback(dask_pool.quietly, late)
            yield WorkerPool(executor, 1, here=True)

    def late() -> None:
        raise TimeoutError("timed out after 5 s")

    monkeypatch.setattr(dask_pool, "dask", slow_to_close)
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0, 2.0]\n")
    assert main(["run", "study.toml", "--executor", "dask"]) == 0
    assert (Path("runs/study/_SUCCESS").exists(), fake.calls) == (True, [2])


def test_everything_that_ends_with_workers_of_dask_ends_quietly() -> None:
    for node in ast.walk(ast.parse(inspect.getsource(dask_pool))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "stack.callback":
            assert ast.unparse(node.args[0]) == "quietly", ast.unparse(node)


OF_A_POINT = {"trace", "events", "spectrum"}  # they compute a point of a study anew, whatever became of its row
WITHOUT_RESULTS = {"init", "list", "schema", "verify", "doctor", "modes"}
OWN_RESULTS = {"branches", "optimise", "calibrate"}  # of no run: below; data of a calibration in `tests/sweep/analysis/calibration`


def test_every_command_that_reads_results_is_walked_here() -> None:
    walked = {words.split()[0] for words in READERS} | OWN_RESULTS
    assert walked | OF_A_POINT | WITHOUT_RESULTS == app.COMMANDS.keys()


def said_well(words: list[str], capsys: Captured) -> int:
    """Carry out a command; it says something, is no defect, and its JSON is JSON. Its status."""
    capsys.readouterr()
    status = main(words)
    told = capsys.readouterr()
    assert status in (0, BAD_CONFIG, FAILED_ROWS), f"{words}: {told.err}"
    assert "Traceback" not in told.err
    assert told.out or told.err, f"{words} is silent"
    if status == 0 and "--json" in words:
        json.loads(told.out, parse_constant=pytest.fail)
    return status


MOTIONS: dict[str, tuple[tuple[float, ...], float]] = {  # values of the parameter of a branch, and the size of all other numbers
    "none": ((), 1.0), "one": ((1.0,), 1.0), "failed": ((0.6, 0.9, 1.2), np.nan), "equal": ((1.0,) * 4, 1.0), "zero": ((0.6, 0.9), 0.0),
}  # fmt: skip


@pytest.mark.parametrize("end", [end if end == "none" else pytest.param(end, marks=pytest.mark.slow) for end in MOTIONS])
def test_few_branches_are_a_result_or_a_sentence(end: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path) -> None:
    scenarios.install(monkeypatch)
    values, size = MOTIONS[end]
    monkeypatch.setattr(following, "block_tables", lambda study, number: scenarios.fake_blocks(study, number, values, size))
    words = scenarios.put_ready("branches", tmp_path)
    out = words[-1]
    assert said_well(words, capsys) == said_well([*words, "--json"], capsys) == 0  # the second time from the files
    drawn = (["--picture", "b.png"], ["--picture", "b.svg", "--observable", "peak_force"])
    for each in (*([*words, *more] for more in drawn), ["report", out], ["report", out, "--log"]):
        assert said_well(each, capsys) == (BAD_CONFIG if end == "none" else 0)
    for reader in READERS:
        assert said_well(reader.format(out).split(), capsys) in ((0, BAD_CONFIG) if reader.startswith(("report", "run")) else (BAD_CONFIG,))
    if values:  # a block that somebody else has cut
        block = Path(out, "points", "block-00000.parquet")
        whole = block.read_bytes()
        block.write_bytes(sealed_parquet.to_bytes(sealed_parquet.read(block).slice(1)))
        assert main(["report", out]) == BAD_CONFIG
        assert "its rows are not those of the blocks beside it: tribosweep branches writes it again" in capsys.readouterr().err
        block.write_bytes(whole)
    found = branches(Path(words[1]), out, progress=False)
    tables = (found.to_pandas(), found.points(), found.curves(), found.backbone())
    assert [len(table) for table in tables[:3]] == [2 * bool(values), 2 * len(values), 2 * len(values)]
    assert (repr(found), bool(found._repr_html_())) == (f"<Branched: {len(tables[0])} branches along omega>", True)


CONSTANT, NOTHING = (lambda x: 1.0 + 0.0 * x.sum()), (lambda x: jax.numpy.nan * x.sum())
GOALS: dict[str, tuple[Any, Any, dict[str, Any]]] = {  # objective and constraint, and what the study asks for otherwise
    "usual": (lambda x: ((x - 0.5) ** 2).sum(), lambda x: x.sum(), {}),
    "one": (lambda x: ((x - 0.5) ** 2).sum(), lambda x: x.sum(), {"starts": 1, "variables": {"mu": {"from": 0.02, "to": 1.0}}}),
    "violated": (lambda x: x.sum(), lambda x: 99.0 + 0.0 * x.sum(), {}),
    "failed": (NOTHING, NOTHING, {}),
    "limits failed": (CONSTANT, NOTHING, {}),
    "equal": (CONSTANT, CONSTANT, {}),
    "zero": (lambda x: 0.0 * x.sum(), lambda x: 0.0 * x.sum(), {}),
    "evolution": (CONSTANT, CONSTANT, {"method": "differential_evolution"}),
}


@pytest.mark.slow
@pytest.mark.long_cases("*-2", "usual-*", "violated-*", "limits failed-*", "zero-*")
@pytest.mark.parametrize("objectives", [1, 2])
@pytest.mark.parametrize("end", GOALS)
def test_an_optimisation_of_little_is_a_result_or_a_sentence(
    end: str, objectives: int, monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path
) -> None:
    goal, limit, asked = GOALS[end]
    names = ["wear_power", "slip_distance"][:objectives]
    raw = {**scenarios.CHOICE, "optimise": {**scenarios.CHOICE["optimise"], "minimise": names, **asked}}
    study = scenarios.write(tmp_path / "choice.toml", raw)
    monkeypatch.setattr(searches, "Evaluator", lambda optimisation, *_: Analytic(optimisation, [goal] * objectives + [limit]))
    words, out = ["optimise", study, "--out", str(tmp_path / "best")], str(tmp_path / "best")
    for more in ([], ["--json"], ["--picture", "p.png"], ["--landscape", "l.png"]):
        status = said_well([*words, *more], capsys)
        if end in ("failed", "limits failed") or (end, objectives) == ("evolution", 2):
            assert status == BAD_CONFIG
        elif not more:
            assert status == (FAILED_ROWS if end == "violated" else 0)
    for reader in READERS:
        if reader != "run study.toml":
            assert said_well(reader.format(out).split(), capsys) == BAD_CONFIG
