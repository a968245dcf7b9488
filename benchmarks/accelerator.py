"""Every engine on an accelerator, in one run of some minutes: `python -m benchmarks.accelerator [--seconds 540] [--out FILE]`.

Each engine runs in a process of its own on the accelerator, and in another on the CPU of the machine. The first has cores of its own, and
the second the other half of the cores. Some engines are compiled side by side; one at a time is timed. A process that fails, or is not done
when its time is up, stops no other: the tables have what it measured until then, and say what happened.

On the accelerator the rows grow from 10^3 to 10^7, with the lanes of a block and the steps of an iteration as they are set. Then other
lanes are tried, then (for schemes in lockstep) other steps, and the rows grow with the best of them. The results of the first rows are
compared with those of the CPU. Rates are those of the programs with the transfer of parameters to the device, in batches as in a study;
preparing and collecting rows on the host comes on top, and is shown for the largest number of rows.

`--dry-run` tries all this with few rows and short runs, and takes the CPU for the accelerator.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime as dt
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import CASES, PLANE, STEPPED, Case
from benchmarks.programs import apart, keep, kept
from tribosweep.kernels.runtime import jax_setup

ROOT = Path(__file__).resolve().parents[1]
ACCELERATOR, CPU = "accelerator", "cpu"
QUICK, PASSES = 1.0, 3  # a run that takes fewer seconds is repeated
started = time.time()  # of this process
GRACE = 5.0  # seconds that a process may take longer than it should


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        rows: numbers of rows; the results of the first are compared. batch: rows of one call; more rows take several calls.
        lanes, steps: lanes of a block and steps of an iteration; the first of each is what is set.
    """

    rows: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6, 10**7)
    batch: int = 1 << 17
    lanes: tuple[int, ...] = (jax_setup._LANES_OF_ACCELERATOR, 1 << 14, 1 << 16, 1 << 12, 1 << 20)  # noqa: SLF001
    steps: tuple[int, ...] = (jax_setup._STEPS_OF_ACCELERATOR, 5, 30, 1, 60)  # noqa: SLF001


SMALL = Plan(rows=(64, 256, 1024), batch=512, lanes=(64, 32), steps=(2, 1))
SHORT = {"end": 1.0, "window_start": 0.5}  # of a dry run [s]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine.

    Attributes:
        case: its rows; None: structures by euler, 1000 steps. dtype: of its numbers. stepped: whether the steps of an iteration matter.
    """

    case: Case | None
    dtype: Any = np.float64
    stepped: bool = False

    def short(self) -> Engine:
        """The engine with less work in a row."""
        if self.case is None or "end" not in self.case.constants:
            return self
        return dataclasses.replace(self, case=dataclasses.replace(self.case, constants={**self.case.constants, **SHORT}))

    def run(self, count: int, first: int, room: int) -> Any:
        """A `Solution` of `count` rows from number `first` on."""
        if self.case is not None:
            return self.case.solve(count, first, room, self.dtype)
        from benchmarks import structures
        from tribosweep.kernels.batch.solve import solve

        tube, amplitudes = structures.tube(), {f"amplitude[{way}]": size for way, size in zip("xy", structures.AMPLITUDES, strict=True)}
        rows = {name: values[first:] for name, values in structures.columns(first + count).items()}
        given = {**structures.CONTACT, **amplitudes, "omega[y]": structures.OMEGA_Y, "step": structures.STEP, "end": 1000 * structures.STEP}
        return solve(tube.model, "euler", {**given, **rows}, count=count, room=room, dtype=self.dtype)


def stepped(scheme: str, **more: float) -> Case:
    """SDND104's masses by a time scheme."""
    return Case("rubbing_mass", scheme, 0, {**STEPPED, **more}, PLANE)


