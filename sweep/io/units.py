"""Conversion of values with a unit, such as "1 Hz" or "9e5 N/m", to SI units."""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.io.errors import shorten

if TYPE_CHECKING:
    import pint


# What is given to pint is a product of powers of names and nothing else, because pint evaluates expressions: 9**9**9 has no end there.
LONGEST = 200  # characters of a number with its unit
MOST_FACTORS = 12  # of a unit, and of each pair of parentheses in it
_WRITTEN = re.compile(r"\s*([-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)\s*+((?:1/)?[^\d.\s+-].*)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻·⋅", "0123456789-**")
_SUPERSCRIPT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]++")
_DOT = re.compile(r"\.(?=[^\W\d])")  # N.s/m
_SIZE = r"[-+]? ?(?![0.]+(?![0-9.]))(?:[0-9](?:\.[0-9]{1,3})?|\.[0-9]{1,3})(?![0-9.])"  # of an exponent: below 10, and not 0
_EXPONENT = rf"(?: ?(?:\^|\*\*) ?(?:{_SIZE}|\( ?{_SIZE}(?: ?/ ?[1-9])? ?\)))?"
_FACTOR = rf"(?:[%‰°]|°?[^\W\d]\w*+|1){_EXPONENT}"
_TIMES = r"(?: ?[*/] ?| )"  # one symbol at most, so that // is none
_PRODUCT = rf"{_FACTOR}(?:{_TIMES}{_FACTOR}){{0,{MOST_FACTORS - 1}}}"
_PART = rf"(?:{_FACTOR}|\( ?{_PRODUCT} ?\){_EXPONENT})"
_UNIT = re.compile(rf"{_PART}(?:{_TIMES}{_PART}){{0,{MOST_FACTORS - 1}}}")
ACCELERATION, DENSITY = "m/s^2", "(m/s^2)^2/Hz"
# a second meaning of g; which one is meant follows from the dimension, as no unit has that of both
_GRAVITY = re.compile(r"\b(m?)g\b")
_MIL = re.compile(r"\bmil\b")  # of an inch; to pint it is an angle, of which there are several
_ADDED = ("rev = turn", "permille = 1e-3 = ‰")
_WRITTEN_SO = {"rad": "rad, deg or turn", "rad/s": "Hz, rpm or rad/s", "Hz": "Hz, rpm or rad/s", "rad/s^2": "Hz/s or rad/s^2"}
_POWER = re.compile(r"(?<=[A-Za-z])(?=[-\d])")


@functools.cache
def _registry() -> pint.UnitRegistry[Any]:
    """The units of pint and a few more; imported at the first value with a unit."""
    import pint

    units: pint.UnitRegistry[Any] = pint.UnitRegistry(cache_folder=None)
    for definition in _ADDED:
        if definition.partition(" ")[0] not in units:
            units.define(definition)
    return units


def spelled(unit: str) -> str:
    """Convert a unit as written in headers of data files, such as "m/s2", to a form that is read here: "m/s^2"."""
    return _POWER.sub("^", unit)


def _in_other_letters(name: str) -> str:
    """Advice on the unit that differs from a wrong name in capitals only: "; did you mean Hz?"; empty if there is none."""
    try:
        meant = f"{_registry().parse_units(name, case_sensitive=False):~C}"
    except Exception:
        return ""
    return f"; did you mean {meant}?" if meant.lower() == name.lower() else ""


def product_of_powers(unit: str) -> str:
    """A unit as it is given to pint; the text is read by no evaluator here.

    Args:
        unit: names and 1, with exponents below 10 ("s^2", "s**2", "s²", "m^(1/2)"), multiplied ("N*s", "N·s", "N.s", "N s") or divided
            ("N/m", "rad per s"), also in one level of parentheses. At most LONGEST characters and MOST_FACTORS factors.

    Returns:
        The same with single spaces, and in ASCII but for its names.

    Raises:
        ValueError: it is none of these.
    """
    plain = _SUPERSCRIPT.sub(lambda found: f"^{found[0]}", unit[: LONGEST + 1])
    plain = _DOT.sub("*", " ".join(plain.translate(_SUPERSCRIPTS).split()))
    if len(unit) > LONGEST or _UNIT.fullmatch(plain) is None:
        raise ValueError(f"{shorten(unit)} cannot be read as a unit")
    return plain


