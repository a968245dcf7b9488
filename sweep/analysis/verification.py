"""Comparison of published values with computed ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.sweep.io.values import padded

if TYPE_CHECKING:
    from tribosweep.kernels.reference.case import Case

PASS, FAIL = "pass", "FAIL"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One published value and the value computed for it.

    Attributes:
        case, scheme, quantity, unit: the case, its scheme, and the compared quantity with its unit.
        published, computed: the values, in `unit`.
        relative_difference: |computed - published| / |published|; the absolute difference if the published value is 0.
        tolerance: the largest difference that passes.
        verdict: "pass" or "FAIL".
        source: the publication.
        note: a remark for the reader.
    """

    case: str
    scheme: str
    quantity: str
    unit: str
    published: float
    computed: float
    relative_difference: float
    tolerance: float
    verdict: str
    source: str
    note: str


def verify() -> list[Verdict]:
    """Compute every reference case, in the order of `tribosweep.kernels.reference.checks.CASES`."""
    from tribosweep.kernels.runtime import jax_setup, program_cache

    jax_setup.prepare()
    program_cache.use()
    from tribosweep.kernels.reference.checks import CASES, REFERENCE_MODELS

    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, case in enumerate(CASES):
        groups[case.model, case.scheme].append(position)
    computed: dict[int, float] = {}
    for (model, scheme), positions in groups.items():
        computed |= dict(zip(positions, compute(REFERENCE_MODELS[model], scheme, [CASES[position] for position in positions]), strict=True))
    return [judge(case, computed[position]) for position, case in enumerate(CASES)]


def compute(model: Model, scheme: str, cases: list[Case]) -> list[float]:
    """Compute the quantities of cases of one model and one scheme as one batch; NaN if a row fails."""
    from tribosweep.kernels.batch.solve import solve

    names = [q.name for q in model.parameters if any(q.name in case.config for case in cases)]
    columns: dict[str, Any] = {
        name: padded([case.config.get(name, ()) for case in cases])
        if name in model.tables
        else np.array([case.config.get(name, np.nan) for case in cases])
        for name in names
    }
    absent = {name: np.array([name not in case.config for case in cases]) for name in names}
    absent = {name: mask for name, mask in absent.items() if mask.any()}
    solution = solve(model, scheme, columns, absent, len(cases))
    return [float(solution.observables[case.quantity][row]) for row, case in enumerate(cases)]


def judge(case: Case, computed: float) -> Verdict:
    """Compare one case with its computed value; the comparison is absolute if the published value is 0."""
    difference = abs(computed - case.published) / (abs(case.published) or 1.0)
    return Verdict(
        case=case.case,
        scheme=case.scheme,
        quantity=case.quantity,
        unit=case.unit,
        published=case.published,
        computed=computed,
        relative_difference=difference,
        tolerance=case.tolerance,
        verdict=PASS if difference <= case.tolerance else FAIL,
        source=case.source,
        note=case.note,
    )
