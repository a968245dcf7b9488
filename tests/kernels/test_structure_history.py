"""Traces and impacts of structures against what `simulate` adds up, and against the equations."""

from __future__ import annotations

import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.models.wear_laws import scar_depth
from tribosweep.kernels.structure_history import IMPACT_COLUMNS, impacts, trace, traces

ROD = Structure(body_basis("xy"), [Support("ring", "centre", "ring")], [Load("x"), Load("y", direction=(0, 1, 0))], body=True)
GIVEN = {
    "m": 0.5, "k": 3e4, "c": 3.0, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0, "end": 0.1, "step": 1e-5,
    "amplitude[x]": 400.0, "omega[x]": 157.0, "amplitude[y]": 350.0, "omega[y]": 195.0, "largest_step": 1e-4, "tolerance": 1e-7,
}  # fmt: skip


@pytest.mark.long_cases("rk32", "devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", ["euler", pytest.param("devogelaere", marks=pytest.mark.slow), pytest.param("rk32", marks=pytest.mark.slow)]
)
def test_a_trace_ends_where_the_run_ends_and_adds_up_to_its_observables(scheme: str) -> None:
    found = kernels.simulate(ROD.model, GIVEN, scheme=scheme)
    history = trace(ROD.model, GIVEN, scheme, rows=0)
    time, normal = history["time"], history["normal_force[ring]"]
    assert (time[0], time[-1]) == (0.0, pytest.approx(0.1, rel=1e-12))
    assert np.all(np.diff(time) > 0.0)
    # where a scheme chooses its steps, rounding decides about single ones
    steps, within = (0, 1e-9) if scheme != "rk32" else (60, 1e-4)
    assert len(time) == pytest.approx(1 + int(found["accepted_steps"]), abs=steps)
    assert history["x[centre]"][-1] == pytest.approx(float(found["x_end[centre]"]), rel=within)
    assert history["y_rate[centre]"][-1] == pytest.approx(float(found["y_rate_end[centre]"]), rel=within)
    assert normal.max() == pytest.approx(float(found["normal_force_peak[ring]"]), rel=within)
    assert np.trapezoid(normal, time) == pytest.approx(float(found["impulse[ring]"]), rel=2e-3)
    slides = normal * history["sliding_speed[ring]"] * history["slips[ring]"]
    assert np.trapezoid(slides, time) / 0.1 == pytest.approx(float(found["wear_power[ring]"]), rel=2e-2)


