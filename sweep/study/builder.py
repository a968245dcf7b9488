"""A study built in Python: the keys of a study file as arguments, with names that editors complete."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from tribosweep.kernels.models import MODELS, TIME
from tribosweep.kernels.models.naming import WITH_UNIT
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.io.atomic import write_text
from tribosweep.sweep.io.errors import ConfigError, Problem, shorten
from tribosweep.sweep.io.toml import plain, to_toml
from tribosweep.sweep.io.units import spelled
from tribosweep.sweep.io.values import DEFAULT, number_like

if TYPE_CHECKING:
    from tribosweep.sweep.study.parameter_names import Parameters

TABLES = frozenset(q.name for model in MODELS.values() for q in model.parameters if q.kind == "list")
IN_TIME = frozenset(q.name for q in TIME) - {"window_start", "window_end"}
MISSING = ("nan", "<NA>")  # how libraries of tables write a missing cell


class Study:
    """A study: a model, the values of its parameters, and what is swept.

    It is the same as a study file, key by key, and nothing is checked before `tribosweep.run` or `tribosweep.load` reads it; then
    everything that is wrong is reported at once, as for a file.

    Args:
        model: name of the model; `tribosweep.MODELS` has all.
        name: name of the study, of its default directory runs/NAME and of its reports.
        scheme: scheme that computes the motion, or a list of them to compare; default "exact" where the model has it.
        precision: "float64", or "float32".
        window: (start, end) of the averages [s], or "steady" for one period of the steady motion; default the whole run.
        blocks: number of equal blocks of the window, each with its own wear power.
        design: "grid" (every combination of the swept values), "zip" (side by side), "sobol", "latin_hypercube", ...; `count` and `seed`
            belong to the designs that sample.
        points: a table of points instead of swept parameters: a pandas, polars or Arrow table, or a dict of columns, named as parameters;
            a name may state a unit, "a0 [mm/s^2]".
            A missing cell is the default.
        sections: further sections and keys of a study file, such as {"excitation": {...}} or {"sweep": {"observable": "wear_power"}}.
        parameters: a number in SI units; a text with a unit, such as "0.3 g"; or, to sweep it, a list of these, `linspace`, `geomspace`,
            `integers`, `between` or `distribution`. The numbers of a table, such as post_set, are a list; lists of them sweep it.

    Examples:
        >>> study = Study("rubbing_mass", name="my_map", window=(4, 12), end=12, a0=linspace(0.5, 20, 30), mu=geomspace(0.01, 1, 20))
        >>> run = tribosweep.run(study)
        >>> study.write("my_map.toml")
        >>> hard = Study("stop", design="sobol", count=64, gap=between(0, 0.01), k_n=distribution("normal", mean=1e6, std=1e5), a0=5.0)
        >>> tribosweep.load(hard)
        <Config 'study': stop, 64 points over gap, k_n>
    """

    def __init__(
        self,
        model: str = "rubbing_mass",
        *,
        name: str | None = None,
        scheme: str | Sequence[str] | None = None,
        precision: str | None = None,
        window: tuple[Any, Any] | str | None = None,
        blocks: int | None = None,
        design: str | None = None,
        count: int | None = None,
        seed: int | None = None,
        points: Any = None,
        sections: Mapping[str, Any] | None = None,
        **parameters: Unpack[Parameters],
    ) -> None:
        """Arrange the arguments as a study file has them."""
        axes: dict[str, Any] = {} if points is None else columns_of(points)
        fixed: dict[str, Any] = {}
        time: dict[str, Any] = {"window": list(window) if isinstance(window, tuple) else window, "blocks": blocks}
        for key, value in parameters.items():
            if is_swept(key, value):
                axes[key] = value
            else:
                (time if key in IN_TIME else fixed)[key] = value
        if scheme is not None and not isinstance(scheme, str):
            axes[SCHEME], scheme = list(scheme), None
        sweep = {"design": design or (None if points is None else "zip"), "count": count, "seed": seed, "axes": axes or None}
        given: dict[str, Any] = {
            "study": {"name": name, "model": model, "scheme": scheme, "precision": precision},
            "parameters": fixed,
            "time": time,
            "sweep": sweep,
        }
        document = {section: {key: value for key, value in keys.items() if value is not None} for section, keys in given.items()}
        for section, keys in (sections or {}).items():
            there = document.get(section)
            document[section] = {**there, **keys} if there and isinstance(keys, Mapping) else keys
        self._document: dict[str, Any] = plain({section: keys for section, keys in document.items() if keys})

    @property
    def document(self) -> dict[str, Any]:
        """The study as nested dicts, with the keys of a study file."""
        copied: dict[str, Any] = plain(self._document)
        return copied

    def to_toml(self) -> str:
        """The study as the text of a study file."""
        return to_toml(self._document)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the study into a .toml file, and return its path; OSError if it cannot be written."""
        file = Path(path)
        write_text(file, self.to_toml())
        return file

    def __repr__(self) -> str:
        """One line: the sections and their keys."""
        tables = {section: keys for section, keys in self._document.items() if isinstance(keys, dict)}
        told = {f"{section}.{key}": value for section, keys in tables.items() for key, value in keys.items()}
        axes = told.pop("sweep.axes", {})
        told |= {f"sweep.axes.{name}": value for name, value in axes.items()}
        return f"<Study {', '.join(f'{key} = {shorten(value)}' for key, value in told.items())}>"


