"""Archard's wear power and dissipation by friction, from the distance slipped.

    P_wear = F_n d_slip / (t_b - t_a)        P_friction = mu_d P_wear

Where F_n or mu varies, they are means over the window of F_n |v| and mu F_n |v| during slip.

The wear power does not contain mu. (A formula of SDND104 has a stray mu; its program and its table have none.)
"""

from __future__ import annotations

from typing import Any

from tribosweep.kernels.numerics.numbers import Array


def finish(p: dict[str, Any], slip_distance: Array, worn: Array | None = None, dissipated: Array | None = None) -> dict[str, Array]:
    """wear_power [W], wear_energy [J] and friction_power [W].

    Args:
        p: resolved parameters. slip_distance: distance slipped in the window [m].
        worn: integral of F_n |v| during slip in the window [J]; None if F_n is constant.
        dissipated: integral of mu F_n |v| during slip in the window [J]; None if mu is constant.
    """
    length = p["window_end"] - p["window_start"]
    energy = p["normal_force"] * slip_distance if worn is None else worn
    power = energy / length
    friction = p["mu_d"] * power if dissipated is None else dissipated / length
    return {"wear_power": power, "wear_energy": energy, "friction_power": friction}
