"""A run says which of its rows loops in C++ computed, and when it goes on without them; `doctor` says whether they are in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.runtime import native_library
from tribosweep.sweep import load, resume, run
from tribosweep.sweep.cli import main
from tribosweep.sweep.execution import dask_versions

STUDY: dict[str, Any] = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 25}}}}
PLAIN = {"jax": "0", "device": "none", "dtype": "float64"}
NATIVE = PLAIN | {"native": "euler in lockstep, by g++ 12"}
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(("before", "after"), [(PLAIN, NATIVE), (NATIVE, PLAIN), (NATIVE, NATIVE), (PLAIN, PLAIN)])
@pytest.mark.usefixtures("small_shards", "fake")
def test_a_run_that_goes_on_otherwise_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: dict[str, str], after: dict[str, str], capsys: Captured
) -> None:
    from tribosweep.kernels.runtime import jax_setup

    monkeypatch.setattr(jax_setup, "describe", lambda: before)
    run(load(STUDY), tmp_path / "run")
    first, second, *_ = sorted((tmp_path / "run" / "points").glob("*.parquet"))
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["provenance"] == before
    second.unlink()
    monkeypatch.setattr(jax_setup, "describe", lambda: after)
    said: list[str] = []
    resume(tmp_path / "run", tell=said.append)
    notes = [line for line in said if "native" in line]
    there, here = before.get("native", "off"), after.get("native", "off")
    expected = f"Note: the run was begun with native {there}, now it is {here}: the last digits of its rows may differ."
    assert notes == [expected] * (there != here)
    for path, setting in ((first, before), (second, after)):
        assert pq.read_schema(path).metadata.get(b"native", b"").decode() == setting.get("native", "")


def test_doctor_says_whether_loops_in_cpp_are_in_use(fake: FakeKernels, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native_library.SWITCH, raising=False)
    assert main(["doctor", "--json"]) == 0
    assert "off (TRIBOSWEEP_NATIVE=1 switches it on)" in capsys.readouterr().out
    monkeypatch.setattr(native_library, "describe", lambda: NATIVE["native"])
    assert main(["doctor", "--json"]) == 0
    assert NATIVE["native"] in capsys.readouterr().out
    assert fake.calls == []


def test_dask_workers_that_are_set_otherwise_get_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native_library.SWITCH, raising=False)
    own = dask_versions.own_versions()
    monkeypatch.setenv(native_library.SWITCH, "1")
    other = {**dask_versions.own_versions(), "host": "far"}
    good, refused = dask_versions.sort_out({"tcp://far": other}, own)
    assert not good
    assert refused == [f"worker tcp://far on far gets no work: {native_library.SWITCH} on there, off here"]
