"""Relations of studies, commands and entries: what they refuse, write and print is what a batch and calls return."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.sweep.io.test_units import SPELLINGS
from tests.walk.relations import CLOSE, RELATIONS, differ, relation, say
from tests.walk.settings import Row, Setting, codes, columns_of, run, with_results
from tribosweep import kernels
from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import RESULTS, SENTENCES
from tribosweep.kernels.structure_samples import samples


def what_is_refused_is_refused_by_every_entry(setting: Setting, many: list[Row]) -> None:
    """A row that a batch refuses is refused by every call, by numbers that JAX traces, and by a study, with one sentence."""
    from tribosweep import sweep
    from tribosweep.sweep.io.errors import ConfigError

    for row, code in zip(many, codes(setting, many), strict=True):
        try:
            gate = refused(setting.model, row, setting.scheme)
        except ValueError as error:
            gate, sentence = code, str(error)
        else:
            sentence = SENTENCES[int(code)] if code else ""
        assert (gate is not None and int(gate) == code) or (gate is None and code == 0), (setting, row, gate, int(code))
        document = {
            "study": {"model": setting.name, "scheme": setting.scheme},
            "parameters": parameters_of(setting, row),
            "time": {n: v for n, v in row.items() if n in ("end", "step")} | window_of(row),
        }
        try:
            sweep.load(document)
        except ConfigError as error:
            said = str(error)
        else:
            said = ""
        assert bool(said) == bool(code), (setting, row, said, int(code))
        if not code:
            continue
        assert sentence.split(";")[0] in said or "out of bounds" in said, (setting, row, sentence, said)
        entries: list[Any] = [kernels.simulate if setting.scheme == EXACT else lambda m, p: kernels.simulate(m, p, setting.scheme)]
        if setting.scheme == EXACT:
            entries += [kernels.moment, kernels.trace, kernels.event_log, kernels.impacts]
        else:
            entries.append(lambda m, p: samples(setting.model, p, [0.5], setting.scheme))
        for entry in entries:
            try:
                entry(setting.name, row)
            except ValueError as error:
                assert sentence.split(";")[0] in str(error) or "out of bounds" in str(error), (setting, row, sentence, str(error))
            else:
                raise AssertionError((setting, row, f"not refused, but a batch says: {sentence}"))


OF_TIME = ("end", "step", "window_start", "window_end")


RELATIONS[what_is_refused_is_refused_by_every_entry.__name__] = what_is_refused_is_refused_by_every_entry  # of all rows


def window_of(row: Row) -> dict[str, Any]:
    """The window of a row as a study states it."""
    if not {"window_start", "window_end"} & row.keys():
        return {}
    return {"window": [row.get("window_start", 0.0), row.get("window_end", row["end"])]}


def worded(setting: Setting, name: str, value: float) -> Any:
    """A parameter as a study states it: words and whole numbers as such."""
    q = setting.model.parameter(name)
    return q.words[int(value)] if q.kind == "word" else int(value) if q.kind == "integer" else value


def parameters_of(setting: Setting, row: Row) -> dict[str, Any]:
    """The parameters of a row as a study states them, without its times."""
    return {n: list(v) if isinstance(v, tuple) else worded(setting, n, v) for n, v in row.items() if n not in OF_TIME}


@relation
def a_study_has_the_rows_of_a_batch(setting: Setting, many: list[Row]) -> None:
    """A run of a study in two shares, or begun and resumed, of its resolved study, and of numbers in other units has a batch's rows."""
    from tribosweep import sweep

    found, (given, absent) = run(setting, many), columns_of(setting, many)
    names = [name for name in given if name not in OF_TIME]
    cells = {
        name: [None if left_out else worded(setting, name, value) if isinstance(value, float) else value
               for value, left_out in zip(given[name].tolist(), absent[name], strict=True)]
        for name in names
    }  # fmt: skip
    windows = {(row.get("window_start", 0.0), row.get("window_end", row["end"]), row["end"]) for row in many}
    if len(windows) > 1 or not any(any(cell is not None for cell in column) for column in cells.values()):
        return
    ((start, stop, end),) = windows
    cells = {name: column for name, column in cells.items() if any(cell is not None for cell in column)}
    stated = {}
    for number, (name, column) in enumerate(cells.items()):
        q = setting.model.parameter(name)
        known = [each for each in SPELLINGS.get(q.unit, ()) if WRITTEN.fullmatch(each)] if q.kind == "float" else []
        if known:
            other = known[(number + len(many)) % len(known)]
            stated[f"{name} [{other}]"] = [None if cell is None else cell / SPELLINGS[q.unit][other] for cell in column]
        else:
            stated[name] = column
    times = {"end": end, "window": (start, stop)} | ({"step": many[0]["step"]} if "step" in many[0] else {})
    with tempfile.TemporaryDirectory() as folder:
        for number, points in enumerate((cells, stated)):
            out = Path(folder) / str(number)
            study = sweep.Study(setting.name, scheme=setting.scheme, points=points, sections=IN_SHARDS, **times)
            begun = sweep.run(study, out, share=sweep.Share(1, 2), progress=False)
            assert begun.complete == (len(many) <= ROWS_OF_A_SHARD), (setting, len(many))
            if (number + len(many)) % 2:
                done = sweep.resume(out, progress=False)
            else:
                done = sweep.run(study, out, share=sweep.Share(2, 2), progress=False)
            compare_rows(setting, many, found, done.to_pandas(), 0.0 if number == 0 else CLOSE)
        again = sweep.run(out / "config.toml", Path(folder) / "again", progress=False)
        compare_rows(setting, many, found, again.to_pandas(), CLOSE)


