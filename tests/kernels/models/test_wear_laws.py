"""Wear volumes and depths over a service time: against mpmath, at their ends, and through the engine with derivatives."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

from tribosweep import kernels
from tribosweep.kernels.batch import solve as batch
from tribosweep.kernels.models import MODELS, RUBBING_MASS, wear_laws

YEAR = 31_536_000.0
CONSTANTS = {"edf_a": 1e-13, "edf_b": 1.2, "edf_n": 2.44e-8, "edf_s": 1.14e-16}
LEAST = (CONSTANTS["edf_s"] / CONSTANTS["edf_a"]) ** (1.0 / CONSTANTS["edf_b"])  # W, where V0 = S
SERVICE = {"service_time": YEAR, "archard_k": 2e-14, "contact_area": 1e-4}


def by_hand(power: float, time: float, **changes: float) -> mpf:
    """The law as it is printed, in 40 digits."""
    with mp.workdps(40):
        a, b, n, s = (mpf(value) for value in (CONSTANTS | changes).values())
        first = a * mpf(power) ** b
        x = s / first
        settled = mpf(time) if n == 0 else (1 - mp.exp(-n * mpf(time))) / n
        return +(first * (x * mpf(time) + (1 - x) * settled))


def test_edf_mz_gives_the_documented_volume_of_half_a_watt_in_a_year() -> None:
    found = wear_laws.edf_mz(CONSTANTS | {"service_time": YEAR}, np.float64(0.5))
    assert found == pytest.approx(9.58595507705e-7, rel=1e-12)
    assert found == pytest.approx(float(by_hand(0.5, YEAR)), rel=2e-15)


@pytest.mark.parametrize("time", [0.0, 1e-9, 1.0, 1e5, 2.1e7, YEAR, 1e10, 1e15])
def test_edf_mz_agrees_with_40_digits_however_short_or_long_the_service(time: float) -> None:
    powers = np.array([LEAST * (1.0 + 1e-9), 0.004, 0.5, 15.267, 1e6])
    found = wear_laws.edf_mz(CONSTANTS | {"service_time": time}, powers)
    assert found == pytest.approx([float(by_hand(power, time)) for power in powers], rel=4e-15)


def test_edf_mz_without_fading_wears_at_its_first_rate() -> None:
    found = wear_laws.edf_mz(CONSTANTS | {"service_time": YEAR, "edf_n": 0.0}, np.float64(2.0))
    assert found == pytest.approx(1e-13 * 2.0**1.2 * YEAR, rel=1e-15)


def test_no_power_wears_nothing_and_one_too_small_for_edf_mz_has_no_volume_by_it() -> None:
    found = wear_laws.edf_mz(CONSTANTS | {"service_time": YEAR}, np.array([0.0, 1e-12, 0.999 * LEAST, 1.001 * LEAST, np.nan]))
    assert found[0] == 0.0
    assert np.isnan(found).tolist() == [False, True, True, False, True]
    assert found[3] == pytest.approx(CONSTANTS["edf_s"] * YEAR, rel=1e-2)  # the rate is S from the beginning


@pytest.mark.slow
@pytest.mark.parametrize("time", [1e-3, YEAR])
def test_derivatives_of_edf_mz_are_those_of_40_digits(time: float) -> None:
    at = CONSTANTS | {"service_time": time}
    slopes = jax.grad(lambda p, power: wear_laws.edf_mz(p, power, jnp), argnums=(0, 1))(at, 0.7)
    with mp.workdps(40):
        for name, value in CONSTANTS.items():
            expected = mp.diff(lambda v, name=name: by_hand(0.7, time, **{name: v}), mpf(value), h=mpf(value) * mpf("1e-12"))
            assert float(slopes[0][name]) == pytest.approx(float(expected), rel=1e-9)
    assert float(slopes[1]) == pytest.approx(1.2 / 0.7 * (float(by_hand(0.7, time)) - last(time)), rel=1e-12)
    assert float(jax.grad(lambda power: wear_laws.edf_mz(at, power, jnp))(0.0)) == 0.0


def last(time: float) -> float:
    """The part of the volume that does not depend on the power [m^3]."""
    n, s = CONSTANTS["edf_n"], CONSTANTS["edf_s"]
    return s * (time + math.expm1(-n * time) / n)


def test_volumes_come_with_what_they_need_and_are_functions_of_the_wear_power_alone() -> None:
    given = {"a0": np.array([15.0, 1.5, 1.01, 0.99]), "window_start": 4.0}
    plain = batch.solve(RUBBING_MASS, "exact", given, count=4)
    assert not [name for name in plain.observables if name.startswith(("wear_volume", "wear_depth"))]
    absent = {"service_time": np.array([False, False, False, True])}
    found = batch.solve(RUBBING_MASS, "exact", given | SERVICE | {"service_time": np.full(4, YEAR)}, absent, count=4)
    power = found.observables["wear_power"]
    assert np.array_equal(power, plain.observables["wear_power"])
    assert not found.status.any()
    assert found.observables["wear_volume"][:3] == pytest.approx(2e-14 * YEAR * power[:3], rel=1e-15)
    assert found.observables["wear_depth"][:3] == pytest.approx(1e4 * found.observables["wear_volume"][:3], rel=1e-15)
    assert found.observables["wear_volume_edf_mz"][:2] == pytest.approx([float(by_hand(each, YEAR)) for each in power[:2]], rel=1e-14)
    assert np.isnan(found.observables["wear_volume_edf_mz"][2])  # 0.23 mW
    assert np.isnan(found.observables["wear_volume"][3])  # no service in this row, which is no failure
    some = batch.solve(RUBBING_MASS, "exact", given | {"service_time": YEAR}, count=4)
    assert {name for name in some.observables if name.startswith("wear_")} == {"wear_power", "wear_energy", "wear_volume_edf_mz"}


def test_every_model_has_the_laws_and_no_program_reads_them() -> None:
    for model in MODELS.values():
        assert set(wear_laws.READS) <= model.unread("exact")
        assert set(wear_laws.READS) <= model.unread("euler")
        names = {quantity.name for quantity in model.returns(None, (*SERVICE, "blocks", "statistics"))}
        assert {"wear_volume", "wear_depth_edf_mz", "wear_power_blocks", "x_std"} <= names


@pytest.mark.slow
def test_a_volume_has_derivatives_by_the_motion_and_by_the_law() -> None:
    def volume(a0: float, archard_k: float, time: float) -> jax.Array:
        p = {"a0": a0, "mu": 0.1, "window_start": 4.0, "archard_k": archard_k, "service_time": time}
        return kernels.simulate("rubbing_mass", p)["wear_volume"]

    def power(a0: float) -> jax.Array:
        return kernels.simulate("rubbing_mass", {"a0": a0, "mu": 0.1, "window_start": 4.0})["wear_power"]

    slopes = jax.grad(volume, argnums=(0, 1, 2))(15.0, 2e-14, YEAR)
    assert float(slopes[0]) == pytest.approx(2e-14 * YEAR * float(jax.grad(power)(15.0)), rel=1e-12)
    assert float(slopes[1]) == pytest.approx(YEAR * 15.267099589371614, rel=1e-12)
    assert float(slopes[2]) == pytest.approx(2e-14 * 15.267099589371614, rel=1e-12)


@pytest.mark.long
@pytest.mark.slow
def test_a_steady_motion_and_single_precision_wear_by_their_own_power() -> None:
    steady = kernels.simulate("rubbing_mass", SERVICE | {"a0": 15.0}, window="steady")
    assert float(steady["wear_volume"]) == pytest.approx(2e-14 * YEAR * 15.114614488611316, rel=1e-12)
    columns = SERVICE | {"a0": np.array([15.0, 1.5]), "k_t": 9e4, "end": 2.0, "step": 1e-3}
    found = batch.solve(RUBBING_MASS, "euler", columns, count=2, dtype=np.float32).observables
    assert found["wear_volume"] == pytest.approx(2e-14 * YEAR * found["wear_power"], rel=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-5, 1e-3, 1.0])
@pytest.mark.parametrize("depth", [1e-8, 1e-6, 1e-4, 3e-3, 9.6e-3, 1.5e-2, 1.9e-2])
def test_the_area_of_a_scar_is_that_of_two_circles_and_gives_its_depth_back(gap: float, depth: float) -> None:
    radius = 9.525e-3
    with mp.workdps(50):
        r, ring, off = mpf(radius), mpf(radius) + mpf(gap), mpf(gap) + mpf(depth)
        on_tube, on_ring = mp.acos((ring**2 - r**2 - off**2) / (2 * r * off)), mp.acos((ring**2 - r**2 + off**2) / (2 * ring * off))
        area = float(r**2 * (on_tube - mp.sin(on_tube) * mp.cos(on_tube)) - ring**2 * (on_ring - mp.sin(on_ring) * mp.cos(on_ring)))
    assert wear_laws.scar_area(np.asarray(depth), radius, gap) == pytest.approx(area, rel=1e-9)
    assert wear_laws.scar_depth(np.asarray(area), radius, gap) == pytest.approx(depth, rel=1e-9)


@pytest.mark.slow
def test_a_scar_of_no_area_has_no_depth_and_a_tube_worn_through_has_its_diameter() -> None:
    found = wear_laws.scar_depth(np.array([0.0, 1.0, np.nan, 3.14e-4, 3.1416e-4]), 0.01, 1e-4)
    assert found[[0, 1, 4]].tolist() == [0.0, 0.02, 0.02]
    assert np.isnan(found[2])
    assert 0.019 < found[3] < 0.02
    area = 1e-7
    slope = jax.grad(lambda a: wear_laws.scar_depth(a, 0.01, 1e-4, jnp))(area)
    change = wear_laws.scar_depth(np.array([area * (1 + 1e-5), area * (1 - 1e-5)]), 0.01, 1e-4)
    assert float(slope) == pytest.approx((change[0] - change[1]) / (2e-5 * area), rel=1e-6)
