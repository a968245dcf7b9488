"""Files of runs that somebody else made: the checksums are right, the content is not. Each is read, or refused with a sentence."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
import shutil
import string
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.security.memory import at_most
from tests.security.written_run import write_run
from tests.sweep.cli.commands import Commands
from tests.sweep.mutants import TWO_WALLS
from tribosweep.sweep import ConfigError, load, open_run
from tribosweep.sweep.analysis import run_state
from tribosweep.sweep.analysis.calibration.posterior import draws
from tribosweep.sweep.analysis.run_notes import notes_on
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.directory import RunDirectory, identity, mark_of
from tribosweep.sweep.execution.integrity import check_run
from tribosweep.sweep.execution.recovery import RUN
from tribosweep.sweep.execution.stored import Identity, problems_in
from tribosweep.sweep.explore.columns import columns_of
from tribosweep.sweep.io import sealed_parquet, system
from tribosweep.sweep.io.toml import to_toml

REFUSED = (ConfigError, OSError)
STUDIES = {
    "grid": """
[parameters]
k_t = 1e4
[time]
end = 3.0
[output]
shard_points = 4
[sweep.axes]
a0 = [15.0, 1.5, 3.0]
mu = { from = 0.1, to = 0.3, count = 3 }
""",
    "walls": TWO_WALLS
    + """
[sweep]
design = "sobol"
count = 8
[sweep.axes]
a0 = { from = 1.0, to = 9.0 }
omega = { distribution = "normal", mean = 6.0, std = 0.5 }
""",
    "table": """
[parameters]
k_t = 1e4
[time]
end = 1.0
[sweep]
design = "zip"
[sweep.axes]
a0 = [3.0, 9.0]
scheme = ["exact", "euler"]
""",
    "body": """
[study]
model = "body"
[supports.ring]
obstacle = "ring"
gap = 1e-3
k_n = 1e5
mu = 0.2
k_t = 1e4
[loads.shake]
amplitude = 3.0
omega = 5.0
[parameters]
m = 1.0
[time]
end = 1.0
step = 1e-3
[sweep.axes]
"amplitude[shake]" = [1.0, 2.0, 3.0]
""",
}
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
        said.append(f"{action} {[*way, last]}")
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


def change_columns(rng: random.Random, directory: RunDirectory, file: Path | None = None) -> str:
    """Change the columns of a shard, or of another file: their types, names, metadata and number."""
    shard = file or directory.shard(0)
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
    from tribosweep.sweep.execution.dataset import Dataset

    footers = [metadata for _, metadata in Dataset(path).footers(whole=True)]
    if footers:
        document = RunDirectory(path).read_document()
        for column in columns_of(footers[0].schema.to_arrow_schema(), footers, run_state.model_of(path), document).values():
            column.to_json()


def read_map(path: Path) -> None:
    """As `tribosweep map`."""
    from tribosweep.sweep.analysis.regime_map import read_map as of_run

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


SECONDS = 10.0  # of the processor, of one mutant with all readers
MEMORY = 1 << 30  # bytes that reading takes


def refuse_or_read(seeds: range, bases: dict[str, Path], folder: Path) -> dict[str, int]:
    """Read mutants with every reader: how many readings were refused, and how many were not; each refusal names a file."""
    count = {"read": 0, "refused": 0}
    for seed in seeds:
        begun = time.process_time()
        what, path = mutant(seed, bases, folder)
        for name, read in READERS.items():
            try:
                read(path)
                count["read"] += 1
            except REFUSED as refused:
                count["refused"] += 1
                assert str(path) in str(refused), (seed, name, what)
                assert "\x1b" not in str(refused)
            except Exception as error:
                raise AssertionError(f"mutant {seed}, {name}: {what}") from error
        assert time.process_time() - begun < SECONDS, (seed, what)
    return count


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sound runs."""
    return make_bases(tmp_path_factory.mktemp("runs"))


def test_sound_runs_are_read_by_every_reader(bases: dict[str, Path]) -> None:
    for name, path in bases.items():
        for reader, read in READERS.items():
            if (name, reader) not in {("table", "map"), ("body", "map")}:  # one axis
                read(path)


def test_a_run_with_a_wrong_file_and_right_checksums_is_read_or_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    with at_most(MEMORY):
        found = refuse_or_read(range(30), bases, tmp_path / "run")
    assert min(found.values()) > 20


@pytest.mark.long
@pytest.mark.slow
def test_five_hundred_runs_with_a_wrong_file_are_read_or_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    with at_most(MEMORY):
        found = refuse_or_read(range(100, 600), bases, tmp_path / "run")
    assert min(found.values()) > 400


@pytest.mark.long
def test_ten_thousand_runs_with_a_wrong_file_are_read_or_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    with at_most(MEMORY):
        found = refuse_or_read(range(1_000, 9_000), bases, tmp_path / "run")
    assert min(found.values()) > 5_000


