"""Reading [excitation] of a study: records or random draws, and the parameters that they add to the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models import MODELS, Model, Rule
from tribosweep.kernels.models.quantity import Quantity, Values, by_name
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.excitation.compatible import Compatible
from tribosweep.sweep.excitation.compatible_channels import CompatibleChannels
from tribosweep.sweep.excitation.correlated import Correlated
from tribosweep.sweep.excitation.records import ACCELERATION, FORCE, TIME, UNITS, Record, Recorded, read_record, same_sampling
from tribosweep.sweep.io.errors import Problem, shorten
from tribosweep.sweep.io.tables import MOST_NUMBERS
from tribosweep.sweep.io.toml import inline
from tribosweep.sweep.study import response_spectra
from tribosweep.sweep.study.document import NEEDED
from tribosweep.sweep.study.random_excitation import Channels, Drawn, read_random
from tribosweep.sweep.study.schema_excitation import Excitation as Section

ZERO = "zero"
MOST_DRAWS = 2**31 - 1
NUMBER = Quantity(DRAW, "", "number of the random acceleration: draw n is the same in every study with that spectrum", kind="integer",
                  default=0.0, lower=0.0, upper=float(MOST_DRAWS))  # fmt: skip

Excitation = Recorded | Drawn


def files_of(records: Any) -> list[str]:
    """The files named by `excitation.records`; none if its type is wrong."""
    listed = [records] if isinstance(records, str) else records
    return listed if isinstance(listed, list) and all(isinstance(each, str) and each for each in listed) else []


def model_with(model: Model, section: Mapping[str, Any] | None) -> Model:
    """The model with the parameters that [excitation] adds or changes; its files need not exist.

    With records, `record` is a word: the name of a record, by default the only one. With random draws, `draw` is the number of a draw.
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


def kernel_model(model: Model) -> Model:
    """The model of a study with the parameters that the kernels read, and the rules of the study."""
    plain = MODELS[model.name] if model.structure is None else model.structure.model
    return replace(plain, rules=model.rules)


def check(
    section: Section | None, model: Model, raw: Mapping[str, Any], folder: Path, problems: list[Problem]
) -> tuple[Model, Excitation | None]:
    """Check [excitation] of a study; return it with the resulting model.

    Args:
        section: [excitation], or None. model: model of the study.
        raw: the study as given. folder: folder to which paths are relative. problems: list to which problems are added.
    """
    if section is None:
        return model, None
    channels = channels_of(model, problems)
    if channels is None:
        return model if RECORD not in by_name(model.parameters) else model_with(model, raw["excitation"]), None
    model = model_with(model, raw["excitation"])
    excitation = read_excitation(section, channels, folder, problems)
    if excitation is not None and section.extend is None:
        model = replace(model, rules=(*model.rules, lasting(excitation)))
    return model, excitation


def check_choice(model: Model, raw: Mapping[str, Any], paths: dict[str, str], problems: list[Problem]) -> None:
    """Check that each row has a record if and only if the study has records; enter into `paths` the key that messages on records name."""
    known = by_name(model.parameters)
    if RECORD not in known:  # a structure none of whose loads follows a record
        return
    if RECORD in paths and DRAW in known:
        problems.append(Problem(paths[RECORD], f"the records of this study are random draws: give {DRAW} instead"))
    elif RECORD in paths and "excitation" not in raw:
        problems.append(Problem(paths[RECORD], NEEDED[RECORD]))
    elif RECORD not in paths and "excitation" in raw:
        words = list(known[RECORD].words)
        if len(words) > 1:
            message = f"several records, but no row selects one: sweep record = {inline(words)} in [sweep.axes], or set it in [parameters]"
            problems.append(Problem("excitation.records", message))
        paths[RECORD] = "excitation.records" if words else "excitation.random.duration"


def channels_of(model: Model, problems: list[Problem]) -> Channels | None:
    """What the loads of a model follow; None and a problem if those of a structure follow nothing, or different things."""
    if model.structure is None:
        return Channels(ACCELERATION, 1, False)
    loads = {load.name: load for load in model.structure.loads if load.channel is not None}
    if not loads:
        problems.append(Problem("excitation", "no load follows it: give one of [loads] a channel, such as channel = 0"))
        return None
    kinds = {load.name: ACCELERATION if load.unit == UNITS[ACCELERATION] else FORCE for load in loads.values()}
    first = next(iter(kinds.values()))
    if different := [name for name, kind in kinds.items() if kind != first]:
        other = f"that of {next(iter(kinds))} one of {first}s"
        message = f"is a channel of {kinds[different[0]]}s, and {other}: [excitation] has one or the other"
        problems.append(Problem(f"loads.{different[0]}.channel", message))
        return None
    return Channels(first, 1 + max(load.channel for load in loads.values()), True)


