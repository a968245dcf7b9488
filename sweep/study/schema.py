"""The sections and keys of a study's TOML file, and the types of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernels.models import MODELS, TIME, Model
from kernels.models.schemes import DOUBLE
from sweep.design.axis import DRAW, RECORD
from sweep.io.errors import Problem, advise, first_of, shorten

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as in TOML


class TableSchema(BaseModel):
    """A table of the file; it accepts no other keys and converts no types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Study(TableSchema):
    """[study]: name, model and scheme."""

    name: str | None = Field(
        default=None, description="name of the study, of its default directory runs/NAME and of its reports; default the file's name"
    )
    model: str = Field(default="rubbing_mass", description="model of the oscillator; `tribosweep list models`")
    scheme: str | None = Field(
        default=None, description="scheme that computes the motion; default exact where the model has it; `tribosweep list schemes`"
    )
    precision: str = Field(default=DOUBLE, description="float64, or float32 for 7 digits at up to twice the speed")


class Time(TableSchema):
    """[time]: duration, steps and window."""

    end: Any = Field(default=None, description="end of the run [s]")
    step: Any = Field(
        default=None,
        description="of a fixed-step scheme the largest step [s], which divides the run into equal steps; first step of the others",
    )
    largest_step: Any = Field(default=None, description="largest step of the schemes that choose their steps [s]")
    smallest_step: Any = Field(
        default=None, description="smallest step of the schemes that choose their steps [s]; a run that needs a smaller one fails"
    )
    tolerance: Any = Field(
        default=None, description="largest error of a step of rk32 and rk54, relative to the largest displacement and speed so far"
    )
    retries: Any = Field(default=None, description="how many times adapt1 and adapt2 shorten one step before they take it as it is")
    window: Any = Field(
        default=None, description='[start, end] of the averages [s]; default the whole run; or "steady": one period of the steady motion'
    )
    blocks: Whole | None = Field(
        default=None, description="number of equal blocks of the window, each with its own wear power; default none"
    )


class Sweep(TableSchema):
    """[sweep]: the design and its points."""

    design: str = Field(
        default="grid", description="which points: grid, zip, table, boundary, convergence or a sample; `tribosweep list designs`"
    )
    count: Whole | None = Field(
        default=None, description="of a sample: its size; of an elementary design: trajectories (morris), points of each curve (fast)"
    )
    seed: Whole | None = Field(
        default=None, description="of a sample: what its random numbers follow from, together with the number of a point; default 1"
    )
    file: str | None = Field(
        default=None,
        description="of a table: the CSV or Parquet file with one row for each point, columns named as parameters, with "
        "a unit or without: a0 [mm/s^2]",
    )
    observable: str | None = Field(
        default=None, description="of a boundary: whose words or level; of a convergence study: which must settle"
    )
    digits: Whole | None = Field(default=None, description="of a convergence study: significant digits to which successive results agree")
    halvings: Whole | None = Field(
        default=None, description="of a convergence study: refinements at most; of a boundary: how often its coarse cells are halved"
    )
    level: Any = Field(default=None, description="of a boundary of a number: the value where it passes, in the unit of the observable")
    width: Any = Field(default=None, description="of a boundary: final width of its brackets, relative to the parameter")
    seeds: Any = Field(
        default=None,
        description="of a boundary: points such as [[15.0, 0.9]] whose cells are divided too, for islands that a coarse grid misses",
    )
    second_order: bool | None = Field(default=None, description="of saltelli: true for indices of pairs, with nearly twice the points")
    levels: Whole | None = Field(default=None, description="of morris: number of levels of each axis, even")
    harmonics: Whole | None = Field(default=None, description="of fast: number of harmonics of a curve")
    correlations: list[Any] | None = Field(
        default=None, description='of sobol, latin_hypercube and halton: ["a0", "mu", 0.5], the correlation of normal scores'
    )
    axes: dict[str, Any] | None = Field(default=None, description="the parameters that vary: lists, ranges, or distributions in a sample")


class Range(TableSchema):
    """An axis { from, to, count, spacing }; a range of a sampling design and a range of whole numbers have no count."""

    start: Any = Field(default=None, alias="from", description="first value; of a sample the least one")
    stop: Any = Field(default=None, alias="to", description="last value; of a sample the largest one")
    count: Whole | None = Field(default=None, description="number of values, ends included")
    spacing: str = Field(default="linear", description="linear, log, or integer for every whole number from one end to the other")


