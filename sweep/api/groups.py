"""Statistics over draws from Python: as tables, as maps and as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis.group_map import map_for, statistic_of
from tribosweep.sweep.analysis.isolines import with_lines
from tribosweep.sweep.io.argument_names import texts_of
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.regime_map import RegimeMap

STATISTICS = ("mean", "std", "share", "entropy", "rows")


def names_of(over: str | Sequence[str] | None) -> tuple[str, ...]:
    """The parameters of groups as a tuple."""
    return () if over is None else (over,) if isinstance(over, str) else tuple(over)


def map_of(
    directory: Path, x: str | None, y: str | None, at: Mapping[str, Any] | None, asked: Mapping[str, Any], levels: Sequence[float] | float
) -> RegimeMap:
    """The map that a call of `Run.map` or `Run.lines` asks for; `asked` are its arguments that choose what is shown."""
    kind = asked.get("statistic")
    if kind is not None and kind not in STATISTICS:
        message = f"{kind!r} is no statistic; {advise(kind, STATISTICS)}; quantile=0.95 and chance='buckled=1' are arguments of their own"
        raise ConfigError("statistic", [Problem("", message)])
    statistic = statistic_of([kind] if kind else [], asked.get("quantile"), asked.get("chance"))
    drawn = map_for(
        directory, statistic, names_of(asked.get("over")), x, y, asked.get("color"), texts_of(at), asked.get("areas"),
        asked.get("support"), asked.get("bins"), asked.get("confidence", 0.95),
    )  # fmt: skip
    return with_lines(drawn, [levels] if isinstance(levels, int | float) else levels)
