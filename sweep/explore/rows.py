"""The rows of a run in DuckDB, as its page may query them: reading only, and nothing but this run."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tribosweep.sweep.analysis.run_state import model_of
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.explore.bins import NONE, Bins, bins_of, escaped
from tribosweep.sweep.explore.columns import NUMBER, TABLE, WHOLE, WORD, Column, columns_of
from tribosweep.sweep.io.errors import ConfigError, Problem, advise

if TYPE_CHECKING:
    import duckdb

SMALL = 2_000_000  # rows: a run up to this size is read as a whole
SAMPLE = 1_000_000  # about how many rows of a larger run are read first
LONGEST = 60.0  # s that a query of the page may take
MOST_ROWS = 1_000_000  # of an answer; a view has some thousands
MOST_VIEWS = 5  # views that are kept for the page
MOST_KEPT = 32  # tables of counts, likewise
MOST_WORDS = 200
FEW_VALUES = 4096
KEPT_NAME = re.compile(r"preagg_[0-9a-f]{1,8}")
POINT, ROWS = "point", "rows:"  # columns of a view: the number of the point, and how many rows a row stands for
BIN, SUM, VALID = "bin:", "sum:", "valid:"  # prefixes of others: the code of a bin, a sum of values, and how many rows it is over


class RefusedError(ValueError):
    """A question that is not answered, such as a statement that is not one SELECT, or that DuckDB refuses; the message says why."""


@dataclass(frozen=True, slots=True)
class View:
    """Rows with the bins of some columns.

    Attributes:
        number: of the view. table: what the page queries: the point, the columns, their codes, and sums.
        names: the columns. means: those of which there are sums. bins: column -> its bins, for numbers.
    """

    number: int
    table: str
    names: tuple[str, ...]
    means: tuple[str, ...]
    bins: dict[str, Bins]


class Rows:
    """The rows of a run, all or a sample of them in memory.

    Attributes:
        columns: name -> Column. count: number of rows of the run so far. every: the sample has one row in `every`, chosen by a hash of the
            number of its point; 1 for all rows. verified: whether every byte of the run was verified, or only its footers.
        running: of each query with a limit, when it has to end, and what is set if it is not wanted any more.
    """

    def __init__(self, path: Path) -> None:
        """Open a run, complete or not.

        Raises:
            ConfigError: there is no run or no row, a shard is not as it was written, or duckdb is not installed.
        """
        dataset = Dataset(path)
        footers = [*dataset.footers(whole=False)]
        self.count = sum(metadata.num_rows for _, metadata in footers)
        if not self.count:
            raise ConfigError(str(path), [Problem("", "no shard is written yet")])
        self.verified = self.count <= SMALL
        if self.verified:
            footers = [*dataset.footers(whole=True)]
        document = dataset.directory.read_document()
        schema = footers[0][1].schema.to_arrow_schema()
        found = columns_of(schema, [metadata for _, metadata in footers], model_of(path), document)
        self.columns = {name: each for name, each in found.items() if name != POINT and len(each.words) <= MOST_WORDS}
        self.every = 1 if self.verified else math.ceil(self.count / SAMPLE)
        self.files = [str(file.resolve()) for file, _ in footers]
        self._connection = connect(self.files)
        self._lock, self._keeping = threading.Lock(), threading.Lock()
        self._loaded: tuple[str, ...] = ()
        self._views: dict[int, View] = {}
        self._kept: list[str] = []
        self.running: dict[duckdb.DuckDBPyConnection, tuple[float, threading.Event]] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()
        self._enumerate()
        if self.every == 1:
            self._load([*self.columns])

    def view(
        self,
        names: Sequence[str],
        means: Sequence[str] = (),
        scales: Mapping[str, bool] | None = None,
        stop: threading.Event | None = None,
    ) -> View:
        """Make a view with the bins of columns, and the sums of others.

        Args:
            names: the columns with bins. means: number columns of which means can be taken.
            scales: column -> whether its bins are equal in the logarithm; default as its axis is spaced, or as its values suggest.
            stop: is set if the view is not wanted any more.

        Raises:
            ConfigError: no such column, or one without bins. RefusedError: other views took too long, or `stop` was set meanwhile.
        """
        for name in (*names, *means):
            self._require(name)
        if wordy := [name for name in means if self.columns[name].kind == WORD]:
            raise ConfigError("columns", [Problem("", f"{wordy[0]} holds words, which have no mean")])
        self.load((*names, *means), stop)
        with turn(self._lock, stop):
            bins = {name: self._bins(self.columns[name], (scales or {}).get(name)) for name in names if self.columns[name].kind != WORD}
            number = max(self._views, default=0) + 1
            found = View(number, f"view_{number}", tuple(dict.fromkeys(names)), tuple(dict.fromkeys(means)), bins)
            raw = [f'"{escaped(name)}"' for name in found.names]
            codes = [f'{self._code(name, bins)} AS "{BIN}{escaped(name)}"' for name in found.names]
            sums = [
                f'{finite(name)} AS "{SUM}{escaped(name)}", ({finite(name)} IS NOT NULL)::DOUBLE AS "{VALID}{escaped(name)}"'
                for name in found.means
            ]
            chosen = ", ".join([f'"{POINT}"', *raw, f'1::DOUBLE AS "{ROWS}"', *codes, *sums])
            self._connection.execute(f"CREATE TABLE {found.table} AS SELECT {chosen} FROM loaded")
            for old in [*self._views][: 1 - MOST_VIEWS]:
                self._connection.execute(f"DROP TABLE {self._views.pop(old).table}")
            self._views[number] = found
            return found

    def load(self, names: Sequence[str], stop: threading.Event | None = None) -> None:
        """Read columns of the sample, unless they are in memory already; `stop` and RefusedError as in `view`."""
        with turn(self._lock, stop):
            if missing := [name for name in dict.fromkeys(names) if name not in self._loaded]:
                self._load([*self._loaded, *missing])

    def select(self, statement: str, stop: threading.Event | None = None) -> bytes:
        """The result of a SELECT as an Arrow stream.

        Args:
            statement: the SELECT. stop: is set if the result is not wanted any more.

        Raises:
            RefusedError: it is another statement, DuckDB refuses it, it takes longer than LONGEST, or it has more rows than MOST_ROWS.
        """
        import pyarrow as pa

        with self.cursor(LONGEST, stop) as cursor:
            require_select(cursor, statement)
            try:
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                table = cursor.sql(statement).limit(MOST_ROWS + 1).to_arrow_table()
            except Exception as error:
                raise RefusedError(refusal(error)) from None
            finally:
                with suppress(Exception):
                    cursor.execute("ROLLBACK")
        if table.num_rows > MOST_ROWS:
            raise RefusedError(f"the result has more than {MOST_ROWS:,} rows")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    def keep(self, name: str, statement: str, stop: threading.Event | None = None) -> None:
        """Keep the result of a SELECT in memory as kept.`name`, so that the page can query it; `stop` and RefusedError as in `select`."""
        if not KEPT_NAME.fullmatch(name):
            raise RefusedError(f"{name!r} is no name of a kept table")
        with self.cursor(LONGEST, stop) as cursor:
            require_select(cursor, statement)
            with turn(self._keeping, stop):
                if name in self._kept:
                    return
                try:
                    cursor.execute(f'CREATE TABLE kept."{name}" AS {statement}')
                except Exception as error:
                    raise RefusedError(refusal(error)) from None
                self._kept.append(name)
                for old in self._kept[:-MOST_KEPT]:
                    cursor.execute(f'DROP TABLE kept."{old}"')
                del self._kept[:-MOST_KEPT]

    def close(self) -> None:
        """Stop what runs and free the memory."""
        self._closed.set()
        self._connection.interrupt()
        self._connection.close()

    @contextmanager
    def cursor(self, limit: float | None, stop: threading.Event | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection for one task, interrupted after `limit` [s] if one is given, and once `stop` is set."""
        cursor = self._connection.cursor()
        if limit is not None:
            self.running[cursor] = (time.monotonic() + limit, stop or threading.Event())
        try:
            yield cursor
        finally:
            self.running.pop(cursor, None)
            cursor.close()

    def _watch(self) -> None:
        """Interrupt what takes too long or is not wanted any more, until the rows are closed."""
        while not self._closed.wait(0.1):
            for cursor, (end, stop) in [*self.running.items()]:
                if time.monotonic() > end or stop.is_set():
                    cursor.interrupt()

    def code_in_file(self, name: str, bins: Mapping[str, Bins]) -> str:
        """An SQL expression for the code of a column of the shards: of its bin, or of its word."""
        if name in bins:
            return bins[name].code(name)
        return f'coalesce(enum_code(TRY_CAST("{escaped(name)}" AS {self._types[name]})), {NONE})::UTINYINT'

    def _require(self, name: str) -> None:
        """Raise ConfigError if a column has no bins."""
        if name not in self.columns:
            raise ConfigError("columns", [Problem("", f"{name!r} is no column of this run; {advise(name, [*self.columns])}")])
        if self.columns[name].kind == TABLE:
            raise ConfigError("columns", [Problem("", f"{name} holds tables, which have no bins")])

    def _enumerate(self) -> None:
        """Make an enumeration of the words of each column; of a column that no footer counts, only those that occur."""
        self._types: dict[str, str] = {}
        for name, column in self.columns.items():
            if column.kind != WORD:
                continue
            if not column.counted:
                first = "" if column.swept else " LIMIT 1"
                found = self._connection.execute(f'SELECT DISTINCT "{escaped(name)}" FROM (SELECT * FROM run{first})').fetchall()
                occur = {word for (word,) in found if word is not None}
                words = (*(word for word in column.words if word in occur), *sorted(occur - {*column.words}))
                self.columns[name] = replace(column, words=words)
            self._types[name] = f"words_{len(self._types)}"
            self._connection.execute(f"CREATE TYPE {self._types[name]} AS ENUM ({texts(self.columns[name].words)[1:-1]})")

    def _load(self, names: Sequence[str]) -> None:
        """Read columns of all rows or of the sample into the table `loaded`."""
        chosen = [f'"{POINT}"', *(self._typed(name) for name in names)]
        sampled = "" if self.every == 1 else f' WHERE hash("{POINT}") < {2**64 // self.every}::UBIGINT'
        self._connection.execute(f"CREATE OR REPLACE TABLE loaded AS SELECT {', '.join(chosen)} FROM run{sampled}")
        self._loaded = tuple(names)

    def _typed(self, name: str) -> str:
        """A column of the shards as the table holds it."""
        quoted = f'"{escaped(name)}"'
        return f"TRY_CAST({quoted} AS {self._types[name]}) AS {quoted}" if name in self._types else quoted

    def _code(self, name: str, bins: Mapping[str, Bins]) -> str:
        """An SQL expression for the code of a column: of its bin, or of its word."""
        return bins[name].code(name) if name in bins else f'coalesce(enum_code("{escaped(name)}"), {NONE})::UTINYINT'

    def _bins(self, column: Column, logarithmic: bool | None) -> Bins:
        """The bins of a number column."""
        if not column.low <= column.high:
            return Bins(0.0, 1.0, 1)
        values = self._values(column.name) if column.swept else None
        if logarithmic is None:
            logarithmic = column.logarithmic or (not column.swept and self._is_skew(column))
        return bins_of(column.low, column.high, logarithmic, column.kind == WHOLE, values if column.kind == NUMBER else None)

    def _values(self, name: str) -> list[float] | None:
        """The different values of a column, in their order, if they are few."""
        value = f'"{escaped(name)}"::DOUBLE'
        found = self._connection.execute(f"SELECT DISTINCT {value} FROM loaded WHERE isfinite({value}) LIMIT {FEW_VALUES + 1}").fetchall()
        return sorted(value for (value,) in found) if len(found) <= FEW_VALUES else None

    def _is_skew(self, column: Column) -> bool:
        """Whether the values of a column spread over so many powers of ten that linear bins would hold them in few bars."""
        if column.kind != NUMBER or not column.low > 0.0 or column.high / column.low < 1000.0:
            return False
        quoted = f'"{escaped(column.name)}"'
        low = column.low + (column.high - column.low) / 50.0
        found = self._connection.execute(f"SELECT avg(({quoted} < {low!r}::DOUBLE)::INT) FROM loaded WHERE isfinite({quoted})").fetchone()
        return found is not None and found[0] is not None and found[0] > 0.5


