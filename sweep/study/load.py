"""Reading a study from TOML; all problems are reported at once."""

from __future__ import annotations

import copyreg
import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tribosweep.kernels.models import MODELS, SINGLE_RULES, Model
from tribosweep.kernels.models.outputs import BLOCKS
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.schemes import DOUBLE, EXACT, SINGLE, STEADY
from tribosweep.kernels.models.signals import Signals
from tribosweep.kernels.models.structure_model import WHY_NOT_EXACT
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import Adaptive, schemes_of
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, first_of, shorten
from tribosweep.sweep.io.toml import apply_overrides, read_source
from tribosweep.sweep.io.values import Value, read_number, read_value, written
from tribosweep.sweep.io.version import SCHEMA_VERSION, VERSION
from tribosweep.sweep.study import excitation as excitations
from tribosweep.sweep.study import load_tables, structures
from tribosweep.sweep.study.builder import Study
from tribosweep.sweep.study.capabilities import check_asked, check_columns, check_precision, check_uses, uses_of
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.designs import ParsedSweep, read_sweep, sweep_document
from tribosweep.sweep.study.document import OTHER_COMMANDS, belongs, read_document
from tribosweep.sweep.study.event import named_in, read_events
from tribosweep.sweep.study.excitation import Excitation
from tribosweep.sweep.study.rules import check_fixed, check_rules
from tribosweep.sweep.study.schema import TIME_KEYS, WINDOW, Document, Time
from tribosweep.sweep.study.shard_size import check_shards
from tribosweep.sweep.study.signals import check_segment, read_signals, section_document
from tribosweep.sweep.study.subset_simulation import check_limit

DEFAULT_SCHEME = "exact"


def load(config: Config | Study | Mapping[str, Any] | str | os.PathLike[str], overrides: Sequence[str] = ()) -> Config:
    """Read and check a study.

    Args:
        config: path of a TOML file, the name of a shipped study, its content as nested dicts, a `Study`, or a `Config` (returned as it is).
        overrides: "path=value" texts that replace keys before the check; a value is TOML, or else a word.

    Returns:
        The study as data: every value in SI units, the design, and `to_toml()`.

    Raises:
        ConfigError: lists everything that is wrong.

    Examples:
        >>> study = tribosweep.load({"parameters": {"m": "800 g"}, "sweep": {"axes": {"mu": [0.1, 0.2]}}})
        >>> study.fixed["m"], study.design.count
        (0.8, 2)
    """
    if isinstance(config, Config):
        if overrides:
            raise ConfigError(config.source, [Problem("", "overrides change a file or a dict, not a Config that is already checked")])
        return config
    source, raw, folder, name = read_source(config.document if isinstance(config, Study) else config)
    problems: list[Problem] = []
    changed = apply_overrides(raw, overrides, problems)
    checked = check(raw, source, folder, name, problems)
    if checked is None:
        marked = [Problem(f"--set {p.path}" if is_below(p.path, changed) else p.path, p.message) for p in problems]
        raise ConfigError(source, marked)
    return checked


def by_document(config: Config) -> tuple[Any, ...]:
    """Pickle a study as its document, which the receiving process reads and checks again."""
    return recall, (config.document, config.digest, VERSION)


copyreg.pickle(Config, by_document)
RECALLED: dict[str, Config] = {}


def recall(document: dict[str, Any], digest: str, version: str) -> Config:
    """Read the study that another process described; each process reads it only once.

    Raises:
        ConfigError: it cannot be read here, or it differs here; `version` is that of the other tribosweep.
    """
    if digest not in RECALLED:
        config = load(document)
        if config.digest != digest:
            why = "the content of its files differs" if version == VERSION else "the versions differ"
            where = f"{socket.gethostname()}, tribosweep {VERSION}"
            message = f"{where}: the study that tribosweep {version} sends is another one here: {why}"
            raise ConfigError(config.name, [Problem("", message)])
        RECALLED[digest] = config
    return RECALLED[digest]


