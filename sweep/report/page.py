"""The self-contained HTML file of a report."""

from __future__ import annotations

import html
from importlib.resources import files
from pathlib import Path
from typing import Any

from tribosweep.sweep.io.atomic import write_text
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import visible
from tribosweep.sweep.report.content import Content
from tribosweep.sweep.results.html import as_json, filled, policy, web_file, with_line_feeds

PAGES = {
    "run": ("run.html", ("shared.js", "data.js", "picture.js", "charts.js", "statistics.js", "run.js")),
    "branches": ("branches.html", ("shared.js", "data.js", "charts.js", "branches.js")),
}  # kind of content -> what stands in the frame, scripts
PLACE = "  <!-- sections of analyses -->\n"


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
    """Raise ConfigError if no report is written into files of this suffix."""
    if out.suffix.lower() not in (".html", ".htm", ".pdf"):
        raise ConfigError("--out", [Problem("", f"{out}: must end in .html or .pdf")])


def is_pdf(out: Path) -> bool:
    """Whether a file is to be a PDF."""
    return out.suffix.lower() == ".pdf"


def render(content: Content) -> str:
    """The HTML file as text."""
    main, scripts = PAGES[content.page]
    own = [with_line_feeds(of_section) for _, of_section in content.sections]
    plotly, script = plotly_script(), "\n".join(['"use strict";', *(read(name) for name in scripts[:-1]), *own, read(scripts[-1])])
    places = {
        "policy": policy(plotly, script),
        "main": read(main).replace(PLACE, "".join(with_line_feeds(part) for part, _ in content.sections)),
        "title": html.escape(visible(content.title)),
        "style": read("page.css"),
        "plotly": plotly,
        "content": as_json(shown(content.facts)),
        "columns": "\n".join(
            f'<script type="text/plain" data-column="{html.escape(name)}">{text}</script>' for name, text in content.columns.items()
        ),
        "script": script,
    }
    return filled(read("frame.html"), places)


def read(name: str) -> str:
    """Read a file of the page."""
    return web_file("tribosweep.sweep.report", name)


def shown(value: Any) -> Any:
    """JSON values with every text as it can be shown; see `visible`."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, dict):
        return {name: shown(each) for name, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list | tuple) else value


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
    return with_line_feeds(source.read_text(encoding="utf-8")).replace("</script", "<\\/script")
