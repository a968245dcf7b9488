"""Writing a study as TOML: one line per key, axes in their order (which is the order of the points)."""

from __future__ import annotations

import json
import re
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(tables: dict[str, Any]) -> str:
    """Nested tables of strings, numbers, booleans, lists and ranges as TOML text.

    A general TOML writer would put an axis that is a range, being a table, after the axes that are lists: another order of points. Hence
    this one, which writes tables below [sweep.axes] inline.
    """
    blocks = []
    for name, table in tables.items():
        several = isinstance(table, list)
        for each in table if several else [table]:
            inner = {key: value for key, value in each.items() if key == "axes"}
            lines = [
                f"[[{name}]]" if several else f"[{name}]",
                *(assignment(key, value) for key, value in each.items() if key not in inner),
            ]
            for key, nested in inner.items():
                lines += [f"[{name}.{key}]", *(assignment(axis, value) for axis, value in nested.items())]
            blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def assignment(key: str, value: Any) -> str:
    """One "key = value" line."""
    return f"{key if BARE_KEY.fullmatch(key) else text(key)} = {inline(value)}"


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(assignment(key, item) for key, item in value.items())} }}"
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def text(value: str) -> str:
    """A basic string; TOML escapes as JSON does, but also the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
