"""The cost of large runs: `python benchmarks/large_runs.py` measures time and memory for docs/how-to/runs.md.

It runs grids of 10^6 and 2 x 10^7 rigid masses by `exact`, each in a process of its own with the compiled program cached, and prints the
peak memory and the parts of the wall time. Then it times single shards of a Sobol design of 10^9 points.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tribosweep.sweep import Config, load
from tribosweep.sweep.execution.shard import compute_piece

SIZES = (1_000, 1_000), (1_000, 1_000), (4_000, 5_000)  # of the grid; the first run compiles
STUDY = """
[time]
window = [4.0, 12.0]
[sweep.axes]
a0 = {{ from = 0.5, to = 20.0, count = {} }}
mu = {{ from = 0.01, to = 1.01, count = {} }}
"""
SOBOL = {
    "sweep": {
        "design": "sobol",
        "count": 10**9,
        "axes": {"a0": {"from": 0.5, "to": 20.0}, "mu": {"from": 0.01, "to": 1.01}},
    }
}
# VmHWM is the peak of this program alone; ru_maxrss would include the peak of the process that started it
MEASURED = """
import re, sys
from pathlib import Path
from tribosweep.sweep.cli import main
status = main(["run", sys.argv[1], "--out", sys.argv[2]])
print("peak", int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
sys.exit(status)
"""


def measure(folder: Path, number: int, size: tuple[int, int]) -> None:
    """Run a grid and print a row of the table."""
    study, out = folder / f"{number}.toml", folder / str(number)
    study.write_text(STUDY.format(*size))
    done = subprocess.run([sys.executable, "-c", MEASURED, str(study), str(out)], capture_output=True, text=True, check=True)
    peak = int(re.search(r"^peak (\d+)$", done.stdout, re.MULTILINE)[1])  # type: ignore[index]
    manifest = json.loads((out / "manifest.json").read_text())
    seconds = manifest["seconds"]
    split = " | ".join(f"{seconds[part]:.2f}" for part in ("compiling", "computing", "encoding", "writing", "waiting", "total"))
    disk = sum(path.stat().st_size for path in out.rglob("*.parquet")) / 1e6
    print(f"| {manifest['points']:,} | {split} | {peak} | {disk:.0f} |", flush=True)


def compute_shard(study: Config, number: int) -> None:
    """Compute all pieces of a shard."""
    first, rest = 0, 1
    while rest:
        piece = compute_piece(study, number, first)
        first, rest = piece.end, piece.rest


def main() -> None:
    """Print the table and the times of single shards."""
    parts = "compiling | computing | encoding | writing | waiting | total"
    print(f"| points | {parts} [s] | peak memory [MB] | on disk [MB] |\n|{'---|' * 9}")
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate(SIZES):
            measure(Path(folder), number, size)
    study = load(SOBOL)
    compute_shard(study, 1)
    for number in (0, study.shards // 2, study.shards - 2):
        start = time.perf_counter()
        compute_shard(study, number)
        print(f"shard {number:,} of {study.shards:,} of 10^9 Sobol points: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
