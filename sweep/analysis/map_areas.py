"""The areas of a map, and what shades them: which observables, and their values as positions in a list of words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import RESULTS
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.analysis.run_rows import KINDS, RunRows, have_results
from tribosweep.sweep.analysis.supports import REGIME_OF_CONTACT, WEAR, at_support, in_words, support_in, support_problems
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.parquet import ENTRIES
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.capabilities import BOUNDARY, KEYS_OF_ASKED

if TYPE_CHECKING:
    import pyarrow as pa


REGIME, STATUS = "regime", "status"
NOTHING, UNKNOWN = "none", "unknown"
FREE = "no friction"
VOID, MISSING, FAILED = -3, -2, -1
MOST_AREAS = 12


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of a map.

    Attributes:
        name: the observable. words: its possible values; the last stands for rows that have results but no value of the observable.
        codes: (n,) int8 positions in `words`, one per row; FAILED for a failed row.
    """

    name: str
    words: tuple[str, ...]
    codes: np.ndarray


class Sought(NamedTuple):
    """What a boundary study looks for: where `observable` changes, or where it crosses `level` (in its unit)."""

    observable: str
    level: float | None


class Shown(NamedTuple):
    """What a map shows.

    Attributes:
        color: the observable that shades it, or NOTHING. areas: the observable that divides it, if one is chosen.
        support: of a structure: the support to which they belong, if any.
        sought: what the boundary study looks for that divides the map, if neither areas nor a support are chosen.
    """

    color: str
    areas: str | None
    support: str | None
    sought: Sought | None = None


def shown_of(
    model: Model, color: str | None, areas: str | None, support: str | None, problems: list[Problem], sought: Sought | None = None
) -> Shown:
    """What a map shows by the options --color, --areas and --support; a problem if the support is unknown.

    Names of a structure are taken as of the support unless they name another one, and the areas of a map without --areas are the words
    of the support that shades it. A boundary study has few points away from its curves, so its map is shaded only on request; it is
    divided by what the study looks for.
    """
    problems += (wrong := support_problems(model, support))
    known = {NOTHING, *(quantity.name for quantity in model.observables)}
    place = None if wrong else support
    default = model.main if place is None else named(WEAR, place)
    default = NOTHING if sought is not None else default
    color = default if color is None else at_support(color, place, known)
    place = place or support_in(color, model)
    if areas is not None:
        return Shown(color, at_support(areas, place if support else None, known), place)
    if sought is not None and support is None:
        return Shown(color, None, place, sought)
    words = named(REGIME_OF_CONTACT, str(place))
    return Shown(color, words if words in known else None, place)


def columns_of(model: Model, shown: Shown, problems: list[Problem]) -> list[str]:
    """Names of the columns that the areas of a map need; add a problem if `shown` names one that cannot define areas."""
    words = [quantity.name for quantity in model.observables if quantity.kind == "word"]
    sought = [] if shown.sought is None else [shown.sought.observable]
    return [*words, STATUS, *sought, *choose_areas(model, shown.areas, problems)]


def sought_in(path: Path) -> Sought | None:
    """What the boundary study in a directory looks for; None if the run has another design."""
    sweep = RunDirectory(path).read_document().get("sweep", {})
    if not isinstance(sweep, Mapping) or sweep.get("design") != BOUNDARY or "event" in sweep:
        return None
    return Sought(str(sweep["observable"]), sweep.get("level"))


def choose_areas(model: Model, areas: str | None, problems: list[Problem]) -> list[str]:
    """Names of the observables that may define the areas; add a problem if `areas` names one that cannot."""
    able = [quantity.name for quantity in model.observables if quantity.kind in ("word", "integer")]
    if areas is not None and areas not in able:
        holds = "holds numbers that are not whole" if areas in by_name(model.observables) else "is no observable"
        problems.append(Problem("--areas", f"{areas!r} {holds}; {advise(areas, able)}"))
    return [areas] if areas in able else []


