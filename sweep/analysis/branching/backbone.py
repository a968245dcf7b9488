"""The backbone of frequency responses: free motions without damping and friction, as high as the branches of each point of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.branching.load import Branching
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pyarrow as pa

ABOVE = 1.1  # highest energy, over that of the highest motion of the branches
MOTIONS = 300  # of a point of the study, evenly spaced in x_max
OF_WALLS = ("max_compression", "peak_force")
ENERGY = Quantity("energy", "J", "energy of the free motion above that of the mass at rest")
SPEED = Quantity("v_max", "m/s", "its largest speed")


def quantities(model: Model) -> dict[str, Quantity]:
    """What a row tells of its motion, beside its frequency."""
    names = ("x_max", "x_min", *(OF_WALLS if model.walls else ()))
    known = {quantity.name: quantity for quantity in model.observables}
    return {ENERGY.name: ENERGY, **{name: known[name] for name in names}, SPEED.name: SPEED}


def backbone_table(branching: Branching, points: pa.Table, config_hash: str) -> pa.Table:
    """One row for each free motion, in order of its energy, within the bounds of the frequency.

    Args:
        branching: a study along `omega`. points: of its branches; a point of the study without a branch has no rows.
        config_hash: goes into the metadata.
    """
    import pyarrow as pa

    from tribosweep.kernels.branches.backbone import Potential
    from tribosweep.sweep.execution.parquet import described

    config, along = branching.config, branching.along
    told = quantities(config.model)
    frame = points.select(["point", "x_max", "x_min"]).to_pandas()
    names = [axis.name for axis in config.design.axes]
    rows: dict[str, list[Any]] = {name: [] for name in ("point", *names, along.name, *told)}
    for number, motions in frame.groupby("point", sort=True):
        own, resolved = parameters_at(config, int(number))
        potential = Potential.of(resolved)
        reached = np.concatenate([potential.energy(motions[name].to_numpy(float)) for name in ("x_max", "x_min")])
        top = ABOVE * np.nanmax(reached, initial=0.0)
        if not top > 0.0:
            continue
        rest, farthest = potential.rest(), potential.backbone(np.array([top])).x_max[0]
        touches = potential.energy(np.array(potential.joints()))
        energies = potential.energy(rest + (farthest - rest) * np.linspace(0.0, 1.0, MOTIONS + 1)[1:])
        found = potential.backbone(np.append(energies, touches[(touches > 0.0) & (touches < top)]))
        within = (found.omega >= along.lower) & (found.omega <= along.upper)
        count = int(within.sum())
        for name, value in {"point": int(number), **{name: own[name] for name in names}}.items():
            rows[name] += [value] * count
        for name in (along.name, *told):
            rows[name] += getattr(found, name)[within].tolist()
    model, real, whole = config.model, pa.float64(), pa.int64()
    fields = [
        described("point", whole, "", "number of the point of the study"),
        *(described(name, real, model.parameter(name).unit, model.parameter(name).description) for name in names),
        described(along.name, real, along.unit, "angular frequency of the free motion"),
        *(described(each.name, real, each.unit, each.description) for each in told.values()),
    ]
    arrays = [pa.array(rows[each.name], each.type) for each in fields]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"config_hash": config_hash}))


def parameters_at(config: Config, number: int) -> tuple[dict[str, float], dict[str, float]]:
    """The values of the axes at a point of the study, and all its parameters that are numbers, resolved."""
    columns = config.design.points(number, number + 1).columns
    own = {name: float(values[0]) for name, values in columns.items() if values.ndim == 1}
    resolved = config.model.resolve({**config.fixed, **{name: values[0] for name, values in columns.items()}})
    return own, {name: float(value) for name, value in resolved.items() if np.ndim(value) == 0}
