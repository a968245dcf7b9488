"""What an analysis says of itself: its request, how it is computed, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from tribosweep.sweep.io.errors import ConfigError, Problem, advise, shorten
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    from tribosweep.sweep.study.config import Config

BEGIN, RUN, LOOK, ASK, PARTS, HERE = (
    "Begin a study", "Run a study", "Look at a run", "Ask a study", "Structures", "This installation",
)  # fmt: skip
TAKES = RUN_ONLY, STUDY, RECORDS = "run", "study", "records"  # what is asked
RESERVED = ("directory", "settings", "out", "as_json", "name", "self")  # arguments of every command and method
Tell = Callable[[int, int], None]  # called with how many things are done, and how many there are


class Request(BaseModel):
    """What is asked of an analysis. Keywords in Python and options of the command are its fields, whose descriptions tell what they are.

    A field `title` names an option that is not that of the field. A field "picture" is which picture is drawn: it needs `--out`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def problems(self) -> list[Problem]:
        """What does not go together, by the options of the command."""
        return []

    def for_picture(self) -> Self:
        """What is asked instead where the command draws a picture."""
        return self


def _texts(value: Any) -> Any:
    """The "name=value" texts of a mapping of values, or those that were given."""
    return tuple(f"{name}={each}" for name, each in value.items()) if isinstance(value, Mapping) else _several(value)


def _several(value: Any) -> Any:
    """A tuple of one text or number or of several, in anything that can be gone through."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return (value,) if isinstance(value, str | float | int) else tuple(map(_of_python, value)) if several else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
Held = Annotated[tuple[str, ...], BeforeValidator(_texts)]  # from Python a mapping, parameter -> value
Share = Annotated[float, Field(gt=0.0, lt=1.0)]
Shares = Annotated[tuple[Share, ...], BeforeValidator(_several)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Positives = Annotated[tuple[Positive, ...], BeforeValidator(_several)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_several)]
NAMED = "Names, Numbers, Positives, Shares"
KINDS = (str, int, float, bool, tuple[str, ...], tuple[int, ...], tuple[Positive, ...], tuple[Share, ...])  # of fields, besides words
R = TypeVar("R", bound=Request)


@dataclass(frozen=True, slots=True)
class Analysis(Generic[R]):
    """An analysis of a run: all that the command line, Python, the reference and a report need to know of it.

    Attributes:
        name: of its command, and of the folder of its tables.
        task: heading under which `tribosweep --help` lists it: one of the words above.
        examples: words behind `tribosweep` that `--help` shows.
        request: what is asked; the first sentence of its docstring says what the command does.
        compute: from the directory of a run (or what else it takes), the request and what to tell of progress to the result, of a class
            that its module `result` defines; ConfigError for what is wrong.
        returns: what a call returns, a sentence. raises: when it raises ConfigError, the same. python: lines of an example in Python.
        things: noun of what progress counts; empty: it tells of none. method: its name in Python, where that is another one.
        takes: RUN_ONLY, the directory of a run; STUDY, a study, or the run of one; RECORDS, one of these or several files with records.
        check: if given, the command takes a study too and runs it first; raises ConfigError for what is wrong by the study of a run and
            the request alone, before anything is computed. Only with RUN_ONLY.
        file: picture in the directory of the run, by default of `--out`. Only with RUN_ONLY, and without `check`.
        section: whether it has a part of a report: `section_of(shown)` of its module `section` gives, of what a report shows (`Shown`), a
            `Section`, or why there is none ("" where nobody asked for one).
    """

    name: str
    task: str
    examples: Sequence[str]
    request: type[R]
    compute: Callable[[Path, R, Tell | None], Result]
    returns: str
    raises: str
    python: Sequence[str] = ()
    things: str = ""
    method: str = ""
    takes: str = RUN_ONLY
    check: Callable[[Config, R], None] | None = None
    file: str = ""
    section: bool = False

    @property
    def called(self) -> str:
        """Its name in Python."""
        return self.method or self.name

    @property
    def out_alone(self) -> bool:
        """Whether `--out` takes the place of the printed tables."""
        return self.task == LOOK

    @property
    def result(self) -> tuple[str, str]:
        """The module and the name of the class of its results, which is imported late."""
        return f"{self.package}.result", str(self.compute.__annotations__["return"])

    @property
    def package(self) -> str:
        """The package that has its modules."""
        return self.compute.__module__

    @property
    def arguments(self) -> dict[str, str]:
        """Option -> argument in Python."""
        return {option(name, of).removeprefix("--"): name for name, of in self.request.model_fields.items()}

    @property
    def has_picture(self) -> bool:
        """Whether it has a module `figure`."""
        return find_spec(f"{self.package}.figure") is not None

    @property
    def about(self) -> str:
        """What it does, a sentence."""
        return " ".join((self.request.__doc__ or "").split("\n\n")[0].split())

    def read(self, values: Mapping[str, Any], *, python: bool = False) -> R:
        """The request of some values; ConfigError with all that is wrong, by the options of the command, or for `python` by arguments."""
        try:
            request = self.request.model_validate({name: _of_python(value) for name, value in values.items() if value is not None})
            problems = request.problems()
        except ValidationError as error:
            found = error.errors(include_url=False)
            wrong = {item["loc"][:1] for item in found if item["type"] != "too_short"}  # pydantic counts right entries alone
            problems = [self._problem(item, python) for item in found if item["type"] != "too_short" or item["loc"][:1] not in wrong]
        if problems:
            raise ConfigError(f"tribosweep {self.name}", problems)
        return request

    def _problem(self, item: Any, python: bool) -> Problem:
        """What pydantic finds wrong with an argument, in words."""
        fields, name = self.request.model_fields, str(item["loc"][0]) if item["loc"] else ""
        if not name:
            return Problem("", str(item.get("ctx", {}).get("error", item["msg"])))
        if name not in fields:
            return Problem(name, f"is no argument; {advise(name, list(fields))}")
        return Problem(name if python else option(name, fields[name]), _worded(item, fields[name], python))


def _of_python(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if getattr(value, "ndim", None) == 0 else str(value) if isinstance(value, str) else value


TYPES = {"string_type": "a text", "int_type": "a whole number", "int_from_float": "a whole number", "bool_type": "true or false"}
TYPES |= {"float_type": "a number", "finite_number": "a finite number", "tuple_type": "a list"}
LENGTHS = {"too_short": ("needs at least", "min_length"), "too_long": ("takes at most", "max_length")}


def _worded(item: Any, of: FieldInfo, python: bool) -> str:
    """What is wrong with a value, with its bounds."""
    value = item["input"]
    if item["type"] == "missing":
        return "is missing"
    shown = f"{value:g}" if isinstance(value, float) else shorten(value)
    if python and is_held(of):
        return f"must map names of parameters to values, such as {{'mu': 0.2}}, not be {shown}"
    if item["type"] in TYPES:
        return f"must be {TYPES[item['type']]}, not {shown}"
    if item["type"] == "literal_error":
        words = words_of(of.annotation)
        return f"{value!r} is none; {advise(value, words)}" if isinstance(value, str) else f"must be one of {', '.join(words)}"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    return _out_of_bounds(item, of, shown)


def _out_of_bounds(item: Any, of: FieldInfo, shown: str) -> str:
    """What is wrong with the size of a value, or with how many there are."""
    if item["type"] in LENGTHS:
        words, bound = LENGTHS[item["type"]]
        return f"{words} {counted(item['ctx'][bound], 'value')}"
    bounds = bounds_of(of)
    return f"{shown} is out of bounds: must be {bounds}" if bounds else f"{shown}: {item['msg']}"


def bounds_of(of: FieldInfo) -> str:
    """The bounds of a number, or of several, in words: "from 1e-9 to 0.1", "> 0 and < 1"."""
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    inner = [each for entry in get_args(of.annotation) for field in getattr(entry, "__metadata__", ()) for each in field.metadata]
    ends = {name: end for each in [*of.metadata, *inner] for name in signs if (end := getattr(each, name, None)) is not None}
    if "ge" in ends and "le" in ends:
        return f"from {_plain(ends['ge'])} to {_plain(ends['le'])}"
    return " and ".join(f"{sign} {_plain(ends[name])}" for name, sign in signs.items() if name in ends)


def _plain(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-").replace("e+0", "e+")


def without_none(annotation: Any) -> Any:
    """The type of a field that may be left out."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [each for each in get_args(annotation) if each is not type(None)]
        return kinds[0] if len(kinds) == 1 else annotation
    return annotation


