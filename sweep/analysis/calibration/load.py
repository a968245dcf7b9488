"""Reading a calibration from TOML; all problems are reported at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tribosweep.kernels.models.presliding import PRESLIDING
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.analysis.calibration.data import Measurements
from tribosweep.sweep.analysis.calibration.measured import read_data
from tribosweep.sweep.analysis.calibration.parameters import Space
from tribosweep.sweep.analysis.calibration.sources import Source, read_sources
from tribosweep.sweep.design.axis import RECORD
from tribosweep.sweep.design.priors import NOISE, Sampled, from_bounds
from tribosweep.sweep.io.errors import Problem
from tribosweep.sweep.io.toml import read_checked
from tribosweep.sweep.study import excitation as excitations
from tribosweep.sweep.study import load as studies
from tribosweep.sweep.study.calibration import CALIBRATION, KNOWN, Calibrate, Posterior
from tribosweep.sweep.study.capabilities import CALIBRATION as BY_DERIVATIVES
from tribosweep.sweep.study.capabilities import KEYS_OF_ASKED, check_derivatives
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.document import read_section
from tribosweep.sweep.study.free import Free, at_home, at_values, model_of, read_free, read_prior

SCHEMED, STEPPED = (*PRESLIDING, "stribeck_speed"), "rk54"  # what scheme exact does not have
NOISE_SCALE = Quantity("noise_scale", "1", "factor of the standard deviations of the data", lower=0.0, lower_open=True)
NOISE_BOUNDS = (1e-3, 1e3)
ANY_NOISE = from_bounds(NOISE_SCALE.name, NOISE_SCALE.unit, *NOISE_BOUNDS, logarithmic=True, role=NOISE)


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
        posterior: how the posterior is sampled, if that is wanted. noise: the factor of the standard deviations with its prior, which is
            sampled if it is not known.
    """

    config: Config
    section: dict[str, Any]
    space: Space
    data: Measurements
    starts: int
    seed: int
    confidence: float
    known: bool
    posterior: Posterior = field(default_factory=Posterior)
    noise: Sampled = ANY_NOISE


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
    without = "a calibration has a table [calibration], with data, free and compare"
    if (asked := read_section(Calibrate, CALIBRATION, raw, without, problems)) is None:
        return None
    if "sweep" in raw:
        problems.append(Problem("sweep", "a calibration has no design: its points are the tests of its data"))
    section, study = raw[CALIBRATION], {key: value for key, value in raw.items() if key not in (CALIBRATION, "sweep")}
    model, study, homes = model_of(study, asked.free, folder)
    if model is None:  # the check of the study gives a better message
        studies.check(study, source, folder, stem, problems)
        return None
    if isinstance(study.get("excitation"), dict) and RECORD in by_name(model.parameters):
        model = excitations.model_with(model, study["excitation"])
    check_derivatives(study, model, problems, BY_DERIVATIVES)
    noise = read_noise(asked, problems)
    frees = read_free(asked.free, model, study.get("parameters", {}), problems, f"{CALIBRATION}.free")
    at_home(problems, homes)
    sources = read_sources(asked, section, model, folder, problems)
    read = read_data(sources, model, {free.quantity.name for free in frees}, study, problems) if sources else None
    if read is not None and frees and read[0].count + sum(free.prior is not None for free in frees) < len(frees):
        message = f"{read[0].count} numbers were measured, too few for {len(frees)} free parameters: at least as many are needed"
        problems.append(Problem("calibration.free", message))
    found: list[Problem] = []
    if read is None or not frees:
        studies.check(study, source, folder, stem, found)
        at_home(found, homes)
        problems += found
        return None
    data, parts = read
    varied = [(axes, each) for axes, each in zip(parts, sources, strict=True) if axes]
    tests = with_tests(study, [axes for axes, _ in varied], frees)
    config = studies.check(tests if data.paths is None else with_scheme(tests, frees), source, folder, stem, found)
    found = [in_words(problem, varied, data) for problem in found]
    at_home(found, homes)
    problems += found
    if config is not None and data is not None:
        known = by_name(config.model.observables)
        compared = [known[name] for name in data.names if name in known]
        problems += [Problem("calibration.compare", why) for quantity in compared if (why := config.lacking(quantity))]
        if data.forces:
            message = "cannot be compared in one study with traces of forces"
            problems += [Problem("calibration.compare", f"{q.name} {message}") for q in compared if {*q.needs} & KEYS_OF_ASKED.keys()]
    if config is None or problems:
        return None
    return Calibration(
        config, absolute(section, folder), Space(frees), data, asked.starts, asked.seed, asked.confidence, asked.noise == KNOWN,
        asked.posterior, noise,
    )  # fmt: skip


def read_noise(asked: Calibrate, problems: list[Problem]) -> Sampled:
    """Read the factor of the standard deviations with its prior."""
    path, given = f"{CALIBRATION}.posterior.noise", asked.posterior.noise
    prior = None if given is None else read_prior(given, NOISE_SCALE, path, True, NOISE_BOUNDS, problems)
    if prior is None:
        return ANY_NOISE
    return Sampled(NOISE_SCALE.name, NOISE_SCALE.unit, *NOISE_BOUNDS, True, prior.law, prior.numbers, given=True, role=NOISE)


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
