"""What a file makes in memory is bounded: its headers, row counts and shapes are read first, and it is refused with a sentence.

Each file here is small, and stands for arrays of gigabytes. A refusal may take no more memory than a sound file of the largest size.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.security.footer_mutants import long_footer
from tests.security.memory import at_most
from tests.security.written_run import write_run
from tests.sweep.mutants import POINTS, RECORD
from tribosweep.kernels.models.basis import MOST_MODES, Basis
from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analysis import run_rows
from tribosweep.sweep.analysis.calibration import load as calibrations
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.io import tables
from tribosweep.sweep.structure import basis_files
from tribosweep.sweep.structure.basis_files import read_basis

HERE = Path(__file__).parents[2]
SPACE = 3 << 30  # bytes of address space of a process that refuses
SECONDS = 10  # of its processor
MEMORY = 1 << 30  # bytes that reading takes
ROWS = 30_000_000  # of numbers that a few bytes stand for

STRUCTURE = '[study]\nmodel = "structure"\n[structure]\nbasis = "FILE"\n'
LOOP = """
[parameters]
normal_force = 500.0
k_t = 1e8
[calibration]
free = { mu = { from = 0.1, to = 1.0 } }
loops = [{ file = "FILE", compare = { force = { column = "force", sd = 5.0 } } }]
"""
DRAWS = '[sweep]\ndesign = "posterior"\nfile = "FILE"\n'


def archive(path: Path, name: str, shape: tuple[int, ...], *, kind: str = "<f8", given: int = 0) -> None:
    """A .npz file with one array, of which `given` bytes of zeros are there."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": False, "shape": shape})
        for _ in range(given >> 20):
            member.write(bytes(1 << 20))


def zeros(path: Path, **columns: Any) -> None:
    """A Parquet file of values that repeat: name -> value."""
    layout = pa.schema([(name, pa.array([value]).type) for name, value in columns.items()])
    with pq.ParquetWriter(path, layout, compression="zstd") as writer:
        piece = pa.table({name: pa.repeat(pa.scalar(value, layout.field(name).type), 1 << 20) for name, value in columns.items()})
        for _ in range(ROWS >> 20):
            writer.write_table(piece, row_group_size=1 << 20)


def long_list(path: Path) -> None:
    """Points of which one has a table of many nodes."""
    path.write_text("v0,post_set\n1.0," + ";".join(str(node + 1.0) for node in range(50_000)) + "\n" + "1,2;3\n" * 50_000)


def far_lists(path: Path) -> None:
    """The same with the long table in a piece of its own, after many short ones."""
    path.write_text("v0,post_set\n" + "1,2;3\n" * 700_000 + "1.0," + ";".join(str(node + 1.0) for node in range(50_000)) + "\n")


def lists_of_zeros(path: Path) -> None:
    """A Parquet file with lists of numbers that repeat."""
    values = pa.repeat(pa.scalar(0.0), 1 << 25)
    offsets = pa.array(np.linspace(0, 1 << 25, 1025).astype(np.int32))
    pq.write_table(pa.table({"post_set": pa.ListArray.from_arrays(offsets, values)}), path, compression="zstd")


def long_words(path: Path) -> None:
    """A Parquet file with one long word in many rows, which its dictionary holds once."""
    words = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), 60_000), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"v0": words}), path, store_schema=False)  # so that it is read as text


def many_columns(path: Path) -> None:
    """A Parquet file of many columns and rows."""
    pq.write_table(
        pa.table({"time": pa.repeat(pa.scalar(0.0), 200_000), **{f"c{n}": pa.repeat(pa.scalar(0.0), 200_000) for n in range(999)}}), path
    )


def raw(path: Path) -> None:
    """An archive whose member is no array, which numpy would return as bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("omega", "w", force_zip64=True) as member:
        for _ in range(1 << 8):
            member.write(bytes(1 << 20))


def long_header(path: Path) -> None:
    """An archive with an array whose header has gigabytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("omega.npy", "w", force_zip64=True) as member:
        member.write(b"\x93NUMPY\x02\x00" + (1 << 31).to_bytes(4, "little"))
        for _ in range(1 << 8):
            member.write(b" " * (1 << 20))