class Random(TableSchema):
    """[excitation.random]: random accelerations. `tribosweep list excitation` shows the descriptions."""

    spectrum: Any = Field(
        default=None,
        description="one-sided power spectral density: pairs [frequency, density] in Hz and (m/s^2)^2/Hz, or a CSV or Parquet file with "
        "the columns frequency and psd; 0 beyond its ends",
    )
    unit: str | None = Field(
        default=None, description="unit of the densities, such as g^2/Hz; default (m/s^2)^2/Hz, or what the file's header says"
    )
    interpolation: str | None = Field(
        default=None, description="straight lines between the pairs: linear (default), or log in both logarithms"
    )
    band: Any = Field(default=None, description="instead of a spectrum: a constant density between two frequencies [Hz]")
    rms: Any = Field(default=None, description="root mean square of the acceleration, for a band [m/s^2], such as 0.3 g in quotes")
    duration: Any = Field(default=None, description="duration of a draw [s]")
    interval: Any = Field(default=None, description="time between samples [s]; 1 / (2 interval) exceeds every frequency of the spectrum")
    seed: Whole | None = Field(default=None, description="seed of all draws, at least 0; default 1; it and n determine draw n")
    correlation: Any = Field(
        default=None,
        description="of the channels that the loads of a structure follow: { length, positions } [m] for exp(-distance / length), or a "
        "matrix; default none",
    )
    factors: Any = Field(default=None, description="factor of each channel; default 1")
    taper: Any = Field(default=None, description="ramps of half a cosine at both ends [s], or [at the beginning, at the end]; default none")


class Excitation(TableSchema):
    """[excitation]: excitations other than sines, described as in `Random`."""

    records: Any = Field(
        default=None,
        description="CSV or Parquet files with the columns time and acceleration, evenly sampled from t = 0; parameter record is one of "
        "their names, without folder and ending",
    )
    unit: str | None = Field(default=None, description="unit of the accelerations, such as g; default m/s^2, or what the header says")
    time: str | None = Field(default=None, description="name of the column time in the files")
    acceleration: str | None = Field(default=None, description="name of the column acceleration in the files")
    channels: Any = Field(
        default=None,
        description="of a structure: names of the columns that its loads follow by their number, channel = 0 and so on; default "
        "acceleration (force, where loads are forces)",
    )
    extend: str | None = Field(default=None, description="zero: a run may be longer than its record; the ground rests after the record")
    sha256: Any = Field(default=None, description="digests of the files, stated by a resolved study; files with other digests are refused")
    random: Random | None = Field(default=None, description="random accelerations instead of records; parameter draw is the number of one")


class Output(TableSchema):
    """[output]: additional observables, lists over supports in place of columns with their names, the only columns, the size of shards."""

    statistics: bool | None = Field(default=None, description="true: mean, RMS, standard deviation and extremes of displacement and forces")
    support_lists: bool | None = Field(
        default=None, description="true: an observable of the supports is one column of lists instead of a column for each"
    )
    columns: Any = Field(default=None, description="names of the only observables that are computed, kept and written; default all")
    shard_points: Whole | None = Field(
        default=None, description="number of points in a file of the dataset; the default depends on the scheme"
    )


class Assembly(TableSchema):
    """[structure]: how a body or a structure moves, and what is observed of it."""

    basis: Any = Field(
        default=None,
        description="file of the modal basis (.npz, .json, .parquet, or a beam in .toml), or a list of files, of which the parameter basis "
        "is one, by its name without folder and ending",
    )
    modes: Any = Field(
        default=None,
        description="how many coordinates are kept, the first ones; or a list of such numbers, of which the parameter basis is one",
    )
    directions: str | None = Field(default=None, description="of a body: the directions in which it moves; default xyz")
    observed: Any = Field(default=None, description="names of points whose displacements are observed; default none, of a body its centre")
    peak_edges: Any = Field(default=None, description="bounds of classes of the largest force of an impact [N]; default none")
    modal_energies: bool | None = Field(default=None, description="true: mean energy of each coordinate, as a list")
    start: Any = Field(default=None, description="initial coordinates [m], one number for each; default 0")
    start_rate: Any = Field(default=None, description="initial velocities of the coordinates [m/s]; default 0")
    sha256: Any = Field(default=None, description="digests of the files, stated by a resolved study; files with other digests are refused")


