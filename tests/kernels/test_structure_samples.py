"""Samples of structures at given times: the trace between its steps, and derivatives that differences confirm."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models.structure_columns import sampled
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import trace
from tribosweep.kernels.structure_samples import samples

BODY, RING = (0.5, 3e4, 3.0), (1e-3, 5e5, 30.0, 0.3, 5e5, 200.0)
OMEGA, SHAKES = (157.0, 195.0), (400.0, 350.0)
GIVEN = dict(zip(("m", "k", "c", "gap", "k_n", "c_n", "mu", "k_t", "c_t"), (*BODY, *RING), strict=True))
GIVEN |= {"amplitude[x]": SHAKES[0], "omega[x]": OMEGA[0], "end": 0.03, "step": 2e-5}
ALONG_Y = {"amplitude[y]": SHAKES[1], "omega[y]": OMEGA[1]}
FLAT = {name: value for name, value in GIVEN.items() if name not in ("mu", "k_t", "c_t")}
TIMES = np.array([0.0, 1e-5, 0.004, 0.004, 0.0123, 0.0211, 0.03])
SLOW = pytest.mark.slow


@functools.cache
def rod(obstacle: str = "ring", axes: str = "xy") -> Structure:
    """A body with one support, shaken along its axes."""
    loads = [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))][: len(axes)]
    return Structure(body_basis(axes), [Support("ring", "centre", obstacle)], loads, body=True)


@SLOW
def test_samples_are_the_trace_between_its_steps_and_the_observables_those_of_the_run() -> None:
    scheme = "adapt2"  # which takes steps again
    model = rod("plane", "x").model
    found = samples(model, FLAT, TIMES, scheme)
    whole, run = trace(model, FLAT, scheme, rows=0), kernels.simulate(model, FLAT, scheme)
    columns = sampled(model)
    traced = {"x[centre]", "x_rate[centre]", "normal_force[ring]", "penetration[ring]", "place_1[ring]"}
    assert {*columns} == traced | {"x_acceleration[centre]"}
    slope = np.gradient(whole["x_rate[centre]"], whole["time"])
    expected = np.interp(TIMES, whole["time"], slope)
    assert found["x_acceleration[centre]"] == pytest.approx(expected, abs=0.02 * float(np.abs(slope).max()))
    for name in traced:
        expected = np.interp(TIMES, whole["time"], whole[name])
        assert found[name] == pytest.approx(expected, abs=1e-9 * float(np.abs(whole[name]).max())), name
    for name, value in run.items():
        assert found[name] == pytest.approx(np.asarray(value), rel=1e-12), name
    assert float(run["impacts[ring]"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "obstacle", "names"),
    [
        ("devogelaere", "plane", ("k_n[ring]", "gap[ring]")),
        pytest.param("euler", "ring", ("k_n[ring]", "gap[ring]", "mu[ring]"), marks=SLOW),
    ],
)
def test_derivatives_are_those_of_the_steps_taken(scheme: str, obstacle: str, names: tuple[str, ...]) -> None:
    flat = obstacle == "plane"
    given = {**(FLAT if flat else GIVEN | ALONG_Y), "c_n": 0.0, "c_t": 0.0}  # with dampers derivatives follow the instants of entries
    model = rod(obstacle, "x" if flat else "xy").model
    times = np.linspace(0.001, 0.03, 30)
    # not wear_power, whose derivative follows the end of slip: by k_n 1.54e-5, differences over many steps 1.55e-5, within one 2.75e-5
    compared = ("normal_force[ring]", "x[centre]", "impulse[ring]", "normal_force_peak[ring]")

    @jax.jit
    def run(values: Any) -> dict[str, Any]:
        found = samples(model, given | dict(zip(names, values, strict=True)), times, scheme)
        return {name: found[name] for name in compared}

    at = jnp.array([given[name.partition("[")[0]] for name in names])
    slopes = jax.jit(jax.jacfwd(run))(at)
    for place, name in enumerate(names):
        step = 3e-6 * float(at[place])
        ends = [run(at.at[place].add(side * step)) for side in (-1.0, 1.0)]
        for observable in compared:
            differences = (np.asarray(ends[1][observable]) - np.asarray(ends[0][observable])) / (2.0 * step)
            scale = float(np.abs(differences).max())
            assert slopes[observable][..., place] == pytest.approx(differences, abs=1e-6 * scale + 1e-12), (name, observable)


def test_what_is_wrong_is_said() -> None:
    model = rod("plane", "x").model
    with pytest.raises(KeyError, match="did you mean 'gap\\[ring\\]'"):
        samples(model, FLAT | {"gap[rign]": 1e-3}, TIMES)
    with pytest.raises(KeyError, match="it has euler"):
        samples(model, FLAT, TIMES, "exact")
    with pytest.raises(ValueError, match=r"within the run, from 0 to 0.03 s, not from 0 to 0.2"):
        samples(model, FLAT, np.append(TIMES, 0.2))
    with pytest.raises(ValueError, match="ascend"):
        samples(model, FLAT, TIMES[::-1])
    with pytest.raises(ValueError, match="it must be less than"):
        samples(model, FLAT | {"step": 1e-2}, TIMES)
    with pytest.raises(ValueError, match="'exact' is no time scheme"):
        samples(kernels.MODELS["stop"], {}, TIMES, "exact")
    with pytest.raises(ValueError, match="two bodies"):
        samples(kernels.MODELS["stop"], {"m_2": 1.0}, TIMES)
