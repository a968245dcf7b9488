"""The page: its HTML, its script, and the facts that it is told first."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore.columns import first_views
from tribosweep.sweep.explore.rows import Rows
from tribosweep.sweep.io.text import visible
from tribosweep.sweep.results.html import as_json, filled, policy, web_file

SCRIPTS = ("libraries.min.js", "live.js", "still.js", "views.js", "grid.js", "rows.js", "explore.js")
STYLE = "explore.css"


def facts_of(directory: RunDirectory, rows: Rows, names: Sequence[str] = ()) -> dict[str, Any]:
    """What a page is told of a run: its name, number of rows and columns, and with which views it opens.

    Args:
        directory, rows: of the run. names: the columns that are shown; default the swept ones and the first results.

    Raises:
        ConfigError: there is no such column, or all its values are the same.
    """
    manifest = directory.read_run(to_continue=False)
    checked = (
        "every byte of the shards was verified" if rows.verified else "manifest and footers of the shards were verified, not their rows"
    )
    return {
        "study": visible(str(manifest["study"])),
        "directory": visible(str(directory.path)),
        "complete": directory.is_marked(manifest),
        "rows": rows.count,
        "points": manifest["points"],
        "every": rows.every,
        "checked": checked,
        "columns": [column.to_json() for column in rows.columns.values()],
        "first": first_views(rows.columns, names, most=2 if rows.every == 1 else 1),
    }


def read(name: str) -> str:
    """A file of the page."""
    return web_file("tribosweep.sweep.explore", name)


def script() -> str:
    """The script of the page."""
    return "\n".join(['"use strict";', *(read(name) for name in SCRIPTS)])


def live_page(facts: dict[str, Any]) -> str:
    """The page that asks its server."""
    return page_of(facts, '<link rel="stylesheet" href="explore.css">', '<script src="explore.js" defer></script>')


def still_page(facts: dict[str, Any], packed: dict[str, str]) -> str:
    """The page that holds its data."""
    code = script().replace("</script", "<\\/script")
    data = "\n".join(f'<script type="text/plain" data-packed="{html.escape(name)}">{text}</script>' for name, text in packed.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(code)}">\n'
    return page_of(facts, f"<style>{read(STYLE)}</style>", f"{data}\n<script>{code}</script>", meta)


def page_of(facts: dict[str, Any], style: str, scripts: str, policy: str = "") -> str:
    """The template with its places filled."""
    places = {"title": html.escape(facts["study"]), "style": style, "facts": as_json(finite(facts)), "script": scripts, "policy": policy}
    return filled(read("explore.html"), places)


def finite(value: Any) -> Any:
    """JSON values, with null for numbers that are not finite."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list | tuple) else value
