"""What is asked of response spectra."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.excitation.response_spectrum import DAMPING
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.results.analysis import Numbers, Positives, Request


class SpectraRequest(Request):
    """Show response spectra and intensities of records of base acceleration, of the records or draws of a study, or of its responses."""

    frequencies: Positives = Field(default=(), title="frequency", description="Natural frequency [Hz]; default those of the next three.")
    lowest: float = Field(default=0.2, gt=0.0, allow_inf_nan=False, title="from", description="Lowest frequency [Hz].")
    highest: float = Field(default=33.0, gt=0.0, allow_inf_nan=False, title="to", description="Highest frequency [Hz].")
    count: int = Field(default=100, ge=1, description="How many frequencies, at equal ratios.")
    damping: float = Field(default=DAMPING, ge=0.0, lt=1.0, description="Part of critical damping.")
    periods: Positives = Field(default=(), description="Natural period [s] whose Sa is among the measures of a record.")
    points: Numbers = Field(default=(), description="Of a study: number of a point whose total acceleration is the record.")
    draws: int = Field(default=20, ge=1, description="Of random accelerations: how many draws, from draw 0 on.")
    time: str = Field(default="time", description="Of files: name of the column of times.")
    acceleration: str = Field(default="acceleration", description="Of files: name of the column of accelerations.")
    unit: str | None = Field(
        default=None, description="Of files: unit of the accelerations, such as g; default what the header says, or m/s^2."
    )

    def problems(self) -> list[Problem]:
        """The range of frequencies."""
        wrong = self.lowest > self.highest
        return [Problem("--from", f"{self.lowest:g} Hz is above --to, {self.highest:g} Hz")] if wrong else []
