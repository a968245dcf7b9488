"""Modal bases in files: .npz and .json with arrays, .parquet with one row per mode, and .toml with the description of a beam.

| key | content |
|---|---|
| `frequency` [Hz] or `omega` [rad/s] | (N,) |
| `mass` | modal masses [kg], (N,); default 1 |
| `damping` | damping ratios, (N,) or one for all; or the modal damping matrix [N s/m], (N, N) |
| `participation` | (3, N), along x, y, z; default 0 |
| `M`, `K`, `C` | matrices of N coordinates in place of the four above; `participation`, shapes and starts are in these coordinates |
| `projection` | (N, M): modal coordinates for each coordinate of 1 in which a start is given, as `tribosweep modes` writes it of matrices |
| `points.NAME` | shapes, (3, N): displacements along x, y, z |
| `position.NAME` | place along the structure [m]; may be left out |

In .json `points` and `position` are tables of their own. In .parquet shapes are columns `NAME.x`, `NAME.y`, `NAME.z`, and the participation
columns `participation.x` and so on; a missing one is 0.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tribosweep.kernels.models.basis import AXES, MOST_MODES, Basis, too_many
from tribosweep.sweep.io import parquet_footer
from tribosweep.sweep.io.atomic import write_whole
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, advise_path, cut, shorten
from tribosweep.sweep.io.files import MEBIBYTE, MOST_FOOTER, read_bytes
from tribosweep.sweep.io.foreign import UnreadableError, guarded
from tribosweep.sweep.io.tables import shorten_type
from tribosweep.sweep.structure.beam_file import read_beam

NO_ARRAYS = "cannot be read as arrays (numpy.savez)"
MOST_BYTES = 512 * MEBIBYTE
MOST_JSON = 64 * MEBIBYTE  # lists of Python take twenty times the memory of their text
MOST_ARRAYS = 2**15
MOST_LISTS = 4 * MOST_ARRAYS  # in JSON, where a shape is three lists in one
MOST_OBJECTS = 64  # of a basis in JSON: it has three
MOST_NUMBERS = 2**25  # of all arrays together
LONGEST_HEADER = 10_000  # bytes of the header of an array, as numpy has it
ENTRY = b"PK\x01\x02"  # before each entry of the list of members of a .zip file
PLAIN = ("frequency", "omega", "mass", "damping", "participation", "projection", "M", "K", "C")
TABLES = ("points", "position")
TWO = 2.0 * np.pi


def read_basis(path: Path) -> Basis:
    """The basis of a file.

    Raises:
        ConfigError: the file cannot be read, or holds no basis; every problem names its key.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ConfigError(str(path), [Problem("", f"a basis is in a file that ends in {', '.join(READERS)}")])
    try:
        return reader(path)
    except OSError as error:
        raise ConfigError(str(path), [Problem("", f"{error.strerror or error}{advise_path(path)}")]) from error
    except ValueError as error:  # UnreadableError among them
        raise ConfigError(str(path), [Problem("", str(error))]) from error


def write_basis(path: Path, basis: Basis) -> None:
    """Write a basis as .npz or .json, as a whole or not at all.

    Raises:
        ConfigError: another ending. OSError: it cannot be written.
    """
    plain: dict[str, np.ndarray] = {
        "omega": basis.omega,
        "mass": basis.mass,
        "damping": basis.damping,
        "participation": basis.participation,
        **({} if basis.projection is None else {"projection": basis.projection}),
    }
    if path.suffix.lower() == ".json":
        tables = {
            **{name: value.tolist() for name, value in plain.items()},
            "points": {name: shape.tolist() for name, shape in basis.points.items()},
            "position": dict(basis.position),
        }
        write_whole(path, (json.dumps(tables, indent=1) + "\n").encode())
    elif path.suffix.lower() == ".npz":
        data = io.BytesIO()
        shapes = {f"points.{name}": shape for name, shape in basis.points.items()}
        np.savez_compressed(data, **plain, **shapes, **{f"position.{name}": np.asarray(value) for name, value in basis.position.items()})  # type: ignore[arg-type]
        write_whole(path, data.getvalue())
    else:
        raise ConfigError(str(path), [Problem("", "a basis is written to a file that ends in .npz or .json")])