def is_below(path: str, changed: list[str]) -> bool:
    """Whether the path of a key is equal to or below one that an override set."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[", f"{key}:")) for key in changed)


def check(
    raw: dict[str, Any], source: str, folder: Path, default_name: str, problems: list[Problem], command: str | None = None
) -> Config | None:
    """Check a study, for a `command` in `capabilities.USES` if one carries it out, and append to `problems`; None if there are any."""
    for section, (what, word) in OTHER_COMMANDS.items():
        if section in raw:
            problems.append(Problem(section, f"this study is {what}: tribosweep {word} carries it out"))
            raw = {key: value for key, value in raw.items() if key != section}
    document = read_document(raw, problems)
    name = check_name(document.study.name if document.study.name is not None else default_name, problems)
    read = structures.read(document, folder, problems)
    model, scheme = check_study(document, read.model, problems)
    if not read.whole:  # which parameters there are depends on the structure
        return None
    model, excitation = excitations.check(document.excitation, model, raw, folder, problems)
    if document.study.precision == SINGLE:
        model = replace(model, rules=(*model.rules, *SINGLE_RULES))
    fixed: dict[str, Value] = {}
    paths: dict[str, str] = {}
    raw_parameters, homes = structures.with_parameters(document, problems)
    load_tables.expand(raw_parameters, homes, model, folder, problems)
    check_parameters(raw_parameters, homes, model, fixed, paths, problems)
    check_time(document.time, model, fixed, paths, problems)
    swept_points = read_sweep(document.sweep, model, scheme, fixed, folder, problems)
    unused = check_axes(swept_points, fixed, paths, problems)
    excitations.check_choice(model, raw, paths, problems)
    design = swept_points.design
    window = STEADY if document.time.window == STEADY else None
    schemes = schemes_of(design, scheme)
    asked = check_asked(document, model, problems)
    given = {*fixed, *(axis.name for axis in design.axes), *asked.names}
    check_columns(asked, model.returns(window, given), design, model, problems)
    check_precision(document.study.precision, problems)
    uses = uses_of(window, document.study.precision, asked, design, document.output.signals is not None)
    check_uses(model, schemes, paths, uses if command is None else (command, *uses), problems)
    signals = read_signals(document.output.signals, model, problems)
    check_segment(signals, {name: fixed[name] for name in fixed.keys() - {axis.name for axis in design.axes}}, problems)
    shard_points = check_shards(document.output.shard_points, design, schemes, window, asked, excitation, problems)
    if problems:
        swept = {str(name) for part in document.sweep for name in part.axes or {}}
        if all(part.file is None for part in document.sweep):
            unsure = {SCHEME} if any(problem.path == "study.scheme" for problem in problems) else set()
            wrong = {problem.path for problem in problems}
            unsure |= {name for name, path in paths.items() if path in wrong} | {name for name in TIME_KEYS if f"time.{name}" in wrong}
            problems += check_fixed(model, scheme, fixed, paths, swept | unsure | (paths.keys() - fixed.keys()))
        return None
    fixed = {quantity.name: fixed[quantity.name] for quantity in model.parameters if quantity.name in fixed}
    canonical = canonical_document(document, name, model, fixed, swept_points, excitation, folder, signals)
    canonical = structures.placed(canonical, structures.section_documents(document, read))
    if unwritable(canonical):
        problems.append(
            Problem("", "the path of one of its files is no UTF-8 text, so that no file can name it: rename the file or its folder")
        )
        return None
    nameless = structures.without_paths({**canonical, "sweep": without_files(canonical.get("sweep"))})
    if excitation is not None:
        nameless["excitation"] = excitations.without_paths(canonical["excitation"])
    content = json.dumps([SCHEMA_VERSION, shard_points, swept_points.digests, nameless])
    config = Config(
        source=source,
        name=name,
        model=model,
        scheme=scheme,
        scheme_given=document.study.scheme is not None or SCHEME in paths,
        fixed=fixed,
        precision=document.study.precision,
        window=window,
        asked=asked,
        design=design,
        shard_points=shard_points,
        paths=paths,
        document=canonical,
        digest=hashlib.sha256(content.encode()).hexdigest(),
        excitation=excitation,
        unused=unused,
        signals=signals,
    )
    problems += check_sought(config)
    problems += check_limit(config)
    problems += check_rules(config)
    return None if problems else config


def check_name(name: str, problems: list[Problem]) -> str:
    """Check the study's name, which is also the name of its directory."""
    if not name.strip() or name in (".", "..") or "/" in name or "\\" in name or not name.isprintable():
        problems.append(Problem("study.name", f"{name!r} cannot name a directory: leave out slashes and control characters"))
    return name


def check_study(document: Document, structure: Model | None, problems: list[Problem]) -> tuple[Model, str]:
    """Read the model and the scheme; an unknown one is replaced by its default, so that the rest can be checked.

    `structure` is the model of the structure that the study describes, if it does.
    """
    model = structure or MODELS.get(document.study.model)
    if model is None and document.study.model in structures.NAMES:  # its problems are said already
        return next(iter(MODELS.values())), DEFAULT_SCHEME
    if model is None:
        known = [*MODELS, *structures.NAMES]
        problems.append(Problem("study.model", f"{document.study.model!r} is not a model; {advise(document.study.model, known)}"))
        model = next(iter(MODELS.values()))
    scheme = document.study.scheme or (DEFAULT_SCHEME if model.structure is None else structures.DEFAULT_SCHEME)
    if scheme not in model.schemes:
        why = f"{WHY_NOT_EXACT}; " if scheme == EXACT and model.structure is not None else f"{scheme!r} is not a scheme of {model.name}; "
        problems.append(Problem("study.scheme", f"{why}{advise(scheme, model.schemes)}"))
        scheme = model.schemes[0]
    return model, scheme


