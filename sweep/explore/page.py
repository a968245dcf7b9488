"""The page: its HTML, its script, and the facts that it is told first."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore.columns import first_views
from tribosweep.sweep.explore.rows import Rows
from tribosweep.sweep.io.text import visible

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
    """A file of the page, with the ends of lines that a browser makes of any."""
    text = (files("tribosweep.sweep.explore") / "web" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def script() -> str:
    """The script of the page."""
    return "\n".join(['"use strict";', *(read(name) for name in SCRIPTS)])


def as_json(facts: object) -> str:
    """JSON that is safe in a script element."""
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def policy(code: str) -> str:
    """The policy of a page without a server: it runs this script and no other, and asks for nothing."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:"
    content = f"{allowed}; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">\n'


def live_page(facts: dict[str, Any]) -> str:
    """The page that asks its server."""
    return filled(facts, '<link rel="stylesheet" href="explore.css">', '<script src="explore.js" defer></script>')


def still_page(facts: dict[str, Any], packed: dict[str, str]) -> str:
    """The page that holds its data."""
    code = script().replace("</script", "<\\/script")
    data = "\n".join(f'<script type="text/plain" data-packed="{html.escape(name)}">{text}</script>' for name, text in packed.items())
    return filled(facts, f"<style>{read(STYLE)}</style>", f"{data}\n<script>{code}</script>", policy(code))


def filled(facts: dict[str, Any], style: str, scripts: str, policy: str = "") -> str:
    """The template with its places filled; what is filled in is not searched for places."""
    places = {"title": html.escape(facts["study"]), "style": style, "facts": as_json(finite(facts)), "script": scripts, "policy": policy}
    pieces = []
    for piece in read("explore.html").split("{{"):
        name, closed, rest = piece.partition("}}")
        pieces += [places[name], rest] if closed else [piece]
    return "".join(pieces)


def finite(value: Any) -> Any:
    """JSON values, with null for numbers that are not finite."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list | tuple) else value
