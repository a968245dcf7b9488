"""The reference pages, written from the data that the program itself checks studies with."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import typer

import tribosweep
from tribosweep.kernels.models import TIME
from tribosweep.kernels.models.quantity import by_name
from tribosweep.kernels.models.status import RESULTS, Status
from tribosweep.sweep.cli import topics
from tribosweep.sweep.cli.app import app
from tribosweep.sweep.cli.shared import EXIT_STATUSES
from tribosweep.sweep.cli.topics import Topic, rows_of
from tribosweep.sweep.design.distributions import DISTRIBUTIONS, LAWS
from tribosweep.sweep.study import branches, calibration, optimise, schema
from tribosweep.sweep.study import combinations as combined
from tribosweep.sweep.study.capabilities import USES
from tribosweep.sweep.study.grammar import keys_of
from tribosweep.sweep.study.value_types import TableSchema

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.verification import Verdict

SECTIONS: dict[str, type[TableSchema]] = {
    "study": schema.Study,
    "time": schema.Time,
    "sweep": schema.Sweep,
    "sweep.axes.NAME": schema.Range,
    **schema.EXCITATION,
    **schema.OUTPUT,
    **schema.STRUCTURE,
    **{f"{name}.NAME": shape for name, shape in schema.PARTS.items()},
}  # section of a study's TOML -> the class that reads it
OF_PARTS = {"supports.NAME": "SUPPORT", "loads.NAME": "LOAD"}  # section -> how the parameters of its names are listed
ENTITIES = {"<": "&lt;", ">": "&gt;", "$": "&#36;"}  # which Markdown has no escapes for
TYPES = {str: "text", int: "whole number", bool: "true or false", float: "number", list: "list", dict: "table of keys"}


def pages() -> dict[str, str]:
    """Every page by its path in the site."""
    return {
        "reference/study.md": study_page(),
        "reference/parameters.md": parameters_page(),
        "reference/observables.md": observables_page(),
        "reference/models.md": models_page(),
        "reference/combinations.md": combinations_page(),
        "reference/designs.md": designs_page(),
        "reference/calibration.md": calibration_page(),
        "reference/optimisation.md": optimisation_page(),
        "reference/branches.md": branches_page(),
        "reference/statuses.md": statuses_page(),
        "reference/commands.md": commands_page(),
        "reference/python.md": python_page(),
    }


def plain(text: Any) -> str:
    """Text with Markdown's marks escaped, but for code between backticks."""
    parts = re.split(r"(`[^`]*`)", str(text))
    return "".join(part.replace("|", "\\|") if part.startswith("`") else escaped(part) for part in parts)


def escaped(text: str) -> str:
    """Text without code, with all marks escaped."""
    for mark, entity in ENTITIES.items():
        text = text.replace(mark, entity)
    return re.sub(r"(?<!&)#|[\\*_\[\]|{}]", lambda match: "\\" + match[0], text)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown."""
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join([*lines, *(f"| {' | '.join(' '.join(cell.split()) for cell in row)} |" for row in rows)]) + "\n"


def anchored(name: str, prefix: str = "") -> str:
    """A name as code that links can lead to."""
    return f"`{name}`{{ #{prefix}{re.sub(r'[^A-Za-z0-9_.-]+', '-', name).strip('-_')} }}"


def study_page() -> str:
    """Every section and key of a study."""
    text = (
        "# Keys of a study\n\nA study is a TOML file. Unknown keys are refused. Numbers are in SI units; a text gives another one, such as "
        '`"1 Hz"`. `[parameters]` takes every [parameter](parameters.md) of the model, `[sweep.axes]` those that vary. A file may have '
        "several `[[sweep]]` tables. [Shipped studies](studies.md) show all of this in use.\n"
    )
    parts = [text]
    for section, shape in SECTIONS.items():
        about = " ".join((shape.__doc__ or "").split("\n\n")[0].split())
        about = about.partition(": ")[2] or about
        rows = [
            (anchored(field.alias or key, f"{section}."), type_of(field.annotation), *default_and_meaning(section, key))
            for key, field in shape.model_fields.items()
        ]
        parts.append(f"## [{section}] {{ #{section} }}\n\n{plain(about[0].upper() + about[1:])}\n")
        parts.append(table(("key", "value", "default", "what it is"), rows))
    return "\n".join(parts)


def default_and_meaning(section: str, key: str) -> tuple[str, str]:
    """Default and meaning of a key: its own, or those of the parameter that it sets."""
    field = SECTIONS[section].model_fields[key]
    parameters = {row["parameter"]: row for row in rows_of(Topic.parameters)}
    row = parameters.get(f"{key}[{OF_PARTS[section]}]") if section in OF_PARTS else None
    if row is not None:
        return plain(row["default"]), plain(f"{row['description']} ({row['unit']}{', ' if row['bounds'] else ''}{row['bounds']})")
    times = by_name(TIME)
    default = topics.default_of(times[key]) if section == "time" and key in times else field.default
    if isinstance(default, bool):
        default = str(default).lower()
    return plain(default) if isinstance(default, str | int | float) else "", plain(field.description or "")


def type_of(annotation: Any) -> str:
    """The type of a key in words; empty where it depends on other keys."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(filter(None, (type_of(each) for each in get_args(annotation) if each is not type(None))))
    base = annotation.__origin__ if hasattr(annotation, "__metadata__") else get_origin(annotation) or annotation
    return "table of keys" if isinstance(base, type) and issubclass(base, TableSchema) else TYPES.get(base, "")


