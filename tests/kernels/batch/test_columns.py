"""A batch that is asked for some observables returns these, with the numbers that it returns among all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch.compile import PROGRAMS
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.outputs import Asked

pytestmark = pytest.mark.shapes

COUNT = 64
MASSES: dict[str, Any] = {"a0": np.linspace(0.5, 15.0, COUNT), "mu": 0.11, "window_start": 1.0, "end": 3.0}
STEPS = {"k_t": 1e5, "step": 1e-3}
WEAR = {"service_time": 1e6, "archard_k": 1e-14}


@pytest.mark.long_cases("exact-more1-columns1", "exact-more0-*", "exact-more2-*", "euler-*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "more", "columns"),
    [
        ("exact", {}, ("wear_power",)),
        pytest.param("exact", {"k": 7.0, "c": 0.2}, ("regime", "x_end"), marks=pytest.mark.slow),
        ("exact", WEAR, ("wear_volume",)),
        ("euler", STEPS, ("wear_power", "accepted_steps")),
        ("rk32", STEPS, ("wear_power", "rejected_steps")),
    ],
)
def test_some_columns_are_as_among_all(scheme: str, more: dict[str, float], columns: tuple[str, ...]) -> None:
    whole = solve(RUBBING_MASS, scheme, MASSES | more, {}, COUNT)
    some = solve(RUBBING_MASS, scheme, MASSES | more, {}, COUNT, asked=Asked(columns=columns))
    assert set(some.observables) == set(columns)
    np.testing.assert_array_equal(some.status, whole.status)
    for name in columns:
        np.testing.assert_allclose(some.observables[name], whole.observables[name], rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.slow
def test_columns_in_any_order_have_one_program() -> None:
    solve(RUBBING_MASS, "exact", MASSES, {}, COUNT, asked=Asked(columns=("regime", "wear_power")))
    made = len(PROGRAMS)
    solve(RUBBING_MASS, "exact", MASSES, {}, COUNT, asked=Asked(columns=("wear_power", "regime")))
    assert len(PROGRAMS) == made


@pytest.mark.slow
def test_an_unknown_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"'wear_powr' is no observable of these rows; did you mean 'wear_power'\?"):
        solve(RUBBING_MASS, "exact", MASSES, {}, COUNT, asked=Asked(columns=("wear_powr",)))
    with pytest.raises(ValueError, match="'wear_volume' is no observable of these rows"):
        solve(RUBBING_MASS, "exact", MASSES, {}, COUNT, asked=Asked(columns=("wear_volume",)))
