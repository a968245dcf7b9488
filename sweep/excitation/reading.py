"""[excitation] of a study: records or random draws, checked, and what they make of the model's parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.models import MODELS, Model, Rule
from kernels.models.quantity import Quantity, by_name
from kernels.models.schemes import Values
from sweep.axes import number, number_like
from sweep.document import inline
from sweep.excitation.columns import Wanted, read_columns
from sweep.excitation.records import ACCELERATION, TIME, Record, Recorded, read_record, same_sampling
from sweep.excitation.spectrum import Spectrum
from sweep.excitation.stationary import Stationary
from sweep.problems import Problem, advise, shorten
from sweep.sections import DRAW, NEEDED, RECORD, Random
from sweep.sections import Excitation as Section
from sweep.units import DENSITY, spelled

ZERO = "zero"
INTERPOLATIONS = ("linear", "log")
MOST_DRAWS = 2**31 - 1
MOST_SAMPLES = 2**24  # of a draw
DEFAULT_SEED = 1
FREQUENCY = Quantity("frequency", "Hz", "frequency of a spectrum", lower=0.0)
PSD = Quantity("psd", DENSITY, "one-sided power spectral density of the acceleration", lower=0.0)
RMS = Quantity("rms", "m/s^2", "root mean square of the acceleration", lower=0.0, lower_open=True)
DURATION = Quantity("duration", "s", "of a draw", lower=0.0, lower_open=True)
INTERVAL = Quantity("interval", "s", "between the samples of a draw", lower=0.0, lower_open=True)
RAMP = Quantity("taper", "s", "ramp at an end of a draw", lower=0.0)
RANDOM = "excitation.random"
NUMBER = Quantity(DRAW, "", "number of the random acceleration: draw n is the same in every study with that spectrum", kind="integer",
                  default=0.0, lower=0.0, upper=float(MOST_DRAWS))  # fmt: skip

Excitation = Recorded | Stationary


def files_of(records: Any) -> list[str]:
    """The files that `excitation.records` names; none where it is misshapen."""
    listed = [records] if isinstance(records, str) else records
    return listed if isinstance(listed, list) and all(isinstance(each, str) and each for each in listed) else []


def model_with(model: Model, section: Mapping[str, Any] | None) -> Model:
    """A model as a study with that [excitation] has it, whether or not its files are there.

    With records, `record` is a word, one of their names, by default the only one; with random draws it is their number `draw`.
    """
    given = section or {}
    known = by_name(model.parameters)
    if given.get("random") is not None:
        known[RECORD] = replace(known[RECORD], default_rule="the draw")

        def derive(values: Values, xp: Any) -> dict[str, Any]:
            return {**model.derive(values, xp), RECORD: values[DRAW]}

        return replace(model, parameters=(NUMBER, *known.values()), derive=derive)
    names = tuple(dict.fromkeys(Path(file).stem for file in files_of(given.get("records"))))
    if not names:
        return model
    word = replace(known[RECORD], kind="word", words=names, description="record of the base acceleration", lower=-math.inf)
    known[RECORD] = replace(word, default=0.0, default_rule="") if len(names) == 1 else word
    return replace(model, parameters=tuple(known.values()))


def as_kernels_have_it(model: Model) -> Model:
    """A study's model with the parameters that kernels read, and the study's rules."""
    return replace(MODELS[model.name], rules=model.rules)


def check(
    section: Section | None, model: Model, raw: Mapping[str, Any], folder: Path, problems: list[Problem]
) -> tuple[Model, Excitation | None]:
    """[excitation] of a study, and the model as it makes it.

    Args:
        section: in shape; None where there is none. model: the study's.
        raw: the study as given. folder: that paths start from. problems: where problems are added.
    """
    if section is None:
        return model, None
    model = model_with(model, raw["excitation"])
    excitation = read_excitation(section, folder, problems)
    if excitation is not None and section.extend is None:
        model = replace(model, rules=(*model.rules, lasting(excitation)))
    return model, excitation


def check_choice(model: Model, raw: Mapping[str, Any], paths: dict[str, str], problems: list[Problem]) -> None:
    """Whether every row has a record where there are some, and none where there is none; messages on records go to their key."""
    known = by_name(model.parameters)
    if RECORD in paths and DRAW in known:
        problems.append(Problem(paths[RECORD], f"the records of this study are random draws: give {DRAW} instead"))
    elif RECORD in paths and "excitation" not in raw:
        problems.append(Problem(paths[RECORD], NEEDED[RECORD]))
    elif RECORD not in paths and "excitation" in raw:
        words = list(known[RECORD].words)
        if len(words) > 1:
            message = f"several records, of which no row takes one: sweep it, as in record = {inline(words)} in [sweep.axes], or set it"
            problems.append(Problem("excitation.records", message))
        paths[RECORD] = "excitation.records" if words else "excitation.random.duration"


def read_excitation(section: Section, folder: Path, problems: list[Problem]) -> Excitation | None:
    """Check [excitation], adding to `problems`; None where there are any.

    Args:
        section: as the study gives it. folder: that paths start from.
    """
    before = len(problems)
    if section.extend not in (None, ZERO):
        problems.append(Problem("excitation.extend", f'must be "{ZERO}" or left out, not {shorten(section.extend)}'))
    if section.random is not None:
        of_files = [key for key in ("records", "unit", "time", "acceleration", "sha256") if getattr(section, key) is not None]
        problems += [Problem(f"excitation.{key}", "is of records: leave out this or [excitation.random]") for key in of_files]
        drawn = read_random(section.random, folder, problems)
        return drawn if len(problems) == before else None
    if section.records is None:
        message = 'missing: give records = "quake.csv", say, or a table [excitation.random]'
        problems.append(Problem("excitation.records", message))
        return None
    files = files_of(section.records)
    if not files:
        problems.append(
            Problem(
                "excitation.records", f'must be a file or a list of files, such as ["a.csv", "b.parquet"], not {shorten(section.records)}'
            )
        )
        return None
    records = read_files(section, files, folder, problems)
    return Recorded(tuple(records)) if len(problems) == before else None


def read_files(section: Section, files: list[str], folder: Path, problems: list[Problem]) -> list[Record]:
    """The records that are sound."""
    names = {TIME: section.time or TIME, ACCELERATION: section.acceleration or ACCELERATION}
    found: list[Record] = []
    stems: dict[str, str] = {}
    for position, file in enumerate(files):
        where = "excitation.records" if isinstance(section.records, str) else f"excitation.records[{position}]"
        stem = Path(file).stem
        if stem in stems:
            problems.append(Problem(where, f"{file}: {stem!r} is the name of {stems[stem]} already; rename one of them"))
        stems.setdefault(stem, file)
        record = read_record(folder / file, names, section.unit, where, problems)
        if record is not None:
            found.append(record)
    if len(found) == len(files):
        same_sampling(found, "excitation.records", problems)
        if section.sha256 is not None and section.sha256 != [record.digest for record in found]:
            message = "the files are not those that the study was resolved with; leave this out to take them as they are now"
            problems.append(Problem("excitation.sha256", message))
    return found


def value_of(quantity: Quantity, value: Any, problems: list[Problem]) -> float | None:
    """A number of [excitation.random]; None, and a problem, where it is missing or none."""
    path = f"{RANDOM}.{quantity.name}"
    if value is None:
        problems.append(Problem(path, f"missing: a number in {quantity.unit} ({quantity.description})"))
        return None
    try:
        return number(quantity, value)
    except ValueError as error:
        problems.append(Problem(path, str(error)))
    return None


def read_random(section: Random, folder: Path, problems: list[Problem]) -> Stationary | None:
    """The random accelerations; None, and problems, where something is wrong."""
    before = len(problems)
    spectrum = read_spectrum(section, folder, problems)
    duration, interval = (value_of(quantity, getattr(section, quantity.name), problems) for quantity in (DURATION, INTERVAL))
    ramps = read_ramps(section.taper, problems)
    seed = DEFAULT_SEED if section.seed is None else section.seed
    if seed < 0:
        problems.append(Problem(f"{RANDOM}.seed", f"{seed} is out of bounds: must be >= 0"))
    if duration is not None and interval is not None:
        if not 2.0 <= duration / interval <= MOST_SAMPLES:
            count = f"{duration:g} s at an interval of {interval:g} s are {duration / interval + 1.0:.4g} samples"
            problems.append(Problem(f"{RANDOM}.interval", f"{count}: must be >= 3 and <= {MOST_SAMPLES:,}"))
        if ramps is not None and sum(ramps) > duration:
            problems.append(Problem(f"{RANDOM}.taper", f"ramps of {ramps[0]:g} and {ramps[1]:g} s do not fit into {duration:g} s"))
    if spectrum is not None and interval is not None and spectrum.frequencies[-1] >= 0.5 / interval:
        highest, need = spectrum.frequencies[-1], 0.05 / spectrum.frequencies[-1]
        message = (
            f"samples {interval:g} s apart know no frequency from {0.5 / interval:g} Hz on, and the spectrum goes to {highest:g} Hz; "
            f"straight lines between samples lose 6 % of the power there at an interval of {2.0 * need:.3g} s, 2 % at {need:.3g} s"
        )
        problems.append(Problem(f"{RANDOM}.interval", message))
    if spectrum is None or duration is None or interval is None or ramps is None or len(problems) > before:
        return None
    return Stationary(spectrum, duration, interval, seed, ramps)


def read_ramps(taper: Any, problems: list[Problem]) -> tuple[float, float] | None:
    """The ramps at both ends [s]; None, and a problem, where they are none."""
    if taper is None:
        return 0.0, 0.0
    if isinstance(taper, list) and len(taper) != 2:
        problems.append(Problem(f"{RANDOM}.taper", f"must be one time or two, [at the beginning, at the end], not {shorten(taper)}"))
        return None
    both = [value_of(RAMP, each, problems) for each in (taper if isinstance(taper, list) else [taper])]
    first, last = both[0], both[-1]
    return None if first is None or last is None else (first, last)


def read_spectrum(section: Random, folder: Path, problems: list[Problem]) -> Spectrum | None:
    """The spectrum, from a band, pairs or a file; None, and problems, where it is none."""
    before = len(problems)
    if (section.spectrum is None) == (section.band is None):
        how = "missing" if section.band is None else "is given as a spectrum and as a band: leave out one of them"
        form = "spectrum = [[1.0, 0.02], [20.0, 0.02]] in Hz and (m/s^2)^2/Hz, or band = [1.0, 20.0] in Hz with rms"
        problems.append(Problem(f"{RANDOM}.spectrum", f"{how}: {form}"))
        return None
    of_other = ("unit", "interpolation") if section.band is not None else ("rms",)
    home = "spectrum" if section.band is not None else "band"
    problems += [Problem(f"{RANDOM}.{key}", f"belongs to a {home}: leave it out") for key in of_other if getattr(section, key) is not None]
    if section.interpolation not in (None, *INTERPOLATIONS):
        advice = advise(str(section.interpolation), INTERPOLATIONS)
        problems.append(Problem(f"{RANDOM}.interpolation", f"{section.interpolation!r} is none; {advice}"))
    if section.band is not None:
        return read_band(section.band, section.rms, problems)
    if isinstance(section.spectrum, str):
        wanted = Wanted("frequency", "Hz", "frequency"), Wanted("psd", DENSITY, "psd", "", section.unit, f"{RANDOM}.unit")
        columns = read_columns(folder / section.spectrum, wanted, f"{RANDOM}.spectrum", problems)
        nodes = None if columns is None else np.stack(columns, axis=1)
        place = f"{RANDOM}.spectrum: {Path(section.spectrum).name}, row "
    else:
        nodes = read_pairs(section.spectrum, section.unit, problems)
        place = ""
    if nodes is None or len(problems) > before:
        return None
    check_nodes(nodes, place, section.interpolation == "log", problems)
    return Spectrum(nodes[:, 0], nodes[:, 1], section.interpolation == "log") if len(problems) == before else None


def read_band(band: Any, rms: Any, problems: list[Problem]) -> Spectrum | None:
    """A constant density between two frequencies."""
    size = value_of(RMS, rms, problems)
    ends: list[float] = []
    if not isinstance(band, list) or len(band) != 2:
        problems.append(Problem(f"{RANDOM}.band", f"must be two frequencies in Hz, such as [1.0, 20.0], not {shorten(band)}"))
    else:
        for position, value in enumerate(band):
            try:
                ends.append(number(FREQUENCY, value))
            except ValueError as error:
                problems.append(Problem(f"{RANDOM}.band[{position}]", str(error)))
    if len(ends) == 2 and not ends[0] < ends[1]:
        problems.append(Problem(f"{RANDOM}.band", f"must go up from one frequency to another, not from {ends[0]:g} to {ends[1]:g} Hz"))
        return None
    if len(ends) < 2 or size is None:
        return None
    return Spectrum(np.array(ends), np.full(2, size**2 / (ends[1] - ends[0])))


def read_pairs(pairs: Any, unit: str | None, problems: list[Problem]) -> np.ndarray | None:
    """(n, 2) frequencies and densities in SI units; None, and problems, where they are none."""
    path = f"{RANDOM}.spectrum"
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        problems.append(
            Problem(path, f"must be pairs [frequency, density], such as [[1.0, 0.02], [20.0, 0.02]], or a file, not {shorten(pairs)}")
        )
        return None
    found: list[list[float]] = []
    for position, pair in enumerate(pairs):
        nodes = []
        for quantity, value in zip((FREQUENCY, PSD), pair, strict=True):
            stated = f"{value!r} {spelled(unit)}" if quantity is PSD and unit is not None and number_like(value) else value
            try:
                nodes.append(number(quantity, stated))
            except ValueError as error:
                problems.append(Problem(f"{path}[{position}]", str(error)))
        found.append(nodes)
    return np.array(found) if all(len(nodes) == 2 for nodes in found) else None


def check_nodes(nodes: np.ndarray, place: str, logarithmic: bool, problems: list[Problem]) -> None:
    """Problems where nodes (n, 2) are no spectrum; `place` is where a row of their file stands, empty without one."""

    def say(row: int, message: str) -> None:
        problems.append(Problem(f"{place}{row + 1}" if place else f"{RANDOM}.spectrum[{row}]", message))

    if len(nodes) < 2:
        problems.append(Problem(f"{RANDOM}.spectrum", f"has {len(nodes)} frequencies: must have at least 2"))
        return
    for row, (f, s) in enumerate(nodes.tolist()):
        if f < 0.0 or s < 0.0:
            say(row, f"{f:g} Hz, {s:g} {DENSITY}: neither can be negative")
        elif logarithmic and (f == 0.0 or s == 0.0):
            say(row, f'{f:g} Hz, {s:g} {DENSITY}: interpolation = "log" needs numbers > 0; the density is 0 beyond the ends by itself')
        if row and f <= nodes[row - 1, 0]:
            say(row, f"frequency {f:g} Hz does not exceed the one before, {nodes[row - 1, 0]:g} Hz")
    if not nodes[:, 1].any():
        problems.append(Problem(f"{RANDOM}.spectrum", "is 0 everywhere: nothing would shake"))


def lasting(excitation: Excitation) -> Rule:
    """The rule that a run ends when its record does, or before."""
    if isinstance(excitation, Stationary):
        reached = np.array([excitation.interval * (excitation.samples - 1)])
        names = ["a draw"]
    else:
        reached = np.array([record.duration for record in excitation.records])
        names = [f"{record.path.name} (row {len(record.samples)})" for record in excitation.records]

    def which(values: Mapping[str, Any]) -> Any:
        return np.nan_to_num(values[RECORD]).astype(int) % len(reached) if len(reached) > 1 else 0

    def broken(values: Mapping[str, Any], _scheme: str) -> Any:
        there = ~np.isnan(values[RECORD]) if len(reached) > 1 else True
        return there & (np.asarray(values["end"]) > reached[which(values)] * (1.0 + 1e-9))

    def advice(values: Mapping[str, Any], _scheme: str) -> str:
        return f"{names[which(values)]} ends at {reached[which(values)]:.6g} s, end = {values['end']:g} s"

    sentence = f'a record must last until the end of the run; [excitation] extend = "{ZERO}" lets the ground rest after it'
    return Rule((RECORD, "end"), sentence, broken, advice)


def section_document(section: Section, excitation: Excitation) -> dict[str, Any]:
    """[excitation] in canonical form: paths absolute and digests of the files, numbers in SI units."""
    extend = {} if section.extend is None else {"extend": section.extend}
    if isinstance(excitation, Recorded):
        files = [str(record.path) for record in excitation.records]
        given = {key: value for key in ("unit", "time", "acceleration") if (value := getattr(section, key)) is not None}
        records = files[0] if isinstance(section.records, str) else files
        return {"records": records, **given, **extend, "sha256": [record.digest for record in excitation.records]}
    spectrum = excitation.spectrum
    how = {"interpolation": "log"} if spectrum.logarithmic else {}
    taper = {"taper": list(excitation.ramps)} if any(excitation.ramps) else {}
    nodes = np.stack([spectrum.frequencies, spectrum.densities], axis=1).tolist()
    sizes = {"duration": excitation.duration, "interval": excitation.interval, "seed": excitation.seed}
    return {**extend, "random": {"spectrum": nodes, **how, **sizes, **taper}}


def without_paths(section: Mapping[str, Any] | None) -> Any:
    """[excitation] of a document with names in place of paths: what determines rows."""
    if section is None or "records" not in section:
        return section
    return {**section, "records": [Path(file).stem for file in files_of(section["records"])]}
