"""Links beside k and c of the time schemes, against an independent integration."""

from __future__ import annotations

import re
from typing import Any

import jax
import numpy as np
import pytest

import kernels
from kernels.batch.solve import solve
from kernels.models import MODELS
from kernels.models.status import Status
from kernels.reference.links import CASES
from tests.oracle.links import integrate

END = 2.0


def rows_of(count: int, seed: int) -> list[dict[str, Any]]:
    """Random oscillators without friction; their tables differ in length."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        springs, dampers = rng.integers(2, 7, 2)
        rows.append(
            {
                "m": rng.uniform(0.5, 2.0),
                "k": rng.uniform(0.0, 50.0),
                "c": rng.uniform(0.0, 0.5),
                "x0": rng.uniform(-0.2, 0.2),
                "a0": rng.uniform(1.0, 5.0),
                "omega": rng.uniform(3.0, 12.0),
                "spring_displacement": np.cumsum(rng.uniform(0.05, 0.2, springs)) - 0.3,
                "spring_force": np.cumsum(rng.uniform(0.0, 20.0, springs)) - 20.0,
                "damper_velocity": np.cumsum(rng.uniform(0.1, 0.5, dampers)) - 0.6,
                "damper_force": np.cumsum(rng.uniform(0.0, 1.0, dampers)) - 1.0,
            }
        )
    return rows


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows as columns, tables padded with NaN."""
    found: dict[str, Any] = {}
    for name in rows[0]:
        values = [np.atleast_1d(row[name]) for row in rows]
        width = max(map(len, values))
        padded = np.array([np.pad(value, (0, width - len(value)), constant_values=np.nan) for value in values])
        found[name] = padded if np.ndim(rows[0][name]) else padded[:, 0]
    return found


def run(model: str, scheme: str, rows: list[dict[str, Any]], **times: float) -> dict[str, np.ndarray]:
    """Observables of rows, none of which fails."""
    found = solve(MODELS[model], scheme, {**columns(rows), **times}, count=len(rows))
    assert (found.status == Status.OK).all()
    return found.observables


def agree(found: dict[str, np.ndarray], rows: list[dict[str, Any]], allowed: float) -> None:
    """Every row is that of the independent integration."""
    for n, row in enumerate(rows):
        for name, value in integrate(row, END).items():
            scale = {"x_end": 0.1, "v_end": 1.0, "link_force_end": 10.0, "link_dissipation": 10.0}[name]
            assert found[name][n] == pytest.approx(value, abs=allowed * scale), (n, name)


def test_rk54_is_an_independent_integration() -> None:
    rows = rows_of(8, 3)
    found = run("rubbing_mass", "rk54", rows, mu=0.0, end=END, tolerance=1e-9)
    agree(found, rows, 1e-6)
    assert (found["link_peak_force"] >= np.abs(found["link_force_end"])).all()


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "step", "allowed"), [("euler", 2e-4, 1e-2), ("adapt2", 1e-3, 2e-3)])
def test_every_scheme_tends_to_it_and_walls_stand_beside_links(scheme: str, step: float, allowed: float) -> None:
    rows = [row | {"k_n": 2000.0, "gap": 0.05} for row in rows_of(4, 5)]
    agree(run("stop", scheme, rows, end=END, step=step, largest_step=step), rows, allowed)


@pytest.mark.slow
def test_a_linear_table_is_a_linear_spring_and_damper() -> None:
    straight = {
        "spring_displacement": [-1.0, 0.3],
        "spring_force": [-40.0, 12.0],
        "damper_velocity": [-1.0, 2.0],
        "damper_force": [-0.5, 1.0],
    }
    others = {"mu": 0.1, "k_t": 1e4, "a0": 4.0, "omega": 5.0, "end": END, "window_start": 0.5, "window_end": 1.7, "step": 1e-3}
    linked = kernels.simulate("rubbing_mass", others | straight, "euler")
    plain = kernels.simulate("rubbing_mass", others | {"k": 40.0, "c": 0.5, "c_t": 200.0}, "euler")
    given = kernels.simulate("rubbing_mass", others | straight | {"c_t": 200.0}, "euler")
    assert float(given.wear_power) == pytest.approx(float(plain.wear_power), rel=1e-9)
    assert float(given.x_end) == pytest.approx(float(plain.x_end), rel=1e-9)
    assert float(linked.wear_power) == pytest.approx(float(plain.wear_power), rel=1e-2)  # c_t is critical damping by default


@pytest.mark.slow
def test_derivatives_through_the_steps_are_differences() -> None:
    row = rows_of(1, 7)[0] | {"mu": 0.0, "end": 1.0, "step": 1e-3}

    def last(factor: Any) -> Any:
        return kernels.simulate("rubbing_mass", {**row, "spring_force": factor * row["spring_force"]}, "euler").x_end

    found = jax.grad(last)(1.0)
    assert float(found) == pytest.approx(float(last(1.0 + 1e-6) - last(1.0 - 1e-6)) / 2e-6, rel=1e-6)


def test_rows_without_a_link_have_none() -> None:
    row = rows_of(1, 3)[0] | {"mu": 0.0}
    none = row | {"spring_force": np.zeros_like(row["spring_force"]), "damper_force": np.zeros_like(row["damper_force"])}
    alone = kernels.simulate("rubbing_mass", none | {"end": END}, "rk54")
    assert [float(alone[name]) for name in ("link_peak_force", "link_force_end", "link_dissipation")] == [0.0, 0.0, 0.0]
    assert "link_dissipation" not in kernels.simulate("rubbing_mass", {"a0": 2.0, "end": 0.1})


SPRING = {"spring_displacement": [-1.0, 0.0, 1.0], "spring_force": [-2.0, 0.0, 1.0], "mu": 0.0}


@pytest.mark.parametrize(
    ("model", "scheme", "params", "said"),
    [
        ("rubbing_mass", "exact", SPRING, "scheme 'exact' has no "),
        ("stop", "euler", SPRING | {"m_2": 1.0}, "two bodies move as one only with the same linear spring each: leave out m_2"),
        ("rubbing_mass", "euler", SPRING | {"spring_force": [1.0, 2.0]}, "spring_displacement has 3, spring_force has 2"),
        ("rubbing_mass", "euler", {"mu": 0.0, "damper_force": [1.0]}, "must have the same number of nodes, 2 at least"),
        ("rubbing_mass", "euler", SPRING | {"spring_displacement": [-1.0, 1.0, 0.0]}, "the nodes of spring_displacement must ascend"),
        ("rubbing_mass", "euler", SPRING | {"step": 2.0}, "it must be less than 1.414 s for links of up to 2 N/m and 0 N s/m"),
    ],
)
def test_what_is_not_possible_is_said_in_one_line(model: str, scheme: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        kernels.simulate(model, params, scheme)


def test_float32_has_no_links() -> None:
    with pytest.raises(ValueError, match="float32 has no links beside k and c, whose energies need more digits"):
        solve(MODELS["rubbing_mass"], "euler", {**columns([rows_of(1, 3)[0]]), "mu": 0.0}, count=1, dtype=np.float32)


def test_published_springs_and_dampers_ascend() -> None:
    assert {case.scheme for case in CASES} >= {"euler", "devogelaere", "rk54"}
    assert all(np.all(np.diff(case.config["spring_displacement"]) > 0.0) for case in CASES if "spring_displacement" in case.config)
