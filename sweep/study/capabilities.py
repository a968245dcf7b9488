"""What a study asks for besides its parameters, and what does not go together with it: steady windows, float32, outputs, commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tribosweep.kernels.models import Model
from tribosweep.kernels.models import limits as kernels_limits
from tribosweep.kernels.models.features import DRIVES, VARIED
from tribosweep.kernels.models.limits import Conflict, Limit, conflicts, is_oscillator, is_structure
from tribosweep.kernels.models.links import LINKS
from tribosweep.kernels.models.outputs import BLOCKS, MULTIPLIERS, OBSERVED, STATISTICS, Asked
from tribosweep.kernels.models.presliding import PRESLIDING
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import DOUBLE, EXACT, PAIR, SCHEMES, SINGLE, STEADY
from tribosweep.sweep.design.boundary import Boundary
from tribosweep.sweep.design.designs import Adaptive, Design
from tribosweep.sweep.design.refinement import Convergence, refined_by
from tribosweep.sweep.io.errors import Problem, advise, shorten
from tribosweep.sweep.study.schema import OBSERVABLES, Document

KEYS_OF_ASKED = {BLOCKS: "time.blocks", STATISTICS: "output.statistics", MULTIPLIERS: "output.multipliers"}
SIGNALS, BOUNDARY, CONVERGENCE = "signals", "boundary", "convergence"
EVENTS, IMPACTS, FLOOR, TRACE = "event log", "impacts", "floor spectrum", "trace"
DERIVATIVES, CALIBRATION, OPTIMISATION, BRANCHES, BASINS = "derivatives", "calibration", "optimisation", "branches", "basins"
FIXED_STEP = tuple(name for name, scheme in SCHEMES.items() if scheme.fixed_step)
NAMES_OF_LINKS = (*(quantity.name for law in LINKS.values() for quantity in law), "maxwell_exponent")


def by_its_scheme(_model: Model, scheme: str) -> str:
    """The scheme of the study."""
    return scheme


def by_exact(model: Model, scheme: str) -> str:
    """The scheme exact, whatever the study says, for oscillators with one coordinate."""
    return EXACT if model.structure is None else scheme


@dataclass(frozen=True, slots=True)
class Use:
    """Something that a study, or a command that reads it, may ask for.

    Attributes:
        about: what it is. key: where it is asked for, which messages name.
        stated: how sentences name it. remedy: what to do instead; may be empty.
        alone: whether it is a design or a command, of which a study has one.
        implies: further uses that it has; the limits of a command stand in for theirs.
        engine: (model, scheme of the study) -> the scheme that carries it out.
    """

    about: str
    key: str
    stated: str
    remedy: str = "leave it out"
    alone: bool = False
    implies: tuple[str, ...] = ()
    engine: Callable[[Model, str], str] = by_its_scheme


_OF_STUDIES = {
    STEADY: Use("observables of one period of the steady motion", "time.window", f'time.window = "{STEADY}"',
                "give the window as [start, end] in s"),
    MULTIPLIERS: Use("Floquet multipliers of the steady motion", "output.multipliers", "output.multipliers", implies=(STEADY,)),
    SINGLE: Use("numbers of 7 digits", "study.precision", SINGLE, "leave precision out"),
    BLOCKS: Use("block means of the wear power", "time.blocks", "time.blocks"),
    STATISTICS: Use("mean, RMS and extremes of displacement and forces", "output.statistics", "output.statistics"),
    SIGNALS: Use("spectra, cycles, crossings and classes of impacts", "output.signals", "output.signals"),
}  # fmt: skip
_CHOOSE = f"choose one of them: {', '.join(FIXED_STEP)}"
_ALONE = {
    BOUNDARY: Use("design boundary: curves in a plane of parameters", "sweep.design", "a boundary study"),
    CONVERGENCE: Use("design convergence: finer and finer steps", "sweep.design", "a convergence study"),
    EVENTS: Use("tribosweep events: every event of a run", "study.model", "an event log", "", engine=by_exact),
    IMPACTS: Use("tribosweep events --impacts: every impact of a run", "study.model", "a list of impacts", "", engine=by_exact),
    FLOOR: Use("tribosweep spectrum --point: what stands on the mass", "study.model", "a floor spectrum", "", engine=by_exact),
    TRACE: Use("tribosweep trace: motion and forces in time", "study.model", "a trace", "", engine=by_exact),
    DERIVATIVES: Use("tribosweep sensitivity --derivatives: exact derivatives of a sample", "--derivatives", "--derivatives"),
    CALIBRATION: Use("tribosweep calibrate: parameters from measurements", "study.scheme", "a calibration", _CHOOSE),
    OPTIMISATION: Use("tribosweep optimise: parameters that are best", "study.scheme", "an optimisation", _CHOOSE),
    BRANCHES: Use("tribosweep branches: motions followed in a parameter", "study.scheme", "a study of branches", implies=(STEADY,)),
    BASINS: Use("tribosweep basins: which motion a start leads to", "study.scheme", "a study of basins"),
}
USES: Mapping[str, Use] = {**_OF_STUDIES, **{name: replace(use, alone=True) for name, use in _ALONE.items()}}

NO_DERIVATIVES = f"follows the derivatives of {EXACT!r}, or of the steps taken where they are fixed ({', '.join(FIXED_STEP)})"
_OF_BRANCHES = {  # reasons of steady windows that are others for branches, whose motions need not be reached
    "is not available for the model {model}": "is of periodic motions, and {model} has none",
    kernels_limits.READS_NO_END: "is of motions that repeat, wherever they begin, and reads no end",
}
LIMITS = (
    *kernels_limits.LIMITS,
    Limit(SIGNALS, "needs a window [start, end] in s, of a fixed number of samples", uses=(STEADY,)),
    Limit(SIGNALS, f"is computed in {DOUBLE}", uses=(SINGLE,)),
    Limit(SIGNALS, "is of designs whose points are known: run a grid or a sample with it", uses=(BOUNDARY, CONVERGENCE)),
    Limit(CONVERGENCE, "has neither step nor tolerance to refine", schemes=tuple(name for name in SCHEMES if not refined_by(name))),
    Limit(EVENTS, "is of oscillators: of a {model} there are its impacts (--impacts) and tribosweep trace", models=is_structure),
    Limit(IMPACTS, "is of a wall, and {model} has none", models=lambda model: is_oscillator(model) and not model.walls),
    Limit(FLOOR, "is of oscillators: of a {model} psd of x_acceleration[POINT] in [output.signals] is one relative to the ground",
          models=is_structure),
    Limit(FLOOR, "is of one body", parameters=PAIR),
    *(Limit(use, "is of runs over a window [start, end], from t = 0 on", uses=(STEADY,)) for use in (EVENTS, IMPACTS, FLOOR)),
    *(
        Limit(use, f"follows derivatives, which are {DOUBLE}", uses=(SINGLE,)) for use in (CALIBRATION, OPTIMISATION)
    ),
    *(
        Limit(use, NO_DERIVATIVES, schemes=tuple(name for name in kernels_limits.TIME_SCHEMES if name not in FIXED_STEP))
        for use in (CALIBRATION, OPTIMISATION)
    ),
    *(
        replace(limit, use=BRANCHES, reason=_OF_BRANCHES.get(limit.reason, limit.reason))
        for limit in kernels_limits.LIMITS
        if limit.use == STEADY
    ),
    Limit(BRANCHES, f"follows derivatives, which are {DOUBLE}", uses=(SINGLE,)),
    Limit(BRANCHES, "is of friction with constant coefficients",
          parameters=(*PRESLIDING, *(name for name in VARIED if name.startswith("stribeck")))),
    Limit(BRANCHES, "is of a linear spring and a linear damper", parameters=NAMES_OF_LINKS),
    *(
        Limit(use, "is of walls that do not buckle, for one that does remembers", models=of, parameters=parameters)
        for use in (BRANCHES, BASINS)
        for of, parameters in ((kernels_limits.always_buckles, ()), (is_oscillator, kernels_limits.BUCKLING))
    ),
    Limit(BASINS, "is of steady motions, and {model} has none", models=lambda model: not model.steady),
    Limit(BASINS, f"is of the scheme {EXACT!r}", schemes=kernels_limits.TIME_SCHEMES),
    Limit(BASINS, "is of starts that settle by themselves: give end in s, long enough for most", uses=(STEADY,)),
    Limit(BASINS, "is of steady motions under one sine, with constant friction", parameters=(*DRIVES, *VARIED)),
)  # fmt: skip


def found_of(use: str, model: Model, schemes: Sequence[str], given: Mapping[str, str], uses: Sequence[str]) -> list[Conflict]:
    """The limits of a use that apply to rows; see `conflicts`."""
    return conflicts(LIMITS, use, model, schemes, given, uses)


def problems_of(use: str, model: Model, schemes: Sequence[str], paths: Mapping[str, str], uses: Sequence[str] = ()) -> list[Problem]:
    """The problems of a use: at the parameters that it excludes, or at its own key.

    Args:
        use: what is asked for. model: of the study. schemes: of its rows. paths: parameter -> the key that gives it.
        uses: everything that the study asks for.
    """
    about, problems = USES[use], list[Problem]()
    stated = {other: USES[name].stated for name in uses for other in USES[name].implies if USES[name].alone}  # a command stands for them
    short = f'"{STEADY}" ' if use == STEADY else "" if about.stated == about.key else f"{about.stated} "
    for each in found_of(use, model, schemes, paths, uses):
        if each.parameters:
            problems += [Problem(paths[name], f"{about.stated} {each.reason}: leave {key_in(paths[name])} out") for name in each.parameters]
        elif each.uses and about.alone:  # a command: what the study asks for is to blame
            problems += [Problem(USES[name].key, f"{about.stated} {each.reason}: {USES[name].remedy}") for name in each.uses]
        else:
            other = f", not {' and '.join(stated.get(name, USES[name].stated) for name in each.uses)}" if each.uses else ""
            of_model = about.alone and not each.schemes
            key = "study.model" if of_model else paths.get("scheme", about.key) if about.key == "study.scheme" else about.key
            remedy = f": {about.remedy}" if about.remedy and not of_model else ""
            problems.append(Problem(key, f"{short}{each.reason}{each.detail}{other}{remedy}"))
    return list(dict.fromkeys(problems))


def check_derivatives(study: Mapping[str, Any], model: Model, problems: list[Problem], use: str) -> None:
    """Add the problems of a study that has no derivatives which the `use` can follow."""
    head = study.get("study", {})
    scheme = [head["scheme"]] if isinstance(head.get("scheme"), str) else []
    problems += problems_of(use, model, scheme, {}, [SINGLE] if head.get("precision", DOUBLE) == SINGLE else [])


def key_in(path: str) -> str:
    """The key at the end of a path: "a0" of sweep.axes.a0, "window" of time.window[0]."""
    return path.rpartition(".")[2].partition("[")[0] or path


def uses_of(window: str | None, precision: str, asked: Asked, design: Design, signals: bool) -> tuple[str, ...]:
    """Everything that a study asks for."""
    there = {
        STEADY: window == STEADY,
        SINGLE: precision == SINGLE,
        **{name: name in asked.names for name in KEYS_OF_ASKED},
        SIGNALS: signals,
        BOUNDARY: isinstance(design, Boundary),
        CONVERGENCE: isinstance(design, Convergence),
    }
    return tuple(name for name, is_there in there.items() if is_there)


def check_uses(model: Model, schemes: Sequence[str], paths: Mapping[str, str], uses: Sequence[str], problems: list[Problem]) -> None:
    """Add the problems of everything that a study asks for; what a command among `uses` implies is looked at as that command."""
    known = [] if any(problem.path == "study.scheme" for problem in problems) else schemes
    implied = {other for use in uses if USES[use].alone for other in USES[use].implies}
    for use in (use for use in uses if use not in implied):
        if use == SINGLE:
            problems += precision_problems(model, known, paths, uses)
        elif use != CONVERGENCE:  # whose design looks at each scheme
            problems += problems_of(use, model, known, paths, uses)


def precision_problems(model: Model, schemes: Sequence[str], paths: Mapping[str, str], uses: Sequence[str]) -> list[Problem]:
    """The problems of float32: its own key is to blame, one message for each reason names all that it excludes."""
    named: dict[str, list[str]] = {}
    for each in found_of(SINGLE, model, schemes, paths, uses):
        what = [f"model {model.name!r}"] * (not each.parameters and not each.uses)
        what += [paths[name] for name in each.parameters] + [USES[name].key for name in each.uses]
        named.setdefault(each.limit.reason, []).extend(what)
    remedy = USES[SINGLE].remedy
    return [Problem(USES[SINGLE].key, f"{SINGLE} {why}; here {', '.join(what)}: {remedy}") for why, what in named.items()]


def check_precision(precision: str, problems: list[Problem]) -> None:
    """Add a problem of a precision that there is not."""
    if precision not in (DOUBLE, SINGLE):
        problems.append(Problem("study.precision", f"{precision!r} is not a precision; {advise(precision, (DOUBLE, SINGLE))}"))


def check_columns(asked: Asked, returned: Sequence[Quantity], design: Design, model: Model, problems: list[Problem]) -> None:
    """Add problems of [output] columns: names of no observable that the study returns (`returned`), and designs that read observables."""
    if not asked.columns:
        return
    known = by_name(tuple(returned))
    for place, name in enumerate(asked.columns):
        path, others = f"output.columns[{place}]", {quantity.name for quantity in model.observables}
        if name in asked.columns[:place]:
            problems.append(Problem(path, f"{name!r} is named twice"))
        elif name in others and name not in known:
            problems.append(Problem(path, f"the study does not compute {name!r}: `tribosweep list observables` says what it needs"))
        elif name not in known:
            problems.append(Problem(path, f"unknown observable {name!r}; {advise(name, known, OBSERVABLES)}"))
    if isinstance(design, Adaptive):
        problems.append(Problem("output.columns", "the points of this design follow from observables: leave columns out"))


def check_asked(document: Document, model: Model, problems: list[Problem]) -> Asked:
    """Read the block means, the statistics and the columns that the study requests."""
    columns = document.output.columns
    right = columns is None or (isinstance(columns, list) and bool(columns) and all(isinstance(name, str) for name in columns))
    if not right:
        message = f"must be a list of names of observables, not {shorten(columns)}; without it all are computed"
        problems.append(Problem("output.columns", message))
    output = document.output
    asked = Asked(document.time.blocks or 0, bool(output.statistics), tuple(columns or ()) if right else (), bool(output.multipliers))
    if document.time.blocks is not None and not 2 <= document.time.blocks <= OBSERVED:
        message = f"{document.time.blocks} is out of bounds: must be a whole number from 2 to {OBSERVED} (equal blocks of the window)"
        problems.append(Problem("time.blocks", message))
    if model.structure is None and document.output.support_lists is not None:
        problems.append(Problem("output.support_lists", f"{model.name} has no supports with names"))
    return asked
