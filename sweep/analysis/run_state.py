"""The state of a run: progress, statuses, times, first rows and failed rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models import MODELS, TIME, Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import EXACT, SCHEMES
from tribosweep.kernels.models.status import RESULTS
from tribosweep.kernels.models.supports import SUPPORT, SUPPORT_OBSERVABLES
from tribosweep.sweep.design.axis import DRAW, RECORD, SCHEME
from tribosweep.sweep.design.subset_simulation import SUBSET
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory, count_failed, total_statuses, total_words
from tribosweep.sweep.execution.job import COMPILING, COMPUTING, ENCODING, TOTAL, WAITING, WRITING
from tribosweep.sweep.execution.lock import describe_writer, holders
from tribosweep.sweep.execution.shard_check import expected_by, inspect_shards
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study import structures
from tribosweep.sweep.study.capabilities import BOUNDARY, CONVERGENCE
from tribosweep.sweep.study.excitation import model_with
from tribosweep.sweep.study.load import load
from tribosweep.sweep.study.schema import TIME_KEYS

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 24
FIRST = 6
MANY = 1000
POINT = "point"


def state_of(path: Path) -> dict[str, Any]:
    """The state of the run in a directory: completeness, number of points done, statuses, seconds, provenance, processes that write to it.

    Raises:
        ConfigError: there is no run.
    """
    directory = RunDirectory(path)
    manifest = directory.read_run(to_continue=False)
    study = manifest.get("design") == CONVERGENCE
    found = inspect_shards(directory, expected_by(manifest), trust=True)
    rebuilt = "is missing or not as it was written; what is shown comes from the shards"
    manifest_fault = {} if directory.stored_manifest() else {directory.manifest.name: rebuilt}
    shards = found.whole | found.begun
    whole = directory.is_marked(manifest) and len(found.whole) == manifest["shards"]
    writers = holders(path)
    rows = sum(shard["rows"] for shard in shards.values())
    seconds = {part: sum(shard["seconds"][part] for shard in shards.values()) for part in (COMPILING, COMPUTING, ENCODING)}
    rate = rows / seconds[COMPUTING] if seconds[COMPUTING] > 0.0 else None
    return {
        "directory": str(path),
        "study": manifest["study"],
        "design": manifest.get("design"),
        "state": "complete" if whole else "running" if writers else "incomplete",
        "points": manifest["points"],
        "points_done": rows if not study else manifest["points"] if whole else settled_points(path),
        "rows": rows,
        "shards": manifest["shards"],
        "shards_done": len(found.whole),
        "faulty": manifest_fault | found.faulty | dict.fromkeys(found.strays, "not of this run"),
        "statuses": total_statuses(shards),
        "words": total_words(shards),
        "seconds_of_shards": seconds,
        "rows_per_second": rate,
        "writers": writers,
        **{key: manifest[key] for key in ("seconds", "created", "finished", "version", "config_hash") if key in manifest},
        "provenance": manifest.get("provenance", {}),
    }


def facts_of(state: dict[str, Any]) -> list[tuple[str, str]]:
    """The findings of `state_of` as lines of a table."""
    known = state["design"] not in (BOUNDARY, SUBSET)  # whose number of points follows from their results
    points, shards = (f" of {state[key]:,}" if known else "" for key in ("points", "shards"))
    facts = [("state", f"{state['state']}: {state['points_done']:,}{points} points"), ("shards", f"{state['shards_done']:,}{shards}")]
    facts += [("faulty", f"{name}: {why}") for name, why in state["faulty"].items()]
    facts += [("writer", describe_writer(writer)) for writer in state["writers"]]
    if state["rows"]:
        facts.append(("all shards", describe_seconds(state["seconds_of_shards"])))
    if state["rows_per_second"]:
        facts.append(("rate", f"{state['rows_per_second']:,.0f} rows a second of computing"))
    facts += [("last call", describe_seconds(state["seconds"]))] if state.get("seconds") else []
    facts += [(name, str(value)) for name, value in state["provenance"].items()]
    return facts + [(key, str(state[key])) for key in ("created", "finished", "version", "config_hash") if key in state]


def failed_rows(path: Path, most: int | None) -> pa.Table:
    """The first `most` rows of a run that have no results; only shards that hold such rows are read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    results = pa.array([status.sentence for status in RESULTS])
    found: list[pa.Table] = []
    for rows in Dataset(path).shards(having=count_failed):
        found.append(rows.filter(pc.invert(pc.is_in(rows.column("status").cast(pa.string()), results))))
        if most is not None and sum(rows.num_rows for rows in found) >= most:
            break
    if not found:
        return pa.table({})
    rows = pa.concat_tables(found)
    return rows if most is None else rows.slice(0, most)


def settled_points(path: Path) -> int:
    """The number of points that an incomplete convergence study refines no further."""
    from tribosweep.sweep.execution.adaptive.history import read_levels
    from tribosweep.sweep.execution.adaptive.step_halving import empty_history

    directory = RunDirectory(path)
    config = load(directory.read_document())
    return config.design.count - len(read_levels(directory, config, empty_history(config)).unfinished())


