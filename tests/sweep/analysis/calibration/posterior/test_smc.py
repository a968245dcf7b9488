"""Tempered sequential Monte Carlo against closed forms: a normal posterior with its evidence, two modes, and files of its stages."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from tribosweep.sweep.analysis.calibration.posterior import smc, smc_diagnostics
from tribosweep.sweep.analysis.calibration.posterior.smc import SmcSettings, sample
from tribosweep.sweep.analysis.calibration.posterior.smc_stages import StageFiles
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.errors import ConfigError


class Normal:
    """A standard normal prior, and a normal likelihood about `mean` with a covariance."""

    def __init__(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        self.mean, self.covariance = mean, covariance
        self.calls = 0

    def log_prior(self, coordinates: np.ndarray) -> np.ndarray:
        return stats.norm.logpdf(coordinates).sum(axis=1)

    def log_likelihood(self, coordinates: np.ndarray) -> np.ndarray:
        self.calls += 1
        return np.atleast_1d(stats.multivariate_normal(self.mean, self.covariance).logpdf(coordinates))

    def prior_sample(self, seed: int, count: int) -> np.ndarray:
        return np.random.default_rng(seed).standard_normal((count, len(self.mean)))


class TwoModes(Normal):
    """A likelihood with a narrow mode at -1 and a wide one at 1.2 along the first coordinate; nothing has a result above 2."""

    def __init__(self) -> None:
        super().__init__(np.zeros(2), np.eye(2))

    def log_likelihood(self, coordinates: np.ndarray) -> np.ndarray:
        narrow = stats.norm.logpdf(coordinates, [-1.0, 0.0], 0.03).sum(axis=1)
        wide = stats.norm.logpdf(coordinates, [1.2, 0.0], 0.09).sum(axis=1)
        return np.where(coordinates[:, 0] < 2.0, np.logaddexp(narrow, wide), -np.inf)

    @property
    def evidence(self) -> tuple[float, float]:
        """Of each mode: the density at its middle of a normal density with the variance of prior and mode."""
        at = ([-1.0, 0.0], 0.03), ([1.2, 0.0], 0.09)
        narrow, wide = (float(np.prod(stats.norm.pdf(middle, 0.0, math.hypot(1.0, std)))) for middle, std in at)
        return narrow, wide


COVARIANCE = 0.05**2 * np.array([[1.0, 0.9], [0.9, 1.0]])
MEAN = np.array([0.7, 0.7])


def test_a_normal_posterior_has_its_mean_covariance_and_evidence() -> None:
    found = sample(Normal(MEAN, COVARIANCE), SmcSettings(particles=1000, chains=4, seed=3))
    draws = np.concatenate([each.coordinates for each in found.chains])
    covariance = np.linalg.inv(np.eye(2) + np.linalg.inv(COVARIANCE))
    mean = covariance @ np.linalg.solve(COVARIANCE, MEAN)
    std = np.sqrt(np.diag(covariance))
    assert (draws.mean(axis=0) - mean) / std == pytest.approx(0.0, abs=0.06)
    assert draws.std(axis=0) / std == pytest.approx(1.0, abs=0.04)
    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(covariance[0, 1] / std.prod(), abs=0.01)
    exact = float(stats.multivariate_normal(MEAN, COVARIANCE + np.eye(2)).logpdf(np.zeros(2)))
    assert found.log_evidence == pytest.approx(exact, abs=4.0 * found.log_evidence_std)
    assert found.log_evidence_std < 0.1


@pytest.mark.slow
def test_the_evidence_is_unbiased() -> None:
    """The mean of the estimates themselves, not of their logarithms, is the evidence."""
    target = Normal(np.array([0.5]), np.array([[0.04]]))
    exact = float(stats.norm.pdf(0.5, 0.0, math.sqrt(1.04)))
    ratios = np.array([math.exp(sample(target, SmcSettings(200, 1, seed)).log_evidence) / exact for seed in range(60)])
    assert ratios.mean() == pytest.approx(1.0, abs=3.5 * ratios.std() / math.sqrt(60.0))
    assert ratios.std() < 0.25


def test_both_modes_have_their_weights() -> None:
    target = TwoModes()
    narrow, wide = target.evidence
    found = sample(target, SmcSettings(particles=1000, chains=8, seed=1))
    weights = np.array([np.mean(each.coordinates[:, 0] < 0.0) for each in found.chains])
    assert weights.mean() == pytest.approx(narrow / (narrow + wide), abs=3.5 * weights.std() / math.sqrt(8.0))
    assert weights.std() < 0.06
    assert found.log_evidence == pytest.approx(math.log(narrow + wide), abs=4.0 * found.log_evidence_std)
    draws = np.concatenate([each.coordinates for each in found.chains])
    for side, std in ((-1.0, 0.03), (1.2, 0.09)):
        mode = draws[np.abs(draws[:, 0] - side) < 0.5, 0]
        assert mode.std() == pytest.approx(std / math.hypot(1.0, std), rel=0.08)


def test_stages_keep_the_effective_sample_size_until_the_exponent_is_1() -> None:
    found = sample(Normal(MEAN, COVARIANCE), SmcSettings(particles=400, chains=1, seed=2, ess=0.7)).chains[0].stages
    assert [each.ess for each in found[:-1]] == pytest.approx([280.0] * (len(found) - 1))
    assert found[-1].exponent == 1.0
    assert found[-1].ess >= 280.0
    assert (np.diff([each.exponent for each in found]) > 0.0).all()
    assert all(0.1 < each.acceptance < 0.5 for each in found)
    assert all(each.unique > 350 for each in found)
    assert (np.diff([each.ancestors for each in found]) <= 0).all()


def test_systematic_resampling_takes_each_particle_by_its_weight_up_to_one() -> None:
    weights = np.array([0.53, 0.0, 3.25, 1.27])
    with np.errstate(divide="ignore"):
        taken = np.array([np.bincount(smc.systematic(np.log(weights), u), minlength=4) for u in np.linspace(0.001, 0.999, 200)])
    exact = 4.0 * weights / weights.sum()
    assert (np.abs(taken - exact) < 1.0).all()
    assert taken.mean(axis=0) == pytest.approx(exact, abs=0.02)
    assert (taken[:, 1] == 0).all()


def test_a_prior_without_results_is_refused() -> None:
    class Nothing(Normal):
        def log_likelihood(self, coordinates: np.ndarray) -> np.ndarray:
            return np.full(len(coordinates), -np.inf)

    with pytest.raises(ConfigError, match="none of 50 draws of the prior has a result"):
        sample(Nothing(MEAN, COVARIANCE), SmcSettings(particles=50))


class EndedError(Exception):
    """The end of a process."""


def test_a_run_that_was_ended_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    settings = SmcSettings(particles=200, chains=2, seed=5)
    whole = sample(Normal(MEAN, COVARIANCE), settings)
    files = StageFiles(tmp_path / "stages", "this problem", settings, 2)
    done = 0

    def end_after_some(_done: int, _all: int) -> None:
        nonlocal done
        done += 1
        if done in (2, 9):
            raise EndedError

    for _ in range(2):
        with pytest.raises(EndedError):
            sample(Normal(MEAN, COVARIANCE), settings, files, end_after_some)
    assert files.stages_there() == 9
    target = Normal(MEAN, COVARIANCE)
    found = sample(target, settings, files)
    for first, second in zip(whole.chains, found.chains, strict=True):
        assert first.coordinates.tobytes() == second.coordinates.tobytes()
        assert first.stages == second.stages
    again = Normal(MEAN, COVARIANCE)
    sample(again, settings, files)
    assert again.calls == 0


def test_files_of_another_problem_or_with_changed_bytes_are_not_used(tmp_path: Path) -> None:
    settings = SmcSettings(particles=100, chains=1, seed=5)
    files = StageFiles(tmp_path, "this problem", settings, 2)
    sample(Normal(MEAN, COVARIANCE), settings, files)
    assert files.load(0) is not None
    assert files.load(1) is None
    assert StageFiles(tmp_path, "another problem", settings, 2).load(0) is None
    assert StageFiles(tmp_path, "this problem", SmcSettings(100, 1, 6), 2).load(0) is None
    data = bytearray(files.path(0).read_bytes())
    data[len(data) // 2] ^= 1
    files.path(0).write_bytes(data)
    assert files.load(0) is None


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forked")
def test_killed_at_random_moments_a_run_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    settings = SmcSettings(particles=200, chains=2, seed=5)
    begun = time.perf_counter()
    whole = sample(Normal(MEAN, COVARIANCE), settings)
    taken, chance, files = time.perf_counter() - begun, random.Random(20261128), StageFiles(tmp_path, "this problem", settings, 2)
    kills, ended = 0, False
    while not ended:
        victim = os.fork()
        if not victim:
            status = 1
            try:
                sample(Normal(MEAN, COVARIANCE), settings, files)
                status = 0
            finally:
                os._exit(status)
        time.sleep(chance.uniform(0.02, 0.25) * taken)
        os.kill(victim, signal.SIGKILL if kills % 2 else signal.SIGINT)  # SIGINT is raised by Python in the middle of the work
        found = os.waitpid(victim, 0)[1]
        ended = os.WIFEXITED(found) and os.WEXITSTATUS(found) == 0
        kills += not ended
    assert kills > 1
    before = {chain: files.path(chain).read_bytes() for chain in range(2)}
    found_again = sample(Normal(MEAN, COVARIANCE), settings, files)
    assert before == {chain: files.path(chain).read_bytes() for chain in range(2)}
    for first, second in zip(whole.chains, found_again.chains, strict=True):
        assert first.coordinates.tobytes() == second.coordinates.tobytes()
        assert first.stages == second.stages


ODD_PARTICLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # with right checksums: what the file says, its columns
    "no stages": ({"stages": []}, {}),
    "an exponent of another type": ({"exponent": "1"}, {}),
    "an exponent above 1": ({"exponent": 1.5}, {}),
    "an exponent that falls": ({"exponent": 1e-300}, {}),
    "an exponent that is no number": ({"exponent": math.nan}, {}),
    "a huge number of sweeps": ({"sweeps": 10**400}, {}),
    "no evidence": ({"log_evidence": None}, {}),
    "a scale of 0": ({"scale": 0.0}, {}),
    "a huge scale": ({"scale": 1e300}, {}),
    "no scale": ({"scale": None}, {}),
    "a coordinate more": ({}, {"coordinate_2": np.zeros(100)}),
    "coordinates that are no numbers": ({}, {"coordinate_0": np.full(100, np.nan)}),
    "coordinates of another type": ({}, {"coordinate_0": np.zeros(100, np.int64)}),
    "densities that are no numbers": ({}, {"log_likelihood": np.full(100, np.nan)}),
    "ancestors that are none": ({}, {"ancestor": np.full(100, -1)}),
    "huge ancestors": ({}, {"ancestor": np.full(100, 2**62)}),
}


def test_particles_of_wrong_content_are_not_used_though_their_checksum_is_right(tmp_path: Path) -> None:
    settings = SmcSettings(particles=100, chains=1, seed=5)
    files = StageFiles(tmp_path, "this problem", settings, 2)
    whole = sample(Normal(MEAN, COVARIANCE), settings, files).chains[0]
    table = sealed_parquet.read(files.path(0))
    said = json.loads((table.schema.metadata or {})[b"smc"])
    for what, (facts, columns) in ODD_PARTICLES.items():
        stage = {**said["stages"][-1], **{key: value for key, value in facts.items() if key not in ("stages", "scale")}}
        other = {**said, "stages": [*said["stages"][:-1], stage], **{key: facts[key] for key in ("stages", "scale") if key in facts}}
        arrays = {name: table[name] for name in table.column_names} | {name: pa.array(values) for name, values in columns.items()}
        files.path(0).write_bytes(sealed_parquet.to_bytes(pa.table(arrays).replace_schema_metadata({"smc": json.dumps(other)})))
        assert files.load(0) is None, what
    assert np.array_equal(sample(Normal(MEAN, COVARIANCE), settings, files).chains[0].coordinates, whole.coordinates)


def test_diagnostics_tell_what_was_done_and_what_to_doubt() -> None:
    target = Normal(MEAN, COVARIANCE)
    found = sample(target, SmcSettings(particles=200, chains=2, seed=1))
    facts = json.loads(json.dumps(smc_diagnostics.facts(found)))
    assert [each["chain"] for each in facts["stages"]] == sorted(each["chain"] for each in facts["stages"])
    assert facts["stages"][-1]["exponent"] == 1.0
    assert facts["log_evidence"] == found.log_evidence
    assert facts["evaluations"] == 200 * (2 + sum(each["sweeps"] for each in facts["stages"]))
    assert smc_diagnostics.notes(found) == []
    one = found.chains[0]
    last = replace(one.stages[-1], log_evidence=one.log_evidence + 2.0, sweeps=smc.MOST_SWEEPS, acceptance=0.005, unique=40)
    doubtful = smc.SmcResult((one, replace(one, stages=(*one.stages[:-1], last))))
    told = " ".join(smc_diagnostics.notes(doubtful))
    assert "of the evidence is" in told
    assert f"In 1 of the stages, such as stage {len(one.stages)} of chain 1, 0.5 % of the moves were accepted" in told
    assert "Only 20 % of the particles of a chain are different" in told
    alone = smc_diagnostics.facts(smc.SmcResult((one,)))
    assert alone["log_evidence_std"] is None
