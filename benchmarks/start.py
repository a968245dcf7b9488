"""The time to start: `python -m benchmarks start` times imports, the rows of SDND104, and a million points from the prompt.

Every pass is a process of its own. A line has the median over the passes, and the fastest pass, because other work can only slow a pass
down. The studies run with cached programs, and without a cache.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PASSES = 5
CONFIGS = Path(__file__).parents[1] / "configs"
STUDIES = {"SDND104, eight rows by two schemes": "sdnd104.toml", "a million points": "regime_map.toml"}
PARTS = ("compiling", "computing", "total")
BARE = {"JAX_ENABLE_COMPILATION_CACHE": "0"}


def seconds(command: list[str], **settings: str) -> float:
    """Wall time of a process [s]."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | settings)
    return time.perf_counter() - start


def run(study: str, **settings: str) -> tuple[float, dict[str, float]]:
    """Wall time of `tribosweep run` [s], and the times in its manifest."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out"
        taken = seconds(["-m", "tribosweep.sweep.cli", "run", str(CONFIGS / study), "--out", str(out)], **settings)
        return taken, json.loads((out / "manifest.json").read_text())["seconds"]


def main() -> None:
    """Print the table."""
    print("| | median [s] | fastest [s] |\n|---|---|---|")
    for name, code in (
        ("`import tribosweep`", "import tribosweep"),
        ("nothing", "pass"),
    ):
        row(name, [seconds(["-c", code]) for _ in range(PASSES)])
    for name, study in STUDIES.items():
        run(study)
        kept = [run(study) for _ in range(PASSES)]
        row(f"{name}, programs kept", [each for each, _ in kept])
        for part in PARTS:
            row(f"of which {part}", [told[part] for _, told in kept])
        row(f"{name}, none kept", [run(study, **BARE)[0] for _ in range(PASSES)])


def row(name: str, taken: list[float]) -> None:
    """Print a row."""
    print(f"| {name} | {statistics.median(taken):.2f} | {min(taken):.2f} |", flush=True)


if __name__ == "__main__":
    main()