def sparse(path: Path, size: int) -> None:
    """A file with a hole."""
    with path.open("wb") as file:
        file.truncate(size)


Attack = tuple[str, str, Callable[[Path], None], str]
ATTACKS: dict[str, Attack] = {
    "zeros of an archive": (STRUCTURE, "a.npz", lambda path: archive(path, "omega", (1 << 27,), given=1 << 28), "134,217,728 modes"),
    "shape of an archive": (STRUCTURE, "a.npz", lambda path: archive(path, "omega", (10**15,)), "1,000,000,000,000,000 modes"),
    "long dtype": (STRUCTURE, "a.npz", lambda path: archive(path, "omega", (3,), kind="|S1000000000"), "omega must hold numbers"),
    "member of an archive that is no array": (STRUCTURE, "a.npz", raw, "omega is no array of numpy"),
    "header of an array": (STRUCTURE, "a.npz", long_header, "the header of omega is longer"),
    "vector in place of a matrix": (STRUCTURE, "a.npz", lambda path: archive(path, "M", (100_000,), given=1 << 20), "100,000 modes"),
    "large matrices": (STRUCTURE, "a.npz", lambda path: np.savez(path, M=np.eye(2100), K=np.eye(2100)), "2,100 modes"),
    "cube": (STRUCTURE, "a.npz", lambda path: archive(path, "M", (1000, 1000, 1000)), "M has 3 dimensions"),
    "lists of JSON": (STRUCTURE, "a.json", lambda path: path.write_text(json.dumps({"omega": [1.0] * 2100})), "2,100 modes"),
    "large JSON": (STRUCTURE, "a.json", lambda path: sparse(path, basis_files.MOST_JSON + 1), "bytes: at most"),
    "zeros of a Parquet basis": (STRUCTURE, "a.parquet", lambda path: zeros(path, omega=1.0), "modes, of which at most"),
    "words of a Parquet basis": (STRUCTURE, "a.parquet", long_words, "must hold numbers, not string"),
    "large schema of a Parquet basis": (
        STRUCTURE, "a.parquet", lambda path: path.write_bytes(long_footer(900_000, 1, 1)), "its schema has 900,001 elements"
    ),
    "large groups of a Parquet basis": (
        STRUCTURE, "a.parquet", lambda path: path.write_bytes(long_footer(1, 10**6, 4)), "its footer has more than 16,777,216 values"
    ),
    "list among short ones": (POINTS, "a.csv", long_list, "a list of 50,000 nodes among"),
    "list after short ones": (POINTS, "a.csv", far_lists, "a list of 50,000 nodes among"),
    "lists of zeros": (POINTS, "a.parquet", lists_of_zeros, "33,554,432 nodes in a group of 1,024 rows"),
    "words of points": (POINTS, "a.parquet", long_words, "bytes of text in"),
    "words of draws": (DRAWS, "a.parquet", long_words, "bytes of text in"),
    "rows of a record": (RECORD, "a.parquet", lambda path: zeros(path, time=0.0, acceleration=1.0), "more than 16,777,216 rows"),
    "words of a record": (RECORD, "a.parquet", long_words, "has no column 'time'"),
    "rows of measurements": (LOOP, "a.parquet", lambda path: zeros(path, x=0.0, force=1.0, a=0.0, b=0.0), "bytes of memory"),
    "many columns of measurements": (LOOP, "a.parquet", many_columns, "bytes of memory"),
    "samples of a loop": (LOOP, "a.csv", lambda path: path.write_text("x,force\n" + "1e-6,5.0\n" * 30_000), "30,000 samples of loops"),
}  # fmt: skip


def refusal(folder: Path, study: str, file: str, make: Callable[[Path], None]) -> str:
    """What is said of a study that names a file."""
    make(folder / file)
    (folder / "study.toml").write_text(study.replace("FILE", file))
    with pytest.raises(ConfigError) as refused:
        (calibrations.load if "[calibration]" in study else load)(folder / "study.toml")
    return str(refused.value)


QUICK = [name for name in ATTACKS if not {"rows", "zeros", "columns", "large"} & {*name.split()}]


