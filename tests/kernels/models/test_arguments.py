"""What a call from Python refuses before anything is compiled, and how it says so."""

import jax
import numpy as np
import pytest

from tribosweep import kernels
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.arguments import check_given


@pytest.mark.parametrize(
    ("model", "params", "error", "said"),
    [
        ("rubing_mass", {}, KeyError, "did you mean 'rubbing_mass'"),
        ("rubbing_mass", {"a_0": 1.0}, KeyError, "did you mean 'a0'"),
        ("rubbing_mass", [1.0], TypeError, "params must map names of parameters to numbers, not list"),
        ("rubbing_mass", {"a0": np.ones(3), "mu": np.ones(4)}, ValueError, r"do not broadcast together: a0 \(3,\), mu \(4,\)"),
        ("rubbing_mass", {"a0": "1 g"}, ValueError, r"a0 \[m/s\^2\]: '1 g' is neither a number nor an array of numbers"),
        ("rubbing_mass", {"a0": None}, ValueError, "None is neither a number"),
        ("rubbing_mass", {"a0": [1.0, [2.0]]}, ValueError, "neither a number nor an array of numbers"),
        ("rubbing_mass", {"mu": -0.1}, ValueError, "mu: -0.1 is out of bounds: must be >= 0"),
        ("stop", {"sides": 3}, ValueError, "sides: 3 is out of bounds: must be a whole number from 1 to 2"),
        ("buckling_wall", {"damping_criterion": "exclude"}, ValueError, "did you mean 'excluded'\\? 0 is included, 1 is excluded"),
        ("buckling_wall", {"post_set": 2.0}, ValueError, r"post_set \[m\]: 2.0 is one number, but a table is a list of them"),
    ],
)
def test_a_mistake_is_named_with_its_value_and_what_would_be_right(model, params, error, said):
    for call in (kernels.simulate, kernels.moment):
        with pytest.raises(error, match=said):
            call(model, params)


def test_events_and_traces_are_of_one_oscillator():
    for call in (kernels.event_log, kernels.impacts, kernels.trace):
        with pytest.raises(ValueError, match=r"a0 \(3,\): this is of one oscillator"):
            call("stop", {"a0": np.ones(3)})
        with pytest.raises(KeyError, match="did you mean 'gap'"):
            call("stop", {"gapp": 1.0})


def test_a_number_of_blocks_is_whole():
    with pytest.raises(ValueError, match="a whole number from 2 to 64"):
        kernels.simulate("rubbing_mass", {"a0": 2.0}, blocks=2.5)


def test_traced_numbers_and_arrays_pass_whatever_their_values():
    model = MODELS["buckling_wall"]

    @jax.jit
    def traced(a0):
        check_given(model, {"a0": a0, "post_set": [a0, a0], "mu": np.array([-1.0, 0.1]), "k_n": np.inf})
        return a0

    traced(1.0)


@pytest.mark.parametrize("model", ["stop", "buckling_wall"])
def test_every_motion_of_a_model_with_two_bodies_says_whose_it_is(model):
    apart = (
        "wall",
        "slip",
        "wear",
        "worn",
        "drift",
        "link",
        "second body",
    )  # of what is between the bodies, or of friction, or of the second
    for q in MODELS[model].observables:
        if q.unit in ("m", "m/s") and not any(word in f"{q.name} {q.description}" for word in apart):
            assert "two bodies" in q.description, q.name
    said = {q.name: q.description for q in MODELS[model].observables}
    assert said["x_end"].endswith("of the first of two bodies")
    # at 0.1 m and 1 m/s, and at 0.3 m and 0.25 m/s, they are 0.2 m apart and meet at 0.75 m/s
    assert said["first_contact_velocity"].endswith("of two bodies, of the first less the second")
