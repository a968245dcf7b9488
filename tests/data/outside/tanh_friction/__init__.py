"""Laws of this package: plain data, read while tribosweep is imported. What they name is imported later."""

FRICTION = {
    "kind": "friction",
    "title": "regularised Coulomb friction",
    "parameters": [
        {
            "name": "tanh_speed",
            "unit": "m/s",
            "description": "slip speed of regularised Coulomb friction, F = -mu_d F_n tanh(w / tanh_speed); 0: no such friction",
            "symbol": r"v_\mathrm{tanh}",
            "default": 0.0,
            "lower": 0.0,
        }
    ],
    "law": "tanh_friction.laws:Tanh",
    "step": "tanh_friction.steps:of_friction",
    "reads": ["belt_speed"],
}
SPRING = {
    "kind": "link",
    "title": "a cubic spring",
    "parameters": [
        {
            "name": "cubic_stiffness",
            "unit": "N/m^3",
            "description": "stiffness of a cubic spring beside k, F = cubic_stiffness x^3; 0: none",
            "default": 0.0,
            "lower": 0.0,
        },
        {
            "name": "cubic_reach",
            "unit": "m",
            "description": "largest displacement that is expected, for the bound of the step",
            "default": 1.0,
            "lower": 0.0,
        },
    ],
    "law": "tanh_friction.laws:Cubic",
    "step": "tanh_friction.steps:of_spring",
}
WALL = {
    "kind": "wall",
    "title": "a contact of Hertz with the damping of Hunt and Crossley",
    "parameters": [
        {
            "name": "hertz_stiffness",
            "unit": "N/m^1.5",
            "description": "stiffness of a contact of Hertz, F = hertz_stiffness y^1.5 (1 + hertz_damping y'); 0: k_n and c_n",
            "default": 0.0,
            "lower": 0.0,
        },
        {
            "name": "hertz_damping",
            "unit": "s/m",
            "description": "damping of Hunt and Crossley",
            "default": 0.0,
            "lower": 0.0,
        },
        {
            "name": "hertz_reach",
            "unit": "m",
            "description": "largest compression that is expected, for the bound of the step",
            "default": 1.0,
            "lower": 0.0,
        },
    ],
    "law": "tanh_friction.laws:Hertz",
    "step": "tanh_friction.steps:of_wall",
}
