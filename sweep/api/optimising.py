"""Parameters for a purpose: `optimise`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.api.progress import shown
from tribosweep.sweep.api.running import default_directory
from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.study.builder import Study
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from tribosweep.sweep.analysis.optimisation.results import OptimisationResult
    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Optimised:
    """The result of an optimisation; a notebook shows it.

    Attributes:
        result: everything that was computed.
        directory: where its tables and the study at the optimum are.
    """

    result: OptimisationResult
    directory: Path

    def __repr__(self) -> str:
        """One line: the objective and the variables; of a front, those of its end with the best first objective."""
        from tribosweep.sweep.analysis.optimisation.results import value_and_unit

        objective = self.result.optimisation.objectives[0]
        values = ", ".join(f"{free.name} = {value:.6g} {free.unit}".removesuffix(" 1")
                           for free, value in zip(self.result.optimisation.space.frees, self.result.best_values, strict=True))  # fmt: skip
        state = "" if self.result.kept else "; constraints are violated"
        front = f"front of {counted(len(self.result.front), 'point')}; the best " if self.result.front else ""
        return f"<Optimised: {front}{objective} = {value_and_unit(self.value, objective.measure)} at {values}{state}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.results.html import said

        best = self.to_pandas().query("optimum == 0")[["variable", "unit", "value", "lower", "upper"]]
        return "\n".join([best.to_html(index=False), *(f"<div>{said(note)}</div>" for note in self.notes)])

    @property
    def variables(self) -> dict[str, float]:
        """Variable -> its best value, SI units; of a front, at the end with the best first objective."""
        return dict(zip(self.result.optimisation.space.names, self.result.best_values.tolist(), strict=True))

    @property
    def value(self) -> float:
        """The first objective there, SI units; of a front, at the end where it is best."""
        return float(self.result.optima[0].candidate.functions.measures[0])

    @property
    def kept(self) -> bool:
        """Whether all constraints are kept."""
        return self.result.kept

    @property
    def converged(self) -> bool:
        """Whether the optimality conditions hold too."""
        return self.result.converged

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader, the most serious first."""
        return list(self.result.notes)

    @property
    def optimised(self) -> Config:
        """The study at the optimum, with the rows of [sweep] as its points; `tribosweep.run` runs it."""
        return self.result.optimised()

    def to_pandas(self) -> pd.DataFrame:
        """One row per optimum and variable, the best optimum first."""
        return self._frame("optima.parquet")

    def constraints(self) -> pd.DataFrame:
        """One row per optimum and constraint: value, limit, slack, active, multiplier, sensitivity (d objective / d limit) ..."""
        return self._frame("constraints.parquet")

    def history(self) -> pd.DataFrame:
        """One row per computed point: search, variables, objectives, constraints, excess (largest violation), kept."""
        return self._frame("history.parquet")

    def front(self) -> pd.DataFrame:
        """One row per point of the Pareto front: objectives, constraints, variables, trade_off (its slope).

        Raises:
            ConfigError: there is one objective, or no point keeps the constraints.
        """
        if not self.result.front:
            raise ConfigError("front", [Problem("", "there is none: it needs two objectives, and a point that keeps the constraints")])
        return self._frame("front.parquet")

    def _frame(self, table: str) -> pd.DataFrame:
        from tribosweep.sweep.analysis.optimisation.results import to_arrow

        frame: pd.DataFrame = to_arrow(self.result)[table].to_pandas()
        return frame

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the searches, or the front of two objectives; needs `tribosweep[plot]`."""
        from tribosweep.sweep.plots.optimisation import draw

        return draw(self.result, None if out is None else Path(out))

    def plot_landscape(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the objective and the limits over two variables; needs `tribosweep[plot]`.

        Raises:
            ConfigError: the optimisation was made without `landscape`.
        """
        from tribosweep.sweep.plots.optimisation import draw_slice

        if self.result.slice is None:
            raise ConfigError("plot_landscape", [Problem("", "there is none: optimise(..., landscape=True)")])
        return draw_slice(self.result, None if out is None else Path(out))


def optimise(
    config: Study | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[int, int], None] | bool | None = None,
    *,
    landscape: bool | tuple[str, str] = False,
) -> Optimised:
    """Choose parameters so that an observable is least or greatest while others keep their limits, as `tribosweep optimise` does.

    After an interruption the same call goes on, with the same numbers, unless the study has a law of another package.

    Args:
        config: a study with a section [optimise]: path of a TOML file, the name of a shipped one, nested dicts, or a `Study` with
            `sections={"optimise": ...}`.
        out: directory of the result; default runs/<study name>.
        overrides: "path=value" texts that replace keys.
        progress: called with (searches done, searches); True for a bar, False for none; default: a bar in notebooks.
        landscape: whether objective and constraints over two variables are computed too, or which two; default the first two.

    Returns:
        The result. Its tables and the study at the optimum are in `out` as well.

    Raises:
        ConfigError: the optimisation is wrong, no start has results, or `out` holds other results or is being written by another process.
        OSError: `out` cannot be written.

    Examples:
        >>> goal = {"maximise": "wear_energy", "constraints": ["slip_distance <= 50 cm"], "variables": {"mu": {"from": 0.1, "to": 0.9}}}
        >>> best = optimise(Study(name="brake", v0=2.0, g=9.81, end=3.0, sections={"optimise": {**goal, "starts": 2}}))
        >>> round(best.variables["mu"], 6), round(2.0**2 / (2.0 * 9.81 * 0.5), 6)  # v0^2 / (2 g slip_distance)
        (0.407747, 0.407747)
    """
    from tribosweep.sweep.analysis.optimisation import analysis, load, results
    from tribosweep.sweep.execution.directory import OPTIMISED, hold_apart

    with in_python():
        found = load.load(config.document if isinstance(config, Study) else config, overrides)
        pair = landscape if isinstance(landscape, tuple) else ()
        request = results.OptimisationRequest(landscape=bool(landscape), slice=pair)
        directory = default_directory(found.config) if out is None else Path(out)
        analysis.check(request, found)
        with hold_apart(directory, OPTIMISED):
            with shown(progress, "searches") as update:
                result = analysis.carry_out(found, request, update, analysis.answers_for(found, directory))
            results.write(result, directory)
    return Optimised(result, directory)
