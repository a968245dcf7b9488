"""Run all or the named benchmarks: `python -m benchmarks [--out FILE] [part ...]` writes their tables as Markdown."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import importlib
import io
import platform
from pathlib import Path

from tribosweep.kernels.runtime import jax_setup

PARTS = {
    "throughput": "Every scheme",
    "oscillators": "Every scheme and model, from one oscillator to a million; derivatives and writing",
    "programs": "The programs of every kind of row: speed, compile time and size",
    "growth": "How the cost grows with points and with events",
    "against": "Against other tools",
    "native": "The loop in C++ beside that of JAX",
    "structures": "Structures with supports: against numba, growth, 10^4 tubes over 1 s",
    "branches": "Branches of rubbing stops, held against sweeps up and down",
    "start": "From the prompt to the first row, and to a million",
    "large_runs": "Large runs: time and memory",
    "derivatives": "Derivatives",
    "sensitivity": "A million runs and their Sobol indices",
}


def main() -> None:
    """Run the parts one after the other; the table of each part is written as soon as it is finished."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"one of {', '.join(PARTS)}; default: all")
    parser.add_argument("--out", type=Path, default=Path("benchmarks.md"))
    asked = parser.parse_args()
    if unknown := sorted(set(asked.part) - PARTS.keys()):
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    try:
        asked.out.touch()
    except OSError as error:  # fail now rather than after minutes
        parser.error(f"--out: {asked.out} cannot be written: {error.strerror}")
    about = jax_setup.describe()
    today = dt.datetime.now(tz=dt.UTC).date()
    text = f"# Benchmarks\n\n{about['device']}, {cpu()}, {jax_setup.cores()} cores, jax {about['jax']}, {about['dtype']}, {today}.\n"
    for name in asked.part or PARTS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            importlib.import_module(f"benchmarks.{name}").main()
        text += f"\n## {PARTS[name]}\n\n{printed.getvalue().strip()}\n"
        asked.out.write_text(text, encoding="utf-8")
        print(f"{name}: in {asked.out}", flush=True)


def cpu() -> str:
    """The kind of CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
