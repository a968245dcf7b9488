"""What a run of tempered sequential Monte Carlo tells of itself: its stages, its evidence, and what to doubt."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from tribosweep.sweep.analysis.calibration.posterior.smc import MOST_SWEEPS, SmcResult

DIFFERENT = 0.5  # standard deviation of the logarithms of the evidence of chains; above it their modes have other weights
FEW = 0.5  # of the particles of a chain that are different
HARDLY = 0.02  # of the moves that are accepted


def facts(found: SmcResult) -> dict[str, Any]:
    """Evidence, and the stages of all chains, ready for JSON.

    Returns:
        log_evidence and its standard error by the scatter of the chains (None for one chain); particles of a chain; evaluations of the
        likelihood; acceptance, the mean of all stages; stages: one flat dict for each stage of each chain, in order.
    """
    stages = [
        {"chain": chain, "stage": number, **dataclasses.asdict(stage)}
        for chain, each in enumerate(found.chains)
        for number, stage in enumerate(each.stages)
    ]
    particles = len(found.chains[0].log_prior)
    std = found.log_evidence_std
    return {
        "particles": particles,
        "evaluations": particles * (len(found.chains) + sum(each["sweeps"] for each in stages)),
        "log_evidence": found.log_evidence,
        "log_evidence_std": std if math.isfinite(std) else None,
        "acceptance": float(np.mean([each["acceptance"] for each in stages])),
        "stages": stages,
    }


def notes(found: SmcResult) -> list[str]:
    """Sentences on what to doubt."""
    told = []
    evidence = [each.log_evidence for each in found.chains]
    if len(evidence) > 1 and np.std(evidence, ddof=1) > DIFFERENT:
        told.append(
            f"The logarithm of the evidence is {min(evidence):.4g} to {max(evidence):.4g} in different chains: the weights of modes are as "
            f"uncertain. Take more particles."
        )
    slow = [(chain, number, stage) for chain, each in enumerate(found.chains) for number, stage in enumerate(each.stages)]
    slow = [each for each in slow if each[2].sweeps == MOST_SWEEPS and each[2].acceptance < HARDLY]
    if slow:
        chain, number, stage = slow[0]
        told.append(
            f"In {len(slow)} of the stages, such as stage {number + 1} of chain {chain}, {100.0 * stage.acceptance:.2g} % of the moves "
            f"were accepted: the particles have hardly moved. Take more particles, or a larger ess."
        )
    lone = min((each.stages[-1].unique / len(each.log_prior) for each in found.chains), default=1.0)
    if lone < FEW:
        told.append(f"Only {100.0 * lone:.0f} % of the particles of a chain are different: take more particles.")
    return told
