"""The envelope of a wall that buckles, with the numbers of SDND105 C and D (V5.01.105) but for `post_damping`, by hand.

U_j = post_set_j + f_post / post_stiffness_j = 4.5, 19/3, 8, 10 m follow on u1 = 3 m, where the plastic set is the plateau, 1 m.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

from tribosweep.kernels.contact.envelope import BEYOND, PLATEAU, SOFTENING, Envelope

NUMBERS = {"k_n": 1.0, "f_crit": 1.0, "f_post": 0.5, "plateau": 1.0, "softening": 1.0, "k_post": math.inf, "c_n": 10.0, "c_buckled": 5.0}
TABLES = {"post_set": [2.0, 3.0, 4.0, 5.0], "post_stiffness": [0.2, 0.15, 0.125, 0.1], "post_damping": [5.0, 6.0, 6.0, 6.0]}


def envelope(padding: int = 0, **others: float) -> Envelope:
    tables = {name: jnp.array([*values, *[math.nan] * padding]) for name, values in TABLES.items()}
    return Envelope.of({name: jnp.asarray(value) for name, value in (NUMBERS | others).items()} | tables)


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize(
    ("X", "criterion", "plastic", "stiffness", "damping"),
    [
        (0.5, 1.0, -0.5, 1.0, 10.0),  # elastic: the force of 1 N would be at 1 m
        (2.0, 1.0, 1.0, 1.0, 10.0),  # at the end of the plateau
        (2.5, 0.75, 1.0, 0.5, 7.5),  # half of the softening
        (4.5, 0.5, 2.0, 0.2, 5.0),  # a node
        (6.5, 0.5, 3.1, 0.5 / 3.4, 6.0),  # 0.1 of the way from 19/3 to 8: the published plastic set
        (12.0, 0.5, 7.0, 0.1, 6.0),  # beyond the table, with its last stiffness
    ],
)
def test_along_the_largest_compression(padding: int, X: float, criterion: float, plastic: float, stiffness: float, damping: float) -> None:
    found, at = envelope(padding), jnp.asarray(X)
    values = [float(each(at)) for each in (found.criterion, found.plastic, found.stiffness, found.damping)]
    assert values == pytest.approx([criterion, plastic, stiffness, damping], rel=1e-14)
    assert bool(found.beyond_table(at)) == (X > 10.0)


def test_its_intervals() -> None:
    found = envelope()
    pieces = [jnp.asarray(each) for each in (PLATEAU, SOFTENING, BEYOND, BEYOND + 1.0)]
    assert [float(found.end_of(piece, False)) for piece in pieces] == [2.0, 3.0, math.inf, math.inf]
    assert [float(found.end_of(piece, True)) for piece in pieces] == pytest.approx([2.0, 3.0, 4.5, 19.0 / 3.0])
    assert [float(found.damping_slope_on(piece)) for piece in pieces] == pytest.approx([0.0, -5.0, 0.0, 1.0 / (19.0 / 3.0 - 4.5)])
    assert float(found.damping_on(pieces[1], jnp.asarray(2.2))) == pytest.approx(9.0)
    assert float(found.slope) == 0.5


def test_a_softening_without_width_drops_at_once() -> None:
    found = envelope(plateau=0.0, softening=0.0)
    assert not bool(found.softens)
    assert [float(found.criterion(jnp.asarray(X))) for X in (1.0, 1.0 + 1e-12)] == [1.0, 0.5]


def test_its_regimes() -> None:
    found = envelope()
    X, buckled = jnp.array([0.0, 0.5, 1.5, 2.5, 12.0]), jnp.array([0.0, 0.0, 1.0, 1.0, 1.0])
    codes = [int(found.regime(x, each, jnp.asarray(float(x) > 0.0))) for x, each in zip(X, buckled, strict=True)]
    np.testing.assert_array_equal(codes, [0, 1, 2, 3, 4])


def test_a_wall_that_never_buckles_has_a_finite_criterion() -> None:
    assert float(envelope(f_crit=math.inf).criterion(jnp.asarray(1e6))) == 1e100
