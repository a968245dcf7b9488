"""What every command prints and writes, frozen on one machine and compared after a change that should move none.

    python -m tests.frozen_commands write before [NAME ...]       on the code before the change: a folder for each command in `before`
    python -m tests.frozen_commands compare before [NAME ...]     on the code after it, on the same machine

A command is carried out in the folder of its run, once as people call it, with its picture as SVG, and once with `--json` where it has it.
Its exit status, its words without times, its JSON, its tables and its pictures are compared; each difference is printed, and the exit
status is 1 if there is one. All commands take about five minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs"
JSON = "--json"


def few(**counts: int) -> list[str]:
    """Options that make axes of a study short."""
    return [word for name, count in counts.items() for word in ("--set", f"sweep.axes.{name}.count={count}")]


# run -> words that make it; every command of `LOOKS` that begins with its name looks at it
RUNS: dict[str, list[object]] = {
    "grid": ["run", CONFIGS / "regime_map.toml", *few(a0=24, mu=16)],
    "boundary": ["run", CONFIGS / "regime_boundary.toml", "--set", "sweep.halvings=1"],
    "settled": ["run", CONFIGS / "convergence.toml"],
    "indices": ["run", CONFIGS / "sensitivity_wear.toml", "--set", "sweep.count=64"],
    "effects": ["run", CONFIGS / "sensitivity_shock.toml", "--set", "sweep.count=8"],
    "shaken": ["run", CONFIGS / "fragility.toml"],
    "rare": ["run", CONFIGS / "rare_buckling.toml", "--set", "sweep.count=100"],
    "basin": ["run", CONFIGS / "basins_stop.toml", *few(x0=8, v0=8)],
    "signals": ["run", CONFIGS / "signals.toml"],
    "rod": ["run", CONFIGS / "rod_in_ring.toml", "--set", "sweep.axes.gap[ring].count=4", "--set", "sweep.axes.mu[ring].count=3"],
    "cascade": ["run", CONFIGS / "impact_bifurcation.toml", *few(omega=60)],
}
LOOKS: dict[str, tuple[str, list[object]]] = {
    "check": ("grid", ["check", "RUN"]),
    "show": ("grid", ["show", "RUN", JSON]),
    "show_over": ("grid", ["show", "RUN", "--over", "mu", "--observable", "wear_power", "--quantile", "0.9", JSON]),
    "map": ("grid", ["map", "RUN", "--out", "map.svg"]),
    "map_rows": ("grid", ["map", "RUN", "--over", "mu", "--x", "a0", "--y", "mu", "--mean", "--out", "map.svg"]),
    "report": ("grid", ["report", "RUN", "--out", "report.html"]),
    "explore": ("grid", ["explore", "RUN", "--out", "page.html"]),
    "export": ("grid", ["export", "RUN", "--out", "rows.csv"]),
    "trace": ("grid", ["trace", "RUN", "--point", "5", "--out", "trace.csv", JSON]),
    "trace_picture": ("grid", ["trace", "RUN", "--point", "5", "--out", "trace.svg"]),
    "events": ("grid", ["events", "RUN", "--point", "5", "--out", "events.csv", JSON]),
    "trace_printed": ("grid", ["trace", "RUN", "--point", "5", "--from", "1", "--to", "2"]),
    "trace_structure": ("rod", ["trace", "RUN", "--point", "2", "--rows", "200", "--out", "trace.csv", JSON]),
    "trace_structure_picture": ("rod", ["trace", "RUN", "--point", "2", "--out", "trace.svg"]),
    "trace_structure_printed": ("rod", ["trace", "RUN", "--point", "2", "--rows", "200"]),
    "trace_wrong": ("grid", ["trace", "RUN", "--point", "999", "--rows", "1"]),
    "events_printed": ("grid", ["events", "RUN", "--point", "5"]),
    "events_impacts": ("cascade", ["events", "RUN", "--point", "0", "--point", "3", "--impacts", "--out", "hits.csv", JSON]),
    "events_cut": ("cascade", ["events", "RUN", "--most", "5"]),
    "events_structure": ("rod", ["events", "RUN", "--point", "2", "--impacts", "--out", "hits.parquet", JSON]),
    "boundary_map": ("boundary", ["map", "RUN", "--out", "map.svg"]),
    "boundary_show": ("boundary", ["show", "RUN", JSON]),
    "convergence": ("settled", ["convergence", "RUN", "--out", "picture.svg"]),
    "convergence_show": ("settled", ["show", "RUN", JSON]),
    "sensitivity": ("indices", ["sensitivity", "RUN", "--out", "bars.svg", JSON]),
    "sensitivity_study": ("", [
        "sensitivity", CONFIGS / "sensitivity_wear.toml", "--set", "sweep.count=32", "--observable", "wear_power", "--observable",
        "stick_fraction", "--exceeds", "wear_power=1.0", "--quantile", "0.9", "--derivatives", "16", "--out", "bars.svg", JSON,
    ]),
    "sensitivity_scatter": ("indices", ["sensitivity", "RUN", "--regime", "slip-slip", "--picture", "scatter", "--out", "points.svg"]),
    "sensitivity_sizes": ("indices", ["sensitivity", "RUN", "--chance", "wear_power>1", "--picture", "sizes", "--out", "sizes.svg"]),
    "sensitivity_effects": ("effects", ["sensitivity", "RUN", "--out", "plane.svg", JSON]),
    "sensitivity_report": ("indices", ["report", "RUN", "--traces", "0", "--out", "report.html"]),
    "sensitivity_wrong": ("indices", ["sensitivity", "RUN", "--quantile", "2", "--confidence", "1", "--seed", "0", "--chance", "no=1"]),
    "fragility": ("shaken", ["fragility", "RUN", "--event", "buckled", "--intensity", "record_scale", "--out", "curves.svg", JSON]),
    "rare": ("rare", ["rare", "RUN", "--out", "rare.svg", JSON]),
    "basins": ("basin", ["basins", "RUN", "--out", "basins.svg", JSON]),
    "correlation": ("indices", ["correlation", "RUN", "--out", "ranks.svg", JSON]),
    "signals": ("signals", ["signals", "RUN", "--out", "signals.csv", JSON]),
    "signals_picture": ("signals", ["signals", "RUN", "--out", "signals.svg"]),
    "signals_of_points": ("signals", ["signals", "RUN", "--point", "0", "--point", "2", "--column", "psd_x", "--out", "psd.parquet", JSON]),
    "signals_printed": ("signals", ["signals", "RUN"]),
    "signals_report": ("signals", ["report", "RUN", "--traces", "0", "--out", "report.html"]),
    "structure_map": ("rod", ["map", "RUN", "--out", "map.svg"]),
    "structure_show": ("rod", ["show", "RUN", JSON]),
    "bifurcation": ("cascade", ["bifurcation", "RUN", "--out", "picture.svg"]),
    "cascade_report": ("cascade", ["report", "RUN", "--out", "report.html"]),
    "spectrum": ("", ["spectrum", CONFIGS / "quake.toml", "--out", "spectra.csv", JSON]),
    "spectrum_picture": ("", ["spectrum", CONFIGS / "quake.toml", "--out", "spectra.svg"]),
    "spectrum_printed": ("", ["spectrum", CONFIGS / "quake.toml"]),
    "spectrum_files": ("", ["spectrum", CONFIGS / "data" / "main_shock.csv", "--count", "7", "--period", "0.5", JSON]),
    "spectrum_draws": ("", ["spectrum", CONFIGS / "random_support.toml", "--draws", "6", "--count", "9", "--out", "draws.svg", JSON]),
    "spectrum_responses": ("grid", ["spectrum", "RUN", "--point", "5", "--point", "9", "--count", "9", "--damping", "0.02", JSON]),
    "spectrum_wrong": ("", ["spectrum", CONFIGS / "random_support.toml", "--draws", "0"]),
    "branches": ("", ["branches", CONFIGS / "branches_stop.toml", "--set", "branches.places=3", "--picture", "b.svg", JSON]),
    "calibrate": ("", ["calibrate", CONFIGS / "calibrate_power.toml", "--set", "calibration.starts=2", "--picture", "f.svg", JSON]),
    "optimise": ("", ["optimise", CONFIGS / "optimise_support.toml", "--set", "optimise.starts=4", "--picture", "o.svg", JSON]),
    "modes": ("", ["modes", CONFIGS / "beams" / "tube.toml", "--out", "basis.npz", JSON]),
    "list": ("", ["list", "parameters", JSON]),
    "list_observables": ("", ["list", "observables", JSON]),
    "list_combinations": ("", ["list", "combinations", JSON]),
    "list_studies": ("", ["list", "studies", JSON]),
    "schema": ("", ["schema", "--out", "grammar.json"]),
    "verify": ("", ["verify", JSON]),
    "help": ("", ["--help"]),
}  # fmt: skip
TIMED = re.compile(r"\d[\d.,e+-]*\s*(?:rows a second|rows/s|points/s|[mµn]?s\b|min\b|MB|GB)|\d+:\d\d:\d\d|\d{4}-\d\d-\d\d[T ][\d:.+Z-]*")
FACTS = re.compile(r"(.*_)?seconds(_.*)?|rows_per_second|elapsed|time_of_.*|created|started|ended|host|version|(.*_)?digest|peak_memory")


def carry_out(words: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    """Carry out a command in a folder."""
    command = [sys.executable, "-m", "tribosweep", *map(str, words)]
    environment = {"PYTHONPATH": str(ROOT), "COLUMNS": "140", "TRIBOSWEEP_TRACEBACK": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def without_times(text: str, folder: Path) -> str:
    """Words without what differs from one call to the next."""
    lines = TIMED.sub("T", text.replace(str(folder), "HERE").replace(str(ROOT), "ROOT")).splitlines()
    return "\n".join(dict.fromkeys(re.sub(r"\s+", " ", line) for line in lines if not line.startswith("T: ")))


def contents(path: Path, folder: Path) -> str:
    """What a file holds, as text that is equal where its data are."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        cells = table.to_pandas().map(repr)
        return f"{table.schema.remove_metadata()}\n{pd.util.hash_pandas_object(cells).sum()}\n{cells.head(3)}"
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return "\n".join(f"{name} {each.dtype} {each.shape} {sha256(each.tobytes()).hexdigest()}" for name, each in arrays.items())
    if path.suffix in (".png", ".lock"):
        return str(path.stat().st_size)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return text
    if path.suffix == ".svg":  # ids are random
        names = dict.fromkeys(re.findall(r'id="([^"]+)"', text))
        for number, name in enumerate(sorted(names, key=len, reverse=True)):
            text = text.replace(name, f"ID{number}") if re.fullmatch(r"[a-z]\w{8,}", name) else text
        text = re.sub(r"<dc:date>.*?</dc:date>", "", text)
    if path.suffix == ".json":
        text = json.dumps(dropped(json.loads(text)), indent=1)
    return without_times(text, folder)


