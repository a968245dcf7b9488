"""Outcomes of one row. A batch never raises: a row that fails keeps its place, with NaN observables and a status."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class Status(IntEnum):
    """Outcome of one oscillator; `sentence` is what the `status` column says.

    The engines return OK, NOT_FINITE, TOO_MANY_EVENTS, STEP_TOO_SMALL, TOO_MANY_STEPS, NOT_PERIODIC and BEYOND_TABLE.
    `batch.finish` adds OVERFLOW, a sweep NO_DRAW, and `batch.solve` the others. A row whose status is in RESULTS has results; any other has
    failed.
    """

    sentence: str

    OK = 0, "ok"
    NOT_FINITE = 1, "a parameter is not a finite number"
    OUT_OF_BOUNDS = 2, "a parameter is out of its bounds"
    RULE_BROKEN = 3, "the parameters contradict each other (see `tribosweep list rules`)"
    TOO_MANY_EVENTS = (
        4,
        (
            "more than 1,000,000 events (slips, stops, impacts, extremes of a speed or a force), or steps of their search. The run ended "
            "at the time `time_reached`: shorten [time] end, add damping, or take a time scheme, which counts no events"
        ),
    )
    OVERFLOW = 5, "a result is not a finite number"
    STEP_TOO_SMALL = 6, "the scheme needs a step below smallest_step: lower it, or the demand (tolerance, retries)"
    TOO_MANY_STEPS = 7, "more steps than the bound of a run: shorten [time] end, loosen the tolerance, or lower the stiffness"
    NOT_PERIODIC = 8, 'no motion of period 1 to 16 within 1000 periods, or a chaotic one (window = "steady"): results of 64 periods more'
    BEYOND_TABLE = 9, "the wall was pressed beyond the last node of its table, whose stiffness was kept"
    NO_DRAW = 10, "the response spectrum of this draw misses its target (see [excitation.random] tolerance): the row was not computed"

    def __new__(cls, code: int, sentence: str) -> Self:
        """Build the member `code` with its sentence."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member


SENTENCES: tuple[str, ...] = tuple(status.sentence for status in Status)
RESULTS = (Status.OK, Status.NOT_PERIODIC, Status.BEYOND_TABLE)  # statuses of rows with results
