"""Names of what belongs to one support of a structure: which are there, and how labels say them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    import pyarrow as pa

OPTION = "--support"
_NAMED = re.compile(r"(?<!\w)(\w++)\[([^\[\]]*+)\]")
WEAR, REGIME_OF_CONTACT = "wear_power", "contact_regime"


def supports_of(model: Model) -> tuple[str, ...]:
    """The names of the supports of a model, in the order of the study; none of an oscillator with one coordinate."""
    if model.structure is not None:
        return tuple(model.structure.order)
    head = f"{REGIME_OF_CONTACT}["
    return tuple(q.name[len(head) : -1] for q in model.observables if q.name.startswith(head))


def with_entries(model: Model) -> Model:
    """The model with the entries of its lists over supports as numbers: "wear_power[ring]" beside "wear_power"."""
    if model.structure is None or not model.structure.lists:
        return model
    numbers = model.structure.scalars.model.observables
    known = by_name(numbers)
    return replace(model, observables=(*numbers, *(q for q in model.observables if q.name not in known)))


def lists_of(model: Model, names: Sequence[str], there: Collection[str]) -> dict[str, tuple[str, int]]:
    """Those of the names that are entries of lists that are `there`: name -> the list and the place in it."""
    found = {}
    for name in names:
        base, support = name.partition("[")[0], support_in(name, model)
        if name not in there and base in there and support is not None:
            found[name] = (base, supports_of(model).index(support))
    return found


def add_entries(table: pa.Table, model: Model, entries: dict[str, tuple[str, int]]) -> pa.Table:
    """The table with the entries of lists (see `lists_of`) as columns in place of the lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = by_name(model.observables)
    for name, (base, place) in entries.items():
        values = pc.list_element(table.column(base), place)
        if known[name].kind == "integer":
            values = pc.if_else(pc.is_nan(values), None, values).cast(pa.int64())
        table = table.append_column(name, values)
    return table.drop_columns(sorted({base for base, _ in entries.values()}))


def support_problems(model: Model, support: str | None) -> list[Problem]:
    """The problem of a name that is no support of the model."""
    known = supports_of(model)
    if support is None or support in known:
        return []
    if not known:
        return [Problem(OPTION, f"the model {model.name} has no supports with names")]
    return [Problem(OPTION, f"{support!r} is no support of this structure; {advise(support, known)}")]


def require_support(source: str, model: Model, support: str | None) -> None:
    """Raise ConfigError if a name is no support of the model."""
    if problems := support_problems(model, support):
        raise ConfigError(source, problems)


def at_support(name: str, support: str | None, known: Collection[str]) -> str:
    """With a support, the name of the same quantity there, "wear_power[ring]", unless only the name itself is `known`."""
    full = named(name, str(support))
    return full if support is not None and (full in known or name not in known) else name


def support_in(name: str, model: Model) -> str | None:
    """The support that a name of a quantity has in brackets; None if it has none."""
    found = name.partition("[")[2].removesuffix("]")
    return found if found in supports_of(model) else None


def in_words(quantity: Quantity) -> str:
    """The name of a quantity for a label: "wear power at midspan", "amplitude of base"."""
    return words_of(quantity.name, quantity.description)


def words_of(name: str, description: str = "") -> str:
    """A name as words; what is in brackets is where it was observed, if its description says so, or what it is of.

    Other texts with such names, as of events, tell of observables: "probability of wear power at ring > 1".
    """
    found = _NAMED.search(name)
    if found is None:
        return name.replace("_", " ")
    before, base, owner, after = name[: found.start()], *found.groups(), name[found.end() :]
    of = not (before or after) and not description.endswith(f"; at {owner}")
    return f"{before}{base} {'of' if of else 'at'} ".replace("_", " ") + owner + after
