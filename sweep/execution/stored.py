"""What this package writes as JSON and reads back: the types and bounds of every key that is used.

A right checksum says that nobody changed a file after it was written. It does not say that this package wrote it: whoever makes a directory
makes its checksums too. So what is read back is checked as the input of a stranger, and refused with the key and a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tribosweep.kernels.models.schemes import DOUBLE, SINGLE
from tribosweep.sweep.design.designs import CONCATENATION
from tribosweep.sweep.io.errors import Problem, cut, shorten
from tribosweep.sweep.io.files import MOST_TEXT
from tribosweep.sweep.io.toml import parse_toml
from tribosweep.sweep.study.capabilities import BOUNDARY
from tribosweep.sweep.study.document import read_document
from tribosweep.sweep.study.schema import Document, Sweep
from tribosweep.sweep.study.shard_size import MOST_POINTS, MOST_SHARDS, SHARD_POINTS

GRID = "grid"  # the design of a study that names none
PRECISIONS = (DOUBLE, SINGLE)
MOST_WORDS = 1000  # different ones of an observable, or statuses
SAID = 5  # wrong keys that are named
LONGEST = 200  # characters of what is said of one

Count = Annotated[int, Field(ge=0, le=MOST_POINTS * MOST_WORDS)]
Points = Annotated[int, Field(ge=0, le=MOST_POINTS)]
Shards = Annotated[int, Field(ge=0, le=MOST_SHARDS)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Line = Annotated[str, Field(max_length=1000)]
Counts = Annotated[dict[Line, Count], Field(max_length=MOST_WORDS)]


class Stored(BaseModel):
    """A table of JSON; no type is converted, and keys of later versions are left alone."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Identity(Stored):
    """What a study says of its run, in the manifest and in the footers of its shards; see `directory.identity`."""

    version: Line
    schema_version: int
    study: Line
    config_hash: Line
    design: Line
    points: Points
    shards: Shards
    shard_points: Annotated[int, Field(ge=1, le=SHARD_POINTS[1])]
    config: Annotated[str, Field(max_length=MOST_TEXT)]


def with_precision(provenance: dict[str, str]) -> dict[str, str]:
    """What computed a run, by name; ValueError if the precision is none, which tells how exact the rows are."""
    if (dtype := provenance.get("dtype", DOUBLE)) not in PRECISIONS:
        raise ValueError(f"dtype is {shorten(dtype)}: must be {' or '.join(PRECISIONS)}")
    return provenance


class Manifest(Identity):
    """The manifest of a run; see `directory.RunDirectory`."""

    extends: Annotated[dict[Line, Points], Field(max_length=MOST_WORDS)] = Field(default_factory=dict)
    created: Line = ""
    finished: Line = ""
    provenance: Annotated[dict[Line, Line], Field(max_length=MOST_WORDS), AfterValidator(with_precision)] = Field(default_factory=dict)
    statuses: Counts = Field(default_factory=dict)
    computed: Points = 0
    seconds: Annotated[dict[Line, Seconds], Field(max_length=MOST_WORDS)] = Field(default_factory=dict)


class Stages(Stored):
    """The seconds that a shard took, by stage."""

    compiling: Seconds
    computing: Seconds
    encoding: Seconds


class Facts(Stored):
    """The footer of a shard; see `shard.Piece`."""

    config_hash: Line
    number: Annotated[int, Field(ge=0, lt=MOST_SHARDS)]
    points_hash: Line
    statuses: Counts
    words: Annotated[dict[Line, Counts], Field(max_length=MOST_WORDS * 10)]
    seconds: Stages


class Writer(Stored):
    """A process that holds the lock of a directory; see `lock.whoami`."""

    pid: int
    host: Line = ""
    since: Line = ""
    share: Line = ""


def problems_in(model: type[Stored], found: Any) -> list[Problem]:
    """What is wrong with a value that was read from JSON; empty if it has the form of a model."""
    try:
        model.model_validate(found)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        more = [Problem("", f"and {len(wrong) - SAID:,} more")] if len(wrong) > SAID else []
        return [Problem(cut(".".join(map(str, item["loc"])), LONGEST), describe(item)) for item in wrong[:SAID]] + more
    except RecursionError:
        return [Problem("", "is nested too deeply")]
    if not issubclass(model, Identity):
        return []
    why, design = study_in(found["config"])
    if not why and found["design"] != design:
        return [Problem("design", f"is {shorten(found['design'])}, and that of the study {shorten(design)}")]
    return [Problem("config", why)] if why else []


def describe(item: Mapping[str, Any]) -> str:
    """What is wrong with one key, from an error of pydantic."""
    if item["type"] == "missing":
        return "is missing"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    if item["type"] in ("dict_type", "model_type"):
        return f"must be a table, not {shorten(item['input'])}"
    said = str(item["msg"]).replace("Input should", "must", 1).replace("Dictionary should", "must", 1)
    return said if isinstance(item["input"], dict | list) else f"{said}, not {shorten(item['input'])}"


def load_json(data: bytes | str, model: type[Stored]) -> dict[str, Any]:
    """The object in a text of JSON, which has the form of a model.

    Raises:
        ValueError: it is no JSON, or has another form; the message is a clause that names the key.
    """
    try:
        found = json.loads(data)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    if problems := problems_in(model, found):
        raise ValueError("; ".join(map(str, problems)))
    checked: dict[str, Any] = found
    return checked


@lru_cache(maxsize=8)
def study_in(text: str) -> tuple[str, str]:
    """Why a text is no resolved study, empty if it is one, and its design.

    Its files need not exist, and its values may still be out of bounds.
    """
    problems: list[Problem] = []
    try:
        tables = parse_toml(text)
        document = read_document(tables, problems)
    except ValueError as error:
        return f"is no study: {cut(str(error), LONGEST)}", ""
    problems = problems or missing_parts(tables, document)
    if problems:
        return f"is no study: {'; '.join(map(str, problems[:SAID]))}", ""
    several = isinstance(tables.get("sweep"), list)
    return "", CONCATENATION if several else document.sweep[0].design if document.sweep else GRID


def missing_parts(tables: Mapping[str, Any], document: Document) -> list[Problem]:
    """What a resolved study has, and a study need not have: a name, a model, and axes of the forms that it is written with."""
    given = tables.get("study", {})
    problems = [Problem(f"study.{key}", "is missing") for key in ("name", "model") if key not in given]
    for part in document.sweep:
        problems += boundary_parts(part) if part.design == BOUNDARY else []
        problems += [Problem(f"sweep.axes.{name}", f"must be values or a table, not {shorten(axis)}")
                     for name, axis in (part.axes or {}).items() if not is_axis(axis)]  # fmt: skip
    return problems


def boundary_parts(part: Sweep) -> list[Problem]:
    """What a resolved boundary study has: an event with its probability, or an observable, at a level if it is a number."""
    if part.event is not None:
        found = {"event": isinstance(part.event, str), "chance": is_number(part.chance)}
    else:
        found = {"observable": part.observable is not None, "level": part.level is None or is_number(part.level)}
    return [Problem(f"sweep.{key}", "is missing or has a wrong type") for key, right in found.items() if not right]


def is_number(value: object) -> bool:
    """Whether a value of TOML or JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_axis(axis: Any) -> bool:
    """Whether an axis has one of the forms of a resolved study: a list of values, or a table whose count is a number."""
    if isinstance(axis, dict):
        words = (axis.get(key, "") for key in ("spacing", "distribution"))
        return isinstance(axis.get("count", 2), int) and all(isinstance(word, str) for word in words)
    return isinstance(axis, list) and not any(isinstance(value, dict) for value in axis)
