"""Structures in the walk: a body, two points with a support between them, and a modal basis; and what holds for structures alone."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.walk.relations import CLOSE, Relation, differ, one_of, registered, say
from tests.walk.settings import TIMES, Row, Setting, run, typical, with_results
from tests.walk.studies import compare_rows
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import trace
from tribosweep.kernels.structure_samples import samples
from tribosweep.sweep.structure.basis_files import write_basis

OF_ROWS = ("m", "k", "c", "x0", "v0", "mu", "mu_s", "mu_d", "gap", "k_t", "c_n", "angle", "centre_1", "centre_2", "amplitude", "omega",
           "phase", "constant", "frequency_factor", "damping_factor", "start_factor", "load_factor")  # fmt: skip
MOVING = ("m", "k", "amplitude", "omega", "gap", "k_n", "v0", "mu", "c_t")
TURNED = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
SIDEWAYS = ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
MIRRORED = ("amplitude", "constant", "x0", "v0", "start_factor", "start_rate_factor")
OF_STRUCTURES: dict[str, Relation] = {}
of_structures = registered(OF_STRUCTURES)


@dataclass(frozen=True)
class Built(Setting):
    """A structure with a scheme: "body", "pair" or "modes".

    Attributes:
        backwards: whether points, supports and loads are given in the other order. turned: whether its supports are turned by half a turn
            about z. units: metre, second and kilogram, in which its own numbers are given. channels: of a record, which the loads follow.
    """

    scheme: str = "euler"
    backwards: bool = False
    turned: bool = False
    units: tuple[float, float, float] = (1.0, 1.0, 1.0)
    channels: tuple[int | None, int | None] = (None, None)

    @property
    def structure(self) -> Structure:
        """The structure."""
        return built(self.name, self.backwards, self.turned, self.units, self.channels)

    @property
    def model(self) -> Model:
        """Its model."""
        return self.structure.model

    def in_units(self, powers: Mapping[str, float]) -> Setting:
        """The setting whose own numbers are in other units."""
        return replace(self, units=(powers["m"], powers["s"], powers["kg"]))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The parameters that rows may have."""
        return tuple(q for q in self.model.parameters if q.name.partition("[")[0] in OF_ROWS)

    @property
    def base(self) -> Row:
        """A row that moves and hits."""
        found = {q.name: typical(q) for q in self.quantities if q.name.partition("[")[0] in MOVING and q.name not in ("gap", "mu")}
        found |= {
            q.name: 0.3 * value for q, value in ((q, found.get(q.name)) for q in self.quantities) if value and q.name.startswith("gap[")
        }
        found |= {q.name: typical(q) for q in self.model.parameters if q.name.startswith(("k_n[", "c_t["))}
        return found


@functools.cache
def built(
    name: str, backwards: bool, turned: bool, units: tuple[float, float, float], channels: tuple[int | None, int | None]
) -> Structure:
    """A structure by name."""
    metre, second, kilogram = units
    axes, sideways = (TURNED, tuple(tuple(-part for part in row) for row in SIDEWAYS[:2]) + SIDEWAYS[2:]) if turned else (
        (tuple(map(tuple, np.eye(3).tolist()))), SIDEWAYS)  # fmt: skip
    shapes = {
        "one": np.array([[1.0, 0.2, 0.5], [0.1, 1.0, -0.6], [0.0] * 3]),
        "two": np.array([[0.4, -0.7, 0.3], [0.6, 0.3, 0.9], [0.0] * 3]),
    }
    put = reversed if backwards else iter
    supports = [Support("ring", "one", "ring", axes=axes), Support("stop", "two", "plane", axes=sideways)]
    loads = [Load("ground"), Load("push", "force", direction=(0.0, 1.0, 0.0), point="two")]
    loads = [replace(load, channel=channel) for load, channel in zip(loads, channels, strict=True)]
    if name == "body":
        supports = [replace(each, point="centre") for each in supports]
        loads = [loads[0], Load("across", direction=(0.0, 1.0, 0.0), channel=channels[1])]
        return Structure(body_basis("xy"), [*put(supports)], [*put(loads)], body=True)
    if name == "pair":
        supports = [Support("between", "one", "two planes", other="two", axes=axes), supports[1]]
    omega, mass = np.array([6.0, 15.0, 35.0]) / second, np.array([0.5, 0.8, 0.4]) * kilogram
    along = np.array([[1.0, 0.5, 0.2], [0.3, 1.0, 0.1], [0.0] * 3])
    basis = Basis(omega, mass, np.full(3, 0.02), dict(put([*shapes.items()])), along)
    return Structure(basis, [*put(supports)], [*put(loads)], [*put(["one", "two"])], start=0.01 * metre * np.array([1.0, -2.0, 3.0]))


