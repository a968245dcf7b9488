"""Tables of a study as pydantic models: types that say in words what is wrong with a value, and reading a table with all its problems."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, WithJsonSchema
from pydantic_core import core_schema as core

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.errors import LISTED, Problem, advise, first_of, shorten
from tribosweep.sweep.io.values import number

UNIT = "unit"  # key of a JSON schema: its numbers may be texts with a unit that can be converted to this one, or with any unit if it is ""
TYPES = {"string_type": "text in quotes", "int_type": "a whole number", "bool_type": "true or false"}
TYPES |= dict.fromkeys(("greater_than_equal", "less_than"), "a whole number of at most 64 bits")
TYPES |= dict.fromkeys(("dict_type", "model_type", "list_type"), "a table of keys")
Schema = dict[str, Any]
# a number in the unit of a parameter that the table does not know, or a text with another unit: read when the parameter is known
Given = Annotated[Any, WithJsonSchema({UNIT: ""})]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63), WithJsonSchema({"type": "integer"})]  # as in TOML


class TableSchema(BaseModel):
    """A table of the file; it accepts no other keys and converts no types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Table = TypeVar("Table", bound=TableSchema)


class Checked:
    """Metadata of a type whose values `read` converts; ValueError of `read` says in words what is wrong."""

    __slots__ = ()

    def read(self, value: object) -> Any:
        """The value of the table that stands for a value of the file."""
        raise NotImplementedError

    def schema(self) -> Schema:
        """The values of the file as JSON Schema; a number with the key UNIT may be a text with a unit."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: values are read by `read`."""
        return core.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: core.CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """For pydantic: the JSON schema."""
        return self.schema()


@dataclass(frozen=True, slots=True)
class In(Checked):
    """A number of a quantity, in its unit and within its bounds, or a text with another unit; it is read in the unit of the quantity."""

    quantity: Quantity

    def read(self, value: object) -> float:
        """The number in the unit of the quantity."""
        return number(self.quantity, value)

    def schema(self) -> Schema:
        """A number with the bounds of the quantity."""
        return bounded(self.quantity)


@dataclass(frozen=True, slots=True)
class WholeNumber(Checked):
    """A whole number from `least` to `most`, of things that are `what`."""

    least: int
    most: int
    what: str

    def read(self, value: object) -> int:
        """The same number."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise ValueError(f"must be a whole number from {self.least} to {self.most} ({self.what}), not {shorten(value)}")
        return value

    def schema(self) -> Schema:
        """A whole number with bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class OneOf(Checked):
    """One of several words."""

    words: tuple[str, ...]

    def read(self, value: object) -> str:
        """The same word."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"{shorten(value)} is none of {', '.join(self.words)}")
        return value

    def schema(self) -> Schema:
        """The words."""
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Form:
    """Words on a value of another type than that before it, or on a table that lacks a key: "must have bounds", say."""

    words: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: a value that has not this form is refused with the words."""

        def read(value: object, validate: core.ValidatorFunctionWrapHandler) -> object:
            try:
                return validate(value)
            except ValidationError as error:
                if any(not item["loc"] or (item["type"] == "missing" and len(item["loc"]) == 1) for item in error.errors()):
                    raise ValueError(f"{self.words}, not {shorten(value)}") from None
                raise

        return core.no_info_wrap_validator_function(read, handler(source))


@dataclass(frozen=True, slots=True)
class Filled:
    """A table of names that has some; `words` are said of any other value, and of a table of more than `most` names, if it may not be."""

    words: str
    most: int | None = None

    def read(self, value: object) -> object:
        """The same table."""
        if not isinstance(value, dict) or not value:
            raise ValueError(self.words)
        if self.most is not None and len(value) > self.most:
            raise ValueError(f"names {len(value):,} parameters: at most {self.most} can be found together")
        return value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: what is no such table is refused before its entries are looked at."""
        return core.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, schema: core.CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """For pydantic: the JSON schema."""
        return {**handler(schema), "minProperties": 1}


@dataclass(frozen=True, slots=True)
class Short:
    """A value may stand in a shorter form, which `convert` makes long; without its JSON schema it is an entry of a list."""

    convert: Callable[[object], object]
    schema: Schema | None = field(default=None, hash=False)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: a short form is converted before anything is checked."""
        return core.no_info_before_validator_function(self.convert, handler(source))

    def __get_pydantic_json_schema__(self, schema: core.CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """For pydantic: either form."""
        long = handler(schema)
        return {"anyOf": [long["items"] if self.schema is None else self.schema, long]}


def one_or_several(value: object) -> object:
    """A list of one, where one stands without a list."""
    return value if isinstance(value, list) else [value]


Entry = TypeVar("Entry")
Several = Annotated[list[Entry], Short(one_or_several)]


def bounded(quantity: Quantity) -> Schema:
    """The numbers of a quantity within its bounds."""
    limits = {"exclusiveMinimum" if quantity.lower_open else "minimum": quantity.lower} if math.isfinite(quantity.lower) else {}
    limits |= {"exclusiveMaximum" if quantity.upper_open else "maximum": quantity.upper} if math.isfinite(quantity.upper) else {}
    if quantity.kind == "integer":
        return {"type": "number", "multipleOf": 1, **limits}
    return {"type": "number", **limits, **({UNIT: quantity.unit} if quantity.unit else {})}


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
    remaining: Any = raw
    for item in found:
        location = placed(item["loc"], raw)
        remaining = pruned(remaining, shape, location[:-1] if item["type"] == "missing" else location)
    return shape.model_validate(remaining)


def nulls(raw: object, path: str) -> Iterator[Problem]:
    """The problems of what is None in tables that come from Python: TOML has no such value."""
    if raw is None:
        yield Problem(path, "must have a value, not None: leave it out")
    elif isinstance(raw, dict | list):
        for key, each in raw.items() if isinstance(raw, dict) else enumerate(raw):
            yield from nulls(each, dotted(path, [key]))


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
        if part == "[key]" or (isinstance(part, int) and not isinstance(raw, list)):
            continue
        found.append(part)
        raw = raw[part] if isinstance(raw, list) and isinstance(part, int) else raw.get(part) if isinstance(raw, dict) else None
    return found


def dotted(path: str, location: Sequence[str | int]) -> str:
    """The path of a key in messages, from that of the table and its place there."""
    return (path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)).removeprefix(".")


def pruned(value: Any, annotation: Any, location: Sequence[str | int]) -> Any:
    """A copy of a value of a type without a wrong entry; LEFT_OUT if it cannot be without.

    An entry of a list or of a table of names leaves None in its place if its type has it, or an empty table in a list, so that the others
    keep their numbers and its name stays known. Else it goes with its list, or its name with it, and the last name with its table of names.
    A key that a table needs goes with its table.
    """
    if not location or not isinstance(value, dict | list):
        return LEFT_OUT
    if get_origin(bare(annotation)) is list and not isinstance(value, list):  # one entry without its list
        annotation = type_at(annotation, 0)
    key, table = location[0], bare(annotation)
    if isinstance(value, dict) and key not in value:
        return value
    inner = type_at(annotation, key)
    copy = value.copy()
    copy[key] = pruned(value[key], inner, location[1:])
    if copy[key] is not LEFT_OUT:
        return copy
    if is_table(table):
        del copy[key]
        return LEFT_OUT if key in needed(table) else copy
    if type(None) in get_args(inner):
        copy[key] = None
    elif isinstance(value, dict):
        del copy[key]
    else:
        copy[key] = {}
        return copy if is_table(bare(inner)) and not needed(bare(inner)) else LEFT_OUT
    return copy or LEFT_OUT


LEFT_OUT = object()


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