ROWS_OF_A_SHARD = 2
IN_SHARDS = {"output": {"shard_points": ROWS_OF_A_SHARD}}


@relation
def commands_print_what_calls_return(setting: Setting, many: list[Row]) -> None:
    """What `--json` prints of events and of a trace is what is written to a file, and what a call from Python returns, digit by digit."""
    import pyarrow.parquet as pq

    from tribosweep import sweep

    row = many[0]
    if setting.scheme != EXACT or not with_results(run(setting, [row]))[0]:
        return
    study = {"study": {"model": setting.name}, "parameters": parameters_of(setting, row), "time": {"end": row["end"]} | window_of(row)}
    with tempfile.TemporaryDirectory() as folder:
        out, file = Path(folder) / "out", Path(folder) / "table.parquet"
        sweep.run(study, out, progress=False)
        logs: dict[str, Any] = {}
        for words in (("events",), ("trace",)):
            told = printed(*words, str(out), "--json")
            printed(*words, str(out), "--out", str(file))
            table = pq.read_table(file).to_pydict()
            columns = (
                {n: v for n, v in told.items() if isinstance(v, list)}
                if isinstance(told, dict)
                else {n: [line[n] for line in told] for n in told[0]}
            )
            both = columns.keys() & table.keys()
            assert {"time", "x", "v"} <= both, (setting, row, words, both)
            for name in both:
                written = [None if value != value else value for value in table[name]]
                assert columns[name] == written, (setting, row, words, name)
            logs[words[0]] = told
        log, told = kernels.event_log(setting.name, row), logs["events"]
        for name in ("time", "x", "v"):
            assert [line[name] for line in told] == log[name].tolist(), (setting, row, name)


@relation
def tables_of_a_run_are_printed_in_full(setting: Setting, many: list[Row]) -> None:
    """What `show --json` says of a run, of its failed rows and over a parameter, and what is exported, is what calls return."""
    import pandas as pd
    import pyarrow.parquet as pq

    from tribosweep import sweep

    columns, absent = columns_of(setting, many)
    axes = {n: [None if gone else worded(setting, n, v) if isinstance(v, float) else v
                for v, gone in zip(columns[n].tolist(), absent[n], strict=True)] for n in columns if n not in OF_TIME}  # fmt: skip
    axes = {name: cells for name, cells in axes.items() if any(cell is not None for cell in cells)}
    times = {"end": many[0]["end"]} | ({"step": many[0]["step"]} if "step" in many[0] else {})
    over = next((name for name, cells in axes.items() if len(set(map(repr, cells))) > 1), None)
    with tempfile.TemporaryDirectory() as folder:
        out, table, text = Path(folder) / "out", Path(folder) / "table.parquet", Path(folder) / "table.csv"
        done = sweep.run(sweep.Study(setting.name, scheme=setting.scheme, points=axes, sections=IN_SHARDS, **times), out, progress=False)
        frame, told = done.to_pandas(), printed("show", str(out), "--json")
        assert told["statuses"] == frame["status"].astype(str).value_counts().to_dict(), (setting, many)
        failed = printed("show", str(out), "--failed", "--json")
        assert [row["point"] for row in failed] == frame["point"][~frame["status"].isin(GOOD)].tolist(), (setting, many)
        printed("export", str(out), "--out", str(table))
        printed("export", str(out), "--out", str(text))
        assert equal(pq.read_table(table), done.to_arrow()), (setting, many)
        written = pd.read_csv(text, skiprows=0)
        for name in ("x_end", "v_end"):
            column = next(each for each in written if each.partition(" ")[0] == name)
            np.testing.assert_array_equal(written[column].to_numpy(float), frame[name].to_numpy(float), err_msg=str((setting, many)))
        if over is None:
            return
        asked = ["show", str(out), "--over", over, "--observable", "x_end", "--quantile", "0.3", "--chance", "x_end > 0.01"]
        printed(*asked, "--out", str(table))
        called = done.over(over, ["x_end"], chances=["x_end > 0.01"], quantiles=[0.3]).to_pylist()
        for row, cells, own in zip(printed(*asked, "--json"), pq.read_table(table).to_pylist(), called, strict=True):
            assert row == null(cells) == null(own), (setting, many, row, cells, own)


