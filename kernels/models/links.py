"""The parameters of links beyond a linear spring and damper: between the mass and its support, beside k and c. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tribosweep.kernels.models import arrays as np
from tribosweep.kernels.models import outside_laws
from tribosweep.kernels.models.quantity import Quantity

_BEYOND = "beyond its ends the table goes on with its last slope"
OUTSIDE = outside_laws.laws(outside_laws.LINK)
# law: the parameter that switches it on -> its parameters
LINKS: Mapping[str, tuple[Quantity, ...]] = {
    "spring_force": (
        Quantity("spring_displacement", "m", f"displacements at the nodes of a nonlinear spring, ascending; {_BEYOND}", kind="list",
                 default=()),
        Quantity("spring_force", "N", "its restoring force at these displacements, linear between them; it acts beside k",
                 kind="list", default=()),
    ),
    "damper_force": (
        Quantity("damper_velocity", "m/s", f"velocities at the nodes of a nonlinear damper, ascending; {_BEYOND}", kind="list", default=()),
        Quantity("damper_force", "N", "its resisting force at these velocities, linear between them; it acts beside c",
                 kind="list", default=()),
    ),
    "maxwell_stiffness": (
        Quantity("maxwell_stiffness", "N/m", "stiffnesses of Maxwell branches, each a spring in series with a dashpot, which act beside k",
                 kind="list", default=(), lower=0.0, lower_open=True),
        Quantity("maxwell_damping", "N s/m", "dampings of the dashpots of the Maxwell branches; N (s/m)^maxwell_exponent", kind="list",
                 default=(), lower=0.0, lower_open=True),
    ),
    "hardening_force": (
        Quantity("hardening_displacement", "m", "displacements at the nodes of an elasto-plastic link's curve, loaded in one direction: "
                 f"0, that at its elastic limit, and larger ones; {_BEYOND}", kind="list", default=()),
        Quantity("hardening_force", "N", "force of the elasto-plastic link at these displacements, linear between them; it hardens "
                 "isotropically and acts beside k", kind="list", default=()),
    ),
    **{switch: law.parameters for switch, law in OUTSIDE.items()},
}  # fmt: skip
MAXWELL_EXPONENT = Quantity("maxwell_exponent", "1", "exponent a of the dashpots of the Maxwell branches: force = maxwell_damping |v|^a, "
                            "by its sign", "a", default=1.0, lower=0.0, upper=1.0, lower_open=True)  # fmt: skip
PARAMETERS = (*(quantity for law in LINKS.values() for quantity in law), MAXWELL_EXPONENT)
# tables that go together: abscissa, ordinate, and the number of nodes that they need
PAIRS = (
    ("spring_displacement", "spring_force", 2),
    ("damper_velocity", "damper_force", 2),
    ("maxwell_damping", "maxwell_stiffness", 1),
    ("hardening_displacement", "hardening_force", 3),
)
ASCENDING = ("spring_displacement", "damper_velocity", "hardening_displacement")

_ANY = ("|".join(LINKS),)  # one of them
_PLASTIC = ("hardening_force",)
OBSERVABLES = (
    Quantity("link_peak_force", "N", "largest force of the links beside k and c in the window, without sign", r"F_\mathrm{link,max}",
             needs=_ANY),
    Quantity("link_force_end", "N", "force of the links beside k and c at the end of the run, which pulls the mass back where it is "
             "positive", r"F_\mathrm{link}", needs=_ANY),
    Quantity("link_dissipation", "J", "energy that the links beside k and c dissipate in the window", r"W_\mathrm{link}", needs=_ANY),
    Quantity("link_plastic_set", "m", "displacement at which the elasto-plastic link has no force at the end of the run", needs=_PLASTIC),
    Quantity("link_plastic_way", "m", "plastic displacement of the elasto-plastic link, accumulated over the run without sign",
             needs=_PLASTIC),
)  # fmt: skip
COLUMNS = tuple(quantity.name for quantity in OBSERVABLES)


def entries(p: Mapping[str, Any], name: str) -> Any:
    """Number of entries of a table, of each row."""
    found: np.ndarray = np.asarray(np.count_nonzero(~np.isnan(np.asarray(p.get(name, ()))), axis=-1))
    return found


def steepest(p: Mapping[str, Any], abscissa: str, ordinate: str) -> Any:
    """The largest slope of a table, of each row; 0 where it has none that is positive."""
    x, y = np.asarray(p.get(abscissa, ()), float), np.asarray(p.get(ordinate, ()), float)
    with np.errstate(all="ignore"):  # NaN pads tables; another rule finds nodes that do not ascend
        slopes = np.diff(y, axis=-1) / np.diff(x, axis=-1)
    return np.max(np.where(np.isfinite(slopes), slopes, 0.0), axis=-1, initial=0.0)


def unfit(p: Mapping[str, Any]) -> Any:
    """Mask of the rows whose curve of an elasto-plastic link does not begin at (0, 0), falls, or has a slope greater than its first."""
    x, y = (np.asarray(p.get(f"hardening_{name}", ()), float) for name in ("displacement", "force"))
    if min(x.shape[-1], y.shape[-1]) < 2:  # another rule finds too few nodes
        return np.False_
    with np.errstate(all="ignore"):
        slopes = np.diff(y, axis=-1) / np.diff(x, axis=-1)
    first = slopes[..., :1]
    bent = np.any((slopes < 0.0) | (slopes > first * (1.0 + 1e-9)), axis=-1)  # false where NaN pads
    return bent | (x[..., 0] != 0.0) & ~np.isnan(x[..., 0]) | (y[..., 0] != 0.0) & ~np.isnan(y[..., 0]) | (first[..., 0] <= 0.0)


def stiffness_and_damping(p: Mapping[str, Any]) -> tuple[Any, Any]:
    """Largest stiffness [N/m] and damping [N s/m] of the links beside k and c, of each row; 0 without a link."""
    branches = np.nansum(np.asarray(p.get("maxwell_stiffness", ()), float), axis=-1)
    springs = (steepest(p, f"{name}_displacement", f"{name}_force") for name in ("spring", "hardening"))
    return outside_laws.added(OUTSIDE, p, sum(springs, branches), steepest(p, "damper_velocity", "damper_force"))


def linked(p: Mapping[str, Any]) -> Any:
    """Mask of the rows that have a link beside k and c."""
    return sum((has(p, name) for name in LINKS if name in p), np.False_) > 0


def has(p: Mapping[str, Any], switch: str) -> Any:
    """Mask of the rows that have the law of a switch: a number of a law of another package, else a table."""
    value = np.asarray(p.get(switch, 0.0 if switch in OUTSIDE else ()))
    given = np.isfinite(value) & (value != 0.0)
    return given if switch in OUTSIDE else np.any(given, axis=-1)
