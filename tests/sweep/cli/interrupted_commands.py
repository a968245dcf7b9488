"""Whole commands with their physics, which SIGINT, SIGTERM or SIGKILL ends: `python -m tests.sweep.cli.interrupted_commands`.

Each command is carried out undisturbed, then with a signal at a random moment of each of `MOMENTS` equal parts of its time, and then given
again to its end. Its exit status, its words, what it leaves and its results are compared. Arguments: FOLDER MOMENTS SEED [NAME ...].
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.sweep.execution.processes import start, write_study
from tests.sweep.execution.scenarios import bits, results
from tribosweep.sweep.analysis.calibration.posterior.draws import POSTERIOR
from tribosweep.sweep.io import sealed_parquet

CONFIGS = Path(__file__).parents[3] / "configs"
PATIENCE = 300.0  # s
IMPORTED = 0.15  # s until Python heeds signals
POWER = ["calibrate", CONFIGS / "calibrate_power.toml", "--set", "calibration.starts=2", "--out", "fit"]
CHAINS = [word for name in ("chains=2", "particles=50", "draws=30", "warmup=30") for word in ("--set", f"calibration.posterior.{name}")]
SQUARE = [word for axis in ("x0", "v0") for word in ("--set", f"sweep.axes.{axis}.count=8")]
# name -> (name of the command before it, words); `study.toml` and `extended.toml` are in the current folder
COMMANDS: dict[str, tuple[str, list[object]]] = {
    "run": ("", ["run", "study.toml", "--out", "run"]),
    "extend": ("run", ["run", "extended.toml", "--out", "run", "--extend"]),
    "boundary": ("", ["run", CONFIGS / "regime_boundary.toml", "--set", "sweep.halvings=1", "--out", "traced"]),
    "subset": ("", ["run", CONFIGS / "rare_buckling.toml", "--set", "sweep.count=100", "--out", "rare"]),
    "rare": ("subset", ["rare", "rare", "--out", "rare.png"]),
    "correlation": ("run", ["correlation", "run", "--out", "ranks.png"]),
    "convergence": ("", ["run", CONFIGS / "convergence.toml", "--out", "settled"]),
    "check": ("run", ["check", "run"]),
    "show": ("run", ["show", "run"]),
    "explore": ("run", ["explore", "run", "--out", "page.html"]),
    "export": ("run", ["export", "run", "--out", "rows.csv"]),
    "trace": ("", ["trace", CONFIGS / "sdnd104.toml", "--point", "1", "--out", "trace.csv"]),
    "events": ("", ["events", CONFIGS / "sdnd104.toml", "--point", "1", "--out", "events.csv"]),
    "spectrum": ("", ["spectrum", CONFIGS / "quake.toml", "--out", "spectra.csv"]),
    "basins": ("", ["run", CONFIGS / "basins_stop.toml", *SQUARE, "--out", "basin"]),
    "branches": ("", ["branches", CONFIGS / "branches_stop.toml", "--set", "branches.places=3", "--out", "branched"]),
    "optimise": ("", ["optimise", CONFIGS / "optimise_support.toml", "--set", "optimise.starts=4", "--out", "best"]),
    "calibrate": ("", [*POWER, "--picture", "fit.png"]),
    "smc": ("", [*POWER, "--posterior", "smc", *CHAINS, "--pairs", "pairs.png"]),
    "nuts": ("", [*POWER, "--posterior", "nuts", *CHAINS]),
    "modes": ("", ["modes", CONFIGS / "beams" / "tube.toml", "--out", "basis.npz"]),
    "list": ("", ["list", "studies"]),
    "schema": ("", ["schema", "--out", "grammar.json"]),
    "doctor": ("", ["doctor"]),
    "verify": ("", ["verify"]),
}  # fmt: skip


def carry_out(words: list[object], folder: Path, *, at: float | None = None, number: int = 0) -> tuple[int, str, float]:
    """Carry out a command in a folder, and send it a signal after `at` seconds. Its exit status, its words on stderr, and its time."""
    begun = time.monotonic()
    process = start(*words, before=f"import os; os.chdir({str(folder)!r})")
    if at is not None:
        try:
            process.wait(at)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
    told = process.communicate(timeout=PATIENCE)[1]
    return process.returncode, told, time.monotonic() - begun


def ready(name: str, folder: Path) -> None:
    """Put the state before a command into a folder."""
    folder.mkdir(parents=True)
    write_study(folder / "study.toml", 200, 32)
    write_study(folder / "extended.toml", 300, 32)
    if before := COMMANDS[name][0]:
        ready(before, folder / "before")
        carry_out(COMMANDS[before][1], folder / "before")
        shutil.copytree(folder / "before", folder, dirs_exist_ok=True)
        shutil.rmtree(folder / "before")


def same(folder: Path) -> dict[str, object]:
    """What is to be equal in the end: files, and of draws and tables the rows."""
    found: dict[str, object] = dict(results(folder))
    for name in found:
        path = folder / name
        if path.suffix == ".parquet" and path.parent.name != "points":
            found[name] = bits(sealed_parquet.read(path)) if path.name == POSTERIOR else sealed_parquet.read(path).to_pydict().__repr__()
    return found


def leftovers(folder: Path) -> list[str]:
    """Locks and temporary files."""
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(".tmp") or path.name.startswith(".lock")]


def walk(
    name: str, folder: Path, moments: int, chance: random.Random, kinds: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
) -> list[str]:
    """Interrupt a command so many times; what was wrong. Locks and temporary files may stay after SIGKILL until it is given again."""
    words, place = COMMANDS[name][1], folder / "place"
    ready(name, folder / "ready")
    for _ in range(2):  # the first one compiles
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder / "ready", place)
        expected, told, taken = carry_out(words, place)
    if expected not in (0, 3):
        return [f"{name}: ends with {expected}: {told}"]
    whole, wrong, struck = same(place), [], 0
    for part in range(moments):
        shutil.rmtree(place)
        shutil.copytree(folder / "ready", place)
        number = kinds[part % len(kinds)]
        at = IMPORTED + (part + chance.random()) / moments * max(0.0, taken - IMPORTED)
        status, told, _ = carry_out(words, place, at=at, number=number)
        case = f"{name}: {signal.Signals(number).name} after {at:.2f} of {taken:.2f} s"
        struck += status != expected
        if status not in ((-number, 128 + number) if number != signal.SIGKILL else (-number,)) and status != expected:
            wrong.append(f"{case}: status {status}: {told}")
        if "Traceback" in told or "Please report" in told or told.count("Interrupted.") > 1:
            wrong.append(f"{case}: says {told}")
        if number != signal.SIGKILL and (left := leftovers(place)):
            wrong.append(f"{case}: leaves {left}")
        again, told, _ = carry_out(words, place)
        ended = same(place)
        if left := leftovers(place):
            wrong.append(f"{case}: leaves {left} in the end")
        if again != expected:
            wrong.append(f"{case}: then ends with {again}: {told}")
        elif different := [each for each in {**ended, **whole} if ended.get(each) != whole.get(each)]:
            wrong.append(f"{case}: other files in the end: {different}")
    print(f"{name}: {taken:.2f} s, {moments} signals, {struck} before its end, {len(wrong)} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    root, moments, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    said = []
    for name in sys.argv[4:] or COMMANDS:
        said += walk(name, root / name, moments, random.Random(f"{seed} {name}"))
        print("\n".join(said[-9:]) if said else "", flush=True)
        shutil.rmtree(root / name)
    sys.exit(int(bool(said)))
