"""The programs of every kind of row: speed, compile time and size: `python -m benchmarks programs`.

Every case of `cases` runs in a process of its own, without kept programs. Its program is traced, lowered and compiled, each timed apart in
processor seconds of all cores, which other work disturbs least; then it runs a few times. Lines, fusions and loops (`while`) are those of
the optimised HLO. "Not ok" counts rows whose status is not OK.

`python -m benchmarks.programs --against CHECKOUT` compares the kernels of this working tree with those of another, say a clone of an
earlier commit. Of each case two processes, one for each tree, take turns on the same rows. The table has medians of the ratios of a pass
(other over this: above 1 this tree is faster), by wall time and by processor time of all cores, which other work disturbs least. First it
says how far the results lie apart: the largest difference of each observable, over the largest value of that observable in all rows.
`--python INTERPRETER` does the same with the Python of another environment, say one with another JAX, instead of or beside another tree.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PASSES = 5
SMALLEST = 1e-6  # SI units
WIDTH = 8  # lanes of a block of a program of derivatives, as in a calibration
PHASES = ("trace", "lower", "compile")
SIZES = ("lines", "fusions", "loops")
ANSWER = "@@"  # begins a line that a process answers with


@dataclass(frozen=True, slots=True)
class Phases:
    """A compiled program.

    Attributes:
        program: the function. seconds: processor time of each of PHASES [s]. sizes: each of SIZES.
    """

    program: Callable[..., Any]
    seconds: dict[str, float]
    sizes: dict[str, int]


def in_phases(jitted: Any, arguments: Sequence[Any], options: dict[str, Any] | None) -> Phases:
    """Trace, lower and compile a jitted function for some arguments (arrays or their shapes)."""
    begun = [time.process_time()]
    traced = jitted.trace(*arguments)
    begun.append(time.process_time())
    lowered = traced.lower()
    begun.append(time.process_time())
    program = lowered.compile(options)
    begun.append(time.process_time())
    seconds = dict(zip(PHASES, map(float, np.diff(begun)), strict=True))
    text = program.as_text()
    return Phases(program, seconds, {"lines": text.count("\n"), "fusions": text.count(" fusion("), "loops": text.count(" while(")})


class Bench:
    """One case in this process."""

    def __init__(self, name: str) -> None:
        """Look the case up."""
        from benchmarks.cases import CASES

        self.case = CASES[name]
        self.made: list[Phases] = []
        self.taken = [0.0, 0.0]  # wall and processor time of the programs of a run

    def timed(self, program: Callable[..., Any], *arguments: Any) -> Any:
        """Call a program, and add its time to `taken`."""
        import jax

        begun = time.perf_counter(), time.process_time()
        found = jax.block_until_ready(program(*arguments))
        self.taken[0] += time.perf_counter() - begun[0]
        self.taken[1] += time.process_time() - begun[1]
        return found

    def run(self) -> dict[str, np.ndarray]:
        """Run the rows of the case: observables (and derivatives), and "status"."""
        self.taken = [0.0, 0.0]
        if self.case.along:
            return self.differentiate()
        from tribosweep.kernels.batch import compile as programs
        from tribosweep.kernels.runtime import jax_setup

        def compiled(key: Any, devices: int, shapes: Any, lanes: tuple[str, ...]) -> tuple[Callable[..., Any], float]:
            import jax

            whole = (key, devices, tuple(shapes.items()), lanes)
            if whole not in known:
                shape = {name: jax.ShapeDtypeStruct(*one) for name, one in shapes.items()}
                arguments = shape, jax.ShapeDtypeStruct((devices,), np.int32)
                self.made.append(in_phases(programs.traced(key, devices, lanes), arguments, dict(jax_setup.FOR_VALUES)))
                known[whole] = self.made[-1].program
            return lambda *arguments: self.timed(known[whole], *arguments), 0.0

        known, programs.compiled = programs.PROGRAMS, compiled
        found = self.case.solve(self.case.rows)
        return {**found.observables, "status": found.status}

    def differentiate(self) -> dict[str, np.ndarray]:
        """Values and derivatives of the floats, in blocks of WIDTH lanes, as a calibration computes them."""
        import jax

        from tribosweep.kernels import simulate

        case, zeros = self.case, {}
        columns = case.columns(case.rows)
        given = {"omega": 2.0 * np.pi, **columns}
        along = {name: np.broadcast_to(np.asarray(given[name], float), (case.rows,)) for name in case.along}
        others = {name: value for name, value in columns.items() if name not in along}
        # zeros select the program; other numbers are columns
        zeros = {name: others.pop(name) for name in [name for name, value in others.items() if np.ndim(value) == 0 and value == 0.0]}
        others = {
            name: np.broadcast_to(value, (case.rows, *np.shape(value)) if name.startswith("post_") else (case.rows,))
            for name, value in others.items()
        }

        def one(along: dict[str, Any], others: dict[str, Any]) -> Any:
            def values(along: dict[str, Any]) -> Any:
                found = simulate(case.model, {**zeros, **others, **along}, case.scheme)
                return {name: each for name, each in found.items() if each.dtype == float}, found

            return jax.jacfwd(values, has_aux=True)(along)

        split = jax.tree.map(lambda each: np.split(each, case.rows // WIDTH), (along, others))
        blocks = jax.tree.transpose(jax.tree.structure((along, others)), None, split)
        if not self.made:
            self.made.append(in_phases(jax.jit(jax.vmap(one)), blocks[0], {"xla_backend_optimization_level": 1}))
        found = self.timed(lambda: [self.made[0].program(*block) for block in blocks])
        slopes, values = jax.tree.map(lambda *each: np.concatenate(each), *found)
        return {**values, **{f"d {name} / d {by}": each for name, some in slopes.items() for by, each in some.items()}}


def keep(file: Path, results: Mapping[str, np.ndarray]) -> None:
    """Write results to a file."""
    arrays: dict[str, Any] = {name.replace("/", "|"): value for name, value in results.items()}  # a name is a file in it
    np.savez(file, **arrays)


def kept(file: Path) -> dict[str, np.ndarray]:
    """The results in a file."""
    with np.load(file) as stored:
        return {name.replace("|", "/"): stored[name] for name in stored.files}


def answer(**fields: Any) -> None:
    """Answer the process that asked."""
    print(ANSWER + json.dumps(fields), flush=True)


def serve(name: str, results: Path) -> None:
    """Answer the lines of stdin: "prepare" compiles and writes the results of a run to a file, "run" times a run."""
    from tribosweep import kernels

    sys.path.insert(0, str(ROOT))  # the rows are those of this tree, whosever kernels run
    bench = Bench(name)
    for line in sys.stdin:
        try:
            found = bench.run()
            if line.strip() == "prepare":
                keep(results, found)
                seconds = {phase: sum(each.seconds[phase] for each in bench.made) for phase in PHASES}
                sizes = {size: sum(each.sizes[size] for each in bench.made) for size in SIZES}
                failed = int(np.count_nonzero(found["status"]))
                answer(
                    seconds=seconds, sizes=sizes, failed=failed, rows=bench.case.rows, programs=len(bench.made), kernels=kernels.__file__
                )
            else:
                answer(wall=bench.taken[0], processor=bench.taken[1])
        except Exception as error:
            answer(error=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300])


class Tree:
    """A process that runs a case by the kernels of a working tree and the Python of an environment."""

    def __init__(self, tree: Path, python: str, name: str, results: Path) -> None:
        """Start the process."""
        self.tree, self.results, self.log = tree, results, results.with_suffix(".log")
        environment = os.environ | {"PYTHONPATH": str(tree), "JAX_ENABLE_COMPILATION_CACHE": "0"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [python, "-P", __file__, "--serve", name, str(results)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=tree,
            )  # fmt: skip

    def ask(self, line: str) -> dict[str, Any]:
        """The answer of the process to a line; with an "error" if it fails."""
        sent, received = stream(self.process.stdin), stream(self.process.stdout)
        with contextlib.suppress(BrokenPipeError):
            sent.write(line + "\n")
            sent.flush()
        for said in received:
            if said.startswith(ANSWER):
                return dict(json.loads(said.removeprefix(ANSWER)))
        last = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        return {"error": f"the process ended: {' '.join(last)}"[:300]}

    def prepare(self) -> dict[str, Any]:
        """Compile."""
        found = self.ask("prepare")
        if "error" not in found and not Path(found["kernels"]).is_relative_to(self.tree):
            return {"error": f"the kernels are those of {found['kernels']}"}
        return found

    def values(self) -> dict[str, np.ndarray]:
        """The results."""
        return kept(self.results)

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


def stream(of: IO[str] | None) -> IO[str]:
    """A pipe that exists."""
    assert of is not None
    return of


@contextlib.contextmanager
def trees(places: Sequence[tuple[Path, str]], name: str) -> Iterator[list[Tree]]:
    """Processes for one case, one for each tree and its Python."""
    with tempfile.TemporaryDirectory() as folder:
        started = [Tree(tree, python, name, Path(folder) / f"{number}.npz") for number, (tree, python) in enumerate(places)]
        try:
            yield started
        finally:
            for tree in started:
                tree.end()


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> tuple[float, str, int]:
    """How far results lie apart.

    Returns:
        The largest difference of a float in rows that are OK in both, over the largest value of its observable (at least SMALLEST, below
        which numbers are rounding errors); the name of that observable; and the number of rows in which a status, a whole number, or which
        numbers are missing differs (of rows that are not OK, such as motions without a period, only the status counts).
    """
    worst, where = 0.0, ""
    good = (one["status"] == 0) & (other["status"] == 0)
    differ = one["status"] != other["status"]
    for name in one.keys() & other.keys() - {"status"}:
        mine, theirs = one[name][good], other[name][good]
        whole = not np.issubdtype(mine.dtype, np.floating)
        unequal = mine != theirs if whole else np.isnan(mine) != np.isnan(theirs)
        differ[good] |= unequal.any(axis=tuple(range(1, mine.ndim)))
        if whole:
            continue
        both = np.isfinite(mine) & np.isfinite(theirs)
        off = np.abs(mine[both] - theirs[both]).max(initial=0.0) / np.abs(mine[both]).max(initial=SMALLEST)
        if off > worst:
            worst, where = float(off), name
    return worst, where, int(differ.sum())


def row(name: str, cells: Sequence[str]) -> None:
    """Print a row."""
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def table(names: Sequence[str], passes: int) -> None:
    """Print the table of this working tree."""
    print("| | rows/s | trace [s] | lower [s] | compile [s] | HLO lines | fusions | loops | not ok |")
    print(f"|---|{'---|' * 8}")
    for name in names:
        with trees([(ROOT, sys.executable)], name) as (tree,):
            told = tree.prepare()
            times = [tree.ask("run") for _ in range(passes)] if "error" not in told else []
        if problem := next((each["error"] for each in (told, *times) if "error" in each), None):
            row(name, [problem] + [""] * 7)
            continue
        rate = told["rows"] / statistics.median(each["wall"] for each in times)
        row(
            name,
            [
                f"{rate:,.0f}",
                *(f"{told['seconds'][phase]:.1f}" for phase in PHASES),
                *(f"{told['sizes'][size]:,}" for size in SIZES),
                f"{told['failed']} of {told['rows']:,}",
            ],
        )


def versions(python: str) -> str:
    """The versions of Python and JAX in an environment."""
    code = "import importlib.metadata, platform; print('Python', platform.python_version(), 'with jax', importlib.metadata.version('jax'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def comparison(names: Sequence[str], other: tuple[Path, str], passes: int) -> None:
    """Print the table of this working tree and Python against another tree, another Python or both."""
    this = ROOT, sys.executable
    told = " ".join(f"{word} {tree}, {versions(python)}" for word, (tree, python) in (("other:", other), ("; this:", this)))
    print(f"{told}; medians of {passes} passes\n".replace(" ;", ";"))
    print(
        "| | rows/s | times the other's speed | by processor time | trace + lower + compile [s], other | this | HLO lines, other | this "
        "| fusions, other | this | loops, other | this | not ok, other | this | largest difference | rows that differ |"
    )
    print(f"|---|{'---|' * 15}")
    for name in names:
        with trees([other, this], name) as pair:
            told = [tree.prepare() for tree in pair]
            times: list[list[dict[str, Any]]] = []
            if not any("error" in each for each in told):
                for number in range(passes):  # A B, B A, A B, ...
                    order = (0, 1) if number % 2 == 0 else (1, 0)
                    found = {place: pair[place].ask("run") for place in order}
                    times.append([found[0], found[1]])
                off, where, differ = apart(*(tree.values() for tree in reversed(pair)))
        every = [each for one in (told, *times) for each in one]
        if problem := next((each["error"] for each in every if "error" in each), None):
            row(name, [problem] + [""] * 14)
            continue
        rate = told[1]["rows"] / statistics.median(this["wall"] for _, this in times)
        ratios = [statistics.median(before[kind] / this[kind] for before, this in times) for kind in ("wall", "processor")]
        phases = [" + ".join(f"{each['seconds'][phase]:.1f}" for phase in PHASES) for each in told]
        sizes = [f"{each['sizes'][size]:,}" for size in SIZES for each in told]
        failed = [f"{each['failed']}" for each in told]
        cells = [f"{rate:,.0f}", *(f"{ratio:.2f}" for ratio in ratios), *phases, *sizes, *failed]
        row(name, [*cells, f"{off:.0e} ({where})" if where else "0", str(differ)])


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table of this working tree, or of two."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another working tree")
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python of another environment")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="names of cases, with * for anything; may be repeated"
    )
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.serve:
        return serve(asked.serve[0], Path(asked.serve[1]))
    from benchmarks.cases import CASES

    names = [name for name in CASES if not asked.only or any(fnmatch.fnmatchcase(name, pattern) for pattern in asked.only)]
    if not names:
        parser.error(f"no case is called so; there are {'; '.join(CASES)}")
    if asked.list:
        return print("\n".join(names))
    if asked.against is None and asked.python is None:
        return table(names, asked.passes)
    other = (asked.against or ROOT).resolve()
    if not (other / "tribosweep" / "kernels" / "__init__.py").exists():
        parser.error(f"--against: {other} has no package tribosweep.kernels")
    python = Path(asked.python or sys.executable).absolute()  # not resolved: a link belongs to its environment
    return comparison(names, (other, str(python)), asked.passes)


if __name__ == "__main__":
    main(sys.argv[1:])
