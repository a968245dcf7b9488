"""What a release states: versions of Python, one version of the package, a command line that finds its studies."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tribosweep.sweep.cli.installation import OLDEST_PYTHON
from tribosweep.sweep.io.version import VERSION

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PYTHONS = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)]


def minor(version: str) -> tuple[int, ...]:
    """A version as numbers."""
    return tuple(map(int, version.split(".")))


def test_classifiers_requires_python_and_ci_name_the_same_versions() -> None:
    assert sorted(PYTHONS, key=minor) == PYTHONS
    assert [minor(each)[1] for each in PYTHONS] == list(range(minor(PYTHONS[0])[1], minor(PYTHONS[-1])[1] + 1)), "a version is left out"
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert all(f"{each}.0" in allowed for each in PYTHONS)
    assert f"3.{minor(PYTHONS[0])[1] - 1}.99" not in allowed
    tried = re.search(r"pythons=\(([\d. ]+)\)", (ROOT / ".ci" / "run").read_text())
    assert tried is not None
    assert tried[1].split() == PYTHONS[::-1]
    assert minor(PYTHONS[0]) == OLDEST_PYTHON
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{PYTHONS[0].replace('.', '')}"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]


def test_supported_versions_are_stated_as_they_are() -> None:
    stated = " ".join((ROOT / "SECURITY.md").read_text().split())
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in stated
    jax = next(Requirement(each) for each in PROJECT["dependencies"] if each.startswith("jax>"))
    bounds = {each.operator: each.version for each in jax.specifier}
    *most, last = sorted((each.version for each in jax.specifier if each.operator == "!="), key=minor)
    assert f"jax >= {bounds['>=']}, < {bounds['<']}, but not {', '.join(most)} or {last}" in stated


def test_issue_forms_are_forms() -> None:
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text())
        if path.stem == "config":
            continue
        assert form.keys() == {"name", "description", "labels", "body"}
        assert len({field["id"] for field in form["body"]}) == len(form["body"])
        for field in form["body"]:
            assert field["type"] == "textarea"
            assert field["attributes"]["label"]


def test_the_citation_has_what_the_format_needs() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert (citation["title"], citation["license"]) == (PROJECT["name"], PROJECT["license"])
    assert [{"name": each["name"]} for each in citation["authors"]] == PROJECT["authors"]
    newest = re.search(r"^## \[(\d[^]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert (citation["version"], str(citation["date-released"])) == newest.groups()
    assert citation["version"] == VERSION


def test_the_workflow_and_the_hooks_run_what_the_script_of_all_checks_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text())
    assert workflow["jobs"]["check"]["steps"][-1] == {"run": "bash .ci/run"}
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local", "hooks of other repositories have versions of their own"
    for hook in repository["hooks"]:
        command = hook["entry"].removeprefix("python -m ").removesuffix(" --force-exclude")
        assert f".venv/bin/{command}" in script, hook["id"]


def test_the_version_stands_in_one_place() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "sweep/io/version.py"
    others = [
        path.relative_to(ROOT)
        for folder in ("kernels", "sweep", "tribosweep")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "version.py" and f'"{VERSION}"' in path.read_text()
    ]
    assert not others


def test_the_folders_of_the_package_are_links() -> None:
    for name in ("kernels", "sweep"):
        assert (ROOT / "tribosweep" / name).readlink() == Path("..", name)


@pytest.mark.parametrize("folder", ["kernels", "sweep"])
def test_the_folders_are_no_packages_of_their_own(folder: str) -> None:
    """From a checkout they would be loaded a second time."""
    done = subprocess.run([sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"ImportError: import tribosweep.{folder}" in done.stderr


@pytest.mark.parametrize("there", ["files", "nothing"])  # a clone without links; a source distribution
def test_a_checkout_without_links_says_so(there: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tribosweep", tmp_path / "tribosweep", ignore=shutil.ignore_patterns("kernels", "sweep", "__pycache__"))
    if there == "files":
        (tmp_path / "tribosweep" / "kernels").write_text("../kernels")
    done = subprocess.run([sys.executable, "-c", "import tribosweep"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "git config core.symlinks true" in done.stderr.splitlines()[-1]


def test_every_package_with_code_is_in_the_wheel() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == {each for each in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"] if (ROOT / each).exists()}


@pytest.mark.parametrize("word", ["build>=", "twine>="])
def test_the_wheel_script_gets_its_tools_from_the_extra(word: str) -> None:
    assert any(each.startswith(word) for each in PROJECT["optional-dependencies"]["release"])
    assert 'bash "$work/copy/.ci/wheel"' in (ROOT / ".ci" / "run").read_text()


def test_the_source_distribution_has_everything_that_is_tracked() -> None:
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert all((ROOT / name).exists() for name in included)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    if not any(tracked):
        pytest.skip("no repository of git")
    assert {name.partition("/")[0] for name in tracked if name} == set(included)
