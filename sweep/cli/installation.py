"""`tribosweep doctor`: the checks of an installation."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from tribosweep.sweep.execution.shard import cannot_start
from tribosweep.sweep.io import shipped

PACKAGES = ("jax", "jaxlib", "numpy", "pandas", "pyarrow", "pydantic", "typer", "rich")
DISTRIBUTION = "tribosweep"
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        check: the thing that was checked.
        found: the finding.
        good: whether the finding is as it should be.
    """

    check: str
    found: str
    good: bool = True


def examine() -> list[Finding]:
    """Check Python, the packages, the imported `kernels`, and the devices."""
    findings = [Finding("python", platform.python_version(), sys.version_info >= OLDEST_PYTHON)]
    findings += [package(name) for name in PACKAGES]
    ours = kernels_is_ours()
    findings.append(ours)
    names = shipped.names()
    findings.append(Finding("studies", f"{len(names)} in {shipped.folder()}", bool(names)))
    if ours.good and all(finding.good for finding in findings):
        findings += runtime_findings()
    return findings


def package(name: str) -> Finding:
    """The version of an installed package."""
    try:
        return Finding(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "not installed: pip install tribosweep", good=False)


def kernels_is_ours() -> Finding:
    """Check that `import kernels` finds the package beside `sweep`, and that no other distribution has a package of that name."""
    from tribosweep import kernels

    found = Path(kernels.__file__ or "").resolve().parent
    if found.parent != Path(__file__).resolve().parents[2]:
        return Finding("kernels", f"{found} is another package named kernels: uninstall it", good=False)
    others = sorted(set(metadata.packages_distributions().get("kernels", ())) - {DISTRIBUTION})
    if others:
        advice = f"pip uninstall {' '.join(others)}, then pip install --force-reinstall --no-deps {DISTRIBUTION}"
        return Finding("kernels", f"{' and '.join(others)} is installed too and writes to the same folder: {advice}", good=False)
    return Finding("kernels", str(found))


def runtime_findings() -> list[Finding]:
    """The devices and options of JAX, and known problems with them."""
    from tribosweep.kernels.runtime import jax_faults, jax_setup, native_library, program_cache

    try:
        jax_setup.prepare()
        described = jax_setup.describe() | {"native": native_library.describe()}
    except Exception as error:
        return [Finding("runtime", cannot_start(error), good=False)]
    facts = [Finding("compiled programs", str(program_cache.use() or f"not kept: {program_cache.why_not()}"))]
    facts += [Finding(name, str(value)) for name, value in described.items() if name not in PACKAGES]
    problems = [Finding("problem", problem, good=False) for problem in [*jax_setup.problems(), *jax_faults.problems()]]
    return facts + (problems or [Finding("runtime", "no known problem")])
