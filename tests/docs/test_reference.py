"""The generated reference has every key, parameter, observable, column, status and command, each with words of its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from docs.make import reference
from tribosweep.kernels.models.status import SENTENCES
from tribosweep.sweep.cli import main, shared
from tribosweep.sweep.cli.topics import listed_models
from tribosweep.sweep.execution import parquet
from tribosweep.sweep.study.schema import Document, Range

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def rows(page: str) -> dict[str, list[list[str]]]:
    """The rows of a page's tables by their first cell, without code marks and anchors; models may use a name differently."""
    found: dict[str, list[list[str]]] = {}
    for line in page.splitlines():
        if line.startswith("| `"):
            cells = [unescape(cell.strip().replace("\\", "")) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found.setdefault(cells[0].partition("`{")[0].strip("`"), []).append(cells)
    return found


def sections(shape: type[BaseModel], path: str) -> Iterator[tuple[str, str]]:
    """The keys of a table of the grammar and of all tables within, as (section, key)."""
    for name, field in shape.model_fields.items():
        inner = next(iter(tables_in(field.annotation)), None)
        if inner is not None:
            named = ".NAME" if "dict" in str(field.annotation) else ""
            yield from sections(inner, f"{path}.{name}{named}".lstrip("."))
        if path:
            yield path, field.alias or name


def tables_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The tables that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from tables_in(each)


@pytest.mark.slow
def test_every_key_of_a_study_is_described(pages: dict[str, str]) -> None:
    keys = [*sections(Document, ""), *sections(Range, "sweep.axes.NAME")]
    assert {("time", "window"), ("excitation.random", "rms"), ("supports.NAME", "k_n"), ("sweep.axes.NAME", "from")} <= {*keys}
    for section, key in keys:
        part = re.search(rf"^## \[{re.escape(section)}\] .*?(?=^## |\Z)", pages["reference/study.md"], re.MULTILINE | re.DOTALL)
        assert part is not None, section
        assert rows(part[0])[key][0][-1], f"[{section}] {key} has no description"


def test_every_parameter_and_observable_of_every_model_is_described(pages: dict[str, str]) -> None:
    for model in listed_models().values():
        for page, quantities in (("parameters", model.parameters), ("observables", model.observables)):
            found = rows(pages[f"reference/{page}.md"])
            for quantity in quantities:
                assert any(cells[1] == quantity.unit and quantity.description in cells[-1] for cells in found[quantity.name])


def test_every_column_status_scheme_and_rule_is_on_a_page(pages: dict[str, str]) -> None:
    for column in (parquet.POINT, parquet.STATUS, parquet.SCHEME, parquet.HALVING, parquet.LEVEL):
        assert f"`{column}`" in pages["reference/observables.md"]
    for sentence in SENTENCES:
        assert f"| {sentence} |" in unescape(pages["reference/statuses.md"]).replace("\\", "")
    for model in listed_models().values():
        for scheme in model.schemes:
            assert scheme in rows(pages["reference/models.md"])
        for rule in model.rules:
            assert rule.sentence in unescape(pages["reference/models.md"]).replace("\\", "")


def test_every_exit_status_has_a_meaning(pages: dict[str, str]) -> None:
    used = {value for name, value in vars(shared).items() if name.isupper() and isinstance(value, int)}
    assert used < {*shared.EXIT_STATUSES}
    for code in used:
        assert re.search(rf"^\| {code} \| \w", pages["reference/statuses.md"], re.MULTILINE)


def test_every_command_and_option_of_help_is_on_the_page(pages: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    commands = re.findall(r"^  ([a-z]\S+)  ", capsys.readouterr().out, re.MULTILINE)
    assert {"run", "resume", "map", "calibrate"} <= {*commands}
    for command in commands:
        assert main([command, "--help"]) == 0
        options = re.findall(r"^\s+(--[a-z][\w-]*)", capsys.readouterr().out, re.MULTILINE)
        part = re.search(rf"^## {command} .*?(?=^## |\Z)", pages["reference/commands.md"], re.MULTILINE | re.DOTALL)
        assert part is not None, command
        assert [each for each in options if each not in part[0]] == []


def test_every_public_name_of_python_is_on_the_page(pages: dict[str, str]) -> None:
    import tribosweep

    for name in tribosweep.__all__:
        assert re.search(rf"(^::: .*\.|`){name}(`|$)", pages["reference/python.md"], re.MULTILINE), name


def test_every_page_is_reached_from_the_contents(pages: dict[str, str]) -> None:
    settings = tomllib.loads((ROOT / "docs" / "make" / "zensical.toml").read_text())["project"]
    listed = {*re.findall(r"'([\w/-]+\.md)'", str(settings["nav"]))}
    written = {
        path.relative_to(ROOT / "docs").with_suffix(".md").as_posix()
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in {".md", ".ipynb"}
    }
    generated = {*pages, "reference/studies.md", "changelog.md", "contributing.md"}
    assert listed == written | generated
