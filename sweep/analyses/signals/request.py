"""What is asked of signals."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Held, Names, Numbers, Request


class SignalsRequest(Request):
    """Show spectra, rainflow cycles, level crossings and impacts of single rows of a run, or their quantiles over draws."""

    columns: Names = Field(default=(), description="Signal, such as psd_x or rainflow_x; default all.")
    points: Numbers = Field(default=(), description="Number of a point, a curve of its own; default all rows.")
    over: Names = Field(default=(), description="Parameter over whose values medians and quantiles are taken; default draw and record.")
    at: Held = Field(default=(), description="Hold another parameter at its value nearest to this one: mu=0.2.")
