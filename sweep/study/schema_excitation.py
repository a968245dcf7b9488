"""The sections [excitation] and [excitation.random]: their keys, the types of their values, and their JSON schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.excitation.envelope import SHAPES
from tribosweep.sweep.study.value_types import (
    NUMBER,
    TEXT,
    UNIT,
    Digests,
    Files,
    Form,
    Given,
    In,
    Names,
    Numbers,
    OneOf,
    TableSchema,
    Whole,
    either,
    list_of,
    one_of,
)  # fmt: skip

INTERPOLATIONS = ("linear", "log")
FREQUENCY, PERIOD = AGAINST = ("frequency", "period")
DURATION = Quantity("duration", "s", "of a draw", lower=0.0, lower_open=True)
INTERVAL = Quantity("interval", "s", "between the samples of a draw", lower=0.0, lower_open=True)
DAMPING = Quantity("damping", "1", "of the spectrum, part of critical damping", lower=0.0, lower_open=True, upper=0.5)
TOLERANCE = Quantity("tolerance", "1", "largest deviation from the spectrum", lower=0.005, upper=1.0)
PAIRS = either(list_of(list_of(NUMBER)), TEXT)
RISE = Quantity("rise", "s", "time from the beginning to the strong phase", lower=0.0)
STRONG = Quantity("strong", "s", "duration of the strong phase", lower=0.0, lower_open=True)
OF_ENVELOPE = 'must be { rise = 2.0, strong = 10.0 } in s, with shape = "jennings" or "trapezoid"'
TwoGiven = Annotated[Any, WithJsonSchema(list_of(NUMBER, 2, 2))]
Pairs = Annotated[Any, WithJsonSchema(PAIRS)]


class EnvelopeTable(TableSchema):
    """[excitation.random.envelope]: how strong the accelerations are in time."""

    model_config = ConfigDict(json_schema_extra={"required": ["rise", "strong"]})

    shape: Annotated[str, OneOf(SHAPES)] = Field(default=SHAPES[0], description="jennings (default) or trapezoid")
    rise: Annotated[float, In(RISE)] | None = Field(default=None, description="time from the beginning to the strong phase [s]")
    strong: Annotated[float, In(STRONG)] | None = Field(default=None, description="duration of the strong phase [s]")


class Random(TableSchema):
    """[excitation.random]: random accelerations. `tribosweep list excitation` shows the descriptions."""

    spectrum: Pairs = Field(
        default=None,
        description="one-sided power spectral density: pairs [frequency, density] in Hz and (m/s^2)^2/Hz, or a CSV or Parquet file with "
        "the columns frequency and psd; 0 beyond its ends",
    )
    unit: str | None = Field(
        default=None, description="unit of the densities, such as g^2/Hz; default (m/s^2)^2/Hz, or what the file's header says"
    )
    interpolation: Annotated[str, WithJsonSchema(one_of(INTERPOLATIONS))] | None = Field(
        default=None, description="straight lines between the pairs: linear (default), or log in both logarithms"
    )
    band: TwoGiven = Field(default=None, description="instead of a spectrum: a constant density between two frequencies [Hz]")
    rms: Given = Field(default=None, description="root mean square of the acceleration, for a band [m/s^2], such as 0.3 g in quotes")
    duration: Annotated[float, In(DURATION)] | None = Field(default=None, description="duration of a draw [s]")
    interval: Annotated[float, In(INTERVAL)] | None = Field(
        default=None, description="time between samples [s]; 1 / (2 interval) exceeds every frequency of the spectrum"
    )
    seed: Whole | None = Field(default=None, description="seed of all draws, at least 0; default 1; it and n determine draw n")
    correlation: Annotated[Any, WithJsonSchema(either(list_of(list_of({"type": "number"})), {"type": "object"}))] = Field(
        default=None,
        description="of the channels that the loads of a structure follow: { length, positions } [m] for exp(-distance / length), or a "
        "matrix; default none",
    )
    factors: Numbers = Field(default=None, description="factor of each channel, of its loads or its response spectrum; default 1")
    taper: Annotated[Any, WithJsonSchema(either({UNIT: ""}, list_of({UNIT: ""})))] = Field(
        default=None, description="ramps of half a cosine at both ends [s], or [at the beginning, at the end]; default none"
    )
    response_spectrum: Pairs = Field(
        default=None,
        description="instead of a spectrum: the response spectrum that each draw has, pairs [frequency, largest total acceleration] in Hz "
        "and m/s^2 (or the unit), straight lines in both logarithms; or a CSV or Parquet file with the columns frequency and sa",
    )
    response_spectra: Annotated[Any, WithJsonSchema(list_of(PAIRS, 1))] = Field(
        default=None,
        description="instead of one response_spectrum for all channels that the loads of a structure follow: a list with one for each",
    )
    against: Annotated[str, WithJsonSchema(one_of(AGAINST))] | None = Field(
        default=None, description="of a response spectrum: frequency (default), or period [s] in its place"
    )
    damping: Annotated[float, In(DAMPING)] | None = Field(
        default=None, description="of a response spectrum: part of critical damping; default 0.05"
    )
    envelope: Annotated[EnvelopeTable, Form(OF_ENVELOPE)] | None = Field(
        default=None,
        description="of a response spectrum: { rise, strong } [s], how long the accelerations rise and how long they are strong; shape is "
        "jennings (default) or trapezoid",
    )
    tolerance: Annotated[float, In(TOLERANCE)] | None = Field(
        default=None, description="of a response spectrum: largest deviation from it, relative; default 0.1"
    )
    match: TwoGiven = Field(
        default=None, description="of a response spectrum: lowest and highest frequency at which draws have it [Hz]; default all"
    )


class Excitation(TableSchema):
    """[excitation]: excitations other than sines, described as in `Random`."""

    records: Files = Field(
        default=None,
        description="CSV or Parquet files with the columns time and acceleration, evenly sampled from t = 0; parameter record is one of "
        "their names, without folder and ending",
    )
    unit: str | None = Field(default=None, description="unit of the accelerations, such as g; default m/s^2, or what the header says")
    time: str | None = Field(default=None, description="name of the column time in the files")
    acceleration: str | None = Field(default=None, description="name of the column acceleration in the files")
    channels: Names = Field(
        default=None,
        description="of a structure: names of the columns that its loads follow by their number, channel = 0 and so on; default "
        "acceleration (force, where loads are forces)",
    )
    extend: Annotated[str, WithJsonSchema({"const": "zero"})] | None = Field(
        default=None, description="zero: a run may be longer than its record; the ground rests after the record"
    )
    sha256: Digests = Field(
        default=None, description="digests of the files, stated by a resolved study; files with other digests are refused"
    )
    random: Random | None = Field(default=None, description="random accelerations instead of records; parameter draw is the number of one")
