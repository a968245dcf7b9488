"""A run in a notebook: its state, what it sweeps, its first rows, and a picture."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analysis.run_state import FIRST, first_rows
from tribosweep.sweep.design.axis import Axis
from tribosweep.sweep.execution.directory import count_failed
from tribosweep.sweep.io.errors import ConfigError, shorten
from tribosweep.sweep.io.toml import inline
from tribosweep.sweep.results.html import said
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from tribosweep.sweep.results.picture import Picture

SHOWN = 8  # values of an axis
MOST_COLUMNS = 6  # observables of the first rows
MOST_DRAWN = 2_000_000  # rows; a larger picture would keep the reader waiting
WIDTH = 520  # pixels of the picture


def html(directory: Path, config: Config, complete: bool, statuses: Mapping[str, int], pictures: Sequence[Callable[[], Picture]]) -> str:
    """A run as HTML.

    Args:
        directory, config, complete, statuses: see `Run`.
        pictures: what draws it; the first one that can be drawn is shown.
    """
    rows, lost = sum(statuses.values()), count_failed(statuses)
    state = "complete" if complete else "incomplete"
    size = f"{rows:,} {'row' if rows == 1 else 'rows'}"
    failed = f", <b>{lost:,} failed</b>" if lost else ""
    parts = [
        f"<div><b>{said(config.name)}</b> &middot; {said(config.model.name)} &middot; {state}: {size}{failed}</div>",
        f"<div><code>{said(str(directory))}</code></div>",
    ]
    if axes := config.design.axes:
        units = {quantity.name: quantity.unit_suffix.strip() for quantity in config.model.parameters}
        parts.append(table(["swept", "unit", "values"], [[axis.name, units.get(axis.name, ""), values_of(axis)] for axis in axes]))
    if set(statuses) != {"ok"}:
        parts.append(table(["status", "rows"], [[status, f"{count:,}"] for status, count in statuses.items()]))
    if rows:
        parts.append(first(directory, config))
        parts.append(
            picture(pictures) if rows <= MOST_DRAWN else "<div>A picture: <code>run.map()</code> or <code>run.plot()</code>.</div>"
        )
    return "\n".join(parts)


def values_of(axis: Axis) -> str:
    """The values of an axis in words: its ends and their number, the first of a list, or a distribution as in a study file."""
    document = axis.to_document()
    if isinstance(document, list):
        few = ", ".join(inline(each) for each in document[:SHOWN])
        return f"{few}, ... ({len(document):,} values)" if len(document) > SHOWN else few
    if "from" not in document:
        return inline(document)
    count = f", {document['count']:,} values" if "count" in document else ""
    return f"{document['from']:g} to {document['to']:g}{count}, {document['spacing']}"


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A table."""
    head = "".join(f"<th>{said(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{said(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def first(directory: Path, config: Config) -> str:
    """The first rows: what is swept, the main observables, and the status."""
    rows = first_rows(directory, FIRST)
    plain = [quantity for quantity in config.returns if quantity.kind != "list"]
    shown = sorted(plain, key=lambda quantity: (quantity.name != config.model.main, quantity.kind != "word"))[:MOST_COLUMNS]
    swept = [name for name in rows.column_names if name in {*config.swept, "scheme"}]
    names = ["point", *swept, *(quantity.name for quantity in shown), "status"]
    cells = [rows.column(name).to_pylist() for name in names]
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in rows.schema}
    header = [f"{name} [{units[name]}]" if units.get(name) not in ("", "1") else name for name in names]
    return table(header, [[cell_of(cell) for cell in row] for row in zip(*cells, strict=True)])


def cell_of(cell: Any) -> str:
    """A cell as text: 7 significant digits; lists shortened."""
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN
        return "-"
    return f"{cell:.7g}" if isinstance(cell, float) else shorten(cell) if isinstance(cell, list) else str(cell)


def picture(pictures: Sequence[Callable[[], Picture]]) -> str:
    """The first picture that can be drawn; nothing if none can."""
    for draw in pictures:
        try:
            found = draw()
        except ConfigError:
            continue
        data, _ = found._repr_png_()
        return f'<img width="{WIDTH}" alt="{said(found)}" src="data:image/png;base64,{base64.b64encode(data).decode()}"/>'
    return ""
