"""Four hundred mutated tables: each is refused with a sentence, or read as an independent reader of CSV and Parquet reads it."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import io
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from tests.sweep.mutants import ODD, POINTS, RECORD, tell
from tribosweep.sweep import load
from tribosweep.sweep.analysis.calibration import load as calibrations

CASES = 34  # for each of twelve kinds of files
Table = dict[str, list[Any]]
Cells = list[tuple[str, list[Any]]]  # header and cells of each column; headers may be equal

SPECTRUM = '[time]\nend = 1.0\n[excitation.random]\nspectrum = "FILE"\nduration = 1.0\ninterval = 0.01\n'
TESTS = """
[study]
model = "stop"
[calibration]
data = "FILE"
free = { k_n = { from = 0.1, to = 10.0 } }
compare = { peak_force = "set", rebound_velocity = { column = "back", sd = 0.01, weight = "times" } }
"""
TRACE = """
[calibration]
free = { k_t = { from = 400.0, to = 10000.0 } }
traces = [{ file = "FILE", settings = { a0 = 2.0 }, compare = { x = { column = "x", sd = 2e-5 } } }]
"""
LOOP = """
[parameters]
normal_force = 500.0
k_t = 1e8
[calibration]
free = { mu = { from = 0.1, to = 1.0 } }
loops = [{ file = "FILE", compare = { force = { column = "force", sd = 5.0 } } }]
"""
USERS: dict[str, tuple[str, Table]] = {
    "points": (
        POINTS,
        {
            "v0": [1.0, 2.5, None, 4.0],
            "retries": [3, 4, None, 5],
            "post_set": [[2.0, 3.5], [2.5, 3.0], [2.0, 4.0], [1.0, 8.0]],
            "damping_criterion": ["included", "excluded", None, "default"],
            "scheme": ["exact", "euler", None, "exact"],
        },
    ),
    "record": (RECORD, {"time [s]": [0.0, 0.01, 0.02, 0.03], "acceleration [g]": [1.0, -2.5, 0.125, 3.0]}),
    "spectrum": (SPECTRUM, {"frequency [Hz]": [1.0, 5.0, 20.0], "psd [g^2/Hz]": [0.01, 0.02, 0.005]}),
    "tests": (
        TESTS,
        {
            "test": ["first", "second", "third"],
            "v0": [1.5, 2.0, 3.0],
            "v0_unit": ["m/s", None, "m/s"],
            "set": [0.5, None, 1.5],
            "set_sd": [0.01, None, 0.02],
            "back": [-1.0, -1.1, -1.2],
            "times": [1, 2, 1],
        },
    ),
    "trace": (TRACE, {"time": [0.0, 0.25, 0.5, 1.0], "x": [0.0, 1e-5, 3e-5, 8e-5]}),
    "loop": (LOOP, {"x": [0.0, 1e-6, 2e-6, 1e-6], "force": [5.0, 9.0, 12.5, -3.0]}),
}
WORDS = {"damping_criterion": ["included", "excluded"], "scheme": ["exact", "euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54"]}
FACTORS = {
    None: 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "min": 60.0,
    "m/s^2": 1.0,
    "m/s2": 1.0,
    "cm/s2": 0.01,
    "g": 9.80665,
    "mg": 9.80665e-3,
    "Hz": 1.0,
    "kHz": 1e3,
    "(m/s^2)^2/Hz": 1.0,
    "g^2/Hz": 9.80665**2,
}
UNITS = [
    *(f" [{unit}]" for unit in FACTORS if unit),
    " (g)",
    "(ms)",
    " [m]",
    " [kg]",
    " [%]",
    " []",
    " [g",
    " [[g]]",
    " [1 g]",
    " [g]x",
    " [°]",
]
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE | re.ASCII)
ODD_CELLS = [
    *ODD,
    "1,5",
    '"1,5"',
    '"1.5"',
    "'1.5'",
    '"1.5',
    '1.5"',
    '"1"5',
    '"1""5"',
    '" 1.5 "',
    '"1.\n5"',
    '"\n"',
    '""',
    "0x10",
    "1_000",
    "0o7",
    "0b1",
    "1j",
    "True",
    "true",
    "yes",
    "1979-05-27",
    "07:32",
    "nan(1)",
    "nan(snan)",
    "NaN",
    "-nan",
    "inf",
    "-Infinity",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "\u0661",
    "\uff11",
    "½",
    "∞",
    "\u22121",
    "1 2",
    " 1.5 ",
    "\t1.5",
    "1.5\u00a0",
    "1.5;2",
    "2;3",
    "2;;3",
    "2;3;4",
    ";",
    "[2, 3]",
    "default",
    "DEFAULT",
    "",
    " ",
    "null",
    "None",
    "NA",
    "N/A",
    "#N/A",
    "-",
    "1.5e",
    "1d3",
    "1.5 m/s",
    "1.000,5",
    "1 000",
    "1'000",
    "$1",
    "50%",
    "+1",
    "--1",
    "1.2.3",
    "2**3",
    "=1+1",
    "1e5",
    "1E+5",
    ".5",
    "5.",
    "9007199254740993",
    "18446744073709551617",
    "1.7976931348623159e308",
    "1" * 400,
    "0.1e1_0",
    "0x1p3",
    "1f",
    "Exact",
    "exact ",
    "included",
    "euler",
    "m",
    "mm/s",
    "-1",
    "0",
    "1e999999999",
]


class UnreadableError(Exception):
    """An independent reader refuses the file."""


def sound(table: Table) -> str:
    """The sound CSV file."""
    rows = [
        [";".join(map(repr, cell)) if isinstance(cell, list) else "" if cell is None else str(cell) for cell in row]
        for row in zip(*table.values(), strict=True)
    ]
    return "\n".join(",".join(row) for row in [list(table), *rows]) + "\n"


def changed_cell(rng: random.Random, text: str, table: Table) -> bytes:
    """One or two cells replaced, or joined with something odd."""
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(rng.randint(1, 2)):
        row = rng.choice(rows[1:])
        place, odd = rng.randrange(len(row)), rng.choice(ODD_CELLS)
        row[place] = rng.choice([odd, odd, odd, row[place] + odd, odd + row[place]])
    return "\n".join(",".join(row) for row in rows).encode(errors="surrogatepass")


def changed_header(rng: random.Random, text: str, table: Table) -> bytes:
    """A header with another unit, another name, another spelling or twice the same name."""
    header, *rows = text.split("\n")
    names = header.split(",")
    place = rng.randrange(len(names))
    bare = re.split(r"\s*[\[(]", names[place])[0]
    names[place] = rng.choice(
        [
            bare + rng.choice(UNITS),
            bare + rng.choice(UNITS),
            names[place].upper(),
            f" {names[place]} ",
            f'"{names[place]}"',
            rng.choice(names),
            "",
            names[place] + rng.choice(ODD),
            rng.choice(ODD_CELLS),
            bare,
            f"{bare}_sd",
            "m",
            "time",
        ]
    )
    return "\n".join([",".join(names), *rows]).encode(errors="surrogatepass")


def changed_rows(rng: random.Random, text: str, table: Table) -> bytes:
    """Rows that are ragged, blank, remarks, swapped, doubled or gone."""
    header, *rows = text.splitlines()
    place = rng.randrange(len(rows))
    kind = rng.choice(
        ["more", "fewer", "commas", "blank", "spaces", "remark", "swap", "twice", "gone", "none", "headless", "header again", "above"]
    )
    if kind in ("more", "fewer"):
        rows[place] = f"{rows[place]},1" if kind == "more" else rows[place].rpartition(",")[0]
    elif kind == "commas":
        rows, header = [f"{row}," for row in rows], header + rng.choice(["", ","])
    elif kind == "swap":
        rows.reverse()
    elif kind in ("gone", "none"):
        rows = [row for other, row in enumerate(rows) if kind == "gone" and other != place]
    elif kind == "headless":
        header, rows = rows[0], rows[1:]
    elif kind == "above":
        header = f'# made by hand, "in haste\nof them\n{header}' if rng.random() < 0.5 else f"\n\n# late\n{header}"
    else:
        rows.insert(place, {"blank": "", "spaces": "  ", "remark": "# remark", "twice": rows[place], "header again": header}[kind])
    return "\n".join([header, *rows, ""]).encode()


def changed_bytes(rng: random.Random, text: str, table: Table) -> bytes:
    """A few bytes replaced, put in or taken out."""
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = rng.choice(
            [b"", b'"', b"\r", b"\n", b"\0", b"\xff", b",", b"-", b"e", b".", b"9", bytes([rng.randrange(256)])]
        )
    return bytes(data)


def changed_text(rng: random.Random, text: str, table: Table) -> bytes:
    """Other encodings, ends of lines, separators and decimal marks."""
    kind = rng.choice(["encoding", "ends", "separator", "comma", "quotes", "empty", "remarks"])
    if kind == "encoding":
        return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32", "utf-7"]))
    if kind == "ends":
        return text.replace("\n", rng.choice(["\r", "\r\n", "\n\r", "\x0b", "\x85", "\u2028", "\n\n"])).encode()
    if kind == "separator":
        return text.replace(",", rng.choice([";", "\t", "|", " ", ", ", " , "])).encode()
    if kind == "comma":
        return re.sub(r"(\d)\.(\d)", rng.choice([r"\1,\2", r'"\1,\2"']), text.replace(",", rng.choice([",", ";"]))).encode()
    if kind == "quotes":
        return "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()).encode()
    return b"" if kind == "empty" else b"# one\n#two\xff\n" + text.encode()


MUTATIONS = [changed_cell, changed_cell, changed_cell, changed_header, changed_rows, changed_bytes, changed_text]


def read_csv(data: bytes) -> Cells:
    """The columns of a CSV file by Python's reader, which is told to be strict."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        data = b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(b"#"))  # remarks may be anything
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UnreadableError from None
    while (text := text.lstrip("\r\n")).startswith("#"):
        text = re.split(r"\r\n|\n|\r", text, maxsplit=1)[1] if re.search(r"[\r\n]", text) else ""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        raise UnreadableError from None
    while rows and not rows[-1]:
        rows.pop()
    rows = [row or [""] for row in rows]  # a blank line is the empty cell of one column
    if not rows or len({len(row) for row in rows}) > 1:
        raise UnreadableError
    return [(name.strip(), [row[place] for row in rows[1:]]) for place, name in enumerate(rows[0])]