def is_swept(name: str, value: Any) -> bool:
    """Whether a value of a parameter is an axis: a list or a table of keys; of a table of numbers, a list of lists."""
    if isinstance(value, Mapping):
        return True
    depth = getattr(value, "ndim", None)
    if depth is None:
        several = isinstance(value, Iterable) and not isinstance(value, str)
        depth = (1 + any(isinstance(each, Iterable) and not isinstance(each, str) for each in value)) if several else 0
    return bool(depth > (name in TABLES))


def columns_of(points: Any) -> dict[str, list[Any]]:
    """The columns of a table as axes, a missing cell as the default.

    A header may state a unit, "a0 [mm/s^2]" or "a0 (g)", as that of a table of points; `gap[ring]` is a name.
    """
    if hasattr(points, "to_dict") and hasattr(points, "columns"):  # pandas, polars
        columns = {str(name): points[name].to_numpy().tolist() for name in points.columns}
    elif hasattr(points, "to_pydict"):
        columns = points.to_pydict()
    else:
        columns = {str(name): np.asarray(values).tolist() for name, values in points.items()}
    found: dict[str, list[Any]] = {}
    for header, cells in columns.items():
        stated = WITH_UNIT.search(header)
        name = header[: stated.start()].strip() if stated else header
        if name in found:
            raise ConfigError("points", [Problem(header, f"{name} is given twice: leave out one column")])
        unit = spelled(stated[0].strip(" []()")) if stated else ""
        found[name] = [DEFAULT if cell is None or repr(cell) in MISSING else in_unit_of_column(cell, unit) for cell in cells]
    return found


def in_unit_of_column(cell: Any, unit: str) -> Any:
    """A cell as a study file has it: a number of a column with a unit is a text with it."""
    if isinstance(cell, list):
        return [in_unit_of_column(each, unit) for each in cell]
    return f"{float(cell)!r} {unit}" if unit and number_like(cell) else cell


def linspace(start: float | str, stop: float | str, count: int) -> dict[str, Any]:
    """An axis of `count` evenly spaced values from `start` to `stop`, both included, in SI units or as texts with a unit.

    Args:
        start: the first value, in SI units or as a text with a unit.
        stop: the last value.
        count: number of values.

    Examples:
        >>> Study(a0=linspace("0.1 g", "2 g", 20))
    """
    return {"from": start, "to": stop, "count": count, "spacing": "linear"}


def geomspace(start: float | str, stop: float | str, count: int) -> dict[str, Any]:
    """An axis of `count` values from `start` to `stop`, both included, whose logarithms are evenly spaced.

    Args:
        start: the first value, in SI units or as a text with a unit.
        stop: the last value, of the same sign.
        count: number of values.

    Examples:
        >>> Study(k=geomspace(1e3, 1e6, 31))
    """
    return {"from": start, "to": stop, "count": count, "spacing": "log"}


def integers(start: int, stop: int) -> dict[str, Any]:
    """An axis of all whole numbers from `start` to `stop`, both included.

    Args:
        start: the first number.
        stop: the last number.

    Examples:
        >>> tribosweep.load(Study("stop", k_n=1e6, a0=5.0, sides=integers(1, 2)))
        <Config 'study': stop, 2 points over sides>
    """
    return {"from": start, "to": stop, "spacing": "integer"}


def between(low: float | str, high: float | str, *, log: bool = False) -> dict[str, Any]:
    """A range from which a sampling design draws, uniform in the value, or in its logarithm with `log`.

    Args:
        low: the lower end, in SI units or as a text with a unit.
        high: the upper end.
        log: whether the logarithm is uniform.

    Examples:
        >>> Study(design="sobol", count=1024, mu=between(0.05, 0.5), k=between(1e3, 1e6, log=True))
    """
    return {"from": low, "to": high, "spacing": "log" if log else "linear"}


def distribution(kind: str, **numbers: Any) -> dict[str, Any]:
    """A distribution from which a sampling design draws; `tribosweep list distributions` shows the kinds and their numbers.

    Args:
        kind: such as "normal", "lognormal" or "uniform". numbers: its numbers, such as mean and std.

    Examples:
        >>> Study(design="latin_hypercube", count=1000, mu=distribution("normal", mean=0.2, std=0.02))
    """
    return {"distribution": kind, **numbers}


def _signature() -> inspect.Signature:
    """The signature of `Study` with every parameter of every model, for help and completion in notebooks."""
    known = [each for each in inspect.signature(Study.__init__).parameters.values() if each.name not in ("self", "parameters")]
    names = dict.fromkeys(q.name for model in MODELS.values() for q in model.parameters)
    return inspect.Signature([*known, *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names)])


Study.__signature__ = _signature()  # type: ignore[attr-defined]
