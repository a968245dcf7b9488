"""The levels of a boundary study: the coarse grid, divided cells, then brackets on the sides of the smallest cells.

The rows so far determine the next level, so that an interrupted study continues after its last shard.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.execution.adaptive import contour_lines as curves
from tribosweep.sweep.execution.adaptive import probabilities
from tribosweep.sweep.execution.adaptive.bisection import Brackets, goals
from tribosweep.sweep.execution.adaptive.contour_lines import ContourLine
from tribosweep.sweep.execution.adaptive.quadtree import FAILED, NONE, Cells, Lattice, Nodes
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.event import named_in

if TYPE_CHECKING:
    import pyarrow as pa

STATUS = "status"
MOST_POINTS = 20_000_000
BELOW, ABOVE = 0, 1  # classes of a level

Places = tuple[np.ndarray, np.ndarray]  # values of the two parameters
Seen = tuple[np.ndarray, np.ndarray]  # classes and heights there


@dataclass(frozen=True, slots=True)
class TracedCurves:
    """The results of a boundary study.

    Attributes:
        brackets: the places where curves cross the sides of the smallest cells.
        curves: the curves, as positions of brackets.
        failed: number of sides, or parts of sides, that have a result at only one end.
    """

    brackets: Brackets
    curves: list[ContourLine]
    failed: int


@dataclass
class TracingHistory:
    """The levels of a study computed so far.

    Attributes:
        config: the study. design: its design.
        steps: the algorithm, which receives the rows of a level and yields the places of the next level.
        asked: the places of the next level; None at the end.
        levels, computed: number of levels and of points computed so far.
        found: the curves, at the end.
    """

    config: Config
    design: Boundary
    steps: Generator[Places, Seen, TracedCurves]
    asked: Places | None = None
    levels: int = 0
    computed: int = 0
    found: TracedCurves | None = field(default=None, repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are read from the rows of a level."""
        names = named_in(probabilities.event_of(self.design, self.config.model)) if self.design.event else [self.design.observable]
        return *names, STATUS

    @property
    def progress(self) -> tuple[int, int]:
        """The number of computed points, and the number known to be needed."""
        return self.computed, self.computed + (0 if self.asked is None else self.design.repeats * len(self.asked[0]))

    def next_points(self) -> Points:
        """The points of the next level; none at the end."""
        x, y = (np.empty(0), np.empty(0)) if self.asked is None else self.asked
        x, y = (np.repeat(along, self.design.repeats) for along in (x, y))
        return self.design.points_at(x, y, np.arange(self.computed, self.computed + len(x)), self.levels)

    def followed_by(self, rows: pa.Table) -> Self:
        """This history continued by the rows of `next_points`; ConfigError if the study would need too many points."""
        self.levels, self.computed = self.levels + 1, self.computed + rows.num_rows
        try:
            self.asked = self.steps.send(self.seen_in(rows))
        except StopIteration as stop:
            self.asked, self.found = None, stop.value
        if self.progress[1] > MOST_POINTS:
            message = f"{self.design.halvings} are too many: the boundaries of {self.design.sought} need more than {MOST_POINTS:,} points"
            raise ConfigError(self.config.source, [Problem("sweep.halvings", message)])
        return self

    def seen_in(self, rows: pa.Table) -> Seen:
        """The classes and heights of the places of these rows."""
        if not self.design.event:
            return classify(by_name(self.config.model.observables)[self.design.observable], self.design.level, rows)
        return probabilities.classify(self.design, self.config.model, rows, succeeded(rows))


def succeeded(rows: pa.Table) -> np.ndarray:
    """Mask of the rows with results."""
    results = [status.sentence for status in RESULTS]
    return np.array([status in results for status in rows.column(STATUS).to_pylist()], dtype=bool)


def empty_history(config: Config) -> TracingHistory:
    """The history of a study of which no level is computed yet."""
    design = boundary_design(config)
    steps = trace(design)
    return TracingHistory(config, design, steps, next(steps))


def boundary_design(config: Config) -> Boundary:
    """The design of a boundary study; TypeError for another design."""
    if not isinstance(config.design, Boundary):
        raise TypeError(f"{config.name} is no study of boundaries")
    return config.design


