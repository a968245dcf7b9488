"""The sections and keys of a study's TOML file, and the types of their values."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tribosweep.kernels.models import TIME
from tribosweep.kernels.models.schemes import DOUBLE
from tribosweep.sweep.study.grammar import Several, TableSchema, Whole

TABLE = "table"  # the key of a file in place of two parameters, of [parameters] or of a load
OF_A_FILE = (
    "CSV or Parquet file with the columns time and force (acceleration, of a load that is one), in place of table_time and its values"
)
SAMPLED_SEED, DRAWN_SEED = 0, 1  # default of sweep.seed: of samples and subset simulations, of draws and posteriors


class Study(TableSchema):
    """[study]: name, model and scheme."""

    name: str | None = Field(
        default=None, description="name of the study, of its default directory runs/NAME and of its reports; default the file's name"
    )
    model: str = Field(default="rubbing_mass", description="model of the oscillator; `tribosweep list models`")
    scheme: str | None = Field(
        default=None, description="scheme that computes the motion; default exact where the model has it; `tribosweep list schemes`"
    )
    precision: str = Field(default=DOUBLE, description="float64, or float32 for 7 digits at up to twice the speed")


class Time(TableSchema):
    """[time]: duration, steps and window."""

    end: Any = Field(default=None, description="end of the run [s]")
    step: Any = Field(
        default=None,
        description="of a fixed-step scheme the largest step [s], which divides the run into equal steps; first step of the others",
    )
    largest_step: Any = Field(default=None, description="largest step of the schemes that choose their steps [s]")
    smallest_step: Any = Field(
        default=None, description="smallest step of the schemes that choose their steps [s]; a run that needs a smaller one fails"
    )
    tolerance: Any = Field(
        default=None, description="largest error of a step of rk32 and rk54, relative to the largest displacement and speed so far"
    )
    retries: Any = Field(default=None, description="how many times adapt1 and adapt2 shorten one step before they take it as it is")
    window: Any = Field(
        default=None, description='[start, end] of the averages [s]; default the whole run; or "steady": one period of the steady motion'
    )
    blocks: Whole | None = Field(
        default=None, description="number of equal blocks of the window, each with its own wear power; default none"
    )


class Sweep(TableSchema):
    """[sweep]: the design and its points."""

    design: str = Field(
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
    level: Any = Field(
        default=None, description="of a boundary of a number: the value where it passes, in the unit of the observable or with its own unit"
    )
    width: Any = Field(default=None, description="of a boundary: final width of its brackets, relative to the parameter")
    seeds: Any = Field(
        default=None,
        description="of a boundary: points such as [[15.0, 0.9]] whose cells are divided too, for islands that a coarse grid misses",
    )
    chance: Any = Field(default=None, description="of a boundary with an event: the probability on the boundary, such as 0.05")
    confidence: Any = Field(
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
    level_probability: Any = Field(
        default=None, description="of a subset simulation: share of a level that starts the chains of the next one, default 0.1"
    )
    repeats: Whole | None = Field(
        default=None, description="of a subset simulation: number of independent simulations, computed side by side; default 1"
    )
    harmonics: Whole | None = Field(default=None, description="of fast: number of harmonics of a curve")
    correlations: list[Any] | None = Field(
        default=None,
        description="of sobol, latin_hypercube, halton, draws, subset_simulation and a boundary with an event: "
        '["a0", "mu", 0.5], the correlation of normal scores',
    )
    axes: dict[str, Any] | None = Field(default=None, description="the parameters that vary: lists, ranges, or distributions in a sample")


class Range(TableSchema):
    """An axis { from, to, count, spacing }; a range of a sampling design and a range of whole numbers have no count."""

    start: Any = Field(default=None, alias="from", description="first value; of a sample the least one")
    stop: Any = Field(default=None, alias="to", description="last value; of a sample the largest one")
    count: Whole | None = Field(default=None, description="number of values, ends included")
    spacing: str = Field(default="linear", description="linear, log, or integer for every whole number from one end to the other")


class Random(TableSchema):
    """[excitation.random]: random accelerations. `tribosweep list excitation` shows the descriptions."""

    spectrum: Any = Field(
        default=None,
        description="one-sided power spectral density: pairs [frequency, density] in Hz and (m/s^2)^2/Hz, or a CSV or Parquet file with "
        "the columns frequency and psd; 0 beyond its ends",
    )
    unit: str | None = Field(
        default=None, description="unit of the densities, such as g^2/Hz; default (m/s^2)^2/Hz, or what the file's header says"
    )
    interpolation: str | None = Field(
        default=None, description="straight lines between the pairs: linear (default), or log in both logarithms"
    )
    band: Any = Field(default=None, description="instead of a spectrum: a constant density between two frequencies [Hz]")
    rms: Any = Field(default=None, description="root mean square of the acceleration, for a band [m/s^2], such as 0.3 g in quotes")
    duration: Any = Field(default=None, description="duration of a draw [s]")
    interval: Any = Field(default=None, description="time between samples [s]; 1 / (2 interval) exceeds every frequency of the spectrum")
    seed: Whole | None = Field(default=None, description="seed of all draws, at least 0; default 1; it and n determine draw n")
    correlation: Any = Field(
        default=None,
        description="of the channels that the loads of a structure follow: { length, positions } [m] for exp(-distance / length), or a "
        "matrix; default none",
    )
    factors: Any = Field(default=None, description="factor of each channel, of its loads or its response spectrum; default 1")
    taper: Any = Field(default=None, description="ramps of half a cosine at both ends [s], or [at the beginning, at the end]; default none")
    response_spectrum: Any = Field(
        default=None,
        description="instead of a spectrum: the response spectrum that each draw has, pairs [frequency, largest total acceleration] in Hz "
        "and m/s^2 (or the unit), straight lines in both logarithms; or a CSV or Parquet file with the columns frequency and sa",
    )
    response_spectra: Any = Field(
        default=None,
        description="instead of one response_spectrum for all channels that the loads of a structure follow: a list with one for each",
    )
    against: str | None = Field(default=None, description="of a response spectrum: frequency (default), or period [s] in its place")
    damping: Any = Field(default=None, description="of a response spectrum: part of critical damping; default 0.05")
    envelope: Any = Field(
        default=None,
        description="of a response spectrum: { rise, strong } [s], how long the accelerations rise and how long they are strong; shape is "
        "jennings (default) or trapezoid",
    )
    tolerance: Any = Field(default=None, description="of a response spectrum: largest deviation from it, relative; default 0.1")
    match: Any = Field(
        default=None, description="of a response spectrum: lowest and highest frequency at which draws have it [Hz]; default all"
    )


class Excitation(TableSchema):
    """[excitation]: excitations other than sines, described as in `Random`."""

    records: Any = Field(
        default=None,
        description="CSV or Parquet files with the columns time and acceleration, evenly sampled from t = 0; parameter record is one of "
        "their names, without folder and ending",
    )
    unit: str | None = Field(default=None, description="unit of the accelerations, such as g; default m/s^2, or what the header says")
    time: str | None = Field(default=None, description="name of the column time in the files")
    acceleration: str | None = Field(default=None, description="name of the column acceleration in the files")
    channels: Any = Field(
        default=None,
        description="of a structure: names of the columns that its loads follow by their number, channel = 0 and so on; default "
        "acceleration (force, where loads are forces)",
    )
    extend: str | None = Field(default=None, description="zero: a run may be longer than its record; the ground rests after the record")
    sha256: Any = Field(default=None, description="digests of the files, stated by a resolved study; files with other digests are refused")
    random: Random | None = Field(default=None, description="random accelerations instead of records; parameter draw is the number of one")


class SignalsTable(TableSchema):
    """[output.signals]: spectra, cycles, crossings, impacts and wear by classes of force and speed, as columns."""

    interval: Any = Field(default=None, description="time between samples of the motion in the window [s]")
    parts: Whole = Field(default=1, description="number of equal parts of the window, each with columns of its own")
    psd: Any = Field(
        default=None,
        description="channels with power spectral densities, such as x, v, a, friction_force, wall_force; of a structure x[POINT], "
        "normal_force[SUPPORT]",
    )
    cross_psd: Any = Field(default=None, description="pairs of channels with cross-spectral densities")
    segment: Whole = Field(default=1024, description="samples of a segment of a spectrum, a multiple of 4")
    overlap: Any = Field(default=0.5, description="part of a segment that the next one shares: 0, 0.5 or 0.75")
    taper: str = Field(default="hann", description="window of a segment: hann, hamming, blackman or boxcar")
    detrend: str = Field(default="constant", description="constant takes its mean from each segment; none leaves it")
    rainflow: Any = Field(
        default=None,
        description="rainflow cycles: channel = edges of classes of ranges, a list or { from, to, count, spacing }; the last class has no "
        "end",
    )
    woehler_exponent: Any = Field(
        default=None, description="exponent of a Woehler curve, for the equivalent range of rainflow cycles; default none"
    )
    cycle_rate: Any = Field(default=1.0, description="cycles per second of the equivalent range [Hz]")
    crossings: Any = Field(default=None, description="upward crossings: channel = levels, a list or { from, to, count, spacing }")
    impact_peaks: Any = Field(default=None, description="edges of classes of the largest force of an impact [N]; the last class has no end")
    impact_durations: Any = Field(default=None, description="edges of classes of the duration of an impact [s]; the last class has no end")
    kwu_epri: Any = Field(
        default=None,
        description="of a structure: the wear law KWU-EPRI at its supports, { wear_coefficient, impact_coefficient, sliding_coefficient, "
        "service_time, force_max, speed_max, hardening = 5, reference_force = 10 }, where force_max [N] and speed_max [m/s] are the upper "
        "ends of its five classes of each",
    )


class Output(TableSchema):
    """[output]: additional observables, lists over supports in place of columns with their names, the only columns, the size of shards."""

    statistics: bool | None = Field(default=None, description="true: mean, RMS, standard deviation and extremes of displacement and forces")
    multipliers: bool | None = Field(
        default=None, description="true: Floquet multipliers of the steady motion, and what they say of its stability"
    )
    support_lists: bool | None = Field(
        default=None, description="true: an observable of the supports is one column of lists instead of a column for each"
    )
    columns: Any = Field(default=None, description="names of the only observables that are computed, kept and written; default all")
    shard_points: Whole | None = Field(
        default=None, description="number of points in a file of the dataset; the default depends on the scheme"
    )
    signals: SignalsTable | None = Field(
        default=None, description="spectra, rainflow cycles, level crossings, impacts, and wear by KWU-EPRI, as columns"
    )


class Assembly(TableSchema):
    """[structure]: how a body or a structure moves, and what is observed of it."""

    basis: Any = Field(
        default=None,
        description="file of the modal basis (.npz, .json, .parquet, or a beam in .toml), or a list of files, of which the parameter basis "
        "is one, by its name without folder and ending",
    )
    modes: Any = Field(
        default=None,
        description="how many coordinates are kept, the first ones; or a list of such numbers, of which the parameter basis is one",
    )
    directions: str | None = Field(default=None, description="of a body: the directions in which it moves; default xyz")
    observed: Any = Field(default=None, description="names of points whose displacements are observed; default none, of a body its centre")
    peak_edges: Any = Field(default=None, description="bounds of classes of the largest force of an impact [N]; default none")
    modal_energies: bool | None = Field(default=None, description="true: mean energy of each coordinate, as a list")
    start: Any = Field(
        default=None, description="initial coordinates [m], those of M, K and C if the basis has them, else modal ones; default 0"
    )
    start_rate: Any = Field(default=None, description="initial velocities of the coordinates of start [m/s]; default 0")
    sha256: Any = Field(default=None, description="digests of the files, stated by a resolved study; files with other digests are refused")


class SupportTable(TableSchema):
    """[supports.NAME]: a support, with any of its parameters."""

    point: str | None = Field(default=None, description="point that it holds; default the support's name, of a body its centre")
    obstacle: str | None = Field(default=None, description="plane (default), two planes or ring")
    other: str | None = Field(default=None, description="a second point: the contact is between both; default the ground")
    normal: Any = Field(default=None, description="direction of the normal of a plane; default [1, 0, 0]")
    axis: Any = Field(default=None, description="direction of the axis of a ring; default [0, 0, 1]")
    axes: Any = Field(default=None, description="instead of normal or axis: three orthogonal directions, the normal first")
    law: str | None = Field(default=None, description="return mapping (default) or stored force")
    gap: Any = None
    k_n: Any = None
    c_n: Any = None
    mu: Any = None
    mu_s: Any = None
    mu_d: Any = None
    k_t: Any = None
    c_t: Any = None
    angle: Any = None
    centre_1: Any = None
    centre_2: Any = None
    position: Any = None


class LoadTable(TableSchema):
    """[loads.NAME]: a load, with any of its parameters."""

    kind: str | None = Field(
        default=None,
        description="base: acceleration of the ground [m/s^2]; force: at a point [N]; mode: on one coordinate [N]; default force with a "
        "point, mode with a mode, else base",
    )
    direction: Any = Field(default=None, description="of an acceleration or a force; default [1, 0, 0]")
    point: str | None = Field(default=None, description="point of a force")
    mode: Whole | None = Field(default=None, description="coordinate of a modal force, counted from 0")
    channel: Whole | None = Field(default=None, description="channel of [excitation] that it follows, counted from 0; default none")
    amplitude: Any = None
    omega: Any = None
    phase: Any = None
    constant: Any = None
    table: Any = Field(default=None, description=OF_A_FILE)
    table_time: Any = None
    table_value: Any = None
    table_scale: Any = None
    pulse: Any = None
    pulse_start: Any = None
    pulse_duration: Any = None
    pulse_amplitude: Any = None


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
OUTPUT: dict[str, type[TableSchema]] = {"output": Output, "output.signals": SignalsTable}
EXCITATION: dict[str, type[TableSchema]] = {"excitation": Excitation, "excitation.random": Random}
WINDOW = ("window_start", "window_end")
TIME_KEYS = {q.name: "window = [start, end]" if q.name in WINDOW else q.name for q in TIME}
