"""The files that modules of this package reach by imports: what a program that they make depends on.

Import statements, at the head of a file or in a function, are found by a pattern: parsing takes 50 times as long. A test compares them with
those that Python's parser finds.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(
    r"\n[ \t]*(?:from[ \t]+(tribosweep\.kernels[\w.]*)[ \t]+import[ \t]+(\((?:[^)#]|#.*)*\)|.*)|import[ \t]+(tribosweep\.kernels[\w.]*))"
)
_COMMENT, _NAME = re.compile("#.*"), re.compile(r"(\w+)(?:\s+as\s+\w+)?")
_BEGUN = time.time()  # when this process imported the package


class _File(NamedTuple):
    """A file: a hash of it, and the full names of modules that it imports."""

    digest: bytes
    imports: tuple[str, ...]


def digest(modules: Iterable[str], package: Path = PACKAGE) -> str | None:
    """A hash of all files that some modules reach.

    Args:
        modules: their full names. A folder without Python, as `tribosweep.kernels.native`, counts as a module. package: its folder.

    Returns:
        The hash; None if it may be of other code than this process runs: a module has no file, or a file was changed or put there after
        this process had begun.
    """
    known, found = all_modules(package), hashlib.sha256()
    if not known.keys() >= set(modules):
        return None
    for path in files(modules, package):
        found.update(f"{path.relative_to(package).as_posix()}\n".encode() + read(path, package).digest)
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
        place = ".".join(["tribosweep", package.name, *Path(folder).relative_to(package).parts])
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
    imports: set[str] = set()
    for module, names, whole in _IMPORT.findall("\n" + data.decode()) if path.suffix == ".py" else ():
        inner = {f"{module}.{name}" for name in _NAME.findall(_COMMENT.sub("", names))}
        imports |= inner if inner and inner <= known.keys() else {whole or module, *(inner & known.keys())}
    return _File(hashlib.sha256(data).digest(), tuple(imports))
