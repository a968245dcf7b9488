"""Reading a table of a study by its pydantic model, with all its problems; what is right in it is checked further."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from tribosweep.sweep.io.errors import LISTED, Problem, advise, first_of, shorten
from tribosweep.sweep.study.value_types import TableSchema

TYPES = {"string_type": "text in quotes", "int_type": "a whole number", "bool_type": "true or false"}
TYPES |= dict.fromkeys(("greater_than_equal", "less_than"), "a whole number of at most 64 bits")
TYPES |= dict.fromkeys(("dict_type", "model_type", "list_type"), "a table of keys")
HOLDERS = (dict, list)  # what has further values

Table = TypeVar("Table", bound=TableSchema)


def unknown_key(location: Sequence[str], known: Mapping[str, str]) -> str:
    """What is said of a key that a table has not; `known` are its keys with their descriptions."""
    return f"unknown key; {advise(location[-1], known)}"


def read_table(
    shape: type[Table], raw: object, path: str, problems: list[Problem],
    unknown: Callable[[Sequence[str], Mapping[str, str]], str] = unknown_key,
) -> Table:  # fmt: skip
    """Read a table; entries with problems are left out, so that the rest can be checked too.

    Args:
        shape: its keys and their types; every key has a default.
        raw: the table of the file. path: its key; empty for the whole file. problems: list to which problems are added.
        unknown: what is said of an unknown key: of its location, and of the keys that there are.

    Returns:
        The table without its wrong entries.
    """
    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_url=False)
    if not isinstance(raw, dict):
        problems.append(Problem(path, f"must be a table of keys, not {shorten(raw)}"))
        return shape()
    if odd := list(itertools.islice(odd_keys(raw, path), LISTED)):
        problems += odd
        return read_table(shape, with_texts(raw), path, problems, unknown)

    def problem(item: Any) -> Problem:
        location = placed(item["loc"], raw)
        words = [str(part) for part in location if not isinstance(part, int)]
        if item["type"] == "extra_forbidden":
            return Problem(dotted(path, location), unknown(words, keys_of(bare(functools.reduce(type_at, item["loc"][:-1], shape)))))
        return Problem(dotted(path, location), describe(item))

    kinds: dict[Any, list[Any]] = {}
    for item in found:
        kinds.setdefault((item["loc"][:-1], item["type"]), []).append(item)
    for place, items in list(kinds.items())[: LISTED * LISTED]:
        problems += first_of(items, problem, dotted(path, placed(place[0], raw)), "keys")
    places = (placed(item["loc"][:-1] if item["type"] == "missing" else item["loc"], raw) for item in found)
    return shape.model_validate(pruned(raw, shape, tree_of(places)))


def unsaid(path: str, problems: Iterable[Problem]) -> bool:
    """Whether there is no problem of a key, or below it, yet: it is missing, and was not left out because it is wrong."""
    return not any(problem.path == path or problem.path.startswith((f"{path}.", f"{path}[")) for problem in problems)


def nulls(raw: object, path: str, place: tuple[Any, ...] = ()) -> Iterator[Problem]:
    """The problems of what is None in tables that come from Python: TOML has no such value. `place`: of `raw`, below the path."""
    if raw is None:
        yield Problem(dotted(path, place), "must have a value, not None: leave it out")
    elif isinstance(raw, HOLDERS):
        for key, each in raw.items() if isinstance(raw, dict) else enumerate(raw):
            if each is None or isinstance(each, HOLDERS):
                yield from nulls(each, path, (*place, key))


def odd_keys(raw: object, path: str, place: tuple[Any, ...] = ()) -> Iterator[Problem]:
    """The problems of keys that are no texts, in tables that come from Python. `place`: of `raw`, below the path."""
    if isinstance(raw, HOLDERS):
        for key, each in raw.items() if isinstance(raw, dict) else enumerate(raw):
            if isinstance(raw, dict) and not isinstance(key, str):
                yield Problem(dotted(path, place), f"keys must be texts, not {shorten(key)}")
            elif isinstance(each, HOLDERS):
                yield from odd_keys(each, path, (*place, key))


def with_texts(raw: Any) -> Any:
    """A copy of a value without keys that are no texts."""
    if isinstance(raw, dict):
        return {key: with_texts(each) for key, each in raw.items() if isinstance(key, str)}
    return [with_texts(each) for each in raw] if isinstance(raw, list) else raw


def describe(item: Any) -> str:
    """What pydantic finds wrong with a value, in words."""
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    expected = TYPES.get(item["type"])
    return f"must be {expected}, not {shorten(item['input'])}" if expected else str(item["msg"])


def placed(location: Sequence[str | int], raw: object) -> list[str | int]:
    """The place of a wrong entry of `raw`, from pydantic's: without the number of one that stands without a list, and without "[key]"."""
    found: list[str | int] = []
    for part in location:
        mark = part == "[key]" and not (isinstance(raw, dict) and part in raw)  # pydantic's, unless the table has such a key
        if mark or (isinstance(part, int) and not isinstance(raw, list)):
            continue
        found.append(part)
        raw = raw[part] if isinstance(raw, list) and isinstance(part, int) else raw.get(part) if isinstance(raw, dict) else None
    return found


