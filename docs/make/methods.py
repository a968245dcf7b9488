"""The methods of `tribosweep.Run` for analyses, written from what each analysis says of itself: python -m docs.make.methods."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from tribosweep.sweep.registry import OWN, analyses
from tribosweep.sweep.results.analysis import Analysis, bounds_of, is_held, without_none, words_of

FILE = Path(__file__).parents[2] / "sweep" / "api" / "analyses.py"
WIDTH = 140
HEAD = '''"""Analyses as methods of `Run`: written by `python -m docs.make.methods` from what each analysis says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
{imports}
    from tribosweep.sweep.results.result import Result


class Analyses:
    """The analyses that tribosweep has."""

    __slots__ = ()

    if TYPE_CHECKING:

        def analyse(self, name: str, **asked: Any) -> Result:
            """Carry out an analysis by its name; see `Run.analyse`."""

    def _analyse(self, name: str, given: dict[str, Any]) -> Any:
        """Carry out an analysis with the local variables of its method, which are its arguments."""
        return self.analyse(name, **{{argument: value for argument, value in given.items() if argument != "self"}})
'''
FIRST = (
    "observables",
    "columns",
    "frequencies",
    "point",
)  # arguments that may be given without their name, besides those that must be given
EXAMPLE = r": \w+=[\d.]+\b"  # as the command is given it
HOLD, HELD = "Hold ", "parameter -> value of those that are held; the nearest one of the run counts."


def text() -> str:
    """The module."""
    known = [each for each in analyses().values() if each.package in OWN]
    imports = "\n".join(f"    from {module} import {name}" for module, name in sorted(each.result for each in known))
    return "\n".join([HEAD.format(imports=imports), *(method(each) for each in known)])


def method(analysis: Analysis[Any]) -> str:
    """The method of an analysis."""
    fields = analysis.request.model_fields
    first = {name: f"{name}: {type_of(of)}" for name, of in fields.items() if of.is_required()}
    others = {name: f"{name}: {type_of(of)} = {default_of(of)}" for name, of in fields.items() if not of.is_required()}
    first |= {name: others.pop(name) for name in FIRST if name in others}
    signature = ", ".join(["self", *first.values(), *(["*"] if others else []), *others.values()])
    result = analysis.result[1]
    lines = [
        f"    def {analysis.called}({signature}) -> {result}:",
        f'        """{analysis.about}',
        "",
        f"        As `tribosweep {analysis.name}` does.",
        "",
        *(["        Args:"] if fields else []),
        *(wrapped(f"{name}: {meaning(of)}", 12, 16) for name, of in fields.items()),
        *([""] if fields else []),
        "        Returns:",
        wrapped(analysis.returns, 12, 12),
        "",
        "        Raises:",
        wrapped(f"ConfigError: a name or number is wrong, or {analysis.raises}.", 12, 16),
    ]
    if analysis.python:
        lines += ["", "        Examples:", *(f"            {line}" for line in analysis.python)]
    lines += ['        """', f'        return cast("{result}", self._analyse("{analysis.name}", locals()))', ""]
    return "\n".join(lines)


def wrapped(words: str, first: int, rest: int) -> str:
    """Words in lines of at most WIDTH characters."""
    return textwrap.fill(
        words, WIDTH, initial_indent=" " * first, subsequent_indent=" " * rest, break_long_words=False, break_on_hyphens=False
    )


def type_of(of: FieldInfo) -> str:
    """The type of an argument."""
    if is_held(of):
        return "Mapping[str, Any] | None"
    kind = without_none(of.annotation)
    if get_origin(kind) is tuple:
        name = getattr(get_args(kind)[0], "__origin__", get_args(kind)[0]).__name__
        return f"{name} | Sequence[{name}]"
    name = "str" if words_of(kind) else kind.__name__
    return name if kind is of.annotation else f"{name} | None"


def default_of(of: FieldInfo) -> str:
    """The default of an argument."""
    return "None" if is_held(of) else repr(of.default)


def meaning(of: FieldInfo) -> str:
    """What an argument is."""
    told = (of.description or "").rstrip(".")
    if is_held(of):
        return HELD if told.startswith(HOLD) else re.sub(EXAMPLE, "", f"parameter -> value: {told[:1].lower()}{told[1:]}.")
    words = words_of(of.annotation)
    bounds = ", ".join(f'"{word}"' for word in words) if words and not all(word in told for word in words) else bounds_of(of)
    return f"{told[:1].lower() if told[1:2].islower() or told[1:2] == ' ' else told[:1]}{told[1:]}{f'; {bounds}' if bounds else ''}."


def write() -> None:
    """Write the module in the project's format."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"]
    done = subprocess.run(command, input=text(), capture_output=True, check=True, text=True)
    FILE.write_text(done.stdout, encoding="utf-8")


if __name__ == "__main__":
    write()
