"""The import closure has every import of the package, and a hash of it changes with each of its files and with no other."""

from __future__ import annotations

import ast
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from tribosweep.kernels.batch.program_key import LOCKSTEP, QUEUE, ProgramKey
from tribosweep.kernels.batch.programs import depends_on
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.kernels.runtime import import_closure
from tribosweep.kernels.runtime.import_closure import PACKAGE, digest, files

MODULES = {
    ".".join(["tribosweep", *path.relative_to(PACKAGE.parent).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
EXACT_KEY, STEPS_KEY = ProgramKey("exact", walls=(WallLaw("stop"),)), ProgramKey(QUEUE, "rk54", "penalised")


def forget() -> None:
    """Read all files again."""
    import_closure.all_modules.cache_clear()
    import_closure.read.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package, whose changes are taken for older than this process."""
    monkeypatch.setattr(import_closure, "_BEGUN", time.time() + 3600.0)
    shutil.copytree(PACKAGE, tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "kernels"


def test_imports_are_those_that_the_parser_finds() -> None:
    for name, path in MODULES.items():
        expected = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                expected |= {alias.name for alias in node.names if alias.name in MODULES}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: relative imports are not followed"
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module in MODULES:
                    expected |= inner & MODULES.keys() | ({node.module} if inner - MODULES.keys() else set())
        assert set(import_closure.read(path, PACKAGE).imports) & MODULES.keys() == expected, name


def test_all_other_imports_are_known() -> None:
    found = {path.relative_to(PACKAGE).as_posix() for path in MODULES.values() if re.search("import_module|__import__", path.read_text())}
    # the public names, which no program needs; engines and laws of other packages, which `depends_on` names
    assert found == {"__init__.py", "batch/programs.py", "models/outside_laws.py"}
    named = set(re.findall(r'"(tribosweep\.kernels\.[\w.]+)"', (PACKAGE / "batch" / "programs.py").read_text()))
    assert named - {"tribosweep.kernels.native"} <= MODULES.keys()
    assert MODULES["tribosweep.kernels.exact.poincare"] in files(depends_on(ProgramKey(STEADY)))


def test_nothing_but_the_runtime_reads_files() -> None:
    reads = re.compile(r"__file__|\bopen\(|read_text|read_bytes|\bos\.environ|np\.load|importlib\.resources")
    found = {path.relative_to(PACKAGE).parts[0] for path in MODULES.values() if reads.search(path.read_text())}
    assert found == {"runtime"}


@pytest.mark.parametrize("key", [EXACT_KEY, STEPS_KEY, ProgramKey(LOCKSTEP, "euler", "penalised", native=True)], ids=str)
def test_the_hash_changes_with_each_file_that_is_reached_and_with_no_other(package: Path, key: ProgramKey) -> None:
    forget()
    modules = depends_on(key)
    before, reached = digest(modules, package), set(files(modules, package))
    assert before is not None
    assert before == digest(modules, package)
    every = {path for path in package.rglob("*") if path.suffix in (".py", ".h", ".cc")}
    assert len(every - reached) > 40
    for path in every - reached:
        path.write_bytes(path.read_bytes() + b"\n# changed\n")
    forget()
    assert digest(modules, package) == before
    for path in sorted(reached):
        whole = path.read_bytes()
        path.write_bytes(whole + b"\n")
        import_closure.read.cache_clear()
        assert digest(modules, package) not in (None, before), path
        path.write_bytes(whole)
    forget()
    assert digest(modules, package) == before


def test_another_engine_does_not_count(package: Path) -> None:
    by_events, by_steps = (set(files(depends_on(key), package)) for key in (EXACT_KEY, STEPS_KEY))
    for other in ("api.py", "branches/follow.py", "reference/checks.py", "stepping/loop.py", "native/euler.h", "exact/periodic_orbit.py"):
        assert package / other not in by_events, other
    for other in ("api.py", "branches/follow.py", "reference/checks.py", "exact/oscillator.py", "native/euler.h", "stepping/structure.py"):
        assert package / other not in by_steps, other
    assert {package / "exact/oscillator.py", package / "contact/wall.py", package / "numerics/fusion.py"} <= by_events
    assert {package / "stepping/loop.py", package / "contact/wall.py", package / "numerics/fusion.py"} <= by_steps
    assert package / "native/euler.h" in files(depends_on(ProgramKey(LOCKSTEP, "euler", "penalised", native=True)), package)


def test_imports_in_functions_packages_and_lists_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_closure, "_BEGUN", time.time() + 3600.0)
    texts = {
        "__init__.py": "from tribosweep.kernels import unused",
        "unused.py": "",
        "first.py": "import numpy\nfrom tribosweep.kernels.folder import (\n    inner as other,  # a comment (with) words\n    name,\n)\n",
        "folder/__init__.py": "from tribosweep.kernels.folder.home import name",
        "folder/home.py": "def late():\n    from tribosweep.kernels import second  # noqa\n    return second\n",
        "folder/inner.py": "import tribosweep.kernels.third as third",
        "folder/unused.py": "",
        "second.py": '"""from tribosweep.kernels import nothing"""',
        "third.py": "",
        "cpp/a.h": "",
        "cpp/b.cc": "",
    }
    for name, text in texts.items():
        (tmp_path / "kernels" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kernels" / name).write_text(text)
    found = {
        path.relative_to(tmp_path / "kernels").as_posix()
        for path in files(["tribosweep.kernels.first", "tribosweep.kernels.cpp"], tmp_path / "kernels")
    }
    assert found == texts.keys() - {"unused.py", "folder/unused.py"}
    assert digest(["tribosweep.kernels.first"], tmp_path / "kernels") is not None
    assert digest(["tribosweep.kernels.first", "tribosweep.kernels.nowhere"], tmp_path / "kernels") is None


def test_a_file_that_was_changed_after_this_process_began_gives_no_hash(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert digest(depends_on(EXACT_KEY)) is not None
    monkeypatch.setattr(import_closure, "_BEGUN", time.time() - 1.0)
    changed = package / "exact" / "oscillator.py"
    for path in package.rglob("*.py"):
        os.utime(path, (0.0, 0.0))  # a modification time can be set, the time of the last change of the file's entry cannot
    forget()
    assert digest(depends_on(EXACT_KEY), package) is None
    monkeypatch.setattr(import_closure, "_BEGUN", changed.stat().st_ctime + 1.0)
    assert digest(depends_on(EXACT_KEY), package) is not None
    forget()
