"""A checked study, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tribosweep.kernels.models import WEAR_LAW, Model
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import RUN, STEADY
from tribosweep.kernels.models.signals import Abscissa, Signals
from tribosweep.sweep.design.axis import SCHEME
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import Design, most_draws, schemes_of
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.io.toml import inline, to_toml
from tribosweep.sweep.io.values import Value, written
from tribosweep.sweep.study.capabilities import KEYS_OF_ASKED
from tribosweep.sweep.study.excitation import Excitation
from tribosweep.sweep.study.shard_size import MOST_SHARDS, is_quick

STANDARD_GRAVITY = 9.80665  # m/s^2, of the unit g


@dataclass(frozen=True, repr=False)
class Config:
    """A checked study as data, as `load` returns it: `to_toml()` is its file with all defaults.

    Attributes:
        source: origin of the study, for messages.
        name: name of the study and of its directory.
        model: the simulated model.
        scheme: the scheme of all points if the scheme is not swept.
        scheme_given: whether the study names or sweeps the scheme, so that the dataset has a column of it.
        fixed: parameter -> value in its unit, for parameters set but not swept: a float, the code of a word, or the (L,) nodes of a
            table. The window is in window_start and window_end.
        precision: precision of the computation, "float64" or "float32".
        window: "steady" for one period of the steady motion; None for the window of the parameters.
        asked: requested block means and statistics, if any; and the only observables of the dataset.
        design: the points.
        shard_points: number of points of a shard; the last shard, or the last one of a level, may have fewer.
        excitation: records or random draws; None for neither.
        paths: parameter -> key that sets it, for messages.
        document: the study as nested tables, in canonical order, with absolute paths.
        unused: a sentence for each nominal value that no row uses, because an axis gives the parameter.
        signals: what is computed of the motion at equal steps; None for nothing.
        digest: SHA-256 of the study's name and of everything that determines its rows. Files count by their content, not by their path.
    """

    source: str
    name: str
    model: Model
    scheme: str
    scheme_given: bool
    fixed: dict[str, Value]
    precision: str
    window: str | None
    asked: Asked
    design: Design
    shard_points: int
    paths: dict[str, str] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    digest: str
    excitation: Excitation | None = None
    unused: tuple[str, ...] = ()
    signals: Signals | None = None

    def __repr__(self) -> str:
        """One line: the study, its model, and what it sweeps."""
        swept = list(dict.fromkeys(axis.name for axis in self.design.axes))
        over = f" over {', '.join(swept)}" if swept else ""
        return f"<Config {self.name!r}: {self.model.name}, {self.design.count:,} {'point' if self.design.count == 1 else 'points'}{over}>"

    def to_toml(self) -> str:
        """The study as a TOML file, with the defaults that apply as comments."""
        known = {*self.fixed, *(axis.name for axis in self.design.axes)}
        defaults = [
            f"# default: {q.name} = {default_text(q)}"
            for q in self.model.parameters
            if q.name not in known and not (self.window == STEADY and q.name in RUN)
        ]
        return to_toml(self.document) + "\n" + "\n".join(defaults) + "\n"

    @property
    def schemes(self) -> set[str]:
        """The schemes of the points."""
        return set(schemes_of(self.design, self.scheme))

    @property
    def quick(self) -> bool:
        """Whether a row takes some milliseconds at most."""
        return self.signals is None and is_quick(self.schemes, self.window, self.asked, self.excitation)

    @property
    def ignored(self) -> list[str]:
        """The keys of the study that none of its schemes reads."""
        schemes = schemes_of(self.design, self.scheme)
        unread = set.intersection(*(self.model.unread(scheme) for scheme in schemes)) - {*self.model.implied, SCHEME}
        needed = {name for quantity in self.returns for name in quantity.needs}
        laws = {q.name for q in WEAR_LAW if q.default is None}
        unread |= laws - needed if needed & laws else {q.name for q in WEAR_LAW}
        return [path for name, path in self.paths.items() if name in unread]

    @cached_property
    def returns(self) -> tuple[Quantity, ...]:
        """The observables of a row."""
        returned = self.asked.chosen(self.model.returns(self.window, {*self.fixed, *self.swept, *self.asked.names}))
        return (*returned, *(quantity for quantity, _ in self.of_signals.values()))

    @cached_property
    def of_signals(self) -> dict[str, tuple[Quantity, Abscissa | None]]:
        """The columns of signals by name, each with what its entries belong to."""
        return {} if self.signals is None else self.signals.columns(self.model)

    @property
    def assumed(self) -> tuple[str, ...]:
        """A sentence for each default that decides the results and that a reader may take for another number."""
        return (*self._assumed_gravity(), *self._assumed_friction())

    def _assumed_friction(self) -> tuple[str, ...]:
        """What is assumed of a mass that slips where a study gives static friction alone."""
        given = {*self.fixed, *self.swept}
        told = any(name.partition("[")[0] in ("mu", "mu_d") for name in given)
        if told or "mu_s" not in given or ("mu_s" not in self.swept and not self.fixed["mu_s"]):
            return ()
        default = by_name(self.model.parameters)["mu"].default
        return (
            f"mu_d = {default:g}, the default of mu, is assumed while the mass slips; parameters.mu_d sets it, and mu sets mu_s and mu_d",
        )

    def _assumed_gravity(self) -> tuple[str, ...]:
        """What is assumed of gravity where it presses a mass that rubs."""
        known, given = by_name(self.model.parameters), {*self.fixed, *self.swept}
        if "g" not in known or "normal_force" not in known or given & {"g", "normal_force"}:
            return ()
        friction = [self.fixed.get(name, known[name].default) for name in ("mu", "mu_s", "mu_d") if name not in self.swept]
        if not given & {"mu", "mu_s", "mu_d"} & set(self.swept) and not any(friction):
            return ()
        gravity = f"g = {known['g'].default:g} {known['g'].unit} is assumed, which presses the mass on its support"
        return (f"{gravity}; parameters.g sets it (the unit g is {STANDARD_GRAVITY} m/s^2)",)

    def lacking(self, quantity: Quantity) -> str:
        """The reason why the study lacks an observable, as text; empty if the study has it."""
        if quantity in self.returns:
            return ""
        there = {*self.fixed, *self.swept, *self.asked.names}
        if self.asked.columns and quantity in self.model.returns(self.window, there):
            return f"{quantity.name} is not among output.columns"
        missing = " and ".join(KEYS_OF_ASKED.get(name, f"parameters.{name}") for name in quantity.needs if name not in there)
        return f"{quantity.name} needs {missing}" if missing else f'{quantity.name} needs time.window = "{STEADY}"'

    @cached_property
    def swept(self) -> list[str]:
        """The swept parameters in the order of their axes, without the scheme."""
        return list(dict.fromkeys(axis.name for axis in self.design.axes if axis.name != SCHEME))

    @cached_property
    def most_draws(self) -> int:
        """The largest number of different random draws in the rows of a shard."""
        return most_draws(self.design, self.shard_points)

    @cached_property
    def shards(self) -> int:
        """The number of shards; for an adaptive design an upper bound."""
        if isinstance(self.design, Boundary):
            return MOST_SHARDS
        if isinstance(self.design, SubsetSimulation):
            steps, moving = self.design.levels * (self.design.chain_length - 1), self.design.chains * self.design.repeats
            return -(-self.design.count // self.shard_points) - (-moving // self.shard_points) * steps
        levels = self.design.halvings + 1 if isinstance(self.design, Convergence) else 1
        return levels * -(-self.design.count // self.shard_points)


def default_text(quantity: Quantity) -> str:
    """The default of a parameter as a comment in a study file: the rule that derives it, or its value with its unit."""
    if quantity.default_rule:
        return quantity.default_rule
    unit = "" if quantity.unit in ("", "1") else f" {quantity.unit}"
    if quantity.kind == "float":
        return f"{quantity.default:.12g}{unit}"
    return f"{inline(written(quantity, quantity.default))}{unit}"