def of_arrays(found: Mapping[str, Any]) -> Basis:
    """The basis of named arrays, with shapes under "points.NAME"; ValueError says what is wrong."""
    known = [*PLAIN, *(f"{table}.NAME" for table in TABLES)]
    for name in found:
        if name not in PLAIN and name.partition(".")[0] not in TABLES:
            raise ValueError(f"there is no key {name!r}; {advise(name, known)}")
    found = {name: _numbers(name, value) for name, value in found.items()}
    points = {name.partition(".")[2]: found[name] for name in found if name.startswith("points.")}
    position = {name.partition(".")[2]: _one(name, found[name]) for name in found if name.startswith("position.")}
    if "M" in found or "K" in found:
        missing = [name for name in ("M", "K") if name not in found]
        if missing:
            raise ValueError(f"{missing[0]} is missing: matrices need M and K")
        if double := [name for name in ("frequency", "omega", "mass", "damping", "projection") if name in found]:
            raise ValueError(f"give either matrices or modes: leave out {', '.join(double)}")
        size = _square("M", found["M"])
        none = np.zeros((size, size))
        participation = found.get("participation", np.zeros((3, size)))
        return Basis.of_matrices(found["M"], found["K"], found.get("C", none), points, participation, position)
    given = [name for name in ("frequency", "omega") if name in found]
    if len(given) != 1:
        raise ValueError("give either frequency [Hz] or omega [rad/s]" + (", not both" if given else ""))
    omega = found[given[0]] * (TWO if given[0] == "frequency" else 1.0)
    count = omega.size
    damping = found.get("damping", np.zeros(()))
    return Basis(
        omega,
        found.get("mass", np.ones(count)),
        np.broadcast_to(damping, (count,)) if damping.ndim == 0 else damping,
        points,
        found.get("participation", np.zeros((3, count))),
        position,
        found.get("projection"),
    )


def _square(name: str, matrix: Any) -> int:
    """The number of rows of a matrix, which it must have of columns too; ValueError says what is wrong."""
    shape = np.shape(matrix)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(f"{name} must be a matrix with as many rows as columns, not an array of shape {shape}")
    return int(shape[0])


def _check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check the shapes of the arrays of a basis before they are read; ValueError says what is wrong."""
    for name, shape in shapes.items():
        if len(shape) > 2:
            raise ValueError(f"{name} has {len(shape)} dimensions: a basis has lists and matrices")
        if max(shape, default=0) > MOST_MODES:
            raise ValueError(too_many(max(shape)))
    count = sum(math.prod(shape) for shape in shapes.values())
    if count > MOST_NUMBERS:
        raise ValueError(f"has {count:,} numbers: at most {MOST_NUMBERS:,} are read; leave out points or modes")


def _shapes_in(archive: zipfile.ZipFile) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays in a .npz file, of which only the headers are read; UnreadableError says what is wrong."""
    found = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        with archive.open(member) as file:
            start = file.read(12)  # with the length of the header, which may be 4 GB in later formats
        if start[:6] != np.lib.format.MAGIC_PREFIX:
            raise UnreadableError(f"{name} is no array of numpy")
        if start[6] > 1 and int.from_bytes(start[8:12], "little") > LONGEST_HEADER:
            raise UnreadableError(f"the header of {name} is longer than {LONGEST_HEADER:,} bytes")
        with archive.open(member) as file:
            version = np.lib.format.read_magic(file)
            if version not in HEADERS:
                raise UnreadableError(f"{name} has the format {version[0]}.{version[1]}, which is that of no array of numbers")
            shape, _, kind = HEADERS[version](file)
        if kind.kind not in "biuf":
            raise UnreadableError(f"{name} must hold numbers, not {cut(str(kind), 40)}")
        found[name] = shape
    return found


HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _numbers(name: str, value: Any) -> np.ndarray:
    """A value of a file as float64; UnreadableError if it is no array of real numbers."""
    with guarded(f"{name} must be numbers"):
        given = np.asarray(value)
        if given.dtype.kind == "c":
            raise UnreadableError(f"{name} must be real numbers, not complex ones")
        return np.asarray(value, float)


