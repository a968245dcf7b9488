"""Which steady motion each start of a run leads to.

The run says where each start is at its end. That is brought to the next instant of the Poincare section, t = n 2 pi / omega. From some of
these points, one of each crowded cell of the plane, the search for steady motions begins; what it finds are periodic motions that exist
and attract, whichever start it came from. A start leads to the motion of whose section points one lies within the tolerance of its own. The
search takes Newton steps, but no start is assigned by them. Starts that are near no motion go on for CONTINUED periods more, PASSES times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models.observables import STABILITY
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, STEADY
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.analyses.basins.request import BasinsRequest
from tribosweep.sweep.analyses.basins.result import NOWHERE, Basins, Motion
from tribosweep.sweep.analyses.basins.rows import Starts, read, relative
from tribosweep.sweep.results.analysis import Tell

SAME = 1e-7  # distance of section points of the same motion, relative to the scale
CELLS = 8  # points of each group from which a search begins at a time
SEARCHES = 6  # at most, before starts go on
PASSES, CONTINUED = 6, 50  # how often starts go on that are near no motion, and for how many periods of the excitation
MOST_ROWS = 1 << 17  # of a call of the engine
WHOLE = 1e-9  # part of a period to which a run must end at a section for its end to be taken as it is
ASKED = Asked(multipliers=True)
REST = "slip_distance"
UNSTABLE = STABILITY.index("unstable")


def find(path: Path, request: BasinsRequest, tell: Tell | None = None) -> Basins:
    """The basins of a run whose starts vary.

    Args:
        path: directory of the run. request: what is asked.
        tell: called with the number of starts whose motion is known, and of all.

    Raises:
        ConfigError: see `rows.read`.
    """
    from tribosweep.kernels.runtime import jax_setup, program_cache

    starts = read(path, request.at)
    jax_setup.prepare()
    program_cache.use()
    search = _Search(starts, request.tolerance)
    search.to_section()
    for number in range(PASSES + 1):
        for _ in range(SEARCHES):
            if not search.new_motions():
                break
        if tell is not None:
            tell(int(np.count_nonzero(search.attractor >= 0)), len(starts.x))
        if not search.open.size or number == PASSES:
            break
        search.go_on(float(CONTINUED))
    return search.result()


class _Search:
    """The search for the motions of all groups, side by side."""

    def __init__(self, starts: Starts, tolerance: float) -> None:
        self.starts, self.tolerance = starts, tolerance
        self.omega = starts.of("omega")
        self.length = self.omega * starts.bound
        self.x, self.v, self.good = starts.x.copy(), starts.v.copy(), starts.good.copy()
        apart = np.isfinite(starts.of("m_2")) if "m_2" in starts.parameters else False
        speed = np.abs(starts.of("f0") - np.where(apart, 0.0, starts.of("m") * starts.of("a0"))) / (starts.of("m") * self.omega)
        begun = np.maximum(np.abs(starts.v0), np.abs(starts.x0) * self.omega)
        top = float(np.max(begun[self.good], initial=0.0)) or 1.0
        self.scale = np.where(speed > 0.0, speed, top)
        self.friction = starts.of("mu_s") * starts.of("normal_force")
        self.attractor = np.full(len(self.x), NOWHERE)
        count = int(starts.groups.max()) + 1 if len(starts.groups) else 0
        self.motions: list[list[Motion]] = [[] for _ in range(count)]
        self.quantities = tuple(q for q in starts.model.returns(STEADY, {*starts.parameters, *ASKED.names}) if q.kind != "list")
        self.fresh = np.ones(len(self.x), bool)  # no search began where these starts are

    @property
    def open(self) -> np.ndarray:
        """Positions of the starts whose motion is not known."""
        return np.flatnonzero(self.good & (self.attractor == NOWHERE))

    @property
    def y(self) -> np.ndarray:
        """The section points (n, 2), in units of the scale."""
        return np.stack([self.v, self.x * self.length], axis=1) / self.scale[:, None]

    def run(self, which: np.ndarray, window: str | None, more: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Run the engine on some rows from where they are: observables and status codes."""
        from tribosweep.kernels.batch.solve import solve

        def of_rows(value: Any, part: np.ndarray) -> Any:
            return value[part] if isinstance(value, np.ndarray) and value.shape[:1] == self.x.shape else value

        parts = [which[first : first + MOST_ROWS] for first in range(0, len(which), MOST_ROWS)]
        found = []
        for part in parts:
            rows = {name: of_rows(value, part) for name, value in self.starts.parameters.items()}
            rows |= {"x0": self.x[part], "v0": self.v[part]} | {name: value[part] for name, value in more.items()}
            asked = ASKED if window else Asked(columns=(*self.starts.ends, REST))
            found.append(solve(self.starts.model, EXACT, rows, count=len(part), window=window, asked=asked))
        names = found[0].observables
        return {n: np.concatenate([each.observables[n] for each in found]) for n in names}, np.concatenate([each.status for each in found])

    def to_section(self) -> None:
        """Bring the ends of the runs to the next section."""
        phases = self.starts.time * self.omega / (2.0 * math.pi)
        rest = np.ceil(phases - WHOLE) - phases
        short = np.flatnonzero(self.good & (rest > WHOLE))
        if short.size:
            turned = self.starts.of("phase") + 2.0 * math.pi * phases
            self._move(short, {"end": rest * 2.0 * math.pi / self.omega, "phase": np.fmod(turned, 2.0 * math.pi)})

    def go_on(self, periods: float) -> None:
        """Let the starts whose motion is not known go on; those that friction held all the time have come to rest."""
        which = self.open
        slipped = self._move(which, {"end": periods * 2.0 * math.pi / self.omega})
        self.fresh[which] = True
        resting = which[(slipped == 0.0) & (self.friction[which] > 0.0)]
        for group in np.unique(self.starts.groups[resting]):
            members = resting[self.starts.groups[resting] == group]
            place = next((i for i, motion in enumerate(self.motions[group]) if motion.rests), None)
            if place is None:
                found, _ = self.run(members[:1], STEADY, {})
                self.motions[group].append(Motion(np.empty((0, 2)), self._numbers(found, 0)))
                place = len(self.motions[group]) - 1
            self.attractor[members] = place
        self._assign(set(self.starts.groups[which].tolist()))

    def _move(self, which: np.ndarray, more: Mapping[str, np.ndarray]) -> np.ndarray:
        """Run some rows over a given time; returns how far they slipped [m]."""
        found, status = self.run(which, None, more)
        self.x[which], self.v[which] = relative(found)
        self.good[which] = status == Status.OK
        return found[REST]

    def new_motions(self) -> bool:
        """Search for motions from crowded cells of starts whose motion is not known, and assign starts to what is found."""
        which = self.open
        which = which[self.fresh[which]]
        if not which.size:
            return False
        seeds = self._seeds(which)
        self.fresh[seeds] = False
        found, status = self.run(seeds, STEADY, {})
        added = set()
        for row, seed in enumerate(seeds):
            group = int(self.starts.groups[seed])
            unstable = found["stability"][row] == UNSTABLE  # a start on its stable manifold, as a symmetric one, comes near it all the same
            if status[row] != Status.OK or unstable or found[REST][row] == 0.0 < self.friction[seed]:
                continue
            q = int(found["period"][row])
            points = np.stack([found["poincare_v"][row, :q], found["poincare_x"][row, :q] * self.length[seed]], axis=1)
            known = [m for m in self.motions[group] if m.period == q and not m.rests]
            if any(np.min(np.max(np.abs(m.points - points[0]), axis=1)) <= SAME * self.scale[seed] for m in known):
                continue
            self.motions[group].append(Motion(points, self._numbers(found, row)))
            added.add(group)
        if added:
            self._assign(added)
        return bool(added)

    def _numbers(self, found: Mapping[str, np.ndarray], row: int) -> dict[str, float]:
        """The observables of a motion; period 1 of a rest without one."""
        numbers = {quantity.name: float(found[quantity.name][row]) for quantity in self.quantities}
        return numbers | {"period": numbers["period"] if math.isfinite(numbers["period"]) else 1.0}

    def _seeds(self, which: np.ndarray) -> np.ndarray:
        """One start of each of the CELLS most crowded cells of every group."""
        cells = np.floor(self.y[which] / (2.0 * self.tolerance)).astype(np.int64)
        keys = np.column_stack([self.starts.groups[which], cells])
        _, first, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
        group = self.starts.groups[which[first]]
        order = np.lexsort((-counts, group))
        group = group[order]
        rank = np.arange(len(group)) - np.searchsorted(group, group)
        chosen: np.ndarray = which[first[order[rank < CELLS]]]
        return chosen

    def _assign(self, groups: set[int]) -> None:
        """Assign starts of some groups to the motion of the nearest section point, if it is within the tolerance."""
        which = self.open
        which = which[np.isin(self.starts.groups[which], list(groups))]
        which = which[np.argsort(self.starts.groups[which], kind="stable")]
        y = self.y
        for members in np.split(which, np.flatnonzero(np.diff(self.starts.groups[which])) + 1):
            if not members.size:
                continue
            nearest, place = np.full(len(members), np.inf), np.full(len(members), NOWHERE)
            for number, motion in enumerate(self.motions[int(self.starts.groups[members[0]])]):
                for point in motion.points / self.scale[members[0]]:
                    away = np.max(np.abs(y[members] - point), axis=1)
                    place, nearest = np.where(away < nearest, number, place), np.minimum(away, nearest)
            self.attractor[members] = np.where(nearest <= self.tolerance, place, NOWHERE)

    def result(self) -> Basins:
        """The basins: motions to which no start leads are left out, the others ordered by their shares."""
        motions, counts, attractor = [], [], np.full(len(self.x), NOWHERE)
        order = np.argsort(self.starts.groups, kind="stable")
        ends = np.searchsorted(self.starts.groups[order], np.arange(len(self.motions) + 1))
        for group, known in enumerate(self.motions):
            members = order[ends[group] : ends[group + 1]]
            own = self.attractor[members]
            number = np.bincount(own[own >= 0], minlength=len(known))
            ranked = [int(each) for each in np.argsort(-number, kind="stable") if number[each]]
            place = np.full(len(known) + 1, NOWHERE)
            place[ranked] = np.arange(len(ranked))
            attractor[members] = place[own]
            motions.append([known[each] for each in ranked])
            counts.append(number[ranked])
        unsettled, failed = self.good & (attractor == NOWHERE), ~self.good
        notes = []
        if unsettled.any():
            notes.append(
                f"{np.count_nonzero(unsettled):,} starts came to no motion of period 1 to 16: they are chaotic, or not settled after "
                f"{PASSES * CONTINUED} periods more"
            )
        if failed.any():
            notes.append(f"{np.count_nonzero(failed):,} starts failed and have no motion")
        return Basins(self.starts, self.tolerance, motions, attractor, counts, unsettled, failed, self.quantities, notes)
