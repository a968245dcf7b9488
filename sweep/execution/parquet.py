"""The dataset: its Arrow schema from quantities, and its Parquet shards."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.signals import Abscissa
from tribosweep.kernels.models.status import SENTENCES
from tribosweep.sweep.design.axis import SCHEME, SCHEME_NAMES
from tribosweep.sweep.design.designs import Adaptive
from tribosweep.sweep.design.points import Points
from tribosweep.sweep.design.refinement import Convergence
from tribosweep.sweep.design.subset_simulation import SubsetSimulation
from tribosweep.sweep.execution.directory import identity
from tribosweep.sweep.execution.recovery import RUN
from tribosweep.sweep.execution.stored import Facts, is_number, load_json
from tribosweep.sweep.io import sealed_parquet
from tribosweep.sweep.io.errors import cut, shorten
from tribosweep.sweep.io.version import SCHEMA_VERSION, VERSION
from tribosweep.sweep.study.config import Config

if TYPE_CHECKING:
    from tribosweep.kernels.batch.solve import Solution

POINT = "point"
HALVING, LEVEL, CHAIN = "halving", "level", "chain"
STATUS = "status"
ENTRIES, ENTRIES_UNIT, ENTRIES_VALUES = "entries", "entries_unit", "entries_values"  # metadata of a signal
FACTS = b"tribosweep_shard"
WORDS = pa.dictionary(pa.int32(), pa.string())  # the type that readers of Parquet return, whatever width was written
LISTS = pa.list_(pa.field("element", pa.float64()))  # likewise


def parameter_columns(config: Config) -> list[str]:
    """The parameters that have a column: swept ones in the order of their axes, then refined ones, then fixed ones."""
    refined = config.design.refined if isinstance(config.design, Convergence) else ()
    return list(dict.fromkeys([*config.swept, *refined, *config.fixed]))


def schema(config: Config, provenance: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of the dataset.

    Args:
        config: the study.
        provenance: what computed the rows (jax, device, dtype ...), for the schema's metadata.

    Returns:
        The fields are `point`; `halving` in a convergence study, `level` in a boundary study, `level` and `chain` in a subset
        simulation; every swept, refined or set parameter (null means the default); `scheme` if the study names it; every observable;
        `status`. Each has its unit and description. Numbers are float64, whole numbers int64, words dictionaries, tables lists of float64.
    """
    number, name = "position in the design", LEVEL
    level = "batch in which the point was computed: 0 for the coarse grid; earlier batches determine the next"
    if isinstance(config.design, Convergence):
        number, name = f"halving times {config.design.count} (the points of the study) plus position in the design", HALVING
        level = "how many times the step was halved, or the tolerance divided by 10"
    if isinstance(config.design, SubsetSimulation):
        level = "level of the subset simulation: 0 for independent points, then chains within the domain of the level"
    fields = [described(POINT, pa.int64(), "", number, nullable=False)]
    if isinstance(config.design, Adaptive):
        fields.append(described(name, pa.int64(), "", level, nullable=False))
    if isinstance(config.design, SubsetSimulation):
        fields.append(described(CHAIN, pa.int64(), "", "chain of the level, counted over all repeats; null at level 0"))
    fields += [column(config.model.parameter(name)) for name in parameter_columns(config)]
    if config.scheme_given:
        fields.append(described(SCHEME, WORDS, "", "scheme that computed the row"))
    signals = config.of_signals
    fields += [with_entries(column(q), signals[q.name][1]) if q.name in signals else column(q) for q in config.returns]
    fields.append(described(STATUS, WORDS, "", "ok, or what went wrong"))
    facts = {
        "schema_version": str(SCHEMA_VERSION),
        "config": config.to_toml(),
        "config_hash": config.digest,
        RUN.decode(): json.dumps(identity(config)),
        "tribosweep": VERSION,
        **provenance,
        "dtype": config.precision,
    }
    return pa.schema(fields, metadata=facts)


def column(quantity: Quantity) -> pa.Field:
    """The field of a parameter or an observable."""
    kinds = {"float": pa.float64(), "integer": pa.int64(), "word": WORDS, "list": LISTS}
    return described(quantity.name, kinds[quantity.kind], quantity.unit, quantity.description)


def with_entries(field: pa.Field, entries: Abscissa | None) -> pa.Field:
    """The field of a signal with what the entries of its lists belong to: the name of a quantity, its unit, and its values as JSON.

    The name is empty where a cell is a single number.
    """
    told = {ENTRIES: "" if entries is None else entries.name}
    if entries is not None:
        told |= {ENTRIES_UNIT: entries.unit, ENTRIES_VALUES: json.dumps(entries.values)}
    return field.with_metadata({**(field.metadata or {}), **told})


