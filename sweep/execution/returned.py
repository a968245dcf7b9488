"""What workers return, checked before it is written: a worker may run other software, or its memory or its connection may be damaged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tribosweep.kernels.models.status import SENTENCES
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.execution.shard import Piece, Setting
from tribosweep.sweep.io.errors import RunError
from tribosweep.sweep.study.config import Config

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

    Everything is checked but the numbers that the worker has computed: bytes by their checksum, columns and their types, points, statuses,
    and the counts of words in the footer.

    Args:
        found: what was returned. config: the study. number: of the shard. first: the first row that was asked for.
        points: those of the shard.

    Raises:
        RunError: it is no piece of this shard that begins with this row, or it is damaged.
    """
    try:
        _check(found, config, number, first, points)
    except Exception as error:  # any part may be anything
        fault = str(error) if type(error) is _WrongError else f"it cannot be read ({type(error).__name__}: {error})"
        raise RunError(f"a worker returned something else than rows of shard {number} from row {first} on: {fault}") from None
    piece: Piece = found
    return piece


class _WrongError(Exception):
    """A piece that was not asked for, or is damaged; the message is a clause that begins with "it" or "its"."""


def _require(good: bool, fault: str) -> None:
    """Raise _WrongError with a fault unless all is good."""
    if not good:
        raise _WrongError(fault)


def _check(piece: Any, config: Config, number: int, first: int, points: Points) -> None:
    """Raise an error, _WrongError or any other, if a piece is wrong; see `require_piece`."""
    from tribosweep.sweep.execution import parquet
    from tribosweep.sweep.io import sealed_parquet

    _require(type(piece) is Piece, f"it is of the type {type(piece).__name__}")
    rows, there = piece.end - piece.first, points.count - first
    fitting = (piece.number, piece.first) == (number, first) and 0 < rows == there - piece.rest and piece.rest >= 0
    _require(fitting, f"it is rows {piece.first} to {piece.end} of shard {piece.number}, with {piece.rest} after them")
    data = sealed_parquet.require_whole(bytes(piece.data))
    metadata = sealed_parquet.read_metadata(data)
    facts = {**piece.facts, "rows": rows}
    _require(parquet.read_facts(metadata) == facts, "its footer differs from what the worker tells of it")
    _require((facts["config_hash"], facts["number"]) == (config.digest, number), "it is of another study or shard")
    _require(facts["points_hash"] == points.part(slice(piece.end)).digest(), "it holds other points")
    _require(metadata.schema.to_arrow_schema().equals(parquet.schema(config, {})), "it has other columns")
    words = [quantity.name for quantity in config.returns if quantity.kind == "word"]
    table = sealed_parquet.decode(data, [parquet.POINT, parquet.STATUS, *words])
    _require(np.array_equal(table.column(parquet.POINT).to_numpy(), points.numbers[first : piece.end]), "it holds other points")
    status = table.column(parquet.STATUS)
    told = (_counts(status), {name: _counts(table.column(name)) for name in words})
    _require(told == (facts["statuses"], facts["words"]) and not status.null_count, "its counts of words are not those of its rows")
    _require(facts["statuses"].keys() <= {*SENTENCES}, "it has statuses that there are not")
    seconds = facts["seconds"]
    _require(seconds.keys() == STAGES and all(map(math.isfinite, seconds.values())), "its times are no numbers")


def _counts(column: Any) -> dict[str, int]:
    """The number of rows by word, for the words that occur; null counts as none."""
    return {each["values"]: each["counts"] for each in column.value_counts().to_pylist() if each["values"] is not None}
