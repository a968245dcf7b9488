"""Largest stiffness [N/m] and damping [N s/m] of the laws, which bound the steps of `euler` and `devogelaere`; plain arithmetic."""


def of_friction(p):
    """The damping of friction at rest."""
    return 0.0, p["mu_d"] * p["normal_force"] / p["tanh_speed"]


def of_spring(p):
    """The stiffness at the largest displacement that is expected."""
    return 3.0 * p["cubic_stiffness"] * p["cubic_reach"] ** 2, 0.0


def of_wall(p):
    """Stiffness and damping at the largest compression that is expected, without speed."""
    return 1.5 * p["hertz_stiffness"] * p["hertz_reach"] ** 0.5, p["hertz_stiffness"] * p["hertz_damping"] * p["hertz_reach"] ** 1.5
