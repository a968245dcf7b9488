"""What a run refuses is refused by every entry: each rule of each model, and bounds, by calls, by columns and within what JAX traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.batch.refusals import refused
from tribosweep.kernels.batch.solve import solve
from tribosweep.kernels.models import MODELS, Model
from tribosweep.kernels.models.rules import STEP_RULES
from tribosweep.kernels.models.schemes import EXACT
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.kernels.structure_history import impacts, trace, traces
from tribosweep.kernels.structure_samples import samples
from tribosweep.kernels.time_history import total_acceleration

BASE: dict[str, dict[str, Any]] = {
    "rubbing_mass": {"a0": 5.0, "end": 2.0},
    "stop": {"a0": 5.0, "end": 2.0, "mu": 0.1},
    "buckling_wall": {"a0": 5.0, "end": 2.0, "mu": 0.1, "k_n": 50.0, "f_crit": 10.0, "f_post": 8.0, "k_post": 50.0},
    "two_walls": {"a0": 5.0, "end": 2.0, "mu": 0.1, "k_n": 50.0, "f_crit": 10.0, "f_post": 8.0, "k_post": 50.0,
                  "left_k_n": 50.0, "left_f_crit": 10.0, "left_f_post": 8.0, "left_k_post": 50.0},
}  # fmt: skip
TABLE: dict[str, Any] = {"k_post": None, "post_set": [0.1, 0.2], "post_stiffness": [50.0, 50.0]}
# parameters that break a rule, and the scheme under which they do; None takes a parameter of the base away
BROKEN: tuple[tuple[str, dict[str, Any]], ...] = (
    (EXACT, {"window_end": 3.0}),
    (EXACT, {"window_start": 2.0}),
    (EXACT, {"tone_a0": [1.0], "tone_omega": [1.0, 2.0]}),
    (EXACT, {"sweep_rate": 1.0}),
    (EXACT, {"table_time": [0.0, 1.0], "table_force": [1.0]}),
    (EXACT, {"table_time": [1.0, 0.0], "table_force": [1.0, 2.0]}),
    (EXACT, {"table_scale": 2.0}),
    (EXACT, {"pulse": 2, "pulse_f0": 1.0}),
    (EXACT, {"pulse_f0": 1.0}),
    (EXACT, {"pulse": 1, "pulse_duration": 1.0}),
    (EXACT, {"pulse_start": 1.0}),
    (EXACT, {"mu_s": 0.1, "mu_d": 0.3}),
    ("euler", {}),
    (EXACT, {"stribeck_speed": 0.1}),
    (EXACT, {"k_t": 1e5, "c_t": 0.0, "normal_amplitude": 1.0}),
    (EXACT, {"dahl_stiffness": 1e5}),
    ("rk54", {"dahl_stiffness": 1e5, "bristle_stiffness": 1e5}),
    ("rk54", {"dahl_stiffness": 1e5, "normal_amplitude": 1.0}),
    ("rk54", {"dahl_stiffness": 1e5, "stribeck_speed": 1.0}),
    (EXACT, {"maxwell_stiffness": [1.0], "maxwell_damping": [1.0]}),
    ("rk54", {"k_t": 1e5, "m_2": 1.0, "maxwell_stiffness": [1.0], "maxwell_damping": [1.0]}),
    *(("rk54", {"k_t": 1e5, abscissa: [0.0, 1.0, 2.0], ordinate: [0.0]}) for abscissa, ordinate in (
        ("spring_displacement", "spring_force"), ("damper_velocity", "damper_force"), ("hardening_displacement", "hardening_force"))),
    ("rk54", {"k_t": 1e5, "maxwell_stiffness": [1.0, 2.0], "maxwell_damping": [1.0]}),
    *(("rk54", {"k_t": 1e5, abscissa: [0.0, 2.0, 1.0], ordinate: [0.0, 1.0, 2.0]}) for abscissa, ordinate in (
        ("spring_displacement", "spring_force"), ("damper_velocity", "damper_force"), ("hardening_displacement", "hardening_force"))),
    ("rk54", {"k_t": 1e5, "hardening_displacement": [0.0, 1.0, 2.0], "hardening_force": [0.0, 1.0, 3.0]}),
    ("euler", {"k_t": 1e5, "step": 1e-9}),
    ("rk54", {"k_t": 1e5, "largest_step": 1e-9, "smallest_step": 1e-10}),
    ("rk54", {"k_t": 1e5, "smallest_step": 1e-2}),
    ("rk54", {"k_t": 1e5, "smallest_step": 1e-5, "largest_step": 1e-6, "step": 1e-4}),
    ("adapt1", {"k_t": 1e5, "retries": 2.5}),
    ("euler", {"k_t": 1e8, "step": 1e-2}),
    (EXACT, {"sides": 2, "gap": -0.1}),
    (EXACT, {"m_2": 1.0}),
    (EXACT, {"v0_2": 1.0}),
    ("rk54", {"m_2": 1.0, "mu": 0.0, "sweep_rate": 1.0}),
    *((EXACT, {prefix + name: value for name, value in change.items()}) for prefix in ("", "left_") for change in (
        {"f_post": 12.0},
        {**TABLE, "post_stiffness": [50.0]},
        {"k_post": None},
        {**TABLE, "post_stiffness": [50.0, 1e6]},
        {**TABLE, "post_set": [0.2, 0.1], "post_stiffness": [50.0, 20.0]},
        {"k_post": 1.0},
    )),
)  # fmt: skip


def cases(model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemes and parameters of BROKEN that are of a model."""
    names = {quantity.name for quantity in model.parameters}
    for scheme, change in BROKEN:
        if change.keys() <= names:
            yield scheme, {name: value for name, value in (BASE[model.name] | change).items() if value is not None}


