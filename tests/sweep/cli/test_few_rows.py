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

import numpy as np
import pytest

from kernels.models.status import Status
from sweep.cli import main
from sweep.cli.shared import BAD_CONFIG, FAILED_CHECK, FAILED_ROWS, INTERRUPTED
from sweep.cli.terminal import print_table
from sweep.execution import dask_pool
from sweep.execution.executors import WorkerPool
from tests.sweep.conftest import FakeKernels

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
    "signals {}", "signals {} --json", "signals {} --out signals.png", "sensitivity {}", "sensitivity {} --json",
    "sensitivity {} --exceeds wear_power=1 --chance wear_power>1 --out bars.png", "sensitivity {} --picture sizes --out sizes.png",
    "fragility {} --event wear_power>1 --intensity a0", "fragility {} --event wear_power>1 --intensity a0 --json --out fragility.png",
    "fragility {} --event wear_power>1 --intensity a0 --method cloud", "fragility {} --event wear_power>1 --intensity a0 --by mu",
    "rare {}", "rare {} --json", "rare {} --out rare.png", "basins {}", "check {}", "check {} --json", "run study.toml", "resume {}",
)  # fmt: skip


def behave(fake: FakeKernels, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all rows fail, or have equal results."""
    from kernels.batch import solve as batch

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
