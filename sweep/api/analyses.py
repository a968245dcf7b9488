"""Analyses as methods of `Run`: written by `python -m docs.make.methods` from what each analysis says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tribosweep.sweep.analyses.basins.result import Basins
    from tribosweep.sweep.analyses.bifurcation.result import Bifurcation
    from tribosweep.sweep.analyses.convergence.result import ConvergenceCurves
    from tribosweep.sweep.analyses.correlation.result import Correlation
    from tribosweep.sweep.analyses.events.result import Events
    from tribosweep.sweep.analyses.fragility.result import Fragility
    from tribosweep.sweep.analyses.rare_event.result import RareEvent
    from tribosweep.sweep.analyses.sensitivity.result import Sensitivity
    from tribosweep.sweep.analyses.signals.result import Signals
    from tribosweep.sweep.analyses.spectra.result import Spectra
    from tribosweep.sweep.analyses.trace.result import TimeTrace
    from tribosweep.sweep.results.result import Result


class Analyses:
    """The analyses that tribosweep has."""

    __slots__ = ()

    if TYPE_CHECKING:

        def analyse(self, name: str, **asked: Any) -> Result:
            """Carry out an analysis by its name; see `Run.analyse`."""

    def _analyse(self, name: str, given: dict[str, Any]) -> Any:
        """Carry out an analysis with the local variables of its method, which are its arguments."""
        return self.analyse(name, **{argument: value for argument, value in given.items() if argument != "self"})

    def correlation(
        self,
        observables: str | Sequence[str] = (),
        *,
        at: Mapping[str, Any] | None = None,
        confidence: float = 0.95,
        resamples: int = 1000,
        seed: int = 1,
    ) -> Correlation:
        """Correlate the ranks of parameters and observables (Spearman), pair by pair, with bootstrap intervals.

        As `tribosweep correlation` does.

        Args:
            observables: observable to correlate; default the main one of the model.
            at: parameter -> value of those that are held; the nearest one of the run counts.
            confidence: level of the intervals; > 0 and < 1.
            resamples: number of bootstrap samples; from 20 to 100000.
            seed: seed of the bootstrap samples; >= 0.

        Returns:
            The coefficients of all pairs, with their intervals.

        Raises:
            ConfigError: a name or number is wrong, or a column holds no numbers, or the design of the run adapts to its rows.

        Examples:
            >>> found = run.correlation(observables=["wear_power", "stick_fraction"])
            >>> found.of("mu", "wear_power")
            >>> found.plot("ranks.png")
        """
        return cast("Correlation", self._analyse("correlation", locals()))

    def fragility(
        self,
        event: str,
        intensity: str,
        *,
        over: str | Sequence[str] = (),
        by: str | None = None,
        at: Mapping[str, Any] | None = None,
        method: str = "stripes",
        interval: str | None = None,
        capacity_beta: float = 0.0,
        confidence: float = 0.95,
        resamples: int = 1000,
        seed: int = 1,
    ) -> Fragility:
        """Fit how the probability of an event grows with an intensity: a lognormal curve, and counted probabilities, with their intervals.

        As `tribosweep fragility` does.

        Args:
            event: what may happen: buckled=1, 'peak_force > 5 kN', 'wear_depth > 2 mm', wall_regime=plateau.
            intensity: parameter that the run varies, such as a0; an observable; or of records and draws pga, pgv, arias, cav, sa_0.5s (with
                2 % of damping sa_0.5s_2%), of a channel pga[0].
            over: parameter whose values are random; default draw and record. Rows that share them all are drawn together.
            by: parameter each of whose values has a curve of its own.
            at: parameter -> value of those that are held; the nearest one of the run counts.
            method: stripes: maximum likelihood of rows with and without the event; cloud: line through ln(demand) over ln(intensity);
                incremental: the intensity at which the event first happens to each record or draw.
            interval: intervals; default bootstrap if rows share a record or a draw, else profile likelihood (of a cloud delta).
            capacity_beta: with method cloud: logarithmic standard deviation of the limit itself; >= 0.
            confidence: level of the intervals; > 0 and < 1.
            resamples: number of bootstrap samples; >= 2.
            seed: seed of the bootstrap samples; >= 0.

        Returns:
            The curves and counted probabilities.

        Raises:
            ConfigError: a name or number is wrong, or the event is wrong, or a parameter varies that has no place.

        Examples:
            >>> found = run.fragility("buckled=1", "v0")
            >>> found.chance([0.5, 1.0, 2.0])
            >>> found.to_pandas()[["theta", "theta_low", "theta_high", "beta"]]
            >>> found.plot("fragility.png")
        """
        return cast("Fragility", self._analyse("fragility", locals()))

    def rare_event(self, *, confidence: float = 0.95) -> RareEvent:
        """Estimate the probability of a rare event, 1e-3 to 1e-9, from a subset simulation: its interval, its levels, and a picture.

        As `tribosweep rare` does.

        Args:
            confidence: level of the interval; > 0 and < 1.

        Returns:
            The probability, its coefficient of variation and its interval; the levels and the curve as tables and a picture.

        Raises:
            ConfigError: a name or number is wrong, or the design of the run is no subset simulation, or no level is complete.

        Examples:
            >>> study = {"study": {"model": "stop"}, "parameters": {"k_n": 100.0}, "time": {"end": 1.0}, "sweep": {
            ...     "design": "subset_simulation", "event": "peak_force > 18 N", "count": 200,
            ...     "axes": {"v0": {"distribution": "normal", "mean": 1.0, "std": 0.2}}}}
            >>> found = tribosweep.run(study, "runs/rare").rare_event()
            >>> found.probability, found.interval
            >>> found.plot("rare.png")
        """
        return cast("RareEvent", self._analyse("rare", locals()))

    def basins(self, *, at: Mapping[str, Any] | None = None, tolerance: float = 0.001) -> Basins:
        """Tell which steady motion each start (x0, v0) of a run leads to, and which motions coexist at each point of a sweep.

        As `tribosweep basins` does.

        Args:
            at: parameter -> value of those that are held; the nearest one of the run counts.
            tolerance: distance to a motion, over the speed of the excitation, |f0 - m a0| / (m omega), within which a start has come to it;
                from 1e-9 to 0.1.

        Returns:
            The motions with their shares, and the motion of each start.

        Raises:
            ConfigError: a name or number is wrong, or neither x0 nor v0 varies, or the run is not one of a model with steady motions by
                scheme exact over a given time.

        Examples:
            >>> found = run.basins()
            >>> found.to_pandas()[["attractor", "periods", "share", "regime"]]
            >>> found.plot("basins.png")
        """
        return cast("Basins", self._analyse("basins", locals()))

    def sensitivity(
        self,
        observables: str | Sequence[str] = (),
        *,
        regime: str | None = None,
        exceeds: str | Sequence[str] = (),
        chances: str | Sequence[str] = (),
        quantiles: float | Sequence[float] = (0.05, 0.5, 0.95),
        derivatives: int = 0,
        at: Mapping[str, Any] | None = None,
        confidence: float = 0.95,
        resamples: int = 100,
        seed: int = 1,
        sizes: bool = False,
        picture: str | None = None,
    ) -> Sensitivity:
        """Report how observables depend on the parameters, and how uncertain they are.

        As `tribosweep sensitivity` does.

        Args:
            observables: observable to explain; default the main one of the model.
            regime: use only groups whose rows are all in this regime, such as slip-slip.
            exceeds: report the probability to exceed: wear_power=1.0.
            chances: report the probability of an event: buckled, 'impacts>=3', 'wall_regime=plateau and not buckled'.
            quantiles: quantile, such as 0.99; default 0.05, 0.5, 0.95; > 0 and < 1.
            derivatives: number of points of the sample for exact derivatives; >= 0.
            at: parameter -> value: point for elasticities; default the median.
            confidence: level of the intervals; > 0 and < 1.
            resamples: number of bootstrap samples; from 2 to 100000.
            seed: seed of the bootstrap samples; >= 1.
            sizes: also estimate everything from the first half, quarter ... of the sample.
            picture: what to draw; default plane for elementary effects, else bars; "bars", "plane", "scatter", "sizes".

        Returns:
            Indices, uncertainties with probabilities, and derivatives, as tables and pictures.

        Raises:
            ConfigError: a name or number is wrong, or the design does not sample, or SALib is missing (`tribosweep[sensitivity]`).

        Examples:
            >>> found = run.sensitivity(["wear_power"], chances=["wear_power > 5"])
            >>> found.to_pandas("indices")[["parameter", "measure", "value", "low", "high"]]
            >>> found.plot("bars.png")
        """
        return cast("Sensitivity", self._analyse("sensitivity", locals()))

    def trace(
        self, point: int = 0, *, support: str | None = None, rows: int | None = None, start: float | None = None, stop: float | None = None
    ) -> TimeTrace:
        """Show motion and forces of one point of a study in time: a structure by its scheme, any other oscillator by the exact engine.

        As `tribosweep trace` does.

        Args:
            point: number of the point, from 0 on.
            support: of a structure: the support that is shown.
            rows: about how many instants; of a structure 0 for every step. Default 2,000, of the command's picture 20,000.
            start: time of the first instant [s].
            stop: time of the last instant [s].

        Returns:
            A row for each instant with time, motion and forces, in SI units, and a picture.

        Raises:
            ConfigError: a name or number is wrong, or there is no such point or support, times are outside the run, or its run fails.

        Examples:
            >>> found = run.trace(100, stop=4.0, rows=20_000)
            >>> found.to_pandas().attrs["units"]["x"]
            >>> found.plot("trace.png")
        """
        return cast("TimeTrace", self._analyse("trace", locals()))

    def events(self, *, points: int | Sequence[int] = (0,), impacts: bool = False, most: int = 100000) -> Events:
        """Show the events or impacts of points of a study: by the exact engine for any scheme, impacts of structures by their scheme.

        As `tribosweep events` does.

        Args:
            points: number of a point, from 0 on; default the first.
            impacts: impacts on the wall, or at the supports of a structure, instead of all events.
            most: events of a point after which its log may end; >= 1.

        Returns:
            A row for each event or impact, with units; `notes` name the points whose events end before their run.

        Raises:
            ConfigError: a name or number is wrong, or there is no such point, or no events of its model.

        Examples:
            >>> found = run.events([0, 3])
            >>> found.to_pandas().groupby("point").event.value_counts()
        """
        return cast("Events", self._analyse("events", locals()))

    def spectra(
        self,
        frequencies: float | Sequence[float] = (),
        *,
        lowest: float = 0.2,
        highest: float = 33.0,
        count: int = 100,
        damping: float = 0.05,
        periods: float | Sequence[float] = (),
        points: int | Sequence[int] = (),
        draws: int = 20,
        time: str = "time",
        acceleration: str = "acceleration",
        unit: str | None = None,
    ) -> Spectra:
        """Show response spectra and intensities of records of base acceleration, of the records or draws of a study, or of its responses.

        As `tribosweep spectrum` does.

        Args:
            frequencies: natural frequency [Hz]; default those of the next three; > 0.
            lowest: lowest frequency [Hz]; > 0.
            highest: highest frequency [Hz]; > 0.
            count: how many frequencies, at equal ratios; >= 1.
            damping: part of critical damping; >= 0 and < 1.
            periods: natural period [s] whose Sa is among the measures of a record; > 0.
            points: of a study: number of a point whose total acceleration is the record.
            draws: of random accelerations: how many draws, from draw 0 on; >= 1.
            time: of files: name of the column of times.
            acceleration: of files: name of the column of accelerations.
            unit: of files: unit of the accelerations, such as g; default what the header says, or m/s^2.

        Returns:
            The spectra and intensities of each record, as tables and a picture.

        Raises:
            ConfigError: a name or number is wrong, or the study has no accelerations.
        """
        return cast("Spectra", self._analyse("spectrum", locals()))

    def signals(
        self,
        columns: str | Sequence[str] = (),
        *,
        points: int | Sequence[int] = (),
        over: str | Sequence[str] = (),
        at: Mapping[str, Any] | None = None,
    ) -> Signals:
        """Show spectra, rainflow cycles, level crossings and impacts of single rows of a run, or their quantiles over draws.

        As `tribosweep signals` does.

        Args:
            columns: signal, such as psd_x or rainflow_x; default all.
            points: number of a point, a curve of its own; default all rows.
            over: parameter over whose values medians and quantiles are taken; default draw and record.
            at: parameter -> value of those that are held; the nearest one of the run counts.

        Returns:
            The signals, with their frequencies, levels or edges, as tables and pictures.

        Raises:
            ConfigError: a name or number is wrong, or the study asks for no signals.
        """
        return cast("Signals", self._analyse("signals", locals()))

    def bifurcation(self, *, x: str | None = None, y: str = "poincare_x") -> Bifurcation:
        """Draw the Poincare points of a run's steady motions over the parameter that it varies.

        As `tribosweep bifurcation` does.

        Args:
            x: parameter on the x axis; default the one that the run varies besides x0 and v0.
            y: poincare_x, poincare_v, or another observable that is a number.

        Returns:
            The points, with the periods of their motions.

        Raises:
            ConfigError: a name or number is wrong, or the run has no steady window, or other parameters vary.
        """
        return cast("Bifurcation", self._analyse("bifurcation", locals()))

    def convergence_curves(self) -> ConvergenceCurves:
        """Draw how the points of a convergence study approach exact and their own limit.

        As `tribosweep convergence` does.

        Returns:
            The relative differences of the observable at each step or tolerance.

        Raises:
            ConfigError: a name or number is wrong, or the design of the run is no convergence study, or no difference is above 0.
        """
        return cast("ConvergenceCurves", self._analyse("convergence", locals()))