def in_unit(text: str, unit: str) -> float:
    """Convert a number with a unit to a plain number.

    Turns and radians belong to the dimension of a unit: 1 Hz is a turn per second, 2 pi rad/s, and 1 1/s is neither; a density by Hz is
    2 pi times one by rad/s. An angle is no plain number, nor a plain number an angle.

    Args:
        text: the text, such as "0.3 g", of at most LONGEST characters; for the unit see `product_of_powers`.
        unit: SI unit of the result, "1" if it has none. g is the gram or the acceleration of gravity (9.80665 m/s^2), whichever has the
            dimension of `unit`; mil is a thousandth of an inch.

    Raises:
        ValueError: no number with a unit, an unknown unit, or a unit of another quantity; the message names it.
    """
    if len(text) > LONGEST:
        raise ValueError(f"{shorten(text)} has {len(text):,} characters: a number with a unit has at most {LONGEST}")
    read = _WRITTEN.fullmatch(text)
    if read is None:
        raise ValueError(f'{text!r} is no number with a unit, such as "1.5 {"%" if unit == "1" else unit}"')
    name = read[2].strip()
    try:
        stated = product_of_powers(f"1{name}" if name.startswith("/") else name)
    except ValueError:
        comma = "; numbers have a decimal point" if name.startswith(",") else ""
        raise ValueError(f"{text!r}: {name!r} cannot be read as a unit{comma}") from None
    import pint

    wanted = _turning("" if unit == "1" else unit)
    try:
        given = _turning(stated)
        if _dimension(given) != _dimension(wanted) and _GRAVITY.search(stated):
            other = _turning(_GRAVITY.sub(lambda found: f"{'milli' if found[1] else ''}standard_gravity", stated))
            given = other if _dimension(other) == _dimension(wanted) else given
        linear = _registry().Quantity(0.0, given).to_root_units().magnitude == 0.0  # unlike dB and degrees Celsius
        angles, others = _dimension(given)
        fits = (angles, others) == _dimension(wanted) and linear
        number = float(_registry().Quantity(float(read[1]), given).to(wanted).magnitude) if fits else math.nan
    except pint.UndefinedUnitError:
        raise ValueError(f"{text!r}: {name!r} is no known unit{_in_other_letters(stated)}") from None
    except Exception:
        raise ValueError(f"{text!r}: {name!r} cannot be read as a unit") from None
    if fits and name.startswith("/"):
        raise ValueError(f"{text!r}: a unit does not begin with /: write {read[1]} 1{name}")
    if fits:
        return number
    expected, rest = _dimension(wanted)
    same = linear and others == rest
    if same and angles == 0:
        what = "is no angle" if unit == "rad" else "may be turns or radians"
        raise ValueError(f"{text!r} {what}: write {_WRITTEN_SO.get(unit, unit)}")
    why = ", as it counts turns or angles" if same and expected == 0 else ""
    raise ValueError(f"{text!r}: {name!r} cannot be converted to {'a plain number' if unit == '1' else unit}{why}")


def _turning(unit: str) -> pint.Unit:
    """A unit of pint in which Hz is a turn per second; in pint itself it is 1/s."""
    given = _registry().parse_units(_MIL.sub("thou", unit))
    for name, power in given._units.items():  # noqa: SLF001 - pint has no public way to the factors of a unit
        given *= _registry().turn ** (power if name.endswith("hertz") else 0)
    return given


def _dimension(unit: pint.Unit) -> tuple[Any, dict[str, Any]]:
    """The power of the angle in a unit, and those of its other base units."""
    powers: dict[str, Any] = dict(_registry().get_root_units(unit)[1]._units)  # noqa: SLF001 - as above
    return powers.pop("radian", 0), powers


def raised(unit: str) -> str:
    """A unit with superscript exponents."""
    return re.sub(r"\^(-?\d+)", r"$^{\1}$", unit)
