"""High-precision reference for a mass between two different walls: what each wall suffers, from the segments of the motion.

`shock_events.Oscillator` integrates the motion in 50 digits. Its parameters with the prefix ``left_`` are those of the wall at the left.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf

from .shock import _peak, integrate
from .shock_events import DIGITS, Oscillator, Rest
from .walls import FORCELESS, YIELDING, Jet, Wall, seen


def _impulse(run: Oscillator, i: int) -> mpf:
    """Integral of the push of a wall."""
    total = mpf(0)
    for segment in run.segments:
        wall = segment.walls[i]
        if wall.phase in FORCELESS:
            continue

        def push(_t: mpf, jet: Jet, wall: Wall = wall) -> list[mpf]:
            return [wall.push(seen(wall, jet))[0]]

        if isinstance(segment.path, Rest):
            total += (segment.stop - segment.start) * push(segment.start, segment.jet(segment.start))[0]
        else:
            total += integrate(segment, push)[0]
    return total


def of_wall(run: Oscillator, i: int) -> dict[str, Any]:
    """Everything that is measured of one wall over the run; times of what did not happen are NaN."""
    segments = run.segments
    entries = [(mpf(0), segments[0].jet(mpf(0))[1])] if segments[0].walls[i].phase != "OFF" else []
    exits, partings = [], []
    for before, after in pairwise(segments):
        was, now = before.walls[i].phase, after.walls[i].phase
        at = (before.stop, before.jet(before.stop)[1])
        if was == "OFF" and now != "OFF":
            entries.append(at)
        if was != "OFF" and now == "OFF":
            exits.append(at)
        if was not in FORCELESS and now in FORCELESS:
            partings.append(at)
    pushing = [s for s in segments if s.walls[i].phase not in FORCELESS]
    wall = segments[-1].walls[i]
    y_end = wall.side * segments[-1].jet(run.end)[0] - wall.gap
    plastic = wall.d
    if wall.phase == "YIELD":
        plastic = max(mpf(0), wall.piece.plastic(y_end))
    elif wall.phase == "RELOAD":
        plastic = y_end - wall.stretch
    points = [jet[0] for s in segments for jet in (s.jet(s.start), s.jet(s.stop), *(each for _, each in s.mesh))]
    compression = max(mpf(0), *(wall.side * x - wall.gap for x in points))
    yielding = [s.start for s in segments if s.walls[i].phase in YIELDING]
    regime = 0 if not entries else 1
    if yielding:
        regime = 3 if compression > wall.pieces[0].upper else 2
        regime = 4 if wall.pieces[-1].name == "beyond" and compression > wall.pieces[-1].lower else regime
    return {
        "impacts": len(entries),
        "peak_force": max((_peak(s.walls[i], s) for s in pushing), default=mpf(0)),
        "contact_time": mp.fsum(s.stop - s.start for s in pushing),
        "impulse": _impulse(run, i),
        "max_compression": compression,
        "plastic_set": plastic,
        "buckling_time": yielding[0] if yielding else mp.nan,
        "wall_regime": regime,
        "entries": entries,
        "exits": exits,
        "partings": partings,
    }


def measure(params: Mapping[str, Any], end: float) -> dict[str, Any]:
    """What the model `two_walls` observes of a run from 0 to ``end``, and its smallest ``margin`` (see `shock.run`)."""
    with mp.workdps(DIGITS):
        run = Oscillator(params, end)
        right, left = (of_wall(run, i) for i in (0, 1))
        entries = sorted([*right["entries"], *left["entries"]])
        exits, partings = sorted([*right["exits"], *left["exits"]]), sorted([*right["partings"], *left["partings"]])
        x, v, _, _ = run.segments[-1].jet(run.end)
        slid = mp.fsum(abs(s.jet(s.stop)[0] - s.jet(s.start)[0]) for s in run.segments if s.slips)
        found = {
            **{name: right[name] + left[name] for name in ("impacts", "contact_time", "impulse")},
            **{name: max(right[name], left[name]) for name in ("peak_force", "max_compression")},
            **{name: right[name] for name in ("buckling_time", "plastic_set", "wall_regime")},
            **{
                f"left_{name}": left[name]
                for name in ("buckling_time", "plastic_set", "wall_regime", "impacts", "peak_force", "max_compression")
            },
            "first_contact_time": entries[0][0] if entries else mp.nan,
            "first_contact_velocity": entries[0][1] if entries else mp.nan,
            "separation_time": partings[-1][0] if partings else mp.nan,
            "rebound_velocity": partings[-1][1] if partings else mp.nan,
            "exit_time": exits[-1][0] if exits else mp.nan,
            "slip_distance": slid,
            "x_end": x,
            "v_end": v,
        }
        return {name: float(value) for name, value in found.items()} | {"margin": float(run.margin)}
