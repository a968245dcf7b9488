"""`tribosweep spectrum`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from tribosweep.sweep.cli import completion
from tribosweep.sweep.cli.arguments import AsJson, study_or_run
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.io.table_files import FORMATS
from tribosweep.sweep.results.picture import is_picture

if TYPE_CHECKING:
    from tribosweep.sweep.analysis.spectra import Spectra

SHOWN_FREQUENCIES, SHOWN_RECORDS = 13, 12  # rows of the tables on the terminal


def spectrum(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORD ...|STUDY|RUN",
            autocompletion=completion.studies_and_runs,
            help="Files with a record each, .csv or .parquet; or a study, or the directory of a run.",
        ),
    ],
    damping: Annotated[float, typer.Option(help="Part of critical damping.")] = 0.05,
    lowest: Annotated[float, typer.Option("--from", help="Lowest frequency [Hz].")] = 0.2,
    highest: Annotated[float, typer.Option("--to", help="Highest frequency [Hz].")] = 33.0,
    count: Annotated[int, typer.Option(help="How many frequencies, at equal ratios.")] = 100,
    period: Annotated[
        list[float] | None, typer.Option(help="Natural period [s] whose Sa is among the measures of a record. Can be repeated.")
    ] = None,
    point: Annotated[
        list[int] | None, typer.Option(help="Of a study: number of a point whose total acceleration is the record. Can be repeated.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Of random accelerations: how many draws, from draw 0 on.")] = 20,
    time: Annotated[str, typer.Option(help="Of files: name of the column of times.")] = "time",
    acceleration: Annotated[str, typer.Option(help="Of files: name of the column of accelerations.")] = "acceleration",
    unit: Annotated[str | None, typer.Option(help="Of files: unit of the accelerations, such as g; default what the header says.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: a table, .csv or .parquet, or a picture, .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show response spectra and intensities of records of base acceleration, of the records or draws of a study, or of its responses."""
    from tribosweep.sweep.analysis import event_log, spectra
    from tribosweep.sweep.plots import spectra as picture

    drawn = is_picture(out, FORMATS)
    frequencies = spectra.frequencies_of(lowest, highest, count)
    paths = [study_or_run(path) for path in sources]
    found = spectra.read_spectra(paths, frequencies, damping, draws, time, acceleration, unit, period or (), point or ())
    if out is not None and drawn:
        picture.draw(found, out)
        say_worst(found)
        emit(str(out))
    elif out is not None:
        event_log.write(found.table(), out)
        emit(str(out))
    elif as_json:
        print_json(in_json(found))
    else:
        show(found)


def in_json(found: Spectra) -> dict[str, object]:
    """Spectra as one JSON value."""
    of = found.spectrum
    peaks = {"Sd": of.displacement, "Sv": of.velocity, "Sa": of.acceleration, "PSv": of.pseudo_velocity, "PSa": of.pseudo_acceleration}
    rows = [
        {"name": name, **{key: float(values[row]) for key, values in found.measures.items()},
         **{key: values[row].tolist() for key, values in peaks.items()}}
        for row, name in enumerate(found.names)
    ]  # fmt: skip
    return {"damping": of.damping, "frequency": of.frequencies.tolist(), "records": rows}


def show(found: Spectra) -> None:
    """Print the intensities of records, and the spectrum at some frequencies."""
    from tribosweep.sweep.excitation.intensity import MEASURES, SA_UNIT

    units = {name: MEASURES[name].unit if name in MEASURES else SA_UNIT for name in found.measures}
    header = ["record", *(f"{name}\n{unit}" for name, unit in units.items())]
    rows = [(name, *(f"{values[row]:.4g}" for values in found.measures.values())) for row, name in enumerate(found.names)]
    print_table("", header, rows[:SHOWN_RECORDS], right=header[1:])
    of, many = found.spectrum, len(found.names) > 1
    places = np.unique(np.linspace(0, len(of.periods) - 1, min(SHOWN_FREQUENCIES, len(of.periods))).round().astype(int))
    columns = (of.displacement, of.velocity, of.acceleration, of.pseudo_acceleration)
    names = ["frequency\nHz", "period\ns", "Sd\nm", "Sv\nm/s", "Sa\nm/s^2", "PSa\nm/s^2"]
    cells = [of.frequencies, of.periods, *(np.median(values, axis=0) for values in columns)]
    if many:
        low, _, high = found.quantiles()
        names, cells = [*names, "Sa 16 %\nm/s^2", "Sa 84 %\nm/s^2"], [*cells, low, high]
    print_table("", names, [[f"{float(values[place]):.4g}" for values in cells] for place in places], right=names)
    say_worst(found)
    rest = f"{len(found.names) - SHOWN_RECORDS} more records, and all " if len(rows) > SHOWN_RECORDS else "All "
    mean = "Medians over the records" if many else "Peaks"
    say(f"{mean} at {100.0 * of.damping:g} % of critical damping.")
    say(f"{rest}{len(of.periods)} frequencies: --out spectra.csv; a picture: --out spectra.png.")


def say_worst(found: Spectra) -> None:
    """Say how far the draws are from the spectrum that they shall have."""
    if found.missed:
        say(f"No candidate comes within the tolerance: {', '.join(found.missed)}. Rows that follow them have a status that says so.")
    worst = found.worst()
    if worst is not None:
        size, name, frequency = worst
        say(f"The largest deviation from the target is {100.0 * size:+.1f} %: {name} at {frequency:.4g} Hz.")
