"""The floors of the packages: a file imports only from its own folder or from lower floors, and no imports go in circles.

Imports inside functions and under TYPE_CHECKING count. The `__init__.py` of a package or folder may import from any floor, but not in a
circle.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOWER = ("kernels", "sweep", "tribosweep")  # folders of the checkout; one imports from those before it, and the last has the others
FACES = {"tribosweep.kernels", "tribosweep.sweep"}  # what `from tribosweep import kernels` imports
PACKAGES = {
    "tribosweep": {"__main__": 1, "testing": 1},
    "sweep": {
        "io": 1,
        "design": 2,
        "excitation": 2,
        "structure": 2,
        "study": 3,
        "execution": 4,
        "analysis": 5,
        "results": 6,
        "analyses": 7,
        "plots": 7,
        "registry": 8,
        "report": 9,
        "explore": 9,
        "api": 10,
        "cli": 11,
    },
    "kernels": {
        "numerics": 1,
        "models": 1,
        "runtime": 1,
        "excitation": 2,
        "observables": 2,
        "reference": 2,
        "results": 2,
        "contact": 3,
        "segments": 4,
        "exact": 5,
        "stepping": 5,
        "batch": 6,
        "api": 7,
        "branches": 7,
        "time_history": 7,
        "imposed_path": 7,
        "structure_history": 7,
        "structure_samples": 7,
    },
}


def modules_of(package):
    """Dotted name -> file."""
    files = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    return dict(zip([name if package == TOWER[-1] else f"{TOWER[-1]}.{name}" for name in names], files, strict=True))


def imports_of(name, path, modules):
    """(line, module) for every module of the same package that a file imports."""
    folder = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names if alias.name in modules]
        elif isinstance(node, ast.ImportFrom):
            parts = folder.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])]) if node.level else node.module
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found += [(node.lineno, each) for each in ((inner,) if inner in FACES else (inner, base)) if each in modules][:1]
    return found


def place_of(name):
    """The part of a module's name below `kernels` or `sweep`, a folder or the module itself; of one beside them its own name."""
    parts = name.split(".")[1:]
    return "".join(parts[1:2] if parts[:1] and parts[0] in TOWER else parts[:1])


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_down(package):
    floors, modules = PACKAGES[package], modules_of(package)
    places = {place for name in modules if (place := place_of(name))}
    assert not places - floors.keys(), f"{package} has folders or modules without a floor: {sorted(places - floors.keys())}"
    assert not floors.keys() - places, f"{package} has floors without a folder or module: {sorted(floors.keys() - places)}"
    wrong = []
    for name, path in modules.items():
        if path.name == "__init__.py":
            continue
        here = place_of(name)
        for line, target in imports_of(name, path, modules):
            there = place_of(target)
            if not there:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports the package {target} itself")
            elif there != here and floors[there] >= floors[here]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} ({here}, floor {floors[here]}) imports {target} (floor {floors[there]})")
    assert not wrong, "imports that do not go down:\n" + "\n".join(wrong)


@pytest.mark.parametrize("package", TOWER)
def test_packages_import_from_those_below(package):
    above = TOWER[TOWER.index(package) + 1 :]
    known = {name: path for each in above for name, path in modules_of(each).items()}
    wrong = {f"{path.relative_to(ROOT)}:{line}" for name, path in modules_of(package).items() for line, _ in imports_of(name, path, known)}
    assert not wrong, f"{package} imports one of {above}: {sorted(wrong)}"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_imports_go_in_circles(package):
    modules = modules_of(package)
    graph = {name: {target for _, target in imports_of(name, path, modules)} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"imports in a circle: {' <- '.join(error.args[1])}")


def test_files_change_through_one_module():
    writes = re.compile(
        r"\.(write_text|write_bytes|unlink|mkdir|rmdir|rename|touch)\(|\bos\.(replace|rename|remove|unlink|mkdir|write|fsync)\("
    )
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "sweep").rglob("*.py")
        if path.name != "system.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if writes.search(line)
    }
    assert not found, f"files are changed past sweep/io/system.py: {sorted(found)}"
