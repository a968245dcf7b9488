"""Every dependency has a lower bound and a version that the tests ran with; releases that break numbers are excluded."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kernels.runtime.jax_setup import KNOWN_BAD

ROOT = Path(__file__).parents[1]
CAPPED = ("jax", "jaxlib")  # most of their recent releases returned wrong numbers somewhere


def required() -> dict[str, Requirement]:
    """The direct dependencies, those of extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    words = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    found = [Requirement(word) for word in words if not word.startswith("tribosweep")]
    return {canonicalize_name(each.name): each for each in found}


def known_versions() -> dict[str, Version]:
    """The versions that the tests ran with."""
    lines = [line for line in (ROOT / "tests" / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}


def test_every_dependency_was_tested_with_a_version_within_its_bounds() -> None:
    known = known_versions()
    for name, each in required().items():
        assert ">=" in str(each.specifier), f"{name} has no lower bound"
        assert name in known, f"{name} is missing in tests/constraints.txt"
        assert known[name] in each.specifier, f"{name} {known[name]} is out of {each.specifier}"


def test_releases_that_break_numbers_are_excluded() -> None:
    for name in CAPPED:
        allowed = required()[name].specifier
        assert "<" in {each.operator for each in allowed}, f"{name} has no upper bound"
        assert not [version for version in KNOWN_BAD if version in allowed]
