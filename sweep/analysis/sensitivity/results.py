"""The results of a sensitivity study, as records, tables and files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.sensitivity.estimates import Estimate
from tribosweep.sweep.analysis.sensitivity.sample import Kept, Sample
from tribosweep.sweep.io.atomic import make_inner_folder, write_together
from tribosweep.sweep.study.event import Event

if TYPE_CHECKING:
    import pyarrow as pa

INDICES, UNCERTAINTY, DERIVATIVES, SIZES = "indices", "uncertainty", "derivatives", "sizes"
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, slots=True)
class SensitivityRequest:
    """The results that a user requests from a sensitivity analysis.

    Attributes:
        observables: names; if empty, the main observable of the model.
        regime: if given, only groups with all rows in this regime are used.
        events: the events whose probabilities are computed.
        quantiles: the probabilities of quantiles.
        derivatives: number of sample points at which derivatives are computed; 0 for none.
        at: parameter -> its value at the point of elasticities; default: its median.
        resamples, level, seed: of confidence intervals.
        sizes: whether everything is also estimated from the first half, quarter ... of the groups.
    """

    observables: tuple[str, ...] = ()
    regime: str | None = None
    events: tuple[Event, ...] = ()
    quantiles: tuple[float, ...] = QUANTILES
    derivatives: int = 0
    at: Mapping[str, float] = field(default_factory=dict)
    resamples: int = 100
    level: float = 0.95
    seed: int = 1
    sizes: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One number of a result, as a line of a table.

    Attributes:
        observable: its name. method: name of the method of estimation.
        groups: number of groups used: points of a sample, Saltelli's groups, trajectories, or points of a curve.
        estimate: the number.
    """

    observable: str
    method: str
    groups: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class SensitivityResult:
    """The results of a sensitivity study.

    Attributes:
        sample: the rows. request: the request.
        quantities: the observables.
        kept: observable -> the groups that were used for it.
        lines: INDICES, UNCERTAINTY, DERIVATIVES, SIZES -> their lines. Probabilities of events are among those of UNCERTAINTY.
        without: event -> number of rows that count for its probability although one of its observables has no value there.
        notes: sentences for the reader.
    """

    sample: Sample
    request: SensitivityRequest
    quantities: list[Quantity]
    kept: dict[str, Kept]
    lines: dict[str, list[Line]]
    notes: list[str]
    without: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Number of failed rows."""
        return int(np.count_nonzero(self.sample.failed))


def records(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Lines as flat dicts; a missing value or interval end is None."""
    found = []
    for line in lines:
        estimate = asdict(line.estimate)
        flat = {"observable": line.observable, "method": line.method, "groups": line.groups}
        order = ("measure", "parameter", "other", "value", "low", "high")
        flat |= {key: estimate[key] for key in order}
        found.append(
            {key: None if value == "" or (isinstance(value, float) and not math.isfinite(value)) else value for key, value in flat.items()}
        )
    return found


def to_arrow(study: SensitivityResult, which: str) -> pa.Table:
    """One of the tables of a study, one line per number; the schema's metadata holds the request and the dropped groups."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    fields = [
        described("observable", pa.string(), "", "observable to which the number belongs"),
        described("method", pa.string(), "", "how it was estimated"),
        described("groups", pa.int64(), "", "number of groups, trajectories or points used"),
        described("measure", pa.string(), "", "name of the measure"),
        described("parameter", pa.string(), "", "parameter to which the number belongs"),
        described("other", pa.string(), "", "other parameter of a pair"),
        described("value", pa.float64(), "", "estimate"),
        described("low", pa.float64(), "", "lower end of its confidence interval"),
        described("high", pa.float64(), "", "upper end of its confidence interval"),
    ]
    request = {**asdict(study.request), "at": dict(study.request.at)}
    dropped = {
        name: {key: getattr(kept, key) for key in ("total", "missing", "failed", "void", "elsewhere")} for name, kept in study.kept.items()
    }
    facts = {
        "config_hash": study.sample.config.digest, "request": json.dumps(request), "groups": json.dumps(dropped),
        "without_value": json.dumps(study.without),
    }  # fmt: skip
    return pa.Table.from_pylist(records(study.lines[which]), schema=pa.schema(fields, metadata=facts))


def write(study: SensitivityResult, path: Path) -> list[Path]:
    """Write the non-empty tables into `sensitivity/` of a run's directory; OSError if they cannot be written.

    Tables of an earlier call are removed, so that at any instant all that are there belong together.
    """
    from tribosweep.sweep.io import sealed_parquet

    folder = path / "sensitivity"
    make_inner_folder(folder)
    tables = {folder / f"{which}.parquet": sealed_parquet.to_bytes(to_arrow(study, which)) for which, lines in study.lines.items() if lines}
    write_together(tables, [folder / f"{which}.parquet" for which, lines in study.lines.items() if not lines])
    return [*tables]
