"""What is asked of a bifurcation diagram."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Request


class BifurcationRequest(Request):
    """Draw the Poincare points of a run's steady motions over the parameter that it varies."""

    x: str | None = Field(default=None, description="Parameter on the x axis; default the one that the run varies besides x0 and v0.")
    y: str = Field(default="poincare_x", description="poincare_x, poincare_v, or another observable that is a number.")
