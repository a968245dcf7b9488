"""A wrong name suggests the parameter that it means, by its spelling or by what it says."""

from __future__ import annotations

import pytest

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.naming import SYNONYMS, near_names, short, suggestion
from tribosweep.kernels.models.quantity import by_name

RUBBING, WALL = by_name(MODELS["rubbing_mass"].parameters), by_name(MODELS["buckling_wall"].parameters)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("mass", "m"),
        ("mas", "m"),
        ("amp", "a0"),
        ("fre", "omega"),
        ("friction", "mu"),
        ("friction_coefficient", "mu"),
        ("static_friction", "mu_s"),
        ("frequency", "omega"),
        ("freq", "omega"),
        ("stiffness", "k"),
        ("tangential_stiffness", "k_t"),
        ("damping", "c"),
        ("amplitude", "a0"),
        ("gravity", "g"),
        ("weight", "normal_force"),
        ("normalForce", "normal_force"),
        ("velocity", "v0"),
        ("duration", "end"),
        ("dt", "step"),
        ("mue", "mu"),
        ("omgea", "omega"),
        ("OMEGA", "omega"),
        ("a_0", "a0"),
        ("a0 [g]", "a0"),
        ("k (N/mm)", "k"),
        ("natural_frequency", "k"),
        ("eigenfrequency", "k"),
        ("omega_n", "k"),
        ("damping_ratio", "c"),
        ("zeta", "c"),
    ],
)
def test_the_first_suggestion_is_what_an_engineer_means(word: str, name: str) -> None:
    assert near_names(word, RUBBING)[0] == name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("gap", "gap"),
        ("clearance", "gap"),
        ("buckling_force", "f_crit"),
        ("wall_stiffness", "k_n"),
        ("stiffness", "k"),
        ("force", "f_crit"),
    ],
)
def test_words_of_a_wall(word: str, name: str) -> None:
    assert near_names(word, WALL)[0] == name


def test_few_are_suggested_and_none_without_likeness() -> None:
    assert all(len(near_names(word, RUBBING)) <= 3 for word in ("force", "friction", "stiffness", "of", "the"))
    assert near_names("clearance", RUBBING) == []  # this model has no gap, and "tolerance" is only spelled like it
    assert near_names("zzz", RUBBING) == []
    assert near_names("m" * 1000, RUBBING) == []
    assert suggestion("zzz", RUBBING) == ""


def test_plain_names_are_compared_by_spelling_alone() -> None:
    assert near_names("gird", ["grid", "zip"]) == ["grid"]
    assert near_names("freq", ["frequency", "omega"]) == ["frequency"]
    assert suggestion("gird", ["grid", "zip"]) == "did you mean 'grid'? "


def test_a_suggestion_says_what_the_name_is() -> None:
    assert suggestion("mass", RUBBING) == "did you mean 'm' (mass)? "
    assert suggestion("mass", WALL).startswith("did you mean 'm' (mass) or 'm_2' (mass of a second body")
    assert short("amplitude of the force f0 sin(omega t), in newton") == "amplitude of the force f0 sin(omega t)"
    assert short("[start, end] of the averages [s]; default the whole run") == "[start, end] of the averages [s]"


def test_synonyms_stand_for_parameters() -> None:
    known = {quantity.name for model in MODELS.values() for quantity in model.parameters}
    assert set(SYNONYMS.values()) <= known