def read_excitation(section: Section, channels: Channels, folder: Path, problems: list[Problem]) -> Excitation | None:
    """Check [excitation], adding to `problems`; None if there are any.

    Args:
        section: the section of the study. channels: what the loads follow. folder: folder to which paths are relative.
    """
    before = len(problems)
    if section.extend not in (None, ZERO):
        problems.append(Problem("excitation.extend", f'must be "{ZERO}" or left out, not {shorten(section.extend)}'))
    if section.random is not None:
        of_files = [key for key in ("records", "unit", "time", "acceleration", "channels", "sha256") if getattr(section, key) is not None]
        problems += [Problem(f"excitation.{key}", "is of records: leave out this or [excitation.random]") for key in of_files]
        drawn = read_random(section.random, channels, folder, problems)
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
    columns = columns_of(section, channels, problems)
    records = read_files(section, files, channels, columns, folder, problems) if columns else []
    return Recorded(tuple(records)) if len(problems) == before else None


def columns_of(section: Section, channels: Channels, problems: list[Problem]) -> list[str]:
    """The columns of the files with the channels of records; none and a problem if they are wrong."""
    given = section.channels
    if given is None and (channels.of == FORCE or section.acceleration is None):
        given = [channels.of]
    elif given is None:
        given = [section.acceleration]
    elif not channels.several:
        problems.append(Problem("excitation.channels", "are those of loads of a structure: an oscillator has acceleration = its column"))
        return []
    if not isinstance(given, list) or not given or not all(isinstance(name, str) and name for name in given):
        problems.append(Problem("excitation.channels", f'must be a list of columns, such as ["fx", "fy"], not {shorten(given)}'))
        return []
    if len(given) < channels.count:
        message = f"names {len(given)} column{'s' * (len(given) > 1)}, but a load follows channel {channels.count - 1}, counted from 0"
        problems.append(Problem("excitation.channels", message))
        return []
    return given


def read_files(
    section: Section, files: list[str], channels: Channels, columns: list[str], folder: Path, problems: list[Problem]
) -> list[Record]:
    """Read the valid records; add problems for the others."""
    found: list[Record] = []
    stems: dict[str, str] = {}
    for position, file in enumerate(files):
        where = "excitation.records" if isinstance(section.records, str) else f"excitation.records[{position}]"
        stem = Path(file).stem
        if stem in stems:
            problems.append(Problem(where, f"{file}: {stem!r} is the name of {stems[stem]} already; rename one of them"))
        stems.setdefault(stem, file)
        record = read_record(folder / file, section.time or TIME, columns, section.unit, where, problems, channels.of)
        if record is not None:
            found.append(record)
            rows, longest = len(files) * (record.samples.size // record.count), max(each.count for each in found)
            if rows * longest > MOST_NUMBERS:  # before the others are read
                message = f"{len(files):,} records of up to {longest:,} samples: all of them, as long as the longest, may have at most"
                problems.append(Problem("excitation.records", f"{message} {MOST_NUMBERS:,} samples"))
                return found
    if len(found) == len(files):
        same_sampling(found, "excitation.records", problems)
        if section.sha256 is not None and section.sha256 != [record.digest for record in found]:
            message = "the files are not those that the study was resolved with; leave this out to take them as they are now"
            problems.append(Problem("excitation.sha256", message))
    return found


def lasting(excitation: Excitation) -> Rule:
    """The rule that a run must not last longer than its record."""
    if isinstance(excitation, Recorded):
        reached = np.array([record.duration for record in excitation.records])
        names = [f"{record.path.name} (row {record.count})" for record in excitation.records]
    else:
        reached = np.array([excitation.interval * (excitation.samples - 1)])
        names = ["a draw"]

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
        given = {key: value for key in ("unit", "time", "acceleration", "channels") if (value := getattr(section, key)) is not None}
        records = files[0] if isinstance(section.records, str) else files
        return {"records": records, **given, **extend, "sha256": [record.digest for record in excitation.records]}
    if isinstance(excitation, Compatible | CompatibleChannels):
        return {**extend, "random": response_spectra.document(excitation)}
    single = excitation.single if isinstance(excitation, Correlated) else excitation
    spectrum = single.spectrum
    how = {"interpolation": "log"} if spectrum.logarithmic else {}
    taper = {"taper": list(single.ramps)} if any(single.ramps) else {}
    nodes = np.stack([spectrum.frequencies, spectrum.densities], axis=1).tolist()
    sizes = {"duration": excitation.duration, "interval": excitation.interval, "seed": excitation.seed}
    several = {}
    if isinstance(excitation, Correlated):
        several = {"correlation": excitation.correlation.tolist(), "factors": np.asarray(excitation.factors).tolist()}
    return {**extend, "random": {"spectrum": nodes, **how, **sizes, **taper, **several}}


def without_paths(section: Mapping[str, Any] | None) -> Any:
    """[excitation] of a document with names instead of paths, because the folders of files do not determine rows."""
    if section is None or "records" not in section:
        return section
    return {**section, "records": [Path(file).stem for file in files_of(section["records"])]}
