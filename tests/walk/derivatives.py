"""Relations of derivatives: what JAX says of a parameter at special values, beside one-sided differences of the values.

The values are those of `exact`, or of the closest time scheme where `exact` refuses the setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from tests.walk.relations import FALLS, OF_A_SCHEME, RELATIONS
from tests.walk.settings import Row, Setting, admitted, run, typical, whole, with_results
from tribosweep import kernels
from tribosweep.kernels import api
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import EXACT, SCHEMES

CLOSEST = "rk54"
CHANGED = 2  # parameters of a row by which refusals are asked for; each is traced three times
# of a derivative by a scheme, as a part of the scale of the observable over that of the parameter, with the steps of SHARP
ROOM = {EXACT: 2e-5, "euler": 0.06, "devogelaere": 0.03, "adapt1": 0.06, "adapt2": 0.03, "rk32": 5e-3, "rk54": 5e-3}
SHARP: dict[str, Row] = {name: {"tolerance": 1e-10, "largest_step": 1e-2, "step": 1e-4} for name in ("rk32", "rk54")}
SHARP |= {name: {"step": 1e-4, "largest_step": 1e-3} for name in ("adapt1", "adapt2")}
SHARP |= {name: {"step": 5e-4} for name in ("euler", "devogelaere")}
FINER: dict[str, Row] = {name: {n: v * (0.01 if n == "tolerance" else 0.25) for n, v in numbers.items()} for name, numbers in SHARP.items()}


def asked_of(setting: Setting) -> list[Quantity]:
    """The float parameters of a setting that have a value in its rows."""
    base = whole(setting, {})
    return [q for q in setting.quantities if q.kind == "float" and value_of(q, base) is not None]


def value_of(q: Quantity, row: Row) -> float | None:
    """The value of a parameter in a row, None if it has no finite one."""
    value = row.get(q.name, q.default)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def places(setting: Setting) -> list[tuple[Quantity, Row]]:
    """Rows that differ from the base of a setting in one parameter, which is at its base, its default, 0 or a bound."""
    found = [(q, whole(setting, {})) for q in asked_of(setting)]
    for q in asked_of(setting):
        ends = [value for value in (q.default, 0.0, q.lower, q.upper) if isinstance(value, float) and math.isfinite(value)]
        found += [(q, whole(setting, {q.name: value})) for value in dict.fromkeys(ends)]
    fine = admitted(setting, [row for _, row in found])
    return [(q, row) for q, row in found if row in fine]


def jacobian(setting: Setting, names: tuple[str, ...], many: list[Row], fixed: Row, observables: tuple[str, ...]) -> np.ndarray:
    """Derivatives of observables of rows by parameters, (rows, observables, parameters), forward under vmap and jit."""

    def found(x: jax.Array, words: dict[str, jax.Array]) -> jax.Array:
        results = kernels.simulate(setting.name, dict(zip(names, x, strict=True)) | words | fixed, setting.scheme)
        return jnp.stack([results[name] for name in observables])

    points = jnp.array([[value_of(setting.model.parameter(name), row) for name in names] for row in many])
    others = {
        n: jnp.array([row.get(n, setting.model.parameter(n).default) for row in many], float) for n in many[0] if n not in {*names, *fixed}
    }
    return np.asarray(jax.jit(jax.vmap(jax.jacfwd(found)))(points, others))


def reference(setting: Setting) -> Setting:
    """The setting whose values differences are of: by `exact`, or by the closest time scheme where `exact` refuses them."""
    of = Setting(setting.name, EXACT, setting.parts)
    return of if admitted(of, [whole(of, {})]) else Setting(setting.name, CLOSEST, setting.parts)


def differences(
    setting: Setting, pairs: list[tuple[Quantity, Row]], observables: tuple[str, ...], paces: Mapping[str, Row] = SHARP
) -> tuple[np.ndarray, np.ndarray]:
    """One-sided differences of second order of observables by the parameter of each row, (rows, 2, observables), and their errors.

    NaN where a side is out of bounds, or where a row has no result there. `paces`: the steps of the schemes.
    """
    of = reference(setting)
    steps = [(1e-4 if of.scheme == CLOSEST else 1e-5) * (typical(q) or 1.0) for q, _ in pairs]
    rows, places_of = [], []
    for (q, row), h in zip(pairs, steps, strict=True):
        value = value_of(q, row)
        for factor in (0.0, 1.0, 2.0, -1.0, -2.0, 0.5, -0.5):
            rows.append(
                {n: v for n, v in row.items() if n not in SCHEMES[setting.scheme].reads}
                | paces.get(of.scheme, {})
                | {q.name: value + factor * h}
            )
            places_of.append(not q.out_of_bounds(value + factor * h))
    values = run(of, rows)
    good = (with_results(values) & np.array(places_of)).reshape(len(pairs), 7)
    at = np.stack([np.asarray(values[name], float) for name in observables], -1).reshape(len(pairs), 7, -1)
    at = np.where(good[..., None], at, np.nan)
    h = np.array(steps)[:, None]
    right = (4.0 * at[:, 1] - at[:, 2] - 3.0 * at[:, 0]) / (2.0 * h)
    left = -(4.0 * at[:, 3] - at[:, 4] - 3.0 * at[:, 0]) / (2.0 * h)
    right_too = (4.0 * at[:, 5] - at[:, 1] - 3.0 * at[:, 0]) / h
    left_too = -(4.0 * at[:, 6] - at[:, 3] - 3.0 * at[:, 0]) / h
    return np.stack([right, left], 1), np.stack([abs(right - right_too), abs(left - left_too)], 1)


def wrong_derivatives(setting: Setting) -> list[str]:
    """Where derivatives are not finite though the value is, or do not lie between the one-sided differences (of the side that exists).

    A derivative by a scheme that lies outside must come nearer with finer steps: by FALLS at least, with a quarter of the step. Where the
    step accounts for more than two thirds of an error of order 1, the rest of it is not detected.
    """
    pairs = places(setting)
    names = tuple(q.name for q in asked_of(setting))
    fixed = {"end": 1.0} | SHARP.get(setting.scheme, {})
    many = [{n: v for n, v in row.items() if n not in fixed} for _, row in pairs]
    once = list({repr(row): row for row in many}.values())
    where = [once.index(row) for row in many]
    found = {name: values[where] for name, values in run(setting, [row | fixed for row in once]).items()}
    observables = tuple(q.name for q in setting.model.observables if q.kind == "float" and q.name in found and np.ndim(found[q.name]) == 1
                        and q.name not in OF_A_SCHEME)  # fmt: skip
    rates = jacobian(setting, names, once, fixed, observables)[where]
    values = np.stack([np.asarray(found[name], float) for name in observables], -1)
    sides, errors = differences(setting, pairs, observables)
    of_name = {q.name: q.unit for q in setting.model.observables}
    units = [of_name[name] for name in observables]
    good = with_results(found)
    wrong, far = [], []
    for number, (q, row) in enumerate(pairs):
        if not good[number]:
            continue
        for column, name in enumerate(observables):
            if not math.isfinite(values[number, column]):
                continue
            bad = [n for n, rate in zip(names, rates[number, column], strict=True) if not math.isfinite(rate)]
            if bad:
                wrong.append(f"{row}: {name} = {values[number, column]:g} has no finite derivative by {bad}")
            place = number, column, names.index(q.name)
            known = sides[number, :, column]
            sure = np.isfinite(known) & np.isfinite(errors[number, :, column])
            if not sure.any() or not math.isfinite(rates[place]) or (name == "stick_fraction" and setting.scheme != EXACT):
                continue  # of what sticks, schemes give 6e-5 at best
            known, error = known[sure], errors[number, :, column][sure].max()
            size = np.nanmax(np.abs(values[number, [u == units[column] for u in units]])) / (typical(q) or 1.0)
            room = ROOM[setting.scheme] * max(size, np.abs(known).max()) + 3.0 * error
            if beyond(rates[place], known) > room:
                text = (
                    f"by {q.name} = {row.get(q.name, q.default)}: {name} {rates[place]:.6g}, differences {known.tolist()}, room {room:.2g}"
                )
                far.append((place, known, room, text))
    if far and setting.scheme != EXACT:
        again = sorted({place[0] for place, *_ in far})
        some = [where[number] for number in again]
        finer = jacobian(setting, names, [once[row] for row in some], fixed | FINER[setting.scheme], observables)
        sides = sides[again]  # of `exact`, which has no steps
        if reference(setting).scheme != EXACT:
            sides, _ = differences(setting, [pairs[number] for number in again], observables, FINER)
        left = []
        for place, known, room, text in far:
            number, column, name = again.index(place[0]), *place[1:]
            rate, right = finer[number, column, name], sides[number, :, column]
            right = right[np.isfinite(right)]
            if not right.size or not beyond(rate, right) <= max(room, FALLS * beyond(rates[place], known)):
                left.append((place, known, room, f"{text}; finer steps {rate:.6g}, differences {right.tolist()}"))
        far = left
    return [*wrong, *(text for *_, text in far)]


def beyond(rate: float, known: np.ndarray) -> float:
    """By how much a derivative lies outside one-sided differences."""
    return float(max(known.min() - rate, rate - known.max(), 0.0))


def nothing_runs(model: Any) -> Any:
    """A stand-in for programs: observables that depend on the rows, and that every row ended well."""

    def run_all(_key: Any, rows: dict[str, jax.Array], _shared: Any) -> dict[str, jax.Array]:
        first = sum(jnp.nan_to_num(value.reshape(value.shape[0], -1)[:, :1].sum(1)) for value in rows.values())  # a table may be empty
        found = {q.name: first[:, None] * jnp.ones(64) if q.kind == "list" else first for q in model.observables}
        return found | {"status": jnp.zeros_like(first)}

    return run_all


def outcome(call: Any) -> tuple[int, str]:
    """The status that a call gives, or -1 and the sentence with which it is refused."""
    try:
        found = call()
    except (ValueError, KeyError, TypeError) as error:
        return -1, str(error)
    return int(np.max(np.asarray(found))), ""


def tracing_changes_no_refusal(setting: Setting, many: list[Row]) -> None:
    """One oscillator is refused or not, and with the same sentence, if one of its numbers is plain, traced by jit, by grad or by vmap."""
    wrong = wrong_refusals(setting, many[:1])
    assert not wrong, (str(setting), wrong[:5])


RELATIONS[tracing_changes_no_refusal.__name__] = tracing_changes_no_refusal  # of all rows


def wrong_refusals(setting: Setting, many: list[Row], every: bool = False) -> list[str]:
    """Where refusals depend on what is traced: by some parameters that rows change, or by every one that they have."""
    base, wrong = whole(setting, {}), []
    floats = [q.name for q in setting.model.parameters if q.kind == "float"]

    def result(value: Any, name: str, row: Row, of: str = "status") -> Any:
        return kernels.simulate(setting.name, row | {name: value}, setting.scheme)[of]

    def by_grad(value: Any, name: str, row: Row) -> int:
        return 0 * jax.eval_shape(jax.grad(partial(result, name=name, row=row, of="x_end")), value).ndim

    stand_in = nothing_runs(setting.model)
    with mock.patch.object(api, "_run_all", stand_in), mock.patch.object(api, "_values_of_all", stand_in):
        for row in many:
            given = [name for name in floats if isinstance(row.get(name), float)]
            for name in given if every else [name for name in given if row[name] != base.get(name)][:CHANGED]:
                value, of = row[name], partial(result, name=name, row=row)
                plain = outcome(partial(of, value))
                traced = {
                    "jit": outcome(lambda of=of, value=value: jax.jit(of)(value)),
                    "vmap": outcome(lambda of=of, value=value: jax.vmap(of)(jnp.array([value]))),
                    "grad": outcome(partial(by_grad, value, name, row)),
                }
                for way, (code, said) in traced.items():
                    late = plain[0] != 0 and (
                        code > 0 or (way == "grad" and code == 0)
                    )  # a traced number cannot raise: the row has a status
                    if (code, said) != plain and not late:
                        wrong.append(f"{row}: {way} by {name}: {code} {said!r}, plain {plain}")
    return wrong
