"""The models a study can name: their parameters, derived defaults, rules between parameters, and observables.

Nothing here imports JAX, so that a configuration is read and checked without waiting for JAX to start.
"""

from tribosweep.kernels.models.model import Model, Rule
from tribosweep.kernels.models.observables import REGIMES
from tribosweep.kernels.models.parameters import TIME, WEAR_LAW
from tribosweep.kernels.models.rubbing_mass import RUBBING_MASS
from tribosweep.kernels.models.rules import LEAST_TOLERANCE, SINGLE_RULES
from tribosweep.kernels.models.two_walls import TWO_WALLS
from tribosweep.kernels.models.walls import BUCKLING_WALL, STOP

MODELS: dict[str, Model] = {model.name: model for model in (RUBBING_MASS, STOP, BUCKLING_WALL, TWO_WALLS)}

__all__ = [
    "BUCKLING_WALL",
    "LEAST_TOLERANCE",
    "MODELS",
    "REGIMES",
    "RUBBING_MASS",
    "SINGLE_RULES",
    "STOP",
    "TIME",
    "TWO_WALLS",
    "WEAR_LAW",
    "Model",
    "Rule",
]
