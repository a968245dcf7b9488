"""`import tribosweep` is the front door: it names everything public, starts nothing heavy, and says what its objects are in a line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tribosweep
from tribosweep import kernels, sweep
from tribosweep.sweep import load, run

ROOT = Path(__file__).resolve().parents[2]


def test_it_names_what_is_public_in_both_packages() -> None:
    assert set(dir(tribosweep)) == {*dir(sweep), *dir(kernels)}
    for name in dir(tribosweep):
        home = sweep if name in dir(sweep) else kernels
        assert getattr(tribosweep, name) is getattr(home, name)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="simulat'"):
        _ = tribosweep.simulat


def test_importing_it_prepares_jax_and_starts_neither_jax_nor_pandas() -> None:
    code = (
        "import sys, tribosweep; assert not {'jax', 'jaxlib', 'pandas', 'pyarrow'} & set(sys.modules); dir(tribosweep); "
        "import jax.numpy as jnp; assert jnp.ones(1).dtype == 'float64'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def test_its_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tribosweep", "--version"], check=True, cwd=ROOT, timeout=60, capture_output=True, text=True
    )
    assert tribosweep.__version__ in done.stdout


def test_a_study_and_a_run_are_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    study = {"study": {"name": "small"}, "sweep": {"axes": {"a0": [15.0, 0.5], "mu": {"from": 0.1, "to": 0.2, "count": 2}}}}
    assert repr(load(study)) == "<Config 'small': rubbing_mass, 4 points over a0, mu>"
    assert repr(load({})) == "<Config 'study': rubbing_mass, 1 point>"
    assert repr(run(study)) == "<Run 'small': complete, 4 rows, in 'runs/small'>"