def classify(quantity: Quantity, level: float | None, rows: pa.Table) -> Seen:
    """The class of each row and, if there is a `level`, its height above the level.

    A class is the code of a word, a whole number, BELOW or ABOVE the level (BELOW if equal), NONE if the event did not happen, or FAILED,
    also where the value could not be computed.
    """
    good = succeeded(rows) & ~(np.asarray(rows.column(quantity.name).is_null()) & quantity.unknown)
    if quantity.kind == "word":
        codes: dict[Any, int] = {None: NONE} | {word: code for code, word in enumerate(quantity.words)}
        classes, heights = (
            np.array([codes[word] for word in rows.column(quantity.name).to_pylist()], dtype=np.int64),
            np.full(len(good), np.nan),
        )
    else:
        values = np.asarray(rows.column(quantity.name).to_numpy(), dtype=np.float64)
        heights = np.full(len(good), np.nan) if level is None else np.where(good, values - level, np.nan)
        numbers = np.nan_to_num(values) if level is None else np.where(heights > 0.0, ABOVE, BELOW)
        classes = np.where(np.isnan(values), NONE, numbers.astype(np.int64))
    return np.where(good, classes, FAILED), heights


def trace(design: Boundary) -> Generator[Places, Seen, TracedCurves]:
    """The algorithm as a generator: it yields places and receives the classes and heights there."""
    lattice = Lattice(design.plane, design.halvings)
    seeds = np.array([lattice.nearest(seed) for seed in design.seeds], dtype=np.int64)
    cells, nodes = Cells.of(lattice), Nodes(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    new = lattice.coarse()
    new = np.concatenate([new, np.setdiff1d(seeds, new)])  # the coarse grid comes first, so that its points are numbered as in a grid
    while new.size:
        nodes = nodes.joined(new, *(yield lattice.places(new)))
        new = np.empty(0, dtype=np.int64)
        mixed = cells.mixed(nodes)
        while not new.size and any(codes.size for codes in mixed):
            cells, keys = cells.divided(mixed)
            new = nodes.unknown(keys)
            mixed = cells.mixed(nodes) if not new.size else ()
    corners = cells.crossed(nodes)
    classes = nodes.classes[nodes.where(corners)]
    sides = curves.sides_of(corners, lattice.columns)
    alternate = probabilities.saddles(classes) if design.event else curves.saddles(classes)
    centres, middles = np.full(corners.shape[1], NONE), lattice.middles(corners[0, alternate])
    narrow, failed = without_failed(begun(lattice, nodes, sides, design.width))
    while (wide := narrow.wide()).any() or len(middles[0]):
        open_ones = narrow.part(wide)
        trials = open_ones.trials()
        x, y = (np.where(open_ones.along == axis, trials, open_ones.others) for axis in (0, 1))
        seen, heights = yield np.concatenate([x, middles[0]]), np.concatenate([y, middles[1]])
        if len(middles[0]):
            centres[alternate], middles = seen[len(x) :], (np.empty(0), np.empty(0))
        narrowed = open_ones.narrowed(trials, seen[: len(x)], heights[: len(x)])
        narrow, lost = without_failed(merged(narrow.part(~wide), narrowed))
        failed += lost
    if design.event:
        return TracedCurves(*probabilities.joined(narrow, sides, classes, centres), failed)
    return TracedCurves(narrow, curves.join(narrow, sides, classes, centres), failed)


def begun(lattice: Lattice, nodes: Nodes, sides: np.ndarray, width: float) -> Brackets:
    """The initial brackets: one on each of the given sides whose ends differ in class."""
    sides = np.unique(sides)
    low, high = sides // 2, sides // 2 + np.where(sides % 2, 1, lattice.columns)
    first, last = nodes.where(low), nodes.where(high)
    differ = nodes.classes[first] != nodes.classes[last]
    sides, low, high, first, last = (each[differ] for each in (sides, low, high, first, last))
    places, ends = lattice.places(low), lattice.places(high)
    along = sides % 2
    start, stop = (np.where(along, each[1], each[0]) for each in (places, ends))
    goal = np.where(along, goals(lattice.axes[1], start, stop, width), goals(lattice.axes[0], start, stop, width))
    return Brackets(
        sides=sides,
        others=np.where(along, places[0], places[1]),
        low=start,
        high=stop,
        low_class=nodes.classes[first],
        high_class=nodes.classes[last],
        low_height=nodes.heights[first],
        high_height=nodes.heights[last],
        begun=start,
        length=stop - start,
        steps=np.zeros(len(sides)),
        goal=goal,
    )


def without_failed(brackets: Brackets) -> tuple[Brackets, int]:
    """The brackets with results at both ends, and the number of the other brackets, which are no boundaries."""
    whole = np.minimum(brackets.low_class, brackets.high_class) != FAILED
    return brackets.part(whole), int(np.count_nonzero(~whole))


def merged(some: Brackets, others: Brackets) -> Brackets:
    """Combine brackets, ordered by side and along each side."""
    every = Brackets.concatenated([some, others])
    return every.part(np.lexsort((every.low * np.sign(every.length), every.sides)))