class SupportTable(TableSchema):
    """[supports.NAME]: a support, with any of its parameters."""

    point: str | None = Field(default=None, description="point that it holds; default the support's name, of a body its centre")
    obstacle: str | None = Field(default=None, description="plane (default), two planes or ring")
    other: str | None = Field(default=None, description="a second point: the contact is between both; default the ground")
    normal: Any = Field(default=None, description="direction of the normal of a plane; default [1, 0, 0]")
    axis: Any = Field(default=None, description="direction of the axis of a ring; default [0, 0, 1]")
    axes: Any = Field(default=None, description="instead of normal or axis: three orthogonal directions, the normal first")
    law: str | None = Field(default=None, description="return mapping (default) or stored force")
    gap: Any = None
    k_n: Any = None
    c_n: Any = None
    mu: Any = None
    mu_s: Any = None
    mu_d: Any = None
    k_t: Any = None
    c_t: Any = None
    angle: Any = None
    centre_1: Any = None
    centre_2: Any = None
    position: Any = None


class LoadTable(TableSchema):
    """[loads.NAME]: a load, with any of its parameters."""

    kind: str | None = Field(
        default=None,
        description="base: acceleration of the ground [m/s^2]; force: at a point [N]; mode: on one coordinate [N]; default force with a "
        "point, mode with a mode, else base",
    )
    direction: Any = Field(default=None, description="of an acceleration or a force; default [1, 0, 0]")
    point: str | None = Field(default=None, description="point of a force")
    mode: Whole | None = Field(default=None, description="coordinate of a modal force, counted from 0")
    channel: Whole | None = Field(default=None, description="channel of [excitation] that it follows, counted from 0; default none")
    amplitude: Any = None
    omega: Any = None
    phase: Any = None
    constant: Any = None


class Document(TableSchema):
    """The whole file; a single [sweep] is a list of one."""

    study: Study = Study()
    structure: Assembly | None = None
    supports: dict[str, SupportTable] = Field(default_factory=dict)
    loads: dict[str, LoadTable] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    time: Time = Time()
    sweep: list[Sweep] = Field(default_factory=list)
    excitation: Excitation | None = None
    output: Output = Output()


PARAMETERS, OBSERVABLES = "parameters", "observables"  # topics of `tribosweep list`
NEEDED = {
    RECORD: 'a record needs [excitation], with records = "quake.csv", say',
    DRAW: "a draw needs [excitation.random], with a spectrum, a duration and an interval",
}  # parameter -> message if the study lacks what the parameter needs
STRUCTURE: dict[str, type[TableSchema]] = {"structure": Assembly}
PARTS: dict[str, type[TableSchema]] = {"supports": SupportTable, "loads": LoadTable}
EXCITATION: dict[str, type[TableSchema]] = {"excitation": Excitation, "excitation.random": Random}
TYPES = {"string_type": "text in quotes", "int_type": "a whole number", "bool_type": "true or false"}
TYPES |= dict.fromkeys(("greater_than_equal", "less_than"), "a whole number of at most 64 bits")
TYPES |= dict.fromkeys(("dict_type", "model_type", "list_type"), "a table of keys")
WINDOW = ("window_start", "window_end")
TIME_KEYS = {q.name: "window = [start, end]" if q.name in WINDOW else q.name for q in TIME}


def read_document(raw: dict[str, Any], problems: list[Problem]) -> Document:
    """Check the structure of `raw` and report to `problems`; invalid entries are left out, so that the rest can be checked too.

    Args:
        raw: the file as tables of plain values.
        problems: list to which problems are added.

    Returns:
        The document without its invalid keys.
    """
    single = not isinstance(raw.get("sweep"), list)
    if raw.get("sweep") == []:
        problems.append(Problem("sweep", "an empty list of designs: 0 points; leave it out for a single point"))
    listed = {**raw, "sweep": [raw["sweep"]]} if single and isinstance(raw.get("sweep"), dict) else raw
    try:
        return Document.model_validate(listed)
    except ValidationError as error:
        found = error.errors(include_url=False)

    def problem(item: Mapping[str, Any]) -> Problem:
        location = [part for part in item["loc"] if part != "[key]"]
        return Problem(dotted(location, single), describe(item, [str(part) for part in location if not isinstance(part, int)]))

    kinds: dict[Any, list[Any]] = {}
    for item in found:
        kinds.setdefault((item["loc"][:-1], item["type"]), []).append(item)
    for (location, _), items in kinds.items():
        problems += first_of(items, problem, dotted([part for part in location if part != "[key]"], single), "keys")
    remaining = {key: value for key, value in listed.items() if key in Document.model_fields}
    for item in found:
        prune(remaining, [part for part in item["loc"] if part != "[key]"])
    return Document.model_validate(remaining)


def dotted(location: list[int | str], single: bool) -> str:
    """The path of a key in messages; for a `single` [sweep], without its number."""
    words = [(f"[{part}]" if not single else "") if isinstance(part, int) else f".{part}" for part in location]
    return "".join(words).removeprefix(".")


