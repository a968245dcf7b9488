"""Searches, optimality, jumps and fronts against functions whose optima are known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from tests.sweep.analysis.optimisation.analytic import Analytic, measure, problem
from tribosweep.sweep.analysis.optimisation import analysis
from tribosweep.sweep.analysis.optimisation.evaluation import Functions
from tribosweep.sweep.analysis.optimisation.evolution import evolve
from tribosweep.sweep.analysis.optimisation.functions import Constraint
from tribosweep.sweep.analysis.optimisation.results import OptimisationResult, limits
from tribosweep.sweep.analysis.optimisation.searching import Scales, Task, candidate_of
from tribosweep.sweep.cli.optimisation import print_result
from tribosweep.sweep.io.errors import ConfigError

Solve = Callable[..., OptimisationResult]


@pytest.fixture
def solve(monkeypatch: pytest.MonkeyPatch) -> Solve:
    """Carry out an optimisation of functions."""

    def carry_out(*given: Any, **options: Any) -> OptimisationResult:
        optimisation, evaluator = problem(*given, **options)
        monkeypatch.setattr(analysis, "Evaluator", evaluator)
        return analysis.carry_out(optimisation)

    return carry_out


def rosenbrock(x: Any) -> Any:
    return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2


def test_an_inner_optimum_is_found_without_constraints(solve: Solve) -> None:
    found = solve([(rosenbrock, False)], [], [(-2.0, 2.0), (-2.0, 2.0)])
    assert found.best_values == pytest.approx([1.0, 1.0], abs=1e-4)
    assert found.converged


def test_the_multiplier_is_the_derivative_of_the_optimum_by_the_limit(solve: Solve) -> None:
    # least x^2 + 2 y^2 with x + y >= L: x = 2 L / 3, y = L / 3, value 2 L^2 / 3, derivative 4 L / 3
    found = solve([(lambda x: x[0] ** 2 + 2.0 * x[1] ** 2, False)], [(lambda x: x[0] + x[1], ">=", 1.5)], [(-3.0, 3.0), (-3.0, 3.0)])
    assert found.best_values == pytest.approx([1.0, 0.5], abs=1e-6)
    (row,) = limits(found)
    assert row["active"] and row["kept"]
    assert row["sensitivity"] == pytest.approx(2.0, abs=1e-5)


def test_a_maximum_on_a_logarithmic_scale(solve: Solve) -> None:
    # largest x y with x^2 + y^2 <= L: x = y = sqrt(L / 2), value L / 2, derivative 1 / 2
    found = solve([(lambda x: x[0] * x[1], True)], [(lambda x: x[0] ** 2 + x[1] ** 2, "<=", 8.0)], [(0.01, 100.0)] * 2, log=True)
    assert found.best_values == pytest.approx([2.0, 2.0], rel=1e-5)
    assert limits(found)[0]["sensitivity"] == pytest.approx(0.5, abs=1e-5)


def test_a_worst_case_is_the_least_largest_row(solve: Solve) -> None:
    # least of max(|x - 1|, |x + 1|, |y|, 3 |y - 0.4| - 1): x = 0 where two rows are equal
    rows = lambda x: jnp.stack([x[0] - 1.0, 1.0 - x[0], x[0] + 1.0, -1.0 - x[0], (x[1] - 0.4) * 3.0])  # noqa: E731
    found = solve([(rows, False)], [], [(-3.0, 4.0), (0.0, 2.0)], worst=True)
    assert found.best_values[0] == pytest.approx(0.0, abs=1e-6)
    assert found.optima[0].candidate.functions.measures[0] == pytest.approx(1.0, abs=1e-6)
    assert found.converged


def test_where_no_point_keeps_the_limits_the_nearest_is_shown(solve: Solve) -> None:
    # x <= 1 and x >= 2: parts of the limits are x / 1 - 1 and 1 - x / 2, equal at x = 4/3
    found = solve([(lambda x: x[0], False)], [(lambda x: x[0], "<=", 1.0), (lambda x: x[0], ">=", 2.0)], [(0.0, 5.0)])
    assert not found.kept
    assert found.best_values == pytest.approx([4.0 / 3.0], abs=1e-5)
    assert (
        "No point keeps all constraints. The nearest one, which is shown, violates g0 <= 1 N (it is 1.33333 N); g1 >= 2 N" in found.notes[0]
    )
    assert [(row["kept"], row["sensitivity"]) for row in limits(found)[:2]] == [(False, None), (False, None)], "no optimum by a limit"


def test_a_narrow_region_that_no_start_hits_is_found(solve: Solve) -> None:
    ring = lambda x: (x[0] ** 2 + x[1] ** 2 - 1.0) ** 2  # noqa: E731
    found = solve([(lambda x: x[0], False)], [(ring, "<=", 1e-8)], [(-4.0, 5.0), (-4.0, 5.0)])
    assert found.kept
    assert found.best_values[0] == pytest.approx(-1.0, abs=1e-3)


def test_an_optimum_at_a_jump_is_found_and_said(solve: Solve) -> None:
    # falls towards x = 0.37, where it jumps up by 3
    jump = lambda x: -x[0] + 3.0 * (x[0] > 0.37) + (x[1] - 0.5) ** 2  # noqa: E731
    found = solve([(jump, False)], [], [(0.0, 1.0), (0.0, 1.0)], word=lambda x: float(x[0] > 0.37))
    assert found.best_values == pytest.approx([0.37, 0.5], abs=2e-3)
    assert found.optima[0].candidate.functions.measures[0] == pytest.approx(-0.37, abs=2e-3)
    assert any("f0 jumps from" in note and "where count 0 becomes count 1" in note for note in found.notes)
    assert not found.converged
    assert "no proven optimum" in " ".join(found.notes)


@pytest.mark.parametrize("relation", ["<=", ">="])
@pytest.mark.parametrize("limit", [0.5, 0.0])
@pytest.mark.parametrize("moves", [True, False])
def test_a_limit_counts_as_kept_only_inside_it_unless_no_variable_moves_the_value(relation: str, limit: float, moves: bool) -> None:
    constraint = Constraint(measure("g"), relation == "<=", limit)
    for part in (-1.0, -1e-3, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-3):  # of the scale, beyond the limit where positive
        rates = np.full((1, 1), 3.0 if moves else 0.0)
        values = limit + constraint.sign * 2.0 * part
        beyond = constraint.sign * (values - limit)
        functions = Functions(((np.ones(1), rates),), ((np.array([beyond]), rates),), np.array([1.0, values]), np.zeros((1, 0)), True)
        kept = candidate_of(0, np.zeros(1), functions, Task(np.zeros(1)), Scales(np.ones(1), np.full(1, 2.0))).kept
        assert kept == (part <= -1e-9 if moves else part <= 1e-12), part


def test_a_limit_that_jumps_is_kept(solve: Solve) -> None:
    steps = lambda x: 1.0 * x[0] + 5.0 * (x[0] > 0.6)  # noqa: E731
    found = solve([(lambda x: x[0], True)], [(steps, "<=", 3.0)], [(0.0, 1.0)], word=lambda x: float(x[0] > 0.6))
    assert found.kept
    assert found.best_values == pytest.approx([0.6], abs=1e-3)
    assert any("g0 jumps" in note for note in found.notes)


def test_a_front_is_that_of_the_closed_form(solve: Solve) -> None:
    # f0 = x^2 + y^2 and f1 = (x - 1)^2 + y^2: f0 = (1 - sqrt(f1))^2, slope -(1 - sqrt(f1)) / sqrt(f1)
    pair = [(lambda x: x[0] ** 2 + x[1] ** 2, False), (lambda x: (x[0] - 1.0) ** 2 + x[1] ** 2, False)]
    found = solve(pair, [], [(-2.0, 2.0), (-2.0, 2.0)], front=15)
    goals = np.array([point.candidate.functions.measures for point in found.front])
    assert len(goals) == 15
    assert goals[:, 0] == pytest.approx((1.0 - np.sqrt(np.abs(goals[:, 1]))) ** 2, abs=1e-5)
    assert (np.diff(goals[:, 0]) < 0.0).all() and (np.diff(goals[:, 1]) > 0.0).all()
    inner = [point for point in found.front if 0.05 < point.candidate.functions.measures[1] < 0.9]
    for point in inner:
        root = math.sqrt(point.candidate.functions.measures[1])
        assert point.trade_off == pytest.approx((1.0 - root) / root, rel=1e-3)
    gaps = np.linalg.norm(np.diff(goals, axis=0), axis=1)
    assert gaps.max() < 0.25


def test_what_is_said_of_two_objectives_is_said_of_the_front_or_names_its_end(solve: Solve, capsys: pytest.CaptureFixture[str]) -> None:
    # f0 = x + 4 y is least at x = 0 and f1 = 2 - x + y at x = 1, the whole front lies on the bound y = 0: f0 + f1 = 2
    pair = [(lambda x: x[0] + 4.0 * x[1], False), (lambda x: 2.0 - x[0] + x[1], False)]
    found = solve(pair, [], [(0.0, 1.0), (0.0, 2.0)], front=5)
    print_result(found)
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines[:3]] == [
        "front of 5 points, from one end to the other:", "minimise f0: 1 N to 0 N", "minimise f1: 1 N to 2 N",
    ]  # fmt: skip
    assert "minimise f0: 0 N" not in [line.strip() for line in lines]
    places = [
        place for place, line in enumerate(lines) if line.strip().startswith(("Pareto front", "The end of the front with the best f0: 0 N"))
    ]
    assert len(places) == 2
    assert found.notes[-1] == "Of the 5 points of the front these lie on a bound of a variable: x0 at 2, x1 at 5."
    assert all(note.startswith("The end of the front with the best f0: ") for note in found.notes[:-1])


def test_a_front_of_a_maximum_with_a_constraint(solve: Solve) -> None:
    # largest x y and least x + y with x <= 2, y <= 2: x y = (s / 2)^2
    pair = [(lambda x: x[0] * x[1], True), (lambda x: x[0] + x[1], False)]
    found = solve(pair, [(lambda x: x[0], "<=", 2.0)], [(0.5, 3.0), (0.5, 2.0)], front=9)
    goals = np.array([point.candidate.functions.measures[:2] for point in found.front])
    assert goals[0] == pytest.approx([0.25, 1.0], abs=1e-6)
    assert goals[-1] == pytest.approx([4.0, 4.0], abs=1e-6)
    assert goals[:, 0] == pytest.approx(0.25 * goals[:, 1] ** 2, abs=1e-5)


def test_the_same_problem_gives_the_same_points(solve: Solve) -> None:
    one, other = (solve([(rosenbrock, False)], [], [(-2.0, 2.0), (-2.0, 2.0)]) for _ in range(2))
    assert len(one.candidates) == len(other.candidates)
    assert all(np.array_equal(a.place, b.place) and a.search == b.search for a, b in zip(one.candidates, other.candidates, strict=True))


def test_an_error_of_the_engine_ends_all_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    optimisation, make = problem([(rosenbrock, False)], [], [(-2.0, 2.0), (-2.0, 2.0)])
    evaluator = make(optimisation)
    monkeypatch.setattr(evaluator, "at", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr(analysis, "Evaluator", lambda *_: evaluator)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        analysis.carry_out(optimisation)
    assert threading.active_count() == before


def test_an_evolution_begins_on_the_upper_bound_and_where_no_member_keeps_the_limits() -> None:
    _, evaluator = problem([(lambda x: x[0] ** 2, True)], [(lambda x: x[0], "<=", 9.0)], [(0.0, 1.0)])
    scales = Scales(np.ones(1), np.ones(1))
    assert evolve(evaluator(), scales, 1, np.ones(1)) == pytest.approx([1.0], abs=1e-9)
    _, evaluator = problem([(lambda x: x[0] ** 2, False)], [(lambda x: x[0], ">=", 9.0)], [(0.0, 1.0)])
    assert evolve(evaluator(), scales, 1) == pytest.approx([1.0], abs=1e-6)


def test_searches_without_any_derivative_are_named(solve: Solve, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Analytic.one
    monkeypatch.setattr(Analytic, "at", lambda self, places: [replace(one(self, each), good=False) for each in places])
    with pytest.raises(ConfigError, match=r'optimise.method: no search finds a point .* method = "differential_evolution" needs no'):
        solve([(lambda x: x[0] ** 2, False)], [], [(1.0, 2.0)])
