"""Reading [sweep] of a subset simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.sweep.design.axis import Axis
from tribosweep.sweep.design.joined import Joined, singles
from tribosweep.sweep.design.subset_simulation import LimitState, SubsetSimulation
from tribosweep.sweep.io.errors import Problem, advise
from tribosweep.sweep.study.comparison import Parts, limit_in
from tribosweep.sweep.study.event import is_mark, read_joined
from tribosweep.sweep.study.sampling import MOST_SEED, read_correlations
from tribosweep.sweep.study.schema import SAMPLED_SEED, Sweep

if TYPE_CHECKING:
    from tribosweep.sweep.study.config import Config

KEYS = ("event", "count", "level_probability", "seed", "levels", "repeats", "correlations")  # keys of [sweep] for this design
DEFAULT_PROBABILITY = 0.1
LEAST_CHAINS, MOST_COUNT = 10, 10_000_000
LEVELS, DEFAULT_LEVELS = (1, 40), 12
MOST_REPEATS, DEFAULT_REPEATS = 1000, 1
EXAMPLE = '"peak_force > 5 kN"'


def read_subset(sweep: Sweep, where: str, axes: tuple[Axis, ...], model: Model, problems: list[Problem]) -> SubsetSimulation | None:
    """Parse [sweep] of a subset simulation; None and problems if it is invalid.

    Args:
        sweep: the section. where: its path.
        axes: the valid axes of the section.
        model: the simulated model.
        problems: list to which problems are added.
    """
    before = len(problems)
    event = read_event(sweep, where, model, problems)
    length = read_chain_length(sweep, where, problems)
    check_count(sweep.count, f"{where}.count", length, problems)
    seed = SAMPLED_SEED if sweep.seed is None else sweep.seed
    levels = DEFAULT_LEVELS if sweep.levels is None else sweep.levels
    repeats = DEFAULT_REPEATS if sweep.repeats is None else sweep.repeats
    for key, value, least, most, what in (
        ("seed", seed, 0, MOST_SEED, "of the random numbers"),
        ("levels", levels, *LEVELS, "levels after the first one, at most"),
        ("repeats", repeats, 1, MOST_REPEATS, "independent simulations"),
    ):
        if not least <= value <= most:
            problems.append(Problem(f"{where}.{key}", f"{value} is out of bounds: must be >= {least} and <= {most} ({what})"))
    correlations = read_correlations(sweep, where, axes, problems)
    if len(problems) > before or not axes or event is None or sweep.count is None:
        return None
    return SubsetSimulation(axes, sweep.count, seed, event, 1.0 / length, levels, repeats, correlations)


def read_event(sweep: Sweep, where: str, model: Model, problems: list[Problem]) -> Joined[LimitState] | LimitState | None:
    """The event; None and a problem if it is none that chains can climb to."""
    path = f"{where}.event"
    if sweep.event is None:
        problems.append(Problem(path, f"missing: a subset simulation needs the rare event, such as {EXAMPLE}"))
        return None
    text = sweep.event

    def limited(parts: Parts, quantity: Quantity) -> LimitState:
        if parts.relation == "=" or quantity.kind == "word" or is_mark(quantity):
            raise ValueError(f"{text!r} {why_not(quantity)}: {instead(model)}")
        return LimitState(parts.observable, parts.relation, read_limit(parts.value, quantity, model))

    form = f"an observable, one of > >= < <=, and a limit, such as {EXAMPLE}, or several joined by or, and, not"
    return read_joined(text, model, path, form, limited, problems)


def why_not(quantity: Quantity) -> str:
    """Why chains cannot climb to an event of an observable, in words."""
    if quantity.kind == "word":
        return "is about a word, which does not say how near a row is to the event"
    if is_mark(quantity):
        return f"is about a yes or no ({quantity.description}), which does not say how near a row is to the event"
    return "is about an exact value, to which no row is near"


def instead(model: Model) -> str:
    """What to name instead of an event that is not beyond a limit."""
    buckles = "f_crit" in by_name(model.parameters) and "peak_force" in by_name(model.observables)
    example = '; for buckled=1 write "peak_force >= f_crit", where f_crit is a parameter' if buckles else ""
    return f"name an observable whose limit is the event, such as {EXAMPLE}{example}"


def read_limit(text: str, quantity: Quantity, model: Model) -> float | str:
    """The limit: a number in the unit of the observable, or the name of a parameter; ValueError if it is neither."""
    parameters = by_name(model.parameters)
    if text in parameters:
        other = parameters[text]
        if other.kind not in ("float", "integer") or other.unit != quantity.unit:
            unit, there = (each.unit_suffix.strip() or "no unit" for each in (quantity, other))
            message = f"{quantity.name} has {unit}, and {text} {'has ' + there if other.kind == 'float' else 'is no number'}"
            raise ValueError(f"{message}: the limit must be of the same kind")
        return text
    try:
        return limit_in(text, quantity.unit)
    except ValueError as error:
        same = [name for name, each in parameters.items() if each.kind == "float" and each.unit == quantity.unit]
        names = f", or a parameter in {quantity.unit}; {advise(text, same)}" if same and not text[:1].isdigit() else ""
        raise ValueError(f"{error}{names}") from None


def read_chain_length(sweep: Sweep, where: str, problems: list[Problem]) -> int:
    """The length of the chains, 1 / level_probability."""
    given = DEFAULT_PROBABILITY if sweep.level_probability is None else sweep.level_probability
    if abs(1.0 / given - round(1.0 / given)) > 1e-9:
        near = 1.0 / round(1.0 / given)
        message = f"{given:g} is not 1 over a whole number, which is the length of the chains: take {near:.6g}, as 1/{round(1.0 / given)}"
        problems.append(Problem(f"{where}.level_probability", message))
        return round(1.0 / DEFAULT_PROBABILITY)
    return round(1.0 / given)


def check_count(count: int | None, path: str, length: int, problems: list[Problem]) -> None:
    """Check the number of points of a level."""
    least = LEAST_CHAINS * length
    if count is None:
        problems.append(Problem(path, "missing: a subset simulation needs the number of points of a level, such as 2000"))
    elif not least <= count <= MOST_COUNT:
        message = (
            f"{count} is out of bounds: must be >= {least} ({LEAST_CHAINS} chains of {length}) and <= {MOST_COUNT} (points of a level)"
        )
        problems.append(Problem(path, message))
    elif count % length:
        near = round(count / length) * length
        problems.append(Problem(path, f"{count} points cannot be divided into chains of {length} (1 / level_probability): take {near}"))


def check_limit(config: Config) -> list[Problem]:
    """The problem of a limit that is a parameter which the study leaves at its default, though its own one is meant."""
    if not isinstance(config.design, SubsetSimulation):
        return []
    known = by_name(config.model.parameters)
    limits = dict.fromkeys(each.limit for each in singles(config.design.event) if isinstance(each.limit, str))
    unset = [name for name in limits if name not in config.fixed and name not in config.swept and known[name].default is None]
    return [Problem("sweep.event", f"{name} is not set: give it in [parameters] or [sweep.axes]") for name in unset]


def settings_of(design: SubsetSimulation) -> dict[str, Any]:
    """The keys of a design except its axes, in the format of a study file."""
    found: dict[str, Any] = {
        "event": str(design.event), "count": design.level_count, "level_probability": design.level_probability, "seed": design.seed,
        "levels": design.levels, "repeats": design.repeats,
    }  # fmt: skip
    return found | ({"correlations": [list(each) for each in design.correlations]} if design.correlations else {})