@of_structures
def a_structure_in_another_order_is_the_same(setting: Built, many: list[Row]) -> None:
    """Points, supports and loads mean the same in any order."""
    say(setting, many, differ(setting.model, run(setting, many), run(replace(setting, backwards=True), many), CLOSE))


@of_structures
def channels_mean_the_same_in_any_order(setting: Built, many: list[Row]) -> None:
    """Loads follow the channels of a record by their numbers, which say nothing else; a record of zeros is none."""
    waves = np.sin(np.outer([7.0, 11.0], 0.01 * np.arange(60.0)))
    many = [row | {"record": 0.0} for row in many]
    found, other = (
        run(replace(setting, channels=channels), many, records=Records(2.0 * waves[np.newaxis, list(channels)], 0.01))
        for channels in ((0, 1), (1, 0))
    )
    say(setting, many, differ(setting.model, found, other, 0.0))
    silent = run(replace(setting, channels=(0, 1)), many, records=Records(0.0 * waves[np.newaxis], 0.01))
    plain = run(setting, [{n: v for n, v in row.items() if n != "record"} for row in many])
    say(setting, many, differ(setting.model, plain, silent, CLOSE))


@of_structures
def a_structure_turned_by_half_a_turn_is_its_mirror(setting: Built, many: list[Row]) -> None:
    """With loads, start and supports turned by half a turn about z a structure does the same, and its displacements change their signs."""
    other = [{n: -v if n.partition("[")[0] in MIRRORED else v for n, v in row.items()} for row in many]
    start = [] if setting.name == "body" else ["start_factor"]
    other = [row | {n: row.get(n, -1.0) for n in start} for row in other]
    factors = {q.name: -1.0 for q in setting.model.observables if q.name.partition("[")[0][1:] in ("_end", "_rate_end")}
    say(setting, many, differ(setting.model, run(setting, many), run(replace(setting, turned=True), other), 0.0, factors))


@of_structures
def entries_of_a_structure_agree(setting: Built, many: list[Row]) -> None:
    """The samples and the trace of a run have the numbers of a batch."""
    found = run(setting, many)
    for number, row in enumerate(many[:2]):
        batch = one_of(found, number)
        if not with_results(found)[number]:
            continue
        sampled = samples(setting.model, row, [0.0, row["end"]], setting.scheme)
        seen = {name: np.asarray(value)[None] for name, value in sampled.items() if name in batch and np.ndim(value) == 0}
        say(setting, [row], differ(setting.model, batch, seen, CLOSE))
        course = trace(setting.model, row, setting.scheme, rows=0)
        point = setting.structure.observed[0]
        ends = {f"x_end[{point}]": course[f"x[{point}]"][-1:], f"x_rate_end[{point}]": course[f"x_rate[{point}]"][-1:]}
        say(setting, [row], differ(setting.model, batch, ends, CLOSE))


@of_structures
def a_study_of_a_structure_has_the_rows_of_a_batch(setting: Built, many: list[Row]) -> None:
    """A run of a study in two shares, and of its resolved study, has the rows of a batch."""
    from tribosweep import sweep

    found = run(setting, many)
    names = {name for row in many for name in row if name not in TIMES}
    with tempfile.TemporaryDirectory() as folder:
        study = document(setting, Path(folder)) | {"sweep": {"design": "zip", "axes": {
            name: [row.get(name, "default") for row in many] for name in sorted(names)}}}  # fmt: skip
        out = Path(folder) / "out"
        for part in (1, 2):
            done = sweep.run(study, out, share=sweep.Share(part, 2), progress=False)
        compare_rows(setting, many, found, done.to_pandas(), 0.0)
        again = sweep.run(out / "config.toml", Path(folder) / "again", progress=False)
        compare_rows(setting, many, found, again.to_pandas(), CLOSE)


def document(setting: Built, folder: Path) -> dict[str, Any]:
    """The study of a structure, whose basis is a file in a folder."""
    of = setting.structure
    body: dict[str, Any] = {"directions": "xy"}
    if not of.body:
        write_basis(folder / "basis.json", of.basis)
        body = {"basis": str(folder / "basis.json"), "observed": [*of.observed], "start": [] if of.start is None else of.start.tolist()}
    supports, loads = {}, {}
    for each in map(of.support, of.order):
        own = {"obstacle": each.obstacle, "axes": [*map(list, each.axes)], "point": each.point, "other": each.other}
        supports[each.name] = {name: value for name, value in own.items() if value is not None and (name != "point" or not of.body)}
    for load in of.loads:
        loads[load.name] = {"direction": [*load.direction]} | ({"kind": load.kind, "point": load.point} if load.point else {})
    study = {"study": {"model": setting.model.name, "scheme": setting.scheme}, "time": dict(TIMES)}
    return study | {"structure": body, "supports": supports, "loads": loads}
