"""Text for HTML, and pages that are one file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files

from tribosweep.sweep.io.text import visible


def said(text: object) -> str:
    """A text for HTML, with what would hide or command shown as an escape."""
    return html.escape(visible(str(text)))


def web_file(package: str, name: str) -> str:
    """A file of a page, in the folder `web` of a package."""
    return with_line_feeds((files(package) / "web" / name).read_text(encoding="utf-8"))


def with_line_feeds(text: str) -> str:
    """The text as a browser reads it, so that the hash of a script is the same."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def as_json(facts: object) -> str:
    """JSON that is safe in a script element."""
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).replace("<", "\\u003c")


def policy(*scripts: str) -> str:
    """The Content-Security-Policy of a page that runs its own `scripts` and no other, asks for nothing, and sends nothing."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


def filled(template: str, places: Mapping[str, str]) -> str:
    """A template with its places {{NAME}} filled. It is cut first, so that "{{" in what is filled in is not taken for a place."""
    pieces = []
    for piece in template.split("{{"):
        name, closed, rest = piece.partition("}}")
        pieces += [places[name], rest] if closed else [piece]
    return "".join(pieces)
