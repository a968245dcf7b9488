"""What is asked of fragility curves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.results.analysis import Held, Names, Request

STRIPES, CLOUD, INCREMENTAL = "stripes", "cloud", "incremental"
METHODS = {
    STRIPES: "maximum likelihood of the rows with and without the event",
    CLOUD: "straight line through ln(demand) over ln(intensity), lognormal about it",
    INCREMENTAL: "maximum likelihood of the intensities at which the event first happens to each record or draw",
}


class FragilityRequest(Request):
    """Fit how the probability of an event grows with an intensity: a lognormal curve, and counted probabilities, with their intervals."""

    event: str = Field(description="What may happen: buckled=1, 'peak_force > 5 kN', 'wear_depth > 2 mm', wall_regime=plateau.")
    intensity: str = Field(
        description="Parameter that the run varies, such as a0; an observable; or of records and draws pga, pgv, arias, cav, sa_0.5s (with "
        "2 % of damping sa_0.5s_2%), of a channel pga[0]."
    )
    over: Names = Field(
        default=(),
        description="Parameter whose values are random; default draw and record. Rows that share them all are drawn together.",
    )
    by: str | None = Field(default=None, description="Parameter each of whose values has a curve of its own.")
    at: Held = Field(default=(), description="Hold another parameter at its value nearest to this one: mu=0.2.")
    method: Literal["stripes", "cloud", "incremental"] = Field(
        default="stripes",
        description="stripes: maximum likelihood of rows with and without the event; cloud: line through ln(demand) over ln(intensity); "
        "incremental: the intensity at which the event first happens to each record or draw.",
    )
    interval: Literal["profile", "delta", "bootstrap"] | None = Field(
        default=None,
        description="Intervals; default bootstrap if rows share a record or a draw, else profile likelihood (of a cloud delta).",
    )
    capacity_beta: float = Field(
        default=0.0, ge=0.0, allow_inf_nan=False, description="With method cloud: logarithmic standard deviation of the limit itself."
    )
    confidence: float = Field(default=0.95, gt=0.0, lt=1.0, description="Level of the intervals.")
    resamples: int = Field(default=1000, ge=2, description="Number of bootstrap samples.")
    seed: int = Field(default=1, ge=0, description="Seed of the bootstrap samples.")

    def problems(self) -> list[Problem]:
        """What does not go together."""
        found = []
        if self.interval == "profile" and self.method == CLOUD:
            found.append(Problem("--interval", "a cloud has no profile likelihood: delta or bootstrap"))
        if self.capacity_beta and self.method != CLOUD:
            found.append(Problem("--capacity-beta", "is of the limit of a cloud: it needs --method cloud"))
        return found