def _one(name: str, value: np.ndarray) -> float:
    """The only number of an array; ValueError if it has another number of them."""
    if value.size != 1:
        raise ValueError(f"{name} must be one number, not an array of shape {value.shape}")
    return float(value.reshape(()))


def _npz(path: Path) -> Basis:
    """A basis of numpy arrays; pickled objects are refused."""
    data = read_bytes(path, MOST_BYTES)
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("is no archive of arrays (numpy.savez)")
    if (count := data.count(ENTRY)) > MOST_ARRAYS:
        raise ValueError(f"has {count:,} arrays: at most {MOST_ARRAYS:,} are read")
    with guarded(NO_ARRAYS), zipfile.ZipFile(io.BytesIO(data)) as archive:
        shapes = _shapes_in(archive)
    _check_shapes(shapes)
    with guarded(NO_ARRAYS), np.load(io.BytesIO(data), allow_pickle=False) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise UnreadableError("is no archive of arrays (numpy.savez)")
        found = {name: archive[name] for name in archive.files}
    return of_arrays(found)


def _json(path: Path) -> Basis:
    """A basis of lists."""
    data = read_bytes(path, MOST_JSON)
    for mark, what, most in (
        (b":", "keys", MOST_ARRAYS),
        (b"[", "lists", MOST_LISTS),
        (b"{", "objects", MOST_OBJECTS),
    ):  # most take many times the memory of their text
        if (count := data.count(mark)) > most:
            raise ValueError(f"has {count:,} {what}: at most {most:,} are read")
    with guarded("cannot be read as JSON"):
        tables = json.loads(data)
    if not isinstance(tables, dict):
        raise ValueError("must be an object with the keys of a basis")  # noqa: TRY004 - one kind of problem
    found = {name: value for name, value in tables.items() if name not in TABLES}
    for table in TABLES:
        part = tables.get(table, {})
        if not isinstance(part, dict):
            raise ValueError(f"{table} must be an object: the name of a point and its content")  # noqa: TRY004 - one kind of problem
        found |= {f"{table}.{name}": value for name, value in part.items()}
    _check_shapes({name: _outer_shape(value) for name, value in found.items()})
    return of_arrays(found)


def _outer_shape(value: Any) -> tuple[int, ...]:
    """The shape of nested lists as their first entries have it."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _parquet(path: Path) -> Basis:
    """A basis with one row per mode."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(path, MOST_BYTES)
    parquet_footer.groups_of(parquet_footer.end_of(io.BytesIO(data), len(data), MOST_FOOTER))  # refuses what pyarrow cannot be given
    with guarded("is no Parquet file"), pq.ParquetFile(io.BytesIO(data)) as file:
        schema, groups = file.schema_arrow, range(file.metadata.num_row_groups)
        rows = sum(file.metadata.row_group(group).num_rows for group in groups)
    for field in schema:
        if not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)):
            raise ValueError(f"column {shorten(field.name)} must hold numbers, not {shorten_type(field.type)}")
    if len({*schema.names}) < len(schema.names):
        raise ValueError("has two columns of one name")
    _check_shapes(dict.fromkeys(schema.names, (rows,)))
    with guarded("is no Parquet file"), pq.ParquetFile(io.BytesIO(data)) as file:
        table = file.read()
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            raise ValueError(f"column {name!r} has {column.null_count} empty cells")
        columns[name] = column.to_numpy().astype(float)
    found: dict[str, Any] = {name: columns.pop(name) for name in ("frequency", "omega", "mass", "damping") if name in columns}
    names = dict.fromkeys(name.rpartition(".")[0] for name in columns)
    for name in columns:
        if not name.rpartition(".")[0] or name.rpartition(".")[2] not in AXES:
            raise ValueError(f"there is no column {name!r}: shapes are in columns NAME.x, NAME.y and NAME.z")
    for name in names:
        parts = [columns.get(f"{name}.{axis}", np.zeros(table.num_rows)) for axis in AXES]
        found["participation" if name == "participation" else f"points.{name}"] = np.stack(parts)
    return of_arrays(found)


READERS: dict[str, Callable[[Path], Basis]] = {".npz": _npz, ".json": _json, ".parquet": _parquet, ".toml": read_beam}
