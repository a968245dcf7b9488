"""Conversion of values with a unit, such as "1 Hz" or "9e5 N/m", to SI units."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from sweep.io.errors import shorten

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
_TURNING, _FREQUENCY = "rad/s", "Hz"
ACCELERATION, DENSITY = "m/s^2", "(m/s^2)^2/Hz"
_GRAVITY = re.compile(r"\b(m?)g\b")
_POWER = re.compile(r"(?<=[A-Za-z])(?=[-\d])")
_ANGLES = ("radian", "degree", "turn", "revolution")


@functools.cache
def _registry() -> pint.UnitRegistry[Any]:
    """The units of pint; imported at the first value with a unit."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


def spelled(unit: str) -> str:
    """Convert a unit as written in headers of data files, such as "m/s2", to a form that is read here: "m/s^2"."""
    return _POWER.sub("^", unit)


def _in_gravity(found: re.Match[str]) -> str:
    """The name of g or of mg."""
    return f"{'milli' if found[1] else ''}standard_gravity"


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

    Args:
        text: the text, such as "0.3 g", of at most LONGEST characters; for the unit see `product_of_powers`.
        unit: SI unit of the result, "1" if it has none. For an acceleration and its spectral density, g is the acceleration of gravity
            (9.80665 m/s^2) and mg a thousandth of it; otherwise g is the gram. For a circular frequency 1 Hz is 2 pi rad/s, and 1/s is
            refused because it is ambiguous. For a frequency in Hz the unit is hertz, kilohertz ...

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
        stated = product_of_powers(name)
    except ValueError:
        comma = "; numbers have a decimal point" if name.startswith(",") else ""
        raise ValueError(f"{text!r}: {name!r} cannot be read as a unit{comma}") from None
    import pint

    units = _registry()
    try:
        given = units.parse_units(_GRAVITY.sub(_in_gravity, stated) if unit in (ACCELERATION, DENSITY) else stated)
        if unit == _TURNING and "hertz" in str(given):
            given = given * units.turn  # in pint 1 Hz is 1 rad/s
        per_second = unit == _TURNING and not any(each in str(given) for each in _ANGLES)
        turning = unit == _FREQUENCY and "hertz" not in str(given)
        number = float(units.Quantity(float(read[1]), given).to("" if unit == "1" else unit).magnitude)
    except pint.UndefinedUnitError:
        raise ValueError(f"{text!r}: {name!r} is no known unit{_in_other_letters(stated)}") from None
    except pint.DimensionalityError:
        raise ValueError(f"{text!r}: {name!r} cannot be converted to {'a plain number' if unit == '1' else unit}") from None
    except Exception:
        raise ValueError(f"{text!r}: {name!r} cannot be read as a unit") from None
    if per_second:
        raise ValueError(f"{text!r} may be turns or radians: write Hz, rpm or rad/s")
    if turning:
        raise ValueError(f"{text!r} may be turns or radians: write Hz")
    return number


def raised(unit: str) -> str:
    """A unit with superscript exponents."""
    return re.sub(r"\^(-?\d+)", r"$^{\1}$", unit)
