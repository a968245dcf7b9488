"""Branches of periodic motions: `branches`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.api.progress import shown
from tribosweep.sweep.api.running import default_directory
from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.study.builder import Study

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from tribosweep.sweep.analysis.branching.results import Branches
    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Branched:
    """Branches of periodic motions; a notebook shows them.

    Attributes:
        result: everything that was computed.
        directory: where its tables are.
    """

    result: Branches
    directory: Path

    def __repr__(self) -> str:
        """One line: how many branches along which parameter."""
        count, along = self.result.branches.num_rows, self.result.branching.along
        return f"<Branched: {count:,} {'branch' if count == 1 else 'branches'} along {along.name}>"

    def _repr_html_(self) -> str:
        return str(self.to_pandas().to_html(index=False))

    def to_pandas(self) -> pd.DataFrame:
        """One row per branch: point of the study, periods, ends, origin, range of the parameter, counts of special points."""
        frame: pd.DataFrame = self.result.branches.to_pandas()
        return frame

    def points(self) -> pd.DataFrame:
        """One row per point of a branch, in their order: parameter, special, stable, multipliers, section point, observables."""
        frame: pd.DataFrame = self.result.points.to_pandas()
        return frame

    def curves(self) -> pd.DataFrame:
        """One row per point of a curve of special points: kind, both parameters, multipliers, section point, observables.

        Raises:
            ValueError: the study asks for no curves.
        """
        if self.result.curves is None:
            raise ValueError(
                'the study asks for no curves: branches.curves names a second parameter, such as {"gap": {"from": 0.3, "to": 0.8}}'
            )
        frame: pd.DataFrame = self.result.curves.to_pandas()
        return frame

    def backbone(self) -> pd.DataFrame:
        """One row per free motion without damping and friction, in order of the energy, with the `point` of the study and its axes.

        Columns: `energy` above that at rest [J], `omega` [rad/s], `x_max` and `x_min` [m], `v_max` [m/s], and of a stop
        `max_compression` [m] and `peak_force` [N]. Closed form: see `tribosweep.kernels.branches.backbone`.

        Raises:
            ValueError: the study asks for no backbone.
        """
        if self.result.backbone is None:
            raise ValueError("the study asks for no backbone: branches.backbone = true, of branches along omega")
        frame: pd.DataFrame = self.result.backbone.to_pandas()
        return frame

    def plot(self, out: str | os.PathLike[str] | None = None, observable: str | None = None) -> Picture:
        """Draw an observable over the parameter, and curves in the plane of both; needs `tribosweep[plot]`."""
        from tribosweep.sweep.plots.branches import draw

        return draw(self.result, None if out is None else Path(out), observable)

    def report(self, out: str | os.PathLike[str] | None = None, color: str | None = None, log: bool = False) -> Path:
        """Write the branches as one file to pass on: summary, pictures to read, curves, tables, study; needs `tribosweep[report]`.

        Args:
            out: .html or .pdf file; default `report.html` in the directory of the branches. color: observable shown first; default x_max.
            log: whether it is shown over its logarithm.

        Returns:
            The path of the file.

        Raises:
            ConfigError: there is no such observable, `out` ends in neither .html nor .pdf, or no browser prints a PDF.
        """
        from tribosweep.sweep.report import branches as content
        from tribosweep.sweep.report import paper

        file = self.directory / "report.html" if out is None else Path(out)
        with in_python():
            write = paper.prepare(file)
            write(content.read_branches(self.directory, color, log))
        return file


def branches(
    config: Study | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[int, int], None] | bool | None = None,
) -> Branched:
    """Follow periodic motions in a parameter, stable or not, as `tribosweep branches` does.

    Args:
        config: a study with a section [branches]: path of a TOML file, the name of a shipped one, nested dicts, or a `Study` with
            `sections={"branches": ...}`.
        out: directory of the result; default runs/<study name>. Blocks of points that are there already are kept.
        overrides: "path=value" texts that replace keys.
        progress: called with (points done, points); True for a bar, False for none; default: a bar in notebooks.

    Returns:
        The branches. Their tables are in `out` as well.

    Raises:
        ConfigError: the study is wrong, or `out` holds a run, branches of another study, or other files.
        OSError: `out` cannot be written.

    Examples:
        >>> along = {"a0": {"from": 0.2, "to": 1.2}}
        >>> oscillator = Study(model="stop", name="grazing", k=1.0, c=0.1, k_n=100.0, c_n=0.2, omega=1.7, gap=0.5,
        ...                    sections={"branches": {"along": along, "places": 1}})
        >>> found = branches(oscillator)
        >>> touches = float(found.points().query("special == 'grazing'")["a0"].iloc[0])
        >>> round(touches, 9), round(0.5 * abs(1.0 - 1.7**2 + 0.1j * 1.7), 9)  # where the linear response reaches the stop
        (0.94881505, 0.94881505)
    """
    from tribosweep.sweep.analysis.branching import analysis, load

    with in_python():
        found = load.load(config.document if isinstance(config, Study) else config, overrides)
        directory = default_directory(found.config) if out is None else Path(out)
        with shown(progress, "points") as update:
            result = analysis.carry_out(found, directory, update)
    return Branched(result, directory)