def grouped(rows: Sequence[dict[str, Any]], header: Sequence[str], cells: Sequence[str], name: str) -> str:
    """Tables of quantities, those of the same models together."""
    parts = []
    first = {row[name]: row for row in reversed(rows)}  # a name that models use differently leads to the first of them
    for models in dict.fromkeys(row["models"] for row in rows):
        group = [row for row in rows if row["models"] == models]
        named = [anchored(row[name]) if first[row[name]] is row else f"`{row[name]}`" for row in group]
        parts.append(f"## Of {plain(models)}\n")
        parts.append(
            table(header, [(first_cell, *(plain(row[cell]) for cell in cells)) for first_cell, row in zip(named, group, strict=True)])
        )
    return "\n".join(parts)


def parameters_page() -> str:
    """Every parameter."""
    rows = [{**row, "bounds": row["bounds"] or row["kind"]} for row in rows_of(Topic.parameters)]
    text = (
        "# Parameters\n\nWhat `[parameters]` sets and `[sweep.axes]` varies, and what `simulate` takes. In a study a number may have "
        'another unit: `"1 Hz"`. Of a body or a structure, SUPPORT, LOAD and POINT stand for names of the study.\n\n'
    )
    header = ("parameter", "unit", "default", "values", "what it is")
    return text + grouped(rows, header, ("unit", "default", "bounds", "description"), "parameter")


def observables_page() -> str:
    """Every observable, and the other columns of a dataset."""
    text = (
        "# Observables and columns\n\nA dataset has one row for each point of the study. Its columns are `point`, the number of the point "
        "in the design; the swept and set [parameters](parameters.md), empty where a default holds; `scheme`, if the study names one; "
        "these observables; and `status`, [ok or what went wrong](statuses.md). A convergence study also has `halving`, a boundary study "
        "`level`, a subset simulation `level` and `chain`. Units and descriptions are in the metadata of the Parquet fields. `simulate` "
        "returns the same names. Of a body or a "
        "structure, SUPPORT and POINT stand for names of the study.\n\n"
    )
    return text + grouped(
        rows_of(Topic.observables), ("observable", "unit", "kind", "what it is"), ("unit", "kind", "description"), "observable"
    )


def models_page() -> str:
    """Models, schemes, and the rules between parameters."""
    models = [(anchored(row["model"]), plain(row["description"]), plain(row["schemes"])) for row in rows_of(Topic.models)]
    schemes = [(anchored(row["scheme"]), plain(row["description"]), plain(row["reads"])) for row in rows_of(Topic.schemes)]
    rules = [(plain(row["parameters"]), plain(row["rule"]), plain(row["models"])) for row in rows_of(Topic.rules)]
    return "\n".join(
        [
            "# Models, schemes and rules\n\n## Models\n\n`[study] model` names one of these.\n",
            table(("model", "what it is", "schemes"), models),
            "## Schemes\n\n`[study] scheme` names one of these, or the axis `scheme` several.\n",
            table(("scheme", "what it is", "keys that only some schemes read"), schemes),
            "## Rules between parameters\n\nA study that breaks one is refused; a row that does has a [status](statuses.md).\n",
            table(("parameters", "what must hold", "models"), rules),
        ]
    )