def dotted(path: str, location: Sequence[str | int]) -> str:
    """The path of a key in messages, from that of the table and its place there."""
    return (path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)).removeprefix(".")


Tree = dict[str | int, "Tree"]  # places within tables, by their keys; one without further keys is wrong


def tree_of(locations: Iterable[Sequence[str | int]]) -> Tree:
    """The places of wrong entries as a tree; what is within a wrong entry does not count."""
    tree: Tree = {}
    for location in sorted(locations, key=len, reverse=True):
        *outer, last = location
        node = tree
        for part in outer:
            node = node.setdefault(part, {})
        node[last] = {}
    return tree


LEFT_OUT = object()


def pruned(value: Any, annotation: Any, wrong: Tree) -> Any:
    """A copy of a value of a type without its wrong entries; LEFT_OUT if it cannot be without.

    - A key of a table is removed; with one that the table needs the whole table is.
    - An entry of a list or of a table of names becomes None, if its type has None: the others keep their numbers, and its name stays known.
    - Else an entry of a table of names is removed, and the table with its last name.
    - Else an entry of a list becomes an empty table, if its type has one; if not, the whole list is removed.
    """
    if not wrong or not isinstance(value, dict | list):
        return LEFT_OUT
    if get_origin(bare(annotation)) is list and not isinstance(value, list):  # one entry without its list
        annotation = type_at(annotation, 0)
    table, copy = bare(annotation), value.copy()
    for key, below in wrong.items():
        if isinstance(value, dict) and key not in value:
            continue
        inner = type_at(annotation, key)
        if (left := pruned(value[key], inner, below)) is not LEFT_OUT:
            copy[key] = left
        elif is_table(table):
            if key in needed(table):
                return LEFT_OUT
            del copy[key]
        elif type(None) in get_args(inner):
            copy[key] = None
        elif isinstance(value, dict):
            del copy[key]
        elif is_table(bare(inner)) and not needed(bare(inner)):
            copy[key] = {}
        else:
            return LEFT_OUT
    return copy if copy or is_table(table) else LEFT_OUT


def needed(table: type[TableSchema]) -> set[str]:
    """The keys without which there is no such table."""
    return {field.alias or name for name, field in table.model_fields.items() if field.is_required()}


def type_at(annotation: Any, key: str | int) -> Any:
    """The type of what a table, a list, or a table of names of a type has at a key; None if it has none there."""
    annotation = bare(annotation)
    if is_table(annotation):
        return next((field.annotation for name, field in annotation.model_fields.items() if key == (field.alias or name)), None)
    return (get_args(annotation) or [None])[-1]


def bare(annotation: Any) -> Any:
    """A type without None and without metadata."""
    while get_origin(annotation) in (Annotated, Union, UnionType):
        annotation = get_args(annotation)[0]
    return annotation


def is_table(annotation: Any) -> bool:
    """Whether a type is a table of keys that it knows."""
    return isinstance(annotation, type) and issubclass(annotation, TableSchema)


def keys_of(shape: type[TableSchema]) -> dict[str, str]:
    """The keys of a table with their descriptions."""
    return {field.alias or name: field.description or "" for name, field in shape.model_fields.items()}
