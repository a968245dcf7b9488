"""Structures with supports against independent integrations: random loads before and after chaos, and a beam with two contacts."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.oracle.contact_code import ring_under_records
from tests.oracle.structure_code import PLANE, structure
from tests.oracle.structure_code import RING as ROUND
from tribosweep import kernels
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import trace

pytestmark = pytest.mark.slow
RING = {"m": 0.5, "k": 3e4, "c": 3.0, "gap": 1e-3, "k_n": 5e5, "c_n": 30.0, "mu": 0.3, "k_t": 5e5, "c_t": 200.0}
INTERVAL, DRAWS, END, START = 5e-4, 64, 0.5, 0.2
PACES = {
    "euler": {"step": 4e-6},
    "devogelaere": {"step": 4e-6},
    "adapt1": {"step": 4e-6, "largest_step": 4e-6},
    "adapt2": {"step": 4e-6, "largest_step": 4e-6},
    "rk32": {"step": 1e-6, "largest_step": 2e-5, "tolerance": 1e-6},
    "rk54": {"step": 1e-6, "largest_step": 2e-5, "tolerance": 1e-6},
}


@functools.cache
def shaking() -> np.ndarray:
    """64 random accelerations of the ground along x and y from 10 to 60 Hz, of 250 m/s^2 root mean square."""
    draws, count = np.random.default_rng(20261124), round(END / INTERVAL) + 1
    frequency = np.fft.rfftfreq(2 * count, INTERVAL)
    shape = (DRAWS, 2, frequency.size)
    parts = (draws.normal(size=shape) + 1j * draws.normal(size=shape)) * ((frequency >= 10.0) & (frequency <= 60.0))
    samples = np.fft.irfft(parts, axis=-1)[..., :count]
    return np.asarray(samples * (250.0 / samples.std()))


@functools.cache
def rod() -> Structure:
    """A body in a ring whose ground follows two channels of a record."""
    loads = [Load("x", channel=0), Load("y", direction=(0.0, 1.0, 0.0), channel=1)]
    return Structure(body_basis("xy"), [Support("ring", "centre", "ring")], loads, body=True)


@functools.cache
def truly(row: int, end: float = END, start: float = START, step: float = 2e-7) -> tuple[np.ndarray, np.ndarray]:
    """Work rate, impulse, impacts and contact ratio of a draw by the independent code, and its path."""
    return ring_under_records(*RING.values(), shaking()[row], INTERVAL, end, start, step, round(5e-3 / step))  # type: ignore[no-any-return]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["euler", *(pytest.param(name, marks=pytest.mark.long) for name in PACES if name != "euler")])
def test_after_chaos_the_mean_work_rate_under_random_loads_is_that_of_the_independent_code(scheme: str) -> None:
    records, rows = Records(shaking(), INTERVAL), np.arange(DRAWS, dtype=float)
    columns = {**RING, **PACES[scheme], "end": END, "window_start": START, "record": rows}
    found = solve(rod().model, scheme, columns, count=DRAWS, records=records)
    assert (found.status == Status.OK).all()
    truth = np.array([truly(row)[0] for row in range(DRAWS)])
    for name, place in (("wear_power", 0), ("impulse", 1), ("impacts", 2), ("contact_ratio", 3)):
        error = truth[:, place].std(ddof=1) / np.sqrt(DRAWS)
        assert abs(found.observables[f"{name}[ring]"].mean() - truth[:, place].mean()) < 2.0 * error, name
    # the same draw of both is another path by then
    assert np.abs(found.observables["wear_power[ring]"] / truth[:, 0] - 1.0).max() > 1e-2


@pytest.mark.long_cases("rk54", "adapt?", "rk32", "devogelaere")
@pytest.mark.parametrize("scheme", PACES)
def test_before_chaos_a_body_under_random_loads_moves_and_rubs_as_the_independent_code_says(scheme: str) -> None:
    count, end = 8, 0.1
    pace = {name: min(value, 2e-6) for name, value in PACES[scheme].items()}
    columns = {**RING, **pace, "end": end, "window_start": 0.0, "record": np.arange(count, dtype=float)}
    found = solve(rod().model, scheme, columns, count=count, records=Records(shaking(), INTERVAL)).observables
    of_code = [truly(row, end, 0.0) for row in range(count)]
    assert found["impacts[ring]"].tolist() == [numbers[2] for numbers, _ in of_code]
    assert found["impacts[ring]"].sum() > 40
    place = np.array([path[-1, 1:3] for _, path in of_code])
    errors = np.hypot(found["x_end[centre]"] - place[:, 0], found["y_end[centre]"] - place[:, 1]) / RING["gap"]
    assert np.median(errors) < 6e-3
    work = np.abs(found["wear_power[ring]"] / [numbers[0] for numbers, _ in of_code] - 1.0)
    assert np.median(work) < 5e-3
    assert found["impulse[ring]"] == pytest.approx([numbers[1] for numbers, _ in of_code], rel=2e-2)


MODES, LENGTH, STIFFNESS, LINE = 15, 2.0, 800.0, 0.8
NUMBER = np.arange(1, MODES + 1)
OMEGA = (NUMBER * np.pi / LENGTH) ** 2 * np.sqrt(STIFFNESS / LINE)
CONTACTS = {
    "ring": {"gap": 1e-3, "k_n": 1e6, "c_n": 20.0, "mu": 0.3, "k_t": 1e6, "c_t": 50.0},
    "plane": {"gap": 1.5e-3, "k_n": 5e5, "c_n": 10.0, "mu": 0.2, "k_t": 5e5, "c_t": 30.0},
}
SINES = {"x": (40.0, 30.0 * np.pi), "y": (35.0, 22.0 * np.pi)}


def in_both_planes(row: np.ndarray) -> np.ndarray:
    """(3, 30): 15 modes that bend along x, then the same along y."""
    return np.stack([np.append(row, 0.0 * row), np.append(0.0 * row, row), np.zeros(2 * row.size)])


THIRD, BEYOND = (in_both_planes(np.sin(NUMBER * np.pi * part)) for part in (1.0 / 3.0, 0.7))
PARTICIPATION = in_both_planes(2.0 / (NUMBER * np.pi) * (1.0 - np.cos(NUMBER * np.pi)))


@functools.cache
def beam() -> Structure:
    """A pinned beam of 15 modes in each plane, in closed form, with a ring at a third and a plane at 0.7 of its length."""
    basis = Basis(
        np.tile(OMEGA, 2),
        np.full(2 * MODES, LINE * LENGTH / 2.0),
        np.full(2 * MODES, 0.01),
        {"third": THIRD, "beyond": BEYOND},
        PARTICIPATION,
    )
    supports = [Support("ring", "third", "ring"), Support("plane", "beyond", "plane")]
    return Structure(basis, supports, [Load("x"), Load("y", direction=(0.0, 1.0, 0.0))], observed=["third", "beyond"])


@functools.cache
def true_beam(step: float = 2e-7, end: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Work rates and more of both contacts, and the path, by the independent code."""
    square, modal = np.tile(OMEGA, 2) ** 2, np.full(2 * MODES, LINE * LENGTH / 2.0)
    numbers = np.array([list(each.values()) for each in CONTACTS.values()])
    amplitude, omega = np.array(list(SINES.values())).T.copy()
    still, points = np.zeros(2 * MODES), np.concatenate([THIRD[:2], BEYOND[:2]])
    return structure(  # type: ignore[no-any-return]
        square, 0.02 * np.sqrt(square), modal, np.stack([THIRD, BEYOND]), np.array([ROUND, PLANE]), numbers,
        -modal * PARTICIPATION[:2], amplitude, omega, np.zeros(2), still, still, points, end, 0.0, step, round(1e-4 / step),
    )  # fmt: skip


