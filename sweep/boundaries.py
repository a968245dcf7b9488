"""Where theory puts the boundaries between regimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sweep.maps import RegimeMap

AXES = ("a0", "mu", "g", "m")
ZERO = ("k", "c", "load", "f0", "v0")
DERIVED = ("mu_s", "mu_d", "normal_force")


def friction_ratio(values: Mapping[str, Any]) -> Any:
    """Return eta = mu g / |a0|: the largest friction force over the largest inertia force of a mass that rubs on a shaken support.

    Without spring, damping and forces other than friction, with mu_s = mu_d and the normal force m g, the mass sticks for eta >= 1, and
    once it slips it never sticks for eta <= eta* = 2/sqrt(pi^2 + 4).

    Args:
        values: `mu` [1], `g` [m/s^2] and `a0` [m/s^2] of the rubbing mass, floats or arrays that broadcast together.

    Returns:
        eta, of the broadcast shape; inf where a0 = 0. Source: SDND104 (V5.01.104), section 2.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(values["mu"]) * values["g"] / np.abs(values["a0"])


def known_boundaries(drawn: RegimeMap, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, dict[float, str]] | None:
    """The boundaries of a map as level lines of eta, where the theory holds for it.

    Args:
        drawn: the map.
        x: (n_x,) values of its x axis, in its unit. y: (n_y,) of its y axis.

    Returns:
        eta at the (n_y, n_x) places, and its levels with the name of each; None where the theory does not hold.
    """
    from kernels.reference.closed_forms import ETA_STAR

    given = drawn.fixed
    if (
        drawn.model.name != "rubbing_mass"
        or not {drawn.x.name, drawn.y.name} <= set(AXES)
        or any(name in given for name in DERIVED)
        or any(given.get(name, 0.0) != 0.0 for name in ZERO)
    ):
        return None
    values: dict[str, Any] = {name: given.get(name, drawn.model.parameter(name).default) for name in ("mu", "g", "a0")}
    values |= {drawn.x.name: x[np.newaxis, :], drawn.y.name: y[:, np.newaxis]}
    eta = np.broadcast_to(friction_ratio(values), (len(y), len(x)))
    return eta, {1.0: r"$\eta = 1$", float(ETA_STAR): rf"$\eta^* = {ETA_STAR:.4f}$"}
