"""Files of any size: what is larger than tribosweep writes is refused with a sentence, unread, in little memory and time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.sweep.execution.scenarios import install, put_ready
from tribosweep import sweep
from tribosweep.kernels.models.beam import MOST_NODES, Beam
from tribosweep.kernels.runtime import private_files
from tribosweep.kernels.runtime.private_files import PrivateFiles
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io import files, sealed_parquet
from tribosweep.sweep.io.errors import ConfigError

Captured = pytest.CaptureFixture[str]
HUGE = 6 * 2**30  # bytes; the file has a hole of that size, and takes no room
MEMORY = 700 * 2**20  # bytes that a process may ask for beyond the libraries that it maps
SOON = 10.0  # s of processor time
COMMANDS = (
    ["show"],
    ["check"],
    ["resume"],
    ["map"],
    ["report"],
    ["export", "--out", "x.csv"],
    ["show", "--over", "mu"],
    ["check", "--repair"],
)


def swell(path: Path, content: bytes = b"") -> None:
    """Make a file of HUGE bytes that ends as it did before, or in `content`."""
    path.parent.mkdir(exist_ok=True)
    end = content or (path.read_bytes() if path.exists() else b"")
    with path.open("wb") as file:
        file.seek(HUGE - len(end))
        file.write(end)
        file.truncate(HUGE)


LIMITED = """
import os, resource, sys
from tribosweep.sweep.cli import main
import pyarrow, pyarrow.parquet, matplotlib.figure, pandas  # their libraries are mapped before memory is bounded
with open("/proc/self/statm") as pages:
    mapped = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (mapped + int(sys.argv[1]), -1))
before = resource.getrusage(resource.RUSAGE_SELF)
status = main(sys.argv[2:])
after = resource.getrusage(resource.RUSAGE_SELF)
spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(f"spent {spent:.3f} s", file=sys.stderr)
sys.exit(status)
"""


def bounded(words: list[str], folder: Path) -> tuple[int, str]:
    """Carry out a command in a process with little memory; its status and what it says, which is soon."""
    environment = {**os.environ, "PYTHONPATH": str(Path(sweep.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(MEMORY), *words], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    said, _, spent = done.stderr.rpartition("spent ")
    assert float(spent.partition(" ")[0]) < SOON, done.stderr
    return done.returncode, done.stdout + said


@pytest.fixture
def run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the complete run `run` of a small study."""
    install(monkeypatch)
    assert main(put_ready("run", tmp_path)) == 0
    return tmp_path / "run"


def used(run: Path, words: list[str], capsys: Captured) -> tuple[int, str]:
    """Carry out a command on a run; its status and what it says, which is soon."""
    capsys.readouterr()
    begun = time.process_time()
    status = main([words[0], str(run), *words[1:]])
    assert time.process_time() - begun < SOON
    told = capsys.readouterr()
    return status, told.out + told.err


# ---------------------------------------------------------------------------------------------------------------------
# The files of a run


@pytest.mark.long_cases("points/part-000001.parquet", "_SUCCESS", "config.toml", ".lock", "sensitivity/*")
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["manifest.json", "_SUCCESS", "config.toml", ".lock", "points/part-000001.parquet", "sensitivity/indices.parquet"]
)
def test_no_command_reads_a_file_of_a_run_that_is_too_large(name: str, run_there: Path) -> None:
    swell(run_there / name)
    for words in (["show"], ["check"]):
        status, said = bounded([words[0], str(run_there), *words[1:]], run_there.parent)
        assert status in (0, 2, 4), said
        assert "memory" not in said


@pytest.mark.slow
def test_a_manifest_a_mark_and_a_study_that_are_too_large_count_as_damaged(
    run_there: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run_there.parent)
    rows = Dataset(run_there).table()
    for name in ("manifest.json", "_SUCCESS", "config.toml"):
        swell(run_there / name)
        for words in COMMANDS[:-1]:
            if words[0] != "resume":
                assert used(run_there, words, capsys)[0] in (0, 2, 4)
        status, said = used(run_there, ["check"], capsys)
        assert (status, str(run_there / name) in said) == (4, True)
        assert used(run_there, ["check", "--repair"], capsys)[0] == 0
        assert (run_there / name).stat().st_size < files.MOST_NOTE
        assert used(run_there, ["check"], capsys)[0] == 0
        assert Dataset(run_there).table().equals(rows)


@pytest.mark.parametrize("intact_end", [False, True])
def test_a_shard_that_is_too_large_is_named_and_computed_again(intact_end: bool, run_there: Path, capsys: Captured) -> None:
    shard, rows = RunDirectory(run_there).shard(1), Dataset(run_there).table()
    swell(shard, b"" if intact_end else b"end")
    status, said = used(run_there, ["check"], capsys)
    assert status == 4
    told = f"it has {HUGE:,} bytes, and tribosweep writes at most {files.MOST_TABLE:,}"
    assert told in " ".join(said.split())
    assert "part-000001.parquet" in used(run_there, ["show"], capsys)[1]
    status, said = used(run_there, ["export", "--out", str(run_there.parent / "x.csv")], capsys)
    assert (status, told in said) == (2, True)
    assert used(run_there, ["resume"], capsys)[0] == 0
    assert shard.stat().st_size < 2**20
    assert Dataset(run_there).table().equals(rows)


def test_a_lock_that_is_too_large_is_not_read(run_there: Path, capsys: Captured) -> None:
    swell(run_there / ".lock")
    assert used(run_there, ["show"], capsys)[0] == 0
    (run_there / "_SUCCESS").unlink()
    assert used(run_there, ["resume"], capsys)[0] == 0
    assert not (run_there / ".lock").exists()


