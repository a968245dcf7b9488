"""The history of an adaptive study: the results of its levels, from which the next level follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from tribosweep.sweep.design.points import Points
    from tribosweep.sweep.execution.directory import RunDirectory


class History(Protocol):
    """The levels of a study computed so far."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are read from the rows of a level."""

    @property
    def progress(self) -> tuple[int, int]:
        """The amount done, and the total known so far."""

    def next_points(self) -> Points:
        """The points of the next level; none after the last."""

    def followed_by(self, rows: pa.Table) -> Self:
        """The history with the next level added. `rows` are the columns `reads` of that level, in the order of its points."""


Known = TypeVar("Known", bound=History)


def rows_of(facts: dict[str, Any] | None, points: Points) -> int:
    """How many of these points a shard has, by its facts: the first ones or all of them; 0 if it has others."""
    rows = 0 if facts is None else int(facts["rows"])
    return rows if facts is not None and facts["points_hash"] == points.part(slice(rows)).digest() else 0


def read_level_rows(directory: RunDirectory, numbers: Sequence[int], columns: tuple[str, ...]) -> pa.Table:
    """Read some columns of shards, concatenated; OSError if a shard cannot be read."""
    import pyarrow as pa

    from tribosweep.sweep.execution import parquet
    from tribosweep.sweep.io import sealed_parquet

    found = []
    for number in numbers:
        try:
            table = sealed_parquet.read(directory.shard(number), columns)
            words = {name: parquet.WORDS for name in columns if name == "status"}
            found.append(sealed_parquet.require(table, words, whole=words))
        except sealed_parquet.DamageError as damage:
            raise OSError(f"{directory.shard(number)} was changed by somebody else: {damage}") from damage
    return pa.concat_tables(found)


def read_levels(directory: RunDirectory, config: Config, history: Known) -> Known:
    """Continue the `history` by the levels whose shards are complete in the directory of the run."""
    from tribosweep.sweep.execution import parquet
    from tribosweep.sweep.io import sealed_parquet

    def has(number: int, block: Points) -> bool:
        return rows_of(parquet.read_facts(sealed_parquet.read_metadata(directory.shard(number))), block) == block.count

    first = 0
    while (points := history.next_points()).count:
        blocks = dict(enumerate(points.cut(config.shard_points), first))
        try:
            if not all(has(number, block) for number, block in blocks.items()):
                break
            rows = read_level_rows(directory, list(blocks), history.reads)
        except (OSError, sealed_parquet.DamageError):
            break
        history, first = history.followed_by(rows), first + len(blocks)
    return history