def texts(table: Table, name: str) -> list[str | None]:
    """A column as text."""
    return [";".join(map(str, cell)) if isinstance(cell, list) else None if cell is None else str(cell) for cell in table[name]]


def broken_text(count: int) -> pa.Array:
    """Strings that are no UTF-8."""
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(np.arange(count + 1, dtype=np.int32)), pa.py_buffer(b"\xff" * count)]
    )


def of_type(kind: pa.DataType, *values: Any) -> Callable[[int, list[str | None]], pa.Array]:
    """Makes a column of a type, whose first cells have these values and the others the last of them."""
    return lambda count, _: pa.array([values[min(row, len(values) - 1)] for row in range(count)], kind)


def cast_to(kind: pa.DataType) -> Callable[[int, list[str | None]], pa.Array]:
    """Makes a column of the numbers of the sound one as another type of Arrow."""

    def make(count: int, said: list[str | None]) -> pa.Array:
        numbers = pa.array([float(each) if each is not None and NUMBER.fullmatch(each) else None for each in said])
        return numbers.cast(kind, safe=False)

    return make


MAKERS: list[Callable[[int, list[str | None]], pa.Array]] = [
    *(cast_to(kind) for kind in (pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.bool_(), pa.decimal128(20, 6))),
    lambda _, said: pa.array(said),
    lambda _, said: pa.array(said, pa.large_string()),
    lambda _, said: pa.array(said).dictionary_encode(),
    lambda _, said: pa.array([None if each is None else each.encode() for each in said], pa.binary()),
    lambda count, _: broken_text(count),
    lambda count, _: pa.nulls(count),
    of_type(pa.uint64(), 2**64 - 1),
    of_type(pa.int64(), 2**53 + 1),
    of_type(pa.int64(), -(2**63)),
    of_type(pa.uint64(), 2**53 + 1, 3),
    of_type(pa.float64(), math.nan),
    of_type(pa.float64(), 1.0, math.inf),
    of_type(pa.float64(), -0.0),
    of_type(pa.float64(), 5e-324, 1e308),
    of_type(pa.bool_(), True, False),
    of_type(pa.decimal128(38, 0), decimal.Decimal(10**37)),
    of_type(pa.decimal256(76, 70), decimal.Decimal("1.5")),
    of_type(pa.date32(), dt.date(1979, 5, 27)),
    of_type(pa.date64(), dt.date(1979, 5, 27)),
    lambda count, _: pa.array([10**8] * count, pa.int32()).cast(pa.date32()),
    of_type(pa.timestamp("ns", "Foo/Bar"), 1),
    of_type(pa.timestamp("ms"), 2**60),
    of_type(pa.timestamp("us", "UTC"), 5),
    of_type(pa.time64("ns"), 1),
    of_type(pa.duration("ns"), 7),
    of_type(pa.duration("s"), 2**62),
    of_type(pa.binary(2), b"ab"),
    of_type(pa.list_(pa.float64()), [2.0, 3.5]),
    of_type(pa.list_(pa.float64()), [2.0, None]),
    of_type(pa.list_(pa.int32()), [2, 3], None),
    of_type(pa.list_(pa.float64()), [2.0, math.nan]),
    of_type(pa.list_(pa.float64()), []),
    of_type(pa.large_list(pa.float32()), [2.0, 3.5]),
    of_type(pa.list_(pa.float64(), 2), [2.0, 3.5], None),
    of_type(pa.list_(pa.bool_()), [True, True]),
    of_type(pa.list_(pa.string()), ["2", "3"]),
    of_type(pa.list_(pa.decimal128(9, 2)), [decimal.Decimal(2), decimal.Decimal(3)]),
    of_type(pa.list_(pa.null()), [None]),
    of_type(pa.list_(pa.list_(pa.float64())), [[2.0, 3.5]]),
    of_type(pa.list_(pa.uint64()), [2, 2**53 + 1]),
    of_type(pa.struct([("a", pa.float64())]), {"a": 1.0}),
    of_type(pa.map_(pa.string(), pa.float64()), [("a", 1.0)]),
    *(
        of_type(pa.string(), cell)
        for cell in ("1,5", "0x10", "1_000", "True", "nan(1)", "1.5 ", "2;3", "", "default", "\x1b[2J", "\u202e", "x" * 9000)
    ),
    *(of_type(pa.string(), "1", cell) for cell in ("1.5e", "\uff11", "nan", "inf", "NA", "[red]", "exact", "included", "m/s", "mm/s")),
]


