"""What has a number or a name in a structure keeps its meaning in whatever order it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.excitation.record import Records
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

AXES = dict(zip("xyz", np.eye(3).tolist(), strict=True))
ENDS = {"end": 1.0, "step": 1e-2}


@pytest.mark.slow
def test_a_load_follows_the_channel_of_its_number_whatever_its_place_among_the_loads() -> None:
    # under a constant acceleration a free body is at -a t^2 / 2; n steps of Euler's scheme take it (1 + 1/n) times as far
    loads = [
        Load("none", direction=(1.0, 0.0, 0.0)),
        *(Load(axis, direction=tuple(AXES[axis]), channel=c) for axis, c in zip("xyz", (3, 1, 1), strict=True)),
    ]
    model = Structure(body_basis(), loads=loads, body=True).model
    records = Records(np.outer([5.0, 2.0, 7.0, 1.0], np.ones(400))[None], 0.01)
    found = kernels.simulate(model, ENDS | {"record": 0}, scheme="euler", records=records)
    assert [float(found[f"{axis}_end[centre]"]) for axis in "xyz"] == pytest.approx([-0.505, -1.01, -1.01], rel=1e-12)


def test_a_load_whose_channel_the_records_do_not_have_is_refused() -> None:
    model = Structure(body_basis("x"), loads=[Load("g", channel=2)], body=True).model
    with pytest.raises(ValueError, match="load g follows channel 2, counted from 0, and the records have 2 channels"):
        kernels.simulate(model, ENDS | {"record": 0}, scheme="euler", records=Records(np.ones((1, 2, 9)), 0.1))
    with pytest.raises(ValueError, match="channels are counted from 0"):
        Load("g", channel=-1)


def everything(seed: int | None) -> tuple[Structure, dict[str, Any], Records]:
    """A structure with some of everything; what has an order is put into another one by the seed."""
    draws, change = np.random.default_rng(3), np.random.default_rng(seed)

    def order(count: int) -> list[int]:
        return list(range(count)) if seed is None else change.permutation(count).tolist()

    def put(things: list[Any]) -> list[Any]:
        return [things[place] for place in order(len(things))]

    modes, channels = order(4), order(3)  # place -> which
    omega, ratio = np.array([90.0, 210.0, 330.0, 560.0]), np.array([0.02, 0.01, 0.03, 0.05])
    shapes = {name: draws.uniform(-1.0, 1.0, (3, 4)) for name in "abcd"}
    shapes["line"] = np.concatenate([draws.uniform(-1.0, 1.0, (1, 4)), np.zeros((2, 4))])
    participation = draws.uniform(-1.0, 1.0, (3, 4))
    couplings = draws.uniform(-1.0, 1.0, (4, 4))
    bases = {}
    for name, factor in (("first", 1.0), ("second", 1.1)):
        full = np.diag(2.0 * ratio * omega) + 4.0 * couplings
        bases[name] = Basis(
            factor * omega[modes], np.ones(4), full[np.ix_(modes, modes)],
            dict(put([(point, shape[:, modes]) for point, shape in shapes.items()])), participation[:, modes],
            dict(put([("a", 0.0), ("b", 1.0), ("c", 2.5)])),
        )  # fmt: skip
    bases = {name: bases[name] for name in put(["first", "second"])}
    supports = put([
        Support("ring", "a", "ring"), Support("plane", "b", axes=((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
        Support("pair", "c", "two planes", other="d"), Support("flat", "line"), Support("other ring", "d", "ring"),
    ])  # fmt: skip
    at = {which: place for place, which in enumerate(channels)}
    loads = put([
        Load("one", channel=at[2]), Load("two", "force", direction=(0.0, 1.0, 1.0), point="c"), Load("three", "mode", mode=modes.index(1)),
        Load("four", direction=(1.0, 1.0, 0.0), channel=at[0]), Load("five", direction=(0.0, 1.0, 0.0), channel=at[0]),
    ])  # fmt: skip
    structure = Structure(
        next(iter(bases.values())), supports, loads, put(["d", "b"]), bases=bases, peak_edges=(0.0, 30.0, 1e5), modal_energies=True,
        start=1e-4 * np.array([1.0, -2.0, 3.0, 0.5])[modes], start_rate=1e-2 * np.array([2.0, 1.0, -1.0, 3.0])[modes],
    )  # fmt: skip
    given = {"k_n": 2e4, "mu": 0.3, "k_t": 1e4, "c_t": 5.0, "end": 0.06, "step": 2e-5, "basis": list(bases).index("second"), "record": 0,
             "window_start": 0.01}  # fmt: skip
    names = [support.name for support in structure.supports]
    given |= {f"gap[{name}]": 2e-4 * (1 + place) for place, name in enumerate(sorted(names))}
    given |= {f"c_n[{name}]": 3.0 * (1 + place) for place, name in enumerate(sorted(names))}
    given |= {"mu[plane]": 0.1, "k_t[pair]": 3e4, "centre_1[ring]": 1e-4, "centre_2[other ring]": -1e-4, "angle[pair]": 0.3}
    given |= {"position[plane]": 1.3, "amplitude[two]": 15.0, "omega[two]": 170.0}
    given |= {"amplitude[three]": 20.0, "omega[three]": 120.0}
    samples = 60.0 * draws.uniform(-1.0, 1.0, (1, 3, 40))
    return structure, given, Records(samples[:, channels], 2e-3)


@pytest.mark.long_cases("devogelaere")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_channels_supports_points_modes_bases_and_loads_mean_the_same_in_any_order(scheme: str) -> None:
    structure, given, records = everything(None)
    plain = kernels.simulate(structure.model, given, scheme=scheme, records=records)
    other, again, turned = everything(8)
    found = kernels.simulate(other.model, again, scheme=scheme, records=turned)
    assert int(plain["status"]) == int(found["status"]) == Status.OK
    assert {name for name in plain if np.any(plain[name] != found[name])} != set()  # it is another order of sums
    assert all(int(plain[f"impacts[{support}]"]) > 0 for support in structure.order)
    modes = np.argsort(structure.basis.omega), np.argsort(other.basis.omega)
    assert set(plain) == set(found)
    for name in plain:
        one, two = np.asarray(plain[name]), np.asarray(found[name])
        one, two = (one[modes[0]], two[modes[1]]) if name == "modal_energy" else (one, two)
        assert two == pytest.approx(one, rel=1e-6, abs=1e-12, nan_ok=True), name


@pytest.mark.slow
def test_lists_of_supports_and_parameters_of_single_modes_follow_their_order_and_number() -> None:
    shapes = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 3))
    row = Basis(np.array([50.0, 90.0, 140.0]), np.ones(3), np.full(3, 0.01), {"a": shapes}, shapes)
    back = Basis(row.omega[::-1], row.mass, row.damping, {"a": shapes[:, ::-1]}, shapes[:, ::-1])
    names = ["plane", "ring", "pair"]

    def supports(order: list[int]) -> list[Support]:
        given = [Support("plane", "a"), Support("ring", "a", "ring"), Support("pair", "a", "two planes")]
        return [given[place] for place in order]

    given = {
        "k_n": 1e4,
        "gap": 1e-3,
        "c_n[ring]": 20.0,
        "gap[pair]": 1.3e-3,
        "amplitude[g]": 30.0,
        "omega[g]": 60.0,
        "end": 0.3,
        "step": 1e-4,
    }
    plain = Structure(row, supports([0, 1, 2]), [Load("g")], lists=True, own_modes=(2, 0))
    turned = Structure(back, supports([2, 0, 1]), [Load("g")], lists=True, own_modes=(0, 2))
    one = kernels.simulate(plain.model, given | {"frequency[0]": 9.0, "damping[2]": 0.2, "damping[0]": 0.05}, scheme="euler")
    two = kernels.simulate(turned.model, given | {"frequency[2]": 9.0, "damping[0]": 0.2, "damping[2]": 0.05}, scheme="euler")
    assert list(plain.order) == names
    assert list(turned.order) == ["pair", "plane", "ring"]
    assert np.all(np.asarray(one["impacts"])[:3] > 0)
    for name in ("impacts", "impulse", "normal_force_peak", "displacement_rms"):
        assert np.asarray(two[name])[[1, 2, 0]] == pytest.approx(np.asarray(one[name])[:3], rel=1e-8), name