def check_parameters(
    raw: dict[str, Any],
    homes: Mapping[str, str],
    model: Model,
    fixed: dict[str, Value],
    paths: dict[str, str],
    problems: list[Problem],
) -> None:
    """Read [parameters] into `fixed` and `paths`; `homes` are the keys of those that stand in another section."""
    quantities = {quantity.name: quantity for quantity in model.parameters if quantity.name not in TIME_KEYS}
    unknown = [str(name) for name in raw if name not in quantities]
    problems += first_of(unknown, lambda name: Problem(homes.get(name, f"parameters.{name}"), belongs(name, model)), "parameters", "keys")
    for name, value in raw.items():
        if name not in quantities:
            continue
        path = paths[name] = homes.get(name, f"parameters.{name}")
        found: list[Problem] = []
        read = read_value(quantities[name], path, value, found)
        if not found:
            fixed[name] = read
            continue
        several = value if quantities[name].kind == "list" and isinstance(value, list) else [value]
        advice = "; several values go to [sweep.axes]" if any(isinstance(item, list | dict) for item in several) else ""
        problems += [Problem(problem.path, f"{problem.message}{advice}") for problem in found]


def check_time(time: Time, model: Model, fixed: dict[str, Value], paths: dict[str, str], problems: list[Problem]) -> None:
    """Read [time] into `fixed` and `paths`."""
    for name in Time.model_fields:
        if name not in ("window", BLOCKS) and (value := getattr(time, name)) is not None:
            paths[name], fixed[name] = f"time.{name}", value
    if isinstance(time.window, list) and len(time.window) == 2:
        known = by_name(model.parameters)
        for place, name in enumerate(WINDOW):
            paths[name] = f"time.window[{place}]"
            if (read := read_number(known[name], paths[name], time.window[place], problems)) is not None:
                fixed[name] = read
    elif time.window is not None and time.window != STEADY:
        problems.append(Problem("time.window", f'must be two times [start, end] in s, or "{STEADY}", not {shorten(time.window)}'))


def check_axes(read: ParsedSweep, fixed: dict[str, Value], paths: dict[str, str], problems: list[Problem]) -> tuple[str, ...]:
    """Add the axes to `paths`, and remove nominal values from `fixed` that no row uses because an axis of every part gives the key.

    Returns:
        One sentence for each nominal value that is not used.
    """
    given, unused = dict(paths), {}
    for name, path, everywhere in read.paths:
        if name in given and (given[name] in (f"parameters.{name}", f"time.{name}") or given[name].startswith(structures.SECTIONS)):
            if everywhere:
                unused[name] = f"{given[name]} is a nominal value that no row uses: {path} gives {name}"
        elif name in given and (everywhere or given[name] == "study.scheme"):
            problems.append(Problem(path, f"given twice: also in {given[name]}"))
        paths[name] = path
    for name in unused:
        fixed.pop(name, None)
    return tuple(unused.values())


def check_sought(config: Config) -> list[Problem]:
    """The problem of an adaptive design that seeks an observable which the study lacks."""
    if not isinstance(config.design, Adaptive):
        return []
    design, known, key = config.design, by_name(config.model.observables), "event"
    if isinstance(design, SubsetSimulation):
        names: Sequence[str] = design.observables
    elif isinstance(design, Boundary) and design.event:
        names = named_in(read_events("sweep.event", [design.event], config.model)[0])
    else:
        names, key = [design.observable], "observable"
    return [Problem(f"sweep.{key}", lacking) for name in names if (lacking := config.lacking(known[name]))]


def canonical_document(
    document: Document,
    name: str,
    model: Model,
    fixed: dict[str, Value],
    read: ParsedSweep,
    excitation: Excitation | None,
    folder: Path,
    signals: Signals | None,
) -> dict[str, Any]:
    """The study in canonical order, numbers as floats, paths absolute; reading it again gives the same points."""
    precision = document.study.precision if document.study.precision != DOUBLE else None
    study = {"name": name, "model": document.study.model, "scheme": document.study.scheme, "precision": precision}
    time: dict[str, Any] = {key: fixed[key] for key in Time.model_fields if key in fixed}
    if "window_start" in fixed:
        time["window"] = [fixed["window_start"], fixed["window_end"]]
    elif document.time.window == STEADY:
        time["window"] = STEADY
    if document.time.blocks is not None:
        time["blocks"] = document.time.blocks
    output = {**dict(document.output), "signals": None if signals is None else section_document(signals)}
    known = by_name(model.parameters)
    tables: dict[str, Any] = {
        "study": {key: value for key, value in study.items() if value is not None},
        "parameters": {key: written(known[key], value) for key, value in fixed.items() if key not in TIME_KEYS},
        "time": time,
        "excitation": {}
        if excitation is None or document.excitation is None
        else excitations.section_document(document.excitation, excitation),
        "sweep": sweep_document(document.sweep, read.design, folder),
        "output": {key: value for key, value in output.items() if value not in (None, False)},
    }
    return {key: table for key, table in tables.items() if table}


def unwritable(document: dict[str, Any]) -> bool:
    """Whether a study names a file by bytes that are no UTF-8, which Python reads as halves of surrogate pairs."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def without_files(sweeps: dict[str, Any] | list[dict[str, Any]] | None) -> Any:
    """[sweep] without the paths of its tables."""
    if isinstance(sweeps, list):
        return [without_files(each) for each in sweeps]
    return sweeps if sweeps is None else {key: value for key, value in sweeps.items() if key != "file"}
