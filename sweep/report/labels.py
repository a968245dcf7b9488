"""Labels of axes, units and values in a report."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.palette import flat, ramps_of
from tribosweep.sweep.analysis.run_rows import RunRows
from tribosweep.sweep.analysis.run_state import facts_of
from tribosweep.sweep.analysis.supports import in_words

GREEK = {"alpha": "\u03b1", "mu": "μ", "omega": "ω", "varphi": "φ", "sigma": "\u03c3", "eta": "η", "beta": "β"}


def ordinal(number: int) -> str:
    """An ordinal: 2nd, 3rd, 4th, 11th, 21st."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def axis_of(rows: RunRows, quantity: Quantity) -> dict[str, Any]:
    """The description of an axis for the page."""
    return {
        "name": quantity.name, "unit": quantity.unit_suffix.strip(), "label": html_label(quantity), "about": quantity.description,
        "log": rows.is_logarithmic(quantity),
    }  # fmt: skip


def colors_of(words: Sequence[str]) -> list[dict[str, Any]]:
    """The regimes with both ends of their colour ramps."""
    ramps = ramps_of(words)
    return [{"name": word, "ramp": list(ramp), "flat": flat(word, ramps)} for word, ramp in ramps.items()]


def provenance_of(rows: RunRows) -> list[tuple[str, str]]:
    """The state, times and software of the run."""
    return [(name, value) for name, value in facts_of(rows.state) if name not in ("shards", "writer")]


def html_label(quantity: Quantity) -> str:
    """The label of an axis as HTML: symbol and unit."""
    unit = re.sub(r"\^(-?\d+)", r"<sup>\1</sup>", quantity.unit_suffix.strip())
    if "[" in quantity.name:
        return f"{html.escape(in_words(quantity))} [{unit}]" if unit else html.escape(in_words(quantity))
    base, _, below = quantity.symbol.partition("_")
    below = re.sub(r"\\mathrm\{([^}]*)\}", r"\1", below.strip())
    below = below[1:-1] if below.startswith("{") else below
    upright = re.fullmatch(r"\\mathrm\{([^}]*)\}", base)
    base = GREEK.get(base.removeprefix("\\"), base)
    head = (
        (upright[1] if upright else f"<i>{base}</i>") + (f"<sub>{below}</sub>" if below else "")
        if base
        else quantity.name.replace("_", " ")
    )
    return f"{head} [{unit}]" if unit else head
