"""Two runs side by side: what differs between their studies, and between the results of the rows that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.execution.directory import flatten
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd

FIRST, SECOND = "first", "second"
STATUS = "status"
SAME = 1e-12  # relative difference of two values of a parameter that are the same: several steps of rounding
ROUNDING = 1e-15  # of the largest value, what rounding leaves of a 0 in the middle of a range


def compare_studies(first: Config, second: Config) -> pd.DataFrame:
    """The keys that differ, one row each, with the values of both studies; None where a study leaves a key out."""
    import pandas as pd

    one, other = flatten(first.document), flatten(second.document)
    keys = [key for key in dict.fromkeys([*one, *other]) if one.get(key) != other.get(key)]
    return pd.DataFrame(
        {FIRST: [one.get(key) for key in keys], SECOND: [other.get(key) for key in keys]}, index=pd.Index(keys, name="key"), dtype=object
    )


def keys_of(first: Config, second: Config, on: Sequence[str] | None) -> list[str]:
    """The columns by which rows are found in the other run: what both sweep, unless given; ConfigError if a name is in neither."""
    both = [{*config.swept, *([SCHEME] if any(axis.name == SCHEME for axis in config.design.axes) else [])} for config in (first, second)]
    if on is None:
        return [name for name in (*first.swept, SCHEME) if name in both[0] & both[1]]
    if wrong := [name for name in on if name not in both[0] & both[1]]:
        known = sorted(both[0] & both[1])
        raise ConfigError("compare", [Problem("on", f"{name!r} is not swept by both runs; {advise(name, known)}") for name in wrong])
    return list(on)


def join(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The rows that both frames have by their keys; columns of both end in `_first` and `_second`.

    Numbers are the same up to rounding (see `places`): 0.1 + 2 * 0.1 finds 0.3.

    Raises:
        ConfigError: the keys do not tell the rows of a frame apart.
    """
    found = [f"place of {name}" for name in keys]
    placed = [frame.copy() for frame in (first, second)]
    for name, place in zip(keys, found, strict=True):
        placed[0][place], placed[1][place] = places(first[name], second[name])
    for which, frame in zip((FIRST, SECOND), placed, strict=True):
        if frame.duplicated(found).any() if keys else len(frame) > 1:
            alike = f"some rows of the {which} run have the same {', '.join(keys)}" if keys else "nothing is swept by both runs"
            raise ConfigError("compare", [Problem("on", f"{alike}: name parameters that tell its rows apart")])
    how: dict[str, object] = {"on": found} if keys else {"how": "cross"}
    rows = placed[0].merge(placed[1].drop(columns=list(keys)), suffixes=(f"_{FIRST}", f"_{SECOND}"), **how)  # type: ignore[arg-type]
    return rows.drop(columns=found)


def places(one: pd.Series[Any], other: pd.Series[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the distinct values of two columns: the same number for equal values, of which missing ones are one too.

    Two numbers are equal if they differ by SAME of their size at most, and 0 and a number if that is below ROUNDING of the largest.
    """
    import pandas as pd

    if any(column.dtype.kind not in "iuf" for column in (one, other)):
        texts = [str(cell.tolist()) if isinstance(cell, np.ndarray) else str(cell) for cell in (*one, *other)]
        numbers = pd.factorize(np.array(texts, dtype=object))[0]
    else:
        values = np.concatenate([column.to_numpy(dtype=float, na_value=np.nan) for column in (one, other)])
        size = np.nanmax(np.abs(values), initial=0.0)
        values = np.where(np.abs(values) <= ROUNDING * size, 0.0, values) if (values == 0.0).any() else values
        order = np.argsort(values)  # missing ones last
        ranked = values[order]
        apart = ~(np.diff(ranked) <= SAME * np.abs(ranked[1:])) & ~np.isnan(ranked[:-1])
        numbers = np.empty(len(values), dtype=np.int64)
        numbers[order] = np.concatenate([[0], np.cumsum(apart)])[: len(values)]
    return numbers[: len(one)], numbers[len(one) :]


def differences(rows: pd.DataFrame, quantities: Sequence[Quantity], keys: Sequence[str]) -> pd.DataFrame:
    """How much the observables of joined rows differ, one row per observable; see `tribosweep.sweep.api.comparing.Comparison`."""
    import pandas as pd

    found = []
    for quantity in (*quantities, Quantity(STATUS, "", "", kind="word")):
        one, other = (rows.get(f"{quantity.name}_{which}") for which in (FIRST, SECOND))
        facts = {"observable": quantity.name, "unit": quantity.unit, "rows": len(rows), "equal": 0, "one_sided": len(rows)}
        facts |= {"largest": np.nan, "relative": np.nan, "where": None}
        if one is not None and other is not None:
            same, gaps, ratios = gaps_of(one, other, quantity.kind)
            lacking = one.isna().to_numpy() != other.isna().to_numpy()
            facts |= {"equal": int(np.count_nonzero(same)), "one_sided": int(np.count_nonzero(lacking))}
            if (there := np.isfinite(gaps)).any():
                facts |= {"largest": gaps[there].max(), "relative": ratios[there].max()}
            if not same.all():
                changed = np.where(same, -1.0, np.where(np.isnan(gaps), 0.0, gaps))
                facts["where"] = {name: rows[name].iloc[int(np.argmax(changed))] for name in keys}
        found.append(facts)
    columns = ["observable", "unit", "rows", "equal", "one_sided", "largest", "relative", "where"]
    return pd.DataFrame(found, columns=columns).set_index("observable")


def gaps_of(one: pd.Series[Any], other: pd.Series[Any], kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which rows of two columns are equal, how much they differ, and that over the larger of both; NaN where a row is no pair of numbers.

    Of lists the largest difference of an entry, over the largest entry.
    """
    nothing = np.full(len(one), np.nan)
    if kind == "word":
        agree = one.astype(object).eq(other.astype(object)) | (one.isna() & other.isna())
        return agree.to_numpy(dtype=bool), nothing, nothing
    if kind == "list":
        pairs = [gap_of_lists(*pair) for pair in zip(one, other, strict=True)]
        same, gaps, ratios = (np.array([pair[part] for pair in pairs]) for part in range(3))
        return same.astype(bool), gaps.astype(float), ratios.astype(float)
    values = one.to_numpy(dtype=float, na_value=np.nan), other.to_numpy(dtype=float, na_value=np.nan)
    same = (values[0] == values[1]) | (np.isnan(values[0]) & np.isnan(values[1]))
    gaps = np.where(same & ~np.isnan(values[0]), 0.0, np.abs(values[1] - values[0]))
    scale = np.maximum(np.abs(values[0]), np.abs(values[1]))
    return same, gaps, np.divide(gaps, scale, out=np.where(np.isnan(gaps), np.nan, 0.0), where=scale > 0.0)


def gap_of_lists(one: Any, other: Any) -> tuple[bool, float, float]:
    """As `gaps_of`, of two lists."""
    if one is None or other is None or len(one) != len(other):
        return one is None and other is None, np.nan, np.nan
    left, right = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    same = bool(((left == right) | (np.isnan(left) & np.isnan(right))).all())
    gap = float(np.nanmax(np.abs(left - right), initial=0.0))
    size = float(np.nanmax(np.abs(np.concatenate([left, right])), initial=0.0))
    return same, gap, gap / size if size > 0.0 else 0.0
