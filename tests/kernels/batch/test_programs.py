"""The files that name a kept program hold all the code that runs while it is traced, and none of other engines."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tests import frozen
from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import depends_on, module_of
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.branches.section_map import SectionMap
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.beam import Beam
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, SCHEMES, STEADY
from tribosweep.kernels.models.structures import Load, Structure
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.runtime.import_closure import PACKAGE, files

ENGINES = {"exact", "stepping", "native", "branches", "reference"}  # folders
VARIED = ("two surfaces", "Stribeck with an exponent", "LuGre with Stribeck", "Dahl")
SCHEMES_OF_STEPS = [scheme for scheme in SCHEMES if scheme != EXACT]
FROZEN = (  # cases of `tests.frozen`
    "exact, rigid", "exact, rigid, float32", "exact, rigid, lean", "exact, rigid, lean, float32", "exact, rigid, observed",
    "exact, rigid, tones", "exact, rigid, record", "exact, penalised", "exact, two bodies, bare",
    "exact, buckling by a table, penalised", "exact, buckling, damping excluded, bare", "exact, two walls, rigid, observed",
    "steady, rigid", "steady, rigid, lean",
    *(f"{scheme}, penalised" for scheme in SCHEMES_OF_STEPS),
    *(f"{scheme}, penalised, ends of its own, float32" for scheme in SCHEMES_OF_STEPS),
    "euler, penalised, lean", "euler, buckling by a table", "devogelaere, two walls", "adapt2, stop, float32",
    *(f"rk54, penalised, {more}" for more in (*VARIED, *frozen.DRIVES, "observed", "all at once, float32")),
    "rk54, stop, observed", "rk54, buckling by a table", "rk54, two walls",
)  # fmt: skip

MASS = frozen.oscillators("others", 2) | {"mu": 0.1, "normal_force": 8.0}
TABLE = {"table_time": np.array([0.0, 1.0, 2.0]), "table_force": np.array([0.0, 1.0, 0.0])}
PULSE = {"pulse": 2.0, "pulse_a0": 1.0, "pulse_duration": 0.1}
LINKS: dict[str, dict[str, Any]] = {
    "springs": {"spring_displacement": np.array([0.0, 0.1]), "spring_force": np.array([0.0, 5.0])},
    "dampers": {"damper_velocity": np.array([0.0, 0.1]), "damper_force": np.array([0.0, 5.0])},
    "Maxwell": {"maxwell_stiffness": np.array([10.0]), "maxwell_damping": np.array([1.0]), "maxwell_exponent": 0.5},
    "hardening": {"hardening_displacement": np.array([0.0, 0.01, 0.1]), "hardening_force": np.array([0.0, 1.0, 2.0])},
}


def exact(model: str = "rubbing_mass", more: dict[str, Any] | None = None, **options: Any) -> frozen.Case:
    """Two masses by scheme exact."""
    known = {name: value for name, value in MASS.items() if not options.get("window") or name not in ("end", "window_start")}
    return frozen.by_batch(model, EXACT, known | (more or {}), 2, **options)


def structure(scheme: str, supports: int = 2, **more: Any) -> frozen.Case:
    """Two rows of a tube with a ring and a plane, with that many of them; one of its loads follows a record."""

    def run() -> dict[str, np.ndarray]:
        basis = Beam(3.0, 1e3, 0.9, elements=6).basis(2, {"a": 1.0, "b": 2.0}, 0.02)
        stands = [Support("ring", "a", "ring"), Support("stop", "b", "plane")][:supports]
        loads = [Load("ground", channel=0), Load("push", "force", direction=(0.0, 1.0, 0.0), point="b")]
        model = Structure(basis, stands, loads, observed=("b",), peak_edges=(0.0, 50.0, 1e4), modal_energies=True).model
        given = {"amplitude[push]": np.array([10.0, 20.0]), "omega[push]": 210.0, "end": 0.01, "record": 0.0}
        given |= {"k_n": 1e5, "mu": 0.3, "k_t": 1e5, "gap[ring]": 5e-4, "gap[stop]": 3e-4} if supports else {}
        given |= {"step": 1e-5} if SCHEMES[scheme].fixed_step else {}
        return dict(solve(model, scheme, given | more, count=2, records=Records(np.ones((1, 1, 9)), 0.1)).observables)

    return run


def image() -> dict[str, np.ndarray]:
    """The image of a point of a section, of a mass beside a stop."""
    mapped = SectionMap(MODELS["stop"], {"omega": 6.0, "k": 20.0, "k_n": 800.0, "gap": 0.02, "mu": 0.1}, ("a0",), [(1.0, 2.0)])
    one = np.ones(1)
    return mapped(np.zeros(1, int), np.ones((1, 1)), np.zeros((1, mapped.dimension)), one, one, 0.0 * one).observables


OTHERS: dict[str, frozen.Case] = {  # programs that `tests.frozen` has not
    "exact, rigid, table": exact(more=TABLE),
    "exact, rigid, pulse": exact(more=PULSE),
    "exact, rigid, two surfaces": exact(more=frozen.VARIED["two surfaces"]),
    "exact, rigid, belt": exact(more=frozen.VARIED["belt"]),
    "exact, penalised, some columns": exact(more={"k_t": 1e4}, asked=Asked(columns=("wear_power", "slip_distance"))),
    "steady, stop, multipliers": exact("stop", {"k_n": 800.0, "gap": 0.02}, window=STEADY, asked=Asked(multipliers=True)),
    "image, stop": image,
    **{
        f"rk54, penalised, {name}": frozen.by_batch("rubbing_mass", "rk54", MASS | {"k_t": 1e4} | more, 2)
        for name, more in {**LINKS, "table": TABLE, "pulse": PULSE}.items()
    },
    "structure, euler, lockstep": structure("euler"),
    "structure, devogelaere, lockstep, no support": structure("devogelaere", supports=0),
    "structure, euler, queue": structure("euler", step=np.full(2, 1e-5)),
    "structure, rk54, turned": structure("rk54", **{"angle[stop]": 0.1}),
    "structure, adapt2, moved": structure("adapt2", **{"position[ring]": 1.1, "pulse[push]": 1.0, "pulse_amplitude[push]": 1.0}),
}

Traced = tuple[ProgramKey, int, dict[str, Any], tuple[str, ...]]  # the arguments of `compiled`


@functools.cache
def frozen_cases() -> dict[str, frozen.Case]:
    """The cases of `tests.frozen`."""
    return dict(frozen.cases())


class FoundError(Exception):
    """The program of a case is known, and shall not run."""


@pytest.fixture
def program_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Traced]:
    """Name of a case -> the first program that runs it."""

    def compiled(*arguments: Any) -> None:
        raise FoundError(arguments)

    def found(name: str) -> Traced:
        with monkeypatch.context() as patch:
            patch.setattr(programs, "compiled", compiled)
            with pytest.raises(FoundError) as raised:
                (OTHERS.get(name) or frozen_cases()[name])()
        arguments: Traced = raised.value.args[0]
        return arguments

    return found


def met(key: ProgramKey, devices: int, shapes: dict[str, Any], lanes: tuple[str, ...]) -> set[Path]:
    """The files of the package with a function that runs while the program is traced."""
    made = programs.traced.__wrapped__(key, devices, lanes)
    arguments = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
    seen: set[str] = set()

    def called(frame: Any, *_: Any) -> None:
        seen.add(frame.f_code.co_filename)

    before = sys.gettrace()
    sys.settrace(called)
    try:
        made.trace(arguments, jax.ShapeDtypeStruct((devices,), np.int32))
    finally:
        sys.settrace(before)
    return {path for path in map(Path, seen) if path.is_relative_to(PACKAGE)}


def check(found: Traced) -> None:
    """All files that are met are in the name of the program; files of other engines are not."""
    named, run = set(files(depends_on(found[0]))), met(*found)
    assert run <= named, (
        f"{found[0]}: {sorted(str(path.relative_to(PACKAGE)) for path in run - named)} can change it and are not in its name"
    )
    own = "exact" if found[0].scheme == EXACT else "stepping"
    assert own in {path.relative_to(PACKAGE).parts[0] for path in run}  # the program was not traced before
    assert {path.relative_to(PACKAGE).parts[0] for path in named} & ENGINES == ({own, "native"} if found[0].native else {own})


@pytest.mark.parametrize("name", ["exact, rigid, lean", "euler, penalised, lean"])
def test_code_that_is_traced_is_in_the_name_of_its_program(name: str, program_of: Callable[[str], Traced]) -> None:
    check(program_of(name))


def test_code_that_is_not_in_the_name_is_noticed(program_of: Callable[[str], Traced]) -> None:
    found = program_of("exact, rigid, lean")
    other = set(files(depends_on(dataclasses.replace(found[0], walls=(WallLaw("stop"),)))))
    assert {path.name for path in met(*found) - other} >= {"rigid_loop.py", "rigid_undamped.py"}


def test_programs_of_every_module_are_traced(program_of: Callable[[str], Traced]) -> None:
    named = set(re.findall(r'"(tribosweep\.kernels\.\w+\.\w+)"', Path(inspect.getfile(module_of)).read_text()))
    called = {
        "tribosweep.kernels.batch.compile",
        "tribosweep.kernels.exact.poincare",
        "tribosweep.kernels.exact.forces",
    }  # the last by calls from Python alone
    native = {"tribosweep.kernels.stepping.native_lockstep"}
    assert {module_of(program_of(name)[0]) for name in (*FROZEN, *OTHERS)} | native | called == named


@pytest.mark.long_cases(
    "exact, rigid",
    "exact, buckling by a table, penalised",
    "rk54, penalised, Stribeck with an exponent",
    "exact, penalised",
    "euler, buckling by a table",
    "exact, rigid, record",
    "rk54, penalised, two surfaces",
    "exact, penalised, some columns",
    "exact, rigid, belt",
    "*float32",
    "*lean",
    "exact, rigid, observed",
    "exact, rigid, t*",
    "exact, rigid, pulse",
    "exact, buckling, *",
    "exact, two bodies, bare",
    "steady, rigid",
    "adapt*",
    "devogelaere, t*",
    "rk32*",
    "rk54, penalised, [!SLtr]*",
    "rk54, stop*",
    "rk54, buckling*",
    "rk54, two walls",
    "image, stop",
    "structure, adapt2*",
    "structure, devogelaere*",
)
@pytest.mark.slow
@pytest.mark.parametrize("name", [*FROZEN, *OTHERS])
def test_all_code_that_is_traced_is_in_the_name_of_its_program(name: str, program_of: Callable[[str], Traced]) -> None:
    found = program_of(name)
    jax.clear_caches()  # what was traced for another program runs again
    check(found)
    if name == "euler, penalised":
        check((dataclasses.replace(found[0], native=True), *found[1:]))
