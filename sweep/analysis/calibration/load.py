"""Reading a calibration from TOML; all problems are reported at once."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.presliding import PRESLIDING
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import DOUBLE, SINGLE
from tribosweep.sweep.analysis.calibration.data import Measurements
from tribosweep.sweep.analysis.calibration.measured import read_data
from tribosweep.sweep.analysis.calibration.parameters import Free, Prior, Space
from tribosweep.sweep.analysis.calibration.posterior.settings import PosteriorSettings, read_posterior, read_prior, whole
from tribosweep.sweep.analysis.calibration.sources import Source, read_sources
from tribosweep.sweep.design.axis import RECORD
from tribosweep.sweep.io.errors import Problem, advise, first_of, shorten
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.io.values import read_number
from tribosweep.sweep.study import excitation as excitations
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study import structures
from tribosweep.sweep.study.capabilities import CALIBRATION, KEYS_OF_ASKED, problems_of
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.document import belongs, read_document
from tribosweep.sweep.study.schema import TIME_KEYS

SCHEMED, STEPPED = (*PRESLIDING, "stribeck_speed"), "rk54"  # what scheme exact does not have
NOISES = ("known", "estimated")
SCALES = ("log", "linear")
KEYS = {
    "data": "CSV or Parquet file of tests: one row each, with columns of parameters and of what was measured",
    "starts": "number of fits from different starts; default 16",
    "seed": "seed of the random starts; default 1",
    "confidence": "level of the intervals; default 0.95",
    "noise": "known: standard deviations are absolute (default); estimated: their common factor follows from the scatter",
    "free": "the parameters that are fitted, each with its bounds",
    "compare": "observable -> column of the data, or a table of column, sd, relative_sd and weight",
    "traces": "[[calibration.traces]]: files of motion or forces in time",
    "loops": "[[calibration.loops]]: files of forces along an imposed displacement",
    "posterior": "[calibration.posterior]: how the posterior is sampled (--posterior)",
}  # key of [calibration] -> what it is
FREE_KEYS = {
    "from": "lower bound",
    "to": "upper bound",
    "scale": "log or linear; default log for stiffness, damping and forces, which are not negative",
    "start": "where the first fit starts; default the value of [parameters], else the middle",
    "prior": "what is known of it without these measurements: { mean, std }, or { distribution = ... }; default uniform on its scale",
}  # key of a free parameter -> what it is
PARTS = ("supports", "loads")
NODE = re.compile(r"(\w++)\[([0-9]{1,9})\]")
CONFIDENCE = Quantity("confidence", "1", "level of the intervals", lower=0.0, upper=1.0, lower_open=True, upper_open=True)
MOST_STARTS = 10_000
MOST_FREE = 100


@dataclass(frozen=True, slots=True)
class Calibration:
    """A checked calibration.

    Attributes:
        config: the study: model, fixed parameters, free parameters at their start, and the tests as its design.
        section: [calibration] as given, with absolute paths.
        space: the free parameters. data: the measurements.
        starts: number of fits. seed: seed of their random starts.
        confidence: level of the intervals.
        known: True if the standard deviations are absolute; False if they have a common unknown factor, estimated from the scatter.
        posterior: how the posterior is sampled, if that is wanted.
    """

    config: Config
    section: dict[str, Any]
    space: Space
    data: Measurements
    starts: int
    seed: int
    confidence: float
    known: bool
    posterior: PosteriorSettings = field(default_factory=PosteriorSettings)


def load(source: str | os.PathLike[str] | Mapping[str, Any], overrides: Sequence[str] = ()) -> Calibration:
    """Read and check a calibration.

    Args:
        source: path of a TOML file, name of a shipped study, or its content as nested dicts, whose files are relative to the working
            directory.
        overrides: "path=value" texts that replace keys before the check.

    Raises:
        ConfigError: lists everything that is wrong.
    """
    return read_checked(check, source, overrides)


def check(raw: dict[str, Any], source: str, folder: Path, stem: str, problems: list[Problem]) -> Calibration | None:
    """Check a calibration and append to `problems`; None if there are any."""
    section = raw.get("calibration")
    study = {key: value for key, value in raw.items() if key != "calibration"}
    if not isinstance(section, dict):
        other = "; tribosweep run carries out this study" if "sweep" in raw or "parameters" in raw else ""
        message = "missing: a calibration has a table [calibration], with data, free and compare"
        problems.append(Problem("calibration", f"{message}{other}"))
        return None
    if "sweep" in raw:
        problems.append(Problem("sweep", "a calibration has no design: its points are the tests of its data"))
        study.pop("sweep")
    model, study, homes = model_of(study, section, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    if isinstance(study.get("excitation"), dict) and RECORD in by_name(model.parameters):
        model = excitations.model_with(model, study["excitation"])
    check_derivatives(study, model, problems)
    unknown = [key for key in section if key not in KEYS]
    problems += first_of(unknown, lambda key: Problem(f"calibration.{key}", f"unknown key; {advise(key, KEYS)}"), "calibration", "keys")
    starts = whole(section, "starts", 16, 1, MOST_STARTS, "fits from different starts", problems)
    seed = whole(section, "seed", 1, 0, 2**31 - 1, "of the random starts", problems)
    confidence = fraction(section.get("confidence", 0.95), problems)
    posterior = read_posterior(section.get("posterior", {}), problems)
    noise = section.get("noise", NOISES[0])
    if noise not in NOISES:
        problems.append(Problem("calibration.noise", f"{shorten(noise)} is none of {', '.join(NOISES)}"))
    frees = read_free(section.get("free"), model, study.get("parameters", {}), problems)
    problems[:] = [at_home(problem, homes) for problem in problems]
    sources = read_sources(section, model, folder, problems)
    read = read_data(sources, model, {free.quantity.name for free in frees}, study, problems) if sources else None
    if read is not None and frees and read[0].count + sum(free.prior is not None for free in frees) < len(frees):
        message = f"{read[0].count} numbers were measured, too few for {len(frees)} free parameters: at least as many are needed"
        problems.append(Problem("calibration.free", message))
    if read is None or not frees:
        before = len(problems)
        studies.check(study, source, folder, stem, problems)
        problems[before:] = [at_home(problem, homes) for problem in problems[before:]]
        return None
    data, parts = read
    before = len(problems)
    varied = [(axes, each) for axes, each in zip(parts, sources, strict=True) if axes]
    tests = with_tests(study, [axes for axes, _ in varied], frees)
    config = studies.check(tests if data.paths is None else with_scheme(tests, frees), source, folder, stem, problems)
    problems[before:] = [at_home(in_words(problem, varied, data), homes) for problem in problems[before:]]
    if config is not None and data is not None:
        known = by_name(config.model.observables)
        compared = [known[name] for name in data.names if name in known]
        problems += [Problem("calibration.compare", why) for quantity in compared if (why := config.lacking(quantity))]
        if data.forces:
            message = "cannot be compared in one study with traces of forces"
            problems += [Problem("calibration.compare", f"{q.name} {message}") for q in compared if {*q.needs} & KEYS_OF_ASKED.keys()]
    if config is None or problems:
        return None
    return Calibration(config, absolute(section, folder), Space(frees), data, starts, seed, confidence, noise == NOISES[0], posterior)


def model_of(study: dict[str, Any], section: Mapping[str, Any], folder: Path) -> tuple[Model | None, dict[str, Any], dict[str, str]]:
    """The model of a study, or None if it cannot be determined.

    Returns also the study with all its parameters in [parameters], and the keys of those that stood with their support or load.
    """
    if not all(isinstance(study.get(key, {}), dict) for key in ("study", "parameters", "time", *PARTS)):
        return None, study, {}
    name = study.get("study", {}).get("model", next(iter(MODELS)))
    if name in structures.NAMES:
        return structure_of(study, section, folder)
    return MODELS.get(name) if isinstance(name, str) else None, study, {}


def structure_of(study: dict[str, Any], section: Mapping[str, Any], folder: Path) -> tuple[Model | None, dict[str, Any], dict[str, str]]:
    """`model_of` for a study of a body or a structure; no model if its structure is wrong."""
    free, given, problems = section.get("free"), study.get("parameters", {}), list[Problem]()
    modes = {name: 0.0 for name in (free if isinstance(free, dict) else ()) if structures.OF_A_MODE.fullmatch(str(name))}
    document = read_document({**study, "parameters": {**modes, **given}}, problems)
    read = structures.read(document, folder, problems)
    found, homes = structures.with_parameters(document, problems)
    if read.model is None or any(problem.path.split(".")[0] in ("structure", *PARTS) for problem in problems):
        return None, study, {}
    parameters = {key: value for key, value in found.items() if key in given or key not in modes}
    here = {*homes.values()}
    tables = {
        part: {
            name: {key: value for key, value in table.items() if f"{part}.{name}.{key}" not in here} for name, table in study[part].items()
        }
        for part in PARTS
        if part in study
    }
    return read.model, {**study, **tables, "parameters": parameters}, homes


def check_derivatives(study: Mapping[str, Any], model: Model, problems: list[Problem], use: str = CALIBRATION) -> None:
    """Add the problems of a study that has no derivatives which the `use` can follow."""
    head = study.get("study", {})
    scheme = [head["scheme"]] if isinstance(head.get("scheme"), str) else []
    problems += problems_of(use, model, scheme, {}, [SINGLE] if head.get("precision", DOUBLE) == SINGLE else [])


def at_home(problem: Problem, homes: Mapping[str, str]) -> Problem:
    """A problem of a parameter that stands in the table of its support or load, at that key."""
    return Problem(homes.get(problem.path.removeprefix("parameters."), problem.path), problem.message)


def fraction(value: Any, problems: list[Problem]) -> float:
    """Read the level of the intervals."""
    level = read_number(CONFIDENCE, "calibration.confidence", value, problems)
    return 0.95 if level is None else level


def read_free(
    raw: Any, model: Model, parameters: Mapping[str, Any], problems: list[Problem], table: str = "calibration.free",
    keys: Mapping[str, str] = FREE_KEYS,
) -> list[Free]:  # fmt: skip
    """Read the free parameters; add problems if the model lacks one or its numbers are invalid.

    Args:
        raw: the table as given. model: of the study. parameters: its [parameters]. problems: list to which problems are added.
        table: key of the table. keys: what each of its entries may have.
    """
    if not isinstance(raw, dict) or not raw:
        message = "missing: which parameters are to be found, such as k_n = { from = 0.1, to = 10.0 }"
        problems.append(Problem(table, message))
        return []
    if len(raw) > MOST_FREE:
        problems.append(Problem(table, f"names {len(raw):,} parameters: at most {MOST_FREE} can be found together"))
        return []
    found = [read_one(str(name), each, model, parameters, problems, table, keys) for name, each in raw.items()]
    return [free for free in found if free is not None]


def read_one(
    name: str, raw: Any, model: Model, parameters: Mapping[str, Any], problems: list[Problem], table: str, keys: Mapping[str, str]
) -> Free | None:
    """Read one free parameter of a table, see `read_free`; None and problems if it is wrong."""
    path = f"{table}.{name}"
    known = by_name(model.parameters)
    node = None if name in known else NODE.fullmatch(name)
    head, place = (node[1], int(node[2])) if node else (name, None)
    quantity = known.get(head)
    found: list[Problem] = []
    if quantity is None or head in TIME_KEYS:
        message = f"{head} is a time of the run and cannot be found" if quantity else belongs(head, model)
        found.append(Problem(path, message))
    elif quantity.kind == "list" and place is None:
        found.append(Problem(path, f'a table is found node by node: "{name}[0]", "{name}[1]" ...'))
    elif quantity.kind != "list" and place is not None:
        found.append(Problem(path, f"{head} is a number and has no nodes: {head}"))
    elif quantity.kind not in ("float", "list"):
        found.append(Problem(path, f"{head} is no number that varies smoothly ({quantity.description}): it cannot be found"))
    elif not isinstance(raw, dict) or not {"from", "to"} <= raw.keys():
        found.append(Problem(path, f"must have bounds, {{ from = 0.1, to = 10.0 }}, not {shorten(raw)}"))
    if found or quantity is None or not isinstance(raw, dict):
        problems += found
        return None
    found += [Problem(f"{path}.{key}", f"unknown key; {advise(str(key), keys)}") for key in raw if key not in keys]
    single = Quantity(
        quantity.name, quantity.unit, quantity.description, lower=quantity.lower, upper=quantity.upper, lower_open=quantity.lower_open,
        upper_open=quantity.upper_open,
    )  # fmt: skip
    given = start_of(raw, parameters.get(head), place, path, name, found)
    ends = {key: each for key in ("from", "to") if (each := read_number(single, f"{path}.{key}", raw[key], found)) is not None}
    scale = raw.get("scale", "log" if quantity.lower >= 0.0 and quantity.unit.startswith("N") else "linear")
    if scale not in SCALES:
        found.append(Problem(f"{path}.scale", f"{shorten(scale)} is none of {', '.join(SCALES)}"))
    if len(ends) == 2 and not found:
        check_ends(path, ends["from"], ends["to"], scale == "log", quantity.unit, found)
    if found:
        problems += found
        return None
    lower, upper = ends["from"], ends["to"]
    prior = None
    if "prior" in raw:
        read = read_prior(raw["prior"], single, f"{path}.prior", scale == "log", (lower, upper), problems)
        prior = None if read is None else Prior(*read)
    middle = math.sqrt(lower * upper) if scale == "log" else 0.5 * (lower + upper)
    where, value = given if given is not None else (path, middle)
    start = read_number(single, where, value, problems)
    if start is not None and not lower <= start <= upper:
        message = f"the start {start:g} is outside the bounds of {path}, from {lower:g} to {upper:g} (unit {quantity.unit})"
        problems.append(Problem(where, message))
    return None if start is None else Free(name, quantity, place, lower, upper, scale == "log", start, prior)


def start_of(raw: Mapping[str, Any], given: Any, node: int | None, path: str, head: str, found: list[Problem]) -> tuple[str, Any] | None:
    """The key and the value of the start of the parameter `head`: from `start`, else from [parameters]; None if neither gives one."""
    if node is not None:
        table = head.partition("[")[0]
        if not isinstance(given, list):
            found.append(Problem(path, f"[parameters] must give the table {table}, of which this is a node"))
            return None
        if node >= len(given):
            found.append(Problem(path, f"the table {table} of [parameters] has {len(given)} nodes, from {table}[0] on"))
            return None
        given = given[node]
    if "start" in raw:
        return f"{path}.start", raw["start"]
    return None if given is None else (f"parameters.{head}", given)


def check_ends(path: str, lower: float, upper: float, logarithmic: bool, unit: str, found: list[Problem]) -> None:
    """Check that the bounds form a range on their scale."""
    if lower >= upper:
        found.append(Problem(path, f"from must be below to: from = {lower:g}, to = {upper:g} (unit {unit})"))
    elif logarithmic and lower <= 0.0:
        message = f'a logarithm needs positive bounds: from = {lower:g}, to = {upper:g} (unit {unit}); or scale = "linear"'
        found.append(Problem(path, message))


def at_values(parameters: Mapping[str, Any], frees: Sequence[Free], values: Sequence[float]) -> dict[str, Any]:
    """[parameters] with the free parameters replaced by numbers."""
    changed = {key: list(value) if isinstance(value, list) else value for key, value in parameters.items()}
    for free, value in zip(frees, values, strict=True):
        if free.node is None:
            changed[free.name] = float(value)
        else:
            changed[free.quantity.name][free.node] = float(value)
    return changed


def with_tests(study: Mapping[str, Any], parts: Sequence[Mapping[str, list[Any]]], frees: Sequence[Free]) -> dict[str, Any]:
    """The study with the free parameters at their start and the tests as points: one per row, and the last sample of each trace."""
    designs = [{"design": "zip", "axes": dict(axes)} for axes in parts]
    everywhere = {name for name in (parts[0] if parts else ()) if all(name in axes for axes in parts)}
    window = {"window"} if "window_end" in everywhere else set()
    kept = {
        key: {name: value for name, value in study.get(key, {}).items() if name not in everywhere | window}
        for key in ("parameters", "time")
    }
    kept["parameters"] = at_values(kept["parameters"], frees, [free.start for free in frees])
    changed = {**study, **kept}
    return {**changed, "sweep": designs[0] if len(designs) == 1 else designs} if designs else changed


def with_scheme(tests: dict[str, Any], frees: Sequence[Free]) -> dict[str, Any]:
    """A study of loops with the scheme that its friction needs as a study; loops themselves need none."""
    if not any(name in SCHEMED for name in (*tests.get("parameters", {}), *(free.name for free in frees))):
        return tests
    return {**tests, "study": {**tests.get("study", {}), "scheme": STEPPED}}


def in_words(problem: Problem, varied: Sequence[tuple[Mapping[str, Any], Source]], data: Measurements) -> Problem:
    """A problem of the generated study, reworded to name the file and the test instead of the design and the point."""
    first = {test: data.runs[run] for run, test in reversed(list(enumerate(data.tests.tolist())))}

    def named(found: re.Match[str]) -> str:
        return f"{first.get(int(found[1]), found[0])}: "

    message = re.sub(r"\bpoint (\d+): ", named, problem.message).replace(" points)", " tests)")
    axis = re.fullmatch(r"sweep(?:\[(\d+)\])?\.axes\.(.+)", problem.path)
    if axis is None:
        return Problem(problem.path, message)
    axes, source = varied[int(axis[1] or 0)]
    column = max((name for name in axes if axis[2].startswith(name)), key=len, default=axis[2])
    return Problem(f"{source.path}: {source.file.name}, column {column}", message)


def absolute(section: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """[calibration] with absolute paths."""
    found = dict(section)
    if isinstance(found.get("data"), str):
        found["data"] = str((folder / found["data"]).absolute())
    for key in ("traces", "loops"):
        if key in found:
            found[key] = [{**each, "file": str((folder / each["file"]).absolute())} for each in found[key]]
    return found