def parquet_of(rng: random.Random, table: Table) -> bytes:
    """A Parquet file with another type of a column, another header, a column twice, no rows, or other bytes."""
    columns = {name: pa.array(cells) for name, cells in table.items()}
    names, arrays = list(columns), list(columns.values())
    kind = rng.choice(["type"] * 8 + ["name", "name", "twice", "no rows", "no columns", "bytes", "bytes", "rows"])
    place = rng.randrange(len(names))
    if kind == "type":
        for _ in range(rng.randint(1, 2)):
            place = rng.randrange(len(names))
            arrays[place] = rng.choice(MAKERS)(len(arrays[0]), texts(table, names[place]))
    elif kind == "name":
        bare = re.split(r"\s*[\[(]", names[place])[0]
        odd = [each for each in ODD if each.isascii() or each.isprintable()]
        names[place] = rng.choice([bare + rng.choice(UNITS), names[place].upper(), f" {bare} ", "", bare + rng.choice(odd), "m"])
    elif kind == "twice":
        names, arrays = [*names, rng.choice([names[place], f" {names[place]}"])], [*arrays, arrays[place]]
    elif kind == "no columns":
        names, arrays = [], []
    made = pa.table(arrays, names=names)
    if kind == "no rows":
        made = made.slice(0, 0)
    elif kind == "rows":
        made = made.take([rng.randrange(made.num_rows) for _ in range(3)])
    file = io.BytesIO()
    pq.write_table(
        made, file, row_group_size=rng.choice([1, 2, 1000]), compression=rng.choice(["none", "snappy"]), use_dictionary=rng.random() < 0.5
    )
    data = bytearray(file.getvalue())
    for _ in range(rng.randint(1, 3) if kind == "bytes" else 0):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = rng.choice([b"", bytes([rng.randrange(256)]), b"\xff\xff\xff\x7f", b"\0\0"])
    return bytes(data)


