"""The rows of a run in groups. A group with a failed, missing or excluded row is dropped as a whole; other groups keep their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.status import RESULTS
from tribosweep.sweep.design.designs import Concatenation
from tribosweep.sweep.design.posterior import Posterior
from tribosweep.sweep.design.sampling import PlainSample
from tribosweep.sweep.design.sensitivity import SAMPLERS, Fast, Morris, Saltelli, Sampling
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

REGIME = "regime"


@dataclass(frozen=True, slots=True)
class Kept:
    """The groups of a sample that are used for an observable. A group is used as a whole or not at all.

    Attributes:
        groups: (n,) their numbers.
        missing, failed, void, elsewhere: numbers of groups dropped because of a row that is not computed; that failed; that has no value of
            the observable (its event did not happen); that is in another regime. The first of these reasons counts.
    """

    groups: np.ndarray
    missing: int
    failed: int
    void: int
    elsewhere: int

    @property
    def total(self) -> int:
        """How many groups the design has."""
        return len(self.groups) + self.missing + self.failed + self.void + self.elsewhere


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of a run whose design samples.

    Attributes:
        config: the study.
        parts: its design; several designs if they are replicates with different seeds.
        values: observable -> (N,) float64 of all points of the design, codes for words, NaN without a value.
        failed, missing: (N,) masks.
        regimes: (N,) positions in the words of `regime`, -1 for none; None if the model has no regimes.
    """

    config: Config
    parts: tuple[Sampling, ...]
    values: dict[str, np.ndarray]
    failed: np.ndarray
    missing: np.ndarray
    regimes: np.ndarray | None

    @property
    def design(self) -> Sampling:
        """The design; for replicates the first one."""
        return self.parts[0]

    @property
    def method(self) -> str:
        """Name of the design."""
        return method_of(self.design)

    @property
    def names(self) -> list[str]:
        """Names of the sampled parameters."""
        return [axis.name for axis in self.design.axes]

    @property
    def group_size(self) -> int:
        """Number of rows of a group."""
        return self.design.group_size if isinstance(self.design, Saltelli | Morris | Fast) else 1

    @property
    def independent(self) -> bool:
        """Whether the parameters are independent."""
        return not (isinstance(self.design, Posterior) or (isinstance(self.design, PlainSample) and self.design.correlations))

    def coordinates(self) -> np.ndarray:
        """(N, d) coordinates of all points in the unit cube."""
        return np.concatenate([np.stack(part.coordinates(0, part.count), axis=1) for part in self.parts])

    def kept(self, observable: str, regime: str | None = None) -> Kept:
        """The groups that can be used for an observable; with `regime`, only those with all rows in it."""
        reasons = self.reasons(observable, regime)
        left = np.ones(len(self.missing) // self.group_size, dtype=bool)
        dropped = []
        for reason in reasons:
            bad = left & reason.reshape(-1, self.group_size).any(axis=1)
            dropped.append(int(np.count_nonzero(bad)))
            left &= ~bad
        return Kept(np.flatnonzero(left), *dropped)

    def reasons(self, observable: str, regime: str | None) -> list[np.ndarray]:
        """(N,) masks of the rows that cannot be used for an observable: missing, failed, void, elsewhere."""
        elsewhere = np.zeros_like(self.missing) if regime is None else self.regimes != self.code_of(regime)
        return [self.missing, self.failed, np.isnan(self.values[observable]), elsewhere]

    def usable(self, observable: str, regime: str | None) -> np.ndarray:
        """(N,) mask of the rows that can be used for an observable, regardless of their groups."""
        return np.asarray(~np.any(self.reasons(observable, regime), axis=0))

    def with_results(self, regime: str | None) -> np.ndarray:
        """(N,) mask of the rows that have results, whether or not an observable has a value there."""
        elsewhere = np.zeros_like(self.missing) if regime is None else self.regimes != self.code_of(regime)
        return np.asarray(~(self.missing | self.failed | elsewhere))

    def code_of(self, regime: str) -> int:
        """The code of a regime; ConfigError if the name is unknown."""
        words = by_name(self.config.model.observables)[REGIME].words if self.regimes is not None else ()
        if regime not in words:
            advice = advise(regime, words) if words else f"the model {self.config.model.name} has none"
            raise ConfigError("--regime", [Problem("", f"{regime!r} is no regime; {advice}")])
        return words.index(regime)

    def grouped(self, observable: str) -> np.ndarray:
        """(groups, rows of a group) values of an observable."""
        return self.values[observable].reshape(-1, self.group_size)


def chosen(config: Config, names: Sequence[str]) -> list[Quantity]:
    """Choose numeric observables by name; without names, the main observable of the model."""
    known = {quantity.name: quantity for quantity in config.model.observables if quantity.kind != "word"}
    wanted = list(dict.fromkeys(names)) or [config.model.main]
    problems = [Problem("", f"{name!r} is no observable that is a number; {advise(name, known)}") for name in wanted if name not in known]
    problems += [Problem("", lacking) for name in wanted if name in known and (lacking := config.lacking(known[name]))]
    if problems:
        raise ConfigError("--observable", problems)
    return [known[name] for name in wanted]


def method_of(design: Sampling) -> str:
    """Name of a design that samples."""
    return next(name for name, kind in SAMPLERS.items() if isinstance(design, kind))


def parts_of(config: Config) -> tuple[Sampling, ...]:
    """The sampling design of a study, or the replicates of one.

    Raises:
        ConfigError: the design does not sample, or its parts are not replicates.
    """
    design = config.design
    if isinstance(design, Sampling):
        return (design,)
    kinds = ", ".join(SAMPLERS)
    if not isinstance(design, Concatenation):
        message = f"design {config.document.get('sweep', {}).get('design', 'grid')!r} draws no parameters; those that do: {kinds}"
        raise ConfigError(config.source, [Problem("sweep.design", message)])
    parts = tuple(part for part in design.parts if isinstance(part, PlainSample))
    alike = {(type(part), part.axes, part.count, part.correlations) for part in parts}
    if len(parts) < len(design.parts) or len(alike) > 1 or len({part.seed for part in parts}) < len(parts):
        message = (
            "several designs are one sample only if they are replicates: sobol, halton or latin_hypercube that differ in their seed alone"
        )
        raise ConfigError(config.source, [Problem("sweep", message)])
    return parts


def read_sample(path: Path, config: Config, observables: Sequence[Quantity]) -> Sample:
    """Read the rows of a run, complete or not.

    Args:
        path: its directory. config: its study. observables: the observables to read.

    Raises:
        ConfigError: the study has no sampling design, or the run has no rows.
    """
    import pyarrow as pa

    parts = parts_of(config)
    regime = by_name(config.model.observables).get(REGIME)
    columns = list(dict.fromkeys(["point", *(quantity.name for quantity in observables), "status", *([REGIME] if regime else [])]))
    shards = list(Dataset(path).shards(columns))
    if not shards:
        raise ConfigError(str(path), [Problem("", "no row is there yet: tribosweep resume computes them")])
    table = pa.concat_tables(shards, promote_options="default").unify_dictionaries().combine_chunks()
    count = config.design.count
    places = table.column("point").to_numpy()
    missing = np.ones(count, dtype=bool)
    missing[places] = False
    failed = np.zeros(count, dtype=bool)
    failed[places] = codes(table.column("status"), [status.sentence for status in RESULTS]) < 0
    values = {}
    for quantity in observables:
        values[quantity.name] = np.full(count, np.nan)
        column = table.column(quantity.name)
        if quantity.kind == "word":
            found = codes(column, quantity.words)
            values[quantity.name][places] = np.where(found < 0, np.nan, found)
        else:
            values[quantity.name][places] = column.to_numpy(zero_copy_only=False)
    regimes = None
    if regime is not None:
        regimes = np.full(count, -1)
        regimes[places] = codes(table.column(REGIME), regime.words)
    return Sample(config, parts, values, failed, missing, regimes)


def codes(column: pa.ChunkedArray, words: Sequence[str]) -> np.ndarray:
    """(n,) positions in `words` of a column of words; -1 where a row has none of them."""
    found: list[Any] = []
    for chunk in column.chunks:
        positions = np.array([*(words.index(word) if word in words else -1 for word in chunk.dictionary.to_pylist()), -1])
        indices = chunk.indices.fill_null(len(positions) - 1).to_numpy(zero_copy_only=False)
        found.append(positions[indices])
    return np.concatenate(found) if found else np.empty(0, int)