def combinations_page() -> str:
    """Which models, schemes and features go together."""
    rows = rows_of(Topic.combinations)
    about = {**{name: setting.about for name, setting in combined.SETTINGS.items()}, **{name: use.about for name, use in USES.items()}}
    alone = [row for row in rows if not row["with"]]
    parts = [
        (
            "# What goes together\n\nEvery model, scheme and feature, as the checks of a study judge them: this page and `tribosweep list "
            "combinations` are made from what they read. Tests hold that every reason below is one with which a study is refused, and, "
            "with one scheme each, that every feature is accepted on each model where it works, and every pair on an oscillator and on a "
            "structure. Two features that the last table does not name together go together wherever each of them works. "
            "What works on a CPU works on a GPU: all programs are those of JAX there, also where a loop in C++ runs `euler` on CPUs.\n"
        ),
        "## Features\n",
    ]
    for name in dict.fromkeys(row["feature"] for row in alone):
        mine = [
            (row["works"], plain(row["models"]), plain(row["schemes"]), plain(row["why not"])) for row in alone if row["feature"] == name
        ]
        parts.append(f"### {plain(name)} {{ #{re.sub(r'[^a-z0-9]+', '-', name.casefold())} }}\n\n{plain(about[name])}.\n")
        parts.append(table(("works", "models", "schemes", "why not"), mine))
    pairs = [
        (plain(row["feature"]), plain(row["with"]), plain(row["models"]), plain(row["schemes"]), plain(row["why not"]))
        for row in rows
        if row["with"]
    ]
    parts.append("## Pairs that do not go together\n\nEach works alone on these models with these schemes.\n")
    parts.append(table(("feature", "with", "models", "schemes", "why not"), pairs))
    return "\n".join(parts)


def designs_page() -> str:
    """Designs, and the distributions of axes."""
    designs = [(anchored(row["design"]), plain(row["description"])) for row in rows_of(Topic.designs)]
    laws = [
        (anchored(name), ", ".join(f"`{key}`" for key in keys.split(", ")), plain(LAWS[name].meaning) if name in LAWS else "")
        for name, keys in DISTRIBUTIONS.items()
    ]
    example = 'An axis of a design that samples may have one: `k = { distribution = "normal", mean = 2.0, std = 0.1 }`.'
    return "\n".join(
        [
            "# Designs and distributions\n\n## Designs\n\n`[sweep] design` names one of these; [its keys](study.md#sweep).\n",
            table(("design", "which points"), designs),
            f"## Distributions\n\n{example}\n",
            table(("distribution", "keys", "what they mean"), laws),
        ]
    )


def calibration_page() -> str:
    """Keys of [calibration]."""
    text = (
        "# Keys of a calibration\n\nA study with `[calibration]` is fitted by `tribosweep calibrate`. It has no `[sweep]`: its points are "
        "the tests. [Sensitivity, uncertainty, calibration](../how-to/uncertainty.md) explains the keys.\n"
    )
    return "\n".join([text, *tables_of(calibration.TABLES)])


def optimisation_page() -> str:
    """Keys of [optimise]."""
    text = (
        "# Keys of an optimisation\n\nA study with `[optimise]` is carried out by `tribosweep optimise`. The points of its `[sweep]`, "
        "if it has one, are the rows of every point: cases or draws. [Choosing parameters](../how-to/optimise.md) explains the keys.\n"
    )
    return "\n".join([text, *tables_of(optimise.TABLES)])


def branches_page() -> str:
    """Keys of [branches]."""
    text = (
        "# Keys of a study of branches\n\nA study with `[branches]` is carried out by `tribosweep branches`. Each point of its "
        "`[sweep]`, if it has one, has branches of its own. [Branches of periodic motions](../how-to/branches.md) explains the keys.\n"
    )
    return "\n".join([text, *tables_of(branches.TABLES)])


