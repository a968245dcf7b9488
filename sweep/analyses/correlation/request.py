"""What is asked of rank correlations."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Held, Names, Request


class CorrelationRequest(Request):
    """Correlate the ranks of parameters and observables (Spearman), pair by pair, with bootstrap intervals."""

    observables: Names = Field(default=(), description="Observable to correlate; default the main one of the model.")
    at: Held = Field(default=(), description="Hold a parameter at its value nearest to this one: mu=0.2.")
    confidence: float = Field(default=0.95, gt=0.0, lt=1.0, description="Level of the intervals.")
    resamples: int = Field(default=1000, ge=20, le=100_000, description="Number of bootstrap samples.")
    seed: int = Field(default=1, ge=0, description="Seed of the bootstrap samples.")
