"""Files of draws: `posterior.parquet`, one row per draw, with columns chain, draw, the sampled numbers and log_density."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.sweep.design.priors import NOISE, PARAMETER
from tribosweep.sweep.execution.stored import Line, Stored, load_json
from tribosweep.sweep.io.errors import ConfigError, Problem, shorten

if TYPE_CHECKING:
    import pyarrow as pa

POSTERIOR = "posterior.parquet"
CHAIN, DRAW, LOG_DENSITY = "chain", "draw", "log_density"
ROLE = b"role"  # key of the metadata of a column: PARAMETER or NOISE


class PosteriorFacts(Stored):
    """What a file of draws says of them, as far as it is read back: the digest of the calibration to which they belong."""

    calibration: Line = ""


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws of a posterior, n rows; all have the same weight.

    Attributes:
        names: of the p sampled numbers: parameters, such as "mu" or "post_stiffness[0]", and the factor of the noise if it was inferred.
        units: their units. roles: PARAMETER or NOISE.
        values: (n, p) in these units. chain, draw: (n,) numbers of the chain and of the draw in it, from 0 on.
        log_density: (n,) logarithm of the unnormalised posterior density of the parameters, in their units.
        facts: method, priors, diagnostics and what else was said, ready for JSON.
        config_hash: of the calibration.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    roles: tuple[str, ...]
    values: np.ndarray
    chain: np.ndarray
    draw: np.ndarray
    log_density: np.ndarray
    facts: dict[str, Any] = field(default_factory=dict)
    config_hash: str = ""

    @property
    def parameters(self) -> tuple[int, ...]:
        """The columns of `values` that are parameters of the model."""
        return tuple(place for place, role in enumerate(self.roles) if role == PARAMETER)

    def by_chain(self) -> np.ndarray:
        """(chains, draws, p) values; all chains have the same length."""
        chains = int(self.chain.max()) + 1
        return self.values[np.lexsort((self.draw, self.chain))].reshape(chains, -1, len(self.names))


def to_arrow(draws: Draws) -> pa.Table:
    """The table of draws."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    whole, number = pa.int64(), pa.float64()
    fields = [described(CHAIN, whole, "", "number of the chain"), described(DRAW, whole, "", "number of the draw in its chain")]
    said = {PARAMETER: "free parameter", NOISE: "factor of the standard deviations of the data"}
    for name, unit, role in zip(draws.names, draws.units, draws.roles, strict=True):
        one = described(name, number, unit, said[role], nullable=False)
        fields.append(one.with_metadata({**one.metadata, ROLE: role.encode()}))
    fields.append(described(LOG_DENSITY, number, "", "logarithm of the unnormalised posterior density of the parameters"))
    columns = [draws.chain, draws.draw, *draws.values.T, draws.log_density]
    metadata = {"posterior": json.dumps(draws.facts), "config_hash": draws.config_hash}
    arrays = [pa.array(np.ascontiguousarray(each), one.type) for each, one in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))


def to_bytes(draws: Draws) -> bytes:
    """The Parquet file of draws, with checksums."""
    from tribosweep.sweep.io import sealed_parquet

    return sealed_parquet.to_bytes(to_arrow(draws))


def read(path: Path) -> Draws:
    """Read draws from a file, or from the directory of a calibration.

    Raises:
        ConfigError: there is no such file, it was changed since it was written, or it holds no draws of a posterior.
    """
    from tribosweep.sweep.io import sealed_parquet

    file = path / POSTERIOR if path.is_dir() else path
    try:
        table = sealed_parquet.read(file)
    except FileNotFoundError:
        message = "there is no such file: tribosweep calibrate STUDY --posterior nuts writes one"
        raise ConfigError(str(file), [Problem("", message)]) from None
    except (OSError, ValueError) as error:
        raise ConfigError(str(file), [Problem("", str(error))]) from None
    metadata = table.schema.metadata or {}
    try:
        return of_table(table, metadata)
    except ValueError as error:
        raise ConfigError(str(file), [Problem("", str(error))]) from None


def of_table(table: pa.Table, metadata: Mapping[bytes, bytes]) -> Draws:
    """The draws in a table; ValueError if it holds none, or none that this package has written."""
    import pyarrow as pa

    from tribosweep.sweep.io import sealed_parquet

    sampled = [one for one in table.schema if (one.metadata or {}).get(ROLE)]
    if b"posterior" not in metadata or not sampled or not {CHAIN, DRAW, LOG_DENSITY} <= set(table.column_names):
        raise ValueError("holds no draws of a posterior (tribosweep calibrate STUDY --posterior nuts)")
    numbers = dict.fromkeys([LOG_DENSITY, *(one.name for one in sampled)], pa.float64())
    kinds = {CHAIN: pa.int64(), DRAW: pa.int64(), **numbers}
    sealed_parquet.require(table, kinds, whole=kinds)
    roles = tuple(one.metadata[ROLE].decode() for one in sampled)
    if wrong := [role for role in roles if role not in (PARAMETER, NOISE)]:
        raise ValueError(f"has a column whose role is {shorten(wrong[0])}, not {PARAMETER} or {NOISE}")
    return Draws(
        names=tuple(one.name for one in sampled),
        units=tuple(one.metadata.get(b"unit", b"").decode() for one in sampled),
        roles=roles,
        values=np.column_stack([table[one.name].to_numpy() for one in sampled]),
        chain=table[CHAIN].to_numpy(),
        draw=table[DRAW].to_numpy(),
        log_density=table[LOG_DENSITY].to_numpy(),
        facts=load_json(metadata[b"posterior"], PosteriorFacts),
        config_hash=metadata.get(b"config_hash", b"").decode(),
    )