def equal(one: Any, other: Any) -> bool:
    """Whether tables have the same rows, digit by digit, whatever the types of their columns."""
    return repr(one.to_pylist()) == repr(other.to_pylist())


GOOD = [SENTENCES[int(each)] for each in RESULTS]


def null(cells: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table as JSON has it."""
    return {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in cells.items()}


@relation
def analyses_print_what_calls_return(setting: Setting, many: list[Row]) -> None:
    """What `sensitivity --json` and `fragility --json` print of a sample around a row is what they write and what calls return."""
    import pyarrow.parquet as pq

    from tribosweep import sweep

    row = many[0]
    known = [n for n in ("a0", "v0", "m", "k") if row.get(n)][:2]
    if setting.scheme != EXACT or len(known) < 2:
        return
    fixed = parameters_of(setting, {n: v for n, v in row.items() if n not in known})
    axes = {n: {"from": min(0.9 * row[n], 1.1 * row[n]), "to": max(0.9 * row[n], 1.1 * row[n])} for n in known}
    study = {"study": {"model": setting.name}, "parameters": fixed, "time": {"end": row["end"]} | window_of(row),
             "sweep": {"design": "sobol", "count": 64, "axes": axes}}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        done = sweep.run(study, Path(folder) / "out", progress=False)
        middle = float(np.nanmedian(done.to_pandas()["x_end"]))
        if done.failed or not math.isfinite(middle):
            return
        event = f"x_end > {middle!r}"
        of = {"sensitivity": (["--observable", "x_end"], lambda: done.sensitivity(["x_end"])),
              "fragility": (["--event", event, "--intensity", known[0]], lambda: done.fragility(event, known[0]))}  # fmt: skip
        for name, (words, call) in of.items():
            try:
                called = call()
            except sweep.ConfigError as error:
                assert of_command(name, str(done.directory), *words)[0] == 2, (setting, row, str(error))
                continue
            told = json.loads(of_command(name, str(done.directory), *words, "--json")[1])
            files = sorted((Path(done.directory) / name).glob("*.parquet"))
            assert files, (setting, row, name)
            for file in files:
                written = [given_of(cells) for cells in pq.read_table(file).to_pylist()]
                tables = [called.to_pandas(file.stem).to_dict("records"), told[file.stem]]
                for rows in tables:
                    assert written == [given_of(cells) for cells in rows], (setting, row, name, file.stem)


def given_of(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a row of a table that have a value."""
    return {name: cell for name, cell in null(cells).items() if cell is not None}


def of_command(*words: str) -> tuple[int, str]:
    """The status of a command, and what it prints on stdout."""
    from tribosweep.sweep.cli import main

    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
        return main([*words]), text.getvalue()


def printed(*words: str) -> Any:
    """What a command prints on stdout, read as JSON if it is asked for."""
    status, text = of_command(*words)
    assert status == 0, words
    return json.loads(text) if "--json" in words else None


WRITTEN = re.compile(r"%|[A-Za-z]+(/[A-Za-z]+(\^2)?)?")


def compare_rows(setting: Setting, many: list[Row], found: dict[str, np.ndarray], frame: Any, within: float) -> None:
    """Fail where a table of a run differs from the observables of its rows."""
    words = {q.name: q.words for q in setting.model.observables if q.kind == "word"}
    told = {}
    for name in [name for name in found if name in frame and np.ndim(found[name]) == 1]:
        values = frame[name]
        codes_of = (*SENTENCES,) if name == "status" else words.get(name)
        told[name] = np.array([codes_of.index(word) if word in codes_of else -1 for word in values]) if codes_of else values.to_numpy(float)
    counts = {q.name for q in setting.model.observables if q.kind == "integer" and q.optional}
    say(setting, many, differ(setting.model, found, told, within, without=counts))