@pytest.mark.parametrize("name", QUICK)
def test_a_small_file_that_stands_for_gigabytes_is_refused_with_its_size(name: str, tmp_path: Path) -> None:
    study, file, make, said = ATTACKS[name]
    assert said in refusal(tmp_path, study, file, make)


@pytest.mark.long_cases("many columns of measurements", "samples of a loop", "rows of a record")
@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_refusal_takes_little_memory_and_time(name: str, tmp_path: Path) -> None:
    study, file, make, said = ATTACKS[name]
    make(tmp_path / file)
    (tmp_path / "study.toml").write_text(study.replace("FILE", file))
    words = ["calibrate", "study.toml"] if "[calibration]" in study else ["run", "study.toml", "--dry-run"]

    limits = (
        f"resource.setrlimit(resource.RLIMIT_DATA, ({SPACE}, {SPACE})); resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))"
    )
    command = f"import sys; sys.argv = ['tribosweep', *{words!r}]; from tribosweep.sweep.cli import console; console()"
    line, here = [sys.executable, "-c", f"import resource; {limits}; {command}"], {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(line, cwd=tmp_path, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("bound", "said"), [("MOST_ARRAYS", "has 12 keys"), ("MOST_LISTS", "has 41 lists")])
def test_a_basis_of_many_keys_or_lists_in_json_is_refused(bound: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"omega": [1.0], "points": {f"p{number}": [[1.0]] * 3 for number in range(10)}}))
    assert len(read_basis(path).points) == 10
    monkeypatch.setattr(basis_files, bound, 10)
    with pytest.raises(ConfigError, match=f"{said}: at most 10 are read"):
        read_basis(path)


def test_the_largest_basis_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.npz"
    np.savez(path, omega=np.arange(1.0, MOST_MODES + 1), damping=np.eye(MOST_MODES), **{"points.tip": np.ones((3, MOST_MODES))})
    assert read_basis(path).count == MOST_MODES
    with pytest.raises(ValueError, match="2,001 modes"):
        Basis.of_matrices(np.zeros((MOST_MODES + 1, 0)), np.zeros(0), np.zeros(0), {}, np.zeros((3, 0)))


def test_many_long_columns_in_a_group_of_rows_are_refused_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    table = pa.table({f"c{number}": np.zeros(1000) for number in range(20)})
    pq.write_table(table, path, use_dictionary=False, compression="zstd")
    monkeypatch.setattr(tables, "MOST_GROUP", 100_000)  # each column has less
    with pytest.raises(OSError, match=r"has [\d,]+ bytes in a group of rows: at most 100,000 are read; write smaller groups of rows"):
        tables.read_parquet(path)


def test_a_parquet_file_of_many_kinds_of_columns_is_read_as_pyarrow_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    words = pa.array(["one", None, "two", "one"])
    table = pa.table(
        {
            "text": words,
            "large": words.cast(pa.large_string()),
            "coded": words.dictionary_encode(),
            "bytes": words.cast(pa.binary()),
            "number": pa.array([1.0, None, 2.0, 3.0]),
            "list": pa.array([[1.0], None, [], [2.0, 3.0]]),
            "fixed": pa.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [5.0, 6.0]], pa.list_(pa.float64(), 2)),
            "names": pa.array([["a"], None, [], ["b", "c"]]),
            "digits": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
        }
    )
    pq.write_table(table, path, row_group_size=3)
    names, pieces, _ = tables.read_parquet(path)
    assert names == table.column_names
    found = pa.concat_tables(pieces)
    assert found.to_pylist() == table.to_pylist()
    assert found.schema.equals(pq.read_schema(path))


def test_pieces_are_short_where_columns_are_many(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({f"c{place}": pa.repeat(pa.scalar(0.0), 5000) for place in range(4000)}), path)
    pieces = tables.read_parquet(path).pieces
    assert max(piece.nbytes for piece in pieces) <= 1.02 * tables.MOST_BYTES / 4  # and their validity


@pytest.mark.parametrize(("nodes", "rows", "width", "fits"), [(10, 10, 1, True), (2, 1 << 24, 1, True), (1000, 1 << 20, 100, False),
                                                              (1 << 26, 1 << 20, 100, True)])  # fmt: skip