# the first ones begin first: if the time is short, the last ones lack
ENGINES: dict[str, Engine] = {
    "exact, k = c = 0": Engine(CASES["rigid, k = c = 0"]),
    "euler": Engine(stepped("euler"), stepped=True),
    "exact, k and c": Engine(CASES["rigid, k and c"]),
    "stop": Engine(CASES["stop, 60 s"]),
    "wall with a table": Engine(CASES["wall with a table"]),
    "exact, penalised": Engine(CASES["penalised, critical c_t"]),
    "structures": Engine(None),
    "wall with a record": Engine(CASES["wall, record of 2 s"]),
    "steady": Engine(CASES["rigid, steady"]),
    "devogelaere": Engine(stepped("devogelaere"), stepped=True),
    "rk54": Engine(stepped("rk54")),
    "rk32": Engine(stepped("rk32")),
    "adapt2": Engine(stepped("adapt2", largest_step=2e-4)),
    "adapt1": Engine(stepped("adapt1", step=5e-5, largest_step=5e-5)),
    "euler, float32": Engine(stepped("euler"), np.float32, stepped=True),
    "exact, k = c = 0, float32": Engine(CASES["rigid, k = c = 0"], np.float32),
    "stop, steady": Engine(CASES["stop, steady"]),
}


# --- a process that measures one engine on one device ---