def areas_of(path: Path, rows: RunRows, shown: Shown) -> Areas:
    """Determine the areas of a map of rows.

    Args:
        path: directory of the run. rows: rows with the columns of `columns_of`.
        shown: its `areas` are a word or whole-number observable; default: what a boundary study looks for, or `regime`, or the next word
            observable if no row has a regime; without any word whether there are results.

    Raises:
        ConfigError: the observable has more different numbers than can be told apart.
    """
    areas, sought = shown.areas, shown.sought
    if sought is not None and sought.level is not None:
        return areas_of_level(rows, sought.observable, sought.level)
    if sought is not None and len(rows.table.column(sought.observable).drop_null().unique()) <= MOST_AREAS:
        areas = sought.observable
    words = [quantity.name for quantity in rows.model.observables if quantity.kind == "word" and quantity.name in rows.table.column_names]
    without = REGIME if REGIME in words else (*words, STATUS)[0]
    name = areas or next((name for name in words if rows.table.column(name).null_count < rows.table.num_rows), without)
    column, good = rows.table.column(name), have_results(rows.table.column(STATUS))
    if name == STATUS:
        known = tuple(status.sentence for status in RESULTS)
        found = codes(column, known)
    elif name in words:
        known = by_name(rows.model.observables)[name].words
        found = codes(column, known)
        known += (FREE if name == REGIME else without_value(rows.model, name),)
    else:
        numbers = sorted(column.drop_null().unique().to_pylist())
        if len(numbers) > MOST_AREAS:
            message = f"{name} has {len(numbers)} different values, more than {MOST_AREAS} colours tell apart: --color {name} shades by it"
            raise ConfigError(str(path), [Problem("--areas", message)])
        found = np.searchsorted(numbers, np.nan_to_num(column.to_numpy(), nan=-1.0)).astype(np.int8)
        found[np.isnan(np.asarray(column.to_numpy(), dtype=np.float64))] = FAILED
        known = (*(f"{number} {in_words(by_name(rows.model.observables)[name])}" for number in numbers), without_value(rows.model, name))
    found[good & (found == FAILED)] = len(known) - 1
    return Areas(name, known, found)


def without_value(model: Model, name: str) -> str:
    """What an area is called in which rows with results have no value of an observable."""
    return UNKNOWN if by_name(model.observables)[name].unknown else "none"


def unknown_in(areas: Areas) -> np.ndarray:
    """(n,) mask of the rows whose value could not be computed."""
    return np.asarray((areas.codes == len(areas.words) - 1) & (areas.words[-1] == UNKNOWN))


def areas_of_level(rows: RunRows, observable: str, level: float) -> Areas:
    """The two sides of the level of an observable."""
    quantity = by_name(rows.model.observables)[observable]
    values = np.asarray(rows.table.column(observable).to_numpy(), dtype=np.float64)
    good = have_results(rows.table.column(STATUS))
    found = np.where(good, np.where(np.isnan(values), 2, np.where(values > level, 1, 0)), FAILED).astype(np.int8)
    said = f"{level:.6g}{quantity.unit_suffix}"
    return Areas(f"side of {observable} = {said}", (f"up to {said}", f"above {said}", without_value(rows.model, observable)), found)


def choose_shade(path: Path, model: Model, color: str, problems: list[Problem], option: str = "--color") -> Quantity | None:
    """Choose the observable, or the signal that is a single number, of the run in `path` to shade by, which `option` names.

    None for "none".
    """
    numeric = {q.name: q for q in model.observables if q.kind not in KINDS}
    if color not in numeric:
        numeric |= single_signals(path)
    if color != NOTHING and color not in numeric:
        known = by_name(model.observables).get(color)
        what = f"holds {KINDS[known.kind]}" if known else "is no observable"
        known_names = [*numeric, NOTHING] if option == "--color" else list(numeric)
        problems.append(Problem(option, f"{color!r} {what}; {advise(color, known_names)}"))
    return numeric.get(color)


def single_signals(path: Path) -> dict[str, Quantity]:
    """The signals of a run that are single numbers, by name."""
    found = {}
    for name, field in Dataset(path).signals.items():
        told = {key.decode(): value.decode() for key, value in field.metadata.items()}
        if not told[ENTRIES]:
            found[name] = Quantity(name, told["unit"], told["description"])
    return found


def require_shade(path: Path, rows: RunRows, shade: Quantity | None, option: str = "--color") -> None:
    """Raise ConfigError if the run has no column of the shaded observable."""
    if shade and shade.name not in rows.table.column_names:
        needed = " and ".join(KEYS_OF_ASKED.get(name, f"parameters.{name}") for name in shade.needs)
        message = f"{shade.name} is no column of this run" + (f": its study gives no {needed}" if needed else "")
        raise ConfigError(str(path), [Problem(option, message)])


def codes(column: pa.ChunkedArray, words: tuple[str, ...]) -> np.ndarray:
    """A column of words as int8 positions in `words`, FAILED where it is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column.cast(pa.string()), pa.array(words, pa.string()))
    return np.array(found.fill_null(FAILED).to_numpy(), np.int8)