def words_of(annotation: Any) -> tuple[str, ...]:
    """The words of a field that takes one of some; none of another one."""
    kind = without_none(annotation)
    return get_args(kind) if get_origin(kind) is Literal else ()


def option(name: str, of: FieldInfo) -> str:
    """The option of a field: of one that takes several values the singular, since it is given once for each."""
    several = get_origin(without_none(of.annotation)) is tuple
    return f"--{(of.title or (name.removesuffix('s') if several else name)).replace('_', '-')}"


def fault_of(analysis: Analysis[Any]) -> str:
    """What is wrong with what an analysis says of itself; empty if the command and the method can be made from it."""
    if analysis.takes not in TAKES:
        return f"takes {shorten(analysis.takes)}: must be one of {', '.join(TAKES)}"
    if analysis.takes != RUN_ONLY and (analysis.check or analysis.file):
        return f"has a {'check' if analysis.check else 'file'}, which needs the directory of a run: takes must be {RUN_ONLY}"
    if analysis.check and analysis.file:
        return "has a file, which needs the directory of a run, and a check, with which a study may be given"
    return _fault_of_fields(analysis.request)


def _fault_of_fields(request: type[Request]) -> str:
    """What is wrong with the fields of a request; empty if they can be options and arguments."""
    for name, of in request.model_fields.items():
        kind = without_none(of.annotation)
        if name in RESERVED:
            return f"asks for {name}, which every command has"
        if kind not in KINDS and not words_of(kind):
            return f"asks for {name} of the type {kind}: must be str, int, float, bool, a Literal of texts, {NAMED} or Held"
        if not of.description:
            return f"asks for {name}, which has no description"
    return ""


def is_held(of: FieldInfo) -> bool:
    """Whether a field holds parameters at values."""
    return any(isinstance(each, BeforeValidator) and each.func is _texts for each in of.metadata)
