"""Basins: the motions with their shares, and the motion of each start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analyses.basins.rows import Starts
from tribosweep.sweep.results.printed import PrintedTable, cell
from tribosweep.sweep.results.result import Result, finite_or_none, metadata_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


NOWHERE = -1
UNBOUND = "null where neither spring nor wall holds the mass"
ATTRACTORS, STARTS = "attractors", "starts"
LEFT_OUT = ("period", "x_end", "v_end", "x_end_2", "v_end_2", "time_reached", "accepted_steps", "rejected_steps")
LISTED = 40  # motions in a printed table


@dataclass(slots=True)
class Motion:
    """A steady motion.

    Attributes:
        points: (q, 2) velocity and displacement times omega at its sections [m/s], the latter 0 where neither spring nor wall holds the
            mass; none of a rest, which may be anywhere.
        observables: of one period, by name; words as codes.
    """

    points: np.ndarray
    observables: dict[str, float]

    @property
    def period(self) -> int:
        """Its period, in periods of the excitation."""
        return int(self.observables["period"])

    @property
    def rests(self) -> bool:
        """Whether friction holds the mass, wherever it is."""
        return not len(self.points)


@dataclass(frozen=True, slots=True, repr=False)
class Basins(Result):
    """Which steady motion each start of a run leads to; a notebook shows the motions.

    Attributes:
        rows: the starts of the run. tolerance: of the request.
        motions: of each group, those to which some start leads, the one with most starts first.
        attractor: (n,) position of the motion of each start in its group, or NOWHERE. counts: of each group, starts by motion.
        unsettled: (n,) mask of starts that are near no motion after all; failed: of those whose run failed.
        observables: the quantities in `Motion.observables`. notes: sentences for the reader.
    """

    rows: Starts
    tolerance: float
    motions: list[list[Motion]]
    attractor: np.ndarray
    counts: list[np.ndarray]
    unsettled: np.ndarray
    failed: np.ndarray
    observables: tuple[Quantity, ...]
    notes: list[str] = field(default_factory=list)

    folder: ClassVar[str] = "basins"

    def line(self) -> str:
        """How many motions of how many starts."""
        starts, motions = len(self.attractor), sum(map(len, self.motions))
        return f"{starts:,} starts: {motions:,} steady {'motion' if motions == 1 else 'motions'}"

    def tables(self) -> dict[str, pa.Table]:
        """The "attractors", one row for each motion and combination of the other parameters, and the "starts" with their motions."""
        return {which: _table(self, which) for which in (ATTRACTORS, STARTS)}

    def starts(self) -> pd.DataFrame:
        """One row for each start: `point` of the run, and `attractor`, the number of its motion, missing where it came to none."""
        return self.to_pandas(STARTS)

    def facts(self) -> dict[str, Any]:
        """The number of starts, and the motions."""
        return {"starts": len(self.attractor), "attractors": records(self)}

    @property
    def has_failures(self) -> bool:
        """Whether the run of a start failed."""
        return bool(self.failed.any())

    def printed(self) -> Iterator[PrintedTable | str]:
        """The motions of each group with their shares."""
        rows = records(self)
        if not rows:
            yield "No start came to a periodic motion."
            return
        names = list(self.rows.names)
        more = [name for name in ("regime", "stability", "multiplier_1", "wear_power") if name in rows[0]]
        header = [*names, "attractor", "periods", "share", "section_x", "section_v", *more]
        lines = [[f"{row[name]:.2%}" if name == "share" else cell(row[name]) for name in header] for row in rows]
        numbers = [name for name in header if name not in ("regime", "stability")]
        yield PrintedTable(f"Steady motions of {len(self.attractor):,} starts", header, lines, numbers, LISTED, "motions")
        if len(self.motions) > 1:
            several = sum(len(motions) > 1 for motions in self.motions)
            yield f"Several motions coexist at {several:,} of {len(self.motions):,} values of {', '.join(names)}."


def records(found: Basins) -> list[dict[str, Any]]:
    """One row for each motion of each group, the one with most starts first."""
    rows, omegas, bound = [], found.rows.of("omega"), found.rows.bound
    first_of = np.unique(found.rows.groups, return_index=True)[1]
    sizes = np.bincount(found.rows.groups)
    for group, motions in enumerate(found.motions):
        own = {name: float(found.rows.parameters[name][first_of[group]]) for name in found.rows.names}
        whole, omega = int(sizes[group]), float(omegas[first_of[group]])
        for number, (motion, count) in enumerate(zip(motions, found.counts[group], strict=True)):
            first = motion.points[np.lexsort(motion.points.T)[0]] if len(motion.points) else np.array([0.0, math.nan])
            row: dict[str, Any] = {**own, "attractor": number, "periods": motion.period, "starts": int(count), "share": int(count) / whole}
            x = first[1] / omega if bound[first_of[group]] else math.nan
            row |= {"section_x": finite_or_none(x), "section_v": finite_or_none(first[0])}
            for quantity in found.observables:
                if quantity.name not in LEFT_OUT:
                    value = motion.observables[quantity.name]
                    word = quantity.words[int(value)] if quantity.kind == "word" and math.isfinite(value) and value >= 0.0 else None
                    row[quantity.name] = word if quantity.kind == "word" else finite_or_none(value)
            rows.append(row)
    return rows


def _table(found: Basins, which: str) -> pa.Table:
    """One of the tables: ATTRACTORS or STARTS."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    model, number, whole = found.rows.model, pa.float64(), pa.int64()
    metadata = metadata_of(found.rows.state, {"tolerance": found.tolerance, "held": found.rows.held})
    about = "number of the steady motion among those of the same parameters, the one with most starts first"
    if which == STARTS:
        fields = [
            described("point", whole, "", "point of the run: its start and its other parameters"),
            described("attractor", whole, "", f"{about}; null where the start came to none"),
        ]
        to_none = found.attractor == NOWHERE
        arrays = [pa.array(found.rows.numbers, whole), pa.array(found.attractor, whole, mask=to_none)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
    fields = [
        *(described(name, number, model.parameter(name).unit, model.parameter(name).description) for name in found.rows.names),
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
