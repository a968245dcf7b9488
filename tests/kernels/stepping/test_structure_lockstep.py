"""Structures in lockstep: the same results as one by one, in and out of the window, with and without records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch.program_key import LOCKSTEP, QUEUE, groups
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure
from tribosweep.kernels.models.supports import Support


def two_supports() -> Structure:
    """Three modes, a ring and a plane, two loads of which one follows a record."""
    shapes = {
        "a": np.array([[1.0, 0.2, 0.5], [0.1, 1.0, -0.6], [0.0, 0.0, 0.0]]),
        "b": np.array([[0.4, -0.7, 0.3], [0.6, 0.3, 0.9], [0.0] * 3]),
    }
    basis = Basis(
        np.array([120.0, 300.0, 700.0]),
        np.array([0.5, 0.8, 0.4]),
        np.full(3, 0.02),
        shapes,
        np.array([[1.0, 0.5, 0.2], [0.3, 1.0, 0.1], [0.0] * 3]),
    )
    supports = [Support("ring", "a", "ring"), Support("stop", "b", "plane")]
    loads = [Load("ground", channel=0), Load("push", "force", direction=(0.0, 1.0, 0.0), point="b")]
    return Structure(basis, supports, loads, observed=("b",), peak_edges=(0.0, 50.0, 1e4), modal_energies=True)


@pytest.mark.long_cases("euler", "devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_lockstep_has_the_results_of_rows_that_each_have_their_step(scheme: str) -> None:
    count, structure = 5, two_supports()
    given: dict[str, Any] = {"k_n": 1e5, "c_n": 20.0, "mu": 0.3, "k_t": 1e5, "c_t": 20.0, "gap[ring]": 5e-4, "gap[stop]": 3e-4,
                             "amplitude[ground]": 40.0, "omega[ground]": np.linspace(90.0, 160.0, count), "amplitude[push]": 10.0,
                             "omega[push]": 210.0, "constant[push]": 2.0, "end": 0.0701, "window_start": 0.0203, "window_end": 0.0607,
                             "record_scale": np.linspace(0.0, 2.0, count), "record": 0.0}  # fmt: skip
    records = Records(np.sin(np.arange(400) * 0.9)[None, None] * 30.0, 2e-4)
    together = solve(structure.model, scheme, {**given, "step": 1.1e-5}, count=count, records=records)
    apart = solve(structure.model, scheme, {**given, "step": np.full(count, 1.1e-5)}, count=count, records=records)
    assert together.status.tolist() == apart.status.tolist() == [Status.OK] * count
    assert together.observables["impacts[ring]"].min() > 0
    for name, values in apart.observables.items():
        scale = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 1.0
        np.testing.assert_allclose(together.observables[name], values, rtol=1e-7, atol=1e-9 * scale, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(("step", "engine"), [(np.float64(1e-5), LOCKSTEP), (np.full(3, 1e-5), QUEUE)])
def test_rows_that_share_their_steps_run_in_lockstep(step: Any, engine: str) -> None:
    structure = two_supports()
    rows = structure.model.resolve({"end": 0.1, "step": step, "gap[ring]": np.ones(3)})
    assert [key.engine for key in groups(structure.model, "euler", None, rows, np.arange(3))] == [engine]
