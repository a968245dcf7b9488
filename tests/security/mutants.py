"""Input from other hands, made at random from what is right: studies, units, headers of tables, expressions, files of bases.

`python -m tests.security.mutants COUNT SEED FOLDER` reads so many in one process and prints what it took as JSON.
"""

from __future__ import annotations

import copy
import datetime as dt
import functools
import io
import json
import os
import random
import resource
import sys
import time
import tomllib
import traceback
import warnings
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.sweep.mutants import ODD, places
from tribosweep import sweep
from tribosweep.kernels.models import MODELS
from tribosweep.sweep.analyses.fragility.input_intensity import measure_of
from tribosweep.sweep.analysis.branching import load as branching
from tribosweep.sweep.analysis.calibration import load as calibration
from tribosweep.sweep.analysis.optimisation import load as optimisation
from tribosweep.sweep.io.errors import ConfigError
from tribosweep.sweep.io.units import in_unit
from tribosweep.sweep.structure.basis_files import read_basis
from tribosweep.sweep.study.event import read_events

CONFIGS = Path(__file__).parents[2] / "configs"
MOST_SECONDS, MOST_BYTES = 10.0, 2 * 2**30  # of the processor for one, and of memory for all
Case = Callable[[], object]

TOWERS = (
    "1 kg**9**9**9",
    "1 m/s**9**9**9",
    f"1 {'(' * 90}",
    f"1 {'a' * 3000}",
    "1 kg^-999",
    "1 m^9^9",
    "9" * 5000,
    "1 " + "*".join(["kg"] * 90),
)
NUMBERS = (
    *(0, -1, 1, 3, 2**53 + 1, 2**63, 10**308, 10**400, 10**4200, -(10**400), True),
    *(0.0, -0.0, 0.5, 5e-324, 1e-300, 1e-12, 1e12, 1e200, 1.7e308, -1e300, float("nan"), float("inf"), -float("inf")),
)
DATES = (dt.date(1979, 5, 27), dt.time(7, 32), dt.datetime(1979, 5, 27, tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC))
LISTS: tuple[Any, ...] = (
    *(
        [],
        {},
        [[]],
        [{}],
        {"a": {}},
        [["x", ["v"]]],
        ["x", "v"],
        [1, [2]],
        [1, "2 mm", True],
        [[1.0, 2.0], [3.0]],
        [10**400] * 3,
        [0.5] * 3000,
    ),
    *({"from": 0.1, "to": 1.0}, {"from": 0.1, "to": 1.0, "count": 3}, {"from": 1, "to": 0, "count": 10**400}),
    *(
        {"distribution": [], "mean": 1},
        {"distribution": 10**4200},
        {"distribution": "choice", "values": [[1], {}]},
        {"column": [], "sd": {}},
    ),
)
WORDS = (
    "",
    "x",
    "mu",
    "default",
    "sobol",
    "table",
    "data/no.csv",
    "/dev/zero",
    "../",
    "1 Hz",
    "2 mm",
    "0.1 g",
    "1e999",
    "1e400 kg",
    "1,5 mm",
)
EVENTS = ("peak_force > 5 kN", "chance of peak_force > 5 kN <= 0.1", "mean of mean of x", "quantile [ of x", "quantile 1e999 of x <= 1")
PIECES = (
    *(
        "kg",
        "m",
        "s",
        "g",
        "mg",
        "N",
        "Hz",
        "rad",
        "rpm",
        "°C",
        "µm",
        "Ω",
        "%",
        "per",
        "squared",
        "square",
        "e",
        "pi",
        "x" * 60,
        "if",
        "__import__",
    ),
    *(
        "^",
        "**",
        "*",
        "/",
        "//",
        "·",
        ".",
        "(",
        ")",
        " ",
        "  ",
        "\t",
        "\n",
        "²",
        "⁻¹",
        "+",
        "-",
        "[",
        "]",
        "{",
        "'",
        '"',
        "#",
        ",",
        ";",
        "\\",
        "_",
    ),
    *("0", "1", "2", "9", "9" * 40, "0.5", "1e5", "0x1", "1j", "nan", "inf", "\u0663", "\x00", "\u202e"),
)
SYMBOLS = (
    *PIECES,
    *("<", ">", "<=", ">=", "=", "of", "mean", "worst", "quantile", "chance", "peak_force", "wear_power", "x[ring]", "5 kN"),
)


