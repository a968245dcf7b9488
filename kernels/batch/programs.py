"""The function that belongs to a `ProgramKey`: it runs one oscillator, from its parameters to its observables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from kernels.batch.program_key import IMAGE, LOCKSTEP, ProgramKey
from kernels.exact import forces, oscillator, periodic_orbit, poincare, rigid_loop, rigid_loop_float32, section_image
from kernels.models.schemes import EXACT, SINGLE, STEADY
from kernels.numerics.numbers import Array
from kernels.stepping import lockstep, loop, native_lockstep, structure_lockstep, structure_loop

Program = Callable[[dict[str, Any]], tuple[dict[str, Array], Array]]


def program(key: ProgramKey, nested: bool = False) -> Program:
    """The program of a key.

    Args:
        nested: whether derivatives of order 2 and more are taken of it (see `forward_sensitivity`).

    Returns:
        Resolved parameters of one row (scalars, tables (n,); SI units) -> observables by name, and the status code. For the engine QUEUE
        `kernels.batch.queue` does the same with many rows.

    What is not in `key.asked.columns` is not returned, and XLA removes what only such results need from the loop.
    """
    run = _whole(key, nested)
    if not key.asked.columns:
        return run

    def some(p: dict[str, Any]) -> tuple[dict[str, Array], Array]:
        found, status = run(p)
        return asked_for(key, found), status

    return some


def asked_for(key: ProgramKey, found: dict[str, Array]) -> dict[str, Array]:
    """Those of the observables that are asked for: all if no columns are."""
    return {name: value for name, value in found.items() if name in key.asked.columns} if key.asked.columns else found


def _whole(key: ProgramKey, nested: bool) -> Program:
    """The program with all its results."""
    if key.scheme != EXACT:
        return _by_steps(key)
    if key.engine == STEADY:
        return functools.partial(periodic_orbit.simulate, build=section_of(key), multipliers=key.asked.multipliers)
    if key.engine == IMAGE:
        return functools.partial(section_image.simulate, build=section_of(key), along=key.along)
    if key.rigid_loop:
        single = functools.partial(rigid_loop_float32.simulate, free=key.free)
        return single if key.precision == SINGLE else functools.partial(rigid_loop.simulate, free=key.free, nested=nested)
    contacts = contacts_of(key)
    if key.forces:
        return functools.partial(forces.simulate, kind=contacts, nested=nested)
    return functools.partial(oscillator.simulate, kind=contacts, asked=key.asked, nested=nested)


def _by_steps(key: ProgramKey) -> Program:
    """The program of a time scheme."""
    if key.structure is not None:
        driver = structure_lockstep if key.engine == LOCKSTEP else structure_loop
        return functools.partial(driver.simulate, scheme=key.scheme, key=key.structure)
    if key.native:
        return native_lockstep.simulate
    if key.engine == LOCKSTEP:
        return functools.partial(lockstep.simulate, scheme=key.scheme, walls=key.walls)
    return functools.partial(loop.simulate, scheme=key.scheme, asked=key.asked, walls=key.walls)


def contacts_of(key: ProgramKey) -> oscillator.Kind:
    """The contacts of a program of the exact engine, as input of the event loop of all laws."""
    return oscillator.Kind(key.friction, key.walls, key.asked, key.stiff)


def section_of(key: ProgramKey) -> poincare.Build:
    """The Poincare section of a steady program."""
    if key.rigid_loop:
        return functools.partial(poincare.rigid, free=key.free)
    kind = contacts_of(key)
    if key.asked.multipliers and key.walls:  # the extremes of the motion tell how near it is to a touch
        kind = kind._replace(asked=key.asked._replace(statistics=True))
    return functools.partial(poincare.contacts, kind=kind)
