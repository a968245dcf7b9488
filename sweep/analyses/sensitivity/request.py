"""What is asked of a sensitivity analysis."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from tribosweep.sweep.results.analysis import Held, Names, Request, Shares

PictureName = Literal["bars", "plane", "scatter", "sizes"]
BARS, PLANE, SCATTER, SIZES = PICTURES = get_args(PictureName)


class SensitivityRequest(Request):
    """Report how observables depend on the parameters, and how uncertain they are."""

    observables: Names = Field(default=(), description="Observable to explain; default the main one of the model.")
    regime: str | None = Field(default=None, description="Use only groups whose rows are all in this regime, such as slip-slip.")
    exceeds: Names = Field(default=(), title="exceeds", description="Report the probability to exceed: wear_power=1.0.")
    chances: Names = Field(
        default=(), description="Report the probability of an event: buckled, 'impacts>=3', 'wall_regime=plateau and not buckled'."
    )
    quantiles: Shares = Field(default=(0.05, 0.5, 0.95), description="Quantile, such as 0.99; default 0.05, 0.5, 0.95.")
    derivatives: int = Field(default=0, ge=0, description="Number of points of the sample for exact derivatives.")
    at: Held = Field(default=(), description="Point for elasticities: mu=0.2; default the median.")
    confidence: float = Field(default=0.95, gt=0.0, lt=1.0, description="Level of the intervals.")
    resamples: int = Field(default=100, ge=2, le=100_000, description="Number of bootstrap samples.")
    seed: int = Field(default=1, ge=1, description="Seed of the bootstrap samples.")
    sizes: bool = Field(default=False, description="Also estimate everything from the first half, quarter ... of the sample.")
    picture: PictureName | None = Field(default=None, description="What to draw; default plane for elementary effects, else bars.")

    @property
    def by_size(self) -> bool:
        """Whether parts of the sample are analysed too."""
        return self.sizes or self.picture == SIZES
