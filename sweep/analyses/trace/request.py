"""What is asked of a time history."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from tribosweep.sweep.results.analysis import Request

ROWS, ROWS_OF_A_PICTURE = 2000, 20_000


class TraceRequest(Request):
    """Show motion and forces of one point of a study in time: a structure by its scheme, any other oscillator by the exact engine."""

    point: int = Field(default=0, description="Number of the point, from 0 on.")
    support: str | None = Field(default=None, description="Of a structure: the support that is shown.")
    rows: int | None = Field(
        default=None,
        description=f"About how many instants; of a structure 0 for every step. Default {ROWS:,}, of the command's picture "
        f"{ROWS_OF_A_PICTURE:,}.",
    )
    start: float | None = Field(default=None, title="from", description="Time of the first instant [s].")
    stop: float | None = Field(default=None, title="to", description="Time of the last instant [s].")

    def for_picture(self) -> Self:
        """With more instants, unless their number is given."""
        return self.model_copy(update={"rows": ROWS_OF_A_PICTURE}) if self.rows is None else self
