"""`help()` of every public name is useful: what it does, its arguments, and examples, which run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest

import tribosweep

NAMES = [name for name in dir(tribosweep) if not name.startswith("_") and callable(getattr(tribosweep, name))]
FUNCTIONS = [name for name in NAMES if not inspect.isclass(getattr(tribosweep, name))]
QUICK = {"between", "distribution", "geomspace", "integers", "linspace", "load", "open_run", "resume", "run", "runs", "Run", "Study"}
SHOWN = [*FUNCTIONS, "Records", "Results", "Run", "Study"]


def marks(name: str) -> list[pytest.MarkDecorator]:
    """The marks of an example: branches compile for a minute."""
    return [] if name in QUICK else [pytest.mark.slow, pytest.mark.long] if name == "branches" else [pytest.mark.slow]


def thing(name: str) -> Any:
    """A public object."""
    return getattr(tribosweep, name)


class AnyOutput(doctest.OutputChecker):
    """Compares what an example prints only where the example says it."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    doc = inspect.getdoc(thing(name)) or ""
    first = doc.partition("\n\n")[0]
    assert 20 < len(first)
    assert first.rstrip().endswith((".", ":"))
    for each, member in inspect.getmembers(thing(name)):
        own = each in vars(thing(name)) if inspect.isclass(thing(name)) else False
        if own and not each.startswith("_") and (callable(member) or isinstance(member, property)):
            assert inspect.getdoc(member), f"{name}.{each} has no docstring"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_and_raises(name: str) -> None:
    function = getattr(tribosweep, name)
    doc = inspect.getdoc(function) or ""
    arguments = [each for each in inspect.signature(function).parameters if not each.startswith("_")]
    missing = [each for each in arguments if not re.search(rf"\b{each}\b[^.]*?:|`{each}`", doc)]
    assert not missing, f"{name} does not say what {missing} are"
    assert "Examples:" in doc


def test_the_module_names_its_constants() -> None:
    for name in ("MODELS", "REGIMES", "SCHEMES", "__version__"):
        assert name in (tribosweep.__doc__ or "")


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in SHOWN])
def test_its_examples_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("examples"))
    names = {each: getattr(tribosweep, each) for each in dir(tribosweep)}
    known = {**names, "tribosweep": tribosweep, "jax": jax, "numpy": np, "pandas": pd}
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(thing(name)) or "", known, name, None, 0)
    assert example.examples
    said: list[str] = []
    result = doctest.DocTestRunner(AnyOutput(), optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not result.failed, "".join(said)


def test_examples_of_methods_are_python() -> None:
    for name in NAMES:
        for _, member in inspect.getmembers(thing(name), inspect.isfunction):
            for example in doctest.DocTestParser().get_examples(inspect.getdoc(member) or ""):
                ast.parse(example.source)
    assert (Path(tribosweep.__file__).parent / "py.typed").exists()
