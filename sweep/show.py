"""What a run holds, in a few lines: `tribosweep show`, and the summary at the end of `tribosweep run`."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels.models import MODELS, Model
from kernels.quantity import Quantity
from kernels.status import Status
from sweep.axes import SCHEME
from sweep.config import load
from sweep.convergence.levels import read_history, read_table
from sweep.convergence.refinement import CONVERGENCE
from sweep.convergence.verdicts import NOT_SETTLED, VERDICTS
from sweep.directory import RunDirectory, total_statuses
from sweep.problems import ConfigError, Problem
from sweep.terminal import print_table

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 24
FIRST = 6
SHOCK = ("impacts", "peak_force", "max_compression", "plastic_set", "rebound_velocity", "separation_time")
RUBBING = ("wear_power", "stick_fraction", "slip_phases", "regime")
SPARE = ("slip_phases", "stick_fraction", "separation_time", "impacts")  # left out, in this order, where they do not fit
SPARE_OF_STUDY = ("point", "accepted_steps", "extrapolated_error", "estimated_error", "halvings")


def state_of(path: Path) -> dict[str, Any]:
    """What is known of the run in a directory: state, points done, statuses, seconds, provenance.

    Raises:
        ConfigError: there is no run.
    """
    directory = RunDirectory(path)
    manifest = directory.read_manifest()
    if "config_hash" not in manifest:
        raise ConfigError(str(path), [Problem("", "holds no run of tribosweep (no manifest.json)")])
    study = manifest.get("design") == CONVERGENCE
    shards = directory.done(manifest["config_hash"], None if study else manifest["points"])
    whole = directory.is_complete(shards)
    rows = sum(shard["rows"] for shard in shards.values())
    return {
        "directory": str(path),
        "study": manifest["study"],
        "design": manifest.get("design"),
        "state": "complete" if whole else "incomplete",
        "points": manifest["points"],
        "points_done": rows if not study else manifest["points"] if whole else settled_points(path),
        "rows": rows,
        "shards": manifest["shards"],
        "shards_done": len(shards),
        "statuses": total_statuses(shards),
        **{key: manifest[key] for key in ("seconds", "created", "finished", "version", "config_hash", "provenance") if key in manifest},
    }


def settled_points(path: Path) -> int:
    """How many points of a convergence study that is not complete are refined no more."""
    directory = RunDirectory(path)
    config = load(directory.config)
    return config.design.count - len(read_history(directory, config).unfinished())


def study_table(path: Path) -> pa.Table | None:
    """The table of the convergence study in a directory, without `exact` where it is not complete; None where no level is written.

    Raises:
        ConfigError: there is no run, or one of another design.
    """
    state = state_of(path)
    if state["design"] != CONVERGENCE:
        message = f'the study "{state["study"]}" is no convergence study: its design is {state["design"]!r}'
        raise ConfigError(str(path), [Problem("", message)])
    directory = RunDirectory(path)
    return read_table(directory, load(directory.config))


def first_rows(path: Path, count: int) -> pa.Table:
    """The first rows of a run's dataset; fewer where it is shorter."""
    import pyarrow.dataset as ds

    return ds.dataset(path / "points", format="parquet").head(count)


def model_of(path: Path) -> Model:
    """The model of a run, from its resolved study."""
    return MODELS[RunDirectory(path).read_document()["study"]["model"]]


def print_rows(rows: pa.Table, model: Model, title: str = "") -> None:
    """A table of few rows on stdout: the parameters that vary, the main observables, and the status where one is not "ok".

    Those of rubbing only where a mass of a model with a wall touches a support at all.
    """
    observables = {quantity.name: quantity for quantity in model.observables}
    quantities = {quantity.name: quantity for quantity in model.parameters} | observables
    columns: dict[str, list[Any]] = {name: rows.column(name).to_pylist() for name in rows.column_names}
    parameters = [name for name in columns if name not in observables and name not in ("point", "status") and varies(columns[name])]
    rubs = "impacts" not in columns or any(word is not None for word in columns["regime"])
    chosen = ["point", *parameters, *(name for name in (*SHOCK, *(RUBBING if rubs else ())) if name in columns)]
    if any(status != Status.OK.sentence for status in columns["status"]):
        chosen.append("status")
    columns |= {name: [shown_table(cell) for cell in columns[name]] for name in parameters if is_table(quantities.get(name))}
    columns |= {name: [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in columns[name]] for name in observables}
    header = {name: f"{name}\n{quantities[name].unit_suffix.strip() if name in quantities else ''}" for name in chosen}
    right = [header[name] for name in chosen if not any(isinstance(cell, str) for cell in columns[name])]
    spare = [header[name] for name in SPARE if name in header]
    print_table(title, list(header.values()), zip(*(columns[name] for name in chosen), strict=True), right, spare=spare)


def print_study(table: pa.Table) -> None:
    """The table of a convergence study on stdout, without parameters that do not vary; how many points have which verdict if it is long."""
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


def is_table(quantity: Quantity | None) -> bool:
    """Whether a column holds tables; that of the scheme, which is no quantity, does not."""
    return quantity is not None and quantity.kind == "list"


def shown_table(cell: list[float] | None) -> str | None:
    """A table as CSV gives it."""
    return None if cell is None else ";".join(f"{node:g}" for node in cell)


def shown(cell: Any, style: str) -> Any:
    """A number in that style, nothing in place of NaN; other cells as they are."""
    return (None if math.isnan(cell) else f"{cell:.{style}}") if isinstance(cell, float) else cell


def count_unsettled(table: pa.Table) -> int:
    """How many points of a convergence study are not settled, those that failed apart."""
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
    import pyarrow.dataset as ds

    words = [quantity.name for quantity in model.observables if quantity.kind == "word"]
    counts = {name: Counter[Any]() for name in words}
    for batch in ds.dataset(path / "points", format="parquet").to_batches(columns=words):
        for name in words:
            for pair in batch.column(name).value_counts().to_pylist():
                counts[name][pair["values"]] += pair["counts"]
    rows = [(name, word, f"{count:,}") for name in words for word, count in counts[name].most_common() if word is not None]
    rows += [("status", status, f"{count:,}") for status, count in statuses.items()]
    print_table("", ["column", "value", "points"], rows, right=["points"])


def describe_seconds(seconds: dict[str, float]) -> str:
    """The split of a run's time in words."""
    parts = [f"{key} {seconds[key]:.2f} s" for key in ("compiling", "computing", "writing") if key in seconds]
    return f"{', '.join(parts)} (beside computing), total {seconds['total']:.2f} s" if seconds else ""
