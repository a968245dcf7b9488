"""TOML: read a file, apply overrides, and write a study with its axes in the order of its points."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tribosweep.sweep.io import shipped
from tribosweep.sweep.io.errors import ConfigError, Problem, advise_path
from tribosweep.sweep.io.files import MOST_TEXT, read_bytes
from tribosweep.sweep.io.text import visible_json

Checked = TypeVar("Checked")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
DEEPEST = 16  # levels of tables and lists
MOST_COMMAS = 2**21  # of a text: more numbers than a resolved study of its largest size holds with all their digits
MOST_PARTS = 2**18  # of keys, with the tables and lists; the parser takes up to 8 microseconds for each
MOST_QUOTES = 2**15  # a text with a unit takes 0.2 ms to read
MOST_LINES = 2**22
PART = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
DECIMAL_COMMA = re.compile(r"=[ \t]*+[-+]?\d++,\d")
POINT_OF_A_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*+\.\d[\d_eE+-]*+(?![\w.])", re.ASCII)
TOO_DEEP = re.compile(rf"{PART}(?:[ \t]*+\.[ \t]*+{PART}){{{DEEPEST}}}")


def to_toml(tables: dict[str, Any]) -> str:
    """Convert nested tables of strings, numbers, booleans, lists and ranges to TOML text.

    A general TOML writer puts tables after lists. It would move axes given as ranges behind axes given as lists, and so change the order
    of the points. This writer puts tables below [sweep.axes] inline.
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
    """Format one "key = value" line."""
    return f"{key if BARE_KEY.fullmatch(key) else text(key)} = {inline(value)}"


def inline(value: Any) -> str:
    """Format a value on one line."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(assignment(key, item) for key, item in value.items())} }}"
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def text(value: str) -> str:
    """Format a basic string; TOML escapes as JSON does. What would command a terminal or hide text is escaped too."""
    return visible_json(json.dumps(value, ensure_ascii=False))


def apply_overrides(raw: dict[str, Any], overrides: Sequence[str], problems: list[Problem]) -> list[str]:
    """Replace keys of `raw` in place.

    Args:
        raw: the study as nested tables.
        overrides: texts "path=value", such as "parameters.mu=0.2".
        problems: list to which problems are added.

    Returns:
        The paths that were set, including those of new tables along the way.
    """
    changed: list[str] = []
    for override in overrides:
        path, equals, value = override.partition("=")
        keys = path.strip().split(".", DEEPEST)
        if not equals or not all(keys):
            problems.append(Problem(f"--set {override}", "must be path=value, such as parameters.mu=0.2"))
            continue
        if len(keys) > DEEPEST:
            problems.append(Problem(f"--set {override}", f"a key of more than {DEEPEST} parts"))
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
    """Parse a value as TOML; if it is no TOML, return the text itself."""
    try:
        parsed = parse_toml(f"value = {value}")
    except ValueError:
        return value.strip()
    return parsed["value"] if len(parsed) == 1 else value.strip()


def plain(value: Any) -> Any:
    """A copy of nested containers as dicts, lists and Python numbers; arrays become lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else os.fspath(value) if isinstance(value, os.PathLike) else value


def read_source(source: Mapping[str, Any] | str | os.PathLike[str]) -> tuple[str, dict[str, Any], Path, str]:
    """Read a study as nested tables, from a TOML file, from a shipped study by its name, or from nested dicts.

    Returns:
        Its source for messages, the tables, the folder to which paths are relative, and its default name.
    """
    if isinstance(source, Mapping):
        return "study", plain(source), Path.cwd(), "study"
    path = shipped.find(source)
    return str(source), read_toml(path), path.absolute().parent, path.stem


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a file; ConfigError if it cannot be read or is not TOML."""
    try:
        return parse_toml(read_bytes(path, MOST_TEXT))
    except OSError as error:
        near = advise_path(path) or ("" if path.exists() else shipped.suggest(path))
        if not near and isinstance(error, FileNotFoundError) and path.suffix.lower() != shipped.SUFFIX and len(path.parts) == 1:
            near = ", nor a study of that name that comes with tribosweep (`tribosweep list studies`)"
        message = f"cannot be read: {error.strerror}{near}"
    except ValueError as error:
        message = str(error)
    raise ConfigError(str(path), [Problem("", message)])


def parse_toml(data: bytes | str) -> dict[str, Any]:
    """Parse the content of a file; ValueError if it is not TOML, or if its tables are nested more deeply than those of any study."""
    try:
        text = data if isinstance(data, str) else data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not TOML: not UTF-8 text (byte {error.start})") from None
    if more := excess(text):
        raise ValueError(f"not TOML of a study: {more}")
    if (deep := TOO_DEEP.search(text)) is not None:  # the parser would take a time that grows as the square of the depth
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"not TOML of a study: a key of more than {DEEPEST} parts (line {line})")
    try:
        tables = tomllib.loads(text + "\n")  # so that an error in the last line is reported with that line
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        twice = said.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate"))
        place = re.search(r"at line (\d+)", said)
        wrong = text.split("\n")[int(place[1]) - 1] if place and int(place[1]) <= text.count("\n") + 1 else ""
        comma = "; numbers have a decimal point, not a comma" if DECIMAL_COMMA.search(wrong) else ""
        raise ValueError(f"a key is given twice {said[said.rfind('(') :]}" if twice else f"not TOML: {said}{comma}") from None
    except RecursionError:
        raise ValueError("not TOML: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not TOML: {str(error).partition(' for integer string')[0]}") from None
    if depth_of(tables) > DEEPEST:
        raise ValueError(f"not TOML of a study: nested more than {DEEPEST} deep")
    return tables


def excess(text: str) -> str:
    """What a text of TOML has more of than is read, counted before any work; empty if nothing."""
    parts = text.count("=") + text.count("[") + text.count(".")
    if parts > MOST_PARTS:
        parts -= sum(1 for _ in POINT_OF_A_NUMBER.finditer(text))
    counts = (
        ("commas", text.count(","), MOST_COMMAS),
        ("parts of keys, tables and lists", parts, MOST_PARTS),
        ("quotation marks", text.count('"') + text.count("'"), MOST_QUOTES),
        ("lines", text.count("\n"), MOST_LINES),
    )
    for what, count, most in counts:
        if count > most:
            advice = "give long lists of values as a table of points, and tables of loads fewer rows"
            return f"{count:,} {what}, at most {most:,} are read: {advice}"
    return ""


def depth_of(tables: Any) -> int:
    """How deeply tables and lists are nested, without recursion."""
    depth, level = 0, [tables]
    while level and depth <= DEEPEST:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each) if isinstance(inner, dict | list)]
    return depth


def read_checked(
    check: Callable[[dict[str, Any], str, Path, str, list[Problem]], Checked | None],
    source: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Sequence[str],
) -> Checked:
    """Read a study, replace keys, and check it.

    Args:
        check: (tables, source, folder of relative paths, default name, list to which problems are added) -> the checked study, or None.
        source: path of a TOML file, name of a shipped study, or its content as nested dicts. overrides: "path=value" texts.

    Raises:
        ConfigError: lists everything that is wrong.
    """
    name, raw, folder, stem = read_source(source)
    problems: list[Problem] = []
    apply_overrides(raw, overrides, problems)
    found = check(raw, name, folder, stem, problems)
    if found is None:
        raise ConfigError(name, list(dict.fromkeys(problems)))
    return found
