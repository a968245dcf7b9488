"""Values written with a unit, such as "1 Hz" or "9e5 N/m", in SI units."""

from __future__ import annotations

import functools
import re
import tokenize
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pint

_WRITTEN = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*((?:1/)?[^\d.\s+-].*?)\s*")
_TURNING, _ACCELERATION = "rad/s", "m/s^2"
_ANGLES = ("radian", "degree", "turn", "revolution")


@functools.cache
def _registry() -> pint.UnitRegistry[Any]:
    """Pint's units; imported where the first value with a unit is met."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


def in_unit(text: str, unit: str) -> float:
    """A number with a unit as a plain number.

    Args:
        text: what was written, such as "0.3 g".
        unit: SI unit of the result, "1" where it has none. For an acceleration g is that of gravity (9.80665 m/s^2), else the gram; of a
            circular frequency 1 Hz is 2 pi rad/s, and 1/s is refused because it may be either.

    Raises:
        ValueError: no number with a unit, an unknown unit, or one of something else; the message names it.
    """
    read = _WRITTEN.fullmatch(text)
    if read is None:
        raise ValueError(f'{text!r} is no number with a unit, such as "1.5 {"%" if unit == "1" else unit}"')
    import pint

    units, name = _registry(), read[2]
    try:
        given = units.parse_units(re.sub(r"\bg\b", "standard_gravity", name) if unit == _ACCELERATION else name)
        if unit == _TURNING and "hertz" in str(given):
            given = given * units.turn  # pint's 1 Hz is 1 rad/s
        per_second = unit == _TURNING and not any(each in str(given) for each in _ANGLES)
        number = float(units.Quantity(float(read[1]), given).to("" if unit == "1" else unit).magnitude)
    except pint.UndefinedUnitError:
        raise ValueError(f"{text!r}: {name!r} is no known unit") from None
    except pint.DimensionalityError:
        raise ValueError(f"{text!r}: {name!r} cannot be converted to {'a plain number' if unit == '1' else unit}") from None
    except (pint.PintError, tokenize.TokenError, SyntaxError, TypeError, ValueError, AssertionError):
        raise ValueError(f"{text!r}: {name!r} cannot be read as a unit") from None
    if per_second:
        raise ValueError(f"{text!r} may be turns or radians: write Hz, rpm or rad/s")
    return number
