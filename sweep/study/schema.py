"""The sections and keys of a study's TOML file, the types of their values, and their JSON schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from tribosweep.kernels.models import TIME
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import DOUBLE, SCHEMES, SINGLE, STEADY
from tribosweep.sweep.design.designs import DESIGNS
from tribosweep.sweep.study.schema_excitation import EnvelopeTable, Excitation, Random
from tribosweep.sweep.study.schema_signals import KwuEpri, SignalsTable
from tribosweep.sweep.study.schema_structure import Assembly, LoadTable, SupportTable
from tribosweep.sweep.study.value_types import NUMBER, Given, In, Names, Several, TableSchema, Whole, either, list_of, one_of

SAMPLED_SEED, DRAWN_SEED = 0, 1  # default of sweep.seed: of samples and subset simulations, of draws and posteriors
OF_TIME = by_name(TIME)
Window = Annotated[Any, WithJsonSchema(either({"const": STEADY}, list_of(NUMBER, 2, 2)))]
WIDTH = Quantity(
    "width",
    "",
    "width of the bracket of a boundary, relative to the parameter; smaller widths are lost in rounding",
    lower=1e-14,
    upper=0.1,
)
CHANCE = Quantity("chance", "", "probability of the event on the boundary", lower=0.0, upper=1.0, lower_open=True, upper_open=True)
CONFIDENCE = Quantity("confidence", "", "of the band", lower=0.0, upper=1.0, lower_open=True, upper_open=True)
PROBABILITY = Quantity("level_probability", "", "share of a level that starts the next one", lower=0.02, upper=0.5)


class Study(TableSchema):
    """[study]: name, model and scheme."""

    name: str | None = Field(
        default=None, description="name of the study, of its default directory runs/NAME and of its reports; default the file's name"
    )
    model: str = Field(default="rubbing_mass", description="model of the oscillator; `tribosweep list models`")
    scheme: Annotated[str, WithJsonSchema(one_of(SCHEMES))] | None = Field(
        default=None, description="scheme that computes the motion; default exact where the model has it; `tribosweep list schemes`"
    )
    precision: Annotated[str, WithJsonSchema(one_of((DOUBLE, SINGLE)))] = Field(
        default=DOUBLE, description="float64, or float32 for 7 digits at up to twice the speed"
    )


class Time(TableSchema):
    """[time]: duration, steps and window."""

    end: Annotated[float, In(OF_TIME["end"])] | None = Field(default=None, description="end of the run [s]")
    step: Annotated[float, In(OF_TIME["step"])] | None = Field(
        default=None,
        description="of a fixed-step scheme the largest step [s], which divides the run into equal steps; first step of the others",
    )
    largest_step: Annotated[float, In(OF_TIME["largest_step"])] | None = Field(
        default=None, description="largest step of the schemes that choose their steps [s]"
    )
    smallest_step: Annotated[float, In(OF_TIME["smallest_step"])] | None = Field(
        default=None, description="smallest step of the schemes that choose their steps [s]; a run that needs a smaller one fails"
    )
    tolerance: Annotated[float, In(OF_TIME["tolerance"])] | None = Field(
        default=None, description="largest error of a step of rk32 and rk54, relative to the largest displacement and speed so far"
    )
    retries: Annotated[float, In(OF_TIME["retries"])] | None = Field(
        default=None, description="how many times adapt1 and adapt2 shorten one step before they take it as it is"
    )
    window: Window = Field(
        default=None, description='[start, end] of the averages [s]; default the whole run; or "steady": one period of the steady motion'
    )
    blocks: Annotated[Whole, WithJsonSchema({"type": "integer", "minimum": 1})] | None = Field(
        default=None, description="number of equal blocks of the window, each with its own wear power; default none"
    )


class Sweep(TableSchema):
    """[sweep]: the design and its points."""

    design: Annotated[str, WithJsonSchema(one_of(DESIGNS))] = Field(
        default="grid",
        description="which points: grid, zip, table, boundary, convergence, subset_simulation or a sample; `tribosweep list designs`",
    )
    count: Whole | None = Field(
        default=None,
        description="of a sample: its size; of an elementary design: trajectories (morris), points of each curve (fast); of a posterior: "
        "number of draws, default all of its file; of a subset simulation: points of a level",
    )
    seed: Whole | None = Field(
        default=None,
        description="of a sample: what its random numbers follow from, together with the number of a point; default "
        f"{SAMPLED_SEED}, of draws and of a posterior {DRAWN_SEED}",
    )
    file: str | None = Field(
        default=None,
        description="of a table: the CSV or Parquet file with one row for each point, columns named as parameters, with "
        "a unit or without: a0 [mm/s^2]; of a posterior: the file with one row for each draw",
    )
    columns: list[str] | None = Field(
        default=None, description="of a posterior: which parameters are taken from its file; default all of its columns"
    )
    observable: str | None = Field(
        default=None, description="of a boundary: whose words or level; of a convergence study: which must settle"
    )
    digits: Whole | None = Field(default=None, description="of a convergence study: significant digits to which successive results agree")
    halvings: Whole | None = Field(
        default=None, description="of a convergence study: refinements at most; of a boundary: how often its coarse cells are halved"
    )
    level: Given = Field(
        default=None, description="of a boundary of a number: the value where it passes, in the unit of the observable or with its own unit"
    )
    width: Annotated[float, In(WIDTH)] | None = Field(
        default=None, description="of a boundary: final width of its brackets, relative to the parameter"
    )
    seeds: Annotated[Any, WithJsonSchema(list_of(list_of(NUMBER, 2, 2)))] = Field(
        default=None,
        description="of a boundary: points such as [[15.0, 0.9]] whose cells are divided too, for islands that a coarse grid misses",
    )
    chance: Annotated[float, In(CHANCE)] | None = Field(
        default=None, description="of a boundary with an event: the probability on the boundary, such as 0.05"
    )
    confidence: Annotated[float, In(CONFIDENCE)] | None = Field(
        default=None, description="of a boundary with an event: level of the interval of the probability, and so of the band; default 0.95"
    )
    second_order: bool | None = Field(default=None, description="of saltelli: true for indices of pairs, with nearly twice the points")
    levels: Whole | None = Field(
        default=None, description="of morris: number of levels of each axis, even; of a subset simulation: levels at most, default 12"
    )
    event: str | None = Field(
        default=None,
        description="of a boundary: an event such as buckled, or x_max > 3 and not buckled, whose probability over the axes that are no "
        "ranges with a count is sought; "
        "of a subset simulation: the rare event, an observable beyond a limit with its unit, such as peak_force > 5 kN, or "
        "beyond a parameter, such as peak_force >= f_crit, or several such ones joined by or, and, not",
    )
    level_probability: Annotated[float, In(PROBABILITY)] | None = Field(
        default=None, description="of a subset simulation: share of a level that starts the chains of the next one, default 0.1"
    )
    repeats: Whole | None = Field(
        default=None, description="of a subset simulation: number of independent simulations, computed side by side; default 1"
    )
    harmonics: Whole | None = Field(default=None, description="of fast: number of harmonics of a curve")
    correlations: Annotated[list[Any], WithJsonSchema(list_of(list_of({"type": ["string", "number"]}, 3, 3)))] | None = Field(
        default=None,
        description="of sobol, latin_hypercube, halton, draws, subset_simulation and a boundary with an event: "
        '["a0", "mu", 0.5], the correlation of normal scores',
    )
    axes: dict[str, Any] | None = Field(default=None, description="the parameters that vary: lists, ranges, or distributions in a sample")


class Range(TableSchema):
    """An axis { from, to, count, spacing }; a range of a sampling design and a range of whole numbers have no count."""

    start: Given = Field(default=None, alias="from", description="first value; of a sample the least one")
    stop: Given = Field(default=None, alias="to", description="last value; of a sample the largest one")
    count: Whole | None = Field(default=None, description="number of values, ends included")
    spacing: str = Field(default="linear", description="linear, log, or integer for every whole number from one end to the other")


class Output(TableSchema):
    """[output]: additional observables, lists over supports in place of columns with their names, the only columns, the size of shards."""

    statistics: bool | None = Field(default=None, description="true: mean, RMS, standard deviation and extremes of displacement and forces")
    multipliers: bool | None = Field(
        default=None, description="true: Floquet multipliers of the steady motion, and what they say of its stability"
    )
    support_lists: bool | None = Field(
        default=None, description="true: an observable of the supports is one column of lists instead of a column for each"
    )
    columns: Names = Field(default=None, description="names of the only observables that are computed, kept and written; default all")
    shard_points: Whole | None = Field(
        default=None, description="number of points in a file of the dataset; the default depends on the scheme"
    )
    signals: SignalsTable | None = Field(
        default=None, description="spectra, rainflow cycles, level crossings, impacts, and wear by KWU-EPRI, as columns"
    )


class Document(TableSchema):
    """The whole file; a single [sweep] is a list of one."""

    study: Study = Study()
    structure: Assembly | None = None
    supports: dict[str, SupportTable] = Field(default_factory=dict)
    loads: dict[str, LoadTable] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    time: Time = Time()
    sweep: Several[Sweep] = Field(default_factory=list)
    excitation: Excitation | None = None
    output: Output = Output()


PARAMETERS, OBSERVABLES = "parameters", "observables"  # topics of `tribosweep list`
STRUCTURE: dict[str, type[TableSchema]] = {"structure": Assembly}
PARTS: dict[str, type[TableSchema]] = {"supports": SupportTable, "loads": LoadTable}
OUTPUT: dict[str, type[TableSchema]] = {"output": Output, "output.signals": SignalsTable, "output.signals.kwu_epri": KwuEpri}
EXCITATION: dict[str, type[TableSchema]] = {
    "excitation": Excitation,
    "excitation.random": Random,
    "excitation.random.envelope": EnvelopeTable,
}
WINDOW = ("window_start", "window_end")
TIME_KEYS = {q.name: "window = [start, end]" if q.name in WINDOW else q.name for q in TIME}