def described(name: str, kind: pa.DataType, unit: str, description: str, nullable: bool = True) -> pa.Field:
    """A field with unit and description in its metadata."""
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit, "description": description})


def encode(config: Config, layout: pa.Schema, points: Points, solution: Solution) -> pa.Table:
    """Convert design points and their results to a table of `layout`.

    Args:
        config: the study.
        layout: its `schema`.
        points: n design points.
        solution: their observables and statuses, (n,) each.
    """
    columns: list[pa.Array] = [numbers(points.numbers)]
    if isinstance(config.design, Adaptive):
        columns.append(numbers(np.full(points.count, points.level, dtype=np.int64)))
    if isinstance(config.design, SubsetSimulation):
        chains = config.design.chains_of(points.numbers)
        columns.append(numbers(chains, chains < 0))
    for name in parameter_columns(config):
        quantity = config.model.parameter(name)
        if name in points.columns:
            columns.append(parameters(quantity, points.columns[name], points.absent.get(name)))
        else:
            fixed = np.asarray(config.fixed[name])
            columns.append(parameters(quantity, np.broadcast_to(fixed, (points.count, *fixed.shape)), None))
    if config.scheme_given:
        default = np.full(points.count, SCHEME_NAMES.index(config.scheme), dtype=np.int8)
        columns.append(words(default if points.schemes is None else points.schemes, SCHEME_NAMES))
    columns += [results(quantity, solution.observables[quantity.name]) for quantity in config.returns]
    columns.append(words(solution.status, SENTENCES))
    return pa.Table.from_arrays(columns, schema=layout)


def parameters(quantity: Quantity, values: np.ndarray, absent: np.ndarray | None) -> pa.Array:
    """Convert a parameter to an Arrow array, null where `absent`; NaN also becomes null for whole numbers and words."""
    if quantity.kind == "float":
        return numbers(values, absent)
    absent = np.zeros(len(values), dtype=bool) if absent is None else absent
    if quantity.kind == "list":
        return lists(values, absent)
    absent = absent | ~np.isfinite(values)
    whole = np.where(absent, 0, values).astype(np.int64)
    return words(np.where(absent, -1, whole), quantity.words) if quantity.kind == "word" else numbers(whole, absent)


def results(quantity: Quantity, values: np.ndarray) -> pa.Array:
    """Convert an observable to an Arrow array, null where it has no value: nothing happened, or, as the status says, the row failed."""
    if quantity.kind == "list":
        absent = np.isnan(values[:, : quantity.length or 1]).all(axis=1)
        return lists(values, absent, quantity.length)
    if quantity.kind == "word":
        return words(values, quantity.words)
    if quantity.kind == "integer":
        failed = np.isnan(values)
        return numbers(np.where(failed, 0, values).astype(np.int64), failed)
    return measured(values)


def measured(values: np.ndarray) -> pa.Array:
    """Convert floats to an Arrow array, null where they are NaN, which readers other than pandas take for a number that is the largest."""
    absent = np.isnan(values)
    return numbers(values, absent if absent.any() else None)


def numbers(values: np.ndarray, absent: np.ndarray | None = None) -> pa.Array:
    """Convert a numpy array to an Arrow array without a copy, null where `absent`.

    `pyarrow.array` would do the same, but it imports pandas, which takes longer than the smallest studies.
    """
    validity = None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [validity, data])


def lists(tables: np.ndarray, absent: np.ndarray, length: int = 0) -> pa.ListArray:
    """Convert tables (n, L), padded with NaN, to lists without padding, null where `absent`.

    With a `length`, lists have that many entries, any of which may have no value: null.
    """
    real = (np.arange(tables.shape[1]) < length if length else ~np.isnan(tables)) & ~absent[:, np.newaxis]
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(real, axis=1))]).astype(np.int32)
    validity = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.ListArray.from_buffers(LISTS, len(tables), [validity, pa.py_buffer(offsets)], children=[measured(tables[real])])


def words(codes: np.ndarray, names: tuple[str, ...]) -> pa.DictionaryArray:
    """Convert codes into `names` to text; negative codes become null."""
    text = [name.encode() for name in names]
    ends = pa.py_buffer(np.cumsum([0, *map(len, text)], dtype=np.int32))
    named = pa.StringArray.from_buffers(len(text), ends, pa.py_buffer(b"".join(text)))
    return pa.DictionaryArray.from_arrays(numbers(codes.astype(np.int32), codes < 0), named)


