"""What a worker returns is checked before it is written: no garbage becomes a row of a run, and workers that stop are replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sweep.conftest import FakeKernels, install_fake, install_small_pieces, install_small_shards
from tests.sweep.execution.processes import assert_same_bits, children, read, shards, start, wait_for_shards, write_study
from tests.sweep.execution.scenarios import BOUNDARY, CONVERGENCE, SAMPLE, SUBSET
from tribosweep.sweep import RunError, run
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.execution.shard import Piece, Setting, compute_piece, describe_runtime
from tribosweep.sweep.io import sealed_parquet

STUDY: dict[str, Any] = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 40}}}}
Change = Callable[[Any], Any]


class Worker(Executor):
    """Calls functions at once, and changes some of the results."""

    def __init__(self, changes: Mapping[Callable[..., Any], Change]) -> None:
        self.changes = changes

    def submit(self, function: Callable[..., Any], /, *words: Any, **named: Any) -> Future[Any]:
        found: Future[Any] = Future()
        value = function(*words, **named)
        found.set_result(self.changes.get(function, lambda same: same)(value))
        return found


@pytest.fixture
def physics(monkeypatch: pytest.MonkeyPatch) -> FakeKernels:
    """A stand-in for the physics: four shards of ten points, in pieces of six."""
    fake = install_fake(monkeypatch)
    install_small_shards(monkeypatch)
    install_small_pieces(monkeypatch, 6)
    return fake


def flipped(place: float) -> Change:
    """One bit of the file differs, at a fraction of its length."""

    def change(piece: Piece) -> Piece:
        data = bytearray(piece.data)
        data[int(place * (len(data) - 1))] ^= 4
        return replace(piece, data=bytes(data))

    return change


def written_again(change: Callable[[Any, dict[str, Any]], tuple[Any, dict[str, Any]]]) -> Change:
    """The table and the facts are changed before they get their checksums."""

    def changed(piece: Piece) -> Piece:
        table, facts = change(sealed_parquet.decode(piece.data), {**piece.facts, "seconds": {**piece.facts["seconds"]}})
        return replace(piece, data=parquet.serialise(table, facts, time.perf_counter()), facts=facts)

    return changed


def other_numbers(table: Any, facts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return table.set_column(0, table.schema.field(0), [parquet.numbers(table.column("point").to_numpy()[::-1].copy())]), facts


GARBAGE: dict[str, Change] = {
    "nothing": lambda piece: None,
    "text": lambda piece: "done",
    "bytes": lambda piece: piece.data,
    "a dictionary": lambda piece: {"number": piece.number, "data": piece.data},
    "no bytes": lambda piece: replace(piece, data=None),
    "empty bytes": lambda piece: replace(piece, data=b""),
    "cut bytes": lambda piece: replace(piece, data=piece.data[: len(piece.data) // 2]),
    "zeros": lambda piece: replace(piece, data=bytes(len(piece.data))),
    **{f"a flipped bit at {place:g}": flipped(place) for place in (0.0, 0.2, 0.5, 0.8, 1.0)},
    "another shard": lambda piece: replace(piece, number=piece.number + 1),
    "another row": lambda piece: replace(piece, first=piece.first + 1, end=piece.end + 1, rest=piece.rest - 1),
    "more rows told": lambda piece: replace(piece, end=piece.end + 1, rest=piece.rest - 1),
    "the end told": lambda piece: replace(piece, rest=0),
    "no rows": lambda piece: replace(piece, end=piece.first, rest=10 - piece.first),
    "words for numbers": lambda piece: replace(piece, end="6"),
    "other facts": lambda piece: replace(piece, facts={**piece.facts, "statuses": {"ok": 10**9}}),
    "no facts": lambda piece: replace(piece, facts={}),
    "another study": written_again(lambda table, facts: (table, {**facts, "config_hash": "0" * 64})),
    "another number": written_again(lambda table, facts: (table, {**facts, "number": 9})),
    "other points": written_again(lambda table, facts: (table, {**facts, "points_hash": "0" * 64})),
    "other numbers of points": written_again(other_numbers),
    "a column less": written_again(lambda table, facts: (table.drop_columns(["wear_power"]), facts)),
    "another type": written_again(lambda table, facts: (table.set_column(1, "a0", table.column("point")), facts)),
    "a row less": written_again(lambda table, facts: (table.slice(1), facts)),
    "statuses of others": written_again(lambda table, facts: (table, {**facts, "statuses": {"ok": 1}})),
    "words of others": written_again(lambda table, facts: (table, {**facts, "words": {}})),
    "times that are no numbers": written_again(lambda table, facts: (table, facts | {"seconds": facts["seconds"] | {"computing": np.nan}})),
}


@pytest.mark.parametrize("name", [name if n % 4 == 0 else pytest.param(name, marks=pytest.mark.slow) for n, name in enumerate(GARBAGE)])
def test_garbage_of_a_worker_is_refused_and_the_run_goes_on_with_another(physics: FakeKernels, tmp_path: Path, name: str) -> None:
    whole, calls, out = run(STUDY, tmp_path / "whole"), 0, tmp_path / "out"

    def third(piece: Piece) -> Any:
        nonlocal calls
        calls += 1
        return GARBAGE[name](piece) if calls == 3 else piece

    with pytest.raises(RunError, match=r"a worker returned something else than rows of shard \d+ from row \d+ on: it") as refused:
        run(STUDY, out, executor=Worker({compute_piece: third}))
    assert len(str(refused.value)) < 300
    assert not list(out.rglob("*.tmp"))
    for path in shards(out):
        sealed_parquet.verified(path)
    assert run(STUDY, out, executor=Worker({})).complete
    assert_same_bits(read(out), read(whole.directory))


@pytest.mark.parametrize("study", [BOUNDARY, CONVERGENCE, SUBSET, SAMPLE], ids=["boundary", "convergence", "subset", "sample"])
def test_designs_of_every_kind_pass_the_checks(physics: FakeKernels, tmp_path: Path, study: dict[str, Any]) -> None:
    assert run(study, tmp_path / "out", executor=Worker({})).complete


def test_a_worker_that_does_not_describe_itself_is_refused(physics: FakeKernels, tmp_path: Path) -> None:
    for garbage in (None, "jax", {"jax": "0"}, Setting({"jax": b"0"}, ())):  # type: ignore[dict-item]
        with pytest.raises(RunError, match="where its description was asked for"):
            run(STUDY, tmp_path / "out", executor=Worker({describe_runtime: lambda found, garbage=garbage: garbage}))
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.long
@pytest.mark.slow
def test_a_stopped_worker_of_this_machine_is_replaced_and_changes_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "3s")
    study, out = write_study(tmp_path / "study.toml", 2_500, 64), tmp_path / "out"
    run(study, tmp_path / "whole")
    with start("run", study, "--out", out, "--executor", "dask", "--workers", "2") as process:
        wait_for_shards(process, out, 3)
        stopped = workers_of(process.pid)[0]
        os.kill(stopped, signal.SIGSTOP)
        _, told = process.communicate(timeout=200)
    assert process.returncode == 0, told
    assert "Traceback" not in told
    assert not Path(f"/proc/{stopped}").exists()
    assert_same_bits(read(out), read(tmp_path / "whole"))


@pytest.mark.long
@pytest.mark.slow
def test_a_run_whose_workers_are_all_stopped_can_be_interrupted_and_leaves_no_process(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    study, out = write_study(tmp_path / "study.toml", 2_500, 64), tmp_path / "out"
    with start("run", study, "--out", out, "--executor", "dask", "--workers", "2") as process:
        wait_for_shards(process, out, 3)
        left = children(process.pid)
        for worker in workers_of(process.pid):
            os.kill(worker, signal.SIGSTOP)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert f"tribosweep resume {out} --executor dask --workers 2" in told
    assert "Traceback" not in told
    deadline = time.monotonic() + 10.0
    while any(is_alive(each) for each in left):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def workers_of(process: int) -> list[int]:
    """The workers of a cluster on this machine: what computes."""
    return [child for child in children(process) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def is_alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