def read_parquet(data: bytes) -> Cells:
    """The columns of a Parquet file, whole, as values of Python."""
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableError from None
    found: Cells = []
    for name, column in zip(table.schema.names, table.columns, strict=True):
        try:
            found.append((name.strip(), column.to_pylist()))
        except (ValueError, OverflowError, LookupError, pa.ArrowException):
            found.append((name.strip(), [UnreadableError] * table.num_rows))
    return found


def number(cell: Any, words: tuple[str, ...] = ()) -> float | None:
    """What a cell states; None for an empty one, and for one of the `words`."""
    if isinstance(cell, str):
        cell = cell.strip()
        if cell in ("", *words):
            return None
        assert NUMBER.fullmatch(cell), f"{cell!r} was read as a number"
        return float(cell)
    assert cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)), f"{cell!r} was read as a number"
    return None if cell is None else float(cell)


def nodes(cell: Any) -> list[float | None] | None:
    """What a cell with a table states."""
    if isinstance(cell, str):
        cell = None if cell.strip() in ("", "default") else cell.split(";")
    assert cell is None or isinstance(cell, list), f"{cell!r} was read as a table"
    return None if cell is None else [number(each) for each in cell]


def agree(read: Any, stated: list[float | None], factor: float = 1.0) -> bool:
    """Whether numbers are those of the file, to the last bit if their unit is the same; NaN stands for an empty cell."""
    wanted = np.array([math.nan if each is None else factor * each for each in stated])
    return bool(np.allclose(read, wanted, rtol=0.0 if factor == 1.0 else 1e-14, atol=0.0, equal_nan=True))