def serialise(table: pa.Table, facts: dict[str, Any], begun: float) -> bytes:
    """Convert a shard to the bytes of its Parquet file, with `facts` in its footer and checksums (see `sealed_parquet`).

    Encoding competes with the computation for the cores, so the cheapest settings are used: 0.24 s of one core and 50 MB for 10^6 rows of a
    grid. Plain pages with LZ4 shrink the repeated parameters as much as dictionaries would, in half the time. Dictionaries of observables,
    which rarely repeat, would cost three times as much as everything else. Only numbers have statistics, which let readers skip rows.

    Args:
        table: the rows.
        facts: facts of the shard; the time since `begun` is added to the entry "encoding" of their "seconds".
        begun: start of the encoding, by the performance counter.
    """
    words = [field.name for field in table.schema if field.type == WORDS]
    numeric = [name for name in table.schema.names if name not in words]
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        table.schema,
        use_dictionary=words,
        write_statistics=numeric,
        write_page_checksum=True,
        column_encoding={POINT: "DELTA_BINARY_PACKED"},
        compression="lz4",
    ) as writer:
        writer.write_table(table, row_group_size=max(table.num_rows, 1))
        facts["seconds"]["encoding"] = facts["seconds"].get("encoding", 0.0) + time.perf_counter() - begun
        writer.add_key_value_metadata({FACTS.decode(): json.dumps(facts), **sealed_parquet.PLACE})
    return sealed_parquet.seal(sink.getvalue())


def lengthen(before: bytes, data: bytes, facts: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Append the rows of a piece to a shard: the bytes of the longer shard, and its facts.

    Args:
        before: the verified file of the shard so far. data: the file of the piece. facts: those of the piece.
    """
    begun = time.perf_counter()
    old, new = read_facts(sealed_parquet.read_metadata(before)), sealed_parquet.decode(data)
    if old is None:
        raise sealed_parquet.DamageError(sealed_parquet.FOREIGN)
    merged = {
        **facts,
        "statuses": add(old["statuses"], facts["statuses"]),
        "words": {name: add(old["words"][name], counts) for name, counts in facts["words"].items()},
        "seconds": add(old["seconds"], facts["seconds"]),
    }
    tables = [sealed_parquet.decode(before).cast(new.schema), new]
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    return serialise(table, merged, begun), merged


def add(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The sums of two tables of numbers."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def read_facts(metadata: pq.FileMetaData) -> dict[str, Any] | None:
    """The facts in the footer of a shard, with its number of `rows`; None if the file is no shard of a run.

    Raises:
        sealed_parquet.DamageError: it is one, but this package has not written it.
    """
    text = (metadata.metadata or {}).get(FACTS)
    if text is None:
        return None
    try:
        facts = load_json(text, Facts)
    except ValueError as error:
        raise sealed_parquet.DamageError(f"its footer is none of tribosweep: {error}") from None
    rows = sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    if why := fault_of_rows(metadata, rows, sum(facts["statuses"].values())) or fault_of_layout(metadata.schema.to_arrow_schema()):
        raise sealed_parquet.DamageError(why)
    return {**facts, "rows": rows}


def fault_of_rows(metadata: pq.FileMetaData, rows: int, counted: int) -> str:
    """What is wrong with the number of rows of a shard; empty if nothing is."""
    if rows == metadata.num_rows == counted:
        return ""
    return f"it has {rows:,} rows, its footer counts {metadata.num_rows:,} and its statuses {counted:,}"


def fault_of_layout(layout: pa.Schema) -> str:
    """What is wrong with the columns of a shard; empty if they are of the types, and have the metadata, that this package writes."""
    kinds = {POINT: pa.int64(), STATUS: WORDS}
    missing = [name for name in kinds if name not in layout.names]
    if missing or len({*layout.names}) < len(layout.names):
        return f"it has no column {missing[0]!r}" if missing else "it has two columns of one name"
    for field in layout:
        if field.type not in ([kinds[field.name]] if field.name in kinds else [pa.float64(), pa.int64(), WORDS, LISTS]):
            return f"its column {shorten(field.name)} has the type {cut(str(field.type), 60)}, which is none of a run"
        try:
            said = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
            entries = json.loads(said.get(ENTRIES_VALUES, "[]"))
        except (ValueError, RecursionError):
            return f"the metadata of its column {shorten(field.name)} are no text"
        if not {"unit", "description"} <= said.keys() or not isinstance(entries, list) or not all(map(is_number, entries)):
            return f"the metadata of its column {shorten(field.name)} are none of tribosweep"
    return ""


def count_words(codes: np.ndarray, names: Sequence[str] = SENTENCES) -> dict[str, int]:
    """The number of rows by word, for the words that occur; `codes` are positions in `names`. Negative ones count as none."""
    return {names[code]: int(count) for code, count in enumerate(np.bincount(codes[codes >= 0], minlength=len(names))) if count}
