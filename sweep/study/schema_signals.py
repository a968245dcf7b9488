"""The section [output.signals]: its keys, the types of their values, and their JSON schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from tribosweep.kernels.models.kwu_epri import KwuEpriLaw
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.signals import DETRENDS, OVERLAPS, TAPERS
from tribosweep.sweep.study.value_types import NUMBER, Form, In, Names, TableSchema, Whole, either, list_of, one_of

SAMPLING = Quantity("interval", "s", "time between samples", lower=0.0, lower_open=True)
EXPONENT = Quantity("woehler_exponent", "1", "slope of the Woehler curve", lower=1.0, upper=50.0)
RATE = Quantity("cycle_rate", "Hz", "cycles per second of the equivalent range", lower=0.0, lower_open=True)
RANGE = {
    "type": "object",
    "properties": {"from": NUMBER, "to": NUMBER, "count": {"type": "integer"}, "spacing": one_of(("linear", "log"))},
    "additionalProperties": False,
    "required": ["from", "to", "count"],
}
EDGES = either(list_of(NUMBER, 1), RANGE)
OF_WEAR = by_name(
    (
        Quantity("wear_coefficient", "1/Pa", "coefficient K of the pair of materials", lower=0.0),
        Quantity("impact_coefficient", "", "coefficient K_1 of impacts", lower=0.0),
        Quantity("sliding_coefficient", "", "coefficient K_2 of sliding", lower=0.0),
        Quantity("service_time", "s", "time in service", lower=0.0),
        Quantity("force_max", "N", "upper end of the classes of normal force", lower=0.0, lower_open=True),
        Quantity("speed_max", "m/s", "upper end of the classes of sliding speed", lower=0.0, lower_open=True),
        Quantity("hardening", "", "factor k of impacts", lower=0.0),
        Quantity("reference_force", "N", "force c", lower=0.0, lower_open=True),
    )
)
Edges = Annotated[Any, WithJsonSchema(EDGES)]


class KwuEpri(TableSchema):
    """[output.signals.kwu_epri]: the wear law KWU-EPRI at the supports of a structure."""

    model_config = ConfigDict(json_schema_extra={"required": [key for key in KwuEpriLaw._fields if key not in KwuEpriLaw._field_defaults]})

    wear_coefficient: Annotated[float, In(OF_WEAR["wear_coefficient"])] | None = Field(
        default=None, description="coefficient K of the pair of materials [1/Pa]"
    )
    impact_coefficient: Annotated[float, In(OF_WEAR["impact_coefficient"])] | None = Field(
        default=None, description="coefficient K_1 of impacts"
    )
    sliding_coefficient: Annotated[float, In(OF_WEAR["sliding_coefficient"])] | None = Field(
        default=None, description="coefficient K_2 of sliding"
    )
    service_time: Annotated[float, In(OF_WEAR["service_time"])] | None = Field(default=None, description="time in service [s]")
    force_max: Annotated[float, In(OF_WEAR["force_max"])] | None = Field(
        default=None, description="upper end of the five classes of normal force [N]"
    )
    speed_max: Annotated[float, In(OF_WEAR["speed_max"])] | None = Field(
        default=None, description="upper end of the five classes of sliding speed [m/s]"
    )
    hardening: Annotated[float, In(OF_WEAR["hardening"])] | None = Field(default=None, description="factor k of impacts; default 5")
    reference_force: Annotated[float, In(OF_WEAR["reference_force"])] | None = Field(default=None, description="force c [N]; default 10")


class SignalsTable(TableSchema):
    """[output.signals]: spectra, cycles, crossings, impacts and wear by classes of force and speed, as columns."""

    interval: Annotated[float, In(SAMPLING)] | None = Field(
        default=None, description="time between samples of the motion in the window [s]"
    )
    parts: Whole = Field(default=1, description="number of equal parts of the window, each with columns of its own")
    psd: Names = Field(
        default=None,
        description="channels with power spectral densities, such as x, v, a, friction_force, wall_force; of a structure x[POINT], "
        "normal_force[SUPPORT]",
    )
    cross_psd: Annotated[Any, WithJsonSchema(list_of(list_of({"type": "string"}, 2, 2), 1))] = Field(
        default=None, description="pairs of channels with cross-spectral densities"
    )
    segment: Whole = Field(default=1024, description="samples of a segment of a spectrum, a multiple of 4")
    overlap: Annotated[Any, WithJsonSchema({"enum": list(OVERLAPS)})] = Field(
        default=0.5, description="part of a segment that the next one shares: 0, 0.5 or 0.75"
    )
    taper: Annotated[str, WithJsonSchema(one_of(TAPERS))] = Field(
        default="hann", description="window of a segment: hann, hamming, blackman or boxcar"
    )
    detrend: Annotated[str, WithJsonSchema(one_of(DETRENDS))] = Field(
        default="constant", description="constant takes its mean from each segment; none leaves it"
    )
    rainflow: Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": EDGES})] = Field(
        default=None,
        description="rainflow cycles: channel = edges of classes of ranges, a list or { from, to, count, spacing }; the last class has no "
        "end",
    )
    woehler_exponent: Annotated[float, In(EXPONENT)] | None = Field(
        default=None, description="exponent of a Woehler curve, for the equivalent range of rainflow cycles; default none"
    )
    cycle_rate: Annotated[float, In(RATE)] = Field(default=1.0, description="cycles per second of the equivalent range [Hz]")
    crossings: Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": EDGES})] = Field(
        default=None, description="upward crossings: channel = levels, a list or { from, to, count, spacing }"
    )
    impact_peaks: Edges = Field(
        default=None, description="edges of classes of the largest force of an impact [N]; the last class has no end"
    )
    impact_durations: Edges = Field(
        default=None, description="edges of classes of the duration of an impact [s]; the last class has no end"
    )
    kwu_epri: Annotated[KwuEpri, Form(f"must be a table with {', '.join(KwuEpriLaw._fields)}")] | None = Field(
        default=None,
        description="of a structure: the wear law KWU-EPRI at its supports, { wear_coefficient, impact_coefficient, sliding_coefficient, "
        "service_time, force_max, speed_max, hardening = 5, reference_force = 10 }, where force_max [N] and speed_max [m/s] are the upper "
        "ends of its five classes of each",
    )
