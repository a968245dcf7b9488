"""The self-contained HTML file of a report."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from pathlib import Path

from sweep.io.atomic import write_text
from sweep.io.errors import ConfigError, Problem
from sweep.report.content import Content

SCRIPTS = ("data.js", "picture.js", "charts.js", "page.js")


def write_page(content: Content, out: Path) -> int:
    """Write a report.

    Args:
        content: the content of the report.
        out: an .html file.

    Returns:
        The size of the file [bytes].

    Raises:
        ConfigError: plotly is missing, or the suffix is not .html.
        OSError: `out` cannot be written.
    """
    text = render(content)
    write_text(out, text)
    return len(text.encode())


def check_suffix(out: Path) -> None:
    """Raise ConfigError if the suffix of the file is not .html."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise ConfigError("--out", [Problem("", f"{out}: must end in .html")])


def render(content: Content) -> str:
    """The HTML file as text."""
    places = {
        "title": html.escape(content.title),
        "style": read("page.css"),
        "plotly": plotly_script(),
        "content": as_json(content.facts),
        "columns": "\n".join(
            f'<script type="text/plain" data-column="{html.escape(name)}">{text}</script>' for name, text in content.columns.items()
        ),
        "script": "\n".join(read(name) for name in SCRIPTS),
    }
    # the template is cut at its places before they are filled, so that "{{" in a filled-in part is not taken for a place
    pieces = []
    for piece in read("page.html").split("{{"):
        name, closed, rest = piece.partition("}}")
        pieces += [places[name], rest] if closed else [piece]
    return "".join(pieces)


def read(name: str) -> str:
    """Read a file of the page."""
    return (files("sweep.report") / "web" / name).read_text(encoding="utf-8")


def as_json(facts: object) -> str:
    """JSON that is safe in a script element."""
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).replace("<", "\\u003c")


def plotly_script() -> str:
    """The plotly library for the browser, as plotly for Python ships it.

    Raises:
        ConfigError: plotly is not installed.
    """
    try:
        source = files("plotly") / "package_data" / "plotly.min.js"
    except ModuleNotFoundError as error:
        if error.name != "plotly":
            raise
        message = "a report needs plotly, which is not installed: pip install 'tribosweep[report]'"
        raise ConfigError("tribosweep report", [Problem("", message)]) from None
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
