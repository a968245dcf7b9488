"""Sixteen mutated studies, run by real processes: each is refused and leaves nothing, or becomes a complete run that all commands read."""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.sweep.cli.commands import Commands
from tests.sweep.mutants import TWO_WALLS, commanding, document, places, write_files
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.status import RESULTS, SENTENCES
from tribosweep.sweep import ConfigError, load

pytestmark = pytest.mark.long

CASES = 8
SOON, PATIENCE = 10.0, 240.0  # s
SLACK = 2.0  # two processors
TRIES = 20  # mutants of which the first that is not refused is run
BASES = (
    """
[parameters]
k = 3.5
[time]
end = 3.0
[sweep.axes]
a0 = [15.0, 1.5]
mu = { from = 0.1, to = 0.3, count = 3 }
""",
    """
[parameters]
k = 100.0
c = 5.0
k_t = 1e4
mu_s = 0.3
mu_d = 0.2
[time]
end = 2.0
window = [0.5, 2.0]
[sweep]
design = "sobol"
count = 6
seed = 2
[sweep.axes]
a0 = { from = 1.0, to = 9.0 }
omega = { distribution = "normal", mean = 6.0, std = 0.5 }
""",
    """
[study]
scheme = "euler"
[parameters]
k_t = 1e4
[time]
end = 1.0
step = 1e-3
[sweep.axes]
a0 = [3.0, 9.0]
mu = [0.1, 0.2]
""",
    """
[study]
scheme = "rk54"
[parameters]
k_t = 1e4
k = 50.0
[time]
end = 1.0
[sweep]
design = "zip"
[sweep.axes]
a0 = [3.0, 9.0]
mu = [0.1, 0.2]
""",
    """
[study]
scheme = "rk32"
[parameters]
k = 100.0
normal_force = 10.0
mu_s = 0.3
mu_d = 0.15
stribeck_speed = 0.05
k_t = 1e4
[time]
end = 1.0
[sweep.axes]
belt_speed = [0.02, 0.3]
c = [0.2, 12.0]
""",
    """
[study]
model = "stop"
[parameters]
k_n = 500.0
c_n = 1.0
v0 = 1.0
[time]
end = 2.0
[sweep.axes]
gap = [0.0, 0.05, 0.1]
a0 = [1.0, 5.0]
""",
    """
[study]
model = "buckling_wall"
[parameters]
f_crit = 1.0
f_post = 0.5
plateau = 1.0
softening = 1.0
post_set = [2.0, 3.0]
post_stiffness = [0.2, 0.15]
[time]
end = 6.0
[sweep.axes]
v0 = [1.0, 2.5]
k_n = [0.5, 1.0]
""",
    TWO_WALLS
    + """
[sweep.axes]
a0 = [1.0, 8.0]
omega = [3.0, 9.0]
""",
    """
[time]
end = 0.06
[excitation]
records = ["after.csv"]
extend = "zero"
[sweep.axes]
mu = [0.01, 0.02]
record_scale = [1.0, 2.0]
""",
    """
[time]
end = 1.0
[excitation.random]
band = [1.0, 9.0]
rms = 3.0
duration = 1.0
interval = 0.05
[sweep.axes]
draw = [0, 1, 5]
mu = [0.1, 0.2]
""",
    """
[time]
end = 3.0
[sweep]
design = "table"
file = "points.csv"
""",
    """
[time]
end = 3.0
window = [1.0, 3.0]
[sweep]
design = "boundary"
halvings = 1
width = 1e-2
[sweep.axes]
a0 = { from = 1.0, to = 9.0, count = 3 }
mu = { from = 0.05, to = 0.6, count = 3 }
""",
    """
[parameters]
k_t = 1e3
[time]
end = 1.0
step = 4e-3
[sweep]
design = "convergence"
digits = 2
halvings = 3
[sweep.axes]
a0 = [15.0]
scheme = ["euler", "rk54"]
""",
)
FACTORS = [0.0, -1.0, 0.5, 2.0, 10.0, 0.1, 1e3, 1e-3, 1e-9, 1e9, 1e-300, 1e300, 1.0 + 1e-15]
NUMBERS = [0, 1, 2, -1, 0.5, 1e-300, 5e-324, 1e300, 1.7e308, math.inf, math.nan, 1e-12, 1e12, 3, 7, "default", True, [1.0], [], ""]
WORDS = [
    "exact",
    "euler",
    "devogelaere",
    "adapt1",
    "adapt2",
    "rk32",
    "rk54",
    "steady",
    "grid",
    "zip",
    "halton",
    "rubbing_mass",
    "stop",
    "log",
]


