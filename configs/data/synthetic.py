"""Make the data of configs/calibrate_*.toml and configs/quake.toml: synthetic, so that an answer is known.

Measurements are computed from known values with noise added; quakes are random accelerations with the spectrum of a soft ground.

python configs/data/synthetic.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tribosweep import kernels
from tribosweep.sweep.excitation.spectrum import Spectrum
from tribosweep.sweep.excitation.stationary import Stationary

FOLDER = Path(__file__).parent

# The wall of SDND105 C: what configs/calibrate_wall.toml has to find again.
WALL = {"k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "post_stiffness": (0.2, 0.15, 0.125, 0.1)}
WALL_KNOWN = {"plateau": 1.0, "softening": 1.0, "post_set": (2.0, 3.0, 4.0, 5.0), "end": 40.0}
DROPS = np.linspace(1.1, 3.3, 12)  # m/s
SEEN = ("max_compression", "plastic_set", "rebound_velocity", "buckling_time")
NOISE = 0.01  # of what is measured

# The shoe of configs/calibrate_friction.toml: shaken once so that it sticks, once so that it slips.
SHOE = {"mu": 0.3, "k_t": 2000.0, "c_t": 20.0}
SHOE_KNOWN = {"omega": 30.0}
SHAKES = {"stuck": 2.0, "slipping": 6.0}  # m/s^2
TIMES = np.arange(0.01, 0.605, 0.01)  # s
RESOLUTION = 2e-5  # m

# The contact of configs/calibrate_loop.toml on a rig that imposes the displacement, at two amplitudes.
PUNCH = {"k_t": 2.5e7, "mu": 0.6}
PUNCH_KNOWN = {"normal_force": 500.0}
STROKES = {"short": 8e-6, "long": 40e-6}  # m
CELL = 5.0  # N, noise of the load cell

# The sliding shoe of configs/calibrate_power.toml, of which the heat is measured twice.
SLIDER = {"mu": 0.19, "m": 1.0}
SLIDER_KNOWN = {"omega": 10.0, "a0": 8.0, "end": 12.0, "window_start": 6.0, "window_end": 12.0}
CALORIMETER = 0.02  # W, standard deviation of its noise

# The quakes: largest acceleration [m/s^2], and how long each is strong and then dies away [s].
QUAKES = {"main_shock": (0.35 * 9.80665, 6.0, 4.0), "aftershock": (0.2 * 9.80665, 2.0, 3.0)}
GROUND, DAMPING = 2.5, 0.6  # Hz, and part of the critical damping, of the ground


def drops(noise: float, seed: int) -> pd.DataFrame:
    """Twelve drops against the wall, with noise of a part of each number; one plastic set was not measured."""
    rng = np.random.default_rng(seed)
    found = kernels.simulate("buckling_wall", {**WALL, **WALL_KNOWN, "v0": DROPS})
    table = {"test": [f"drop {n + 1}" for n in range(len(DROPS))], "v0": DROPS, "v0_unit": ["m/s"] * len(DROPS)}
    for name in SEEN:
        exact = np.asarray(found[name])
        table[name] = exact * (1.0 + noise * rng.standard_normal(len(DROPS)))
        table[f"{name}_sd"] = noise * np.abs(exact) if noise else 0.01 * np.abs(exact)
    frame = pd.DataFrame(table)
    if noise:
        frame.loc[3, "plastic_set"] = np.nan
    return frame


def loops(noise: float, seed: int) -> dict[str, pd.DataFrame]:
    """Forces over one cycle of a sinusoidal displacement, in its steady state."""
    rng = np.random.default_rng(seed)
    angles = 2.0 * np.pi * np.arange(120) / 120.0
    found = {}
    for name, stroke in STROKES.items():
        x = stroke * np.sin(angles)
        force = np.asarray(kernels.hysteresis("rubbing_mass", {**PUNCH, **PUNCH_KNOWN}, x, steady=True)["force"])
        found[name] = pd.DataFrame({"x": x, "force": force + noise * rng.standard_normal(len(x))})
    return found


def shakes(noise: float, seed: int) -> dict[str, pd.DataFrame]:
    """Displacements of the shoe over time."""
    rng = np.random.default_rng(seed)
    traces = {}
    for name, a0 in SHAKES.items():
        found = kernels.simulate("rubbing_mass", {**SHOE, **SHOE_KNOWN, "a0": a0, "end": TIMES})
        traces[name] = pd.DataFrame({"time": TIMES, "x": np.asarray(found["x_end"]) + noise * rng.standard_normal(len(TIMES))})
    return traces


def powers(noise: float, seed: int) -> pd.DataFrame:
    """The power that friction dissipates, measured twice in the same test."""
    exact = float(kernels.simulate("rubbing_mass", {**SLIDER, **SLIDER_KNOWN})["friction_power"])
    measured = exact + noise * np.random.default_rng(seed).standard_normal(2)
    return pd.DataFrame(
        {"test": ["first", "second"], "a0": SLIDER_KNOWN["a0"], "friction_power": measured, "friction_power_sd": CALORIMETER}
    )


def quakes() -> dict[str, pd.DataFrame]:
    """Records of 20 s, sampled every 0.01 s, in g: the ground's resonance (Kanai and Tajimi), under an envelope, at rest when they end."""
    f = np.linspace(0.2, 20.0, 200)
    r2 = (f / GROUND) ** 2
    density = (1.0 + 4.0 * DAMPING**2 * r2) / ((1.0 - r2) ** 2 + 4.0 * DAMPING**2 * r2)
    made = Stationary(Spectrum(f, density), 20.0, 0.01, seed=105)
    t = 0.01 * np.arange(made.samples)
    records = {}
    for number, (name, (peak, strong, decay)) in enumerate(QUAKES.items()):
        envelope = (
            np.clip(t / 2.0, 0.0, 1.0) ** 2 * np.exp(-np.clip(t - 2.0 - strong, 0.0, None) / decay) * np.clip((20.0 - t) / 2.0, 0.0, 1.0)
        )
        shake = envelope * made.draw(number)
        shake -= envelope * shake.sum() / envelope.sum()  # so that the ground does not go on moving
        records[name] = pd.DataFrame({"time [s]": t, "acceleration [g]": peak / 9.80665 * shake / np.abs(shake).max()})
    return records


if __name__ == "__main__":
    drops(NOISE, 105).to_csv(FOLDER / "wall_drops.csv", index=False, float_format="%.6g")
    for which, trace in shakes(RESOLUTION, 104).items():
        trace.to_csv(FOLDER / f"shoe_{which}.csv", index=False, float_format="%.6g")
    for which, loop in loops(CELL, 103).items():
        loop.to_csv(FOLDER / f"loop_{which}.csv", index=False, float_format="%.6g")
    powers(CALORIMETER, 102).to_csv(FOLDER / "shoe_power.csv", index=False, float_format="%.6g")
    for which, record in quakes().items():
        text = record.to_csv(index=False, float_format="%.6g")
        (FOLDER / f"{which}.csv").write_text(
            f"# synthetic, of no quake that was: made by configs/data/synthetic.py\n{text}", encoding="utf-8"
        )
