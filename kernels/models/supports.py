"""Supports of a structure: what they are made of, and their parameters and observables. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tribosweep.kernels.models.quantity import Quantity

PLANE, TWO_PLANES, RING = "plane", "two planes", "ring"
OBSTACLES = (PLANE, TWO_PLANES, RING)
RETURN_MAPPING, STORED_FORCE = "return mapping", "stored force"
LAWS = (RETURN_MAPPING, STORED_FORCE)
CONTACT_REGIMES = ("no contact", "impacts", "permanent contact")
Axes = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
GLOBAL: Axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class ContactKind(NamedTuple):
    """What a program knows of a support.

    Attributes:
        name: of the support. obstacle: one of OBSTACLES. law: one of LAWS.
        axes: how many of its axes the structure moves along: 1, 2 or 3.
    """

    name: str
    obstacle: str
    law: str
    axes: int


@dataclass(frozen=True, slots=True)
class Support:
    """An obstacle with a clearance around a point of a structure.

    Its first axis is the normal of a plane, which is `gap` away in that direction; two planes are `gap` away on both sides. A ring lies in
    the plane of the first two axes, and the radial clearance is `gap`. The third axis is along the tube. The parameter `angle` turns the
    first two axes about the third.

    Attributes:
        name: of the support, in names of parameters and columns.
        point: name of a point of the structure.
        obstacle: PLANE, TWO_PLANES or RING.
        other: name of a second point; the displacement is then that of `point` relative to it. None for the ground.
        axes: three orthogonal directions, which are made unit vectors.
        law: RETURN_MAPPING, or STORED_FORCE for comparison with the tool that SDND104 validates.

    Raises:
        ValueError: an unknown obstacle or law, or axes that are not orthogonal.
    """

    name: str
    point: str
    obstacle: str = PLANE
    other: str | None = None
    axes: Axes = GLOBAL
    law: str = RETURN_MAPPING

    def __post_init__(self) -> None:
        """Check the words, and make the axes unit vectors."""
        if self.obstacle not in OBSTACLES:
            raise ValueError(f"support {self.name}: the obstacle must be one of {', '.join(OBSTACLES)}, not {self.obstacle!r}")
        if self.law not in LAWS:
            raise ValueError(f"support {self.name}: the law must be one of {', '.join(LAWS)}, not {self.law!r}")
        object.__setattr__(self, "axes", unit_axes(self.axes, f"support {self.name}"))


def unit_axes(axes: Sequence[Sequence[float]], what: str) -> Axes:
    """Three unit vectors in given directions; ValueError if these are not orthogonal."""
    array = np.asarray(axes, float)
    if array.shape != (3, 3) or not np.isfinite(array).all():
        raise ValueError(f"{what}: axes must be three directions of three finite numbers each")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(array, axis=1)
    if not ((lengths > 0.0) & np.isfinite(lengths)).all():
        raise ValueError(f"{what}: a direction must not be zero, nor of infinite length")
    array = array / lengths[:, None]
    if np.abs(array @ array.T - np.eye(3)).max() > 1e-9:
        raise ValueError(f"{what}: the three directions must be orthogonal")
    one, two, three = (tuple(map(float, row)) for row in array)
    return one, two, three  # type: ignore[return-value]


# every support has these, under "name[support]"; without a support they are the defaults of all
SUPPORT = (
    Quantity("gap", "m", "clearance", r"\mathrm{gap}", default=0.0),
    Quantity("k_n", "N/m", "stiffness of the support along its normal", "k_n", default=1e6, lower=0.0, lower_open=True),
    Quantity("c_n", "N s/m", "damping of the support along its normal; the support never pulls", "c_n", default=0.0, lower=0.0),
    Quantity("mu", "1", "Coulomb friction coefficient", r"\mu", default=0.0, lower=0.0),
    Quantity("mu_s", "1", "static friction coefficient", r"\mu_s", default_rule="mu", lower=0.0),
    Quantity("mu_d", "1", "dynamic friction coefficient", r"\mu_d", default_rule="mu", lower=0.0),
    Quantity("k_t", "N/m", "tangential stiffness of the contact", "k_t", default_rule="k_n", lower=0.0, lower_open=True),
    Quantity("c_t", "N s/m", "tangential damping of the contact while it holds", "c_t",
             default_rule="critical damping of the stuck point, max(0, 2 sqrt(m (k + k_t)) - c) with m, k and c at the point", lower=0.0),
    Quantity("angle", "rad", "angle by which the first two axes of the support are turned about its third", r"\alpha", default=0.0),
    Quantity("centre_1", "m", "displacement of the clearance's centre along the first axis of the support", default=0.0),
    Quantity("centre_2", "m", "displacement of the clearance's centre along the second axis of the support", default=0.0),
)  # fmt: skip

FRICTION = ("mu", "mu_s", "mu_d", "k_t", "c_t")

SUPPORT_OBSERVABLES = (
    Quantity("wear_power", "W", "work rate: mean in the window of the normal force times the sliding speed, while the contact slips",
             r"P_\mathrm{wear}"),
    Quantity("friction_power", "W", "mean power dissipated by friction in the window: of the friction force on the way that the anchor of "
             "its spring follows", r"P_\mathrm{friction}"),
    Quantity("impact_power", "W", "mean power dissipated along the normal in the window, by c_n", r"P_\mathrm{impact}"),
    Quantity("sliding_distance", "m", "distance slid in the window", r"d_\mathrm{slip}"),
    Quantity("contact_ratio", "1", "part of the window in which the support pushes", r"r_\mathrm{contact}"),
    Quantity("impacts", "", "impacts on the support that begin in the window", kind="integer"),
    Quantity("impact_rate", "1/s", "impacts over the length of the window", r"n_\mathrm{impact}"),
    Quantity("impact_duration", "s", "time in which the support pushes over the number of impacts; none without an impact", optional=True),
    Quantity("impulse", "N s", "integral of the normal force over the window", r"I_n"),
    Quantity("normal_force_mean", "N", "mean normal force in the window", r"F_{n,\mathrm{mean}}"),
    Quantity("normal_force_rms", "N", "root mean square normal force in the window", r"F_{n,\mathrm{rms}}"),
    Quantity("normal_force_peak", "N", "largest normal force in the window", r"F_{n,\mathrm{max}}"),
    Quantity("tangential_force_mean", "N", "mean size of the friction force in the window", r"F_{t,\mathrm{mean}}"),
    Quantity("tangential_force_rms", "N", "root mean square size of the friction force in the window", r"F_{t,\mathrm{rms}}"),
    Quantity("tangential_force_peak", "N", "largest size of the friction force in the window", r"F_{t,\mathrm{max}}"),
    Quantity("max_penetration", "m", "largest penetration of the support in the window", optional=True),
    Quantity("orbit_1_min", "m", "smallest displacement along the first axis of the support in the window"),
    Quantity("orbit_1_max", "m", "largest displacement along the first axis of the support in the window"),
    Quantity("orbit_2_min", "m", "smallest displacement along the second axis of the support in the window"),
    Quantity("orbit_2_max", "m", "largest displacement along the second axis of the support in the window"),
    Quantity("displacement_rms", "m", "root mean square displacement from the clearance's centre, in the plane of the first two axes"),
    Quantity("contact_regime", "", "what the support did in the window: nothing, it was met and left, it was never left", kind="word",
             words=CONTACT_REGIMES),
)  # fmt: skip


PEAK_COUNTS = Quantity("peak_counts", "", "number of impacts that ended in the window in each class of their largest force", kind="list")


def named(quantity_name: str, of: str) -> str:
    """The name of a parameter or observable of one support or load: "gap[ring]"."""
    return f"{quantity_name}[{of}]"
