"""What workers return, checked before it is written: a worker may run other software, or its memory or its connection may be damaged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernels.models.status import SENTENCES
from sweep.design.points import Points
from sweep.execution.shard import Piece, Setting
from sweep.io.errors import RunError
from sweep.study.config import Config

STAGES = {"compiling", "computing", "encoding"}


def require_setting(found: Any) -> Setting:
    """The description of a worker; RunError if it is none."""
    if type(found) is not Setting or not all(type(word) is str for pair in found.provenance.items() for word in pair):
        raise RunError(f"a worker returned {type(found).__name__} where its description was asked for")
    return found


def require_numbers(found: Any, count: int) -> np.ndarray:
    """(count,) numbers of a worker; RunError if they are none."""
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fi" or found.shape != (count,):
        raise RunError(f"a worker returned {type(found).__name__} where {count} numbers were asked for")
    return found


def require_piece(found: Any, config: Config, number: int, first: int, points: Points) -> Piece:
    """The piece of a shard that a worker has returned.

    Everything is checked but the numbers that the worker has computed: its bytes by their checksum, the columns and their types, the points,
    the statuses, and the counts of words that its footer tells.

    Args:
        found: what was returned. config: the study. number: of the shard. first: the first row that was asked for.
        points: those of the shard.

    Raises:
        RunError: it is no piece of this shard that begins with this row, or it is damaged.
    """
    try:
        fault = _fault(found, config, number, first, points)
    except Exception as error:  # any part may be anything
        fault = f"it cannot be read ({type(error).__name__}: {error})"
    if fault:
        raise RunError(f"a worker returned something else than rows of shard {number} from row {first} on: {fault}")
    piece: Piece = found
    return piece


def _fault(piece: Any, config: Config, number: int, first: int, points: Points) -> str:
    """What is wrong with a piece; empty if nothing is."""
    from sweep.execution import parquet
    from sweep.io import sealed_parquet

    if type(piece) is not Piece:
        return f"it is of the type {type(piece).__name__}"
    rows = piece.end - piece.first
    if (piece.number, piece.first) != (number, first) or not 0 < rows == points.count - first - piece.rest or piece.rest < 0:
        return f"it is rows {piece.first} to {piece.end} of shard {piece.number}, with {piece.rest} after them"
    data = sealed_parquet.require_whole(bytes(piece.data))
    metadata = sealed_parquet.read_metadata(data)
    facts = parquet.read_facts(metadata)
    if facts != {**piece.facts, "rows": rows}:
        return "its footer differs from what the worker tells of it"
    if (facts["config_hash"], facts["number"], facts["points_hash"]) != (config.digest, number, points.part(slice(piece.end)).digest()):
        return "it holds other points, or is of another study"
    if not metadata.schema.to_arrow_schema().equals(parquet.schema(config, {})):
        return "it has other columns"
    words = [quantity.name for quantity in config.returns if quantity.kind == "word"]
    table = sealed_parquet.decode(data, [parquet.POINT, parquet.STATUS, *words])
    if not np.array_equal(table.column(parquet.POINT).to_numpy(), points.numbers[first : piece.end]):
        return "it holds other points"
    counted = {name: _counts(table.column(name)) for name in words}
    if (_counts(table.column(parquet.STATUS)), counted) != (facts["statuses"], facts["words"]) or table.column(parquet.STATUS).null_count:
        return "its counts of words are not those of its rows"
    if not facts["statuses"].keys() <= {*SENTENCES}:
        return f"it has statuses that there are not: {', '.join(facts['statuses'])}"
    if facts["seconds"].keys() != STAGES or not all(isinstance(took, int | float) and math.isfinite(took) for took in facts["seconds"].values()):
        return "its times are no numbers"
    return ""


def _counts(column: Any) -> dict[str, int]:
    """The number of rows by word, for the words that occur; null counts as none."""
    return {each["values"]: each["counts"] for each in column.value_counts().to_pylist() if each["values"] is not None}