def tables_of(sections: Mapping[str, type[TableSchema]]) -> list[str]:
    """A heading and a table of keys for each section."""
    parts = []
    for section, shape in sections.items():
        rows = [(anchored(key, f"{section}."), plain(meaning)) for key, meaning in keys_of(shape).items()]
        parts.append(f"## [{section}] {{ #{section} }}\n")
        parts.append(table(("key", "what it is"), rows))
    return parts


def statuses_page() -> str:
    """Statuses of rows, and exit statuses of commands."""
    rows = [(str(int(each)), plain(each.sentence), "yes" if each in RESULTS else "no") for each in Status]
    text = (
        "# Statuses\n\n## Of a row { #rows }\n\nA batch never stops at a row. A row that fails keeps its place, its results are empty, and "
        "the column `status` says why. `tribosweep.simulate` returns the code.\n"
    )
    return "\n".join(
        [
            text,
            table(("code", "status", "has results"), rows),
            "## Of a command { #exit }\n",
            table(("exit status", "meaning"), [(str(code), plain(meaning)) for code, meaning in EXIT_STATUSES.items()]),
        ]
    )


def commands() -> dict[str, tuple[Any, Any]]:
    """The commands that `tribosweep --help` shows, in its order, each with its context."""
    group: Any = typer.main.get_command(app)
    parent = group.make_context("tribosweep", [], resilient_parsing=True)
    found = {name: group.get_command(parent, name) for name in group.list_commands(parent)}
    return {
        name: (command, command.make_context(name, [], parent, resilient_parsing=True))
        for name, command in found.items()
        if not command.hidden
    }


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = ["# Commands\n\n`tribosweep COMMAND --help` prints the same.\n"]
    for name, (command, context) in commands().items():
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        parts.append(f"## {name} {{ #{name} }}\n\n    {usage}\n\n{paragraphs(command.help or '')}\n")
        records = [record for each in command.get_params(context) if (record := each.get_help_record(context)) is not None]
        rows = [(f"`{written}`".replace("|", "\\|"), plain(meaning)) for written, meaning in records]
        parts.append(table(("argument or option", "what it does"), rows))
    return "\n".join(parts)


def paragraphs(text: str) -> str:
    """Help of a command as Markdown; a block that begins with the mark of no wrapping, or is indented, stays as it is."""
    kept = []
    for block in re.split(r"\n\s*\n", text.partition("\f")[0]):
        if block.lstrip().startswith("\b"):
            kept.append("\n".join(f"    {line}" for line in block.strip().splitlines()[1:]))
        else:
            kept.append(block if block.startswith("    ") else plain(" ".join(block.split())))
    return "\n\n".join(kept)


def python_page() -> str:
    """Every public name of the package `tribosweep`, with its docstring."""
    described, data = [], []
    for name in sorted(tribosweep.__all__, key=str.lower):
        thing = getattr(tribosweep, name)
        if inspect.ismodule(thing):
            described.append(f"::: {thing.__name__}\n")
        elif callable(thing) and hasattr(thing, "__qualname__"):
            described.append(f"::: {thing.__module__}.{thing.__qualname__}\n")
        else:
            words = f"`{thing}`" if isinstance(thing, str) else ", ".join(f"`{each}`" for each in thing)
            data.append(f"- {anchored(name)}: {words}")
    about = (tribosweep.__doc__ or "").partition("\n")[0]
    return "\n".join([f"# Python\n\n{about} `import tribosweep as ts` before other code starts JAX.\n", "## Data\n", *data, "", *described])


def published_values(verdicts: list[Verdict]) -> str:
    """Every published value, ours, and the largest difference that is allowed, as `tribosweep verify` computes them."""
    rows = [
        (plain(v.case), plain(v.scheme), plain(v.quantity), plain(v.unit), f"{v.published:.9g}", f"{v.computed:.9g}",
         f"{v.relative_difference:.1e}", f"{v.tolerance:.1e}", plain(v.verdict))
        for v in verdicts
    ]  # fmt: skip
    header = ("case", "scheme", "quantity", "unit", "published", "computed", "relative difference", "allowed", "verdict")
    return table(header, rows)
