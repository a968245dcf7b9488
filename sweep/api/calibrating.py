"""Parameters from measurements: `calibrate`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tribosweep.sweep.api.progress import shown
from tribosweep.sweep.api.running import default_directory
from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.study.builder import Study
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    import pandas as pd

    from tribosweep.sweep.analysis.calibration.posterior.draws import Draws
    from tribosweep.sweep.analysis.calibration.results import CalibrationResult
    from tribosweep.sweep.results.picture import Picture


@dataclass(frozen=True, slots=True, repr=False)
class Calibrated:
    """The result of a calibration; a notebook shows it.

    Attributes:
        result: everything that was computed.
        directory: where its tables and the fitted study are.
    """

    result: CalibrationResult
    directory: Path

    def __repr__(self) -> str:
        """One line: the fitted values with their standard deviations."""
        best = self.to_pandas().query("optimum == 0")
        told = [f"{row.parameter} = {row.value:.6g} +- {row.std:.2g} {row.unit}".rstrip(" 1") for row in best.itertuples()]
        state = "" if self.converged else ", not converged"
        return f"<Calibrated: {'; '.join(told)}{state}>"

    def _repr_html_(self) -> str:
        from tribosweep.sweep.results.html import said

        best = self.to_pandas().query("optimum == 0")[["parameter", "unit", "value", "std", "low", "high"]]
        return "\n".join([best.to_html(index=False), *(f"<div>{said(note)}</div>" for note in self.notes)])

    @property
    def parameters(self) -> dict[str, float]:
        """Parameter -> its fitted value, SI units."""
        return dict(zip(self.result.space.names, self.result.estimates.tolist(), strict=True))

    @property
    def converged(self) -> bool:
        """Whether the best fit converged."""
        return self.result.converged

    @property
    def notes(self) -> list[str]:
        """Sentences for the reader, the most serious first."""
        drawn = [] if self.result.posterior is None else self.result.posterior.facts["notes"]
        return [*self.result.notes, *drawn]

    @property
    def fitted(self) -> Config:
        """The study at the fitted values, with the tests as its points; `tribosweep.run` runs it."""
        return self.result.fitted()

    def to_pandas(self) -> pd.DataFrame:
        """One row per optimum and parameter, the best optimum first.

        Returns:
            optimum, fits, chi2, parameter, unit, value, std, low and high (the interval), told (whether the data determine it), ...
        """
        return self._frame("calibration.parquet")

    def residuals(self) -> pd.DataFrame:
        """One row per measured number: run, time [s], observable, unit, measured, std, fitted, residual (over the standard deviation)."""
        return self._frame("residuals.parquet")

    @property
    def draws(self) -> Draws:
        """The draws of the posterior: names, units, values, chain, draw, log_density, and `facts` with notes.

        Raises:
            ConfigError: the calibration was made without `posterior`.
        """
        if self.result.posterior is None:
            raise ConfigError("draws", [Problem("", 'there are none: calibrate(..., posterior="nuts")')])
        return self.result.posterior

    def posterior(self) -> pd.DataFrame:
        """One row per draw: chain, draw, the parameters in SI units, log_density. Errors as `draws`."""
        from tribosweep.sweep.analysis.calibration.posterior.draws import to_arrow

        frame: pd.DataFrame = to_arrow(self.draws).to_pandas()
        return frame

    def posterior_summary(self) -> pd.DataFrame:
        """One row per sampled number: parameter, unit, mean, std, median, low and high (the interval), rhat, ess_bulk, ess_tail, prior."""
        import pandas as pd

        return pd.DataFrame(self.draws.facts["summary"])

    def to_arviz(self) -> Any:
        """The draws as xarray's DataTree (before ArviZ 1, as InferenceData); needs `tribosweep[posterior]`."""
        from tribosweep.sweep.analysis.calibration.posterior.diagnostics import inference_data

        return inference_data(self.draws)

    def plot_traces(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the chains of the posterior and their densities; needs `tribosweep[plot,posterior]`."""
        from tribosweep.sweep.plots.posterior import draw_traces

        return draw_traces(self.draws, None if out is None else Path(out))

    def plot_pairs(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw every two parameters of the posterior; needs `tribosweep[plot,posterior]`."""
        from tribosweep.sweep.plots.posterior import draw_pairs

        return draw_pairs(self.draws, None if out is None else Path(out))

    def _frame(self, table: str) -> pd.DataFrame:
        from tribosweep.sweep.analysis.calibration.results import to_arrow

        frame: pd.DataFrame = to_arrow(self.result)[table].to_pandas()
        return frame

    def plot(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw what was measured over what is fitted, with the residuals; needs `tribosweep[plot]`."""
        from tribosweep.sweep.plots.calibration import draw_fit

        return draw_fit(self.result, None if out is None else Path(out))

    def plot_landscape(self, out: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the loss over two parameters; needs `tribosweep[plot]`.

        Raises:
            ConfigError: the calibration was made without `landscape`.
        """
        from tribosweep.sweep.plots.calibration import draw_landscapes

        if not self.result.landscapes:
            raise ConfigError("plot_landscape", [Problem("", "there is none: calibrate(..., landscape=True)")])
        return draw_landscapes(self.result, None if out is None else Path(out))


def with_draws(
    result: CalibrationResult, method: str, progress: Callable[[int, int], None] | bool | None, directory: Path
) -> CalibrationResult:
    """The result with draws of the posterior by one of the methods; what goes on is kept in the directory until it ends."""
    from tribosweep.sweep.analysis.calibration.posterior.analysis import sample

    with shown(progress, "draws") as update:
        return replace(result, posterior=sample(result, method, update, directory))


def check_method(method: str) -> None:
    """Refuse a method that is none or of which a package is missing, before fits take their time."""
    from tribosweep.sweep.analysis.calibration.posterior.analysis import METHODS, check_packages

    if method not in METHODS:
        raise ConfigError("calibrate", [Problem("posterior", f"{method!r} is no sampler; {advise(str(method), list(METHODS))}")])
    check_packages(method)


def calibrate(
    config: Study | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[int, int], None] | bool | None = None,
    *,
    profiles: Sequence[str] = (),
    landscape: bool | tuple[str, str] = False,
    posterior: Literal["nuts", "smc"] | None = None,
) -> Calibrated:
    """Fit parameters to measurements, as `tribosweep calibrate` does; needs `tribosweep[calibration]`.

    After an interruption the same call computes the fits again; sampling of the posterior goes on, with the same draws, by "nuts" unless
    the study has a law of another package.

    Args:
        config: a study with a section [calibration]: path of a TOML file, the name of a shipped one, nested dicts, or a `Study` with
            `sections={"calibration": ...}`.
        out: directory of the result; default runs/<study name>.
        overrides: "path=value" texts that replace keys.
        progress: called with (fits done, fits); True for a bar, False for none; default: a bar in notebooks.
        profiles: parameters whose profile likelihood is computed too.
        landscape: whether the loss over two parameters is computed too, or which two; default the two that the data separate worst.
        posterior: "nuts" or "smc" draws samples of the posterior too, as [calibration.posterior] says; needs `tribosweep[posterior]`.
            Then `progress` counts draws after the fits.

    Returns:
        The result. Its tables and the fitted study are in `out` as well.

    Raises:
        ConfigError: the calibration is wrong, all fits failed at their start, or `out` holds other results or is being written by
            another process.
        OSError: `out` cannot be written.

    Examples:
        >>> power = simulate("rubbing_mass", {"a0": [5.0, 8.0], "mu": 0.12, "end": 3.0}).wear_power  # as if it were measured
        >>> pandas.DataFrame({"a0": [5.0, 8.0], "wear_power": power}).to_csv("tests.csv", index=False)
        >>> compared = {"wear_power": {"column": "wear_power", "relative_sd": 0.01}}
        >>> section = {"data": "tests.csv", "starts": 2, "free": {"mu": {"from": 0.05, "to": 0.4}}, "compare": compared}
        >>> fit = calibrate(Study(name="friction", end=3.0, sections={"calibration": section}))
        >>> round(fit.parameters["mu"], 4)
        0.12
    """
    from tribosweep.sweep.analysis.calibration import analysis, load, results
    from tribosweep.sweep.execution.directory import CALIBRATED, hold_apart

    with in_python():
        found = load.load(config.document if isinstance(config, Study) else config, overrides)
        pair = landscape if isinstance(landscape, tuple) else ()
        request = results.CalibrationRequest(profiles=tuple(profiles), slice=pair, landscape=bool(landscape))
        directory = default_directory(found.config) if out is None else Path(out)
        analysis.check(request, found)
        if posterior is not None:
            check_method(posterior)
        with hold_apart(directory, CALIBRATED):
            with shown(progress, "fits") as update:
                result = analysis.carry_out(found, request, update)
            if posterior is not None:
                result = with_draws(result, posterior, progress, directory)
            results.write(result, directory)
    return Calibrated(result, directory)
