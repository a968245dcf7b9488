"""What a run holds, in a few lines: `tribosweep show`, and the summary at the end of `tribosweep run`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels.models import MODELS, REGIMES, Model
from kernels.models.status import RESULTS, Status
from sweep.axes import SCHEME
from sweep.boundary.asking import BOUNDARY
from sweep.computing import COMPILING, COMPUTING, ENCODING, TOTAL, WAITING, WRITING
from sweep.config import load
from sweep.convergence.refinement import CONVERGENCE
from sweep.directory import RunDirectory, count_failed, total_statuses
from sweep.excitation.reading import model_with
from sweep.inspection import Expected, inspect
from sweep.locks import describe_writer, holders
from sweep.problems import ConfigError, Problem
from sweep.terminal import print_table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FEW = 24
FIRST = 6
MANY = 1000
POINT = "point"
SHOCK = ("impacts", "peak_force", "max_compression", "plastic_set", "rebound_velocity", "separation_time")
RUBBING = ("wear_power", "wear_power_error", "stick_fraction", "slip_phases", "regime")
WORN = ("wear_volume", "wear_depth", "wear_volume_edf_mz", "wear_depth_edf_mz")
SPARE = (
    "wear_power_error",
    "slip_phases",
    "stick_fraction",
    "separation_time",
    "impacts",
)  # left out, in this order, where they do not fit
SPARE_OF_STUDY = ("point", "accepted_steps", "extrapolated_error", "estimated_error", "halvings")


def state_of(path: Path) -> dict[str, Any]:
    """What is known of the run in a directory: state, points done, statuses, seconds, provenance, who writes to it.

    Raises:
        ConfigError: there is no run.
    """
    directory = RunDirectory(path)
    manifest = directory.read_run(to_continue=False)
    study, levelled = manifest.get("design") == CONVERGENCE, manifest.get("design") in (CONVERGENCE, BOUNDARY)
    digests = {**manifest.get("extends", {}), manifest["config_hash"]: manifest["points"]}
    points = None if levelled else manifest["points"]
    found = inspect(directory, Expected(digests, manifest["shards"], manifest["shard_points"], points), trust=True)
    shards = found.whole
    whole = directory.success.exists() and len(shards) == manifest["shards"]
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
        "shards_done": len(shards),
        "faulty": found.faulty | dict.fromkeys(found.strays, "not of this run"),
        "statuses": total_statuses(shards),
        "seconds_of_shards": seconds,
        "rows_per_second": rate,
        "writers": writers,
        **{key: manifest[key] for key in ("seconds", "created", "finished", "version", "config_hash", "provenance") if key in manifest},
    }


def facts_of(state: dict[str, Any]) -> list[tuple[str, str]]:
    """What `state_of` found, as lines of a table."""
    known = state["design"] != BOUNDARY  # its results say how many points it has
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
    """The rows of a run without results, the first `most` of them; only shards that have some are read."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from sweep import store

    directory = RunDirectory(path)
    results = pa.array([status.sentence for status in RESULTS])
    found: list[pa.Table] = []
    for shard in sorted(directory.points.glob("part-*.parquet")):
        try:
            facts = store.read_facts(shard)
        except (OSError, pa.ArrowException):
            continue
        if facts and count_failed(facts["statuses"]):
            rows = pq.ParquetFile(shard).read()
            found.append(rows.filter(pc.invert(pc.is_in(rows.column("status").cast(pa.string()), results))))
            if most is not None and sum(rows.num_rows for rows in found) >= most:
                break
    if not found:
        return pa.table({})
    rows = pa.concat_tables(found)
    return rows if most is None else rows.slice(0, most)


def print_failed(rows: pa.Table, model: Model) -> None:
    """Failed rows on stdout: their numbers, the parameters that vary, and why they failed."""
    observables = {quantity.name for quantity in model.observables}
    columns: dict[str, list[Any]] = rows.to_pydict()
    columns |= {name: [shown_table(cell) for cell in columns[name]] for name in model.tables & columns.keys()}
    shown_ones = [name for name in columns if name not in observables and (name in (POINT, "status") or varies(columns[name]))]
    print_table("", shown_ones, zip(*(columns[name] for name in shown_ones), strict=True), shown_ones[:-1], ["status"])


def settled_points(path: Path) -> int:
    """How many points of a convergence study that is not complete are refined no more."""
    from sweep.adaptive import read_levels
    from sweep.convergence.levels import beginning

    directory = RunDirectory(path)
    config = load(directory.read_document())
    return config.design.count - len(read_levels(directory, config, beginning(config)).unfinished())


def study_table(path: Path) -> pa.Table | None:
    """The table of the convergence study in a directory, without `exact` where it is not complete; None where no level is written.

    Raises:
        ConfigError: there is no run, or one of another design.
    """
    from sweep.convergence.verdicts import read_table

    state = state_of(path)
    if state["design"] != CONVERGENCE:
        message = f'the study "{state["study"]}" is no convergence study: its design is {state["design"]!r}'
        raise ConfigError(str(path), [Problem("", message)])
    directory = RunDirectory(path)
    return read_table(directory, load(directory.read_document()))


def first_rows(path: Path, count: int) -> pa.Table:
    """The first rows of a run's dataset, of which there is one at least; fewer where it is shorter."""
    import pyarrow as pa

    found: list[pa.RecordBatch] = []
    for shard in shards_of(path):
        left = count - sum(batch.num_rows for batch in found)
        if not left:
            break
        found += [batch.slice(0, left) for batch in islice(shard.iter_batches(left), 1)]
    return pa.concat_tables([pa.Table.from_batches([batch]) for batch in found])