COMMANDS = ["show", "show --failed", "show --json", "check", "map", "resume", "explore --out still.html", "report --traces 0"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(16), range(16, 40)], ids=str)
def test_commands_refuse_such_runs_and_never_ask_to_report_a_defect(seeds: range, bases: dict[str, Path], tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    try:
        for name, base in bases.items():  # that mutants take long to compile is no fault of theirs: their programs are kept from here on
            shutil.copytree(base, tmp_path / name)
            shutil.rmtree(tmp_path / name / "points")
            assert commands.run(tmp_path, 120.0, "resume", str(tmp_path / name))[0] == 0
        for seed in seeds:
            what, path = mutant(20_000 + seed, bases, tmp_path / "run")
            words = COMMANDS[seed % len(COMMANDS)].split()
            status, seconds, out, told = commands.run(tmp_path, 60.0, words[0], str(path), *words[1:])
            assert status in (0, 2, 3, 4), (seed, words, what, status, told[-300:])
            assert "Traceback" not in out + told
            assert seconds < SECONDS, (seed, words, what)
    finally:
        commands.close()


WRONG = {  # key of the manifest -> its value -> what is said
    "no config": ("config", "", "config: is no study: study.name: is missing"),
    "config of a number": ("config", 5, "config: must be a valid string, not 5"),
    "extends": ("extends", 5, "extends: must be a table, not 5"),
    "points": ("points", "9", "points: must be a valid integer, not '9'"),
    "negative shards": ("shards", -1, "shards: must be greater than or equal to 0, not -1"),
    "shards of no end": ("shards", 10**30, "shards: must be less than or equal to 1000000"),
    "shards of nothing": ("shard_points", 0, "shard_points: must be greater than or equal to 1, not 0"),
    "design of another study": ("design", "convergence", "design: is 'convergence', and that of the study 'grid'"),
    "precision": ("provenance", {"dtype": "float8"}, "provenance: dtype is 'float8': must be float64 or float32"),
    "words": ("statuses", {f"word {number}": 1 for number in range(2000)}, "statuses: must have at most 1000 items"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_manifest_of_wrong_content_is_refused_with_its_key(name: str, bases: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(bases["grid"], tmp_path / "run")
    directory = RunDirectory(tmp_path / "run")
    key, value, said = WRONG[name]
    manifest = {**json.loads(directory.manifest.read_bytes()), key: value}
    directory.write_manifest({each: part for each, part in manifest.items() if each != "checksum"})
    for read in READERS.values():
        with pytest.raises(ConfigError) as refused:
            read(directory.path)
        assert refused.value.source == str(directory.manifest)
        assert said in str(refused.value)
        assert "without the file, the run is known from its shards" in str(refused.value)
    directory.manifest.unlink()
    assert run_state.state_of(directory.path)["rows"] == 9


def test_a_manifest_without_a_key_is_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(bases["grid"], tmp_path / "run")
    directory = RunDirectory(tmp_path / "run")
    manifest = json.loads(directory.manifest.read_bytes())
    for key in ("version", "study", "config_hash", "design", "points", "shards", "shard_points", "config"):
        directory.write_manifest({each: part for each, part in manifest.items() if each not in ("checksum", key)})
        with pytest.raises(ConfigError, match=f"{key}: is missing"):
            run_state.state_of(directory.path)


FACTS: dict[str, tuple[Any, str]] = {  # the facts of a footer -> what is said
    "a list": ([1], "must be a table, not [1]"),
    "no statuses": ({"statuses": {}}, "its statuses 0"),
    "statuses of no number": ({"statuses": {"ok": "4"}}, "statuses.ok: must be a valid integer, not '4'"),
    "many words": ({"words": {"regime": {f"word {number}": 1 for number in range(100_000)}}}, "at most 1000 items"),
    "no time": ({"seconds": {}}, "seconds.compiling: is missing"),
    "time of no number": ({"seconds": {"compiling": float("nan"), "computing": 1.0, "encoding": 1.0}}, "seconds.compiling: must be"),
}


@pytest.mark.parametrize("name", FACTS)
def test_a_footer_of_wrong_content_is_a_faulty_shard(name: str, bases: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(bases["grid"], tmp_path / "run")
    shard = RunDirectory(tmp_path / "run").shard(0)
    other, said = FACTS[name]
    metadata = dict(pq.read_metadata(shard).metadata)
    facts = json.loads(metadata[b"tribosweep_shard"])
    metadata[b"tribosweep_shard"] = json.dumps(other if isinstance(other, list) else {**facts, **other}).encode()
    shard.write_bytes(sealed(pq.read_table(shard), metadata))
    assert said in run_state.state_of(tmp_path / "run")["faulty"][shard.name]
    with pytest.raises(ConfigError, match="computes it again"):
        open_run(tmp_path / "run").to_arrow()


def test_a_column_of_another_type_is_refused_by_every_reader_of_rows(bases: dict[str, Path], tmp_path: Path) -> None:
    for number, (kind, said) in enumerate([(pa.date32(), "date32"), (pa.int64(), "another type than in the shards before")]):
        path = tmp_path / str(number)
        shutil.copytree(bases["grid"], path)
        shard = RunDirectory(path).shard(1)
        table = pq.read_table(shard)
        place = table.column_names.index("wear_power")
        field = table.schema.field(place).with_type(kind)
        changed_table = table.set_column(place, field, pa.nulls(table.num_rows, kind))
        shard.write_bytes(sealed(changed_table, dict(pq.read_metadata(shard).metadata)))
        for read in (read_columns, read_map, lambda each: open_run(each).to_arrow()):
            with pytest.raises(ConfigError, match=said):
                read(path)


def test_a_shard_with_right_checksums_and_broken_pages_is_a_faulty_one(
    bases: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(bases["grid"], tmp_path / "run")
    shard = RunDirectory(tmp_path / "run").shard(0)
    data = bytearray(shard.read_bytes())
    data[4:60] = bytes(56)
    place = sealed_parquet.find(data, sealed_parquet.footer_of(data))
    data[place : place + len(sealed_parquet.BLANK)] = sealed_parquet.BLANK
    shard.write_bytes(sealed_parquet.seal(pa.py_buffer(bytes(data))))
    for command in (["show", str(tmp_path / "run")], ["export", str(tmp_path / "run"), "--out", str(tmp_path / "rows.csv")]):
        assert main(command) == 2
        assert shard.name in capsys.readouterr().err


@pytest.mark.parametrize(("name", "column"), [("MOST_ROWS", np.zeros(2000)), ("MOST_VALUES", [np.zeros(2000)])])
def test_a_table_of_our_own_with_more_than_is_read_is_refused(name: str, column: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = sealed_parquet.to_bytes(pa.table({"a": column}))
    assert sealed_parquet.decode(data).num_rows == len(column)
    monkeypatch.setattr(sealed_parquet, name, 1000)
    with pytest.raises(sealed_parquet.DamageError, match=r"2,000 .* at most 1,000 are read"):
        sealed_parquet.decode(data)


def test_a_lock_that_says_anything_is_described(bases: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(bases["grid"], tmp_path / "run")
    lock = tmp_path / "run" / ".lock"
    for said in (
        "",
        "[",
        "[1]",
        '{"pid": "x"}',
        '{"pid": 1, "share": 5}',
        '{"pid": 1, "host": {}}',
        "[" * 100_000,
        '{"pid": 7, "host": "here"}',
    ):
        descriptor = system.open_locked(lock, alone=True)
        try:
            lock.write_text(said)
            state = run_state.state_of(tmp_path / "run")
            assert state["writers"] == ([{"pid": 7, "host": "here"}] if '"here"' in said else [])
            run_state.facts_of(state)
        finally:
            os.close(descriptor)


def posterior(path: Path, facts: Any, **changes: pa.Array) -> None:
    """A file of draws with right checksums."""
    columns = {
        "chain": pa.array([0, 0]),
        "draw": pa.array([0, 1]),
        "mu": pa.array([0.1, 0.2]),
        "log_density": pa.array([0.0, 0.0]),
        **changes,
    }
    roles = {"mu": {b"unit": b"1", b"role": b"parameter"}}
    fields = [pa.field(name, column.type, metadata=roles.get(name)) for name, column in columns.items()]
    layout = pa.schema(fields, metadata={"posterior": facts if isinstance(facts, str | bytes) else json.dumps(facts), "config_hash": "x"})
    path.write_bytes(sealed_parquet.to_bytes(pa.Table.from_arrays([*columns.values()], schema=layout)))


def test_draws_of_a_posterior_are_checked_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / draws.POSTERIOR
    posterior(path, {"calibration": "x", "notes": []})
    assert draws.read(path).facts["calibration"] == "x"
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ([1], {}, "must be a table, not [1]"),
        ("[" * 100_000, {}, "nested too deeply"),
        ({"calibration": 5}, {}, "calibration: must be a valid string, not 5"),
        (b"\xff", {}, "utf-8"),
        ({}, {"mu": pa.array(["a", "b"])}, "its column 'mu' has the type string, not double"),
        ({}, {"mu": pa.array([None, 1.0])}, "its column 'mu' has empty cells"),
        ({}, {"chain": pa.array([0.5, 1.0])}, "its column 'chain' has the type double, not int64"),
    ]
    for facts, columns, said in wrong:
        posterior(path, facts, **columns)
        with pytest.raises(ConfigError) as refused:
            draws.read(path)
        assert said in str(refused.value)


@pytest.mark.slow
def test_what_every_shipped_study_says_of_its_run_has_the_form_that_is_read_back() -> None:
    count = 0
    for path in sorted((Path(__file__).parents[2] / "configs").glob("*.toml")):
        with contextlib.suppress(ConfigError):  # a calibration, an optimisation, branches
            said = identity(load(path))
            assert problems_in(Identity, said) == [], path.name
            count += 1
    assert count > 30