@contextmanager
def turn(lock: threading.Lock, stop: threading.Event | None) -> Iterator[None]:
    """Hold a lock; RefusedError if `stop` is set before it is free, or if that takes longer than LONGEST."""
    end = time.monotonic() + LONGEST
    while not lock.acquire(timeout=0.05):
        if (stop is not None and stop.is_set()) or time.monotonic() > end:
            raise RefusedError("given up before its turn came: newer questions were asked, or older ones took too long")
    try:
        yield
    finally:
        lock.release()


def connect(files: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """A database in memory that can read these Parquet files as the view `run`, no other file, and whose configuration is locked."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ConfigError(
            "tribosweep explore", [Problem("", "needs duckdb, which is not installed: pip install 'tribosweep[explore]'")]
        ) from None
    off = ("autoinstall_known_extensions", "autoload_known_extensions", "python_enable_replacements")
    connection = duckdb.connect(":memory:", config=dict.fromkeys(off, "false"))
    names = texts(files)
    connection.execute(f"SET allowed_paths = {names}")
    connection.execute("SET temp_directory = ''")  # memory or nothing: no file is written
    connection.execute("SET enable_external_access = false")
    connection.execute(f"CREATE VIEW run AS SELECT * FROM read_parquet({names}, hive_partitioning = false)")
    connection.execute("CREATE SCHEMA kept")
    connection.execute("SET lock_configuration = true")
    return connection


def texts(words: Sequence[str]) -> str:
    """A list of texts in SQL."""
    return "[" + ", ".join("'" + word.replace("'", "''") + "'" for word in words) + "]"


def require_select(cursor: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Raise RefusedError if a text is anything but one SELECT."""
    try:
        kinds = [each.type.name for each in cursor.extract_statements(statement)]
    except Exception as error:
        raise RefusedError(first_line(error)) from None
    if [kind.removesuffix("_STATEMENT") for kind in kinds] != ["SELECT"]:
        raise RefusedError(f"only a single SELECT is answered, not {' and '.join(kinds) or 'an empty statement'}")


def refusal(error: Exception) -> str:
    """Why DuckDB gives no result."""
    interrupted = type(error).__name__ == "InterruptException"
    return f"given up after {LONGEST:g} s, or because newer questions were asked" if interrupted else first_line(error)


def first_line(error: Exception) -> str:
    """The first line of an error of DuckDB."""
    return str(error).partition("\n")[0]


def finite(name: str) -> str:
    """An SQL expression for a value, null if it is missing, NaN or infinite."""
    quoted = f'"{escaped(name)}"::DOUBLE'
    return f"CASE WHEN isfinite({quoted}) THEN {quoted} END"
