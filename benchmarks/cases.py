"""Rows of every kind of program, for `programs` and `accelerator`. Row i is the same for any number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tribosweep.kernels.batch.solve import Solution

# parts of row i are the fractions of i times these: evenly spread for any number of rows
RATIOS = (0.7548776662466927, 0.5698402909980532, 0.3819660112501051, 0.2360679774997898)
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Case:
    """Rows that one program runs.

    Attributes:
        model, scheme, window: see `tribosweep.kernels.batch.solve.solve`.
        rows: number of rows of a timed run, which takes about half a second on two cores.
        constants: parameters of all rows. ranges: parameters that differ from row to row, and their least and largest value.
        along: parameters by which the case differentiates; without any it is a program of values.
        records: number of records over which the rows are dealt; each has 2 s of noise at steps of 0.01 s.
    """

    model: str
    scheme: str
    rows: int
    constants: Mapping[str, Any]
    ranges: Mapping[str, Range]
    window: str | None = None
    along: tuple[str, ...] = ()
    records: int = 0

    def columns(self, count: int, first: int = 0) -> dict[str, Any]:
        """Parameters of `count` rows from number `first` on."""
        found, number = dict(self.constants), np.arange(first, first + count)
        for ratio, (name, (low, high)) in zip(RATIOS, self.ranges.items(), strict=False):
            found[name] = low + (high - low) * np.modf(number * ratio)[0]
        if self.records:
            found["record"] = (number % self.records).astype(float)
        return found

    def bank(self) -> Any:
        """The records, or None."""
        from tribosweep.kernels.excitation.record import Records

        return Records(np.random.default_rng(1).normal(0.0, 10.0, (self.records, 200)), 0.01) if self.records else None

    def solve(self, count: int, first: int = 0, room: int = 0, dtype: Any = np.float64) -> Solution:
        """Run `count` rows from number `first` on; `room` and `dtype` see `tribosweep.kernels.batch.solve.solve`."""
        from tribosweep.kernels.batch.solve import solve
        from tribosweep.kernels.models import MODELS

        return solve(
            MODELS[self.model], self.scheme, self.columns(count, first), {}, count, self.window, room=room, dtype=dtype, records=self.bank()
        )


class Tubes(Case):
    """Rows of the tubes of `structures`, 1000 steps each."""

    def columns(self, count: int, first: int = 0) -> dict[str, Any]:
        """Parameters of `count` tubes from number `first` on."""
        from benchmarks import structures

        return {**self.constants, **{name: values[first:] for name, values in structures.columns(first + count).items()}}

    def solve(self, count: int, first: int = 0, room: int = 0, dtype: Any = np.float64) -> Solution:
        """See `Case.solve`."""
        from benchmarks import structures
        from tribosweep.kernels.batch.solve import solve

        given = {**structures.CONTACT, **self.columns(count, first)}
        given |= {f"amplitude[{way}]": size for way, size in zip("xy", structures.AMPLITUDES, strict=True)}
        given |= {"omega[y]": structures.OMEGA_Y, "step": structures.STEP, "end": 1000 * structures.STEP}
        return solve(structures.tube().model, self.scheme, given, {}, count, room=room, dtype=dtype)


SDND104: dict[str, float] = {"window_start": 4.0, "end": 12.0}
PENALISED = {"k": 3e-5, "k_t": 9e6}
STEPPED = {**SDND104, **PENALISED, "step": 1e-4}
PLANE: dict[str, Range] = {"a0": (0.5, 20.0), "mu": (0.01, 1.01)}
STOP = {"m": 1.0, "k": 1.0, "c": 0.1, "k_n": 1e3, "c_n": 1.0, "gap": 0.1}
SHAKEN: dict[str, Range] = {"a0": (0.5, 2.0), "omega": (0.5, 3.0)}
WALL_A = {"m": 1.0, "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "k_post": 0.5, "end": 12.0}
TABLE = {
    "m": 1.0, "k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0, "end": 12.0,
    "post_set": np.array([2.0, 3.0, 4.0, 5.0]), "post_stiffness": np.array([0.2, 0.15, 0.125, 0.1]),
}  # fmt: skip
CRASH_BOX = {"k_n": 1500.0, "f_crit": 25.0, "plateau": 0.01, "softening": 0.02, "f_post": 15.0, "k_post": 600.0}
QUAKE = {"m": 1.0, "k": 30.0, "c": 0.4, "gap": 0.02, "end": 2.0, **CRASH_BOX}
TWO_WALLS = {
    "m": 1.0, "k": 30.0, "c": 0.4, "gap": 0.04, "k_n": 5000.0, "c_n": 5.0, "end": 10.0, "left_gap": 0.06,
    **{f"left_{name}": value for name, value in CRASH_BOX.items()},
}  # fmt: skip
MINUTE = {"end": 60.0}

CASES: dict[str, Case] = {
    "rigid, k = c = 0": Case("rubbing_mass", "exact", 1 << 19, SDND104, PLANE),
    "rigid, k and c": Case("rubbing_mass", "exact", 1 << 17, {**SDND104, "k": 1.0, "c": 0.1}, PLANE),
    "penalised, critical c_t": Case("rubbing_mass", "exact", 1 << 13, {**SDND104, **PENALISED}, PLANE),
    "penalised, c_t = 300": Case("rubbing_mass", "exact", 1 << 11, {**SDND104, **PENALISED, "c_t": 300.0}, PLANE),
    "penalised, c_t = 0": Case("rubbing_mass", "exact", 1 << 9, {**SDND104, **PENALISED, "c_t": 0.0}, PLANE),
    "wall, SDND105 A": Case("buckling_wall", "exact", 1 << 13, WALL_A, {"v0": (0.5, 4.0)}),
    "wall with a table": Case("buckling_wall", "exact", 1 << 13, TABLE, {"v0": (0.5, 3.2)}),
    "wall, record of 2 s": Case("buckling_wall", "exact", 1 << 9, QUAKE, {"record_scale": (0.5, 2.0)}, records=4),
    "two walls": Case("two_walls", "exact", 1 << 10, TWO_WALLS, {"a0": (0.5, 10.0), "omega": (3.0, 12.0)}),
    "stop, 60 s": Case("stop", "exact", 1 << 12, {**STOP, **MINUTE}, SHAKEN),
    "stop with friction, 60 s": Case("stop", "exact", 1 << 9, {**STOP, **MINUTE, "mu": 0.01}, SHAKEN),
    "stop, steady": Case("stop", "exact", 1 << 6, STOP, SHAKEN, window="steady"),
    "rigid, steady": Case("rubbing_mass", "exact", 1 << 13, {"k": 1.0, "c": 0.1}, PLANE, window="steady"),
    "derivatives, rigid, k = c = 0": Case("rubbing_mass", "exact", 1 << 15, SDND104, PLANE, along=("a0", "mu", "omega")),
    "derivatives, rigid, k and c": Case("rubbing_mass", "exact", 1 << 13, SDND104, {**PLANE, "k": (0.5, 1.5)}, along=("a0", "mu", "k")),
    "derivatives, penalised": Case(
        "rubbing_mass", "exact", 1 << 11, {**SDND104, **PENALISED, "c_t": 6000.0}, PLANE, along=("a0", "mu", "k_t")
    ),
    "derivatives, stop": Case("stop", "exact", 1 << 9, {**STOP, **MINUTE}, SHAKEN, along=("k_n", "c_n", "gap")),
    "derivatives, wall with a table": Case("buckling_wall", "exact", 1 << 11, TABLE, {"v0": (0.5, 3.2)}, along=("k_n", "f_crit", "f_post")),
    "derivatives, euler": Case("rubbing_mass", "euler", 1 << 6, {**STEPPED, "end": 5.0}, PLANE, along=("a0", "mu", "k_t")),
    "euler in lockstep": Case("rubbing_mass", "euler", 1 << 12, STEPPED, PLANE),
    "rk54": Case("rubbing_mass", "rk54", 1 << 11, STEPPED, PLANE),
    "structure by euler": Tubes("structure", "euler", 1 << 10, {}, {}),
}  # fmt: skip
