"""Checks of the arguments of a call from Python: names, numbers, shapes. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.model import Model
from tribosweep.kernels.models.naming import Known, suggestion
from tribosweep.kernels.models.quantity import Quantity, by_name

# arguments of the programs of section maps, beside the parameters of their model: see `tribosweep.kernels.exact.section_image.simulate`
POINT, DIRECTION, PERIODS, RATES, LOOKS = (f"section_{name}" for name in ("point", "direction", "periods", "rates", "statistics"))


def model_of(model: str | Model, oscillator: bool = False) -> Model:
    """The model itself, or that of a name.

    Raises:
        KeyError: no model has that name; the message suggests the nearest one. ValueError: with `oscillator`, a structure.
    """
    if isinstance(model, Model):
        if oscillator and model.structure is not None:
            raise ValueError(f"{model.name} has supports and several coordinates: see tribosweep.structure_history")
        return model
    if model not in MODELS:
        raise KeyError(f"no model {model!r}; {nearest(model, MODELS)}there are {', '.join(MODELS)}")
    return MODELS[model]


def check_given(model: Model, params: Mapping[str, Any], one: bool = False) -> dict[str, Any]:
    """Check the parameters of a call, and return them with codes in place of words.

    Args:
        model: the model that takes them.
        params: parameter name -> number or array (numpy, JAX, traced), SI units; a table has one axis more, the last. A word or its code.
        one: whether they must describe a single oscillator.

    Raises:
        TypeError: `params` is no mapping.
        KeyError: the model has no parameter of that name; the message suggests the nearest one.
        ValueError: a value is no number, a plain number is out of bounds, shapes do not broadcast together, or (with `one`) a value is an
            array of numbers or of tables.
    """
    if not isinstance(params, Mapping):
        raise TypeError(f"params must map names of parameters to numbers, not {type(params).__name__}")
    known = by_name(model.parameters)
    shapes, given = {}, dict(params)
    for name, asked in params.items():
        value = asked
        if name not in known:
            raise KeyError(f"{model.name} has no parameter {name!r}; {nearest(name, known)}it has {', '.join(known)}")
        if isinstance(asked, str) and asked in known[name].words:
            value = given[name] = known[name].words.index(asked)
        shape = _shape(known[name], value)
        shapes[name] = shape[:-1] if known[name].kind == "list" else shape
    if one and (more := {name: shape for name, shape in shapes.items() if shape}):
        raise ValueError(f"{_told(more)}: this is of one oscillator, whose parameters are single numbers")
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        more = {name: shape for name, shape in shapes.items() if shape}
        raise ValueError(f"shapes of parameters do not broadcast together: {_told(more)}") from None
    return given


def nearest(name: Any, known: Known) -> str:
    """A suggestion, such as "did you mean 'mu'? ", or an empty string."""
    return suggestion(str(name), known)


def _shape(quantity: Quantity, value: Any) -> tuple[int, ...]:
    """The shape of a value. Raises ValueError where it is no number, or a plain number out of bounds."""
    what = quantity.name + (f" [{quantity.unit}]" if quantity.unit_suffix else "")
    plain = not hasattr(value, "dtype")
    try:
        array = np.asarray(value) if plain else value
    except TypeError:  # a list of traced numbers
        return (len(value),)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    if getattr(array.dtype, "kind", "f") in "OSUc":
        codes = ", ".join(f"{code} is {word}" for code, word in enumerate(quantity.words))
        near = nearest(value, quantity.words) if codes else ""
        raise ValueError(f"{what}: {value!r} is neither a number nor an array of numbers{f'; {near}{codes}' if codes else ''}")
    if quantity.kind == "list" and not array.shape:
        raise ValueError(f"{what}: {value!r} is one number, but a table is a list of them")
    if plain and array.ndim == 0 and quantity.out_of_bounds(array):
        raise ValueError(f"{what}: {value!r} is out of bounds: must be {quantity.bounds}")
    return tuple(array.shape)


def _told(shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Names with their shapes: "a0 (3,), mu (4,)"."""
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())