@pytest.mark.long_cases("devogelaere", "euler", "adapt2")
@pytest.mark.parametrize("scheme", ["euler", "devogelaere", "adapt2"])
def test_a_beam_that_hits_a_ring_and_a_plane_moves_pushes_and_rubs_as_the_independent_code_says(scheme: str) -> None:
    numbers, path = true_beam()
    given = {f"{name}[{support}]": value for support, each in CONTACTS.items() for name, value in each.items()}
    given |= {f"amplitude[{axis}]": sine[0] for axis, sine in SINES.items()} | {f"omega[{axis}]": sine[1] for axis, sine in SINES.items()}
    given |= {name: min(value, 2e-6) for name, value in PACES[scheme].items()} | {"end": 0.1}
    found = kernels.simulate(beam().model, given, scheme=scheme)
    history = trace(beam().model, given, scheme, rows=50_000)
    for place, support in enumerate(CONTACTS):
        assert found[f"impacts[{support}]"] == numbers[place, 2] > 1
        assert found[f"wear_power[{support}]"] == pytest.approx(numbers[place, 0], rel=3e-3)
        assert found[f"impulse[{support}]"] == pytest.approx(numbers[place, 1], rel=3e-4)
        assert found[f"normal_force_peak[{support}]"] == pytest.approx(numbers[place, 3], rel=3e-3)
        for column, force in ((5, "normal_force"), (7, "tangential_force")):
            truth = path[:, column + place]
            errors = np.interp(path[:, 0], history["time"], history[f"{force}[{support}]"]) - truth
            assert np.sqrt(np.mean(errors**2)) < 5e-3 * truth.max(), force
    for column, name in enumerate(("x[third]", "y[third]", "x[beyond]", "y[beyond]"), 1):
        assert np.abs(np.interp(path[:, 0], history["time"], history[name]) - path[:, column]).max() < 1e-2 * 1e-3


def test_the_independent_codes_have_converged_and_agree_with_each_other() -> None:
    (coarse, _), (fine, _) = true_beam(4e-7), true_beam()
    assert coarse == pytest.approx(fine, rel=1e-4)
    # the body of 0.5 kg in its ring as two modes of 0.5 kg, under constant forces
    gap, *rest = (RING[name] for name in ("gap", "k_n", "c_n", "mu", "k_t", "c_t"))
    square, plane = np.full(2, RING["k"] / RING["m"]), np.eye(3)[:, :2]
    samples = np.stack([np.full(3, 200.0), np.full(3, -150.0)])
    of_body, _ = ring_under_records(*RING.values(), samples, 0.05, 0.05, 0.0, 2e-7, 1000)
    of_modes, _ = structure(
        square, np.full(2, RING["c"] / RING["m"]), np.full(2, RING["m"]), plane[None].copy(), np.array([ROUND]), np.array([[gap, *rest]]),
        -0.5 * np.eye(2), np.zeros(2), np.zeros(2), np.array([200.0, -150.0]), np.zeros(2), np.zeros(2), np.eye(2), 0.05, 0.0, 2e-7, 1000,
    )  # fmt: skip
    assert of_modes[0, 2] == of_body[2] > 0
    assert of_modes[0, 1] == pytest.approx(of_body[1], rel=1e-9)
    assert of_modes[0, 0] == pytest.approx(of_body[0], rel=1e-6, abs=1e-12)