def mutated(rng: random.Random) -> str:
    """A study with one to three changed values, keys or sections."""
    tables: dict[str, Any] = tomllib.loads(rng.choice(BASES))
    for _ in range(rng.randint(1, 3)):
        if not places(tables) or not all(isinstance(tables.get(name, {}), dict) for name in ("study", "parameters", "time")):
            break  # refused
        container, key = rng.choice(places(tables))
        value = container[key]
        action = rng.choice(["value", "value", "value", "odd", "drop", "parameter", "parameter", "window"])
        if action == "window":
            tables.setdefault("time", {})["window"] = rng.choice(["steady", [0.0, 0.5], [0.25, 1.0]])
        elif action == "parameter":
            model = MODELS.get(str(tables.get("study", {}).get("model", "rubbing_mass")), MODELS["stop"])
            quantity = rng.choice(model.parameters)
            number = rng.choice([rng.choice(NUMBERS), 10.0 ** rng.uniform(-3.0, 3.0), float(rng.randint(0, 9))])
            given = [number, 2.0 * number] if quantity.kind == "list" and isinstance(number, float) else number
            tables.setdefault("time" if quantity.name in ("end", "step", "tolerance", "retries") else "parameters", {})[quantity.name] = (
                given
            )
        elif action == "drop" and isinstance(container, dict):
            del container[key]
        elif isinstance(value, int | float) and action == "value":
            container[key] = type(value)(value * rng.choice(FACTORS)) if isinstance(value, float) else value + rng.randint(-2, 3)
        elif isinstance(value, str) and action == "value":
            container[key] = rng.choice(WORDS)
        else:
            container[key] = rng.choice([*NUMBERS, *WORDS])
    return document(tables)


def run_soon(commands: Commands, folder: Path, *words: str) -> tuple[int, str, str]:
    """Run a command: it ends with a documented status, and commands no terminal, soon, if its programs need not be compiled.

    Rows that reach the bound of events or of steps of a run take as long as a million of them.
    """
    status, seconds, out, told = commands.run(folder, PATIENCE, *words)
    assert status in (0, 2, 3), (words, status, seconds, told)
    if seconds > SOON and "the bound of a run" not in out:  # once more, with compiled programs
        _, seconds, _, _ = commands.run(folder, PATIENCE, *words[:-1], "again" if words[0] == "run" else words[-1])
        assert seconds < SOON * SLACK, (words, seconds)
    assert not commanding(out + told), told
    assert "Traceback" not in out + told, told
    assert "cpu_aot_loader" not in told, "an alarm of XLA about a program that it has compiled itself"
    return status, out, told


def check(case: int, folder: Path, commands: Commands) -> int:
    """Run one mutated study, and the commands that read its run; the status of the run."""
    rng = random.Random(case)
    study, out = folder / "study.toml", folder / "out"
    for _ in range(1 if case % 4 == 0 else TRIES):
        study.write_text(mutated(rng), encoding="utf-8")
        with suppress(ConfigError):
            load(study)
            break
    files = {*folder.iterdir()}
    status, printed, told = run_soon(commands, folder, "run", "study.toml", "--json", "--out", "out")
    if status == 2:
        assert told.startswith("study.toml: "), told
        assert {*folder.iterdir()} == files
        return status
    assert (out / "_SUCCESS").exists()
    check_rows(status, json.loads(printed), out)
    assert run_soon(commands, folder, "check", "out")[0] == 0
    assert run_soon(commands, folder, "show", "out")[0] in (0, 3)
    command = rng.choice(["map", "report", "convergence", "bifurcation", "events"])
    run_soon(commands, folder, command, *(["study.toml", "--point", "0"] if command == "events" else ["out"]))
    return status


def check_rows(status: int, told: dict[str, Any], out: Path) -> None:
    """Check that every point has its row, whose status is told, and that rows without results have none."""
    rows = [row for part in sorted(out.glob("points/*.parquet")) for row in pq.read_table(part).to_pylist()]
    words = [row["status"] for row in rows]
    assert {*words} <= {*SENTENCES}
    failed = [row for row in rows if row["status"] not in RESULTS_SAID]
    assert told["state"] == "complete"
    assert told["statuses"] == {word: words.count(word) for word in words}
    assert told["failed"] == len(failed) or "convergence" in told
    assert (status == 3) == bool(failed) or "convergence" in told
    if not {"convergence", "boundaries"} & told.keys():
        assert len(rows) == told["points"]
    for row in failed:
        assert row.get("wear_power") is None or math.isnan(row["wear_power"])
    for row in rows:
        for name in ("wear_power", "peak_force", "slip_distance"):
            assert row["status"] not in RESULTS_SAID or not isinstance(row.get(name), float) or not math.isinf(row[name])


RESULTS_SAID = {status.sentence for status in RESULTS}


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """A process that runs commands."""
    made = Commands(tmp_path_factory.mktemp("commands"))
    yield made
    made.close()


@pytest.mark.slow
def test_a_mutated_study_is_refused_or_runs_to_its_end(tmp_path_factory: pytest.TempPathFactory, commands: Commands) -> None:
    statuses = []
    for case in range(CASES):
        folder = tmp_path_factory.mktemp("run")
        write_files(folder)
        statuses.append(check(case, folder, commands))
    assert {*statuses} >= {0, 2}  # some are refused, some run; few have rows that fail
