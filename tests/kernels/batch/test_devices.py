"""Programs for other devices: they can be lowered for GPUs and TPUs, and the settings for accelerators give the same results."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from tribosweep.kernels import simulate
from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.batch.program_key import ProgramKey
from tribosweep.kernels.batch.programs import program
from tribosweep.kernels.models import MODELS, RUBBING_MASS
from tribosweep.kernels.models.contacts import WallLaw
from tribosweep.kernels.models.schemes import EXACT, SCHEMES, STEADY
from tribosweep.kernels.runtime import jax_setup

pytestmark = pytest.mark.shapes

PLATFORMS = ("cuda", "rocm", "tpu")
WALLS: dict[str, dict[str, float]] = {
    "rubbing_mass": {},
    "stop": {"k_n": 1e4, "c_n": 5.0, "gap": 0.02},
    "buckling_wall": {"k_n": 1e4, "f_crit": 30.0, "f_post": 10.0, "k_post": 5e3, "gap": 0.02},
}
EVERY = [("rubbing_mass", scheme) for scheme in SCHEMES if scheme != EXACT]
# of each engine one of a kind: all of them take five minutes to trace
LOWERED = (
    *(ProgramKey(EXACT, free=free, precision=precision) for free in (True, False) for precision in ("float64", "float32")),
    ProgramKey(EXACT, friction="penalised"),
    ProgramKey(EXACT, walls=(WallLaw("stop"),)),
    ProgramKey(STEADY, free=True),
)
COUNT = 40


class LoweredError(Exception):
    """The program was lowered and shall not run."""


def columns(model: str, scheme: str) -> dict[str, Any]:
    """Some masses."""
    rows = {"a0": np.linspace(1.0, 9.0, COUNT), "mu": np.linspace(0.0, 0.3, COUNT), "end": 2.0, **WALLS[model]}
    return rows | ({} if scheme == EXACT else {"k_t": 1e5, "step": 1e-3})


def lower(monkeypatch: pytest.MonkeyPatch, model: str, scheme: str, more: dict[str, Any], named: str = "", dtype: Any = np.float64) -> None:
    """Lower the first program of a batch, whose key must contain `named`, for every platform."""

    def only(key: ProgramKey, devices: int, shapes: dict[str, Any], lanes: tuple[str, ...]) -> None:
        arguments = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
        made = jax.export.export(programs.traced(key, devices, lanes), platforms=PLATFORMS)
        assert made(arguments, jax.ShapeDtypeStruct((devices,), np.int32)).platforms == PLATFORMS
        raise LoweredError(str(key))

    monkeypatch.setattr(programs, "compiled", only)
    monkeypatch.setattr(jax_setup, "on_cpu", lambda: False)
    programs.traced.cache_clear()
    with pytest.raises(LoweredError, match=named or None):
        batch.solve(MODELS[model], scheme, columns(model, scheme) | more, {}, COUNT, dtype=dtype)
    programs.traced.cache_clear()


@pytest.mark.long_cases("*-devogelaere-*", "*-adapt1-*", "*-rk32-*")
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("model", "scheme"), EVERY)
def test_every_time_scheme_can_be_lowered_for_accelerators(
    monkeypatch: pytest.MonkeyPatch, model: str, scheme: str, dtype: type[np.floating[Any]]
) -> None:
    lower(monkeypatch, model, scheme, {}, dtype=dtype)
    if dtype is np.float32:  # each at its own pace
        lower(monkeypatch, model, scheme, {"end": np.linspace(1.0, 2.0, COUNT)}, dtype=dtype)


@pytest.mark.slow
@pytest.mark.parametrize("key", LOWERED, ids=str)
def test_exact_programs_can_be_lowered_for_accelerators(key: ProgramKey) -> None:
    model = "stop" if key.walls else "rubbing_mass"
    resolved = MODELS[model].resolve({"a0": 1.0, "k_t": 1e5, **WALLS[model]})
    rows = {name: jax.ShapeDtypeStruct((COUNT, *np.shape(value)), np.float64) for name, value in resolved.items()}
    made = jax.export.export(jax.jit(jax.vmap(program(key))), platforms=PLATFORMS)
    assert made(rows).platforms == PLATFORMS


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [EXACT, "rk54"])
def test_driven_programs_can_be_lowered_for_accelerators(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    lower(
        monkeypatch,
        "rubbing_mass",
        scheme,
        {"tone_a0": np.array([1.0, 2.0]), "tone_omega": np.array([3.0, 5.0])},
        "tones" if scheme == EXACT else "",
    )


@pytest.mark.usefixtures("fresh_programs")
@pytest.mark.slow
def test_what_suits_an_accelerator_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = columns("rubbing_mass", "euler") | {"end": 0.7, "window_start": 0.1234}
    here = batch.solve(RUBBING_MASS, "euler", rows, {}, COUNT)
    monkeypatch.setattr(jax_setup, "_STEPS_OF_LITTLE_WORK", 15)
    programs.PROGRAMS.clear()
    programs.traced.cache_clear()
    there = batch.solve(RUBBING_MASS, "euler", rows, {}, COUNT)
    for name, values in here.observables.items():
        np.testing.assert_allclose(there.observables[name], values, rtol=1e-10, atol=1e-13, err_msg=name)


def accelerators() -> list[Any]:
    """Devices that are no CPU."""
    return [device for device in jax.devices() if device.platform != "cpu"]


# Steps chosen by an error differ where rounding does: their numbers, and how long a speed beside zero counts as rest, are left out. The
# rest is compared at a tolerance at which the scheme's own error is below the bound; a last speed beside the largest one,
# and the largest speed, which is that at the end of a step, within 1e-4.
OF_STEPS = ("accepted_steps", "rejected_steps", "stick_fraction")


@pytest.mark.gpu
@pytest.mark.skipif(not accelerators(), reason="no accelerator here")
@pytest.mark.parametrize(("model", "scheme"), [(model, scheme) for model in WALLS for scheme in SCHEMES])
def test_an_accelerator_finds_what_a_cpu_finds(model: str, scheme: str) -> None:
    rows = columns(model, scheme) | {"mu": np.linspace(0.01, 0.3, COUNT)}  # without friction a slip begins and ends with rounding
    chosen = "tolerance" in SCHEMES[scheme].reads
    rows |= {"tolerance": 1e-10} if chosen else {}
    here = batch.solve(MODELS[model], scheme, rows, {}, COUNT)
    with jax.default_device(jax.devices("cpu")[0]):
        there = jax.jit(lambda p: simulate(model, p, scheme))(rows)
    for name, values in there.items():
        if name in here.observables and not (chosen and name in OF_STEPS):
            least = 1e-5 * float(np.max(np.abs(values))) if chosen and name == "v_end" else 1e-9
            bound = {"max_slip_speed": 1e-4}.get(name, 1e-5) if chosen else 1e-6
            np.testing.assert_allclose(here.observables[name], values, rtol=bound, atol=least, err_msg=name)
