"""What is asked of events."""

from __future__ import annotations

from pydantic import Field

from tribosweep.sweep.results.analysis import Numbers, Request


class EventsRequest(Request):
    """Show the events or impacts of points of a study: by the exact engine for any scheme, impacts of structures by their scheme."""

    points: Numbers = Field(default=(0,), min_length=1, description="Number of a point, from 0 on; default the first.")
    impacts: bool = Field(default=False, description="Impacts on the wall, or at the supports of a structure, instead of all events.")
    most: int = Field(default=100_000, ge=1, description="Events of a point after which its log may end.")  # some ten seconds
