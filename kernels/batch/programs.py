"""The function that belongs to a `ProgramKey`: it runs one oscillator, from its parameters to its observables.

`module_of` names the module that has the function. It is imported by that name alone, and not until a program is traced: a kept program
depends on the files that its own module reaches and not on those of other engines, and needs no JAX to be found. Nothing here imports JAX.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tribosweep.kernels.batch.program_key import IMAGE, LOCKSTEP, ProgramKey
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.contacts import Kind
from tribosweep.kernels.models.schemes import EXACT, SINGLE, STEADY

if TYPE_CHECKING:
    from tribosweep.kernels.numerics.numbers import Array

Program = Callable[[dict[str, Any]], tuple[dict[str, "Array"], "Array"]]


def program(key: ProgramKey, nested: bool = False) -> Program:
    """The program of a key.

    Args:
        nested: whether derivatives of order 2 and more are taken of it (see `forward_sensitivity`).

    Returns:
        Resolved parameters of one row (scalars, tables (n,); SI units) -> observables by name, and the status code. For the engine QUEUE
        `tribosweep.kernels.batch.queue` does the same with many rows.

    What is not in `key.asked.columns` is not returned, and XLA removes what only such results need from the loop.
    """
    module, fixed = _runs(key, nested)
    run: Program = functools.partial(importlib.import_module(module).simulate, **fixed)
    if not key.asked.columns:
        return run

    def some(p: dict[str, Any]) -> tuple[dict[str, Array], Array]:
        found, status = run(p)
        return asked_for(key, found), status

    return some


def asked_for(key: ProgramKey, found: dict[str, Array]) -> dict[str, Array]:
    """Those of the observables that are asked for: all if no columns are."""
    return {name: value for name, value in found.items() if name in key.asked.columns} if key.asked.columns else found


def module_of(key: ProgramKey) -> str:
    """The full name of the module that runs a key: with its function `simulate`, in a queue with those that `queue.driver` takes."""
    return _runs(key)[0]


def depends_on(key: ProgramKey) -> tuple[str, ...]:
    """The modules from which imports reach all code of the program of a key, and the folder of C++ that it calls."""
    outside = [
        law.module for switch, law in outside_laws.laws().items() if switch in key.varied
    ]  # not of this package: such a program is not kept
    return ("tribosweep.kernels.batch.compile", module_of(key), *["tribosweep.kernels.native"] * key.native, *outside)


def engine(key: ProgramKey) -> Any:
    """The module that runs a key, imported."""
    return importlib.import_module(module_of(key))


def _runs(key: ProgramKey, nested: bool = False) -> tuple[str, dict[str, Any]]:
    """The name of the module that runs a key, and the arguments of its `simulate` besides the parameters. It is not imported."""
    if key.scheme != EXACT:
        return _by_steps(key)
    if key.engine == STEADY:
        return "tribosweep.kernels.exact.periodic_orbit", {"build": section_of(key), "multipliers": key.asked.multipliers}
    if key.engine == IMAGE:
        return "tribosweep.kernels.exact.section_image", {"build": section_of(key), "along": key.along}
    if key.rigid_loop and key.precision == SINGLE:
        return "tribosweep.kernels.exact.rigid_loop_float32", {"free": key.free}
    if key.rigid_loop:
        return "tribosweep.kernels.exact.rigid_loop", {"free": key.free, "nested": nested}
    contacts = {"kind": contacts_of(key), "nested": nested}
    return (
        ("tribosweep.kernels.exact.forces", contacts)
        if key.forces
        else ("tribosweep.kernels.exact.oscillator", contacts | {"asked": key.asked})
    )


def _by_steps(key: ProgramKey) -> tuple[str, dict[str, Any]]:
    """`_runs` of a time scheme."""
    lockstep = key.engine == LOCKSTEP
    if key.structure is not None:
        module = "tribosweep.kernels.stepping.structure_lockstep" if lockstep else "tribosweep.kernels.stepping.structure_loop"
        return module, {"scheme": key.scheme, "key": key.structure}
    if key.native:
        return "tribosweep.kernels.stepping.native_lockstep", {}
    walls = {"scheme": key.scheme, "walls": key.walls}
    return (
        ("tribosweep.kernels.stepping.lockstep", walls) if lockstep else ("tribosweep.kernels.stepping.loop", walls | {"asked": key.asked})
    )


def contacts_of(key: ProgramKey) -> Kind:
    """The contacts of a program of the exact engine, as input of the event loop of all laws."""
    return Kind(key.friction, key.walls, key.asked, key.stiff)


def section_of(key: ProgramKey) -> Callable[[dict[str, Any]], Any]:
    """The Poincare section of a program of STEADY or IMAGE: parameters of `poincare.lasting` -> section."""
    kind = contacts_of(key)
    if key.asked.multipliers and key.walls:  # the extremes of the motion tell how near it is to a touch
        kind = kind._replace(asked=key.asked._replace(statistics=True))

    def build(p: dict[str, Any]) -> Any:
        poincare = importlib.import_module("tribosweep.kernels.exact.poincare")  # both modules import it
        return poincare.rigid(p, free=key.free) if key.rigid_loop else poincare.contacts(p, kind=kind)

    return build
