"""How strong an accelerogram is over its duration: rise, strong phase and decay."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SHAPES = ("jennings", "trapezoid")
LAST = 0.05  # of a Jennings envelope at its end


@dataclass(frozen=True, slots=True)
class Envelope:
    """A factor between 0 and 1 over time.

    "jennings" rises as the square of time, is 1 in the strong phase, and decays exponentially to 0.05 at the end (Jennings, Housner and
    Tsai, Simulated earthquake motions, California Institute of Technology, 1968). "trapezoid" rises and falls along straight lines.

    Attributes:
        shape: one of SHAPES. rise: time from 0 to the strong phase [s], >= 0. strong: duration of the strong phase [s], > 0.
    """

    shape: str
    rise: float
    strong: float

    def factors(self, times: np.ndarray) -> np.ndarray:
        """The factor at `times` [s], of which the last one is the end of the accelerogram."""
        end = float(times[-1])
        late = self.rise + self.strong
        before = np.clip(times / self.rise, 0.0, 1.0) if self.rise > 0.0 else np.ones_like(times)
        after = np.clip((times - late) / (end - late), 0.0, 1.0) if end > late else np.zeros_like(times)
        if self.shape == "jennings":
            return np.asarray(before**2 * np.exp(math.log(LAST) * after))
        return np.asarray(before * (1.0 - after))