ALIASES = {
    **dict.fromkeys(("start", "min", "low", "lower", "begin", "first"), "from"),
    **dict.fromkeys(("stop", "max", "high", "upper", "end", "last"), "to"),
    **dict.fromkeys(("num", "n", "number", "points", "size", "steps", "samples"), "count"),
    **dict.fromkeys(("scale", "space"), "spacing"),
}  # what other programs call the keys of a range


def read_range(path: str, raw: dict[str, Any], counted: bool, problems: list[Problem]) -> Range:
    """Check the structure of an axis { from, to, count, spacing } at `path`; invalid and missing keys are reported and left out."""
    needed = ("from", "to", "count") if counted else ("from", "to")
    called = {ALIASES[key]: key for key in raw if key in ALIASES and ALIASES[key] not in raw}
    problems += [Problem(f"{path}.{alias}", f"unknown key; a range calls it {key!r}") for key, alias in called.items()]
    missing = [key for key in needed if key not in raw and key not in called]
    problems += [Problem(f"{path}.{key}", f"missing: a range needs {', '.join(needed)}") for key in missing]
    try:
        return Range.model_validate(raw)
    except ValidationError as error:
        found = error.errors(include_url=False)
    for item in found:
        if item["loc"][0] in called.values():
            continue
        location = [path, *(str(part) for part in item["loc"] if part != "[key]")]
        problems.append(Problem(".".join(location), describe(item, location)))
    return Range.model_validate({key: value for key, value in raw.items() if key not in {item["loc"][0] for item in found}})


def describe(item: Mapping[str, Any], location: list[str]) -> str:
    """Translate an error of pydantic for the author of the file."""
    if item["type"] == "extra_forbidden":
        return home_of(location[-1]) or f"unknown key; {advise(location[-1], keys_of(location[:-1]))}"
    expected = TYPES.get(item["type"])
    return f"must be {expected}, not {shorten(item['input'])}" if expected else str(item["msg"])


def keys_of(location: list[str]) -> list[str]:
    """The keys that the section at `location` may have."""
    sections: dict[str, type[TableSchema]] = {
        "": Document,
        "study": Study,
        "time": Time,
        "sweep": Sweep,
        "output": Output,
        **STRUCTURE,
        **EXCITATION,
    }
    if len(location) == 2 and location[0] in PARTS:
        return list(PARTS[location[0]].model_fields)
    section = sections.get(".".join(location), Range)
    return [field.alias or name for name, field in section.model_fields.items()]


def prune(tables: dict[str, Any], location: list[Any]) -> None:
    """Remove the deepest existing entry on the path `location` from nested tables; the tables on the path are copied."""
    parent: Any = tables
    for depth, key in enumerate(location):
        if isinstance(parent, dict) and key not in parent:
            return
        if depth == len(location) - 1 or not isinstance(parent[key], dict | list):
            if isinstance(parent, list):
                parent[key] = {}  # keeps the numbers of later entries
            else:
                del parent[key]
            return
        parent[key] = parent = parent[key].copy()


def parameter_keys(table: TableSchema) -> dict[str, Any]:
    """The parameters that a table of [supports] or [loads] gives: those of its keys that have no description."""
    fields = type(table).model_fields
    return {name: value for name in fields if not fields[name].description and (value := getattr(table, name)) is not None}


def home_of(name: str) -> str:
    """The section to which a misplaced key belongs; empty if no section has it."""
    if name in TIME_KEYS or name in Time.model_fields:
        return f"belongs in [time], as time.{TIME_KEYS.get(name, name)}"
    shapes: dict[str, type[TableSchema]] = {"study": Study, "sweep": Sweep, "output": Output, "excitation": Excitation}
    section = next((title for title, shape in shapes.items() if name in shape.model_fields), "")
    if not section and any(name == q.name for model in MODELS.values() for q in model.parameters):
        section = "parameters"
    return f"belongs in [{section}], as {section}.{name}" if section else ""


def belongs(name: str, model: Model) -> str:
    """The problem of an unknown key of [parameters]: its right section, or the nearest parameter."""
    known = {q.name: q for q in model.parameters if q.name not in TIME_KEYS}
    return of_another(name, model) or home_of(name) or f"unknown parameter; {advise(name, known, PARAMETERS)}"


def of_another(name: str, model: Model) -> str:
    """The problem of a parameter that only other models or another [excitation] have; empty for any other name."""
    if name == DRAW and all(q.name != DRAW for q in model.parameters):
        return NEEDED[DRAW]
    others = [other.name for other in MODELS.values() if any(q.name == name for q in other.parameters)]
    return f"no parameter of the model {model.name}, but of {' and '.join(others)}" if others and model.name not in others else ""
