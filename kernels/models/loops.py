"""Forces of contacts on an imposed displacement: their columns, and the contacts that have them. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Collection

from tribosweep.kernels.models import links
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS, OUTSIDE
from tribosweep.kernels.models.quantity import Quantity

# laws whose force depends on the slip speed, or may do so, and not on the path alone
SPEEDS = ("bristle_stiffness", "stribeck_speed", *OUTSIDE)
FOREIGN = ("normal_amplitude", "belt_speed")  # friction that changes in time or moves by itself
HOLDS = ("k_t", *FRICTION_LAWS)  # what friction needs in order to have a force while it holds

LOOP_COLUMNS = (
    Quantity("force", "N", "force that imposes the displacement on the contacts: the push of the walls less friction_force", "F"),
    Quantity("friction_force", "N", "friction on the body that is moved", "F_t"),
    Quantity("wall_force", "N", "force of the walls, without sign", r"F_\mathrm{wall}"),
)


def check_loop(given: Collection[str], timed: bool, rubs: bool) -> tuple[str, str] | None:
    """The parameter, and the reason, why contacts have no force on an imposed path; None where they have one.

    Args:
        given: names of the parameters that are given. timed: whether the samples have times. rubs: whether there is friction.
    """
    if has := [name for name in FOREIGN if name in given]:
        return has[0], "friction that changes in time has no loop of its own: leave it out"
    if has := [quantity.name for quantity in links.PARAMETERS if quantity.name in given]:
        return has[0], "a link beside k and c is no contact, and has no part in this force: leave it out"
    if not timed and (has := [name for name in SPEEDS if name in given]):
        return has[0], "the force depends on the slip speed: give the times of the samples"
    if rubs and not any(name in given for name in HOLDS):
        return "k_t", "rigid friction has no force of its own while it holds: give k_t [N/m], or mu = 0"
    return None
