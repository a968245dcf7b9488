"""Every dependency has a lower bound and a version that the tests ran with; releases that break numbers are excluded."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tribosweep.kernels.runtime.jax_faults import TESTED
from tribosweep.kernels.runtime.jax_setup import KNOWN_BAD

ROOT = Path(__file__).parents[1]
CAPPED = ("jax", "jaxlib")  # some of their releases return wrong numbers or crash


def required(*extras: str) -> dict[str, Requirement]:
    """The direct dependencies, with those of the extras and of what these include; without arguments, of all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    words, waiting = list(project["dependencies"]), list(extras or optional)
    while waiting:
        for word in optional[waiting.pop()]:
            each = Requirement(word)
            if each.name == "tribosweep":
                waiting += each.extras
            else:
                words.append(word)
    found: dict[str, Requirement] = {}
    for each in map(Requirement, words):
        same = found.setdefault(canonicalize_name(each.name), each)
        assert same.specifier == each.specifier, f"two bounds of {each.name}"
    return found


def known_versions(file: str = "constraints.txt") -> dict[str, Version]:
    """The versions of a file of constraints, by default of those that the tests ran with."""
    lines = [line for line in (ROOT / "tests" / file).read_text().splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}


def test_every_dependency_was_tested_with_a_version_within_its_bounds() -> None:
    known = known_versions()
    for name, each in required().items():
        assert ">=" in str(each.specifier), f"{name} has no lower bound"
        assert name in known, f"{name} is missing in tests/constraints.txt"
        assert known[name] in each.specifier, f"{name} {known[name]} is out of {each.specifier}"


def test_the_minimum_environment_has_the_lower_bounds() -> None:
    minimum, needed = known_versions("constraints-minimum.txt"), required("test")
    bounds = {name: [Version(part.version) for part in each.specifier if part.operator == ">="] for name, each in needed.items()}
    assert {name: [minimum.get(name)] for name in needed} == bounds
    assert not {name for name in required() if name in minimum and name not in needed}, "no test needs these"


def test_exactly_the_releases_with_a_known_fault_are_excluded() -> None:
    for name in CAPPED:
        allowed = required()[name].specifier
        assert {each.version for each in allowed if each.operator == "!="} == KNOWN_BAD.keys()


def test_the_bounds_are_the_oldest_tested_release_and_the_minor_version_after_the_next() -> None:
    oldest, newest = min(map(Version, TESTED)), max(map(Version, TESTED))
    for name in CAPPED:
        allowed = required()[name].specifier
        assert all(release in allowed for release in TESTED)
        assert {Version(each.version) for each in allowed if each.operator == ">="} == {oldest}
        assert {Version(each.version) for each in allowed if each.operator == "<"} == {Version(f"{newest.major}.{newest.minor + 2}")}