class Device:
    """A device that several processes use, one at a time: a lock by a file, which a thread may take again while it has it."""

    def __init__(self, place: Path) -> None:
        """Use the file at a place."""
        self.place, self.mine, self.held = place, threading.RLock(), contextlib.ExitStack()
        self.depth = 0

    def __enter__(self) -> None:
        """Wait for the device."""
        self.mine.acquire()
        self.depth += 1
        if self.depth == 1:
            fcntl.flock(self.held.enter_context(self.place.open("a")), fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Let others have it."""
        self.depth -= 1
        if not self.depth:
            self.held.close()
        self.mine.release()


@dataclass(slots=True)
class Meter:
    """Measures an engine on the device of this process.

    Attributes:
        engine, plan: what is measured. tell: takes each result. until: when it should be done [s since 1970].
        device: held while something is timed.
        lanes, steps: in use. taken: seconds by lanes, steps and rows. made: the programs by lanes and steps.
        compiling: seconds that the last program took.
    """

    engine: Engine
    plan: Plan
    tell: Callable[..., None]
    until: float
    device: contextlib.AbstractContextManager[Any] = field(default_factory=contextlib.nullcontext)
    lanes: int = 0
    steps: int = 0
    taken: dict[tuple[int, int, int], float] = field(default_factory=dict)
    made: dict[tuple[int, int], dict[Any, Any]] = field(default_factory=dict)
    compiling: float = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.until - time.time()

    def use(self, lanes: int, steps: int) -> None:
        """Use a number of lanes and of steps from now on, and compile the program unless that was done."""
        import jax

        from tribosweep.kernels.batch import compile as programs

        if (lanes, steps) == (self.lanes, self.steps):
            return
        self.made[self.lanes, self.steps] = dict(programs.PROGRAMS)
        self.lanes, self.steps = lanes, steps
        if lanes:
            jax_setup.lanes = lambda loop, precision="float64": lanes  # noqa: ARG005
            jax_setup.steps = lambda little: steps  # noqa: ARG005
        programs.PROGRAMS.clear()
        if (lanes, steps) in self.made:
            programs.PROGRAMS.update(self.made[lanes, steps])
            return
        programs.traced.cache_clear()
        jax.clear_caches()
        found = self.engine.run(self.plan.rows[0], 0, self.batch)  # the first run also loads the program
        self.compiling = found.compile_seconds
        self.tell("compiled", lanes=lanes, steps=steps, seconds=found.compile_seconds)

    @property
    def batch(self) -> int:
        """Rows of one call."""
        return max(self.plan.batch, self.lanes)

    def once(self, rows: int) -> tuple[float, float]:
        """Run some rows: seconds of the programs, and of all."""
        begun, programs = time.perf_counter(), 0.0
        for first in range(0, rows, self.batch):
            programs += self.engine.run(min(self.batch, rows - first), first, self.batch).run_seconds
        return programs, time.perf_counter() - begun

    def measure(self, rows: int, what: str) -> float | None:
        """Time a number of rows, unless that was done: seconds of the programs. None, if it would take too long."""
        place = self.lanes, self.steps, rows
        if place not in self.taken:
            known = [
                (self.blocks(done), seconds) for (*setting, done), seconds in self.taken.items() if setting == [self.lanes, self.steps]
            ]
            if known and max(known)[1] * self.blocks(rows) / max(known)[0] > 0.5 * self.left:
                return None
            with self.device:
                found = [self.once(rows)]
                while len(found) < PASSES and found[0][1] < QUICK:
                    found.append(self.once(rows))
            programs, whole = (statistics.median(each) for each in zip(*found, strict=True))
            self.taken[place] = programs
            self.tell("rate", what=what, lanes=self.lanes, steps=self.steps, rows=rows, seconds=programs, whole=whole)
        return self.taken[place]

    def blocks(self, rows: int) -> int:
        """Blocks of lanes that rows fill."""
        return -(-rows // (self.lanes or 1))

    def grow(self, what: str, most: int) -> None:
        """Measure growing numbers of rows up to `most`, until the time is up."""
        for rows in self.plan.rows:
            if rows > most or self.measure(rows, what) is None:
                break

    def best(self, settings: Sequence[tuple[int, int]], what: str) -> tuple[int, int]:
        """The setting (lanes, steps) with the most rows/s.

        Each is tried with the largest number of rows that the first took up to a batch, and at least with as many as it has lanes.
        """
        first = settings[0]
        rows = max(rows for (*setting, rows) in self.taken if tuple(setting) == first and rows <= max(self.plan.batch, first[0]))
        known = self.taken[*first, rows]
        rates = {first: rows / known}
        for lanes, steps in settings[1:]:
            if self.left < max(0.3 * (self.until - started), 2.0 * self.compiling):  # the rest is for the growth of the best
                break
            these = max(rows, lanes)
            # at most; a block takes as long however few lanes it has, or a lane as long however many there are
            expected = known * max(these / rows, -(-these // lanes) / -(-rows // first[0]))
            if expected > 0.5 * self.left:
                continue
            self.use(lanes, steps)
            seconds = self.measure(these, what)
            if seconds is not None:
                rates[lanes, steps] = these / seconds
        return max(rates, key=lambda setting: rates[setting])


def on_accelerator(meter: Meter, store: Callable[[Any], None]) -> None:
    """Measure an engine on an accelerator."""
    plan = meter.plan
    lanes, steps = plan.lanes[0], plan.steps[0]
    meter.use(lanes, steps)
    store(meter.engine.run(plan.rows[0], 0, meter.batch))
    meter.grow("as set", plan.batch)
    lanes, steps = meter.best([(each, steps) for each in plan.lanes], "lanes")
    if meter.engine.stepped:
        lanes, steps = meter.best([(lanes, steps), *((lanes, each) for each in plan.steps if each != steps)], "steps")
    meter.use(lanes, steps)
    meter.tell("best", lanes=lanes, steps=steps)
    meter.grow("best", plan.rows[-1])


def on_cpu(meter: Meter, store: Callable[[Any], None]) -> None:
    """Measure an engine on the CPU, as it is set there."""
    meter.use(0, 1)
    store(meter.engine.run(meter.plan.rows[0], 0, meter.batch))
    meter.grow("as set", meter.plan.rows[-1])


def serve(name: str, device: str, folder: Path, until: float, cores: Sequence[int], dry: bool) -> None:
    """Measure an engine on a device, on some cores, and write what is found to files in a folder, line by line."""
    os.sched_setaffinity(0, cores)
    place = folder / f"{name}, {device}"

    def tell(kind: str, **fields: Any) -> None:
        with place.with_name(f"{place.name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"kind": kind, **fields}) + "\n")

    def store(found: Any) -> None:
        keep(place.with_name(f"{place.name}.npz"), {**found.observables, "status": found.status})

    try:
        described = jax_setup.describe()
        tell("device", device=described["device"], jax=described["jax"], cores=jax_setup.cores())
        engine, plan = ENGINES[name], SMALL if dry else Plan()
        meter = Meter(engine.short() if dry else engine, plan, tell, until)
        if device == ACCELERATOR:  # programs run while the device is held, but are compiled side by side
            from tribosweep.kernels.batch import compile as programs

            meter.device = programs.DEVICES = Device(folder / "lock")  # type: ignore[assignment]
        (on_accelerator if device == ACCELERATOR else on_cpu)(meter, store)
    except Exception as error:
        sentence = next(iter(str(error).strip().splitlines()), "")
        tell("error", sentence=f"{type(error).__name__}: {sentence}"[:300])


# --- the process that starts the others ---


@dataclass(slots=True)
class Job:
    """A process that measures one engine on one device.

    Attributes:
        until: when it should be done [s since 1970]. process: while it runs. ended: why it was ended, if it was.
    """

    name: str
    device: str
    until: float = 0.0
    process: subprocess.Popen[bytes] | None = None
    ended: str = ""

    def start(self, folder: Path, until: float, cores: Sequence[int], dry: bool) -> None:
        """Start it on some cores."""
        self.until = until
        environment = dict(os.environ) | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        if self.device == CPU or dry:
            environment["JAX_PLATFORMS"] = "cpu"
        environment["JAX_NUM_CPU_DEVICES"] = str(len(cores))
        if not dry:
            environment["JAX_ENABLE_COMPILATION_CACHE"] = "0"
        command = [
            sys.executable,
            "-m",
            "benchmarks.accelerator",
            "--serve",
            self.name,
            self.device,
            str(folder),
            str(until),
            ",".join(map(str, cores)),
        ]
        with (folder / f"{self.name}, {self.device}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *["--dry-run"] * dry], cwd=ROOT, env=environment, stdout=log, stderr=log
            )  # fmt: skip

    def runs(self, end: float) -> bool:
        """Whether it still runs; it is ended if it takes too long."""
        if self.process is None:
            return False
        if self.process.poll() is None and time.time() > min(self.until + GRACE, end):
            self.process.kill()
            self.process.wait()
            self.ended = "not done when its time was up"
        return self.process.poll() is None


def run_all(names: Sequence[str], folder: Path, seconds: float, side_by_side: int, dry: bool) -> dict[str, list[Job]]:
    """Run all processes; those of a device start one after the other, as places become free."""
    end = time.time() + seconds
    every = sorted(os.sched_getaffinity(0))
    half = every[: max(1, len(every) // 2)]
    queues = {ACCELERATOR: (side_by_side, every[len(half) :] or every), CPU: (1, half)}
    jobs = {device: [Job(name, device) for name in names] for device in queues}
    while True:
        busy = False
        for device, (places, cores) in queues.items():
            waiting = [job for job in jobs[device] if job.process is None]
            running = sum(job.runs(end) for job in jobs[device])
            for job in waiting[: places - running]:
                left = end - time.time()
                if left > GRACE:
                    # those that still wait share the time that is left, but never get a sliver
                    job.start(folder, min(end - GRACE / 2, time.time() + max(left * places / len(waiting), GRACE)), cores, dry)
                    running += 1
            busy |= running > 0 or (bool(waiting) and end - time.time() > GRACE)
        if not busy:
            return jobs
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Found:
    """What a process found: its lines, its results, and what went wrong."""

    lines: list[dict[str, Any]]
    results: dict[str, np.ndarray] | None
    wrong: str

    def rates(self, what: str) -> dict[int, float]:
        """Rows -> rows/s, with the setting `what` ("as set", "best")."""
        setting = next(
            ((one["lanes"], one["steps"]) for one in self.lines if one["kind"] == ("compiled" if what == "as set" else "best")), None
        )
        return {one["rows"]: one["rows"] / one["seconds"] for one in self.of("rate") if (one["lanes"], one["steps"]) == setting}

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind."""
        return [one for one in self.lines if one["kind"] == kind]


def found_by(job: Job, folder: Path) -> Found:
    """What a process left in the folder."""
    place = folder / f"{job.name}, {job.device}"
    told, results, wrong = place.with_name(f"{place.name}.jsonl"), None, job.ended
    lines = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()] if told.exists() else []
    with contextlib.suppress(OSError, ValueError):  # the process may have been ended while it wrote
        results = kept(place.with_name(f"{place.name}.npz"))
    if job.process is None:
        wrong = "not begun: the time was up"
    elif errors := [one["sentence"] for one in lines if one["kind"] == "error"]:
        wrong = errors[0]
    elif not wrong and job.process.returncode:
        last = place.with_name(f"{place.name}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        wrong = f"ended with status {job.process.returncode}: {' '.join(last)[:300]}"
    return Found(lines, results, wrong)


def number(value: float | None) -> str:
    """A number of rows/s in three digits, or "-"."""
    return "-" if value is None else f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def power(rows: int) -> str:
    """A number of rows as it stands over a column."""
    exponent = round(np.log10(rows))
    return f"10^{exponent}" if 10**exponent == rows else f"{rows:,}"


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> list[str]:
    """The first two lines of a table."""
    return [line(cells), f"|{'---|' * len(cells)}"]


def speed_table(every: Mapping[str, tuple[Found, Found]], plan: Plan) -> list[str]:
    """The speed on the accelerator, against the CPU."""
    text = head(
        [
            "engine", "", "lanes", "steps", "compile [s]", *map(power, plan.rows), "with the host's work", "CPU", "times the CPU",
            "largest difference", "rows that differ", "not ok",
        ]
    )  # fmt: skip
    for name, (mine, cpu) in every.items():
        best_of_cpu = max(cpu.rates("as set").values(), default=None)
        compared = ["-"] * 3
        if mine.results is not None:
            compared[2] = f"{np.count_nonzero(mine.results['status'])} of {mine.results['status'].size:,}"
        if mine.results is not None and cpu.results is not None:
            off, where, differ = apart(cpu.results, mine.results)
            compared[:2] = f"{off:.0e} ({where})" if where else "0", str(differ)
        chosen = {(one["lanes"], one["steps"]) for one in mine.of("best")}
        first = next(((one["lanes"], one["steps"]) for one in mine.of("compiled")), None)
        for what in ("as set", *(["best"] if chosen - {first} else [])):
            setting = first if what == "as set" else next(iter(chosen))
            rates = mine.rates(what)
            most = max(rates.values(), default=None)
            same = [one for one in mine.lines if (one.get("lanes"), one.get("steps")) == setting]
            compiling = next((f"{one['seconds']:.1f}" for one in same if one["kind"] == "compiled"), "-")
            whole = next((one["rows"] / one["whole"] for one in reversed(same) if one["kind"] == "rate"), None)
            lanes, steps = (f"{setting[0]:,}", str(setting[1])) if setting else ("-", "-")
            ratio = f"{most / best_of_cpu:.2g}" if most and best_of_cpu else "-"
            text.append(
                line([name, what, lanes, steps, compiling, *(number(rates.get(rows)) for rows in plan.rows), number(whole),
                      number(best_of_cpu), ratio, *compared])
            )  # fmt: skip
    return text


def setting_table(every: Mapping[str, tuple[Found, Found]], values: Sequence[int], which: str) -> list[str]:
    """Rows/s by lanes, or by steps."""
    other = "steps" if which == "lanes" else "lanes"
    values = sorted(values)
    text = head(
        [
            "engine",
            "rows, or as many as lanes if these are more" if which == "lanes" else "rows",
            other,
            *(f"{which}: {value:,}" for value in values),
            "best",
        ]
    )
    for name, (mine, _) in every.items():
        tried = [one for one in mine.of("rate") if one["what"] == which]
        if not tried:
            continue
        rows, held = min(one["rows"] for one in tried), tried[0][other]
        same = [one for one in mine.of("rate") if one["rows"] == max(rows, one["lanes"] * (which == "lanes")) and one[other] == held]
        rates = {one[which]: one["rows"] / one["seconds"] for one in same}
        best = max(rates, key=lambda value: rates[value])
        text.append(line([name, f"{rows:,}", f"{held:,}", *(number(rates.get(value)) for value in values), f"{best:,}"]))
    return text


def report(every: Mapping[str, tuple[Found, Found]], plan: Plan, about: Sequence[str]) -> str:
    """The whole text, as Markdown.

    Args:
        every: engine -> what was found on the accelerator and on the CPU. plan: what was asked for. about: sentences that stand first.
    """
    devices = [next(iter(found.of("device")), None) for pair in every.values() for found in pair]
    mine = next((one for one in devices[::2] if one), None)
    cpu = next((one for one in devices[1::2] if one), None)
    text = ["# Engines on an accelerator", ""]
    if mine:
        text += [f"Accelerator: {mine['device']}, jax {mine['jax']}, float64 unless said.", ""]
    if cpu:
        text += [f"CPU: {cpu['device']}, {cpu['cores']} cores.", ""]
    text += [*about, "", "## Oscillators per second", "", *speed_table(every, plan)]
    text += ["", "## Lanes of a block: oscillators per second", "", *setting_table(every, plan.lanes, "lanes")]
    text += ["", "## Steps of an iteration: oscillators per second", "", *setting_table(every, plan.steps, "steps")]
    wrong = [
        f"- {name}, {device}: {found.wrong}"
        for name, pair in every.items()
        for device, found in zip((ACCELERATOR, CPU), pair, strict=True)
        if found.wrong
    ]
    return "\n".join([*text, "", "## What failed", "", *(wrong or ["Nothing."]), ""])


def platform_of_jax() -> str:
    """The platform that JAX chooses here, found out by a process of its own."""
    code = "import tribosweep, jax; print(jax.default_backend())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split()[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all engines and write the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accelerator", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=540.0, help="time for all engines (default 540)")
    parser.add_argument("--out", type=Path, default=Path("accelerator.md"))
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="only this one; may be repeated")
    parser.add_argument("--side-by-side", type=int, help="engines that are compiled at the same time (default: a quarter of the cores)")
    parser.add_argument("--dry-run", action="store_true", help="few rows, short runs, and the CPU for the accelerator")
    parser.add_argument("--serve", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.serve:
        name, device, folder, until, cores = asked.serve
        return serve(name, device, Path(folder), float(until), [int(core) for core in cores.split(",")], asked.dry_run)
    try:
        asked.out.touch()
    except OSError as error:  # fail now rather than after minutes
        parser.error(f"--out: {asked.out} cannot be written: {error.strerror}")
    begun = time.time()
    if not asked.dry_run and platform_of_jax() == "cpu":
        parser.error("JAX finds no accelerator here; --dry-run takes the CPU for it")
    names = [name for name in ENGINES if asked.engine is None or name in asked.engine]
    side_by_side = asked.side_by_side or max(1, jax_setup.cores() // 4)
    plan = SMALL if asked.dry_run else Plan()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        jobs = run_all(names, folder, asked.seconds - (time.time() - begun), side_by_side, asked.dry_run)
        pairs = zip(*jobs.values(), strict=True)
        every = {pair[0].name: (found_by(pair[0], folder), found_by(pair[1], folder)) for pair in pairs}
    today = dt.datetime.now(tz=dt.UTC).date()
    taken = f"{today}: {time.time() - begun:.0f} s of {asked.seconds:.0f} s, {side_by_side} side by side."
    dry = ["A dry run: few rows, short runs, and the CPU for the accelerator. Its rates mean nothing."] * asked.dry_run
    asked.out.write_text(report(every, plan, [taken, *dry]), encoding="utf-8")
    return print(asked.out)


if __name__ == "__main__":
    main()
