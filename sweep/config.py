"""A study, read from TOML and checked as a whole: every problem is reported at once, and nothing runs before."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sweep
from kernels.models import MODELS, SINGLE_RULES, WEAR_LAW, Model
from kernels.models.quantity import Quantity, by_name
from kernels.models.schemes import BLOCKS, DOUBLE, EXACT, RUN, SINGLE, STEADY, Asked
from sweep.axes import SCHEME, Value, number, read_value, written
from sweep.design import Adaptive, Boundary, Convergence, Design, schemes_of
from sweep.document import inline, to_toml
from sweep.engines import KEYS_OF_ASKED, check_asked, check_precision, check_steady
from sweep.excitation import reading as excitations
from sweep.excitation.bank import fitting, most_draws
from sweep.excitation.reading import Excitation
from sweep.overrides import apply_overrides
from sweep.problems import ConfigError, Problem, advise, advise_path, shorten
from sweep.reading import Reading, read_sweep, sweep_document
from sweep.rules import check_fixed, check_rules
from sweep.sections import TIME_KEYS, Document, Time, belongs, read_document

SCHEMA_VERSION = 2
MOST_POINTS = 10**12
MOST_SHARDS = 10**6  # their names have six digits, so that they sort as their numbers do
SHARD_POINTS = (1, 2**20)  # least and most
SHARD_OF_EXACT, SHARD_OF_STEPS = 131_072, 8_192
DEFAULT_SCHEME = "exact"


@dataclass(frozen=True)
class Config:
    """A study that can be run.

    Attributes:
        source: where it was read, for messages.
        name: of the study, and of its directory.
        model: what is simulated.
        scheme: how, where the scheme is not swept.
        scheme_given: whether the study names or sweeps the scheme, so that the dataset has a column of it.
        fixed: parameter -> value in its unit, for what is set but not swept: a float, the code of a word, the (L,) nodes of a table; the
            window as window_start and window_end.
        precision: of the numbers that its programs compute with, "float64" or "float32".
        window: "steady" for one period of the steady motion; None for the window of the parameters.
        asked: block means and statistics, if any.
        design: the points.
        shard_points: how many of them a shard holds; the last, or the last of a level, may have fewer.
        excitation: records, or random draws; None for neither.
        paths: parameter -> key where it is set, for messages.
        document: the study as nested tables, in canonical order, with every path absolute.
        digest: SHA-256 of the study's name and all that determines its rows; tables and records count by their content, not by their path.
    """

    source: str
    name: str
    model: Model
    scheme: str
    scheme_given: bool
    fixed: dict[str, Value]
    precision: str
    window: str | None
    asked: Asked
    design: Design
    shard_points: int
    paths: dict[str, str] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    digest: str
    excitation: Excitation | None = None

    def to_toml(self) -> str:
        """The study as a file that runs it again, with the defaults in force as comments."""
        known = {*self.fixed, *(axis.name for axis in self.design.axes)}
        defaults = [
            f"# default: {q.name} = {q.default_rule or default_text(q)}{q.unit_suffix if not q.default_rule else ''}"
            for q in self.model.parameters
            if q.name not in known and not (self.window == STEADY and q.name in RUN)
        ]
        return to_toml(self.document) + "\n" + "\n".join(defaults) + "\n"

    @property
    def ignored(self) -> list[str]:
        """The keys that are given and that no scheme of the study reads, whatever their value."""
        schemes = schemes_of(self.design, self.scheme)
        unread = set.intersection(*(self.model.unread(scheme) for scheme in schemes)) - {*self.model.implied, SCHEME}
        needed = {name for quantity in self.returns for name in quantity.needs}
        laws = {q.name for q in WEAR_LAW if q.default is None}
        unread |= laws - needed if needed & laws else {q.name for q in WEAR_LAW}
        return [path for name, path in self.paths.items() if name in unread]

    @property
    def returns(self) -> tuple[Quantity, ...]:
        """The observables of a row."""
        return self.model.returns(self.window, {*self.fixed, *self.swept, *self.asked.names})

    def lacking(self, quantity: Quantity) -> str:
        """What keeps a study without an observable, in words; empty where it has it."""
        if quantity in self.returns:
            return ""
        there = {*self.fixed, *self.swept, *self.asked.names}
        missing = " and ".join(KEYS_OF_ASKED.get(name, f"parameters.{name}") for name in quantity.needs if name not in there)
        return f"{quantity.name} is told where the study gives {missing}" if missing else f'{quantity.name} is of a window = "{STEADY}"'

    @property
    def swept(self) -> list[str]:
        """The swept parameters, in the order of their axes; the scheme is not among them."""
        return list(dict.fromkeys(axis.name for axis in self.design.axes if axis.name != SCHEME))

    @property
    def most_draws(self) -> int:
        """How many different random draws the rows of a shard have at most."""
        return most_draws(self.design, self.shard_points)

    @property
    def shards(self) -> int:
        """How many shards hold the points; of a design that goes level by level, at most."""
        if isinstance(self.design, Boundary):
            return MOST_SHARDS
        levels = self.design.halvings + 1 if isinstance(self.design, Convergence) else 1
        return levels * -(-self.design.count // self.shard_points)

    def __reduce__(self) -> tuple[Any, ...]:
        """A study travels between processes as its document; where it arrives, it is read again and must be the same."""
        return recall, (self.document, self.digest, sweep.__version__)


def default_text(quantity: Quantity) -> str:
    """The default of a parameter that has one, as a file would give it."""
    if quantity.kind == "float":
        return f"{quantity.default:.12g}"
    return inline(written(quantity, quantity.default))


def load(config: Config | Mapping[str, Any] | str | os.PathLike[str], overrides: Sequence[str] = ()) -> Config:
    """Read and check a study.

    Args:
        config: path of a TOML file, the same as nested dicts, or a `Config` (returned as it is).
        overrides: "path=value" texts that replace keys before the check; the value is TOML, or else a word.

    Raises:
        ConfigError: with everything that is wrong.
    """
    if isinstance(config, Config):
        if overrides:
            raise ConfigError(config.source, [Problem("", "overrides change a file or a dict, not a Config that is already checked")])
        return config
    if isinstance(config, Mapping):
        source, raw, folder, name = "study", plain(config), Path.cwd(), "study"
    else:
        path = Path(config)
        source, raw, folder, name = str(config), read_toml(path), path.absolute().parent, path.stem
    problems: list[Problem] = []
    changed = apply_overrides(raw, overrides, problems)
    checked = check(raw, source, folder, name, problems)
    if checked is None:
        marked = [Problem(f"--set {p.path}" if under(p.path, changed) else p.path, p.message) for p in problems]
        raise ConfigError(source, marked)
    return checked


RECALLED: dict[str, Config] = {}


def recall(document: dict[str, Any], digest: str, version: str) -> Config:
    """The study that another process described, read once a process.

    Raises:
        ConfigError: it cannot be read here, or is another one here; `version` is that of the other tribosweep.
    """
    if digest not in RECALLED:
        config = load(document)
        if config.digest != digest:
            why = "the content of its files differs" if version == sweep.__version__ else "the versions differ"
            where = f"{socket.gethostname()}, tribosweep {sweep.__version__}"
            message = f"{where}: the study that tribosweep {version} sends is another one here: {why}"
            raise ConfigError(config.name, [Problem("", message)])
        RECALLED[digest] = config
    return RECALLED[digest]


def under(path: str, changed: list[str]) -> bool:
    """Whether a key's path is, or lies below, one that an override set."""
    return any(path == key or path.startswith((f"{key}.", f"{key}[", f"{key}:")) for key in changed)


