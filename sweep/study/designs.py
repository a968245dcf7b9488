"""Reading [sweep]: one design, or several that follow each other, checked against the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES, Axis, Counted, Listed
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import ABOUT_CONCATENATION, BY_LEVELS, CONCATENATION, DESIGNS, Adaptive, Concatenation, Design, Part
from tribosweep.sweep.design.distributions import Scaled, Weighted
from tribosweep.sweep.design.draws import Draws
from tribosweep.sweep.design.grid import Grid, Zip
from tribosweep.sweep.design.points import Missing, widened
from tribosweep.sweep.design.posterior import Empirical, Posterior
from tribosweep.sweep.design.sensitivity import OPTIONS, SAMPLERS, Sampling, settings_of
from tribosweep.sweep.design.subset_simulation import SUBSET, SubsetSimulation
from tribosweep.sweep.io import tables
from tribosweep.sweep.io.errors import Problem, advise, first_of, shorten
from tribosweep.sweep.io.values import Value, number_like
from tribosweep.sweep.study import draws, point_table, posterior
from tribosweep.sweep.study.axes import forms, read_list, read_schemes, read_spacing
from tribosweep.sweep.study.boundary import KEYS as BOUNDARY_KEYS
from tribosweep.sweep.study.boundary import read_boundary
from tribosweep.sweep.study.capabilities import BOUNDARY, CONVERGENCE
from tribosweep.sweep.study.convergence import KEYS as CONVERGENCE_KEYS
from tribosweep.sweep.study.convergence import read_convergence
from tribosweep.sweep.study.document import of_another
from tribosweep.sweep.study.sampling import read_sample
from tribosweep.sweep.study.schema import PARAMETERS, Sweep, Time
from tribosweep.sweep.study.subset_simulation import KEYS as SUBSET_KEYS
from tribosweep.sweep.study.subset_simulation import read_subset
from tribosweep.sweep.study.subset_simulation import settings_of as settings_of_subset

TABLE = "table"
# keys of [sweep] that only some designs have, in the order in which a study is written
KEYS: dict[str, tuple[str, ...]] = {
    **{name: ("count", "seed", *(key for key, designs in OPTIONS.items() if name in designs), "correlations") for name in SAMPLERS},
    CONVERGENCE: CONVERGENCE_KEYS,
    BOUNDARY: BOUNDARY_KEYS,
    draws.DRAWS: draws.KEYS,
    posterior.POSTERIOR: posterior.KEYS,
    SUBSET: SUBSET_KEYS,
}
FROM_FILE = (TABLE, posterior.POSTERIOR)


@dataclass(frozen=True, slots=True)
class ParsedSweep:
    """The result of parsing [sweep].

    Attributes:
        design: the points; an empty grid if there are problems.
        digests: SHA-256 of the files with points, in their order.
        paths: name and key of every axis, and whether all parts of the design have an axis of that name.
    """

    design: Design
    digests: list[str]
    paths: list[tuple[str, str, bool]]


def read_sweep(
    sections: list[Sweep], model: Model, scheme: str, fixed: Mapping[str, Value], folder: Path, problems: list[Problem]
) -> ParsedSweep:
    """Parse the designs of a study.

    Args:
        sections: [sweep], or every [[sweep]]; none for a single point.
        model: the model whose parameters are swept. scheme: the scheme if it is not swept.
        fixed: parameter -> set value, for the rows of parts that do not sweep it.
        folder: folder to which paths of tables are relative.
        problems: list to which problems are added.
    """
    parts: list[Part | Adaptive] = []
    digests: list[str] = []
    paths: list[list[tuple[str, str]]] = []
    for number, section in enumerate(sections):
        where = "sweep" if len(sections) == 1 else f"sweep[{number}]"
        design, digest = read_part(section, where, model, scheme, folder, problems)
        parts.append(design)
        digests += [digest] if digest else []
        paths.append([(axis.name, axis_path(section, where, axis)) for axis in design.axes])
    swept = [{name for name, _ in each} for each in paths]
    everywhere = set.intersection(*swept) if swept else set()
    listed = [(name, path, name in everywhere) for each in paths for name, path in dict(each).items()]
    if len(parts) < 2:
        return ParsedSweep(parts[0] if parts else Grid(()), digests, listed)
    studies = [number for number, section in enumerate(sections) if section.design in BY_LEVELS]
    problems += [
        Problem(f"sweep[{n}].design", f"a {sections[n].design.replace('_', ' ')} study stands alone, in one [sweep]") for n in studies
    ]
    joined = tuple(part for part in parts if not isinstance(part, Adaptive))
    names = dict.fromkeys(axis.name for part in joined for axis in part.axes)
    missing = {name: missing_of(name, joined, fixed) for name in names if name != SCHEME}
    return ParsedSweep(Concatenation(joined, missing, SCHEME_NAMES.index(scheme) if SCHEME in names else None), digests, listed)


def missing_of(name: str, parts: tuple[Part, ...], fixed: Mapping[str, Value]) -> Missing:
    """The value of a swept parameter in the rows of the parts that do not sweep it: its fixed value, else its default."""
    tabled = Listed | Weighted | Scaled | Empirical
    listed = [axis.values for part in parts for axis in part.axes if axis.name == name and isinstance(axis, tabled)]
    widths = [values.shape[1] for values in listed if values.ndim > 1]
    value = np.asarray(fixed.get(name, np.empty(0) if widths else np.nan))
    return Missing(widened(value, max(*widths, len(value))) if widths else value, name not in fixed)


def read_part(sweep: Sweep, where: str, model: Model, scheme: str, folder: Path, problems: list[Problem]) -> tuple[Part | Adaptive, str]:
    """Read one design and the digest of its file of points; an empty design if there are problems."""
    if sweep.design not in DESIGNS:
        hint = f"; a {CONCATENATION} is {ABOUT_CONCATENATION}" if sweep.design == CONCATENATION else ""
        problems.append(Problem(f"{where}.design", f"{sweep.design!r} is not available; {advise(sweep.design, DESIGNS)}{hint}"))
    for key in dict.fromkeys(key for keys in KEYS.values() for key in keys):
        designs = [design for design, keys in KEYS.items() if key in keys]
        if getattr(sweep, key) is not None and sweep.design not in designs:
            asked = " or ".join(f'"{design}"' for design in designs)
            problems.append(Problem(f"{where}.{key}", f"belongs to design = {asked}; this one is {sweep.design!r}"))
    if sweep.design == TABLE:
        return read_table(sweep, where, model, scheme, folder, problems)
    if sweep.file is not None and sweep.design in DESIGNS and sweep.design not in FROM_FILE:
        needed = " or ".join(f'"{each}"' for each in FROM_FILE)
        message = f"design {sweep.design!r} takes its points from [{where}.axes]; a file needs design = {needed}"
        problems.append(Problem(f"{where}.file", message))
    if not sweep.axes and sweep.design not in (CONVERGENCE, BOUNDARY, posterior.POSTERIOR):
        message = "empty: 0 points; give at least one axis, or leave [sweep] out for a single point"
        problems.append(Problem(f"{where}.axes", message))
    sampled = sweep.design in (*SAMPLERS, SUBSET)
    known: dict[str, Any] = {**by_name(model.parameters), SCHEME: ""}
    unknown = [str(name) for name in sweep.axes or () if name not in known]

    def problem(name: str) -> Problem:
        return Problem(f"{where}.axes.{name}", of_another(name, model) or f"unknown parameter; {advise(name, known, PARAMETERS)}")

    problems += first_of(unknown, problem, f"{where}.axes", "keys")
    named = {name: raw for name, raw in (sweep.axes or {}).items() if name in known}
    drawn = {name for name, raw in named.items() if is_drawn(sweep, raw)}
    read = [read_axis(model, f"{where}.axes.{name}", raw, scheme, name in drawn, problems) for name, raw in named.items()]
    axes = tuple(axis for axis in read if axis is not None)
    if sweep.design == posterior.POSTERIOR:
        return posterior.read_posterior(sweep, where, model, axes, drawn, folder, problems)
    if sampled:
        read_design = read_subset if sweep.design == SUBSET else read_sample
        return read_design(sweep, where, axes, model, problems) or Grid(()), ""
    counted = tuple(axis for axis in axes if isinstance(axis, Counted))
    if sweep.design == CONVERGENCE:
        return read_convergence(sweep, counted, model, scheme, problems), ""
    if sweep.design in (BOUNDARY, draws.DRAWS):
        sought = sweep.design == BOUNDARY
        found = (
            read_boundary(sweep, where, axes, drawn, model, problems) if sought else draws.read_draws(sweep, where, axes, drawn, problems)
        )
        return found or Grid(()), ""
    lengths = {axis.name: axis.count for axis in counted}
    if sweep.design == "zip" and len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        problems.append(Problem(f"{where}.axes", f"axes of a zip must be of equal length: {listed}"))
    return (Zip(counted) if sweep.design == "zip" and counted else Grid(counted)), ""


def is_drawn(sweep: Sweep, raw: Any) -> bool:
    """Whether the design draws the values of an axis, given as in [sweep.axes]."""
    if sweep.design in (posterior.POSTERIOR, draws.DRAWS) or (sweep.design == BOUNDARY and sweep.event is not None):
        return not posterior.is_crossed(raw)
    return sweep.design in (*SAMPLERS, SUBSET)


def read_table(sweep: Sweep, where: str, model: Model, scheme: str, folder: Path, problems: list[Problem]) -> tuple[Part, str]:
    """Read the points of a table and the digest of its file."""
    if sweep.axes is not None:
        problems.append(Problem(f"{where}.axes", "a table of points has no axes: its columns are the parameters"))
    if sweep.file is None:
        problems.append(Problem(f"{where}.file", f'missing: design "{TABLE}" needs the CSV or Parquet file of its points'))
        return Grid(()), ""
    path = folder / sweep.file
    axes = point_table.read_points(path, model, scheme, f"{where}.file", problems)
    return (Zip(axes) if axes else Grid(())), (tables.digest(path) if axes else "")


def axis_path(sweep: Sweep, where: str, axis: Axis) -> str:
    """The key that defines an axis."""
    from_file = sweep.design in FROM_FILE and axis.name not in (sweep.axes or {})
    return f"{where}.file: column {axis.name}" if from_file else f"{where}.axes.{axis.name}"


def sweep_document(sections: list[Sweep], design: Design, folder: Path) -> dict[str, Any] | list[dict[str, Any]] | None:
    """[sweep] in canonical form, a list for several sections; None for a single point."""
    designs = design.parts if isinstance(design, Concatenation) else (design,)
    found = [part_document(section, part, folder) for section, part in zip(sections, designs, strict=False)]
    return found if len(found) > 1 else found[0] if found else None


def part_document(section: Sweep, design: Design, folder: Path) -> dict[str, Any]:
    """One design in canonical form."""
    file = {} if section.file is None else {"file": str((folder / section.file).resolve())}
    if section.design == TABLE:
        return {"design": TABLE, **file}
    settings = settings_in(section, design)
    if isinstance(design, Boundary):
        settings["seeds"] = [list(seed) for seed in design.seeds]
        settings |= {"event": design.event or None, "observable": None if design.event else design.observable}
    settings = {key: value for key, value in settings.items() if value not in (None, [])}
    if isinstance(design, Posterior) and section.columns is not None:
        settings["columns"] = section.columns
    written = [axis for axis in design.axes if not isinstance(axis, Empirical)]
    axes = {"axes": {axis.name: axis.to_document() for axis in written}} if written else {}
    return {"design": section.design, **file, **settings, **axes}


def settings_in(section: Sweep, design: Design) -> dict[str, Any]:
    """The keys of a design except its axes, in the format of a study file."""
    if isinstance(design, SubsetSimulation):
        return settings_of_subset(design)
    if isinstance(design, Sampling):
        return settings_of(design)
    settings = {key: getattr(design, key, None) for key in KEYS.get(section.design, ())}
    if isinstance(design, Draws | Boundary):
        over = design if isinstance(design, Draws) else design.over
        random = over if over is not None and over.random else None
        settings |= {"count": random.draws, "seed": random.seed} if random else {"count": None, "seed": None}
        settings["correlations"] = [list(each) for each in random.correlations] if random else None
    return settings


def read_axis(model: Model, path: str, raw: Any, scheme: str, sampled: bool, problems: list[Problem]) -> Axis | None:
    """Check one entry of [sweep.axes].

    Args:
        model: the model whose parameters are swept.
        path: key of the entry, which ends in a parameter of the model or in "scheme".
        raw: its value: a list, or a table of from, to, count, spacing.
        scheme: the scheme that the word "default" stands for.
        sampled: whether the design draws values from ranges, so that ranges have no count.
        problems: list to which problems are added.

    Returns:
        The axis, or None if it has problems.
    """
    name = path.rpartition(".axes.")[2]
    quantities = {quantity.name: quantity for quantity in model.parameters}
    if isinstance(raw, list) and not raw:
        problems.append(Problem(path, "empty: an axis needs at least one value, or the design has 0 points"))
    elif isinstance(raw, list):
        return read_schemes(model, path, raw, scheme, problems) if name == SCHEME else read_list(quantities[name], path, raw, problems)
    elif name == SCHEME:
        problems.append(Problem(path, f"must be a list of words, such as {list(model.schemes)}, not {shorten(raw)}"))
    elif isinstance(raw, dict):
        return read_keyed(quantities[name], path, raw, sampled, problems)
    else:
        single = number_like(raw) or (isinstance(raw, str) and quantities[name].kind == "word")
        place = f"; a single value goes to [{'time' if name in Time.model_fields else 'parameters'}]" if single else ""
        problems.append(Problem(path, f"must be {forms(quantities[name], sampled)}, not {shorten(raw)}{place}"))
    return None


def read_keyed(quantity: Quantity, path: str, raw: dict[str, Any], sampled: bool, problems: list[Problem]) -> Axis | None:
    """Read an axis given as a table of keys: a range, a distribution, or a table times a random factor."""
    if "distribution" in raw or (quantity.kind == "list" and "times" in raw):
        from tribosweep.sweep.study.axis_distributions import read_distribution

        return read_distribution(quantity, path, raw, sampled, problems)
    return read_spacing(quantity, path, raw, sampled, problems)
