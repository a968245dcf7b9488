"""`tribosweep modes`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from tribosweep.sweep.cli.arguments import AsJson
from tribosweep.sweep.cli.terminal import print_json, print_table, say
from tribosweep.sweep.results.printed import short

LISTED = 20  # points in the table


def modes(
    file: Annotated[Path, typer.Argument(help="A modal basis (.npz, .json, .parquet), or a beam (.toml).")],
    out: Annotated[Path | None, typer.Option(help="Write the basis to this file, .npz or .json.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the modes and points of a modal basis, or make that of a beam."""
    from tribosweep.kernels.models.basis import AXES
    from tribosweep.sweep.structure.basis_files import read_basis, write_basis

    basis = read_basis(file)
    full = basis.damping.ndim > 1
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.diag(basis.damping) / (2.0 * basis.mass * basis.omega) if full else basis.damping
    frequencies = basis.omega / (2.0 * np.pi)
    if as_json:
        print_json(
            {
                "modes": [
                    {
                        "frequency": float(frequencies[i]),
                        "mass": float(basis.mass[i]),
                        "damping": float(ratios[i]) if np.isfinite(ratios[i]) else None,
                        "participation": {axis: float(basis.participation[row, i]) for row, axis in enumerate(AXES)},
                        "shapes": {name: dict(zip(AXES, map(float, shape[:, i]), strict=True)) for name, shape in basis.points.items()},
                    }
                    for i in range(basis.count)
                ],
                "position": dict(basis.position),
                "full_damping": full,
            }
        )
    else:
        largest = {name: np.abs(shape).max(axis=0) for name, shape in islice(basis.points.items(), LISTED)}
        header = ["mode", "frequency\nHz", "mass\nkg", "damping", *(f"participation\n{axis}" for axis in AXES), *largest]
        rows = [
            (
                i,
                short(float(frequencies[i])),
                short(float(basis.mass[i])),
                short(float(ratios[i])),
                *(short(float(basis.participation[row, i]) + 0.0) for row in range(3)),
                *(short(float(values[i])) for values in largest.values()),
            )
            for i in range(basis.count)
        ]
        print_table("", header, rows, right=header)
        if largest:
            say("A column with the name of a point has the largest displacement there for a coordinate of 1.")
        if (count := len(basis.points)) > LISTED:
            say(f"{LISTED} of {count:,} points are listed; --json and --out have all.")
        if rigid := int(np.sum(basis.omega == 0.0)):
            say(f"{rigid} mode{'s' * (rigid > 1)} of 0 Hz: nothing holds the structure against {'them' if rigid > 1 else 'it'}.")
        if full:
            say("Damping is a full matrix; the column has the ratios of its diagonal.")
    if out is not None:
        write_basis(out, basis)
        say(f"Written: {out}")
