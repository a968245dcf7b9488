"""Files that have no end, no place or no sense: each is refused with a sentence, and soon."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.stored import study_in
from tribosweep.sweep.io.errors import Findings, Problem, shorten
from tribosweep.sweep.io.text import visible, visible_json
from tribosweep.sweep.io.toml import excess, parse_toml, text

Captured = pytest.CaptureFixture[str]
SOON = 10.0  # s of processor time
CALIBRATION = """
[study]
model = "stop"
[calibration]
data = "FILE"
free = { k_n = { from = 0.1, to = 10.0 } }
compare = { peak_force = { column = "force", sd = 0.1 } }
"""
LOOP = """
[parameters]
k_t = 1e5
[calibration]
free = { mu = { from = 0.1, to = 1.0 } }
loops = [{ file = "FILE", compare = { friction_force = { column = "force", sd = 0.1 } } }]
"""
USERS = {
    "study": ("", "run"),
    "points": ('[sweep]\ndesign = "table"\nfile = "FILE"\n', "run"),
    "record": ('[excitation]\nrecords = "FILE"\n', "run"),
    "spectrum": ('[excitation.random]\nspectrum = "FILE"\nduration = 1.0\ninterval = 0.01\n', "run"),
    "calibration data": (CALIBRATION, "calibrate"),
    "loop": (LOOP, "calibrate"),
}


def refused(folder: Path, name: str, user: str, capsys: Captured, *more: str) -> str:
    """Use a file in a study, or as one; return what is said, which is soon and one page at most."""
    sections, command = USERS[user]
    study = folder / name
    if sections:
        study = folder / "study.toml"
        study.write_text(sections.replace("FILE", name))
    begun = time.process_time()
    assert main([command, str(study), *more, "--out", str(folder / "out")]) == 2
    assert time.process_time() - begun < SOON
    said = capsys.readouterr().err
    assert len(said) < 40_000
    assert "Traceback" not in said
    assert not (folder / "out").exists()
    return said


def pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is a pipe: only regular files are read"


def device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "is a device: only regular files are read"


def directory(path: Path) -> str:
    path.mkdir()
    return "is a directory: only regular files are read"


def unix_socket(path: Path) -> str:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket has 107 bytes at most
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
    os.chdir(here)
    return "is a socket: only regular files are read"


@pytest.mark.parametrize("make", [pipe, device, directory, unix_socket])
@pytest.mark.parametrize("user", USERS)
def test_only_regular_files_are_read(user: str, make: Callable[[Path], str], tmp_path: Path, capsys: Captured) -> None:
    endings = ("toml",) if user == "study" else ("csv", "parquet")
    for ending in endings:
        why = make(tmp_path / f"odd.{ending}")
        assert why in refused(tmp_path, f"odd.{ending}", user, capsys)


def test_a_study_on_stdin_is_no_file(capsys: Captured) -> None:
    ends = os.pipe()
    assert main(["run", f"/dev/fd/{ends[0]}"]) == 2
    assert "is a pipe: only regular files are read" in capsys.readouterr().err
    for end in ends:
        os.close(end)


ENDLESS = {
    "a header without an end": (b"a0," * 10_000_000, "line 1 has more than 524,288 bytes"),
    "a comment without an end": (b"#" * 30_000_000, "line 1 has more than 524,288 bytes"),
    "comments without an end": (b"#\n" * 10_000_000, "more than 100,000 lines of comments"),
    "a row without an end": (b"a0\n" + b"1" * 30_000_000, "cannot read"),
    "a hundred thousand columns": (b",".join(b"c%d" % i for i in range(100_000)) + b"\n", "cannot read"),
    "nothing but null bytes": (bytes(30_000_000), "line 1 has more than 524,288 bytes"),
    "nothing": (b"", "cannot read"),
    "bytes that are no text": (b"a0\n\xff\xfe\n", "line 2: is no UTF-8 text"),
    "an uneven row that is no text": (b"a0,mu\n1,2\n1,2,\xe9\n", "line 3: is no UTF-8 text"),
}


@pytest.mark.parametrize("case", ENDLESS)
@pytest.mark.parametrize("user", [user for user in USERS if user != "study"])
def test_an_odd_table_is_refused_soon(user: str, case: str, tmp_path: Path, capsys: Captured) -> None:
    content, why = ENDLESS[case]
    (tmp_path / "odd.csv").write_bytes(content)
    assert why in refused(tmp_path, "odd.csv", user, capsys)


@pytest.mark.slow
def test_many_unknown_columns_are_counted(tmp_path: Path, capsys: Captured) -> None:
    names = [f"c{number}" for number in range(9_000)]
    (tmp_path / "odd.csv").write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    pq.write_table(pa.table({name: [1.0] for name in names}), tmp_path / "odd.parquet")
    for ending in ("csv", "parquet"):
        said = refused(tmp_path, f"odd.{ending}", "points", capsys)
        assert said.count("unknown parameter") == 20
        assert "and 8,980 more columns like these" in said
        said = refused(tmp_path, f"odd.{ending}", "calibration data", capsys)
        assert said.count("neither a parameter") == 20
        assert "has no column 'time'" in refused(tmp_path, f"odd.{ending}", "record", capsys)


def test_many_wrong_cells_are_counted(tmp_path: Path, capsys: Captured) -> None:
    count = 300_000
    cells = ["x,-1,gone"] * count
    (tmp_path / "odd.csv").write_text("\n".join(["a0,mu,scheme", *cells]) + "\n")
    said = refused(tmp_path, "odd.csv", "points", capsys)
    assert said.count("and 299,995 more values like these") == 3
    (tmp_path / "odd.csv").write_text("\n".join(["time,acceleration", *["x,y"] * count]) + "\n")
    assert "and 599,995 more values like these" in refused(tmp_path, "odd.csv", "record", capsys)


STUDIES = {
    "keys of many parts": ("a" + ".a" * 100_000 + " = 1", "a key of more than 16 parts (line 1)"),
    "quoted keys of many parts": ("[" + '"a" . ' * 10_000 + "a]", "a key of more than 16 parts (line 1)"),
    "lists in lists": ("a = " + "[" * 100_000, "nested too deeply"),
    "lists in lists that end": ("a = " + "[" * 200 + "]" * 200, "nested more than 16 deep"),
    "tables in tables": ("a = " + "{a=" * 100_000, "nested too deeply"),
    "a number of many digits": (f"[parameters]\nmu = 1{'0' * 10_000}", "Exceeds the limit (4300 digits)"),
    "a hexadecimal number of many digits": (f"[parameters]\nmu = 0x{'f' * 100_000}", "parameters.mu: must be a finite number"),
    "whole numbers of many digits": (
        f'[sweep]\ndesign = "sobol"\ncount = 0x{"f" * 5000}\nseed = 0x{"f" * 5000}\n[sweep.axes]\nmu = {{ from = 0.1, to = 0.2 }}', "sweep",
    ),
    "a range of very many points": (f"[sweep.axes]\nmu = {{ from = 0.1, to = 0.2, count = 0x{'f' * 5000} }}", "sweep"),
    "many keys": ("[parameters]\n" + "\n".join(f"k{number} = 1" for number in range(100_000)), "and 99,980 more keys like these"),
    "many axes": ("[sweep.axes]\n" + "\n".join(f"k{number} = [1]" for number in range(100_000)), "and 99,980 more keys like these"),
    "many sections": ("\n".join(f"[s{number}]" for number in range(30_000)), "and 29,980 more keys like these"),
    "many loads": ("[study]\nmodel = 'body'\n" + "".join(f"[loads.s{n}]\namplitude = 1.0\n" for n in range(20_000)), "at most 64"),
    "many supports": ("[study]\nmodel = 'body'\n" + "".join(f"[supports.s{n}]\ngap = 1e-3\n" for n in range(20_000)), "at most 64"),
    "many wrong words": (f"[sweep.axes]\nscheme = {['x'] * 10_000}", "and 9,995 more values like these"),
    "many values": (f"[sweep.axes]\nmu = [{'0,' * (2**21 + 1)}]", "2,097,153 commas, at most 2,097,152 are read: give long lists"),
    "many keys of parts": ("".join(f"k{number}{'.a' * 14} = 1\n" for number in range(20_000)), "parts of keys, tables and lists"),
    "many keys of parts beside many numbers": (
        f"a = [{'0.1,' * 2**20}]\n" + "".join(f"k{number}{'.1' * 14} = 1\n" for number in range(20_000)),
        "parts of keys, tables and lists, at most 262,144 are read",
    ),
    "many lists": (f"a = [{'[],' * 2**19}]", "parts of keys, tables and lists, at most 262,144 are read"),
    "many values with a unit": (f"[sweep.axes]\nv0 = {['1 m/s'] * 2**16}", "131,072 quotation marks, at most 32,768 are read"),
    "many lines": ("#\n" * 2**23, "8,388,608 lines, at most 4,194,304 are read"),
    "a long key": (f"[parameters]\n{'k' * 1_000_000} = 1", "unknown parameter"),
    "a long word": (f"[study]\nmodel = '{'k' * 1_000_000}'", "is not a model"),
    "nothing but spaces and more": (" " * 40_000_000, "at most 33,554,432 are read"),
}  # fmt: skip


def test_long_lists_of_decimal_numbers_are_read() -> None:
    assert excess(f"points = {[[1.5, 2.5]] * 100_000}") == ""
    assert excess(f"a = 1\nvalues = {[0.1] * 300_000}\n[b]\nc.d = 2.5\n") == ""


def test_a_study_in_a_file_of_ours_is_held_to_the_same_bounds() -> None:
    start = time.process_time()
    for odd in ("a." * 100_000 + "a = 1", "a = " + "[" * 1000 + "]" * 1000):
        assert study_in(odd)[0].startswith("is no study: not TOML")
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("case", STUDIES)
def test_an_odd_study_is_refused_soon(case: str, tmp_path: Path, capsys: Captured) -> None:
    content, why = STUDIES[case]
    (tmp_path / "study.toml").write_text(content)
    assert why in refused(tmp_path, "study.toml", "study", capsys)


@pytest.mark.parametrize("name", ["a\\u0000b.csv", "\\u001b[2J.csv", "x" * 300 + ".csv"])
@pytest.mark.parametrize("user", [user for user in USERS if user != "study"])
def test_odd_names_of_files_are_refused(user: str, name: str, tmp_path: Path, capsys: Captured) -> None:
    assert "cannot read" in refused(tmp_path, name, user, capsys)


def test_a_file_whose_path_is_no_text_is_refused(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    (folder / "points.csv").write_text("a0\n1.0\n")
    assert "no UTF-8 text" in refused(folder, "points.csv", "points", capsys)


def test_text_is_made_visible() -> None:
    assert visible("a\x1b[1m\x9b\n\r\t\u202eb\ud800é") == r"a\x1b[1m\x9b\n\r\t\u202eb\ud800é"
    assert visible("a\nb", lines=True) == "a\nb"
    assert visible_json('"\x9b\u2066é"') == '"\\u009b\\u2066é"'
    assert parse_toml(f"a = {text(evil := chr(0x9B) + chr(0x202E) + chr(27) + chr(127))}") == {"a": evil}


def test_a_value_of_any_size_has_a_short_text() -> None:
    for value in (1 << 100_000, [1 << 100_000], "x" * 10_000_000, list(range(1_000_000)), {"a": 1 << 100_000}):
        assert len(shorten(value)) <= 40


def test_findings_word_the_first_and_count_all() -> None:
    found, problems = Findings(), list[Problem]()
    found.add_all(range(1_000_000), lambda each: Problem(f"{each}", "wrong"))
    assert found.report("place", problems)
    assert [str(problem) for problem in problems] == [*(f"{n}: wrong" for n in range(5)), "place: and 999,995 more values like these"]
