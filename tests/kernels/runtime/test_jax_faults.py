"""Faults of JAX: the installed one has none; what a check finds is told, a crash too."""

from __future__ import annotations

import os
import signal
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep.kernels.runtime import jax_faults, jax_private, jax_setup, program_cache
from tribosweep.kernels.runtime.jax_faults import FAULTS


@pytest.mark.parametrize("name", ["products of many rows", "writes in a loop", "empty argument"])
def test_the_installed_jax_is_free_of_it_on_cpus(name: str) -> None:
    if jax.default_backend() != "cpu":
        pytest.skip("the fault is one of CPUs")
    assert FAULTS[name].check() == ""


@pytest.mark.gpu
def test_single_operations_are_right_on_this_gpu() -> None:
    if jax.default_backend() == "cpu":
        pytest.skip("no accelerator")
    assert FAULTS["single operations"].check() == ""


def test_a_wrong_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    jit, numpy_sqrt = jax.jit, jax.numpy.sqrt

    def lossy(function: Any) -> Any:  # as 0.10.2: the last row is wrong
        return lambda rows: jit(function)(rows).at[-1].multiply(0.998)

    monkeypatch.setattr(jax, "jit", lossy)
    assert FAULTS["products of many rows"].check() == "1 of 16385 rows in float64, 1 of 32769 rows in float32"
    monkeypatch.setattr(jax, "jit", jit)
    monkeypatch.setattr(jax.numpy, "sqrt", lambda x: 0.0 * numpy_sqrt(x))
    assert FAULTS["single operations"].check() == "sqrt(512) is [0.]"


def test_quadratic_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, size = [0.0], [0]

    def lower(*_: Any) -> Any:
        def program(_: float) -> Any:
            clock[0] += size[0] ** 2 * 1e-9
            return np.zeros(())

        return SimpleNamespace(compile=lambda: program)

    def jit(function: Any) -> Any:
        size[0] = function.__closure__[0].cell_contents
        return SimpleNamespace(lower=lower)

    monkeypatch.setattr(jax, "jit", jit)
    monkeypatch.setattr(jax_faults, "time", SimpleNamespace(process_time=lambda: clock[0]))
    assert FAULTS["writes in a loop"].check() == "8 times as many elements take 64 times as long (1.6 s)"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.platform == "cpu"])
def test_a_check_in_its_own_process_finds_the_installed_jax_right(name: str) -> None:
    assert jax_faults.found(name) == ""


def test_how_a_check_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(code: str) -> str:
        run = jax_faults.subprocess.run
        with monkeypatch.context() as changed:
            changed.setattr(jax_faults.subprocess, "run", lambda _, **others: run([sys.executable, "-c", code], **others))
            return jax_faults.found("empty argument")

    assert ends(f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})") == "ended by signal 11"
    assert ends("print('1 + 0 is 2'); raise SystemExit(1)") == "1 + 0 is 2"
    assert ends("raise RuntimeError('no such option')") == "RuntimeError: no such option"
    assert ends("import os; assert os.environ['JAX_NUM_CPU_DEVICES'] == '2'") == ""
    monkeypatch.setattr(jax_faults, "LONGEST", 0.2)
    assert ends("import time; time.sleep(60)") == "no result within 0.2 s"
    assert os.environ.get("JAX_PLATFORMS") != "cpu"


def test_a_release_is_tested_or_bad_or_unknown() -> None:
    assert not set(jax_faults.TESTED) & jax_setup.KNOWN_BAD.keys()
    assert jax_setup.KNOWN_BAD["0.11.1"] == (
        "returns wrong numbers on some GPUs (jax issue 40633)"
        " and copies an array each time a loop writes one of its elements on CPU (jax issue 40101)"
    )
    assert jax_faults.known("0.10.1") == ""
    assert metadata.version("jax") not in jax_setup.KNOWN_BAD


@pytest.fixture
def on_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX computes on CPUs, and keeps no programs."""
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    monkeypatch.setattr(program_cache, "use", lambda: None)


def test_a_release_that_was_not_tested_is_checked(on_cpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    installed, asked = metadata.version, []

    def found(name: str) -> str:
        asked.append(name)
        return "ended by signal 11" if name == "empty argument" else ""

    monkeypatch.setattr(jax_faults, "found", found)
    for version in (*jax_faults.TESTED, *jax_setup.KNOWN_BAD):
        monkeypatch.setattr(metadata, "version", lambda name, version=version: version if name == "jax" else installed(name))
        assert jax_faults.problems() == []
    assert asked == []
    monkeypatch.setattr(metadata, "version", lambda name: "0.13.1" if name == "jax" else installed(name))
    (problem,) = jax_faults.problems()
    assert problem.startswith("jax 0.13.1 crashes where a program")
    assert problem.endswith(": ended by signal 11; install one of 0.10.1, 0.12.0.1")
    assert asked == ["products of many rows", "writes in a loop", "empty argument"]
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    asked.clear()
    jax_faults.problems()
    assert asked == list(FAULTS)


def test_what_jax_lacks_and_that_kept_programs_cannot_be_loaded_is_told(
    on_cpus: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, release = "jax._src.compilation_cache:_cache", f"jax {metadata.version('jax')}"
    monkeypatch.setattr(jax_faults, "TESTED", (metadata.version("jax"),))
    monkeypatch.setattr(jax_private, "missing", lambda: [name])
    assert jax_faults.problems() == [f"{release} has no {name}, which {jax_private.USES[name]}"]
    monkeypatch.setattr(jax_private, "missing", list)
    monkeypatch.setattr(program_cache, "use", lambda: tmp_path)
    assert jax_faults.problems() == []
    monkeypatch.setattr(jax_private, "RECORDS", {})
    (problem,) = jax_faults.problems()
    assert problem.startswith(f"{release} cannot load the programs that are kept, so every process compiles them again: UnpicklingError: ")
