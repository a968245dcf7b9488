"""Files of runs that somebody else made: the checksums are right, the content is not. Each is read, or refused with a sentence."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import string
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sweep import ConfigError, load, open_run
from sweep.analysis import run_state
from sweep.analysis.run_notes import notes_on
from sweep.execution.directory import RunDirectory, mark_of
from sweep.execution.integrity import check_run
from sweep.execution.recovery import RUN
from sweep.explore.columns import columns_of
from sweep.io import sealed_parquet
from sweep.io.toml import to_toml
from tests.security.written_run import write_run

REFUSED = (ConfigError, OSError)
STUDIES = {
    "grid": '[parameters]\nk_t = 1e4\n[time]\nend = 3.0\n[output]\nshard_points = 4\n[sweep.axes]\na0 = [15.0, 1.5, 3.0]\n'
    "mu = { from = 0.1, to = 0.3, count = 3 }\n",
    "walls": '[study]\nmodel = "two_walls"\n[parameters]\nk = 30.0\ngap = 0.04\nk_n = 500.0\nleft_gap = 0.06\nleft_k_n = 150.0\n'
    'left_f_crit = 25.0\nleft_f_post = 15.0\nleft_k_post = 100.0\n[time]\nend = 2.0\n[sweep]\ndesign = "sobol"\ncount = 8\n'
    "[sweep.axes]\na0 = { from = 1.0, to = 9.0 }\nomega = { distribution = \"normal\", mean = 6.0, std = 0.5 }\n",
    "table": '[parameters]\nk_t = 1e4\n[time]\nend = 1.0\n[sweep]\ndesign = "zip"\n[sweep.axes]\na0 = [3.0, 9.0]\nscheme = ["exact", "euler"]\n',
    "body": '[study]\nmodel = "body"\n[supports.ring]\nobstacle = "ring"\ngap = 1e-3\nk_n = 1e5\nmu = 0.2\nk_t = 1e4\n[parameters]\nm = 1.0\n'
    "[loads.shake]\namplitude = 3.0\nomega = 5.0\n[time]\nend = 1.0\nstep = 1e-3\n[sweep.axes]\n\"amplitude[shake]\" = [1.0, 2.0, 3.0]\n",
}  # fmt: skip
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 1.5, -0.0, 1e308, float("nan"), float("inf"), "", "x", "\x1b[2J", "\u202e", "grid",
    "x" * 5000, [], {}, [1], [[]], {"": None}, {"x": {"y": []}}, [None], "ok", "boundary", "convergence", "subset_simulation", "1/2",
    {"ok": -1}, {"ok": 1.5}, {"ok": True}, {f"word {number}": 1 for number in range(3000)},
]  # fmt: skip
TEXTS = [
    "",
    "x",
    "[study]",
    "study = 5",
    "[study]\nname = 1",
    '[study]\nmodel = "x"',
    "[[sweep]]\n",
    "\x00",
    "a = [",
    "sweep = 3",
    "[sweep]\naxes = 1",
]
KINDS = [pa.date32(), pa.timestamp("us"), pa.string(), pa.bool_(), pa.list_(pa.string()), pa.decimal128(9, 2), pa.binary(), pa.int8(),
         pa.float16(), pa.null(), pa.time64("ns"), pa.dictionary(pa.int32(), pa.int64()), pa.struct([("a", pa.int64())]),
         pa.list_(pa.list_(pa.float64())), pa.large_string(), pa.uint64()]  # fmt: skip


def make_bases(folder: Path) -> dict[str, Path]:
    """A sound run of each study."""
    found = {}
    for name, text in STUDIES.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.toml").write_text(text)
        found[name] = write_run(folder / name, load(folder / f"{name}.toml")).path
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in nested tables."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value[:20]) if isinstance(value, list) else ()
    return found + [each for key, part in items for each in places(part, (*path, key))]


def changed(rng: random.Random, tables: Any, odd: list[Any] = ODD) -> tuple[Any, str]:
    """Nested tables of which one or two values are others, gone or new, and what was changed."""
    found, said = copy.deepcopy(tables), []
    for _ in range(rng.choice([1, 1, 2])):
        known = places(found)
        if not known:
            return rng.choice(odd), "all"
        *way, last = rng.choice(known)
        parent = found
        for key in way:
            parent = parent[key]
        action = rng.choice(["odd", "odd", "odd", "gone", "new", "number"])
        if action == "gone":
            del parent[last]
        elif action == "new" and isinstance(parent, dict):
            parent[rng.choice([*known[0], "".join(rng.choices(string.ascii_letters, k=6))])] = copy.deepcopy(rng.choice(odd))
        elif action == "number" and isinstance(parent[last], int | float) and not isinstance(parent[last], bool):
            parent[last] = rng.choice([-parent[last], parent[last] + 1, parent[last] * 1000, parent[last] * 10**12])
        else:
            parent[last] = copy.deepcopy(rng.choice(odd))
        said.append(f"{action} {way + [last]}")
    return found, ", ".join(said)


def changed_config(rng: random.Random, text: str) -> str:
    """Another text in place of a resolved study."""
    if rng.random() < 0.2:
        return rng.choice(TEXTS)
    for _ in range(20):
        tables, _ = changed(rng, tomllib.loads(text))
        try:
            return to_toml(tables) if isinstance(tables, dict) else "x = 1"
        except Exception:  # TOML has no such value
            continue
    return ""


def sealed(table: pa.Table, metadata: dict[bytes, bytes]) -> bytes:
    """A Parquet file with checksums that are right, and metadata in its footer and in its schema."""
    own = {key: value for key, value in metadata.items() if key not in (b"tribosweep_shard", sealed_parquet.KEY, b"ARROW:schema")}
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema.with_metadata(own), write_page_checksum=True, compression="lz4") as writer:
        writer.write_table(table.replace_schema_metadata(own))
        shard = {key: value for key, value in metadata.items() if key == b"tribosweep_shard"}
        writer.add_key_value_metadata({**shard, **sealed_parquet.PLACE})
    return sealed_parquet.seal(sink.getvalue())


def change_manifest(rng: random.Random, directory: RunDirectory) -> str:
    """Change the manifest, and write its checksum; often the mark too, so that the run counts as complete."""
    manifest = {key: value for key, value in json.loads(directory.manifest.read_bytes()).items() if key != "checksum"}
    if rng.random() < 0.4:
        manifest["config"], said = changed_config(rng, manifest["config"]), "config"
    else:
        manifest, said = changed(rng, manifest)
        if not isinstance(manifest, dict):
            directory.manifest.write_text(json.dumps(manifest))
            return said
    directory.write_manifest(manifest)
    if rng.random() < 0.7:
        directory.success.write_text(json.dumps(mark_of(manifest)))
    if rng.random() < 0.5 and isinstance(manifest.get("config"), str):
        directory.config.write_text(manifest["config"], errors="replace")
    return f"manifest: {said}"


def change_mark(rng: random.Random, directory: RunDirectory) -> str:
    """Change the mark of a complete run."""
    found, said = changed(rng, json.loads(directory.success.read_bytes()))
    directory.success.write_text(rng.choice([json.dumps(found), "", "[" * 100_000, "9" * 5000]))
    return f"mark: {said}"


def change_footer(rng: random.Random, directory: RunDirectory) -> str:
    """Change what the footer of a shard says: its facts, what it says of its run, or the metadata of its schema."""
    shard = directory.shard(0)
    metadata = dict(pq.read_metadata(shard).metadata)
    table = pq.read_table(shard)
    key = rng.choice([b"tribosweep_shard", b"tribosweep_shard", RUN])
    if rng.random() < 0.1:
        metadata[key], said = rng.choice([b"", b"\xff", b"[" * 100_000, b"9" * 5000, b"nul", b"5"]), "text"
    else:
        found, said = changed(rng, json.loads(metadata[key]))
        if key == RUN and isinstance(found, dict) and isinstance(found.get("config"), str) and rng.random() < 0.5:
            found["config"] = changed_config(rng, json.loads(metadata[key])["config"])
        metadata[key] = json.dumps(found).encode()
    shard.write_bytes(sealed(table, metadata))
    if key == RUN:
        directory.manifest.unlink()
    return f"footer {key.decode()}: {said}"


def change_columns(rng: random.Random, directory: RunDirectory) -> str:
    """Change the columns of a shard: their types, names, metadata and number."""
    shard = directory.shard(0)
    metadata, table = dict(pq.read_metadata(shard).metadata), pq.read_table(shard)
    place = rng.randrange(table.num_columns)
    field, action = table.schema.field(place), rng.choice(["type", "type", "name", "gone", "metadata", "rows", "twice", "empty", "values"])
    if action == "type":
        kind = rng.choice(KINDS)
        table = table.set_column(place, field.with_type(kind).with_nullable(True), pa.nulls(table.num_rows, kind))
    elif action == "name":
        table = table.rename_columns(
            [*table.column_names[:place], rng.choice(["", "x", "a\x00b", "\x1b[2J", "point"]), *table.column_names[place + 1 :]]
        )
    elif action == "gone":
        table = table.remove_column(place)
    elif action == "metadata":
        told = rng.choice([{}, {b"unit": b"\xff"}, {b"unit": b"m"}, {b"description": b"\xff"}, {**(field.metadata or {}), b"entries": b"x"},
                           {**(field.metadata or {}), b"entries": b"x", b"entries_values": b"{}"},
                           {**(field.metadata or {}), b"\xff": b"x"}])  # fmt: skip
        table = table.set_column(place, field.with_metadata(told), table.column(place))
    elif action == "rows":
        table = table.slice(0, rng.choice([0, 1, table.num_rows - 1]))
    elif action == "twice":
        table = table.append_column(field, table.column(place))
    elif action == "values" and pa.types.is_floating(field.type):
        odd = rng.choice([np.nan, np.inf, -1e308, 0.0])
        table = table.set_column(place, field, pa.array(np.full(table.num_rows, odd)))
    elif action == "values" and pa.types.is_integer(field.type):
        table = table.set_column(place, field, pa.array(np.full(table.num_rows, rng.choice([-1, 0, 2**62]))))
    elif action == "empty":
        table = table.set_column(place, field.with_nullable(True), pa.nulls(table.num_rows, field.type))
    shard.write_bytes(sealed(table, metadata))
    return f"columns: {action} {field.name}"


CHANGES: list[Callable[[random.Random, RunDirectory], str]] = [change_manifest, change_manifest, change_footer, change_columns, change_mark]


def mutant(seed: int, bases: dict[str, Path], folder: Path) -> tuple[str, Path]:
    """Make the run number `seed`: a sound one with one wrong file, in a folder that is replaced. Returns what was changed, and the run."""
    rng = random.Random(seed)
    base = rng.choice([*bases])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bases[base], folder)
    change = rng.choice(CHANGES)
    try:
        return f"{base} {change(rng, RunDirectory(folder))}", folder
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:  # Arrow or JSON does not write that
        return f"{base} none: {error}", folder


def read_state(path: Path) -> None:
    """As `tribosweep show` and `show --json`."""
    state = run_state.state_of(path)
    run_state.facts_of(state)
    json.dumps(state, default=str)
    run_state.study_table(path) if state["design"] == "convergence" else None


def read_rows(path: Path) -> None:
    """As `tribosweep show`, its table of rows, and `show --failed`."""
    model = run_state.model_of(path)
    rows = run_state.first_rows(path, 6)
    run_state.swept_in(path, model, rows.column_names)
    run_state.records(rows)
    run_state.failed_rows(path, None)
    notes_on(path)


def read_columns(path: Path) -> None:
    """As `tribosweep explore`."""
    from sweep.execution.dataset import Dataset

    footers = [metadata for _, metadata in Dataset(path).footers(whole=True)]
    if footers:
        document = RunDirectory(path).read_document()
        for column in columns_of(footers[0].schema.to_arrow_schema(), footers, run_state.model_of(path), document).values():
            column.to_json()


def read_map(path: Path) -> None:
    """As `tribosweep map`."""
    from sweep.analysis.regime_map import read_map as of_run

    of_run(path)


def read_run(path: Path) -> None:
    """As `tribosweep.open_run` and its frames."""
    run = open_run(path)
    run.to_pandas()
    repr(run)


def check(path: Path) -> None:
    """As `tribosweep check`."""
    check_run(path)


READERS: dict[str, Callable[[Path], None]] = {
    "state": read_state, "rows": read_rows, "columns": read_columns, "map": read_map, "run": read_run, "check": check
}  # fmt: skip
