"""Outputs that a run returns only if they are asked for, and those that it may leave out. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tribosweep.kernels.models.naming import nearest_spelling
from tribosweep.kernels.models.quantity import Quantity

OBSERVED = 64  # periods of the excitation over which a motion without a period is observed
BLOCKS, STATISTICS = "blocks", "statistics"  # outputs of a run over a given window that must be asked for
MULTIPLIERS = "multipliers"  # of a run to its steady motion


class Asked(NamedTuple):
    """Outputs that a run returns only if they are asked for (compile-time: other programs do no work for them).

    Attributes:
        blocks: number of equal blocks of the window for block means of the wear power, 2 to OBSERVED; 0: none.
        statistics: whether mean, RMS, standard deviation and extremes of displacement and forces are computed.
        columns: names of the only observables that are returned; empty: all of them. What only others need is not computed where that
            saves time.
        multipliers: whether the Floquet multipliers of the steady motion are computed.
    """

    blocks: int = 0
    statistics: bool = False
    columns: tuple[str, ...] = ()
    multipliers: bool = False

    @property
    def names(self) -> set[str]:
        """The names in `Quantity.needs` that stand for the outputs asked for."""
        return {name for name in (BLOCKS, STATISTICS, MULTIPLIERS) if getattr(self, name)}

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `tribosweep.simulate` that ask for the same."""
        return {name: value for name, value in self._asdict().items() if value and name != "columns"}

    def chosen(self, returned: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """Those of the observables that a run would return that are among `columns`; ValueError if a column is none of them."""
        if not self.columns:
            return tuple(returned)
        known = [quantity.name for quantity in returned]
        for name in self.columns:
            if name not in known:
                near = nearest_spelling(name, known, 0.5)
                hint = f"did you mean {near!r}? " if near else ""
                raise ValueError(f"{name!r} is no observable of these rows; {hint}Known: {', '.join(known)}")
        return tuple(quantity for quantity in returned if quantity.name in self.columns)


NOTHING_ELSE = Asked()


def check_asked(asked: Asked) -> None:
    """Raise ValueError if the number of blocks is out of bounds."""
    if asked.blocks and (not 2 <= asked.blocks <= OBSERVED or asked.blocks != int(asked.blocks)):
        raise ValueError(f"blocks must be a whole number from 2 to {OBSERVED} (0: none), not {asked.blocks}")
