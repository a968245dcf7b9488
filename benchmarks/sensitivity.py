"""The cost of a large sensitivity study: `python benchmarks/sensitivity.py` times a million runs by `exact` and their Sobol indices.

The study has 131 072 groups of 8 points in six parameters of a rigid rubbing mass: 1 048 576 oscillators of 12 s each. Every pass is a
process, timed from the prompt to the tables on the disk. The first pass compiles the programs unless they are cached.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUPS, PASSES = 131_072, 3
STUDY = f"""
[study]
name = "million"
[time]
window = [4.0, 12.0]
[sweep]
design = "saltelli"
count = {GROUPS}
seed = 1
[sweep.axes]
a0 = {{ from = 4.0, to = 20.0 }}
mu = {{ from = 0.05, to = 0.6 }}
omega = {{ from = 5.0, to = 8.0 }}
phase = {{ from = 0.0, to = 6.283185307179586 }}
m = {{ distribution = "log_normal", mean = 1.0, std = 0.1 }}
g = {{ distribution = "normal", mean = 9.81, std = 0.1 }}
"""


def main() -> None:
    """Print one line per pass, and the results of the last pass."""
    for number in range(PASSES):
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder) / "million.toml"
            study.write_text(STUDY)
            start = time.perf_counter()
            command = [sys.executable, "-m", "tribosweep.sweep.cli", "sensitivity", str(study)]
            done = subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True)
            total = time.perf_counter() - start
            manifest = (Path(folder) / "runs" / "million" / "manifest.json").read_text()
            ran = float(re.findall(r'"total": ([0-9.]+)', manifest)[-1])
            print(f"pass {number}: {total:.2f} s in all, of which {ran:.2f} s for {8 * GROUPS:,} runs")
        if number == PASSES - 1:
            print(done.stdout)


if __name__ == "__main__":
    main()
