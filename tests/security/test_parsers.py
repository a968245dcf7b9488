"""Files and values from other hands: whatever a foreign parser raises is a sentence with the name of the file."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.security.mutants import MOST_BYTES, MOST_SECONDS, read_many
from tribosweep import sweep
from tribosweep.sweep.cli import main
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.foreign import UnreadableError, guarded, guarded_items
from tribosweep.sweep.structure.basis_files import read_basis

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]


def archive(method: int = zipfile.ZIP_STORED) -> bytes:
    """A basis as .npz."""
    member, data = io.BytesIO(), io.BytesIO()
    np.save(member, np.ones(3))
    with zipfile.ZipFile(data, "w", method) as file:
        file.writestr("omega.npy", member.getvalue())
    return data.getvalue()


def with_method(number: int) -> bytes:
    """An archive that states another method of compression, in its member and in its directory."""
    data = bytearray(archive())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.index(mark) + place
        data[at : at + 2] = struct.pack("<H", number)
    return bytes(data)


def encrypted() -> bytes:
    """An archive that says its member is encrypted."""
    data = bytearray(archive())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


def broken_stream() -> bytes:
    """An archive whose compressed bytes are none."""
    data = bytearray(archive(zipfile.ZIP_DEFLATED))
    start = data.index(b"omega.npy") + len("omega.npy")
    data[start : start + 20] = b"\xff" * 20
    return bytes(data)


def with_header(header: str) -> bytes:
    """An archive with an array of this header."""
    text = header.encode().ljust(118 + 64 * (len(header) // 64 + 1) - 118 % 64) + b"\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("omega.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(24))
    return data.getvalue()


BASES = {
    "a method of compression of nobody.npz": with_method(97),
    "deflate64.npz": with_method(9),
    "an encrypted member.npz": encrypted(),
    "a broken stream.npz": broken_stream(),
    "a header of parentheses.npz": with_header("(" * 9000),
    "a header of minus signs.npz": with_header("-" * 9000),
    "a header of odd types.npz": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 'x')}"),
    "a number of 400 digits.json": b'{"omega": [' + b"9" * 400 + b"]}",
    "a number of 5000 digits.json": b'{"omega": [' + b"9" * 5000 + b"]}",
    "a number of 400 digits as position.json": b'{"omega": [1.0], "points": {"a": [[1], [0], [0]]}, "position": {"a": '
    + b"9" * 400
    + b"}}",
    "a list as position.json": b'{"omega": [1.0], "points": {"a": [[1], [0], [0]]}, "position": {"a": [1.0, 2.0]}}',
    "lists in lists.json": b"[" * 200_000,
    "lists of different lengths.json": b'{"omega": [1.0, [2.0]]}',
    "words.json": b'{"omega": {"a": {}}}',
    "bytes that are no text.json": b'{"omega": "\xff\xfe"}',
    "nothing.parquet": b"",
    "marks of Parquet only.parquet": b"PAR1" + bytes(40) + b"\xff\xff\xff\x7fPAR1",
}


@pytest.mark.parametrize("name", BASES)
def test_a_basis_that_no_parser_reads_is_refused_with_its_file(name: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / name
    path.write_bytes(BASES[name])
    assert main(["modes", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{path}: 1 problem\n")
    assert "Traceback" not in said
    assert len(said) < 5000


def test_complex_numbers_are_no_basis(tmp_path: Path) -> None:
    np.savez(tmp_path / "complex.npz", omega=np.array([1.0 + 2.0j]))
    with pytest.raises(ConfigError, match="must hold numbers, not complex128"):
        read_basis(tmp_path / "complex.npz")


@pytest.mark.parametrize(
    "error",
    [
        RecursionError(),
        MemoryError(),
        NotImplementedError(),
        RuntimeError("odd"),
        KeyError("odd"),
        EOFError(),
        AssertionError(),
        OverflowError("odd"),
        pa.ArrowInvalid("odd"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_parser_raises_is_one_kind_of_error(error: Exception) -> None:
    def broken() -> Any:
        yield 1
        raise error

    with pytest.raises(UnreadableError, match=r"is no table: .") as caught, guarded("is no table"):
        raise error
    assert "\n" not in str(caught.value)
    items = guarded_items(broken())
    assert next(items) == 1
    with pytest.raises(UnreadableError):
        next(items)


@pytest.mark.parametrize("error", [OSError("no such file"), KeyboardInterrupt(), SystemExit()], ids=lambda error: type(error).__name__)
def test_what_is_no_fault_of_the_data_passes_the_guard(error: BaseException) -> None:
    with pytest.raises(type(error)), guarded():
        raise error


HUGE = 10**400


def signals(**keys: Any) -> dict[str, Any]:
    """A study with signals."""
    return {"output": {"signals": {"interval": 0.01, **keys}}}


def sobol(**axis: Any) -> dict[str, Any]:
    """A study that draws one parameter."""
    return {"sweep": {"design": "sobol", "count": 4, "axes": {"mu": axis}}}


BAND = {"band": [1.0, 2.0], "rms": 1e200, "duration": 12.0, "interval": 0.01}
LEVELS = {"x": {"from": 0.0, "to": 1.0, "count": 2, "spacing": HUGE}}
SUBSET = {"design": "subset_simulation", "count": 100, "level_probability": HUGE}
STUDIES: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "digits on the command line": ({}, ["parameters.mu=" + "9" * 5000], "parameters.mu: "),
    "a key of many parts on the command line": ({}, ["a." * 60_000 + "a=1"], "more than 16 parts"),
    "a list in place of a channel": (signals(cross_psd=[["x", ["v"]]]), [], "cross_psd[0][1]: ['v'] is no channel"),
    "a number in place of a channel": (signals(cross_psd=[["x", HUGE]]), [], "is no channel"),
    "a word of digits": (signals(crossings=LEVELS), [], "is no spacing"),
    "a distribution of digits": (sobol(distribution=HUGE), [], "is no distribution"),
    "a distribution beyond floats": (sobol(distribution="log_normal", mean=1e-300, std=1e300), [], "too wide to draw from"),
    "a density beyond floats": ({"excitation": {"random": BAND}}, [], "no finite density"),
    "a model of digits": ({"study": {"model": 1 << 20_000}}, [], "study.model: must be text in quotes"),
    "many designs": ({"sweep": [{}] * 10_001}, [], "sweep: 10,001 designs: at most 10,000 are read"),
    "a share beyond floats": ({"sweep": SUBSET}, [], "sweep.level_probability"),
}


@pytest.mark.parametrize("case", STUDIES)
def test_values_of_odd_types_and_sizes_are_named_with_their_key(case: str) -> None:
    tables, overrides, says = STUDIES[case]
    with pytest.raises(ConfigError) as caught:
        sweep.load(tables, overrides)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:60] + bytes(40) + data[100:], lambda data: data[: len(data) // 2]]
)
@pytest.mark.parametrize("key", ["points", "record"])
def test_damaged_parquet_files_are_refused(key: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    pq.write_table(pa.table({"time": np.arange(99.0), "acceleration": np.ones(99), "a0": np.ones(99)}), file)
    file.write_bytes(damage(file.read_bytes()))
    source = {"sweep": {"design": "table", "file": str(file)}} if key == "points" else {"excitation": {"records": str(file)}}
    with pytest.raises(ConfigError):
        sweep.load(source)


def check(found: dict[str, Any]) -> None:
    """Check what `read_many` found."""
    assert not found["unexpected"], found["unexpected"][0]
    assert found["slowest"] < MOST_SECONDS
    assert found["accepted"] > 0


@pytest.mark.slow
def test_some_mutants_are_read_or_refused(tmp_path: Path) -> None:
    check(read_many(400, 1, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_ten_thousand_mutants_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    """Each costs less than 10 s of the processor, and all of them in one process less than 2 GB."""
    command = [sys.executable, "-m", "tests.security.mutants", "10000", str(seed), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    check(found)
    assert found["memory"] < MOST_BYTES
