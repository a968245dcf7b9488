"""What a run of the tests costs: processor time, compiled programs and their shapes; and the bounds that the quick suite keeps.

TEST_FIGURES=quick.json python -m pytest ...         writes the figures of a run
python -m tests.figures check quick.json [--cold]    fails where the quick suite breaks a bound
python -m tests.figures record quick.json            the processor time from which the next run is judged
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import solve
from tribosweep.kernels.batch.program_key import LOCKSTEP
from tribosweep.kernels.models.schemes import PACE

COMPILING = ("/jax/core/compile/jaxpr_to_mlir_module_duration", "/jax/core/compile/backend_compile_duration")
HIT = "/jax/compilation_cache/cache_hits"
ROOM = 2048  # rows for which programs are made at least
MOST_SECONDS = 2.0  # of compiling, in a quick test without the mark `oracle`
MOST_GROWTH = 0.05  # of the processor time of the quick suite, over the last recorded value
RECORDED = Path(__file__).parent / "data" / "processor_time.json"


def processor_time(*others: int) -> float:
    """Processor time of this process, and of those that it has waited for if RUSAGE_CHILDREN is given [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, *others)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Figures:
    """Plugin of pytest: figures of each test, gathered from all workers and written to the file that TEST_FIGURES names."""

    def __init__(self, config: pytest.Config) -> None:
        """Listen to JAX, and look at each program of a batch that is made."""
        import jax

        self.config, self.begun = config, time.monotonic()
        self.tests: list[dict[str, Any]] = []
        self.seconds, self.compiled, self.workers, self.total = 0.0, 0, 0, 0.0
        self.shapes: list[tuple[str, str]] = []
        self.one_shape = True
        jax.monitoring.register_event_duration_secs_listener(self._count)
        jax.monitoring.register_event_listener(self._hit)
        make = programs.compiled

        def compiled(key: Any, devices: int, shapes: programs.Shapes, lanes: tuple[str, ...]) -> Any:
            # lengths of tables and of records, and sizes of structures, are a test's own
            self.shapes.append((repr(key), f"{devices} devices, {shapes[lanes[0]][0][:2]}, {len(lanes)} lanes"))
            return make(key, devices, shapes, lanes)

        def in_one_shape(key: Any, model: Any, rows: Any, shared: Any, members: Any, count: int, *results: Any) -> Any:
            *others, room = results
            if self.one_shape:
                pace = PACE if key.engine == LOCKSTEP else ()
                rows = {name: value if name in pace else in_lanes(value, count, name in model.tables) for name, value in rows.items()}
                room = max(room, ROOM)
            return solve_group(key, model, rows, shared, members, count, *others, room)

        solve_group = solve._solve_group  # noqa: SLF001 - where the shape is chosen
        programs.compiled, solve._solve_group = compiled, in_one_shape  # noqa: SLF001

    def _count(self, event: str, seconds: float, **_: Any) -> None:
        if event in COMPILING:
            self.seconds += seconds
            self.compiled += event == COMPILING[1]

    def _hit(self, event: str, **_: Any) -> None:
        self.compiled -= event == HIT

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Unless a test is about shapes, every program has one: many rows, and every parameter a column."""
        self.one_shape = item.get_closest_marker("shapes") is None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the figures of one test, with its fixtures."""
        before, begun = processor_time(resource.RUSAGE_CHILDREN), time.monotonic()
        self.seconds, self.compiled, self.shapes = 0.0, 0, []
        try:
            return (yield)
        finally:
            used = processor_time(resource.RUSAGE_CHILDREN) - before
            one = {"test": item.nodeid, "marks": sorted({mark.name for mark in item.iter_markers()} & {"slow", "long", "oracle", "shapes"})}
            share = min(1.0, used / (time.monotonic() - begun))  # of a processor: on a busy machine seconds of the clock say too much
            one |= {"cpu": used, "compiling": share * self.seconds, "compiled": self.compiled, "shapes": sorted(set(self.shapes))}
            self.tests.append(one)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """A worker sends its figures; the process that has the workers writes all of them."""
        self.total += processor_time(*[resource.RUSAGE_CHILDREN] * (not self.workers))  # workers have sent their own
        if (output := getattr(self.config, "workeroutput", None)) is not None:
            output["figures"] = json.dumps([self.total, self.tests])
        elif path := os.environ.get("TEST_FIGURES"):
            figures = {"wall": time.monotonic() - self.begun, "cpu": self.total, "tests": self.tests}
            Path(path).write_text(json.dumps(figures), encoding="utf-8")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the figures of a worker that ends."""
        total, tests = json.loads(getattr(node, "workeroutput", {}).get("figures", "[0, []]"))
        self.workers, self.total, self.tests = self.workers + 1, self.total + total, self.tests + tests

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print one line of figures."""
        terminalreporter.write_line(in_words({"cpu": self.total, "tests": self.tests}))


