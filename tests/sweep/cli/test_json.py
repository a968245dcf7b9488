"""What `--json` prints are the numbers of the tables, with all their digits, whatever their size."""

from __future__ import annotations

import ast
import csv
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels import time_history
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.signals import read, result
from tribosweep.sweep.analyses.spectra import read as read_records
from tribosweep.sweep.analyses.spectra.result import Spectra
from tribosweep.sweep.analyses.trace import motion
from tribosweep.sweep.analyses.trace.result import TimeTrace
from tribosweep.sweep.cli import app, main
from tribosweep.sweep.cli.terminal import print_json
from tribosweep.sweep.excitation.response_spectrum import ResponseSpectrum

Captured = pytest.CaptureFixture[str]
SIZES = np.pi * 10.0 ** np.arange(-300, 300, 25)


def frame_of(*columns: str) -> dict[str, np.ndarray]:
    """A column of every size for each name; the last one has no value in its last row."""
    found = {name: SIZES / (1.0 + place) for place, name in enumerate(columns)}
    found[columns[-1]] = np.where(np.arange(len(SIZES)) < len(SIZES) - 1, found[columns[-1]], np.nan)
    return found


def some_signals(*_: Any) -> result.Signals:
    """Signals of every size."""
    curve = result.SignalCurve("", 3, np.stack([SIZES, SIZES / 3.0, SIZES / 7.0]))
    return result.Signals("study", (result.Signal("psd_x", "m^2/Hz", "", "frequency", "Hz", SIZES / 11.0, (curve,)),), (), {})


def some_spectra(*_: Any) -> Spectra:
    """Spectra of every size."""
    of = ResponseSpectrum(np.linspace(0.3, 9.0, len(SIZES)), 0.05, *(SIZES[np.newaxis] / part for part in (3.0, 7.0, 11.0)))
    return Spectra("study", ("record",), of, {"pga": SIZES[:1]}, random=False)


def some_trace(*_: Any) -> TimeTrace:
    """A trace of every size."""
    quantities = tuple(Quantity(name, "", "") for name in ("time", "x", "v"))
    return TimeTrace("study", 0, "exact", frame_of("time", "x", "v"), quantities, (), np.nan)


def rows_of(printed: Any, command: str) -> list[dict[str, Any]]:
    """The rows of a command's JSON as its table has them."""
    if command == "trace":
        columns = {name: cells for name, cells in printed.items() if name not in ("point", "scheme", "notes")}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if command == "spectrum":
        record = printed["records"][0]
        return [
            {"frequency": at, **{name: record[name][row] for name in ("Sd", "Sv", "Sa")}} for row, at in enumerate(printed["frequency"])
        ]
    return printed  # type: ignore[no-any-return]


@pytest.mark.parametrize("command", ["events", "trace", "signals", "spectrum"])
def test_json_has_every_digit_of_the_table(command: str, fake: FakeKernels, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    events = {quantity.name: SIZES / 3.0 for quantity in time_history.EVENT_COLUMNS} | {"event": np.array(["end"] * len(SIZES), object)}
    monkeypatch.setattr(time_history, "event_log", lambda *_, **__: events)
    for module, name, stand_in in (
        (motion, "trace_of", some_trace),
        (read, "read_signals", some_signals),
        (read_records, "read_spectra", some_spectra),
    ):
        monkeypatch.setattr(module, name, stand_in)
    Path("study.toml").write_text("[sweep.axes]\na0 = [1.0]\n")
    assert main(["run", "study.toml"]) == 0
    assert fake.calls == [1]
    asked = [command, "runs/study"]
    assert main([*asked, "--out", "table.parquet"]) == main([*asked, "--out", "table.csv"]) == 0
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    rows = rows_of(json.loads(capsys.readouterr().out, parse_constant=pytest.fail), command)
    exact, text = pq.read_table("table.parquet").to_pylist(), list(csv.DictReader(Path("table.csv").read_text().splitlines()))
    assert len(rows) == len(exact) == len(text) == len(SIZES)
    for row, cells, texts in zip(rows, exact, text, strict=True):
        for name, cell in row.items():
            assert cell == (None if cells[name] != cells[name] else cells[name])
            assert not isinstance(cell, float) or cell == float(texts[name])


@pytest.fixture
def sizes(fake: FakeKernels) -> Path:
    """A run with observables of every size, each twice; a second run whose rows fail."""
    axis = ", ".join(repr(float(size)) for size in SIZES)
    Path("sizes.toml").write_text(
        f'[parameters]\nmu = 0.0\n[output]\ncolumns = ["wear_power"]\n[sweep.axes]\na0 = [{axis}]\nk = [1.0, 2.0]\n'
    )
    assert main(["run", "sizes.toml"]) == 0
    assert sum(fake.calls) == 2 * len(SIZES)
    return Path("runs/sizes")


def test_json_of_statistics_has_every_digit_of_their_table(sizes: Path, capsys: Captured) -> None:
    asked = ["show", str(sizes), "--over", "k", "--observable", "wear_power", "--quantile", "0.5", "--chance", "wear_power > 1"]
    assert main([*asked, "--out", "table.parquet"]) == 0
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    table = pq.read_table("table.parquet").to_pylist()
    assert set(SIZES.tolist()) <= {row["mean"] for row in rows}
    for row, cells in zip(rows, table, strict=True):
        assert {name: None if cell != cell or cell in (np.inf, -np.inf) else cell for name, cell in cells.items()} == row


def test_json_has_numbers_of_every_kind_exactly_and_null_for_what_is_none(capsys: Captured) -> None:
    found = {
        "frame": pd.DataFrame({"a": SIZES, "n": np.arange(len(SIZES)), "word": ["ä"] * len(SIZES)}),
        "array": SIZES,
        "scalar": SIZES[1],
        "list": [{"whole": np.int64(7), "narrow": np.float32(0.1), "truth": np.bool_(True)}, (1, SIZES[2])],
        "none": [np.nan, np.inf, -np.inf, np.float32("nan"), None],
        "text": Path("x"),
    }
    print_json(found)
    read = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [row["a"] for row in read["frame"]] == read["array"] == SIZES.tolist()
    assert [row["n"] for row in read["frame"]] == list(range(len(SIZES)))
    assert (read["scalar"], read["list"][1][1]) == (SIZES[1], SIZES[2])
    assert read["list"][0] == {"whole": 7, "narrow": float(np.float32(0.1)), "truth": True}
    assert (read["none"], read["text"]) == ([None] * 5, "x")


def test_every_json_is_printed_by_the_one_function_that_keeps_digits() -> None:
    commands = {name: each for name, each in app.COMMANDS.items() if "as_json" in inspect.signature(each).parameters}
    assert {
        "show",
        "signals",
        "events",
        "trace",
        "spectrum",
        "calibrate",
        "optimise",
        "basins",
        "branches",
        "rare",
        "correlation",
        "fragility",
    } <= commands.keys()
    folder = Path(inspect.getfile(app)).parent
    for file in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            called = ast.unparse(node.func)
            if called == "json.dumps":
                assert file.name in ("terminal.py", "study_schema.py"), f"{file.name}:{node.lineno}"
            assert not called.endswith(".to_json") or called == "curves.to_json", f"{file.name}:{node.lineno} has ten decimals"
