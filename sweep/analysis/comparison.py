"""Two runs side by side: what differs between their studies, and between the results of the rows that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernels.models.quantity import Quantity
from sweep.design.axis import SCHEME
from sweep.execution.directory import flatten
from sweep.io.errors import ConfigError, Problem, advise
from sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd

FIRST, SECOND = "first", "second"
STATUS = "status"


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

    Raises:
        ConfigError: the keys do not tell the rows of a frame apart.
    """
    frames = []
    for which, frame in ((FIRST, first), (SECOND, second)):
        plain = frame.assign(**{name: frame[name].astype(str) for name in keys if frame[name].dtype in ("object", "category")})
        if plain.duplicated(list(keys)).any() if keys else len(plain) > 1:
            alike = f"some rows of the {which} run have the same {', '.join(keys)}" if keys else "nothing is swept by both runs"
            raise ConfigError("compare", [Problem("on", f"{alike}: name parameters that tell its rows apart")])
        frames.append(plain)
    how: dict[str, object] = {"on": list(keys)} if keys else {"how": "cross"}
    return frames[0].merge(frames[1], suffixes=(f"_{FIRST}", f"_{SECOND}"), **how)  # type: ignore[arg-type]


def differences(rows: pd.DataFrame, quantities: Sequence[Quantity], keys: Sequence[str]) -> pd.DataFrame:
    """How much the observables of joined rows differ, one row per observable; see `sweep.api.comparing.Comparison`."""
    import pandas as pd

    found = []
    for quantity in (*quantities, Quantity(STATUS, "", "", kind="word")):
        names = f"{quantity.name}_{FIRST}", f"{quantity.name}_{SECOND}"
        if quantity.kind == "list" or not {*names} <= {*rows.columns}:
            continue
        one, other = (rows[name] for name in names)
        facts = {
            "observable": quantity.name,
            "unit": quantity.unit,
            "rows": len(rows),
            "largest": np.nan,
            "relative": np.nan,
            "where": None,
        }
        if quantity.kind == "word":
            same = one.astype(object).eq(other.astype(object)) | (one.isna() & other.isna())
            changed = np.flatnonzero(~same)
            place = int(changed[0]) if len(changed) else None
        else:
            values = one.to_numpy(dtype=float, na_value=np.nan), other.to_numpy(dtype=float, na_value=np.nan)
            same = (values[0] == values[1]) | (np.isnan(values[0]) & np.isnan(values[1]))
            gaps = np.where(same, 0.0, np.abs(values[1] - values[0]))
            scale = np.maximum(np.abs(values[0]), np.abs(values[1]))
            ratios = np.divide(gaps, scale, out=np.zeros(len(gaps)), where=scale > 0.0)
            place = int(np.argmax(np.nan_to_num(gaps, nan=-1.0))) if len(gaps) and not same.all() else None
            if len(gaps):
                facts |= {"largest": np.nanmax(gaps, initial=0.0), "relative": np.nanmax(ratios, initial=0.0)}
        where = None if place is None else {name: rows[name].iloc[place] for name in keys}
        found.append({**facts, "where": where, "equal": int(np.count_nonzero(same))})
    columns = ["observable", "unit", "rows", "equal", "largest", "relative", "where"]
    return pd.DataFrame(found, columns=columns).set_index("observable")
