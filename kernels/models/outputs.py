"""Outputs that a run returns only if they are asked for. Nothing here imports JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

from kernels.models.schemes import STEADY

OBSERVED = 64  # periods of the excitation over which a motion without a period is observed
BLOCKS, STATISTICS = "blocks", "statistics"  # outputs of a run over a given window that must be asked for


class Asked(NamedTuple):
    """Outputs that a run returns only if they are asked for (compile-time: other programs do no work for them).

    Attributes:
        blocks: number of equal blocks of the window for block means of the wear power, 2 to OBSERVED; 0: none.
        statistics: whether mean, RMS, standard deviation and extremes of displacement and forces are computed.
    """

    blocks: int = 0
    statistics: bool = False

    @property
    def names(self) -> set[str]:
        """The names in `Quantity.needs` that stand for the outputs asked for."""
        return {name for name, asked in ((BLOCKS, self.blocks), (STATISTICS, self.statistics)) if asked}

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `kernels.simulate` that ask for the same."""
        return {name: value for name, value in self._asdict().items() if value}


NOTHING_ELSE = Asked()


def check_asked(asked: Asked, window: str | None) -> None:
    """Raise ValueError if the number of blocks is out of bounds, or if blocks or statistics are asked of a steady window."""
    if asked.blocks and (not 2 <= asked.blocks <= OBSERVED or asked.blocks != int(asked.blocks)):
        raise ValueError(f"blocks must be a whole number from 2 to {OBSERVED} (0: none), not {asked.blocks}")
    if window == STEADY and asked.names:
        raise ValueError(f"{' and '.join(sorted(asked.names))} need a window that is given, not {STEADY!r}")
