"""Every parameter that a structure accepts changes something, is refused, or is named as one that changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep import kernels
from tribosweep.kernels.models.basis import Basis
from tribosweep.kernels.models.structure_idle import idle
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support

LINE = np.array([[1.0, 0.7], [0.0, 0.0], [0.0, 0.0]])  # a point that moves along x alone
FREE = np.array([[1.0, -0.4], [0.5, 0.9], [0.0, 0.0]])
MODES = Basis(np.array([70.0, 160.0]), np.ones(2), np.array([0.02, 0.03]), {"line": LINE, "free": FREE}, FREE)
SHAKEN: dict[str, Any] = {"k_n": 2e4, "gap": 3e-4, "end": 0.2, "step": 1e-4}


def structure(*names: str) -> Structure:
    """Two modes with some of three supports and two loads."""
    known = [Support("stop", "line"), Support("ring", "line", "ring"), Support("plane", "free")]
    loads = [Load("g"), Load("h", direction=(0.0, 1.0, 0.0))]
    supports = [support for support in known if support.name in names]
    return Structure(MODES, supports, loads, ["free"], start=np.array([1e-4, 0.0]), own_modes=(1,))


GIVEN = {"amplitude[g]": 9.0, "omega[g]": 80.0, "amplitude[h]": 8.0, "omega[h]": 60.0}


@pytest.mark.slow
@pytest.mark.parametrize("names", [("stop",), ("ring",), ("plane",), ("stop", "ring", "plane")])
def test_every_parameter_changes_a_result_or_is_refused_or_is_said_to_change_nothing(names: tuple[str, ...]) -> None:
    model = structure(*names).model
    base = SHAKEN | GIVEN | ({"mu": 0.2} if names != ("stop",) else {})
    if "ring" in names:
        base |= {"centre_2[ring]": 1e-4}
    resolved = model.resolve(base)
    plain = kernels.simulate(model, base, scheme="euler")
    service = {"service_time", "archard_k", "contact_area", "tube_radius", "contact_width"}  # they only add columns
    others = {"largest_step", "smallest_step", "tolerance", "retries", "window_start", "window_end", "record"} | service
    checked = 0
    for q in model.parameters:
        name = q.name
        if q.kind != "float" or name in others or name.startswith(("edf_", "table_", "pulse")):
            continue
        value = float(resolved[name]) if name in resolved else 0.0
        given = base | {name: (0.9 if name.startswith("mu_d") else 1.1) * value if value else 2e-4}
        silent = idle(model.structure, given)
        try:
            found = kernels.simulate(model, given, scheme="euler")
        except ValueError as error:
            assert name.partition("[")[0] in str(error)
            continue
        checked += 1
        same = all(np.array_equal(found[each], plain[each], equal_nan=True) for each in plain)
        assert same == (name in silent), name
    assert checked > 10


def test_names_of_all_supports_that_every_support_has_of_its_own_change_nothing() -> None:
    some = structure("stop", "plane")
    assert idle(some, ["gap", "gap[stop]", "gap[plane]", "mu"]) == ["gap"]
    assert idle(some, ["gap", "gap[stop]", "mu"]) == []
    assert idle(some, ["mu", "mu_s", "mu_d"]) == ["mu"]
    assert idle(some, ["mu[plane]", "mu_s", "mu_d"]) == ["mu_s", "mu_d"]
    assert idle(some, ["mu[plane]", "mu_s[plane]", "mu_d[plane]"]) == ["mu[plane]"]
    assert idle(some, ["k_t", "c_t[plane]"]) == ["k_t", "c_t[plane]"]  # without friction
    assert idle(some, ["mu_s", "k_t"]) == []
    assert idle(structure("stop"), ["mu", "k_t"]) == ["mu", "k_t"]
    assert idle(some, ["omega[g]", "phase[h]", "amplitude[h]", "start_rate_factor"]) == ["omega[g]", "start_rate_factor"]


@pytest.mark.long
@pytest.mark.slow
def test_a_ring_beside_the_way_of_a_point_is_met_where_it_is() -> None:
    model = Structure(body_basis("x"), [Support("ring", "centre", "ring")], [Load("f", "force", point="centre")], body=True).model
    given = {"m": 0.5, "k": 3e3, "gap": 1e-3, "k_n": 1e5, "constant[f]": 7.0, "v0[x]": 0.3, "end": 0.05}
    for more, centre in (({"centre_2": 8e-4}, (0.0, 8e-4)), ({"centre_1": 5e-4, "angle": 0.7}, (5e-4 * np.cos(0.7), 5e-4 * np.sin(0.7)))):

        def rates(_: float, state: np.ndarray, centre: tuple[float, float] = centre) -> list[float]:
            along, across = state[0] - centre[0], -centre[1]
            radius = np.hypot(along, across)
            push = max(0.0, 1e5 * (radius - 1e-3)) * along / radius
            return [state[1], (7.0 - 3e3 * state[0] - push) / 0.5]

        truth = solve_ivp(rates, (0.0, 0.05), [0.0, 0.3], rtol=1e-11, atol=1e-14, max_step=1e-5).y[:, -1]
        found = kernels.simulate(model, given | more | {"step": 1e-6, "largest_step": 1e-5, "tolerance": 1e-10}, scheme="rk54")
        assert int(found["impacts[ring]"]) > 1
        assert [found["x_end[centre]"], found["x_rate_end[centre]"]] == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("name", ["angle", "centre_2"])
def test_what_turns_a_plane_that_has_no_second_axis_is_refused(name: str) -> None:
    model = structure("stop", "plane").model
    with pytest.raises(ValueError, match=f"{name} of all supports needs points that move along two axes, and that of stop"):
        kernels.simulate(model, SHAKEN | {name: 0.1}, scheme="euler")