def study_table(path: Path) -> pa.Table | None:
    """The table of the convergence study in a directory; None if no level is written. `exact` is null if it is incomplete.

    Raises:
        ConfigError: there is no run, or its design is no convergence study.
    """
    from tribosweep.sweep.execution.adaptive.convergence_table import read_table

    state = state_of(path)
    if state["design"] != CONVERGENCE:
        message = f'the study "{state["study"]}" is no convergence study: its design is {state["design"]!r}'
        raise ConfigError(str(path), [Problem("", message)])
    directory = RunDirectory(path)
    return read_table(directory, load(directory.read_document()))


def first_rows(path: Path, count: int) -> pa.Table:
    """The first `count` rows of a run's dataset, or all of them if it has fewer. The dataset must hold at least one row."""
    import pyarrow as pa

    found: list[pa.Table] = []
    for shard in Dataset(path).shards():
        found.append(shard.slice(0, count - sum(rows.num_rows for rows in found)))
        if sum(rows.num_rows for rows in found) == count:
            break
    if not found:
        raise ConfigError(str(path), [Problem("", "no shard is written yet")])
    return pa.concat_tables(found, promote_options="default")


def swept_in(path: Path, model: Model, columns: Sequence[str]) -> list[str]:
    """The parameters among the columns of a run that its axes give several values; of a table of points all those that it may give."""
    document = RunDirectory(path).read_document()
    sections = document.get("sweep", {})
    parts = sections if isinstance(sections, list) else [sections]
    if any("file" in part for part in parts):
        return [
            name for name in columns if name in by_name(model.parameters) and name not in {**document.get("parameters", {}), **TIME_KEYS}
        ]
    axes = [item for part in parts for item in part.get("axes", {}).items()]
    one = [name for name, axis in axes if (len(axis) if isinstance(axis, list) else axis.get("count", 2)) == 1]
    return [name for name, _ in axes if name in columns and (name not in one or len(parts) > 1)]


def model_of(path: Path) -> Model:
    """The model of a run, read from its resolved study."""
    document = RunDirectory(path).read_document()
    if not document:
        RunDirectory(path).read_run(to_continue=False)  # says what is there instead
    name = document["study"]["model"]
    if name in MODELS:
        return model_with(MODELS[name], document.get("excitation"))
    model = structures.model_of_document(document)
    if model is None:  # the files of its basis are gone, or have changed
        return stored_model(document, Dataset(path))
    return model_with(model, document.get("excitation"))


def stored_model(document: dict[str, Any], dataset: Dataset) -> Model:
    """What the rows of a run say of the model of a structure: names, units and descriptions of their columns."""
    import pyarrow as pa

    sections = document.get("sweep", {})
    swept = {str(name) for part in (sections if isinstance(sections, list) else [sections]) for name in part.get("axes", {})}
    given = {*document.get("parameters", {}), *document.get("time", {}), "window_start", "window_end", DRAW, RECORD, *swept}
    known = {quantity.name: quantity for quantity in (*SUPPORT, *SUPPORT_OBSERVABLES, *TIME)}
    parameters: list[Quantity] = []
    observables: list[Quantity] = []
    for field in next((shard.schema for shard in dataset.shards()), pa.schema([])):
        if field.name in (POINT, SCHEME, "status", "halving", "level"):
            continue
        facts = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        base = known.get(field.name.partition("[")[0], Quantity(field.name, "", ""))
        kind: Any = "list" if pa.types.is_list(field.type) else "integer" if pa.types.is_integer(field.type) else "float"
        kind = "word" if pa.types.is_dictionary(field.type) else kind
        quantity = replace(base, name=field.name, kind=kind, unit=facts.get("unit", ""), description=facts.get("description", ""))
        (parameters if field.name in given else observables).append(quantity)
    return Model(
        name=document["study"]["model"],
        description="a structure with supports, whose basis is no longer available",
        parameters=tuple(parameters),
        observables=tuple(observables),
        schemes=tuple(name for name in SCHEMES if name != EXACT),
        penalty=(),
        implied=(),
        steady=False,
        derive=lambda values, _xp: dict(values),
        rules=(),
    )


def shown_table(cell: list[float] | None) -> str | None:
    """A table as text, as in CSV."""
    return None if cell is None else ";".join(f"{node:g}" for node in cell)


def count_unsettled(table: pa.Table) -> int:
    """The number of points of a convergence study that neither settled nor failed."""
    from tribosweep.sweep.execution.adaptive.convergence_table import NOT_SETTLED

    return Counter(table.column("verdict").to_pylist())[NOT_SETTLED]


def records(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table for JSON, with null for a missing number."""
    return [
        {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]


def varies(cells: list[Any]) -> bool:
    """Whether a column holds different cells."""
    return len({repr(cell) for cell in cells}) > 1


def describe_seconds(seconds: dict[str, float]) -> str:
    """How a run's time divides into stages, as text: what threads or workers do at once adds up to more than the time on the clock."""
    stages = [
        ", ".join(f"{key} {seconds[key]:.2f} s" for key in keys if key in seconds)
        for keys in ((COMPILING, COMPUTING, WAITING), (ENCODING, WRITING))
    ]
    total = f"{seconds[TOTAL]:.2f} s on the clock; " if TOTAL in seconds else ""
    return f"{total}added over all threads: {stages[0]}; beside them {stages[1]}"
