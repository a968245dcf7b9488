"""What is asked of basins."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Held, Request


class BasinsRequest(Request):
    """Tell which steady motion each start (x0, v0) of a run leads to, and which motions coexist at each point of a sweep."""

    at: Held = Field(default=(), description="Hold another parameter at its value nearest to this one: mu=0.2.")
    tolerance: float = Field(
        default=1e-3,
        ge=1e-9,
        le=0.1,
        description="Distance to a motion, over the speed of the excitation, |f0 - m a0| / (m omega), within which a start has come to it.",
    )
