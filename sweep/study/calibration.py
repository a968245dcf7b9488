"""The section [calibration] and its tables: their keys and their types."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.study.free import MOST_STARTS, Fitted, FreeTables, GivenPrior
from tribosweep.sweep.study.value_types import Filled, Form, In, OneOf, Short, TableSchema, WholeNumber, few

CALIBRATION = "calibration"
KNOWN, ESTIMATED = "known", "estimated"
TIME_COLUMN = "time"
COMPARED_MISSING = 'missing: which observable is compared with which column, such as { plastic_set = "set" }'
Column = Annotated[str, Form("must be the name of a column")]
File = Annotated[str, Field(min_length=1), Form("must be the path of a .csv or .parquet file")]
RELATIVE = Quantity("relative_sd", "1", "standard deviation over the measured number", lower=0.0, lower_open=True)
GivenOrColumn = Annotated[Any, WithJsonSchema({"type": ["number", "string"]})]
CONFIDENCE = Quantity("confidence", "1", "level of the intervals", lower=0.0, upper=1.0, lower_open=True, upper_open=True)
ACCEPTANCE = Quantity("acceptance", "1", "mean acceptance of a draw", lower=0.0, upper=1.0, lower_open=True, upper_open=True)
ESS = Quantity("ess", "1", "effective sample size over the number of particles", lower=0.0, upper=1.0, lower_open=True, upper_open=True)


def _column(value: object) -> object:
    """A comparison as a table, where its column stands without one."""
    return {"column": value} if isinstance(value, str) else value


class Comparison(TableSchema):
    """A column that is compared with an observable."""

    column: Column | None = Field(default=None, description="column of the file; default the name of the observable")
    sd: GivenOrColumn = Field(
        default=None, description="standard deviation: a number in the unit of the observable, a text with another unit, or a column"
    )
    relative_sd: Annotated[float, In(RELATIVE)] | None = Field(
        default=None, description="instead of sd: standard deviation over the measured number"
    )
    weight: GivenOrColumn = Field(default=None, description="as how many measurements each number counts: a number or a column; default 1")


Comparisons = Annotated[
    dict[str, Annotated[Comparison, Short(_column, {"type": "string"}), Form('must be a column, or { column = "set", sd = 0.01 }')] | None],
    Filled(COMPARED_MISSING),
]


class Trace(TableSchema):
    """[[calibration.traces]]: a file of motion or forces in time."""

    file: File = Field(description="CSV or Parquet file with a column time [s] or displacement [m] and columns of what was measured")
    time: Column = Field(default=TIME_COLUMN, description="column of the time of a sample [s]; default time")
    settings: Annotated[dict[str, Any], Form("must be a table, { a0 = 3.0 }")] = Field(
        default_factory=dict, description="parameter -> its value in this measurement"
    )
    compare: Comparisons = Field(description="quantity -> column, as in [calibration.compare]")


class Loop(Trace):
    """[[calibration.loops]]: a file of forces along an imposed displacement."""

    displacement: Column = Field(default="x", description="column of the imposed displacement [m]; default x")
    steady: bool = Field(default=False, description="true: the path is closed and was repeated before it was measured")


class Posterior(TableSchema):
    """[calibration.posterior]: how the posterior is sampled."""

    chains: Annotated[int, WholeNumber(1, 64, "number of independent chains")] = Field(
        default=4, description="number of independent chains; default 4"
    )
    warmup: Annotated[int, WholeNumber(20, 100_000, "NUTS: draws of each chain that adapt its step and are dropped")] = Field(
        default=300, description="NUTS: draws of each chain that adapt its step and are dropped; default 300"
    )
    draws: Annotated[int, WholeNumber(10, 1_000_000, "NUTS: draws of each chain that are kept")] = Field(
        default=1000, description="NUTS: draws of each chain that are kept; default 1000"
    )
    acceptance: Annotated[float, In(ACCEPTANCE)] = Field(
        default=0.8, description="NUTS: mean acceptance, towards which steps are adapted; default 0.8, smaller steps above"
    )
    particles: Annotated[int, WholeNumber(20, 1_000_000, "SMC: number of particles of each chain")] = Field(
        default=1000, description="SMC: number of particles of each chain; default 1000"
    )
    ess: Annotated[float, In(ESS)] = Field(
        default=0.5, description="SMC: effective sample size that a stage keeps, as a part of the particles; default 0.5"
    )
    noise: GivenPrior = Field(
        default=None,
        description='with noise = "estimated": prior of the common factor of the standard deviations; default log_uniform from 0.001 to '
        "1000",
    )


class Calibrate(TableSchema):
    """[calibration]: what is fitted to which measurements."""

    model_config = ConfigDict(json_schema_extra={"required": ["free"]})

    data: File | None = Field(
        default=None, description="CSV or Parquet file of tests: one row each, with columns of parameters and of what was measured"
    )
    starts: Annotated[int, WholeNumber(1, MOST_STARTS, "fits from different starts")] = Field(
        default=16, description="number of fits from different starts; default 16"
    )
    seed: Annotated[int, WholeNumber(0, 2**31 - 1, "of the random starts")] = Field(
        default=1, description="seed of the random starts; default 1"
    )
    confidence: Annotated[float, In(CONFIDENCE)] = Field(default=0.95, description="level of the intervals; default 0.95")
    noise: Annotated[str, OneOf((KNOWN, ESTIMATED))] = Field(
        default=KNOWN,
        description="known: standard deviations are absolute (default); estimated: their common factor follows from the scatter",
    )
    free: FreeTables[Fitted] = Field(default_factory=dict, description="the parameters that are fitted, each with its bounds")
    compare: Comparisons = Field(
        default_factory=dict, description="observable -> column of the data, or a table of column, sd, relative_sd and weight"
    )
    traces: Annotated[
        list[Annotated[Trace, Form("must be a table with file and compare")] | None],
        Form("must be tables, [[calibration.traces]]"),
        BeforeValidator(few),
    ] = Field(default_factory=list, description="[[calibration.traces]]: files of motion or forces in time")
    loops: Annotated[
        list[Annotated[Loop, Form("must be a table with file and compare")] | None],
        Form("must be tables, [[calibration.loops]]"),
        BeforeValidator(few),
    ] = Field(default_factory=list, description="[[calibration.loops]]: files of forces along an imposed displacement")
    posterior: Annotated[Posterior, Form("must be a table with keys such as draws = 1000")] = Field(
        default_factory=Posterior, description="[calibration.posterior]: how the posterior is sampled (--posterior)"
    )


TABLES: dict[str, type[TableSchema]] = {
    CALIBRATION: Calibrate,
    f"{CALIBRATION}.free.NAME": Fitted,
    f"{CALIBRATION}.compare.OBSERVABLE": Comparison,
    f"{CALIBRATION}.traces": Trace,
    f"{CALIBRATION}.loops": Loop,
    f"{CALIBRATION}.posterior": Posterior,
}  # path -> the table there
