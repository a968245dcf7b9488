"""Types of the values of a study: they convert a value of the file, say in words what is wrong with it, and have a JSON schema."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, WithJsonSchema
from pydantic_core import core_schema as core

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.errors import advise, shorten
from tribosweep.sweep.io.values import number

MOST_ENTRIES = 10_000  # of a list or a table of names, each of which may be wrong
UNIT = "unit"  # key of a JSON schema: its numbers may be texts with a unit that can be converted to this one, or with any unit if it is ""
Schema = dict[str, Any]


def list_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    """The JSON schema of a list of so many items."""
    return {"type": "array", "items": items} | ({"minItems": least} if least else {}) | ({} if most is None else {"maxItems": most})


def one_of(words: Iterable[str]) -> Schema:
    """The JSON schema of one of several words."""
    return {"type": "string", "enum": list(words)}


def either(*schemas: Schema) -> Schema:
    """The JSON schema of any of several forms."""
    return {"anyOf": list(schemas)}


# a number in the unit of a parameter that the table does not know, or a text with another unit: read when the parameter is known
Given = Annotated[Any, WithJsonSchema({UNIT: ""})]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63), WithJsonSchema({"type": "integer"})]  # as in TOML


class TableSchema(BaseModel):
    """A table of the file; it accepts no other keys and converts no types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


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
            raise ValueError(f"{shorten(value)} is none; {advise(value, self.words)}")
        return value

    def schema(self) -> Schema:
        """The words."""
        return one_of(self.words)


@dataclass(frozen=True, slots=True)
class Form:
    """Replaces pydantic's message on a value of another type, or on a table that lacks a key: `words`, and the value.

    So it does with every message on the value as a whole: checks with words of their own stand behind it in the type.
    """

    words: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: a value that has not this form is refused with the words."""

        def read(value: object, validate: core.ValidatorFunctionWrapHandler) -> object:
            try:
                return validate(value)
            except ValidationError as error:
                found = error.errors(include_url=False, include_context=False, include_input=False)
                if any(not item["loc"] or (item["type"] == "missing" and len(item["loc"]) == 1) for item in found):
                    raise ValueError(f"{self.words}, not {shorten(value)}") from None
                raise

        return core.no_info_wrap_validator_function(read, handler(source))


@dataclass(frozen=True, slots=True)
class Filled:
    """A table of names that has some, at most `most`; `words` are said of any other value. things: what it names, in words."""

    words: str
    most: int = MOST_ENTRIES
    things: str = "entries"

    def read(self, value: object) -> object:
        """The same table."""
        if not isinstance(value, dict) or not value:
            raise ValueError(self.words if value == {} else f"{self.words}, not {shorten(value)}")
        if len(value) > self.most:
            raise ValueError(f"names {len(value):,} {self.things}: at most {self.most:,} are read")
        return value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: what is no such table is refused before its entries are looked at."""
        return core.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, schema: core.CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """For pydantic: the JSON schema."""
        return {**handler(schema), "minProperties": 1}


@dataclass(frozen=True, slots=True)
class Short:
    """A value may stand in a shorter form, which `convert` makes long. short: its JSON schema; None: that of an entry of a list."""

    convert: Callable[[object], object]
    short: Schema | None = field(default=None, hash=False)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core.CoreSchema:
        """For pydantic: a short form is converted before anything is checked."""
        return core.no_info_before_validator_function(self.convert, handler(source))

    def __get_pydantic_json_schema__(self, schema: core.CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """For pydantic: either form."""
        long = handler(schema)
        return either(long["items"] if self.short is None else self.short, long)


def few(value: object) -> object:
    """The same value; ValueError if it is a list with too many entries, each of which may be wrong."""
    if isinstance(value, list) and len(value) > MOST_ENTRIES:
        raise ValueError(f"has {len(value):,} entries: at most {MOST_ENTRIES:,} are read")
    return value


def one_or_several(value: object) -> object:
    """A list of one, where one stands without a list."""
    return few(value) if isinstance(value, list) else [value]


Entry = TypeVar("Entry")
Several = Annotated[list[Entry], Short(one_or_several)]


def bounded(quantity: Quantity) -> Schema:
    """The numbers of a quantity within its bounds."""
    limits = {"exclusiveMinimum" if quantity.lower_open else "minimum": quantity.lower} if math.isfinite(quantity.lower) else {}
    limits |= {"exclusiveMaximum" if quantity.upper_open else "maximum": quantity.upper} if math.isfinite(quantity.upper) else {}
    if quantity.kind == "integer":
        return {"type": "number", "multipleOf": 1, **limits}
    return {"type": "number", **limits, **({UNIT: quantity.unit} if quantity.unit else {})}


# forms of values that depend on more than a type can say: on the model, on each other, or on a file
NUMBER, TEXT, PLAIN = {UNIT: ""}, {"type": "string"}, {"type": "number"}
Numbers = Annotated[Any, WithJsonSchema(list_of(PLAIN))]
Files = Annotated[Any, WithJsonSchema(either(TEXT, list_of(TEXT, 1)))]
Names = Annotated[Any, WithJsonSchema(list_of(TEXT, 1))]
Digests = Annotated[Any, WithJsonSchema(either(TEXT, list_of(TEXT), {"type": "object"}))]
