"""What it takes to begin: `python -m benchmarks start` times imports, the first row of SDND104, and a million points from the prompt.

Every line is a process of its own, medians over passes. With programs kept from before, and (first row) with none.
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
FIRST_ROW = '[study]\nname = "one"\n[time]\nwindow = [4.0, 12.0]\n[sweep]\ndesign = "zip"\n[sweep.axes]\na0 = [15.0]\nmu = [0.1]\n'
MILLION = """
[time]
window = [4.0, 12.0]
[sweep.axes]
a0 = { from = 0.5, to = 20.0, count = 1000 }
mu = { from = 0.01, to = 1.01, count = 1000 }
"""


def seconds(command: list[str], **settings: str) -> float:
    """Wall time of a process [s]."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True, env=os.environ | settings)
    return time.perf_counter() - start


def run(study: str, folder: Path, **settings: str) -> tuple[float, dict[str, float]]:
    """Wall time of `tribosweep run` [s], and what its manifest says of it."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        file, out = Path(place) / "study.toml", Path(place) / "out"
        file.write_text(study)
        taken = seconds(["-m", "sweep.cli", "run", str(file), "--out", str(out)], **settings)
        return taken, json.loads((out / "manifest.json").read_text())["seconds"]


def main() -> None:
    """Print the table."""
    print("| | median [s] |\n|---|---|")
    for name, code in (("`import sweep`", "import sweep"), ("`import kernels`", "import kernels"), ("nothing", "pass")):
        print(f"| {name} | {statistics.median(seconds(['-c', code]) for _ in range(PASSES)):.2f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        print(f"| first row, programs kept | {statistics.median(run(FIRST_ROW, place)[0] for _ in range(PASSES)):.2f} |", flush=True)
        bare = [run(FIRST_ROW, place, JAX_ENABLE_COMPILATION_CACHE="0")[0] for _ in range(PASSES)]
        print(f"| first row, none kept | {statistics.median(bare):.2f} |", flush=True)
        run(MILLION, place)
        whole = [run(MILLION, place) for _ in range(PASSES)]
        print(f"| a million points, from the prompt to the table on the disk | {statistics.median(each for each, _ in whole):.2f} |")
        for part in ("compiling", "computing", "total"):
            print(f"| of which {part} | {statistics.median(told[part] for _, told in whole):.2f} |", flush=True)


if __name__ == "__main__":
    main()