def broken(model: Model, params: dict[str, Any], scheme: str) -> list[int]:
    """The places of the rules that parameters break, as numpy sees them."""
    resolved = model.resolve({name: np.asarray(value, float) for name, value in params.items()})
    with np.errstate(all="ignore"):
        return [place for place, rule in enumerate(model.rules) if np.any(rule.broken(resolved, scheme))]


@pytest.mark.parametrize("name", MODELS)
def test_every_rule_of_every_model_is_broken_by_a_case(name: str) -> None:
    model = MODELS[name]
    names = {quantity.name for quantity in model.parameters}
    assert not broken(model, BASE[name] | ({"k_t": 1e5, "step": 1e-4}), "euler")
    seen = {place for scheme, params in cases(model) for place in broken(model, params, scheme)}
    assert [rule.sentence for place, rule in enumerate(model.rules) if place not in seen and names.issuperset(rule.parameters)] == []


@pytest.mark.parametrize("name", MODELS)
def test_every_entry_refuses_what_breaks_a_rule(name: str) -> None:
    model = MODELS[name]
    run = (kernels.moment, kernels.trace, kernels.event_log, kernels.impacts, lambda *of: total_acceleration(*of, [0.5]))
    for scheme, params in cases(model):
        sentences = [model.rules[place].sentence for place in broken(model, params, scheme)]
        with pytest.raises(ValueError) as said:
            kernels.simulate(model, params, scheme)
        if not str(said.value).startswith("scheme 'exact' has no"):
            assert any(sentence in str(said.value) for sentence in sentences), (scheme, params, said.value)
        entries: list[Callable[..., Any]] = [*run] if scheme == EXACT else [lambda *of, by=scheme: samples(model, of[1], [0.5], by)]
        if any(model.rules[place] not in STEP_RULES for place in broken(model, params, "rk54")):
            entries.append(lambda *of: kernels.hysteresis(*of, x=[0.0, 1.0], time=[0.0, 1.0]))
        for entry in entries:
            with pytest.raises(ValueError):
                entry(name, params)
        columns = {key: np.asarray(value, float)[None] for key, value in params.items()}
        assert solve(model, scheme, columns).status.tolist() == [Status.RULE_BROKEN], (scheme, params)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_traced_numbers_break_the_same_rules(name: str) -> None:
    model = MODELS[name]
    for scheme, params in cases(model):
        several = {key: jnp.asarray(value, float)[None] for key, value in params.items()}
        try:
            codes = jax.vmap(lambda each, by=scheme: refused(model, each, by))(several)
        except ValueError as error:  # defaults alone break it, such as a wall without k_post and without a table
            assert any(model.rules[place].sentence in str(error) for place in broken(model, params, scheme))
        else:
            assert codes.tolist() == [Status.RULE_BROKEN], (scheme, params)
    fine = {key: jnp.asarray(value, float)[None] for key, value in BASE[name].items()}
    assert jax.vmap(lambda each: refused(model, each, EXACT))(fine).tolist() == [Status.OK]
    assert jax.vmap(lambda m: refused(model, BASE[name] | {"m": m}, EXACT))(jnp.array([1.0, -1.0])).tolist() == [0, Status.OUT_OF_BOUNDS]


def test_one_rule_that_plain_numbers_break_is_an_error_beside_traced_numbers_too() -> None:
    def wall(a0: Any) -> Any:
        return kernels.simulate("buckling_wall", {"k_n": 50.0, "f_crit": 10.0, "f_post": 12.0, "k_post": 50.0, "a0": a0})

    with pytest.raises(ValueError, match="f_post <= f_crit"):
        jax.eval_shape(wall, 1.0)


@pytest.mark.parametrize(
    ("name", "scheme", "greater", "bound"),
    [
        ("buckling_wall", EXACT, "f_post", "f_crit"),
        ("rubbing_mass", "rk54", "smallest_step", "step"),
        ("rubbing_mass", "rk54", "smallest_step", "largest_step"),
        ("rubbing_mass", EXACT, "window_end", "end"),
    ],
)
def test_numbers_that_are_equal_in_other_units_do_not_exceed_each_other(name: str, scheme: str, greater: str, bound: str) -> None:
    model, value = MODELS[name], 1.6538501
    params = BASE[name] | {"step": 3.0, "largest_step": 3.0, "smallest_step": 1e-9, "window_start": 0.0}
    for more, refuses in ((value * 1e-3 * 1000.0, False), (np.nextafter(value, 2.0), False), (value * (1.0 + 1e-9), True)):
        resolved = model.resolve(params | {bound: value, greater: more})
        assert any({greater, bound} == {*rule.parameters} and bool(rule.broken(resolved, scheme)) for rule in model.rules) is refuses


def test_structures_refuse_the_same_by_every_entry() -> None:
    model = Structure(body_basis("xy"), [Support("plane", "centre", "plane")], [Load("push")], body=True).model
    for change, said in (
        ({"mu_s[plane]": 0.1, "mu_d[plane]": 0.3}, "static friction must be at least dynamic friction at plane"),
        ({"window_start": 2.0}, "the window must have a length"),
        ({"step": 1.0}, "a fixed step must be stable"),
        ({"pulse_amplitude[push]": 1.0}, "a pulse needs a shape"),
        ({"k_n": -1.0}, "out of bounds"),
    ):
        params = {"k_n": 1e4, "end": 1.0, **change}
        entries = (
            kernels.simulate, trace, impacts,
            lambda *of: traces(of[0], [of[1]], of[2]),
            lambda *of: samples(of[0], of[1], [0.5], of[2]),
        )  # fmt: skip
        for entry in entries:
            with pytest.raises(ValueError, match=said):
                entry(model, params, "euler")
