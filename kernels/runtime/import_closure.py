"""The files that modules of this package reach by imports: what a program that they make depends on.

Import statements, at the head of a file or in a function, are found by a pattern: parsing takes 50 times as long. A test compares them with
those that Python's parser finds. So are constants, which a process may have changed after the import.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"\n[ \t]*(?:from[ \t]+(kernels[\w.]*)[ \t]+import[ \t]+(\((?:[^)#]|#.*)*\)|.*)|import[ \t]+(kernels[\w.]*))")
_COMMENT, _NAME = re.compile("#.*"), re.compile(r"(\w+)(?:\s+as\s+\w+)?")
_CONSTANT = re.compile(r"^(_*[A-Z][A-Z0-9_]*(?:, _*[A-Z][A-Z0-9_]*)*)(?:: [^=\n]+)? = (.+?)(?:  #.*)?$", re.MULTILINE)
_WORDS = {"__builtins__": {}, "math": math, "range": range, "tuple": tuple, "float": float}
_BEGUN = time.time()  # when this process imported the package


class _File(NamedTuple):
    """A file: a hash of it, the full names of modules that it imports, and its text."""

    digest: bytes
    imports: tuple[str, ...]
    text: str


def digest(modules: Iterable[str], package: Path = PACKAGE) -> str | None:
    """A hash of all files that some modules reach.

    Args:
        modules: their full names. A folder without Python, as `kernels.native`, counts as a module. package: the folder of the package.

    Returns:
        The hash; None if it may be of other code than this process runs: a module has no file, a file was changed or put there after
        this process had begun, or this process has changed a constant of a module that it has imported.
    """
    known, found = all_modules(package), hashlib.sha256()
    if not known.keys() >= set(modules):
        return None
    for path in files(modules, package):
        file = read(path, package)
        found.update(f"{path.relative_to(package).as_posix()}\n".encode() + file.digest)
        if _changed(".".join([package.name, *path.relative_to(package).with_suffix("").parts]), file.text):
            return None
        status = path.stat()  # at every call
        if max(status.st_mtime, status.st_ctime) > _BEGUN:
            return None
    return found.hexdigest()


def files(modules: Iterable[str], package: Path = PACKAGE) -> list[Path]:
    """All files that some modules reach, sorted, with the `__init__.py` of the folders that they are in; see `digest`.

    What such an `__init__.py` imports is reached only by names that are imported from it.
    """
    known, remaining = all_modules(package), [*modules]
    seen: set[str] = set()
    found: set[Path] = set()
    while remaining:
        module = remaining.pop()
        if module not in seen:
            seen.add(module)
            paths = known.get(module, [])
            found.update(paths)
            remaining += [name for path in paths for name in read(path, package).imports]
            while module := module.rpartition(".")[0]:
                found.update(known.get(module, []))
    return sorted(found)


@functools.cache
def all_modules(package: Path) -> dict[str, list[Path]]:
    """The modules of a package, by full name, each with its file; folders without Python with all their files."""
    found: dict[str, list[Path]] = {}
    for folder, _, names in os.walk(package):
        place = ".".join([package.name, *Path(folder).relative_to(package).parts])
        python = [name for name in names if name.endswith(".py")]
        for name in python:
            found[place if name == "__init__.py" else f"{place}.{name[:-3]}"] = [Path(folder, name)]
        if not python:
            found[place] = [Path(folder, name) for name in names]
    return found


@functools.cache
def read(path: Path, package: Path) -> _File:
    """A file; it is read once in a process."""
    data, known = path.read_bytes(), all_modules(package)
    text = data.decode() if path.suffix == ".py" else ""
    imports: set[str] = set()
    for module, names, whole in _IMPORT.findall("\n" + text):
        inner = {f"{module}.{name}" for name in _NAME.findall(_COMMENT.sub("", names))}
        imports |= inner if inner and inner <= known.keys() else {whole or module, *(inner & known.keys())}
    return _File(hashlib.sha256(data).digest(), tuple(imports), text)


@functools.cache
def _constants(text: str) -> dict[str, Any]:
    """The constants of a file of this package that are numbers or texts, or tuples of them, as far as one line and those before it tell."""
    found: dict[str, Any] = {}
    for names, value in _CONSTANT.findall(text):
        if value[-1] in "({[":
            continue
        with suppress(Exception):  # of other names: no number
            said = eval(value, dict(_WORDS), found)  # noqa: S307 (the package's own code, which is imported anyway)
            each = dict(zip(names.split(", "), said, strict=True)) if "," in names else {names: said}
            found |= {name: one for name, one in each.items() if isinstance(one, int | float | str | tuple)}
    return found


def _changed(module: str, text: str) -> bool:
    """Whether an imported module has other constants than the text of its file."""
    if module not in sys.modules:
        return False
    names = vars(sys.modules[module])
    own = ((name, value) for name, value in _constants(text).items() if name in names)
    taken = ((name, vars(sys.modules[origin]).get(name)) for name, origin in _taken(text) if origin in sys.modules and name in names)
    return any(names[name] != value for name, value in (*own, *taken) if isinstance(value, int | float | str | tuple))


@functools.cache
def _taken(text: str) -> list[tuple[str, str]]:
    """The constants that a file of this package imports under their own names, each with the module that has it."""
    names = ((module, _COMMENT.sub("", names)) for module, names, _ in _IMPORT.findall("\n" + text) if module)
    return [(name, module) for module, each in names for name in re.findall(r"\b_*[A-Z][A-Z0-9_]*\b(?!\s+as\b)", each)]
