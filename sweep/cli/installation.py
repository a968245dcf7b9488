"""`tribosweep doctor`: the checks of an installation."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib import metadata

from tribosweep.kernels.models import outside_laws
from tribosweep.sweep import registry
from tribosweep.sweep.execution.shard import cannot_start
from tribosweep.sweep.io import shipped

PACKAGES = ("jax", "jaxlib", "numpy", "pandas", "pyarrow", "pydantic", "typer", "rich")
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
    """Check Python, the packages, the shipped studies, and the devices."""
    findings = [Finding("python", platform.python_version(), sys.version_info >= OLDEST_PYTHON)]
    findings += [package(name) for name in PACKAGES]
    names = shipped.names()
    findings += [Finding("laws", fault, good=False) for fault in outside_laws.faults()]
    findings += [Finding("analyses", fault, good=False) for fault in registry.faults()]
    findings.append(Finding("studies", f"{len(names)} in {shipped.folder()}", bool(names)))
    if all(finding.good for finding in findings):
        findings += runtime_findings()
    return findings


def package(name: str) -> Finding:
    """The version of an installed package."""
    try:
        return Finding(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "not installed: pip install tribosweep", good=False)


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
