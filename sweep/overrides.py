"""`--set path=value`: keys of a study replaced from the command line, before it is checked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from sweep.problems import Problem


def apply_overrides(raw: dict[str, Any], overrides: Sequence[str], problems: list[Problem]) -> list[str]:
    """Replace keys of `raw` in place.

    Args:
        raw: the study as nested tables.
        overrides: texts "path=value", such as "parameters.mu=0.2".
        problems: where problems are added.

    Returns:
        The paths that were set, those of tables that were added on the way among them.
    """
    changed: list[str] = []
    for override in overrides:
        path, equals, value = override.partition("=")
        keys = path.strip().split(".")
        if not equals or not all(keys):
            problems.append(Problem(f"--set {override}", "must be path=value, such as parameters.mu=0.2"))
            continue
        table = raw
        for depth, key in enumerate(keys[:-1], start=1):
            if key not in table:
                changed.append(".".join(keys[:depth]))
            table = table.setdefault(key, {})
            if not isinstance(table, dict):
                problems.append(Problem(f"--set {override}", f"{key} is a value, not a table of keys"))
                break
        else:
            table[keys[-1]] = parse(value)
            changed.append(".".join(keys))
    return changed


def parse(value: str) -> Any:
    """A value as TOML reads it, or the text itself where it is not TOML."""
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return value.strip()
    return parsed["value"] if len(parsed) == 1 else value.strip()
