"""Response spectra and intensities of several records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.excitation.response_spectrum import ResponseSpectrum
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.results.printed import PrintedTable
from tribosweep.sweep.results.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_FREQUENCIES, SHOWN_RECORDS = 13, 12  # rows of the printed tables
SHARES = (0.16, 0.5, 0.84)
COLUMNS = {
    "frequency": ("Hz", "natural frequency without damping"),
    "period": ("s", "natural period without damping"),
    "Sd": ("m", "largest displacement relative to the base"),
    "Sv": ("m/s", "largest velocity relative to the base"),
    "Sa": ("m/s^2", "largest total acceleration"),
    "PSv": ("m/s", "pseudo velocity, omega Sd"),
    "PSa": ("m/s^2", "pseudo acceleration, omega^2 Sd"),
}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Spectra(Result):
    """Response spectra and intensities of several records of base acceleration.

    Attributes:
        source: the study, or the first file.
        names: of the R records or draws.
        spectrum: their peaks, (R, P), at P frequencies: a `ResponseSpectrum`.
        measures: name -> (R,) pga [m/s^2], pgv [m/s], arias [m/s], cav [m/s], and Sa at `periods` [m/s^2], named as in `intensities`.
        random: whether the records are random draws.
        target: (R, P) Sa [m/s^2] that random draws shall have at this damping, NaN where it is not met; None for no target.
        missed: names of the draws that do not come within the tolerance of their target; they have no spectrum.
        periods: natural periods [s] of the Sa among the measures.
    """

    source: str
    names: tuple[str, ...]
    spectrum: ResponseSpectrum
    measures: dict[str, np.ndarray]
    random: bool
    target: np.ndarray | None = None
    missed: tuple[str, ...] = ()
    periods: tuple[float, ...] = ()

    def line(self) -> str:
        """How many records and frequencies there are."""
        return f"{counted(len(self.names), 'record')} at {counted(len(self.spectrum.periods), 'frequency', 'frequencies')}"

    @property
    def peaks(self) -> dict[str, np.ndarray]:
        """Sd, Sv, Sa, PSv and PSa, (R, P) each."""
        of = self.spectrum
        values = (of.displacement, of.velocity, of.acceleration, of.pseudo_velocity, of.pseudo_acceleration)
        return dict(zip([*COLUMNS][2:], values, strict=True))

    @property
    def notes(self) -> list[str]:
        """How far draws are from the spectrum that they shall have."""
        found, worst = [], self.worst()
        if self.missed:
            found.append(
                f"No candidate comes within the tolerance: {', '.join(self.missed)}. Rows that follow them have a status that says so."
            )
        if worst is not None:
            size, name, frequency = worst
            found.append(f"The largest deviation from the target is {100.0 * size:+.1f} %: {name} at {frequency:.4g} Hz.")
        return found

    def tables(self) -> dict[str, pa.Table]:
        """The "spectra", one row for each record and frequency, and the "measures", one row for each record."""
        import pyarrow as pa

        from tribosweep.sweep.execution.parquet import described

        of, count = self.spectrum, len(self.names)
        record = described("record", pa.string(), "", "the record or draw")
        fields = [record, *(described(name, pa.float64(), unit, about) for name, (unit, about) in COLUMNS.items())]
        columns = [np.tile(of.frequencies, count), np.tile(of.periods, count), *(values.ravel() for values in self.peaks.values())]
        names = np.repeat(np.array(self.names, object), len(of.periods))
        measures = [record, *(described(q.name, pa.float64(), q.unit, q.description) for q in self.quantities)]
        return {
            "spectra": pa.Table.from_arrays([pa.array(names, pa.string()), *map(pa.array, columns)], schema=pa.schema(fields)),
            "measures": pa.Table.from_arrays([pa.array(self.names), *map(pa.array, self.measures.values())], schema=pa.schema(measures)),
        }

    @property
    def quantities(self) -> list[Quantity]:
        """Units and descriptions of the measures."""
        from tribosweep.sweep.excitation.intensity import measures

        known = measures(self.periods, self.spectrum.damping)
        return [known[name] for name in self.measures]

    def facts(self) -> dict[str, Any]:
        """Damping and frequencies, and of each record its measures and peaks."""
        rows = [
            {"name": name, **{key: float(values[row]) for key, values in self.measures.items()},
             **{key: values[row].tolist() for key, values in self.peaks.items()}}
            for row, name in enumerate(self.names)
        ]  # fmt: skip
        return {"damping": self.spectrum.damping, "frequency": self.spectrum.frequencies.tolist(), "records": rows}

    def printed(self) -> Iterator[PrintedTable | str]:
        """The intensities of records, and the spectrum at some frequencies."""
        header = ["record", *(f"{q.name}\n{q.unit}" for q in self.quantities)]
        rows = [(name, *(f"{values[row]:.4g}" for values in self.measures.values())) for row, name in enumerate(self.names)]
        yield PrintedTable("", header, rows[:SHOWN_RECORDS], header[1:])
        of = self.spectrum
        places = np.unique(np.linspace(0, len(of.periods) - 1, min(SHOWN_FREQUENCIES, len(of.periods))).round().astype(int))
        shown = [name for name in COLUMNS if name != "PSv"]
        names = [f"{name}\n{COLUMNS[name][0]}" for name in shown]
        cells = [of.frequencies, of.periods, *(np.median(self.peaks[name], axis=0) for name in shown[2:])]
        if len(self.names) > 1:
            low, _, high = self.quantiles()
            names, cells = [*names, "Sa 16 %\nm/s^2", "Sa 84 %\nm/s^2"], [*cells, low, high]
        yield PrintedTable("", names, [[f"{float(values[place]):.4g}" for values in cells] for place in places], names)

    def hints(self, drawn: bool) -> Sequence[str]:
        """What the printed numbers are."""
        if drawn:
            return ()
        count, more = len(self.spectrum.periods), len(self.names) - SHOWN_RECORDS
        mean = "Medians over the records" if len(self.names) > 1 else "Peaks"
        rest = f"{more} more records, and all " if more > 0 else "All "
        return (
            f"{mean} at {100.0 * self.spectrum.damping:g} % of critical damping.",
            f"{rest}{count} frequencies: --out spectra.csv; a picture: --out spectra.png.",
        )

    def worst(self) -> tuple[float, str, float] | None:
        """The Sa / target - 1 that is largest in size, the record and its frequency [Hz]; None without target."""
        if self.target is None or not np.isfinite(self.target).any():
            return None
        off = self.spectrum.acceleration / self.target - 1.0
        row, place = np.unravel_index(int(np.nanargmax(np.abs(off))), off.shape)
        return float(off[row, place]), self.names[row], float(self.spectrum.frequencies[place])

    def quantiles(self) -> np.ndarray:
        """(3, P) Sa [m/s^2] that 16, 50 and 84 % of the records do not exceed."""
        return np.asarray(np.quantile(self.spectrum.acceleration, SHARES, axis=0))
