"""Reading the rows and tables of a run. Every file is verified before its content is used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.execution.shard_check import SHARD_NAME, expected_by, place_of
from tribosweep.sweep.io.errors import ConfigError, Problem, advise, shorten

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


class Dataset:
    """The rows of a run, complete or not, in the order of its points.

    The first reading verifies every shard that it reads; a shard is not verified twice.
    """

    def __init__(self, path: Path) -> None:
        """Set the directory of the run; ConfigError if there is no run."""
        self.directory = RunDirectory(path)
        manifest = self.directory.read_run(to_continue=False)
        self._expected = expected_by(manifest)
        self._complete = self.directory.is_marked(manifest)
        self._verified: set[Path] = set()
        self._types: dict[str, pa.DataType] = {}  # of the columns of all shards so far

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns; none if no shard is written."""
        for table in self.shards():
            return list(table.schema.names)
        return []

    @property
    def signals(self) -> dict[str, pa.Field]:
        """The fields of its signals (spectra, classes of cycles ...) by name."""
        from tribosweep.sweep.execution.parquet import ENTRIES

        schema = next((table.schema for table in self.shards()), ())
        return {field.name: field for field in schema if ENTRIES.encode() in (field.metadata or {})}

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows with all or the named columns; ConfigError if there is none, or if a shard is not as it was written."""
        import pyarrow as pa

        found = [*self.shards(columns)]
        if not found:
            raise ConfigError(str(self.directory.path), [Problem("", "no shard is written yet")])
        return pa.concat_tables(found, promote_options="default")

    def shards(
        self, columns: Sequence[str] | None = None, having: Callable[[dict[str, int]], object] = lambda _statuses: True
    ) -> Iterator[pa.Table]:
        """The rows shard by shard; ConfigError at one that is not as it was written.

        Args:
            columns: their names; default all. having: read only shards for whose rows by status this is true.
        """
        from tribosweep.sweep.execution import parquet
        from tribosweep.sweep.io import sealed_parquet
        from tribosweep.sweep.io.files import MOST_TABLE, read_bytes

        for path, number in self._found():
            try:
                known = parquet.read_facts(sealed_parquet.read_metadata(path))
                if known and not having(known["statuses"]):
                    continue
                data = read_bytes(path, MOST_TABLE) if path in self._verified else sealed_parquet.verified(path)
                if not self._belongs(path, number, sealed_parquet.read_metadata(data)):
                    continue
                table = sealed_parquet.decode(data, columns)
            except sealed_parquet.DamageError as damage:
                raise damaged(self.directory, path, str(damage)) from damage
            self._verified.add(path)
            yield table

    def footers(self, whole: bool) -> Iterator[tuple[Path, pq.FileMetaData]]:
        """The shards, for a reader of its own, with the metadata of each; ConfigError at one that is not as it was written.

        Args:
            whole: verify every byte. Else only the footers are, which reveals a shard that is cut short or foreign, but no changed rows.
        """
        from tribosweep.sweep.io import sealed_parquet

        for path, number in self._found():
            try:
                metadata = sealed_parquet.verify(path, chunks=True) if whole else sealed_parquet.read_metadata(path, chunks=True)
            except sealed_parquet.DamageError as damage:
                raise damaged(self.directory, path, str(damage)) from damage
            if self._belongs(path, number, metadata):
                yield path, metadata

    def _found(self) -> Iterator[tuple[Path, int]]:
        """The files that are named as shards of this run, and their numbers."""
        for path in sorted(self.directory.points.glob("part-*.parquet")):
            match = SHARD_NAME.fullmatch(path.name)
            if match and int(match[1]) < self._expected.shards:
                yield path, int(match[1])

    def _belongs(self, path: Path, number: int, metadata: pq.FileMetaData) -> bool:
        """Whether an intact file is a shard of this run, and none that an extension will replace; ConfigError if it is foreign."""
        from tribosweep.sweep.execution import parquet
        from tribosweep.sweep.io import sealed_parquet

        try:
            facts = parquet.read_facts(metadata)
        except sealed_parquet.DamageError as damage:
            raise damaged(self.directory, path, str(damage)) from damage
        place = place_of(facts, number, self._expected) if facts else sealed_parquet.FOREIGN
        if isinstance(place, str):
            raise damaged(self.directory, path, place)
        layout = metadata.schema.to_arrow_schema()
        other = [field.name for field in layout if self._types.setdefault(field.name, field.type) != field.type]
        if other and place is not None:
            raise damaged(self.directory, path, f"its column {shorten(other[0])} has another type than in the shards before")
        if place is not None and self._complete and not self._expected.is_whole(number, place):
            raise damaged(self.directory, path, "it ends early, though the run is marked as complete")
        return place is not None


def rows_of(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of the run in a directory, with all or the named columns.

    Raises:
        ConfigError: there is no column of that name, no shard, or one that is not as it was written.
    """
    dataset = Dataset(path)
    found = dataset.table(columns)
    unknown = [name for name in columns or () if name not in found.column_names]
    if unknown:
        problems = [Problem("columns", f"the run has no column {name!r}; {advise(name, dataset.names)}") for name in unknown]
        raise ConfigError(str(path), problems)
    return found


def read_table(directory: RunDirectory, path: Path, kinds: Mapping[str, pa.DataType], whole: Collection[str] = ()) -> pa.Table:
    """The table of an adaptive design or of an analysis in the directory of a run.

    Args:
        directory: the run. path: the file. kinds, whole: what its columns must be, see `sealed_parquet.require`.

    Raises:
        FileNotFoundError: there is none. ConfigError: it is not as it was written.
    """
    from tribosweep.sweep.io import sealed_parquet

    try:
        return sealed_parquet.require(sealed_parquet.read(path), kinds, whole=whole)
    except sealed_parquet.DamageError as damage:
        raise damaged(directory, path, str(damage)) from damage


def damaged(directory: RunDirectory, path: Path, reason: str) -> ConfigError:
    """The error of a file of a run that is not as it was written."""
    return ConfigError(str(path), [Problem("", f"{reason}; tribosweep check {directory.path} --repair computes it again")])
