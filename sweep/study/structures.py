"""Reading [structure], [supports] and [loads] of a study: a body or a modal basis with supports, as a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.structure_model import BODY, STRUCTURE
from tribosweep.kernels.models.structures import BASE, CENTRE, FORCE, MODE, Load, Structure, body_basis
from tribosweep.kernels.models.supports import LAWS, OBSTACLES, PLANE, RETURN_MAPPING, RING, Support, named
from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, shorten
from tribosweep.sweep.io.values import number_like
from tribosweep.sweep.structure.basis_files import read_basis
from tribosweep.sweep.study.document import parameter_keys, read_document
from tribosweep.sweep.study.schema import Document
from tribosweep.sweep.study.schema_structure import KINDS, Assembly, LoadTable, SupportTable

NAMES = (BODY, STRUCTURE)
DEFAULT_SCHEME = "devogelaere"
SECTIONS = ("supports.", "loads.")
OF_A_MODE = re.compile(r"(?:frequency|damping)\[(\d{1,9})\]")


@dataclass(frozen=True, slots=True)
class ParsedStructure:
    """The result of parsing a structure.

    Attributes:
        model: its model; None if the study has none, or a wrong one. whole: whether there were no problems.
        files: the files of its bases. digests: their SHA-256.
    """

    model: Model | None = None
    whole: bool = True
    files: tuple[Path, ...] = ()
    digests: tuple[str, ...] = ()


def read(document: Document, folder: Path, problems: list[Problem]) -> ParsedStructure:
    """Parse the structure of a study.

    Args:
        document: the study. folder: folder to which paths are relative. problems: list to which problems are added.
    """
    name = document.study.model
    if name not in NAMES:
        given = [key for key in ("structure", "supports", "loads") if getattr(document, key)]
        if name in MODELS:
            problems += [Problem(key, f'belongs to a study whose model is "{BODY}" or "{STRUCTURE}", not {name!r}') for key in given]
        return ParsedStructure(whole=not given)
    before = len(problems)
    section = document.structure or Assembly()
    body = name == BODY
    bases, files, digests = _bases(section, body, folder, problems)
    basis = next(iter(bases.values()))
    points = list(basis.points)
    known = len(problems) == before  # whether the points are those that the study means
    supports = [_support(each, table, points, body, known, problems) for each, table in document.supports.items()]
    loads = [_load(each, table, points, known, problems) for each, table in document.loads.items()]
    extras = _extras(section, basis, problems) if known else {}
    extras |= {"bases": bases} if len(bases) > 1 else {}
    if document.output.support_lists:
        extras["lists"] = True
    if known:
        extras["own_modes"] = _own_modes(document)
    found = None
    if len(problems) == before:
        try:
            of_all = [support for support in supports if support is not None], [load for load in loads if load is not None]
            found = Structure(basis, *of_all, body=body, **extras).model
        except ValueError as error:
            problems.append(Problem("structure", str(error)))
    return ParsedStructure(found, found is not None, files, digests)


def model_of_document(document: Mapping[str, Any]) -> Model | None:
    """The model of the structure of a resolved study; None if the files of its bases are gone or have changed."""
    problems: list[Problem] = []
    sections = ("study", "structure", "supports", "loads", "parameters", "sweep", "output")
    read_back = read_document({key: document[key] for key in sections if key in document}, problems)
    found = read(read_back, Path(), problems)
    return found.model


def with_parameters(document: Document, problems: list[Problem]) -> tuple[dict[str, Any], dict[str, str]]:
    """[parameters] with those that stand in [supports] and [loads], and the keys of the latter."""
    found, homes = dict(document.parameters), dict[str, str]()
    parts: list[tuple[str, Mapping[str, Any]]] = [("supports", document.supports), ("loads", document.loads)]
    for section, things in parts:
        for name, table in things.items():
            for key, value in parameter_keys(table).items():
                full, path = named(key, name), f"{section}.{name}.{key}"
                if full in document.parameters:
                    problems.append(Problem(path, f"given twice: also in parameters.{full}"))
                found[full], homes[full] = value, path
    return found, homes


def section_documents(document: Document, read: ParsedStructure) -> dict[str, Any]:
    """[structure], [supports] and [loads] in canonical form: paths absolute and digests of the files; parameters stand in [parameters]."""
    if read.model is None:
        return {}
    section = {} if document.structure is None else {k: v for k, v in dict(document.structure).items() if v is not None}
    if read.files:
        files = [str(file) for file in read.files]
        section |= {"basis": files if isinstance(section.get("basis"), list) else files[0], "sha256": list(read.digests)}
    found: dict[str, Any] = {"structure": section}
    for key, things in (("supports", document.supports), ("loads", document.loads)):
        found[key] = {
            name: {each: value for each, value in dict(table).items() if value is not None and each not in parameter_keys(table)}
            for name, table in things.items()
        }
    return {key: table for key, table in found.items() if table}


def placed(canonical: dict[str, Any], sections: dict[str, Any]) -> dict[str, Any]:
    """A canonical document with the sections of a structure behind [study]."""
    return {"study": canonical["study"], **sections, **{key: table for key, table in canonical.items() if key != "study"}}


def without_paths(document: dict[str, Any]) -> dict[str, Any]:
    """A canonical document with names of the files of bases instead of paths, because their folders do not determine rows."""
    section = document.get("structure", {})
    if "basis" not in section:
        return document
    files = section["basis"]
    names = [Path(file).stem for file in files] if isinstance(files, list) else Path(files).stem
    return {**document, "structure": {**section, "basis": names}}


def _bases(
    section: Assembly, body: bool, folder: Path, problems: list[Problem]
) -> tuple[dict[str, Basis], tuple[Path, ...], tuple[str, ...]]:
    """The bases by name, their files and digests; the basis of a body in place of one that cannot be read."""
    plain = {"": body_basis()}
    if body:
        problems += [
            Problem(f"structure.{key}", "is of a structure; a body has directions")
            for key in ("basis", "modes", "start", "start_rate")
            if getattr(section, key) is not None
        ]
        try:
            return {"": body_basis("xyz" if section.directions is None else section.directions)}, (), ()
        except ValueError as error:
            problems.append(Problem("structure.directions", str(error)))
        return plain, (), ()
    if section.directions is not None:
        problems.append(Problem("structure.directions", "is of a body; a structure has a basis"))
    files = [section.basis] if isinstance(section.basis, str) else section.basis
    if not isinstance(files, list) or not files or not all(isinstance(file, str) and file for file in files):
        form = 'a file, such as basis = "tube.npz", or a list of files; `tribosweep modes` shows and makes them'
        what = "missing" if section.basis is None else f"not {shorten(section.basis)}"
        problems.append(Problem("structure.basis", f"{what}: {form}" if section.basis is None else f"must be {form}, {what}"))
        return plain, (), ()
    found: dict[str, Basis] = {}
    paths, digests = [], []
    for place, file in enumerate(files):
        where = "structure.basis" if isinstance(section.basis, str) else f"structure.basis[{place}]"
        path = (folder / file).absolute()
        if path.stem in found:
            problems.append(Problem(where, f"{file}: {path.stem!r} is the name of another basis already; rename one of them"))
            continue
        try:
            found[path.stem] = read_basis(path)
            digests.append(tables.digest(path))
        except ConfigError as error:
            problems += [Problem(where, f"{file}: {f'{each.path} ' if each.path else ''}{each.message}") for each in error.problems]
            continue
        except OSError as error:
            problems.append(Problem(where, f"{file}: {error.strerror or error}"))
            continue
        paths.append(path)
    if len(found) < len(files):
        return plain, tuple(paths), tuple(digests)
    if section.sha256 is not None and section.sha256 != digests:
        message = "the files are not those that the study was resolved with; leave this out to take them as they are now"
        problems.append(Problem("structure.sha256", message))
    return _of_some_modes(section, found, problems), tuple(paths), tuple(digests)


def _of_some_modes(section: Assembly, found: dict[str, Basis], problems: list[Problem]) -> dict[str, Basis]:
    """Bases of their first modes: of the number that the study asks for, or one for each of several numbers."""
    if section.modes is None:
        return found
    least = min(basis.count for basis in found.values())
    counts = section.modes if isinstance(section.modes, list) else [section.modes]
    wrong = [each for each in counts if not isinstance(each, int) or isinstance(each, bool) or not 1 <= each <= least]
    if wrong or not counts or len({*counts}) < len(counts):
        what = f"{shorten(wrong[0])} is none" if wrong else "must be different numbers"
        problems.append(Problem("structure.modes", f"{what}: whole numbers from 1 to {least}, the coordinates of the basis"))
        return found
    if not isinstance(section.modes, list):
        return {name: basis.first(section.modes) for name, basis in found.items()}
    if len(found) > 1:
        problems.append(Problem("structure.modes", "is a list for a single basis: give one number, or one file"))
        return found
    return {str(count): next(iter(found.values())).first(count) for count in counts}


def _own_modes(document: Document) -> list[int]:
    """The modes whose frequency or damping a study names."""
    names = [*document.parameters, *(str(name) for part in document.sweep for name in part.axes or {})]
    return [int(match[1]) for name in names if (match := OF_A_MODE.fullmatch(str(name)))]


def _extras(section: Assembly, basis: Basis, problems: list[Problem]) -> dict[str, Any]:
    """The further keys of [structure], as arguments of `Structure`."""
    found: dict[str, Any] = {}
    observed = section.observed
    if isinstance(observed, list) and all(isinstance(name, str) for name in observed):
        for place, name in enumerate(observed):
            if name not in basis.points:
                problems.append(Problem(f"structure.observed[{place}]", f"{name!r} is no point; {advise(name, basis.points)}"))
        found["observed"] = tuple(observed)
    elif observed is not None:
        problems.append(Problem("structure.observed", f'must be a list of points, such as ["middle"], not {shorten(observed)}'))
    for key in ("peak_edges", "start", "start_rate"):
        value = getattr(section, key)
        if value is None:
            continue
        if not isinstance(value, list) or not all(number_like(each) for each in value):
            problems.append(Problem(f"structure.{key}", f"must be a list of numbers, not {shorten(value)}"))
        else:
            found[key] = tuple(map(float, value)) if key == "peak_edges" else np.array(value, float)
    if section.modal_energies:
        found["modal_energies"] = True
    return found


def _check_name(where: str, name: str, problems: list[Problem]) -> bool:
    """Whether a support or load may have a name."""
    fine = bool(name.strip()) and name.isprintable() and not set(name) & set("[].=/\\\"',;")
    if not fine:
        problems.append(Problem(where, f"{name!r} is no name: leave out brackets, dots, slashes, commas, quotes, = and control characters"))
    return fine


def _support(name: str, table: SupportTable, points: list[str], body: bool, known: bool, problems: list[Problem]) -> Support | None:
    """Parse [supports.NAME]; None and problems if it is wrong."""
    before, where = len(problems), f"supports.{name}"
    _check_name(where, name, problems)
    obstacle, law = table.obstacle or PLANE, table.law or RETURN_MAPPING
    if obstacle not in OBSTACLES:
        problems.append(Problem(f"{where}.obstacle", f"{obstacle!r} is none; {advise(obstacle, OBSTACLES)}"))
    if law not in LAWS:
        problems.append(Problem(f"{where}.law", f"{law!r} is none; {advise(law, LAWS)}"))
    point = table.point if table.point is not None else CENTRE if body else name
    for key, each in (("point", point), ("other", table.other)):
        if known and each is not None and each not in points:
            lacks = f" (point = {point!r} by default)" if key == "point" and table.point is None else ""
            problems.append(Problem(f"{where}.{key}", f"{each!r} is no point of the structure{lacks}; {advise(each, points)}"))
    axes = _axes(where, table, obstacle, problems)
    if len(problems) > before or not known:
        return None
    try:
        return Support(name, point, obstacle, table.other, law=law, **({} if axes is None else {"axes": axes}))
    except ValueError as error:
        problems.append(Problem(f"{where}.axes", str(error)))
    return None


def _axes(where: str, table: SupportTable, obstacle: str, problems: list[Problem]) -> Any:
    """The three axes of a support; None for the default."""
    given = [key for key in ("normal", "axis", "axes") if getattr(table, key) is not None]
    if len(given) > 1:
        problems.append(Problem(f"{where}.{given[1]}", f"give either {' or '.join(given)}"))
        return None
    if not given:
        return None
    if given == ["axes"]:
        return table.axes
    key = given[0]
    if (key == "axis") != (obstacle == RING):
        needs = "a ring has an axis" if obstacle == RING else "a plane has a normal"
        problems.append(Problem(f"{where}.{key}", f"{needs}; or give all three axes"))
        return None
    direction = _direction(f"{where}.{key}", getattr(table, key), problems)
    if direction is None:
        return None
    one = direction / np.linalg.norm(direction)
    start = np.eye(3)[2 if key == "normal" else 0]
    if abs(one @ start) > 0.9:
        start = np.eye(3)[0 if key == "normal" else 1]
    other = start - (start @ one) * one
    other = other / np.linalg.norm(other)
    # the normal, then the second axis, then one near z; or one near x, then the second axis, then the axis of the ring
    return (one, np.cross(other, one), other) if key == "normal" else (other, np.cross(one, other), one)


def _direction(where: str, value: Any, problems: list[Problem]) -> np.ndarray | None:
    """A direction in space; None and a problem if it is none."""
    if isinstance(value, list) and len(value) == 3 and all(number_like(each) for each in value):
        array = np.array(value, float)
        with np.errstate(over="ignore"):
            if 0.0 < np.linalg.norm(array) < np.inf:
                return array
    problems.append(Problem(where, f"must be a direction, such as [1.0, 0.0, 0.0], not {shorten(value)}"))
    return None


def _load(name: str, table: LoadTable, points: list[str], known: bool, problems: list[Problem]) -> Load | None:
    """Parse [loads.NAME]; None and problems if it is wrong."""
    before, where = len(problems), f"loads.{name}"
    _check_name(where, name, problems)
    kind = table.kind or (FORCE if table.point is not None else MODE if table.mode is not None else BASE)
    if kind not in KINDS:
        problems.append(Problem(f"{where}.kind", f"{kind!r} is none; {advise(kind, KINDS)}"))
    if known and table.point is not None and table.point not in points:
        problems.append(Problem(f"{where}.point", f"{table.point!r} is no point of the structure; {advise(table.point, points)}"))
    if table.channel is not None and not 0 <= table.channel < 64:
        problems.append(Problem(f"{where}.channel", f"{table.channel} is out of bounds: channels are counted from 0 to 63"))
    if table.mode is not None and table.mode < 0:
        problems.append(Problem(f"{where}.mode", f"{table.mode} is out of bounds: modes are counted from 0"))
    direction = None if table.direction is None else _direction(f"{where}.direction", table.direction, problems)
    if len(problems) > before or not known:
        return None
    along = {} if direction is None else {"direction": tuple(map(float, direction))}
    try:
        return Load(name, kind, point=table.point, mode=table.mode, channel=table.channel, **along)  # type: ignore[arg-type]
    except ValueError as error:
        problems.append(Problem(where, str(error)))
    return None