@pytest.mark.slow
def test_a_large_file_is_checked_with_little_memory(tmp_path: Path) -> None:
    """A table of 1.9 GiB without content passes no check, and is read in pieces."""
    path = tmp_path / "big.parquet"
    path.write_bytes(sealed_parquet.to_bytes(pa.table({"x": [1.0]})))
    end = path.read_bytes()
    with path.open("wb") as file:
        file.seek(files.MOST_TABLE - 2**27)
        file.write(end)
    code = "import sys; from pathlib import Path; from tribosweep.sweep.io import sealed_parquet\n"
    code += "try:\n sealed_parquet.verify(Path(sys.argv[1]))\nexcept sealed_parquet.DamageError as damage:\n print(damage)\n"
    code += "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=Path(sweep.__file__).parents[2]
    )
    said, peak = done.stdout.splitlines()
    assert said == sealed_parquet.CHANGED
    assert int(peak) < 300 * 1024  # with all libraries


def test_verify_finds_what_reading_finds(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    whole = sealed_parquet.to_bytes(pa.table({"x": [float(number) for number in range(50)]}))
    path.write_bytes(whole)
    assert sealed_parquet.verify(path).num_rows == 50
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(sealed_parquet.DamageError):
            sealed_parquet.verify(path)
        with pytest.raises(sealed_parquet.DamageError):
            sealed_parquet.read(path)
    for data in (b"", whole[:-1], whole + b"x", whole[: len(whole) // 2], b"PAR1" * 3):
        path.write_bytes(data)
        with pytest.raises(sealed_parquet.DamageError):
            sealed_parquet.verify(path)


def test_a_footer_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    length = files.MOST_FOOTER + 1
    with path.open("wb") as file:
        file.seek(length)
        file.write(length.to_bytes(4, "little") + b"PAR1")
    begun = time.process_time()
    with pytest.raises(sealed_parquet.DamageError, match=f"its footer has {length:,} bytes: at most {files.MOST_FOOTER:,} are read"):
        sealed_parquet.read_metadata(path)
    assert time.process_time() - begun < 0.1


# ---------------------------------------------------------------------------------------------------------------------
# Nothing is written that is not read again


def test_a_study_that_no_manifest_could_hold_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    install(monkeypatch)
    words = put_ready("run", tmp_path)
    monkeypatch.setattr("tribosweep.sweep.execution.directory.MOST_STUDY", 100)
    assert main(words) == 2
    assert "characters with all values of its axes, at most 100 can be kept: give them as a table of points" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_table_that_would_not_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_parquet, "MOST_TABLE", 1000)
    with pytest.raises(OSError, match=r"a file of the results has [\d,]+ bytes, at most 1,000 are read"):
        sealed_parquet.to_bytes(pa.table({"x": [0.1 * number for number in range(1000)]}))


def test_the_bounds_leave_room_for_each_other() -> None:
    """A manifest holds a study and little else; a footer holds it as text, as JSON, and in the schema both once more as base 64."""
    assert files.MOST_STUDY + files.MEBIBYTE < files.MOST_TEXT
    assert 2 * (1 + 4 / 3) * files.MOST_STUDY < files.MOST_FOOTER < files.MOST_TABLE
    assert json.loads(json.dumps("x")) == "x"


# ---------------------------------------------------------------------------------------------------------------------
# Other files


def test_init_does_not_read_a_large_file_in_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    swell(tmp_path / "study.schema.json")
    begun = time.process_time()
    assert main(["init", "mine.toml", "--like", "regime_map"]) == 2
    assert time.process_time() - begun < SOON
    assert "is there already and is not overwritten" in capsys.readouterr().err
    assert not (tmp_path / "mine.toml").exists()


def test_a_kept_program_that_is_too_large_is_not_read_and_none_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    kept = PrivateFiles(tmp_path / "cpu")
    kept.put("one", b"program")
    file = kept.folder / f"one{private_files.SUFFIX}"
    assert kept.get("one") == b"program"
    swell(file)
    begun = time.process_time()
    assert kept.get("one") is None
    assert time.process_time() - begun < 0.1
    assert not file.exists()
    monkeypatch.setattr(private_files, "LARGEST_FILE", 100)
    kept.put("two", b"x" * 100)
    assert kept.get("two") is None
    kept.put("two", b"x" * (100 - private_files.DIGEST))
    assert kept.get("two") == b"x" * (100 - private_files.DIGEST)


@pytest.mark.parametrize("count", [MOST_NODES, 20_000])
def test_a_beam_with_too_many_positions_is_refused_at_once(count: int, tmp_path: Path) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=rf"the beam has [\d,]+ nodes, one at every named position: at most {MOST_NODES:,}, so name fewer"):
        Beam(1.0, 1.0, 1.0).basis(4, {f"p{number}": (number + 0.37) / count for number in range(count)})
    file = tmp_path / "beam.toml"
    lines = "".join(f"p{number} = {number / count}\n" for number in range(count))
    file.write_text(f"[beam]\nlength = 1.0\nbending_stiffness = 10.0\nmass_per_length = 1.0\nmodes = 4\n[beam.points]\n{lines}")
    from tribosweep.sweep.structure.basis_files import read_basis

    with pytest.raises(ConfigError, match=r"the beam has [\d,]+ nodes"):
        read_basis(file)
    assert time.process_time() - begun < SOON
