"""Gathering the points of a bifurcation diagram from the rows of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.quantity import Quantity, by_name
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.sweep.analyses.bifurcation.result import APERIODIC, Bifurcation
from tribosweep.sweep.analysis.run_rows import KINDS, fixed_parameters, have_results, varies
from tribosweep.sweep.analysis.run_state import model_of, state_of
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

STARTS = ("x0", "v0")  # several starts show steady motions that coexist


def read_bifurcation(path: Path, x: str | None = None, y: str = "poincare_x") -> Bifurcation:
    """Gather the points of a run.

    Args:
        path: directory of the run, complete or not.
        x: the varied parameter; optional if the run varies only one parameter besides the initial displacement and velocity.
        y: `poincare_x`, `poincare_v`, or any observable that is a number.

    Raises:
        ConfigError: there is no run or it has no rows; it has no steady window; `x` is not varied, or other parameters vary as well; or
            `y` is no numeric observable or has no value in any row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    state, document = state_of(path), RunDirectory(path).read_document()
    if document.get("time", {}).get("window") != STEADY:
        message = f'a bifurcation diagram shows steady motions: the run needs [time] window = "{STEADY}"'
        raise ConfigError(str(path), [Problem("time.window", message)])
    if not state["points_done"]:
        raise ConfigError(str(path), [Problem("", "no shard is written yet: nothing to draw")])
    model, fixed = model_of(path), fixed_parameters(document)
    dataset = Dataset(path)
    parameters = by_name(model.parameters)
    swept = [name for name in dataset.names if name in parameters and name not in fixed]
    problems: list[Problem] = []
    drawn = choose_observable(model, dataset.names, y, problems)
    table = dataset.table([*swept, "period", "status", *([drawn.name] if drawn else [])])
    varying = [name for name in swept if varies(table.column(name))]
    fixed |= {name: table.column(name)[0].as_py() for name in swept if name not in varying and table.column(name).null_count == 0}
    axis = choose_parameter(varying, parameters, x, problems)
    if axis and not np.isfinite(table.column(axis.name).to_numpy()).all():
        problems.append(Problem(f"axis {axis.name}", "some rows hold no finite number of it (left at its default, or NaN)"))
    if problems or axis is None or drawn is None:
        raise ConfigError(str(path), problems)
    good = have_results(table.column("status"))
    column = table.column(drawn.name).combine_chunks()
    at = np.arange(table.num_rows)
    if drawn.kind == "list":
        at, column = pc.list_parent_indices(column).to_numpy(zero_copy_only=False), pc.list_flatten(column)
    values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    seen = good[at] & np.isfinite(values)
    if not seen.any():
        raise ConfigError(str(path), [Problem("--y", f"{drawn.name} has no value in any row; the column `status` says why")])
    periods = table.column("period").fill_null(APERIODIC).to_numpy()
    failed = int(np.count_nonzero(~good))
    notes = [f"The run is not complete: {table.num_rows:,} of {state['points']:,} points are drawn."] * (table.num_rows < state["points"])
    notes += [f"{failed:,} of {table.num_rows:,} rows failed and are not drawn; their column `status` says why."] * (failed > 0)
    return Bifurcation(
        study=state["study"], model=model, x=axis, y=drawn, x_values=table.column(axis.name).to_numpy()[at[seen]], y_values=values[seen],
        periods=periods[at[seen]], fixed=fixed, failed=failed, rows=table.num_rows, points=state["points"],
        notes=notes,
    )  # fmt: skip


def choose_parameter(varying: list[str], parameters: Mapping[str, Quantity], x: str | None, problems: list[Problem]) -> Quantity | None:
    """Choose the parameter of the x axis; add a problem if its name is wrong or if parameters other than it and STARTS vary."""
    numeric = [name for name in varying if parameters[name].kind not in KINDS]
    listed = ", ".join(varying) or "nothing"
    chosen = x if x is not None else next((name for name in [*[n for n in numeric if n not in STARTS], *numeric]), None)
    if chosen is None:
        problems.append(Problem("", f"a bifurcation diagram needs a parameter that varies; this run varies {listed}"))
        return None
    if chosen not in numeric:
        what = "holds no numbers" if chosen in varying else "is the same in every row" if chosen in parameters else "is no parameter"
        problems.append(Problem("--x", f"{chosen!r} {what}; {advise(chosen, numeric)}"))
        return None
    others = [name for name in varying if name != chosen and name not in STARTS]
    if others:
        advice = f"give {', '.join(others)} one value, for instance with --set, in a run of its own" if x else "a diagram is over one"
        problems.append(Problem("" if x is None else "--x", f"this run varies {listed} ({', '.join(STARTS)} may vary beside it): {advice}"))
        return None
    return parameters[chosen]


def choose_observable(model: Model, given: Sequence[str], y: str, problems: list[Problem]) -> Quantity | None:
    """Choose the observable of the y axis; add a problem if a run with the columns `given` has no such numeric observable."""
    observables = {q.name: q for q in model.returns(STEADY, given) if q.kind != "word"}
    if y not in observables:
        known = by_name(model.observables).get(y)
        what = "is no observable" if known is None else "holds words" if known.kind == "word" else "is no column of this run"
        problems.append(Problem("--y", f"{y!r} {what}; {advise(y, observables)}"))
    return observables.get(y)


def known_bifurcations(drawn: Bifurcation) -> dict[str, float]:
    """Values of a0 [m/s^2] where the period-1 motion of a ball bouncing on a rigid table begins and where its period doubles.

    Empty if the run is not of that case. Source: `tribosweep.kernels.reference.bouncing_ball`.
    """
    from tribosweep.kernels.reference import bouncing_ball
    from tribosweep.kernels.reference.closed_forms import damped_impact

    if drawn.model.name != "stop" or drawn.x.name != "a0":
        return {}

    def of(name: str) -> float:
        quantity = drawn.model.parameter(name)
        return float(drawn.fixed.get(name, 0.0 if quantity.default is None else quantity.default))

    free = all(of(name) == 0.0 for name in ("k", "c", "f0", "gap", "mu", "mu_s", "normal_force"))
    if not free or of("load") <= 0.0 or of("sides") != 1.0:
        return {}
    if not 0.0 < of("c_n") < 2.0 * math.sqrt(of("k_n") * of("m")):
        return {}
    (_, e), weight = damped_impact(of("m"), of("k_n"), of("c_n")), of("load") / of("m")
    lines = {"begins": bouncing_ball.period_one_begins(e), "doubles": bouncing_ball.period_one_doubles(e)}
    return {f"period 1 {name} (rigid table)": gamma * weight for name, gamma in lines.items()}
