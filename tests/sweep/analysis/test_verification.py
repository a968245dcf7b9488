"""`tribosweep verify`: each published value is held against the computed one."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sweep.conftest import FakeKernels
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.reference.checks import CASES as PUBLISHED
from tribosweep.kernels.reference.checks import REFERENCE_MODELS
from tribosweep.sweep.analysis.verification import verify
from tribosweep.sweep.cli import main


@dataclass(frozen=True)
class FakeCase:
    """What `tribosweep.kernels.reference.checks` holds."""

    case: str
    published: float
    tolerance: float
    config: dict[str, float]
    scheme: str = "exact"
    quantity: str = "wear_power"
    unit: str = "W"
    source: str = "nobody"
    note: str = ""
    model: str = "rubbing_mass"


CASES = (
    FakeCase("right", 15.0, 1e-12, {"a0": 5.0, "mu": 0.1}, note="The window counts."),
    FakeCase("another scheme", 1015.0, 1e-12, {"a0": 5.0, "k_t": 1.0}, scheme="euler", note="The window counts."),
    FakeCase("zero", 0.0, 1e-12, {"a0": 0.0, "mu": 0.0}),
)


@pytest.fixture
def cases(fake: FakeKernels, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Stands in for `tribosweep.kernels.reference.checks`; `CASES` may be replaced."""
    assert fake.calls == []
    checks = types.ModuleType("tribosweep.kernels.reference.checks")
    checks.__dict__["CASES"], checks.__dict__["REFERENCE_MODELS"] = CASES, MODELS
    monkeypatch.setitem(sys.modules, "tribosweep.kernels.reference.checks", checks)
    return checks


def test_no_reference_case_is_dropped_or_loosened_unnoticed() -> None:
    names = [f"{case.model} | {case.scheme} | {case.quantity} | {case.case}" for case in PUBLISHED]
    known = (Path(__file__).parents[2] / "data" / "reference_cases.txt").read_text().splitlines()
    assert names == known
    assert len(set(names)) == len(names)
    for case in PUBLISHED:
        assert case.unit == {q.name: q.unit for q in REFERENCE_MODELS[case.model].observables}[case.quantity]
        assert case.tolerance <= 1e-3
        if case.model != "rubbing_mass" and case.scheme == "exact":
            assert case.tolerance <= 1e-9


@pytest.mark.usefixtures("cases")
def test_published_values_are_held_against_computed_ones_in_their_order(fake: FakeKernels, capsys: pytest.CaptureFixture[str]) -> None:
    assert [(row.case, row.computed, row.verdict) for row in verify()] == [
        ("right", 15.0, "pass"),
        ("another scheme", 1015.0, "pass"),
        ("zero", 0.0, "pass"),
    ]
    assert fake.calls == [2, 1]
    assert main(["verify"]) == 0
    said = capsys.readouterr()
    assert said.out.count("The window counts.") == 1
    assert "3 of 3 cases pass" in said.err


@pytest.mark.parametrize(
    "wrong",
    [FakeCase("off", 15.1, 1e-3, {"a0": 5.0}), FakeCase("off", 0.0, 1e-12, {"a0": 1.0}), FakeCase("nan", 1.0, 1.0, {"a0": float("nan")})],
)
def test_a_value_that_is_off_is_status_4(cases: types.ModuleType, wrong: FakeCase, capsys: pytest.CaptureFixture[str]) -> None:
    cases.__dict__["CASES"] = (*CASES, wrong)
    assert main(["verify", "--json"]) == 4
    assert [row["verdict"] for row in json.loads(capsys.readouterr().out)] == ["pass", "pass", "pass", "FAIL"]
