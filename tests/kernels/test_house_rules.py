"""House rules of `kernels`: which packages it may not need, what starts JAX, and that everything public says what it is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.kernels.runtime import jax_setup

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "kernels").rglob("*.py"))
FOREIGN = {"pandas", "pyarrow", "matplotlib", "pydantic", "typer", "rich", "scipy", "mpmath"}


def imported(path: Path) -> list[str]:
    """Every module that a file imports, wherever the import stands."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_physics_needs_no_package_of_studies(path: Path) -> None:
    assert not FOREIGN & {name.split(".")[0] for name in imported(path)}
    assert all(name.startswith("tribosweep.kernels") for name in imported(path) if name.split(".")[0] == "tribosweep")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_everything_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body
    public = [
        node
        for holder in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
        for node in holder.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []


def test_no_message_names_a_module_that_users_do_not_import() -> None:
    found = []
    for path in sorted([*FILES, *(ROOT / "sweep").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            problem = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem"
            if isinstance(node, ast.Raise) or problem:
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                found += [(path.name, text) for text in texts if re.search(r"\bkernels\.[a-z]", text)]
    assert found == []


def test_importing_kernels_and_reading_models_does_not_start_jax() -> None:
    code = (
        "from tribosweep.kernels.batch import solve; from tribosweep.kernels.models import status\n"
        "import sys; assert not {'jax', 'jaxlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def test_every_quantity_says_what_it_is_and_in_which_unit() -> None:
    for model in MODELS.values():
        quantities = (*model.parameters, *model.observables)
        assert len({quantity.name for quantity in quantities}) == len(quantities)
        for quantity in quantities:
            assert quantity.description
            assert not quantity.description.endswith(".")
            assert bool(quantity.unit) == (quantity.kind in ("float", "list")), quantity.name
            assert (quantity.kind == "word") == bool(quantity.words)
        for quantity in model.parameters:
            assert (quantity.default is None) == bool(quantity.default_rule), quantity.name
        assert set(model.schemes) <= set(SCHEMES)


def test_bounds_exclude_what_they_say_and_let_the_rest_pass() -> None:
    half_open = Quantity("q", "m", "a length", lower=0.0, lower_open=True, upper=1.0)
    assert half_open.out_of_bounds([-1.0, 0.0, 1e-300, 1.0, 1.1, float("nan")]).tolist() == [True, True, False, False, True, False]
    assert half_open.bounds == "> 0 and <= 1"


def test_xla_options_join_those_of_the_user_and_never_replace_them() -> None:
    plain = jax_setup.xla_flags("", wide=True)
    assert jax_setup.xla_flags(plain, wide=True) == plain
    assert "xla_cpu_small_while_loop_byte_threshold=1000000" in plain
    assert "prefer_vector_width" not in jax_setup.xla_flags("", wide=False)
    user = "--xla_dump_to=there --xla_backend_extra_options=xla_cpu_other=1 --xla_backend_optimization_level=3"
    joined = jax_setup.xla_flags(user, wide=False).split()
    assert joined[0] == "--xla_dump_to=there"
    assert joined[1] == "--xla_backend_extra_options=xla_cpu_other=1,xla_cpu_small_while_loop_byte_threshold=1000000"
    assert joined[2] == "--xla_backend_optimization_level=3"
    assert all(flag.endswith("metadata=false") for flag in joined[3:])
    assert len(joined) == 5
    chosen = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=7"
    assert jax_setup.xla_flags(chosen, wide=False).split()[0] == chosen


def test_the_present_setup_is_described_and_in_double_precision() -> None:
    described = jax_setup.describe()
    assert described["dtype"] == "float64"
    assert described["jax"] not in jax_setup.KNOWN_BAD
    assert "float64 is off: results have 7 digits at most" not in jax_setup.problems()