def in_words(figures: dict[str, Any]) -> str:
    """One line: tests, processor time, programs."""
    tests = figures["tests"]
    compiled, seconds = (sum(each[name] for each in tests) for name in ("compiled", "compiling"))
    return f"{len(tests)} tests, {figures['cpu']:.0f} s of processor time, {compiled} programs compiled in {seconds:.0f} s"


def in_lanes(value: np.ndarray, count: int, table: bool) -> np.ndarray:
    """A parameter of all rows as one of each row."""
    return np.broadcast_to(value, (count, *value.shape[-1:]) if table else (count,))


def machine() -> str:
    """What the processor time depends on besides the code: the CPU, Python, JAX."""
    import jax

    from tribosweep.kernels.runtime.program_cache import cpu

    return f"{cpu()}, Python {sys.version_info[0]}.{sys.version_info[1]}, jax {jax.__version__}"


def too_long(figures: dict[str, Any]) -> dict[str, float]:
    """Quick tests without the mark `oracle` that compile longer than they may [s]."""
    return {
        one["test"]: one["compiling"]
        for one in figures["tests"]
        if one["compiling"] > MOST_SECONDS and not {"slow", "oracle"} & set(one["marks"])
    }


def confirmed(first: dict[str, float]) -> dict[str, float]:
    """Those of the tests that compile too long in a second run of their files too, in which nothing runs beside them [s]."""
    if not first:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "figures.json")
        files = sorted({test.partition("::")[0] for test in first})
        run = [sys.executable, "-m", "pytest", "-q", *files]
        subprocess.run(run, env=os.environ | {"TEST_FIGURES": str(output), "TEST_PROGRAMS": folder}, check=False)
        again = too_long(json.loads(output.read_text(encoding="utf-8")))
    return {test: min(seconds, again[test]) for test, seconds in first.items() if test in again}


def broken(figures: dict[str, Any], cold: bool) -> list[str]:
    """The bounds that a quick suite breaks, one sentence each. `cold`: no programs were kept, and nothing else ran beside."""
    found = [
        f"{test} compiles for {seconds:.1f} s: mark it slow, or let it share programs (at most {MOST_SECONDS} s)"
        for test, seconds in confirmed(too_long(figures)).items()
    ]
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")).get(machine())
    keys: dict[str, dict[str, str]] = defaultdict(dict)
    for one in figures["tests"]:
        if "shapes" not in one["marks"]:
            for key, shape in one["shapes"]:
                keys[key].setdefault(shape, one["test"])
    found += [
        f"a program is made in {len(shapes)} shapes, by {', '.join(shapes.values())} ({key}): give them one, or the mark `shapes`"
        for key, shapes in keys.items()
        if len(shapes) > 1
    ]
    if cold and recorded and figures["cpu"] > recorded * (1.0 + MOST_GROWTH):
        found.append(f"the quick suite takes {figures['cpu']:.0f} s of processor time, {recorded:.0f} were recorded: more than 5 % growth")
    return found


def main(action: str, file: str, *options: str) -> None:
    """See the module."""
    figures = json.loads(Path(file).read_text(encoding="utf-8"))
    print(in_words(figures))
    if action == "record":
        known = json.loads(RECORDED.read_text(encoding="utf-8"))
        RECORDED.write_text(json.dumps({**known, machine(): round(figures["cpu"])}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    elif wrong := broken(figures, "--cold" in options):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