def shards_of(path: Path) -> Iterator[pq.ParquetFile]:
    """The shards of a run, one after the other; `pyarrow.dataset` would do as well, but it imports pandas, which takes 0.3 s."""
    import pyarrow.parquet as pq

    for shard in sorted(RunDirectory(path).points.glob("part-*.parquet")):
        with pq.ParquetFile(shard) as file:
            yield file


def model_of(path: Path) -> Model:
    """The model of a run, from its resolved study."""
    document = RunDirectory(path).read_document()
    return model_with(MODELS[document["study"]["model"]], document.get("excitation"))


def print_rows(rows: pa.Table, model: Model, title: str = "") -> None:
    """A table of few rows on stdout: the parameters that vary, the main observables, and the status where one is not "ok".

    Those of rubbing only where a mass of a model with a wall touches a support at all.
    """
    observables = {quantity.name: quantity for quantity in model.observables}
    quantities = {quantity.name: quantity for quantity in model.parameters} | observables
    columns: dict[str, list[Any]] = {name: rows.column(name).to_pylist() for name in rows.column_names}
    parameters = [name for name in columns if name not in observables and name not in ("point", "status") and varies(columns[name])]
    rubs = (
        "impacts" not in columns
        or any(word in REGIMES for word in columns["regime"])
        or any(power > 0.0 for power in columns["wear_power"])
    )
    steady = ("period", "regime") if "poincare_x" in columns else ()
    wanted = dict.fromkeys((*SHOCK, *((*RUBBING, *WORN) if rubs else ()), *steady))
    chosen = ["point", *parameters, *(name for name in wanted if name in columns)]
    if any(status != Status.OK.sentence for status in columns["status"]):
        chosen.append("status")
    columns |= {name: [shown_table(cell) for cell in columns[name]] for name in model.tables.intersection(parameters)}
    there = observables.keys() & columns.keys()
    columns |= {name: [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in columns[name]] for name in there}
    header = {name: f"{name}\n{quantities[name].unit_suffix.strip() if name in quantities else ''}" for name in chosen}
    right = [header[name] for name in chosen if not any(isinstance(cell, str) for cell in columns[name])]
    spare = [header[name] for name in SPARE if name in header]
    print_table(title, list(header.values()), zip(*(columns[name] for name in chosen), strict=True), right, spare=spare)


def print_study(table: pa.Table) -> None:
    """The table of a convergence study on stdout, without parameters that do not vary; how many points have which verdict if it is long."""
    from sweep.convergence.verdicts import VERDICTS

    columns: dict[str, list[Any]] = table.to_pydict()
    if table.num_rows > FEW:
        counts = Counter(columns["verdict"])
        print_table("", ["verdict", "points"], [(word, f"{counts[word]:,}") for word in VERDICTS if counts[word]], right=["points"])
        return
    parameters = table.column_names[1 : table.column_names.index("halvings")]
    hidden = {name for name in parameters if not varies(columns[name])}
    if set(columns["status"]) == {Status.OK.sentence}:
        hidden.add("status")
    header, cells = {}, {}
    for field in table.schema:
        if field.name not in hidden:
            unit = field.metadata[b"unit"].decode().removeprefix("1")
            style = "2f" if field.name == "order" else "1e" if field.name.endswith("error") else "7g"
            header[field.name] = field.name.replace("_", "\n") if field.name in SPARE_OF_STUDY else f"{field.name}\n{unit}"
            cells[field.name] = [shown(cell, style) for cell in columns[field.name]]
    right = [header[name] for name in header if name not in (SCHEME, "verdict", "status")]
    spare = [header[name] for name in SPARE_OF_STUDY if name in header]
    prose = [header["status"]] if "status" in header else []
    print_table("", list(header.values()), zip(*cells.values(), strict=True), right, prose, spare)


def shown_table(cell: list[float] | None) -> str | None:
    """A table as CSV gives it."""
    return None if cell is None else ";".join(f"{node:g}" for node in cell)


def shown(cell: Any, style: str) -> Any:
    """A number in that style, nothing in place of NaN; other cells as they are."""
    return (None if math.isnan(cell) else f"{cell:.{style}}") if isinstance(cell, float) else cell


def count_unsettled(table: pa.Table) -> int:
    """How many points of a convergence study are not settled, those that failed apart."""
    from sweep.convergence.verdicts import NOT_SETTLED

    return Counter(table.column("verdict").to_pylist())[NOT_SETTLED]


def records(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table for JSON, null where there is no number."""
    return [
        {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in row.items()}
        for row in table.to_pylist()
    ]


def varies(cells: list[Any]) -> bool:
    """Whether a column holds different cells."""
    return len({repr(cell) for cell in cells}) > 1


def print_counts(path: Path, statuses: dict[str, int], model: Model) -> None:
    """Rows per status and per word of every observable that is a word, on stdout."""
    words = [quantity.name for quantity in model.observables if quantity.kind == "word"]
    counts = {name: Counter[Any]() for name in words}
    for shard in shards_of(path):
        table = shard.read(words)
        for name in words:
            for pair in table.column(name).value_counts().to_pylist():
                counts[name][pair["values"]] += pair["counts"]
    rows = [(name, word, f"{count:,}") for name in words for word, count in counts[name].most_common() if word is not None]
    rows += [("status", status, f"{count:,}") for status, count in statuses.items()]
    print_table("", ["column", "value", "points"], rows, right=["points"])


def describe_seconds(seconds: dict[str, float]) -> str:
    """The split of a run's time in words."""
    return ", ".join(
        f"{key} {seconds[key]:.2f} s{' (the last two beside computing)' if key == WRITING else ''}"
        for key in (COMPILING, COMPUTING, ENCODING, WRITING, WAITING, TOTAL)
        if key in seconds
    )
