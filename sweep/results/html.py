"""Text for HTML."""

from __future__ import annotations

import html

from tribosweep.sweep.io.text import visible


def said(text: object) -> str:
    """A text for HTML, with what would hide or command shown as an escape."""
    return html.escape(visible(str(text)))
