"""The cost of oscillators by model, scheme, number and precision, and of derivatives: `python -m pytest benchmarks` (extra `benchmarks`).

The masses are those of SDND104, with walls 2 cm away. They run on JAX_NUM_CPU_DEVICES devices (default: all cores). pytest-benchmark times
whole batches with their checks, after a batch that compiles. The time of the kernels alone is in its `extra_info`. A number of oscillators
is skipped if a pass would take longer than TRIBOSWEEP_BENCHMARK_SECONDS (default 10) at the rate of the next smaller number.
`python -m benchmarks oscillators` makes tables of the results.
"""

from __future__ import annotations

import os
import statistics
from typing import Any

import numpy as np
import pytest

from benchmarks.derivatives import KINDS, plane, programs, seconds
from tribosweep.kernels.batch.solve import Solution, solve
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.runtime import jax_setup

LIMIT = float(os.environ.get("TRIBOSWEEP_BENCHMARK_SECONDS", "10"))
ROUNDS = 3
COUNTS = (1, 64, 4096, 10**6)
CONTACT = {"k": 3e-5, "k_t": 9e6, "step": 1e-4}
WALLS: dict[str, dict[str, float]] = {
    "rubbing_mass": {},
    "stop": {"k_n": 1e4, "c_n": 5.0, "gap": 0.02},
    "buckling_wall": {"k_n": 1e4, "f_crit": 30.0, "f_post": 10.0, "k_post": 5e3, "gap": 0.02},
    "two_walls": {"k_n": 1e4, "gap": 0.02, "left_k_n": 5e3, "left_gap": 0.01},
}
PRECISIONS = {"float64": np.float64, "float32": np.float32}
CASES = [
    (model, scheme, precision, count)
    for model in WALLS
    for scheme in SCHEMES
    for precision in PRECISIONS
    if precision == "float64" or scheme != EXACT or model == "rubbing_mass"
    for count in COUNTS
]
known: dict[tuple[str, str, str], float] = {}  # oscillators/s of the next smaller number


@pytest.mark.parametrize(("model", "scheme", "precision", "count"), CASES)
def test_oscillators(benchmark: Any, model: str, scheme: str, precision: str, count: int) -> None:
    """Time one batch."""
    if count > LIMIT * known.get((model, scheme, precision), np.inf):
        pytest.skip("it would take too long")
    rng = np.random.default_rng(1)
    columns = {"a0": rng.uniform(0.5, 20.0, count), "mu": rng.uniform(0.01, 1.0, count), "window_start": 4.0, **WALLS[model]}
    columns |= {} if scheme == EXACT else CONTACT
    runs: list[Solution] = []

    def run() -> None:
        runs.append(solve(MODELS[model], scheme, columns, {}, count, dtype=PRECISIONS[precision]))

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    kernel = statistics.median(run.run_seconds for run in runs[1:])
    lanes = jax_setup.lanes("lockstep") if count == 1 else 1  # a full block takes as long as one oscillator
    known[model, scheme, precision] = count * lanes / kernel
    case = {"model": model, "scheme": scheme, "precision": precision, "count": count}
    benchmark.extra_info.update(case, kernel=kernel, compiling=sum(run.compile_seconds for run in runs))
    assert not np.any(runs[0].status)


@pytest.mark.parametrize("what", ["value", "value and five derivatives"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(benchmark: Any, kind: str, what: str) -> None:
    """Time 4096 masses by `tribosweep.simulate`, on one core."""
    width, constants = KINDS[kind]
    program, rows = programs(constants, width)[what != "value"], plane(4096)
    benchmark.pedantic(seconds, args=(program, rows), rounds=ROUNDS, warmup_rounds=1)