def column(columns: Cells, name: str) -> tuple[list[Any], float]:
    """The cells of the only column of a name, which may have a unit, and the factor of that unit."""
    named = [(header, cells) for header, cells in columns if header == name]
    if not named:
        named = [each for each in columns if re.split(r"\s*[\[(]", each[0])[0].casefold() == name]
    ((header, cells),) = named
    unit = re.fullmatch(r".*?\s*[\[(]\s*(.*?)\s*[\])]\s*", header)
    return cells, FACTORS[unit[1] if unit else None]


def agrees_with(study: Path, user: str, columns: Cells) -> None:
    """Check that what a study has read of a file is what the columns of the file state."""
    if user == "points":
        check_points(study, columns)
    elif user in ("record", "spectrum"):
        excitation = load(study).excitation
        if user == "record":
            record = excitation.records[0]
            read = {"time": record.interval * np.arange(len(record.samples)), "acceleration": record.samples}
        else:
            read = {"frequency": excitation.spectrum.frequencies, "psd": excitation.spectrum.densities}
        for name, values in read.items():
            cells, factor = column(columns, name)
            stated = [number(cell) for cell in cells]
            assert None not in stated
            assert np.allclose(values, factor * np.array(stated), rtol=1e-9) if name == "time" else agree(values, stated, factor)
    else:
        check_measured(study, user, columns)


