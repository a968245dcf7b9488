"""Names of supports: what maps, reports and labels make of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tribosweep.kernels.models import STOP
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.structures import Load, Structure, body_basis
from tribosweep.kernels.models.supports import Support
from tribosweep.sweep.analysis.map_areas import shown_of
from tribosweep.sweep.analysis.run_notes import DEPTHS
from tribosweep.sweep.analysis.supports import add_entries, in_words, lists_of, support_problems, supports_of, with_entries, words_of
from tribosweep.sweep.io.errors import Problem

SUPPORTS = [Support("ring", "centre", "ring"), Support("a_stop", "centre", axes=((0, 1, 0), (1, 0, 0), (0, 0, 1)))]
ROD = Structure(body_basis("xy"), SUPPORTS, [Load("east")], body=True)
LISTS = Structure(body_basis("xy"), SUPPORTS, [Load("east")], body=True, lists=True)


def test_labels_say_where_a_number_is_observed_and_what_it_is_of() -> None:
    known = by_name((*ROD.model.parameters, *ROD.model.observables))
    assert in_words(known["wear_power[a_stop]"]) == "wear power at a_stop"
    assert in_words(known["gap[a_stop]"]) == "gap of a_stop"
    assert in_words(known["amplitude[east]"]) == "amplitude of east"
    assert in_words(known["x_end[centre]"]) == "x end at centre"
    assert words_of("wear_power") == "wear power"
    assert words_of("probability of wear_power[a_stop] > 1") == "probability of wear power at a_stop > 1"


def test_names_of_a_map_are_those_of_the_chosen_support() -> None:
    problems: list[Problem] = []
    model = ROD.model
    assert shown_of(model, None, None, "ring", problems)[:3] == ("wear_power[ring]", "contact_regime[ring]", "ring")
    first = model.main.partition("[")[2].removesuffix("]")
    assert shown_of(model, None, None, None, problems)[:3] == (f"wear_power[{first}]", f"contact_regime[{first}]", first)
    assert shown_of(model, "impulse", "impacts", "ring", problems)[:3] == ("impulse[ring]", "impacts[ring]", "ring")
    assert shown_of(model, "impulse[a_stop]", None, None, problems)[:3] == ("impulse[a_stop]", "contact_regime[a_stop]", "a_stop")
    assert shown_of(model, "x_end[centre]", None, None, problems)[:3] == ("x_end[centre]", None, None)
    assert shown_of(model, "none", None, "ring", problems)[:3] == ("none", "contact_regime[ring]", "ring")
    assert shown_of(STOP, None, None, None, problems)[:3] == (STOP.main, None, None)
    assert not problems
    shown_of(model, None, None, "rnig", problems)
    assert [str(problem) for problem in problems] == [
        "--support: 'rnig' is no support of this structure; did you mean 'ring'? Known: ring, a_stop"
    ]
    assert "has no supports" in str(support_problems(STOP, "ring")[0])


def test_entries_of_lists_are_columns_under_the_names_of_supports() -> None:
    assert supports_of(LISTS.model) == ("ring", "a_stop") == supports_of(ROD.model)
    model = with_entries(LISTS.model)
    known = by_name(model.observables)
    assert known["wear_power"].kind == "list"
    assert known["wear_power[a_stop]"].unit == "W"
    assert with_entries(ROD.model) is ROD.model
    table = pa.table(
        {"wear_power": [[1.0, 2.0], [3.0, np.nan], None], "impacts": [[4.0, 5.0], [6.0, np.nan], None], "end": [1.0, 2.0, 3.0]}
    )
    entries = lists_of(model, ["wear_power[a_stop]", "impacts[a_stop]", "impacts[ring]", "contact_regime[ring]", "end"], table.column_names)
    assert entries == {"wear_power[a_stop]": ("wear_power", 1), "impacts[a_stop]": ("impacts", 1), "impacts[ring]": ("impacts", 0)}
    found = add_entries(table, model, entries)
    assert found.column_names == ["end", "wear_power[a_stop]", "impacts[a_stop]", "impacts[ring]"]
    np.testing.assert_array_equal(found["wear_power[a_stop]"].to_numpy(), [2.0, np.nan, np.nan])
    assert found["impacts[a_stop]"].to_pylist() == [5, None, None]
    assert shown_of(model, "impulse", "impacts", "ring", [])[:3] == ("impulse[ring]", "impacts[ring]", "ring")


def test_every_depth_of_a_support_may_be_noted() -> None:
    given = {"service_time", "archard_k", "contact_area", "tube_radius", "contact_width"}
    names = {q.name.partition("[")[0] for q in ROD.model.returns(None, given) if "depth" in q.name}
    assert names == set(DEPTHS)


@pytest.mark.parametrize("name", ["a[", "a]", "[a]", "a[b"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert in_words(Quantity(name, "", "")) == name
