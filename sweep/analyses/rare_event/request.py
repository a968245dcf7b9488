"""What is asked of a rare event."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Request


class RareEventRequest(Request):
    """Estimate the probability of a rare event, 1e-3 to 1e-9, from a subset simulation: its interval, its levels, and a picture."""

    confidence: float = Field(default=0.95, gt=0.0, lt=1.0, description="Level of the interval.")