def check_points(study: Path, columns: Cells) -> None:
    """Check points of a design."""
    config = load(study)
    points = config.design.points(0, config.design.count)
    assert len({name for name, _ in columns}) == len(columns)
    for name, cells in columns:
        absent = points.absent.get(name, np.zeros(len(cells), bool))
        if name in WORDS:
            said = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
            assert all(word in (None, "", "default", *WORDS[name]) for word in said)
            if name != "scheme":
                assert [None if gone else WORDS[name][int(code)] for code, gone in zip(points.columns[name], absent, strict=True)] == [
                    word if word in WORDS[name] else None for word in said
                ]
        elif name in ("post_set", "post_stiffness", "post_damping"):
            stated = [nodes(cell) for cell in cells]
            read = [None if gone else row[~np.isnan(row)].tolist() for row, gone in zip(points.columns[name], absent, strict=True)]
            assert read == stated
        else:
            stated = [number(cell, ("default",)) for cell in cells]
            assert agree(points.columns[name], stated)
            assert absent.tolist() == [each is None for each in stated]


def check_measured(study: Path, user: str, columns: Cells) -> None:
    """Check measurements: every cell of a column that is compared is a finite number, or empty."""
    data = calibrations.load(study).data
    if user == "loop":
        stated = [number(cell) for cell in column(columns, "x")[0]]
        assert agree(data.paths.x[0], stated)
    if user == "trace":
        times = [number(cell) for cell in column(columns, "time")[0]]
        assert agree(data.times, [time for time in times if time])
    compared = {"tests": {"set": "peak_force", "back": "rebound_velocity"}, "trace": {"x": "x"}, "loop": {"force": "force"}}[user]
    for name, observable in compared.items():
        stated = [number(cell) for cell in dict(columns)[name]]
        kept = [each for row, each in enumerate(stated) if each is not None and (user != "trace" or times[row])]
        assert all(map(math.isfinite, kept)), f"{kept} were measured"
        assert agree(data.measured[data.observable == data.names.index(observable)] if observable in data.names else [], kept)
    if user == "tests":
        settings = [number(cell, ("default",)) for cell in dict(columns)["v0"]] if "v0" in dict(columns) else []
        assert agree(data.settings.get("v0", []), [0.0 if each is None else each for each in settings])
        assert all(
            cell in (None, "", "default", "m/s") or not isinstance(cell, str) or cell.strip() in ("", "default", "m/s")
            for cell in dict(columns).get("v0_unit", [])
        )


def check(user: str, ending: str, case: int, folder: Path) -> int:
    """Check one mutated file; the exit status."""
    rng = random.Random(f"{user} {ending} {case}")
    text, table = USERS[user]
    if ending == "csv":
        data = sound(table).encode() if case == 0 else rng.choice(MUTATIONS)(rng, sound(table), table)
    else:
        data = parquet_of(rng, table)
    (folder / f"odd.{ending}").write_bytes(data)
    study = folder / "study.toml"
    study.write_text(text.replace("FILE", f"odd.{ending}"), encoding="utf-8")
    with mock.patch(
        "tribosweep.sweep.analysis.calibration.analysis.carry_out", side_effect=typer.Exit
    ):  # the data are read, and nothing is fitted
        status, _, told = tell([*(["calibrate"] if "[calibration]" in text else ["run", "--dry-run"]), str(study)])
    assert status in (0, 2), told
    if status == 2:
        assert told.startswith(f"{study}: "), told
        return status
    try:
        columns = read_csv(data) if ending == "csv" else read_parquet(data)
    except UnreadableError:
        raise AssertionError(f"read what nobody else reads: {data[:1000]!r}") from None
    agrees_with(study, user, columns)
    return status


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("user", USERS)
def test_a_mutated_table_is_refused_or_read_as_it_stands(user: str, ending: str, tmp_path: Path) -> None:
    statuses = [check(user, ending, case, tmp_path) for case in range(CASES)]
    assert {*statuses} == {0, 2}
