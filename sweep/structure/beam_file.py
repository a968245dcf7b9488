"""A beam described in TOML: the table [beam] with its numbers, and [beam.points] with named positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.beam import CLAMPED, ELEMENTS, ENDS, FREE, GUIDED, PINNED, Beam
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.toml import read_toml
from tribosweep.sweep.io.values import read_number

NUMBERS = (
    Quantity("length", "m", "length of the beam", lower=0.0, lower_open=True),
    Quantity("bending_stiffness", "N m^2", "E I", lower=0.0, lower_open=True),
    Quantity("mass_per_length", "kg/m", "mass per length, with that of the fluid that moves along", lower=0.0, lower_open=True),
    Quantity("modes", "", "number of modes in each of the two planes", kind="integer", lower=1.0),
)
OPTIONAL = (
    Quantity("damping", "1", "damping ratio of all modes", default=0.01, lower=0.0),
    Quantity("correction_damping", "1", "damping ratio of static corrections", default=0.05, lower=0.0),
    Quantity("elements", "", "number of finite elements", kind="integer", default=float(ELEMENTS), lower=2.0),
)
WORDS = ("ends", "points", "corrected", "springs", "masses")
POSITION = Quantity("position", "m", "position along the beam", lower=0.0)
SPRING = Quantity("stiffness", "N/m", "stiffness of a spring to the ground", lower=0.0)
MASS = Quantity("mass", "kg", "mass that is added at a position", lower=0.0)


def read_beam(path: Path) -> Basis:
    """The basis of a beam in a TOML file with a table [beam].

    Raises:
        ConfigError: with all problems of the file. ValueError: numbers that do not fit together. OSError: it cannot be read.
    """
    tables = read_toml(path)
    problems = [Problem(name, f"there is no such table; {advise(name, ['beam'])}") for name in tables if name != "beam"]
    beam = tables.get("beam")
    if not isinstance(beam, dict):
        raise ConfigError(str(path), [*problems, Problem("beam", "is missing: a table [beam] with length, bending_stiffness and so on")])
    known = [*(quantity.name for quantity in (*NUMBERS, *OPTIONAL)), *WORDS]
    problems += [Problem(f"beam.{name}", f"there is no such key; {advise(name, known)}") for name in beam if name not in known]
    found: dict[str, Any] = {}
    for quantity in (*NUMBERS, *OPTIONAL):
        where = f"beam.{quantity.name}"
        if quantity.name in beam:
            found[quantity.name] = read_number(quantity, where, beam[quantity.name], problems)
        elif quantity.default is None:
            problems.append(Problem(where, f"is missing ({quantity.description}{quantity.unit_suffix and f',{quantity.unit_suffix}'})"))
        else:
            found[quantity.name] = quantity.default
    ends = beam.get("ends", [PINNED, PINNED])
    if not (isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, str) and end in ENDS for end in ends)):
        problems.append(Problem("beam.ends", f"must be two of {CLAMPED}, {PINNED}, {GUIDED} and {FREE}"))
    points = _named_positions(beam.get("points", {}), problems)
    corrected = beam.get("corrected", [])
    if not (isinstance(corrected, list) and all(isinstance(name, str) for name in corrected)):
        problems.append(Problem("beam.corrected", "must be a list of names of points"))
    springs = _pairs(beam.get("springs", []), "beam.springs", SPRING, problems)
    masses = _pairs(beam.get("masses", []), "beam.masses", MASS, problems)
    if problems:
        raise ConfigError(str(path), problems)
    made = Beam(
        found["length"],
        found["bending_stiffness"],
        found["mass_per_length"],
        (ends[0], ends[1]),
        springs,
        masses,
        int(found["elements"]),
    )
    return made.basis(int(found["modes"]), points, found["damping"], corrected, found["correction_damping"])


def _named_positions(points: Any, problems: list[Problem]) -> dict[str, float]:
    """Names of points and their positions [m]."""
    if not isinstance(points, dict):
        problems.append(Problem("beam.points", "must be a table: name = position"))
        return {}
    found = {name: read_number(POSITION, f"beam.points.{name}", value, problems) for name, value in points.items()}
    return {name: value for name, value in found.items() if value is not None}


def _pairs(given: Any, where: str, quantity: Quantity, problems: list[Problem]) -> list[tuple[float, float]]:
    """Positions [m] with a number of a quantity each."""
    if not (isinstance(given, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in given)):
        problems.append(Problem(where, f"must be a list of [position, {quantity.name}] pairs"))
        return []
    read = [
        (read_number(POSITION, f"{where}[{i}][0]", place, problems), read_number(quantity, f"{where}[{i}][1]", value, problems))
        for i, (place, value) in enumerate(given)
    ]
    return [(place, value) for place, value in read if place is not None and value is not None]
