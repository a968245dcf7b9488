"""The columns of a run as its page shows them: names, units, words, ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import SENTENCES
from tribosweep.sweep.analysis.palette import flat, ramps_of
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

NUMBER, WHOLE, WORD, TABLE = "number", "whole", "word", "table"
PLAIN = ("wear_power", "max_force", "peak_force", "shock_loss")  # observables that a first look is for, if the run has them
BOOKKEEPING = ("point", "halving", "level", "time_reached", "accepted_steps", "rejected_steps", "x_end", "v_end", "draw")


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name, unit, about: from its metadata; `unit` is empty for a pure number.
        kind: NUMBER, WHOLE, WORD, or TABLE, which is shown with a row but makes no view.
        words: of a WORD, in the order of their codes.
        low, high: least and largest finite value of all rows; NaN without one, and for words and tables.
        swept: whether the study varies it. logarithmic: whether its axis is spaced in the logarithm.
        counted: whether the footers tell which words occur; else `words` are all that may.
    """

    name: str
    unit: str
    about: str
    kind: str
    words: tuple[str, ...] = ()
    low: float = field(default=float("nan"))
    high: float = field(default=float("nan"))
    swept: bool = False
    logarithmic: bool = False
    counted: bool = False

    @property
    def varies(self) -> bool:
        """Whether a view of it can show anything."""
        return len(self.words) > 1 if self.kind == WORD else self.kind != TABLE and self.low < self.high

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        held = visible(self.words[0]) if len(self.words) == 1 else self.low if self.low == self.high else None
        ramps = ramps_of(self.words)
        shown = {
            "name": self.name, "unit": self.unit, "about": self.about, "kind": self.kind, "varies": self.varies, "held": held,
            "swept": self.swept, "positive": self.low > 0.0,
        }  # fmt: skip
        return shown | ({"words": [*self.words], "colors": [flat(word, ramps) for word in self.words]} if self.kind == WORD else {})


def columns_of(schema: pa.Schema, footers: Sequence[pq.FileMetaData], model: Model, document: Mapping[str, Any]) -> dict[str, Column]:
    """The columns of a run by name; ranges and words are those of all rows, by the footers of the shards alone.

    Args:
        schema: of a shard. footers: of all shards. model: of the run. document: its study.
    """
    import pyarrow as pa

    axes, ranges = axes_of(document), ranges_of(footers)
    known, counted = by_name((*model.parameters, *model.observables)), counted_words(footers)
    found = {}
    for each in schema:
        about = {key.decode(): value.decode() for key, value in (each.metadata or {}).items()}
        unit = about.get("unit", "")
        shown = (each.name, "" if unit == "1" else visible(unit), visible(about.get("description", "")))
        swept = each.name in axes
        if pa.types.is_dictionary(each.type) or pa.types.is_string(each.type):
            found[each.name] = Column(*shown, WORD, words_of(each.name, known, counted), swept=swept, counted=each.name in counted)
        elif pa.types.is_nested(each.type):
            found[each.name] = Column(*shown, TABLE, swept=swept)
        else:
            kind = WHOLE if pa.types.is_integer(each.type) else NUMBER
            low, high = ranges.get(each.name, (float("nan"), float("nan")))
            found[each.name] = Column(*shown, kind, (), low, high, swept, swept and low > 0.0 and axes[each.name])
    return found


def axes_of(document: Mapping[str, Any]) -> dict[str, bool]:
    """The swept parameters in the order of the study, and whether each is spaced in the logarithm."""
    sections = document.get("sweep", {})
    found: dict[str, bool] = {}
    for part in sections if isinstance(sections, list) else [sections]:
        for name, spec in part.get("axes", {}).items():
            words = str(spec.get("spacing", spec.get("distribution", ""))) if isinstance(spec, dict) else ""
            found[name] = found.get(name, False) or words in ("log", "log_normal")
    return found


def ranges_of(footers: Iterable[pq.FileMetaData]) -> dict[str, tuple[float, float]]:
    """Least and largest number of each column, by the statistics of its chunks; NaN counts for nothing."""
    found: dict[str, tuple[float, float]] = {}
    for footer in footers:
        for group in range(footer.num_row_groups):
            of_group = footer.row_group(group)
            for place in range(of_group.num_columns):
                chunk = of_group.column(place)
                if chunk.physical_type not in ("INT64", "DOUBLE", "INT32", "FLOAT") or not chunk.is_stats_set:
                    continue
                known = chunk.statistics
                if known.has_min_max and np.isfinite(known.min) and np.isfinite(known.max):
                    low, high = found.get(chunk.path_in_schema, (np.inf, -np.inf))
                    found[chunk.path_in_schema] = (min(low, float(known.min)), max(high, float(known.max)))
    return found


def counted_words(footers: Iterable[pq.FileMetaData]) -> dict[str, list[str]]:
    """The words that occur in word observables and in the status, by the facts of the shards."""
    found: dict[str, dict[str, None]] = {}
    for footer in footers:
        facts = parquet.read_facts(footer) or {}
        for name, counts in {**facts.get("words", {}), parquet.STATUS: facts.get("statuses", {})}.items():
            found.setdefault(name, {}).update(dict.fromkeys(counts))
    return {name: [*words] for name, words in found.items()}


def words_of(name: str, known: Mapping[str, Quantity], counted: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The words of a column: those that occur if the footers tell, else all that it may hold."""
    order = SENTENCES if name == parquet.STATUS else SCHEME_NAMES if name == SCHEME else known[name].words if name in known else ()
    occur = counted.get(name)
    if occur is None:
        return tuple(order)
    return (*(word for word in order if word in occur), *(word for word in occur if word not in order))


def first_views(columns: Mapping[str, Column], names: Sequence[str] = (), most: int = 2) -> dict[str, Any]:
    """The views that a page opens with: the columns of the map, of the rows over two columns, of the histograms and of the lists of words.

    Args:
        columns: of the run. names: the columns that are shown; default the swept ones and the first results, `most` of them.

    Raises:
        ConfigError: there is no such column, or all its values are the same.
    """
    able = {name: each for name, each in columns.items() if each.varies}
    if wrong := [Problem("", f"{name!r} {_fault(name, columns, able)}") for name in names if name not in able]:
        raise ConfigError("--column", wrong)
    chosen = [able[name] for name in names] or [*able.values()]
    swept = [each.name for each in chosen if each.swept and each.kind != WORD]
    results = [each.name for each in chosen if not each.swept and each.kind != WORD and (names or each.name not in BOOKKEEPING)]
    words = [each.name for each in chosen if each.kind == WORD]
    if not names:
        results.sort(key=lambda name: name.partition("[")[0] not in PLAIN)
        words.sort(key=lambda name: "regime" not in name)
        swept, results, words = swept[:5], results[:most], words[:3]
    numbers = [*swept, *results] or [each.name for each in able.values() if each.kind != WORD][:1]
    x, y = (numbers[0], numbers[1 % len(numbers)]) if numbers else (None, None)
    regimes = [name for name in words if "regime" in name]
    return {
        "x": x, "y": y, "shade": next(iter([*regimes, *results, *words]), None), "across": x, "up": results[0] if results else y,
        "histograms": numbers, "words": words,
    }  # fmt: skip


def _fault(name: str, columns: Mapping[str, Column], able: Mapping[str, Column]) -> str:
    """Why a column cannot be shown."""
    if name not in columns:
        return f"is no column of this run; {advise(name, [*able])}"
    return "holds tables" if columns[name].kind == TABLE else "has the same value in all rows"