def test_lists_may_be_padded_to_a_bound_or_to_a_multiple_of_themselves(nodes: int, rows: int, width: int, fits: bool) -> None:
    assert (tables.padding_problem(nodes, rows, width) == "") is fits


SOUND: dict[str, Any] = {
    "omega": np.array([10.0, 20.0, 30.0]),
    "mass": np.ones(3),
    "damping": np.full(3, 0.01),
    "participation": np.ones((3, 3)),
    "points.tip": np.ones((3, 3)),
    "position.tip": np.array(0.5),
}
MATRICES: dict[str, Any] = {"M": np.eye(3), "K": np.diag([1.0, 2.0, 3.0]), "C": np.zeros((3, 3)), "points.tip": np.ones((3, 3))}
SHAPES = [(), (0,), (1,), (2,), (3, 1), (1, 3), (3, 3), (2, 2, 2), (0, 0), (2500,), (3, 2500), (1 << 20,), (1,) * 20]
DTYPES = ["f8", "f4", "f2", "i1", "u8", "?", "c16", "U3", "S3", "M8[s]", "m8[s]", "V4", "O", "f8,i4"]
NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 5e-324, -0.0]
NAMES = ["", "x", "points.", "position.", "points.tip.x", "omega.npy", "M", "K", "frequency", "\x1b[2J", "a\x00b", "a" * 5000, "../../x"]


def changed_arrays(rng: random.Random) -> dict[str, Any]:
    """Arrays of a basis, one or two of which have another shape, type, value or name, are gone or new."""
    arrays = dict(rng.choice([SOUND, MATRICES]))
    for _ in range(rng.choice([0, 1, 1, 2])):
        name = rng.choice([*arrays])
        action = rng.choice(["shape", "shape", "type", "number", "gone", "name", "new"])
        if action == "shape":
            arrays[name] = np.ones(rng.choice(SHAPES))
        elif action == "type":
            arrays[name] = np.zeros(np.shape(arrays[name]), rng.choice(DTYPES))
        elif action == "number" and np.asarray(arrays[name]).dtype == np.float64:
            arrays[name] = np.where(
                np.arange(np.size(arrays[name])).reshape(np.shape(arrays[name])) == 0, rng.choice(NUMBERS), arrays[name]
            )
        elif action == "name":
            arrays[rng.choice(NAMES)] = arrays.pop(name)
        elif action == "new":
            arrays[rng.choice(NAMES)] = np.ones(rng.choice(SHAPES))
        elif len(arrays) > 1:
            del arrays[name]
    return arrays


def nested(rng: random.Random, arrays: dict[str, Any]) -> Any:
    """The arrays of a basis as JSON, with odd values in places."""
    tables: dict[str, Any] = {"points": {}, "position": {}}
    for name, array in arrays.items():
        table, dot, inner = name.partition(".")
        listed = (
            np.asarray(array).tolist() if np.asarray(array).dtype.kind in "fiub" else rng.choice([None, "x", {}, True, [[]], [[1.0], 2.0]])
        )
        within = tables.get(table) if dot and table in ("points", "position") else None
        (within if isinstance(within, dict) else tables)[inner if isinstance(within, dict) else name] = listed
    if rng.random() < 0.2:
        tables[rng.choice(["points", "position", "omega"])] = rng.choice([None, 5, "x", [], [1], {"a": {}}, "9" * 400])
    return rng.choice([tables, tables, tables, [tables], None])


def write_basis_mutant(rng: random.Random, folder: Path) -> Path:
    """A file of a basis that is changed in one or two places."""
    arrays, kind = changed_arrays(rng), rng.choice(["npz", "json", "parquet"])
    path = folder / f"basis.{kind}"
    path.unlink(missing_ok=True)
    if kind == "npz":
        with zipfile.ZipFile(path, "w") as file:
            for name, array in {name.replace("\x00", "") or "x": array for name, array in arrays.items()}.items():
                data = io.BytesIO()
                np.lib.format.write_array(data, np.asanyarray(array), allow_pickle=True)
                file.writestr(f"{name}{rng.choice(['.npy'] * 9 + ['.n'])}", data.getvalue())
    elif kind == "json":
        path.write_text(json.dumps(nested(rng, arrays)))
    else:
        columns = {
            f"{name}.{rng.choice('xyzw')}" if np.ndim(array) > 1 else name: np.asarray(array).ravel() for name, array in arrays.items()
        }
        count = rng.choice([0, 1, 3, 3, 3, 3000])
        made = {
            name: pa.array(np.resize(each, count).astype(float))
            for name, each in columns.items()
            if each.dtype.kind in "fiub" and each.size
        }
        if rng.random() < 0.3 and made:
            made[rng.choice([*made])] = pa.nulls(count, rng.choice(KINDS))
        pq.write_table(pa.table(made), path)
    return path