def plain(value: Any) -> Any:
    """A copy of nested containers as dicts, lists and Python numbers; arrays become lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else os.fspath(value) if isinstance(value, os.PathLike) else value


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a file; ConfigError when it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_bytes().decode() + "\n")  # so that an error in the last line is said to be in that line
    except tomllib.TOMLDecodeError as error:
        twice = str(error).startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate"))
        message = f"a key is given twice {str(error)[str(error).rfind('(') :]}" if twice else f"not TOML: {error}"
    except UnicodeDecodeError as error:
        message = f"not TOML: not UTF-8 text (byte {error.start})"
    except RecursionError:
        message = "not TOML: nested too deeply"
    except (OSError, ValueError) as error:
        message = f"cannot be read: {error.strerror if isinstance(error, OSError) else error}{advise_path(path)}"
    raise ConfigError(str(path), [Problem("", message)])


def check(raw: dict[str, Any], source: str, folder: Path, default_name: str, problems: list[Problem]) -> Config | None:
    """Check everything, adding to `problems`; None when there are any."""
    if "calibration" in raw:
        problems.append(Problem("calibration", "this study is a calibration: tribosweep calibrate carries it out"))
        raw = {key: value for key, value in raw.items() if key != "calibration"}
    document = read_document(raw, problems)
    name = check_name(document.study.name if document.study.name is not None else default_name, problems)
    model, scheme = check_study(document, problems)
    model, excitation = excitations.check(document.excitation, model, raw, folder, problems)
    if document.study.precision == SINGLE:
        model = replace(model, rules=(*model.rules, *SINGLE_RULES))
    fixed: dict[str, Value] = {}
    paths: dict[str, str] = {}
    check_parameters(document.parameters, model, fixed, paths, problems)
    check_time(document.time, model, fixed, paths, problems)
    read = read_sweep(document.sweep, model, scheme, fixed, folder, problems)
    check_axes(read, paths, problems)
    excitations.check_choice(model, raw, paths, problems)
    design = read.design
    window = STEADY if document.time.window == STEADY else None
    if window == STEADY:
        check_steady(model, schemes_of(design, scheme), paths, problems)
    asked = check_asked(document, problems)
    check_precision(document.study.precision, model, schemes_of(design, scheme), window, asked, paths, design, problems)
    shard_points = check_shards(document.output.shard_points, design, schemes_of(design, scheme), window, asked, excitation, problems)
    if problems:
        swept = {str(name) for part in document.sweep for name in part.axes or {}}
        if all(part.file is None for part in document.sweep):
            unsure = {SCHEME} if any(problem.path == "study.scheme" for problem in problems) else set()
            problems += check_fixed(model, scheme, fixed, paths, swept | unsure | (paths.keys() - fixed.keys()))
        return None
    fixed = {quantity.name: fixed[quantity.name] for quantity in model.parameters if quantity.name in fixed}
    canonical = canonical_document(document, name, model, fixed, read, excitation, folder)
    nameless = {**canonical, "sweep": without_files(canonical.get("sweep"))}
    if excitation is not None:
        nameless["excitation"] = excitations.without_paths(canonical["excitation"])
    content = json.dumps([SCHEMA_VERSION, shard_points, read.digests, nameless])
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
    )
    problems += check_sought(config)
    problems += check_rules(config)
    return None if problems else config


def check_name(name: str, problems: list[Problem]) -> str:
    """The study's name, which also names its directory."""
    if not name.strip() or name in (".", "..") or "/" in name or "\\" in name or not name.isprintable():
        problems.append(Problem("study.name", f"{name!r} cannot name a directory: leave out slashes and control characters"))
    return name