@pytest.mark.slow
def test_forces_of_a_trace_are_those_of_the_equations() -> None:
    history = trace(ROD.model, GIVEN, "euler", rows=0)
    place = np.stack([history["place_1[ring]"], history["place_2[ring]"]])
    radius = np.hypot(*place)
    assert history["penetration[ring]"] == pytest.approx(radius - 1e-3, abs=1e-15)
    outward = place / np.where(radius > 0.0, radius, 1.0)
    rate = np.sum(outward * np.stack([history["x_rate[centre]"], history["y_rate[centre]"]]), axis=0)
    normal = np.where(radius > 1e-3, np.maximum(0.0, 5e5 * (radius - 1e-3) + 30.0 * rate), 0.0)
    assert history["normal_force[ring]"][1:] == pytest.approx(normal[1:], rel=1e-9, abs=1e-9)
    assert np.all(history["tangential_force[ring]"] <= 0.3 * normal * (1.0 + 1e-9) + 1e-9)
    assert np.array_equal(history["q"], np.stack([history["x[centre]"], history["y[centre]"]], axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk32"])
def test_impacts_are_counted_and_add_up(scheme: str) -> None:
    found = kernels.simulate(ROD.model, GIVEN, scheme=scheme)
    each = impacts(ROD.model, GIVEN, scheme)
    assert [*each] == [quantity.name for quantity in IMPACT_COLUMNS]
    assert len(each["time"]) == int(found["impacts[ring]"]) > 5
    assert np.all(np.diff(each["time"]) > 0.0)
    within = 1e-9 if scheme == "euler" else 1e-4
    assert each["peak_force"].max() == pytest.approx(float(found["normal_force_peak[ring]"]), rel=within)
    assert each["impulse"].sum() == pytest.approx(float(found["impulse[ring]"]), rel=3e-3)
    assert each["duration"].sum() == pytest.approx(float(found["contact_ratio[ring]"]) * 0.1, rel=5e-2)  # damping lets go before the exit
    assert np.all(each["velocity"] > 0.0)


@pytest.mark.slow
def test_thinner_traces_are_rows_of_the_whole() -> None:
    whole, thin = (trace(ROD.model, GIVEN, "euler", rows=rows) for rows in (0, 100))
    assert len(thin["time"]) == 101
    assert thin["x[centre]"] == pytest.approx(whole["x[centre]"][::100], rel=1e-9)


def test_what_cannot_be_traced_is_refused() -> None:
    with pytest.raises(ValueError, match="stop is no structure with supports"):
        trace(kernels.MODELS["stop"], {})
    with pytest.raises(ValueError, match="single numbers"):
        trace(ROD.model, GIVEN | {"gap": np.ones(2)})
    with pytest.raises(ValueError, match="must be less than"):
        trace(ROD.model, GIVEN | {"step": 1e-2})
    with pytest.raises(KeyError, match="no scheme 'exact'"):
        trace(ROD.model, GIVEN, "exact")


@pytest.mark.slow
def test_classes_of_peaks_and_energies_of_coordinates_are_those_of_the_trace() -> None:
    edges = (0.0, 20.0, 60.0, 100.0, 1e4)
    rod = Structure(ROD.basis, ROD.supports, ROD.loads, body=True, peak_edges=edges, modal_energies=True)
    found = kernels.simulate(rod.model, GIVEN, scheme="euler")
    each = impacts(rod.model, GIVEN, "euler")
    ended = each["time"] + each["duration"] < 0.1 * (1.0 - 1e-9)
    counts = np.asarray(found["peak_counts[ring]"])
    assert counts[:4].tolist() == np.histogram(each["peak_force"][ended], edges)[0].tolist()
    assert np.isnan(counts[4:]).all()
    history = trace(rod.model, GIVEN, "euler", rows=0)
    energy = np.trapezoid(0.5 * (0.5 * history["v"] ** 2 + 3e4 * history["q"] ** 2), history["time"], axis=0) / 0.1
    assert np.asarray(found["modal_energy"])[:2] == pytest.approx(energy, rel=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_depth_of_a_scar_follows_from_the_wear_power() -> None:
    worn = {"service_time": 3e7, "archard_k": 1e-15, "tube_radius": 9.5e-3, "contact_width": 0.02}
    found = kernels.simulate(ROD.model, GIVEN | worn, scheme="euler")
    volume = 1e-15 * 3e7 * float(found["wear_power[ring]"])
    assert float(found["wear_volume[ring]"]) == pytest.approx(volume)
    assert float(found["scar_depth[ring]"]) == pytest.approx(float(scar_depth(np.asarray(volume / 0.02), 9.5e-3, 1e-3)))
    batch = solve(ROD.model, "euler", GIVEN | worn | {"gap[ring]": np.array([1e-3, 5e-4])}, count=2)
    assert batch.observables["scar_depth[ring]"][0] == pytest.approx(float(found["scar_depth[ring]"]), rel=1e-6)
    assert "scar_depth[ring]" not in solve(ROD.model, "euler", GIVEN).observables


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "rk32"])
def test_a_part_of_a_trace_is_that_part_of_the_whole(scheme: str) -> None:
    whole = trace(ROD.model, GIVEN, scheme, rows=0)
    part = trace(ROD.model, GIVEN, scheme, rows=0, within=(0.0401, 0.0602))
    time = whole["time"]
    inside = (time >= part["time"][0] * (1.0 - 1e-12)) & (time <= part["time"][-1] * (1.0 + 1e-12))
    assert len(part["time"]) == np.count_nonzero(inside)
    assert part["time"][0] <= 0.0401 * (1.0 + 1e-12) < part["time"][1]
    assert part["time"][-2] < 0.0602 <= part["time"][-1] * (1.0 + 1e-12)
    for name, values in part.items():
        assert values == pytest.approx(whole[name][inside], rel=1e-6, abs=1e-9), name
    few = trace(ROD.model, GIVEN, scheme, rows=7, within=(0.0401, 0.0602))
    assert len(few["time"]) == 8
    assert (few["time"][0], few["time"][-1]) == pytest.approx((part["time"][0], part["time"][-1]))


@pytest.mark.slow
def test_traces_side_by_side_are_those_of_each() -> None:
    rows = [GIVEN, GIVEN | {"gap[ring]": 5e-4}, GIVEN | {"end": 0.05}, GIVEN | {"amplitude[x]": 1e308, "k_n": 1e6}]
    found = traces(ROD.model, rows, "euler", 50, within=[(0.02, np.inf)] * 4)
    for given, history in zip(rows[:3], found, strict=False):
        alone = trace(ROD.model, given, "euler", 50, within=(0.02, np.inf))
        assert history is not None
        assert [*history] == [name for name in alone if name not in ("q", "v")]
        for name, values in history.items():
            assert values == pytest.approx(alone[name], rel=1e-6, abs=1e-9), name
    assert found[3] is None


@pytest.mark.slow
def test_steps_are_no_longer_than_the_interval_of_a_record() -> None:
    rod = Structure(body_basis("x"), loads=[Load("x", channel=0)], body=True)
    given = {"k": 1.0, "end": 0.4, "record": 0.0, "step": 1.0, "tolerance": 1e-3}
    interval = 0.01
    bank = Records(np.sin(np.arange(41) * interval), interval)
    steps = np.diff(trace(rod.model, given, "rk32", 0, bank)["time"])
    found = solve(rod.model, "rk32", given, records=bank)
    assert steps.max() <= interval * (1.0 + 1e-9)
    assert len(steps) == int(found.observables["accepted_steps"][0])
