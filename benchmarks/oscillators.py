"""The results of the pytest-benchmark files as tables: `python -m benchmarks oscillators` (extra `benchmarks`).

The tables have oscillators/s of schemes and models from one oscillator to a million, on all devices and (in a process of its own) on one;
then derivatives, encoding and writing. "-" means that the measurement would have taken too long (`test_kernels`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.test_kernels import COUNTS
from tribosweep.kernels.runtime import jax_setup

HERE = Path(__file__).parent


def measured(files: list[str], devices: int) -> list[dict[str, Any]]:
    """The results of some benchmark files on a number of devices."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "benchmarks.json"
        command = [sys.executable, "-m", "pytest", "-q", f"--benchmark-json={out}", *(str(HERE / file) for file in files)]
        done = subprocess.run(command, cwd=HERE.parent, check=False, text=True, capture_output=True, env=on_devices(devices))
        if done.returncode:
            raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
        return list(json.loads(out.read_text(encoding="utf-8"))["benchmarks"])


def on_devices(count: int) -> dict[str, str]:
    """The environment of a process with `count` CPU devices."""
    return os.environ | {"JAX_NUM_CPU_DEVICES": str(count)}


def print_rates(found: list[dict[str, Any]]) -> None:
    """Print oscillators/s, with one row per model, scheme and precision."""
    rows: dict[tuple[str, str, str], dict[int, float]] = {}
    for each in found:
        about = each["extra_info"]
        if "count" in about:
            rows.setdefault((about["model"], about["scheme"], about["precision"]), {})[about["count"]] = about["count"] / about["kernel"]
    print(f"| model | scheme | | {' | '.join(f'{count:,}' for count in COUNTS)} |\n|{'---|' * (3 + len(COUNTS))}")
    for case, rates in rows.items():
        cells = [f"{rates[count]:,.0f}" if count in rates else "-" for count in COUNTS]
        print(f"| {' | '.join((*case, *cells))} |")


def main() -> None:
    """Print the tables."""
    for devices in dict.fromkeys((jax_setup.cores(), 1)):
        every = devices == jax_setup.cores()
        found = measured(["test_kernels.py", "test_writing.py"] if every else ["test_kernels.py"], devices)
        print(f"\n{devices} device{'s' if devices > 1 else ''}, oscillators/s:\n")
        print_rates(found)
        if every:
            print("\n| | median [ms] |\n|---|---|")
            for each in found:
                if "count" not in each["extra_info"]:
                    print(f"| {each['name'].removeprefix('test_').replace('_', ' ')} | {1e3 * each['stats']['median']:.1f} |")


if __name__ == "__main__":
    main()
