"""Wear of Archard and dissipation by friction, from the distance slipped.

    P_wear = F_n d_slip / (t_b - t_a)        P_friction = mu_d P_wear

mu is not in the wear power (SDND104 prints a stray one in a formula; its program and its table have none).
"""

from __future__ import annotations

from typing import Any

from kernels.elementary import Array


def finish(p: dict[str, Any], slip_distance: Array) -> dict[str, Array]:
    """wear_power [W], wear_energy [J] and friction_power [W] of resolved parameters and the slip distance [m] in the window."""
    energy = p["normal_force"] * slip_distance
    power = energy / (p["window_end"] - p["window_start"])
    return {"wear_power": power, "wear_energy": energy, "friction_power": p["mu_d"] * power}
