"""The quick suite has a comparison with an oracle for everything that computes, and tests/TIERS.md says where all others stand.

`python -m tests.test_tiers` writes the table of tests/TIERS.md anew.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from tribosweep.kernels.batch.program_key import BUCKLING, PENALISED, RIGID, STOP
from tribosweep.kernels.contact import friction_registry, links
from tribosweep.kernels.models.schemes import SCHEMES, STEADY
from tribosweep.kernels.models.supports import LAWS, PLANE, RING

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests" / "TIERS.md"
BEGIN = "<!-- the rest is written by python -m tests.test_tiers -->\n"
SUBJECTS = {*SCHEMES, STEADY, RIGID, PENALISED, *friction_registry.LAWS, *links.LAWS, STOP, BUCKLING, "two_walls", PLANE, RING, *LAWS}


def marks(function: ast.FunctionDef, tree: ast.Module) -> dict[str, list[ast.Call | None]]:
    """The names of the marks of a test, each with its calls; those of single parameters have the name `NAME of some`."""
    found: dict[str, list[ast.Call | None]] = {}
    for node in tree.body:  # `pytestmark` of the file
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            found |= {each.attr: [None] for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr != "mark"}
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "mark":
                call = decorator if isinstance(decorator, ast.Call) and decorator.func is node else None
                of_all = node is decorator or call is not None
                found.setdefault(node.attr if of_all else f"{node.attr} of some", []).append(call)
    return found


@functools.cache
def every_test() -> list[tuple[str, ast.Module, ast.FunctionDef]]:
    """Every test: its file, the tree of the file, its own tree."""
    files = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    return [
        (str(path.relative_to(ROOT)), tree, node)
        for path, tree in files
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def tier(found: dict[str, list[ast.Call | None]]) -> str:
    """The tier of a test with these marks."""
    if "long" in found:
        return "long"
    if "slow" in found:
        return "slow, some long" if {"long of some", "long_cases"} & set(found) else "slow"
    words = ["quick, oracle" if "oracle" in found else "quick"]
    words += [f"some {name}" for name in ("slow", "long") if f"{name} of some" in found]
    return ", ".join(words)


@functools.cache
def oracles(tree: ast.Module) -> list[str]:
    """The modules of `tests.oracle` that a file imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "tests.oracle":
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.oracle."):
            found.add((node.module or "").removeprefix("tests.oracle."))
        elif isinstance(node, ast.Import):
            found |= {each.name.removeprefix("tests.oracle.") for each in node.names if each.name.startswith("tests.oracle.")}
    return sorted(found)


@functools.cache
def reads_references(tree: ast.Module) -> bool:
    """Whether a file reads results of oracles in tests/data."""
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return any(word.endswith(".json") and (ROOT / "tests" / "data" / word).exists() for word in words)


def table() -> str:
    """Markdown: for every file with an oracle its tests, by tier."""
    lines, last = ["| file | oracle | test | tier |", "|---|---|---|---|"], ""
    for file, tree, function in every_test():
        names = oracles(tree) or ["values in tests/data"] * reads_references(tree)
        if names:
            first = file != last
            cells = [
                f"`{file.removeprefix('tests/')}`" * first,
                ", ".join(names) * first,
                function.name.removeprefix("test_"),
                tier(marks(function, tree)),
            ]
            lines.append(f"| {' | '.join(cells)} |")
            last = file
    return "\n".join([*lines, ""])


def test_everything_that_computes_is_compared_with_an_oracle_in_the_quick_suite() -> None:
    compared: set[str] = set()
    for file, tree, function in every_test():
        for call in marks(function, tree).get("oracle", []):
            assert call is not None, f"{file}: {function.name} does not say what it stands for"
            compared |= {ast.literal_eval(each) for each in call.args}
            assert "slow" not in marks(function, tree), f"{file}: {function.name} is not in the quick suite"
    assert compared == SUBJECTS


def test_the_page_says_in_which_tier_each_comparison_with_an_oracle_is() -> None:
    assert PAGE.read_text(encoding="utf-8").partition(BEGIN)[2] == table(), "python -m tests.test_tiers writes it"


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN + table(), encoding="utf-8")
