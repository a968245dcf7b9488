"""The picture of means over a parameter, with standard deviations and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import by_name
from tribosweep.sweep.analysis.group_statistics import keys_of
from tribosweep.sweep.analysis.palette import OTHERS
from tribosweep.sweep.analysis.run_rows import as_text, is_logarithmic, is_numeric
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.results.picture import label, label_plainly, legend, plain, save

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

SIZE = (7.5, 4.7)  # inches
MOST_LINES = 8


def draw(table: pa.Table, model: Model, study: str, out: Path) -> None:
    """Draw the mean of one observable over the parameter with the most values, one line for each combination of the others.

    Raises:
        ConfigError: there are several observables, no numeric parameter or too many lines; or as `picture.save`.
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
    """The label of the line to which each row belongs: "mu = 0.2, scheme = exact"."""
    columns = [
        table.column(name).to_pylist() if is_numeric(table.column(name)) else as_text(table.column(name)).to_pylist() for name in names
    ]
    rows = zip(*columns, strict=True) if columns else [()] * table.num_rows
    return [", ".join(f"{n} = {v:.6g}" if isinstance(v, float) else f"{n} = {v}" for n, v in zip(names, row, strict=True)) for row in rows]


def fill(figure: Figure, table: pa.Table, model: Model, study: str, x: str, lines: Sequence[str]) -> None:
    """Put the picture into an empty figure."""
    axes = figure.add_subplot()
    name = table.column("observable")[0].as_py()
    observable = by_name(model.observables).get(name)
    numbers = {name: table.column(name).to_numpy().astype(float) for name in (x, "mean", "std", "lower", "upper", "rows")}
    for place, line in enumerate(dict.fromkeys(lines)):
        inside = np.flatnonzero(np.array(lines, dtype=object) == line)
        inside = inside[np.argsort(numbers[x][inside], kind="stable")]
        at, mean, std, lower, upper = (numbers[name][inside] for name in (x, "mean", "std", "lower", "upper"))
        dark = OTHERS[(place + 1) % len(OTHERS)][1]
        if observable:  # the standard deviation of a probability says nothing that the probability does not
            axes.fill_between(at, mean - std, mean + std, color=dark, alpha=0.16, linewidth=0.0, zorder=1)
        axes.fill_between(at, lower, upper, color=dark, alpha=0.35, linewidth=0.0, zorder=2)
        axes.plot(at, mean, color=dark, linewidth=1.6, label=plain(line) or "mean", zorder=3)
    if is_logarithmic(np.unique(numbers[x])):
        axes.set_xscale("log")
        label_plainly(axes.xaxis)
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    rows = sorted(set(numbers["rows"].astype(int).tolist()))
    of = f"{rows[0]:,}" if len(rows) == 1 else f"{rows[0]:,} to {rows[-1]:,}"
    level = f"{100.0 * float(metadata['confidence']):g} %"
    axes.set(xlabel=label(by_name(model.parameters)[x]), ylabel=f"mean {label(observable)}" if observable else f"probability of {name}")
    axes.set_title(
        f"{plain(study)}: {'mean' if observable else 'probability'} over {of} values of {metadata['over']}, its {level} interval"
        + (", and one standard deviation" if observable else ""),
        loc="left",
        fontsize=9.5,
    )
    if any(lines):
        legend(axes, frameon=False, fontsize=9)