def check_study(document: Document, problems: list[Problem]) -> tuple[Model, str]:
    """The model and the scheme; where one is unknown, its default, so that the rest can be checked."""
    model = MODELS.get(document.study.model)
    if model is None:
        problems.append(Problem("study.model", f"{document.study.model!r} is not a model; {advise(document.study.model, MODELS)}"))
        model = next(iter(MODELS.values()))
    scheme = document.study.scheme or DEFAULT_SCHEME
    if scheme not in model.schemes:
        problems.append(Problem("study.scheme", f"{scheme!r} is not a scheme of {model.name}; {advise(scheme, model.schemes)}"))
        scheme = model.schemes[0]
    return model, scheme


def check_parameters(raw: dict[str, Any], model: Model, fixed: dict[str, Value], paths: dict[str, str], problems: list[Problem]) -> None:
    """[parameters] into `fixed` and `paths`."""
    quantities = {quantity.name: quantity for quantity in model.parameters if quantity.name not in TIME_KEYS}
    for name, value in raw.items():
        path = f"parameters.{name}"
        if name not in quantities:
            problems.append(Problem(path, belongs(str(name), model)))
            continue
        paths[name] = path
        found: list[Problem] = []
        read = read_value(quantities[name], path, value, found)
        if not found:
            fixed[name] = read
            continue
        several = value if quantities[name].kind == "list" and isinstance(value, list) else [value]
        advice = "; several values go to [sweep.axes]" if any(isinstance(item, list | dict) for item in several) else ""
        problems += [Problem(problem.path, f"{problem.message}{advice}") for problem in found]


