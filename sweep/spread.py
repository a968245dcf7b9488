"""What `tribosweep show DIR --over NAME` prints, writes and draws: means and spreads over a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.models import Model
from kernels.models.quantity import by_name
from sweep.averages import ABOUT, averages
from sweep.directory import write_whole
from sweep.pictures import OTHERS, SUFFIXES, label, save
from sweep.plots import label_plainly
from sweep.problems import ConfigError, Problem
from sweep.rows import as_text, is_logarithmic, is_numeric
from sweep.show import model_of, records, state_of
from sweep.terminal import emit, print_json, print_table, say

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

TABLES = (".csv", ".parquet")
SIZE = (7.5, 4.7)  # inches
MOST_LINES = 8
MOST_SHOWN = 200


def show(directory: Path, over: str, observables: Sequence[str], confidence: float, out: Path | None, as_json: bool) -> None:
    """Means over a parameter on stdout, or in a file.

    Args:
        directory: of the run. over, observables, confidence: as of `averages.averages`; without observables a table on stdout and a picture
            are of the main one.
        out: a .csv or .parquet file, or a picture. as_json: one JSON value on stdout instead of a table.

    Raises:
        ConfigError: as `averages.averages`; or another suffix, or what cannot be drawn. OSError: `out` cannot be written.
    """
    if out is not None and out.suffix.lower() not in (*TABLES, *SUFFIXES):
        raise ConfigError("--out", [Problem("", f"{out}: must end in one of {', '.join((*TABLES, *SUFFIXES))}")])
    model = model_of(directory)
    whole = as_json or (out is not None and out.suffix.lower() in TABLES)
    table = averages(directory, over, observables if observables or whole else [model.main], confidence)
    if out is not None:
        write(table, model, state_of(directory)["study"], out)
        emit(str(out))
    elif as_json:
        print_json(records(table))
    else:
        print_means(table, over)
    say_how_many(table, state_of(directory), over)


def say_how_many(table: pa.Table, state: dict[str, Any], over: str) -> None:
    """What is to be known of the means, on stderr."""
    first = table.column("observable")[0].as_py()
    failed = sum(
        count
        for count, name in zip(table.column("failed").to_pylist(), table.column("observable").to_pylist(), strict=True)
        if name == first
    )
    if failed:
        say(f"{failed:,} of {state['rows']:,} rows failed and are left out.")
    if state["state"] != "complete":
        say(f"The run is not complete: {state['points_done']:,} of {state['points']:,} points are there.")
    if not any(rows > 1 for rows in table.column("rows").to_pylist()):
        say(f"No point has two rows that differ in {over} alone: nothing is known of the spread.")


def write(table: pa.Table, model: Model, study: str, out: Path) -> None:
    """The table as a file: CSV, Parquet or a picture, by its ending."""
    import pyarrow.parquet as pq

    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix.lower() in SUFFIXES:
        draw(table, model, study, out)
    elif out.suffix.lower() == ".parquet":
        write_whole(out, lambda temporary: pq.write_table(table, temporary))
    else:
        text = table.to_pandas().to_csv(index=False)
        write_whole(out, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def print_means(table: pa.Table, over: str) -> None:
    """The table on stdout, its first rows where it is long."""
    keys = keys_of(table)
    several = len(set(table.column("observable").to_pylist())) > 1
    columns = [name for name in (*keys, *ABOUT) if name not in ("unit", "failed") and (several or name != "observable")]
    shown = table.slice(0, MOST_SHOWN)
    cells = [
        as_text(shown.column(name)).to_pylist() if not is_numeric(shown.column(name)) else shown.column(name).to_pylist()
        for name in columns
    ]
    unit = table.column("unit")[0].as_py().removeprefix("1")
    name = table.column("observable")[0].as_py()
    title = f"means over {over}" if several else f"{name}{f' [{unit}]' if unit else ''}: means over {over}"
    right = [each for each in columns if each != "observable" and is_numeric(shown.column(each))]
    print_table(title, columns, zip(*cells, strict=True), right=right, spare=("std_error",))
    if table.num_rows > MOST_SHOWN:
        say(f"The first {MOST_SHOWN:,} of {table.num_rows:,} lines; --out FILE.csv or FILE.parquet has all.")


def keys_of(table: pa.Table) -> list[str]:
    """The parameters of a table of means."""
    return [name for name in table.column_names if name not in ABOUT]


def draw(table: pa.Table, model: Model, study: str, out: Path) -> None:
    """The mean of one observable over the parameter with the most values, one line for each combination of the others.

    Raises:
        ConfigError: several observables, no parameter with numbers, or too many lines; or as `pictures.save`.
    """
    problems = []
    names = sorted(set(table.column("observable").to_pylist()))
    if len(names) > 1:
        problems.append(Problem("--observable", f"a picture is of one observable, not of {', '.join(names)}"))
    keys = keys_of(table)
    numeric = {
        name: len(table.column(name).unique()) for name in keys if is_numeric(table.column(name)) and table.column(name).null_count == 0
    }
    if not numeric:
        problems.append(Problem("--out", "a picture needs a parameter with numbers besides the one that means are taken over"))
    else:
        x = max(numeric, key=lambda name: numeric[name])
        others = [name for name in keys if name != x]
        lines = labels_of(table, others)
        if len(set(lines)) > MOST_LINES:
            problems.append(Problem("--out", f"{len(set(lines))} lines over {x}: a picture has at most {MOST_LINES}; a table has all"))
    if problems:
        raise ConfigError("tribosweep show", problems)
    save(out, SIZE, lambda figure: fill(figure, table, model, study, x, lines), "show")


def labels_of(table: pa.Table, names: Sequence[str]) -> list[str]:
    """Which line each row belongs to: "mu = 0.2, scheme = exact"."""
    columns = [
        table.column(name).to_pylist() if is_numeric(table.column(name)) else as_text(table.column(name)).to_pylist() for name in names
    ]
    rows = zip(*columns, strict=True) if columns else [()] * table.num_rows
    return [", ".join(f"{n} = {v:.6g}" if isinstance(v, float) else f"{n} = {v}" for n, v in zip(names, row, strict=True)) for row in rows]


def fill(figure: Figure, table: pa.Table, model: Model, study: str, x: str, lines: Sequence[str]) -> None:
    """Put the picture into an empty figure."""
    axes = figure.add_subplot()
    numbers = {name: table.column(name).to_numpy().astype(float) for name in (x, "mean", "std", "lower", "upper", "rows")}
    for place, line in enumerate(dict.fromkeys(lines)):
        inside = np.flatnonzero(np.array(lines, dtype=object) == line)
        inside = inside[np.argsort(numbers[x][inside], kind="stable")]
        at, mean, std, lower, upper = (numbers[name][inside] for name in (x, "mean", "std", "lower", "upper"))
        dark = OTHERS[(place + 1) % len(OTHERS)][1]
        axes.fill_between(at, mean - std, mean + std, color=dark, alpha=0.16, linewidth=0.0, zorder=1)
        axes.fill_between(at, lower, upper, color=dark, alpha=0.35, linewidth=0.0, zorder=2)
        axes.plot(at, mean, color=dark, linewidth=1.6, label=line or "mean", zorder=3)
    if is_logarithmic(np.unique(numbers[x])):
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    observable = by_name(model.observables)[table.column("observable")[0].as_py()]
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    rows = sorted(set(numbers["rows"].astype(int).tolist()))
    of = f"{rows[0]:,}" if len(rows) == 1 else f"{rows[0]:,} to {rows[-1]:,}"
    level = f"{100.0 * float(metadata['confidence']):g} %"
    axes.set(xlabel=label(by_name(model.parameters)[x]), ylabel=f"mean {label(observable)}")
    axes.set_title(
        f"{study}: mean over {of} values of {metadata['over']}, its {level} interval, and one standard deviation", loc="left", fontsize=9.5
    )
    if any(lines):
        axes.legend(frameon=False, fontsize=9)
