"""What `tribosweep.kernels.structure_samples.samples` returns of a structure at each time. Nothing here imports JAX."""

from __future__ import annotations

from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.supports import named

_OF_POINT = (
    Quantity("", "m", "displacement along {axis}; of {of}"),
    Quantity("rate", "m/s", "velocity along {axis}; of {of}"),
    Quantity("acceleration", "m/s^2", "acceleration along {axis}; of {of}"),
)
_OF_SUPPORT = (
    Quantity("normal_force", "N", "normal force; at {of}", "F_n"),
    Quantity("tangential_force", "N", "size of the friction force; at {of}", "F_t"),
    Quantity("sliding_speed", "m/s", "speed of sliding along the support, also off it; at {of}"),
    Quantity("penetration", "m", "penetration of the support, negative off it; at {of}"),
    Quantity("place_1", "m", "displacement along the first axis of the support, from the clearance's centre; at {of}"),
    Quantity("place_2", "m", "displacement along the second axis of the support, from the clearance's centre; at {of}"),
)
_NEED_A_PLANE = ("tangential_force", "sliding_speed", "place_2")


def sampled(model: Model) -> dict[str, Quantity]:
    """The columns of the model of a structure, by name: "x[centre]", "x_rate[centre]", "normal_force[ring]" and so on."""
    structure, found = model.structure, {}
    for point, axis in structure.rows:
        for q in _OF_POINT:
            found[named(f"{axis}_{q.name}" if q.name else axis, point)] = (q, axis, point)
    for support in structure.supports:
        flat = structure.kind_of(support).axes == 1
        for q in _OF_SUPPORT:
            if not (flat and q.name in _NEED_A_PLANE):
                found[named(q.name, support.name)] = (q, "", support.name)
    return {name: Quantity(name, q.unit, q.description.format(axis=axis, of=of), q.symbol) for name, (q, axis, of) in found.items()}
