"""Reading the sections and keys of a study, and what is said of those that are wrong."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.naming import SURE, SYNONYMS, nearest_spelling
from tribosweep.sweep.design.axis import DRAW, RECORD
from tribosweep.sweep.io.errors import LISTED, Problem, advise, shorten
from tribosweep.sweep.study.grammar import Table, nulls, read_table
from tribosweep.sweep.study.load_tables import file_keys
from tribosweep.sweep.study.schema import (
    EXCITATION,
    OUTPUT,
    PARAMETERS,
    PARTS,
    TIME_KEYS,
    Document,
    Range,
    Study,
    Sweep,
    Time,
)  # fmt: skip
from tribosweep.sweep.study.schema_structure import TABLE
from tribosweep.sweep.study.value_types import TableSchema

NEEDED = {
    RECORD: 'a record needs [excitation], with records = "quake.csv", say',
    DRAW: "a draw needs [excitation.random], with a spectrum, a duration and an interval",
}  # parameter -> message if the study lacks what the parameter needs
DEFAULT_MODEL = str(Study.model_fields["model"].default)
MOST_DESIGNS = 10_000  # each takes about a tenth of a millisecond to read
TOPICS = {section: section for section in ("study", "time", "sweep", "output", "excitation")}
TOPICS |= dict.fromkeys(("structure", "supports", "loads"), "structures")  # section -> topic of `tribosweep list`


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
    if not single and (count := len(raw["sweep"])) > MOST_DESIGNS:
        problems.append(Problem("sweep", f"{count:,} designs: at most {MOST_DESIGNS:,} are read"))
        raw = {**raw, "sweep": raw["sweep"][:1]}
    model = model_of(raw)
    return read_table(Document, raw, "", problems, lambda location, known: unknown(location, known, model))


OTHER_COMMANDS = {
    "calibration": ("a calibration", "calibrate"),
    "optimise": ("an optimisation", "optimise"),
    "branches": ("one of branches", "branches"),
}  # section that `run` does not read -> what a study with it is, and the command that carries it out


def read_section(shape: type[Table], name: str, raw: Mapping[str, Any], missing: str, problems: list[Problem]) -> Table | None:
    """Read the section of a study that another command than `run` carries out.

    Args:
        shape: keys and types of the section. name: its key. raw: the document.
        missing: what is said where there is no section. problems: list to which problems are added.

    Returns:
        The section without its wrong entries; None, and a problem, if there is none.
    """
    section = raw.get(name)
    if not isinstance(section, dict):
        other = "; tribosweep run carries out this study" if "sweep" in raw or "parameters" in raw else ""
        if near := nearest_spelling(name, [key for key in raw if isinstance(key, str) and key not in Document.model_fields], SURE):
            other = f"; is {shorten(near)} meant as [{name}]?"
        problems.append(Problem(name, f"missing: {missing}{other}"))
        return None
    problems += itertools.islice(nulls(section, name), LISTED * LISTED)
    return read_table(shape, section, name, problems)


ALIASES = {
    **dict.fromkeys(("start", "min", "low", "lower", "begin", "first"), "from"),
    **dict.fromkeys(("stop", "max", "high", "upper", "end", "last"), "to"),
    **dict.fromkeys(("num", "n", "number", "points", "size", "steps", "samples"), "count"),
    **dict.fromkeys(("scale", "space"), "spacing"),
}  # what other programs call the keys of a range
OF_SAMPLES = dict.fromkeys(("sampling", "sampler", "method"), "design")  # and that of a sample


def read_range(path: str, raw: dict[str, Any], counted: bool, problems: list[Problem]) -> Range:
    """Check the structure of an axis { from, to, count, spacing } at `path`; invalid and missing keys are reported and left out."""
    needed = ("from", "to", "count") if counted else ("from", "to")
    called = {ALIASES[key]: key for key in raw if key in ALIASES and ALIASES[key] not in raw}
    problems += [Problem(f"{path}.{alias}", f"unknown key; a range calls it {key!r}") for key, alias in called.items()]
    missing = [key for key in needed if key not in raw and key not in called]
    problems += [Problem(f"{path}.{key}", f"missing: a range needs {', '.join(needed)}") for key in missing]
    known = {key: value for key, value in raw.items() if key not in called.values()}
    return read_table(Range, known, path, problems, lambda location, keys: unknown([path, *location], keys))


OF_LOADS = {"a0": "amplitude", "f0": "amplitude", "load": "constant", "table_force": "table_value"}
OF_LOADS |= dict.fromkeys(("pulse_f0", "pulse_a0"), "pulse_amplitude")  # what an oscillator calls the parameters of a load


def model_of(raw: Mapping[str, Any]) -> str:
    """The name of the model that a study names; the default where it names none, empty where what it names is no text."""
    study = raw.get("study")
    named = study.get("model", DEFAULT_MODEL) if isinstance(study, dict) else DEFAULT_MODEL
    return named if isinstance(named, str) else ""


def unknown(location: Sequence[str], known: Mapping[str, str], model: str = "") -> str:
    """What is said of an unknown key to the author of the file, whose study has the `model` of that name.

    Args:
        location: the key, behind those of its tables. known: the keys that its table has, with their descriptions.
    """
    *tables, key = location
    if not tables:
        known = {**known, **{section: f"section of {what}" for section, (what, _) in OTHER_COMMANDS.items()}}
    alias, topic = OF_SAMPLES.get(key, ALIASES.get(key)) if tables == ["sweep"] else None, TOPICS.get(location[0], "")
    if alias in known:
        return f"unknown key; [sweep] calls it {alias!r}"
    if len(tables) == 2 and tables[0] in PARTS:
        if (meant := OF_LOADS.get(key)) in known:
            return f"unknown key; [{'.'.join(tables)}] calls it {meant!r}"
        if nearest_spelling(key, known, SURE):  # of this part rather than of another section
            return f"unknown key; {advise(key, known, topic)}"
    return home_of(key, ".".join(tables), model) or f"unknown key; {advise(key, known, topic)}{of_models(key)}"


def parameter_keys(table: TableSchema) -> dict[str, Any]:
    """The parameters that a table of [supports] or [loads] gives: those of its keys that have no description, and the file of some."""
    fields = type(table).model_fields
    own = [name for name in fields if not fields[name].description or name == TABLE]
    return {name: value for name in own if (value := getattr(table, name)) is not None}


def home_of(name: str, section: str = "", model: str = "") -> str:
    """The sections to which a misplaced key belongs; empty if no section that such a study may have has it.

    Args:
        name: the key. section: where it stands, such as "excitation"; parts of that section come first, and no other ones then.
        model: name of the model of the study; empty: [parameters] are not looked at.
    """
    if name in TIME_KEYS or name in Time.model_fields:
        return f"belongs in [time], as time.{TIME_KEYS.get(name, name)}" if section != "time" else ""
    shapes: dict[str, type[TableSchema]] = {"study": Study, "sweep": Sweep, **OUTPUT, **EXCITATION}
    if section != "excitation" and SYNONYMS.get(name.lower(), "") in TIME_KEYS:
        del shapes["excitation.random"]  # the duration of a run rather than that of a draw
    homes = [title for title, shape in shapes.items() if name in shape.model_fields and title != section]
    homes = [title for title in homes if section and title.startswith(f"{section}.")] or homes
    if not homes and model in MODELS and any(name == q.name for q in MODELS[model].parameters):
        homes = ["sweep.axes" if section == "sweep" else "parameters"]
    return f"belongs in {' or '.join(f'[{home}], as {home}.{name}' for home in homes)}" if homes else ""


def of_models(name: str) -> str:
    """A remark on a name that is a parameter of oscillators; empty for other names."""
    models = [model.name for model in MODELS.values() if any(name == q.name for q in model.parameters)]
    return f"; it is a parameter of the models {', '.join(models)}" if models else ""


def belongs(name: str, model: Model) -> str:
    """The problem of an unknown key of [parameters]: its right section, or the nearest parameter."""
    known = {q.name: q.description for q in model.parameters if q.name not in TIME_KEYS} | file_keys(model)
    timed = SYNONYMS.get(name.lower(), "")
    home = home_of(name) or (home_of(timed) if timed in TIME_KEYS else "")
    parts = [part for part, shape in PARTS.items() if model.structure is not None and name in shape.model_fields]
    part = f"belongs in a table of {' or '.join(f'[{part}]' for part in parts)}, such as [{parts[0]}.NAME]" if parts else ""
    return part or of_another(name, model) or home or f"unknown parameter; {advise(name, known, PARAMETERS)}"


def of_another(name: str, model: Model) -> str:
    """The problem of a name that is an observable, or that only other models or another [excitation] have; empty for any other name."""
    if name in file_keys(model):
        return "a file with one table, which [parameters] and [loads] alone can name"
    if name == DRAW and all(q.name != DRAW for q in model.parameters):
        return NEEDED[DRAW]
    if any(name == q.name for q in model.observables):
        return "an observable, which a run returns; what a study sets are parameters"
    others = [other.name for other in MODELS.values() if any(q.name == name for q in other.parameters)]
    return f"no parameter of the model {model.name}, but of {' and '.join(others)}" if others and model.name not in others else ""