@functools.cache
def studies() -> list[tuple[dict[str, Any], Callable[[Any], object]]]:
    """The studies that come with the package, and what reads each."""
    readers = {"calibration": calibration.load, "optimise": optimisation.load, "branches": branching.load}
    found = []
    for path in sorted(CONFIGS.glob("*.toml")):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        found.append((tables, next((read for key, read in readers.items() if key in tables), sweep.load)))
    return found


def text_of(rng: random.Random, pieces: tuple[str, ...], most: int) -> str:
    """Pieces in any order."""
    return "".join(rng.choice(pieces) for _ in range(rng.randint(1, most)))


def unit(rng: random.Random) -> str:
    """A number with something like a unit."""
    number, space = rng.choice(("1", "-2.5", "1e-3", ".5", "1e999", "7" * 300)), rng.choice(("", " ", "  "))
    return f"{number}{space}{text_of(rng, PIECES, rng.choice((3, 8, 40)))}"


def value(rng: random.Random) -> Any:
    """A value of any type."""
    kind = rng.random()
    if kind < 0.2:
        return unit(rng)
    if kind < 0.3:
        return text_of(rng, SYMBOLS, 12)
    return copy.deepcopy(rng.choice(rng.choice((NUMBERS, NUMBERS, LISTS, LISTS, WORDS, TOWERS, DATES, ODD, EVENTS))))


def study(rng: random.Random, _: Path) -> Case:
    """A study with some values, keys and forms changed."""
    given, read = rng.choice(studies())
    tables = copy.deepcopy(given)
    for _ in range(rng.choice((1, 1, 2, 3))):
        table, key = rng.choice(places(tables) or [(tables, None)])
        how = rng.random()
        if key is None or how < 0.65:
            table["x" if key is None else key] = value(rng)
        elif how < 0.75:
            del table[key]
        elif how < 0.85 and isinstance(table, dict):
            word = (
                text_of(rng, SYMBOLS, 4) if rng.random() < 0.5 else rng.choice(("mu", "from", "count", "gap[a]", f"post_set[{'9' * 5000}]"))
            )
            table[word] = copy.deepcopy(table[key])
        else:
            table[key] = [copy.deepcopy(table[key])] * rng.choice((1, 2, 50))
    overrides = [f"{rng.choice(('parameters.mu', 'time.end', 'a.b', 'sweep.axes'))}={value(rng)!s:.9000}"] if rng.random() < 0.1 else []
    return lambda: read(tables, overrides) if overrides else read(tables)  # type: ignore[call-arg]


RANDOM = {"duration": 12.0, "interval": 0.01}
FIT = {"free": {"k_n": {"from": 0.1, "to": 10.0}}, "compare": {"peak_force": {"column": "force", "sd": 0.1}}}
TABLES = (  # content, reader, the study without the key that names the file, the table of that key
    ("a0,mu,scheme\n15.0,0.2,exact\n1.5,,\n", sweep.load, {"sweep": {"design": "table"}}, "sweep"),
    ("time [s],acceleration [g]\n0,0\n0.01,1\n20,0\n", sweep.load, {"excitation": {}}, "excitation"),
    ("frequency [Hz],psd [g^2/Hz]\n1.0,0.01\n20.0,0.01\n", sweep.load, {"excitation": {"random": RANDOM}}, "random"),
    ("v0 [m/s],force [kN]\n1.0,2.0\n2.0,3.0\n", calibration.load, {"study": {"model": "stop"}, "calibration": FIT}, "calibration"),
)


def table(rng: random.Random, folder: Path) -> Case:
    """A table whose header and cells are changed, as CSV or Parquet, with the study that reads it."""
    content, read, given, user = rng.choice(TABLES)
    tables: dict[str, Any] = copy.deepcopy(given)
    rows = [line.split(",") for line in content.splitlines()]
    for _ in range(rng.choice((1, 1, 2))):
        row = rng.choice((rows[0], rows[0], *rows))
        place = rng.randrange(len(row))
        odd = rng.choice((unit(rng), text_of(rng, PIECES, 30), rng.choice(ODD), "[(" * 200, "a[" * 200, " " * 999, "9" * 999))
        row[place] = rng.choice((f"{row[place].partition(' ')[0]} [{odd}]", f"{row[place]}({odd})", row[place] + odd, odd))
    data, name = "\n".join(map(",".join, rows)).encode(errors="surrogatepass"), "table.csv"
    if rng.random() < 0.2:
        names = [f"{place}{cell}".encode(errors="replace").decode() for place, cell in enumerate(rows[0])]
        file = io.BytesIO()
        pq.write_table(pa.table({each: [rng.choice((1.0, 2, "x", [1.0], rng.choice(DATES[:3])))] for each in names}), file)
        data, name = damaged(rng, file.getvalue()), "table.parquet"
    (folder / name).write_bytes(data)
    keys = {"sweep": "file", "excitation": "records", "random": "spectrum", "calibration": "data"}
    (tables["excitation"]["random"] if user == "random" else tables[user])[keys[user]] = str(folder / name)
    return lambda: read(tables)


