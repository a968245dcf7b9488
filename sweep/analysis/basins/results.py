"""Basins as tables: the motions with their shares, and the motion of each start."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.analysis.basins.analysis import NOWHERE, Basins
from tribosweep.sweep.io.atomic import make_inner_folder, write_together

if TYPE_CHECKING:
    import pyarrow as pa

UNBOUND = "null where neither spring nor wall holds the mass"
FOLDER, ATTRACTORS, STARTS = "basins", "attractors", "starts"
LEFT_OUT = ("period", "x_end", "v_end", "x_end_2", "v_end_2", "time_reached", "accepted_steps", "rejected_steps")


def records(found: Basins) -> list[dict[str, Any]]:
    """One row for each motion of each group, the one with most starts first."""
    rows, omegas, bound = [], found.starts.of("omega"), found.starts.bound
    first_of = np.unique(found.starts.groups, return_index=True)[1]
    sizes = np.bincount(found.starts.groups)
    for group, motions in enumerate(found.motions):
        own = {name: float(found.starts.parameters[name][first_of[group]]) for name in found.starts.names}
        whole, omega = int(sizes[group]), float(omegas[first_of[group]])
        for number, (motion, count) in enumerate(zip(motions, found.counts[group], strict=True)):
            first = motion.points[np.lexsort(motion.points.T)[0]] if len(motion.points) else np.array([0.0, math.nan])
            row: dict[str, Any] = {**own, "attractor": number, "periods": motion.period, "starts": int(count), "share": int(count) / whole}
            x = first[1] / omega if bound[first_of[group]] else math.nan
            row |= {"section_x": _number(x), "section_v": _number(first[0])}
            for quantity in found.observables:
                if quantity.name not in LEFT_OUT:
                    value = motion.observables[quantity.name]
                    word = quantity.words[int(value)] if quantity.kind == "word" and math.isfinite(value) and value >= 0.0 else None
                    row[quantity.name] = word if quantity.kind == "word" else _number(value)
            rows.append(row)
    return rows


def _number(value: float) -> float | None:
    """A number, or None in place of NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def to_arrow(found: Basins, which: str) -> pa.Table:
    """One of the tables: ATTRACTORS or STARTS."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    model, number, whole = found.starts.model, pa.float64(), pa.int64()
    request = json.dumps({"tolerance": found.tolerance, "held": found.starts.held})
    metadata = {"config_hash": str(found.starts.state.get("config_hash", "")), "request": request}
    about = "number of the steady motion among those of the same parameters, the one with most starts first"
    if which == STARTS:
        fields = [
            described("point", whole, "", "point of the run: its start and its other parameters"),
            described("attractor", whole, "", f"{about}; null where the start came to none"),
        ]
        to_none = found.attractor == NOWHERE
        arrays = [pa.array(found.starts.numbers, whole), pa.array(found.attractor, whole, mask=to_none)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
    fields = [
        *(described(name, number, model.parameter(name).unit, model.parameter(name).description) for name in found.starts.names),
        described("attractor", whole, "", about),
        described("periods", whole, "", "periods of the excitation after which the motion repeats"),
        described("starts", whole, "", "number of starts that lead to it"),
        described("share", number, "1", "their part of all starts of the same parameters"),
        described("section_x", number, "m", f"displacement at a start of a period of the excitation, the one where it is least; {UNBOUND}"),
        described("section_v", number, "m/s", "velocity there"),
        *(
            described(q.name, pa.string() if q.kind == "word" else number, q.unit, q.description)
            for q in found.observables if q.name not in LEFT_OUT
        ),
    ]  # fmt: skip
    return pa.Table.from_pylist(records(found), schema=pa.schema(fields, metadata=metadata))


def write(found: Basins, path: Path) -> Sequence[Path]:
    """Write the tables into `basins/` of a run's directory, in place of those of an earlier call; OSError if they cannot be written."""
    from tribosweep.sweep.io import sealed_parquet

    folder = path / FOLDER
    make_inner_folder(folder)
    tables = {folder / f"{which}.parquet": sealed_parquet.to_bytes(to_arrow(found, which)) for which in (ATTRACTORS, STARTS)}
    write_together(tables)
    return [*tables]