def check_time(time: Time, model: Model, fixed: dict[str, Value], paths: dict[str, str], problems: list[Problem]) -> None:
    """[time] into `fixed` and `paths`."""
    entries = [(name, f"time.{name}", getattr(time, name)) for name in Time.model_fields if name not in ("window", BLOCKS)]
    if isinstance(time.window, list) and len(time.window) == 2:
        entries += [("window_start", "time.window[0]", time.window[0]), ("window_end", "time.window[1]", time.window[1])]
    elif time.window is not None and time.window != STEADY:
        problems.append(Problem("time.window", f'must be two times [start, end] in s, or "{STEADY}", not {shorten(time.window)}'))
    for name, path, value in entries:
        if value is None:
            continue
        paths[name] = path
        try:
            fixed[name] = number(model.parameter(name), value)
        except ValueError as error:
            problems.append(Problem(path, str(error)))


def check_axes(read: Reading, paths: dict[str, str], problems: list[Problem]) -> None:
    """Add the axes to `paths`. What [parameters] or [time] set too is given twice, unless parts of the design are without that axis."""
    given = dict(paths)
    for name, path, everywhere in read.paths:
        if name in given and (everywhere or given[name] == "study.scheme"):
            problems.append(Problem(path, f"given twice: also in {given[name]}"))
        paths[name] = path


def check_sought(config: Config) -> list[Problem]:
    """What is wrong with the observable that an adaptive design looks at: that this study has none of the name."""
    if not isinstance(config.design, Adaptive):
        return []
    lacking = config.lacking(by_name(config.model.observables)[config.design.observable])
    return [Problem("sweep.observable", lacking)] if lacking else []


def check_shards(
    given: int | None,
    design: Design,
    schemes: list[str],
    window: str | None,
    asked: Asked,
    excitation: Excitation | None,
    problems: list[Problem],
) -> int:
    """How many points a shard holds: what [output] says, else what takes seconds on a small machine and fills a large one.

    That depends on the study alone, so that whoever computes a shard computes the same one. The random draws of a shard must fit into
    memory.
    """
    least, most = SHARD_POINTS
    quick = set(schemes) <= {EXACT} and window != STEADY and not asked.names and excitation is None
    points = given if given is not None else (SHARD_OF_EXACT if quick else SHARD_OF_STEPS)
    if excitation is not None and not problems:
        points = fitting(design, excitation, points, given is not None, problems)
    if given is not None and not least <= given <= most:
        problems.append(Problem("output.shard_points", f"{given} is out of bounds: must be >= {least} and <= {most} (points of a shard)"))
    elif not problems and design.count > MOST_POINTS:
        problems.append(Problem("sweep", f"{design.count:.3g} points: a study has at most {MOST_POINTS:.0e}"))
    elif not problems and not isinstance(design, Adaptive) and design.count > points * MOST_SHARDS:
        need = -(-design.count // MOST_SHARDS)
        message = f"{points} is too few for {design.count:.7g} points: must be >= {need}, for a study has at most {MOST_SHARDS:,} shards"
        problems.append(Problem("output.shard_points", message))
    return points


def canonical_document(
    document: Document, name: str, model: Model, fixed: dict[str, Value], read: Reading, excitation: Excitation | None, folder: Path
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
    tables: dict[str, Any] = {
        "study": {key: value for key, value in study.items() if value is not None},
        "parameters": {key: written(model.parameter(key), value) for key, value in fixed.items() if key not in TIME_KEYS},
        "time": time,
        "excitation": {}
        if excitation is None or document.excitation is None
        else excitations.section_document(document.excitation, excitation),
        "sweep": sweep_document(document.sweep, read.design, folder),
        "output": {key: value for key, value in dict(document.output).items() if value not in (None, False)},
    }
    return {key: table for key, table in tables.items() if table}


def without_files(sweeps: dict[str, Any] | list[dict[str, Any]] | None) -> Any:
    """[sweep] without the paths of its tables."""
    if isinstance(sweeps, list):
        return [without_files(each) for each in sweeps]
    return sweeps if sweeps is None else {key: value for key, value in sweeps.items() if key != "file"}
