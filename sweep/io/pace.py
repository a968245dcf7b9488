"""How fast something gets done, apart from compiling."""

from __future__ import annotations

import time


class Pace:
    """How fast things get done, and how long the rest takes.

    Compiling is no part of it: what is done while programs are compiled comes later than it would otherwise, and the next things need no
    programs. So time is measured from the first update after a compilation on.

    Attributes:
        first: number of things that were done at first. done, total: numbers of things now.
    """

    def __init__(self) -> None:
        """Begin; nothing is known yet."""
        self.first = self.done = self.total = 0
        self._since = self._now = 0.0  # s: from when the rate is measured, and the last update
        self._before: int | None = None  # things done at `_since`

    def goes_on(self, done: int, total: int) -> bool:
        """Take note of what is done; False if the rate is measured anew from here on."""
        from tribosweep.kernels.runtime import compiling

        now = time.monotonic()
        if self._before is None:
            self.first = done
        anew = self._before is None or (done > self.done and compiling.last() > self._since)
        if anew:
            self._since, self._before = now, done
        self.done, self.total, self._now = done, total, now
        return not anew

    @property
    def rate(self) -> float | None:
        """Things a second; None if it is not known yet."""
        if self._before is None or self.done <= self._before or self._now <= self._since:
            return None
        return (self.done - self._before) / (self._now - self._since)

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes; None if they are not known yet."""
        rate = self.rate
        return None if rate is None else (self.total - self.done) / rate
