"""contact_ratio and impact_rate: both engines against each other, and against a count of a trace."""

from __future__ import annotations

import numpy as np
import pytest

import kernels
from kernels.batch.solve import solve
from kernels.models import BUCKLING_WALL, STOP
from kernels.models.status import Status

WINDOW = {"end": 4.0, "window_start": 1.13, "window_end": 3.71}
STOPS = {"m": 1.0, "k": 30.0, "c": 0.4, "a0": 4.0, "omega": 6.0, "mu": 0.0, "normal_force": 0.0, "k_n": 800.0, "c_n": 2.0, "gap": 0.02,
         "x0": np.array([0.0, 0.05, -0.03, 0.01])} | WINDOW  # fmt: skip


def run(scheme, p, model=STOP, **options):
    """The observables of four rows, none of which fails."""
    found = solve(model, scheme, p, count=4, **options)
    assert np.isin(found.status, (Status.OK, Status.BEYOND_TABLE)).all()
    return found.observables


@pytest.mark.slow
def test_exact_is_a_count_of_a_trace():
    found = run("exact", STOPS)
    for row, x0 in enumerate(STOPS["x0"]):
        p = STOPS | {"x0": float(x0)}
        trace = kernels.trace("stop", p, samples=40001)
        time, force = trace["time"], trace["wall_force"]
        middle = 0.5 * (time[1:] + time[:-1])
        pushes = (0.5 * (force[1:] + force[:-1]) > 0.0) & (middle > p["window_start"]) & (middle < p["window_end"])
        length = p["window_end"] - p["window_start"]
        assert found["contact_ratio"][row] == pytest.approx(np.diff(time)[pushes].sum() / length, abs=3e-4)
        hits = kernels.impacts("stop", p)["time"]
        entered = np.count_nonzero((hits > p["window_start"]) & (hits <= p["window_end"]))
        assert found["impact_rate"][row] * length == pytest.approx(entered, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "step", "allowed"), [("euler", 1e-4, 2e-4), ("rk54", 1e-8, 2e-4)])
def test_time_schemes_agree_with_exact(scheme, step, allowed):
    exact = run("exact", STOPS)
    found = run(scheme, STOPS | {"tolerance" if scheme == "rk54" else "step": step, "largest_step": 1e-3})
    assert found["contact_ratio"] == pytest.approx(exact["contact_ratio"], abs=allowed)
    assert found["impact_rate"] == pytest.approx(exact["impact_rate"], rel=1e-12)


@pytest.mark.slow
def test_steps_of_their_own_and_float32_count_the_same():
    together = run("euler", STOPS | {"step": 1e-4})
    apart = run("euler", STOPS | {"step": np.full(4, 1e-4)})
    single = run("euler", STOPS | {"step": 1e-4}, dtype=np.float32)
    for found, allowed in ((apart, 1e-9), (single, 1e-4)):
        assert found["contact_ratio"] == pytest.approx(together["contact_ratio"], rel=allowed)
        assert found["impact_rate"] == pytest.approx(together["impact_rate"], rel=1e-6)


def test_the_whole_run_is_what_is_counted_without_a_window():
    p = {name: value for name, value in STOPS.items() if name not in ("window_start", "window_end")}
    for scheme in ("exact", "euler"):
        found = run(scheme, p)
        assert found["contact_ratio"] == pytest.approx(found["contact_time"] / 4.0, rel=1e-9)
        assert found["impact_rate"] == pytest.approx(found["impacts"] / 4.0, rel=1e-12)  # one row starts inside the wall


@pytest.mark.slow
def test_a_buckling_wall_has_them():
    wall = {"m": 1.0, "v0": np.array([0.5, 1.0, 1.5, 2.0]), "k": 0.5, "k_n": 100.0, "f_crit": 3.0, "f_post": 1.0, "k_post": 60.0,
            "normal_force": 0.0, "end": 2.0, "window_start": 0.01}  # fmt: skip
    exact, found = run("exact", wall, BUCKLING_WALL), run("euler", wall | {"step": 1e-4}, BUCKLING_WALL)
    assert (exact["contact_ratio"] > 0.0).all()
    assert found["contact_ratio"] == pytest.approx(exact["contact_ratio"], rel=2e-3)
    assert found["impact_rate"] == pytest.approx(exact["impact_rate"])