def write_record_mutant(rng: random.Random, folder: Path) -> Path:
    """A file of a record of another kind: types, numbers, headers and shapes of its columns."""
    path = folder / "record.parquet"
    count = rng.choice([0, 1, 2, 50, 50, 50])
    columns = {"time": pa.array(0.01 * np.arange(count)), "acceleration": pa.array(np.sin(np.arange(count)))}
    for _ in range(rng.randint(1, 2)):
        name = rng.choice([*columns])
        action = rng.choice(["type", "type", "number", "name", "twice"])
        if action == "type":
            kind = rng.choice(KINDS)
            try:
                columns[name] = columns[name].cast(kind) if rng.random() < 0.5 else pa.nulls(count, kind)
            except pa.ArrowException:
                columns[name] = pa.nulls(count, kind)
        elif action == "number" and count:
            columns[name] = pa.array(np.where(np.arange(count) == rng.randrange(count), rng.choice(NUMBERS), 0.01 * np.arange(count)))
        else:
            columns[rng.choice([*NAMES, "time [ms]", "acceleration [g]", "acceleration [kg]", "Time"])] = columns.pop(name)
    pq.write_table(pa.table(columns), path)
    return path


KINDS = [pa.date32(), pa.timestamp("us", "UTC"), pa.string(), pa.large_string(), pa.bool_(), pa.list_(pa.float64()), pa.list_(pa.string()),
         pa.decimal128(9, 2), pa.binary(), pa.binary(3), pa.int8(), pa.float16(), pa.null(), pa.time64("ns"), pa.duration("s"), pa.uint64(),
         pa.dictionary(pa.int32(), pa.string()), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())]  # fmt: skip


def read_mutants(seeds: range, folder: Path) -> dict[str, int]:
    """Read mutants of bases and records: how many are refused, and how many are read."""
    count = {"read": 0, "refused": 0}
    (folder / "study.toml").write_text(RECORD.replace("FILE", "record.parquet"))
    for seed in seeds:
        rng, begun = random.Random(seed), time.process_time()
        basis = seed % 3 > 0
        path = (write_basis_mutant if basis else write_record_mutant)(rng, folder)
        try:
            read_basis(path) if basis else load(folder / "study.toml")
            count["read"] += 1
        except ConfigError as refused:
            count["refused"] += 1
            assert path.name in str(refused)
            assert len(str(refused)) < 20_000
        except Exception as error:
            raise AssertionError(f"mutant {seed}: {path.name}") from error
        assert time.process_time() - begun < SECONDS, seed
    return count


def test_changed_bases_and_records_are_read_or_refused(tmp_path: Path) -> None:
    with at_most(MEMORY):
        assert min(read_mutants(range(300), tmp_path).values()) > 30


@pytest.mark.long
def test_two_thousand_changed_bases_and_records_are_read_or_refused(tmp_path: Path) -> None:
    with at_most(MEMORY):
        assert min(read_mutants(range(1_000, 3_000), tmp_path).values()) > 150


def test_a_map_of_more_cells_than_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        "[time]\nend = 1.0\n[sweep.axes]\na0 = { from = 1.0, to = 9.0, count = 30 }\nmu = { from = 0.1, to = 0.3, count = 40 }\n"
    )
    run = write_run(tmp_path / "run", load(study)).path
    drawn = read_map(run)
    assert drawn.cells is not None
    assert np.array_equal(drawn.cells, np.arange(1200).reshape(30, 40).T)
    monkeypatch.setattr(run_rows, "MOST_CELLS", 5000)
    with pytest.raises(ConfigError, match=r"1,200 rows of \d columns: at most 5,000 cells are read into memory; tribosweep explore"):
        read_map(run)