def expression(rng: random.Random, _: Path) -> Case:
    """A unit, an event, a constraint, the name of an intensity."""
    text = rng.choice((unit(rng), text_of(rng, SYMBOLS, 20), rng.choice(EVENTS) + text_of(rng, SYMBOLS, 3)))
    if rng.random() < 0.1:
        text = text.replace(" ", " " * rng.choice((50, 2000, 50_000)))
    which = rng.randrange(4)
    if which == 0:
        return lambda: refused(lambda: in_unit(text, rng.choice(("kg", "m/s^2", "rad/s", "1", "Hz"))))
    if which == 1:
        return lambda: read_events("--chance", [text], MODELS["rubbing_mass"])
    if which == 2:
        return lambda: measure_of(text)
    tables = copy.deepcopy(next(tables for tables, read in studies() if read is optimisation.load))
    tables["optimise"][rng.choice(("minimise", "maximise"))] = text
    tables["optimise"]["constraints"] = [text]
    return lambda: optimisation.load(tables)


def refused(call: Callable[[], object]) -> None:
    """Call a function that refuses a text with ValueError."""
    try:
        call()
    except ValueError as error:
        raise ConfigError("", []) from error


def damaged(rng: random.Random, data: bytes) -> bytes:
    """A file with some bytes changed, or cut."""
    found = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 3, 20))):
        found[rng.randrange(len(found))] = rng.choice((0, 9, 97, 255, rng.randrange(256)))
    return bytes(found[: rng.randrange(len(found))] if rng.random() < 0.1 else found)


@functools.cache
def bases() -> dict[str, bytes]:
    """Files of bases of each kind."""
    arrays = {"frequency": [1.0, 2.0], "damping": [0.01, 0.02], "points.a": [[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]], "position.a": 0.3}
    plain, packed, parquet = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(plain, **arrays)  # type: ignore[arg-type]
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    pq.write_table(pa.table({"frequency": [1.0, 2.0], "a.x": [1.0, 0.5]}), parquet)
    return {"plain.npz": plain.getvalue(), "packed.npz": packed.getvalue(), "basis.parquet": parquet.getvalue()}


def basis(rng: random.Random, folder: Path) -> Case:
    """A file of a basis: damaged bytes, or JSON with changed values."""
    if rng.random() < 0.5:
        tables: dict[str, Any] = {
            "frequency": [1.0, 2.0],
            "damping": [0.01, 0.02],
            "points": {"a": [[1.0, 0.5], [0.0, 0.0], [0.0, 0.0]]},
            "position": {"a": 0.3},
        }
        given, key = rng.choice(places(tables))
        given[key] = value(rng)
        name, data = "basis.json", json.dumps(tables, default=str).encode(errors="surrogatepass")
    else:
        name, data = rng.choice(sorted(bases().items()))
        data = damaged(rng, data)
    (folder / name).write_bytes(data)
    return lambda: read_basis(folder / name)


KINDS = (study, study, study, table, table, expression, basis)


def read_many(count: int, seed: int, folder: Path) -> dict[str, Any]:
    """Read so many: how many were accepted, what raised anything but ConfigError, the longest time [s], memory of the process [bytes]."""
    rng, accepted, slowest, unexpected = random.Random(seed), 0, 0.0, list[str]()
    with chdir(CONFIGS), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numbers beyond floats
        for number in range(count):
            case = rng.choice(KINDS)(rng, folder)
            begun = time.process_time()
            try:
                case()
                accepted += 1
            except ConfigError as error:
                str(error)
            except Exception:
                unexpected.append(f"mutant {number} of seed {seed}: {traceback.format_exc(limit=-5)}")
            slowest = max(slowest, time.process_time() - begun)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"accepted": accepted, "unexpected": unexpected, "slowest": slowest, "memory": memory}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(read_many(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