def dropped(value: object) -> object:
    """JSON without facts of the moment."""
    if isinstance(value, dict):
        return {name: dropped(each) for name, each in value.items() if not FACTS.fullmatch(name)}
    return [dropped(each) for each in value] if isinstance(value, list) else value


def freeze(names: list[str], target: Path) -> None:
    """Carry out commands, and write what they gave as one text file each."""
    target.mkdir(parents=True)
    runs: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            run, words = LOOKS[name]
            if run and run not in runs:
                runs[run] = Path(place, "runs", run)
                runs[run].parent.mkdir(exist_ok=True)
                made = carry_out([*RUNS[run], "--out", runs[run]], Path(place))
                told = without_times(made.stdout + made.stderr, Path(place))
                files = sorted(path for path in runs[run].rglob("*.parquet"))
                whole = "\n".join(f"{path.relative_to(runs[run])}\n{contents(path, Path(place))}" for path in files)
                (target / f"run_{run}.txt").write_text(f"{made.returncode}\n{told}\n{whole}\n")
            folder = Path(place, name)
            folder.mkdir()
            words = [runs[run] if word == "RUN" else word for word in words]
            plain = carry_out([word for word in words if word != JSON], folder)
            parts = [f"status {plain.returncode}", without_times(plain.stdout, Path(place)), without_times(plain.stderr, Path(place))]
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            parts += [f"== {path.relative_to(folder)}\n{contents(path, Path(place))}" for path in files]
            if JSON in words:
                bare = [words[0], *(word for before, word in pairwise(words) if not {"--out", "--picture"} & {before, word})]
                shutil.rmtree(folder)
                folder.mkdir()
                printed = carry_out(bare, folder)
                try:
                    parts.append("== json\n" + without_times(json.dumps(dropped(json.loads(printed.stdout)), indent=1), Path(place)))
                except json.JSONDecodeError:
                    parts.append(f"== no json: status {printed.returncode} {printed.stdout}{printed.stderr}")
            (target / f"{name}.txt").write_text("\n".join(parts) + "\n")
            print(f"{name}: status {plain.returncode}", flush=True)


def main() -> int:
    """Freeze or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(LOOKS))
    asked = parser.parse_args()
    if asked.what == "write":
        freeze(asked.names, asked.folder)
        return 0
    now = Path(tempfile.mkdtemp(), "now")
    freeze(asked.names, now)
    differ = subprocess.run(["diff", "-r", "-U1", asked.folder, now], check=False).returncode
    print(f"{'differences' if differ else 'equal'}: {asked.folder} and {now}")
    return differ


if __name__ == "__main__":
    sys.exit(main())
