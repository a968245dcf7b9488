"""What the command line calls by its options, in the words of a call from Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tribosweep.sweep.io.errors import ConfigError, Problem

AT = re.compile(r"--at ([\w\[\].]+)=([\w.+-]+)")
OPTION = re.compile(r"tribosweep [a-z]+ [^;,]*|--([a-z-]+)(?![\w-])")  # those of a command that a message names stay
ARGUMENTS = {"extend": "extend=True", "shard": "share"}  # of runs


@contextmanager
def in_python(names: Mapping[str, str] = ARGUMENTS) -> Iterator[None]:
    """Let a ConfigError name arguments of a call instead of options: `at={"mu": 0.2}` for `--at mu=0.2`.

    Args:
        names: option -> argument, where they have other names; those of ARGUMENTS need not be given.
    """
    try:
        yield
    except ConfigError as error:
        raise ConfigError(
            reworded(error.source, names), [Problem(reworded(each.path, names), reworded(each.message, names)) for each in error.problems]
        ) from None


def reworded(text: str, names: Mapping[str, str] = ARGUMENTS) -> str:
    """A text without options of the command line; `names` as of `in_python`."""

    def argument(found: re.Match[str]) -> str:
        return {**ARGUMENTS, **names}.get(found[1], found[1].replace("-", "_")) if found[1] else found[0]

    return OPTION.sub(argument, AT.sub(r'at={"\1": \2}', text.replace("--set ", "")))


def texts_of(at: Mapping[str, Any] | None) -> list[str]:
    """The values that hold parameters, as "name=value" texts."""
    return [f"{name}={value}" for name, value in (at or {}).items()]
