"""Reading [output.signals]: what is computed of the motion at equal steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.kwu_epri import KwuEpriLaw
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.signals import DETRENDS, DURATIONS, OVERLAPS, PEAKS, TAPERS, Signals, channels, rubbed, struck
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.io.values import number_like, read_number
from tribosweep.sweep.study.grammar import unsaid
from tribosweep.sweep.study.schema_signals import OF_WEAR, SignalsTable

KEY = "output.signals"
COUNT = Quantity("count", "", "number of values", kind="integer", lower=2.0, upper=10_000.0)
SPACINGS = ("linear", "log")
LEAST_SEGMENT, MOST_SEGMENT, MOST_PARTS, MOST_ENTRIES = 8, 2**16, 100, 10_000
ROUNDING = 1e-9  # relative, of a length that is a whole number of intervals
WEAR = "kwu_epri"
PRODUCTS = ("psd", "cross_psd", "rainflow", "crossings", PEAKS, DURATIONS, WEAR)


def read_signals(section: SignalsTable | None, model: Model, problems: list[Problem]) -> Signals | None:
    """The signals that a study asks for; None, and problems if something is wrong, where it asks for none."""
    if section is None:
        return None
    before = len(problems)
    if model.structure is not None and not channels(model):
        problems.append(Problem(KEY, "the structure has neither supports nor observed points: name points in structure.observed"))
    known = channels(model)
    if section.interval is None and unsaid(f"{KEY}.interval", problems):
        problems.append(Problem(f"{KEY}.interval", 'is missing: the time between samples, such as "1 ms"'))
    if all(getattr(section, name) is None for name in PRODUCTS):
        problems.append(Problem(KEY, f"asks for nothing: give one of {', '.join(PRODUCTS)}"))
    segment, overlap = read_segment(section, problems)
    for name, value, words in (("taper", section.taper, TAPERS), ("detrend", section.detrend, DETRENDS)):
        if value not in words:
            problems.append(Problem(f"{KEY}.{name}", f"{shorten(value)} is none of its words; {advise(value, words)}"))
    if not 1 <= section.parts <= MOST_PARTS:
        message = f"{section.parts} is out of bounds: must be >= 1 and <= {MOST_PARTS} (parts of the window)"
        problems.append(Problem(f"{KEY}.parts", message))
    if section.rainflow is not None and find_spec("rainflow") is None:
        problems.append(Problem(f"{KEY}.rainflow", "needs the package rainflow: pip install 'tribosweep[signals]'"))
    if section.rainflow is None and section.woehler_exponent is not None:
        problems.append(Problem(f"{KEY}.woehler_exponent", "belongs to rainflow, which is missing"))
    found: dict[str, Any] = {
        "psd": read_names(f"{KEY}.psd", section.psd, known, problems),
        "cross_psd": read_pairs(section.cross_psd, known, problems),
        "rainflow": read_tables(f"{KEY}.rainflow", section.rainflow, known, 0.0, problems),
        "crossings": read_tables(f"{KEY}.crossings", section.crossings, known, None, problems),
        **read_impacts(section, model, problems),
        **read_wear(section, model, problems),
    }
    if len(problems) > before or section.interval is None:
        return None
    return Signals(
        section.interval, section.parts, segment=segment, overlap=overlap, taper=section.taper, detrend=section.detrend,
        exponent=section.woehler_exponent, rate=section.cycle_rate, **found,
    )  # fmt: skip


def read_segment(section: SignalsTable, problems: list[Problem]) -> tuple[int, float]:
    """The samples of a segment, and the overlap of segments."""
    segment, overlap = section.segment, section.overlap
    if not LEAST_SEGMENT <= segment <= MOST_SEGMENT or segment % 4:
        problems.append(
            Problem(f"{KEY}.segment", f"{segment} is out of bounds: must be a multiple of 4 from {LEAST_SEGMENT} to {MOST_SEGMENT} samples")
        )
    if not number_like(overlap) or float(overlap) not in OVERLAPS:
        problems.append(Problem(f"{KEY}.overlap", f"must be one of {', '.join(f'{each:g}' for each in OVERLAPS)}, not {shorten(overlap)}"))
        return segment, OVERLAPS[0]
    return segment, float(overlap)


def check_segment(signals: Signals | None, fixed: Mapping[str, Any], problems: list[Problem]) -> None:
    """Add a problem if no part of the window is as long as a segment, so that no row has spectra; not if times are swept.

    Args:
        signals: what the study asks for. fixed: the parameters that all rows share, by name.
    """
    end = fixed.get("window_end", fixed.get("end"))
    if signals is None or end is None or not (signals.psd or signals.cross_psd):
        return
    length = (float(end) - float(fixed.get("window_start", 0.0))) / signals.parts
    most = int(min(max(length, 0.0) / signals.interval * (1.0 + ROUNDING), MOST_SEGMENT)) // 4 * 4
    if 0.0 < length and most < signals.segment:
        of = "the window" if signals.parts == 1 else f"a part of the window (1 of {signals.parts})"
        advice = f"give at most {most}, or a shorter interval" if most >= LEAST_SEGMENT else "give a shorter interval"
        seconds = f"{signals.segment} samples of {signals.interval:g} s are {signals.segment * signals.interval:g} s"
        problems.append(Problem(f"{KEY}.segment", f"{seconds}, longer than {of}, {length:g} s: no spectrum; {advice}"))


def read_names(path: str, given: Any, known: Mapping[str, Quantity], problems: list[Problem]) -> tuple[str, ...]:
    """Names of channels, each once."""
    if given is None:
        return ()
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        problems.append(Problem(path, f"must be a list of names of channels, not {shorten(given)}; there are {', '.join(known)}"))
        return ()
    for place, name in enumerate(given):
        if name not in known:
            problems.append(unknown(f"{path}[{place}]", name, known))
        elif name in given[:place]:
            problems.append(Problem(f"{path}[{place}]", f"{name!r} is named twice"))
    return tuple(given)


def is_name(given: Any, known: Mapping[str, Quantity]) -> bool:
    """Whether a value of a file is a known name; it may be of any type, also of one that no dict takes."""
    return isinstance(given, str) and given in known


def unknown(path: str, name: Any, known: Mapping[str, Quantity]) -> Problem:
    """The problem of a name that is no channel."""
    return Problem(path, f"{shorten(name)} is no channel of the model; {advise(name, tuple(known))}")


def read_pairs(given: Any, known: Mapping[str, Quantity], problems: list[Problem]) -> tuple[tuple[str, str], ...]:
    """Pairs of channels."""
    path, found = f"{KEY}.cross_psd", list[tuple[str, str]]()
    if given is None:
        return ()
    if not isinstance(given, list) or not given:
        problems.append(Problem(path, f'must be a list of pairs of channels such as [["x", "v"]], not {shorten(given)}'))
        return ()
    for place, pair in enumerate(given):
        here = f"{path}[{place}]"
        if not isinstance(pair, list) or len(pair) != 2:
            problems.append(Problem(here, f"must be a pair of channels, not {shorten(pair)}"))
            continue
        wrong = [unknown(f"{here}[{side}]", name, known) for side, name in enumerate(pair) if not is_name(name, known)]
        if not wrong and (pair[0] == pair[1] or tuple(pair) in found):
            wrong = [Problem(here, "is named twice" if tuple(pair) in found else "must be two different channels: psd is of one")]
        problems += wrong
        if not wrong:
            found.append((pair[0], pair[1]))
    return tuple(found)


def read_tables(
    path: str, given: Any, known: Mapping[str, Quantity], least: float | None, problems: list[Problem]
) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """A table from channels to ascending numbers."""
    if given is None:
        return ()
    if not isinstance(given, dict) or not given:
        problems.append(Problem(path, f"must be a table from channels to numbers such as {{ x = [0.0, 1e-3] }}, not {shorten(given)}"))
        return ()
    found = []
    for name, values in given.items():
        if name not in known:
            problems.append(unknown(f"{path}.{name}", name, known))
            continue
        found.append((name, read_ascending(f"{path}.{name}", values, known[name].unit, least, problems)))
    return tuple(found)


def read_impacts(section: SignalsTable, model: Model, problems: list[Problem]) -> dict[str, tuple[float, ...]]:
    """The edges of classes of impacts."""
    found = {}
    for key, name, given, unit in (("peaks", PEAKS, section.impact_peaks, "N"), ("durations", DURATIONS, section.impact_durations, "s")):
        if given is not None and not struck(model):
            problems.append(Problem(f"{KEY}.{name}", f"{model.name} has neither walls nor supports"))
        found[key] = () if given is None else read_ascending(f"{KEY}.{name}", given, unit, 0.0, problems)
    return found


def read_wear(section: SignalsTable, model: Model, problems: list[Problem]) -> dict[str, Any]:
    """The wear law KWU-EPRI, and the supports where it is asked for."""
    path, given = f"{KEY}.{WEAR}", section.kwu_epri
    if given is None:
        return {}
    if not rubbed(model):
        problems.append(Problem(path, f"{model.name} has no supports along which something slides; tribosweep.kwu_epri takes any course"))
        return {}
    read = {name: value for name in KwuEpriLaw._fields if (value := getattr(given, name)) is not None}
    before = len(problems)
    for name, quantity in OF_WEAR.items():
        if name not in read and name not in KwuEpriLaw._field_defaults and unsaid(f"{path}.{name}", problems):
            unit = f", in {quantity.unit}" if quantity.unit else ""
            problems.append(Problem(f"{path}.{name}", f"is missing: the {quantity.description}{unit}; the law has no value of its own"))
    if len(problems) > before or not unsaid(path, problems):
        return {}
    return {"kwu_epri": KwuEpriLaw(**read), "worn": rubbed(model)}


def read_ascending(path: str, given: Any, unit: str, least: float | None, problems: list[Problem]) -> tuple[float, ...]:
    """Ascending numbers: a list of them, or { from, to, count, spacing }."""
    quantity = Quantity("edges" if least is not None else "levels", unit, "bounds of classes" if least is not None else "levels",
                        lower=-np.inf if least is None else least)  # fmt: skip
    before = len(problems)
    if isinstance(given, dict):
        return read_range(path, given, quantity, problems)
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_ENTRIES:
        problems.append(Problem(path, f"must be a list of numbers, or {{ from, to, count }}, not {shorten(given)} (unit {unit})"))
        return ()
    values = [read_number(quantity, f"{path}[{place}]", each, problems) for place, each in enumerate(given)]
    if len(problems) > before:
        return ()
    return ascending(path, [value for value in values if value is not None], problems)


def read_range(path: str, given: Mapping[str, Any], quantity: Quantity, problems: list[Problem]) -> tuple[float, ...]:
    """The numbers of { from, to, count, spacing }."""
    before = len(problems)
    keys = ("from", "to", "count", "spacing")
    problems += [Problem(f"{path}.{key}", f"unknown key; {advise(str(key), keys)}") for key in given if key not in keys]
    problems += [Problem(f"{path}.{key}", "is missing") for key in keys[:3] if key not in given]
    spacing = given.get("spacing", "linear")
    if spacing not in SPACINGS:
        problems.append(Problem(f"{path}.spacing", f"{shorten(spacing)} is no spacing; {advise(spacing, SPACINGS)}"))
    if len(problems) > before:
        return ()
    ends = [read_number(quantity, f"{path}.{key}", given[key], problems) for key in ("from", "to")]
    count = read_number(COUNT, f"{path}.count", given["count"], problems)
    if ends[0] is None or ends[1] is None or count is None:
        return ()
    if spacing == "log" and min(ends[0], ends[1]) <= 0.0:
        problems.append(Problem(path, f"a log range must be above 0: from = {ends[0]:g}, to = {ends[1]:g}"))
        return ()
    spread = np.geomspace if spacing == "log" else np.linspace
    return ascending(path, spread(ends[0], ends[1], int(count)).tolist(), problems)


def ascending(path: str, values: Sequence[float], problems: list[Problem]) -> tuple[float, ...]:
    """The same numbers; a problem if they do not ascend."""
    if np.any(np.diff(values) <= 0.0):
        problems.append(Problem(path, "must ascend, each number once"))
    return tuple(values)


def section_document(signals: Signals) -> dict[str, Any]:
    """[output.signals] in canonical order: reading it again gives the same."""
    found: dict[str, Any] = {"interval": signals.interval, "parts": signals.parts}
    found |= {"psd": list(signals.psd), "cross_psd": [list(pair) for pair in signals.cross_psd]}
    if signals.spectral:
        found |= {"segment": signals.segment, "overlap": signals.overlap, "taper": signals.taper, "detrend": signals.detrend}
    found |= {name: {each: list(values) for each, values in getattr(signals, name)} for name in ("rainflow", "crossings")}
    if signals.exponent is not None:
        found |= {"woehler_exponent": signals.exponent, "cycle_rate": signals.rate}
    found |= {PEAKS: list(signals.peaks), DURATIONS: list(signals.durations)}
    if signals.kwu_epri is not None:
        found[WEAR] = signals.kwu_epri._asdict()
    return {key: value for key, value in found.items() if value not in ([], {})}
