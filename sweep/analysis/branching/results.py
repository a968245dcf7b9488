"""Branches as Parquet: a file with their points for each block of the study's points, and one with a row for each branch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tribosweep.kernels.models.outputs import STATISTICS
from tribosweep.kernels.models.quantity import Quantity
from tribosweep.kernels.models.schemes import STEADY
from tribosweep.sweep.analysis.branching.backbone import backbone_table
from tribosweep.sweep.analysis.branching.load import Branching, load
from tribosweep.sweep.execution.directory import (
    BRANCHED,
    OTHER_STUDY,
    STUDY,
    RunDirectory,
    differences,
    is_temporary,
    kinds_in,
    require_kind,
    require_own_folders,
)
from tribosweep.sweep.io.atomic import make_inner_folder, write_together
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.files import read_text
from tribosweep.sweep.io.toml import parse_toml, to_toml
from tribosweep.sweep.io.version import VERSION
from tribosweep.sweep.study.branches import BRANCHES

if TYPE_CHECKING:
    import pyarrow as pa

    from tribosweep.kernels.branches.branch import Branch
    from tribosweep.kernels.branches.curves import SpecialCurve
    from tribosweep.sweep.design.points import Points

FOLDER, CURVES, CURVED = "points", "curves", "curves.parquet"
BACKBONE = "backbone.parquet"
REPORTS = ("report.html", "report.pdf")  # default names of reports, which tell of whole branches
BLOCK = 256  # points of the study whose branches share a file
WHOLE = {"point", "branch", "curve", "place", "periods", "special", "passage", "stable", "origin", "kind", "begins", "ends"}  # without gaps
MOST_BONED = 50  # points of the study whose backbone is drawn, in pictures and in reports
LEFT_OUT = (
    "period",
    "poincare_x",
    "poincare_v",
    "x_end",
    "v_end",
    "x_end_2",
    "v_end_2",
    "time_reached",
    "accepted_steps",
    "rejected_steps",
)
SLOWEST = Quantity("slowest_impact", "m/s", "least speed of an impact in the period; infinite without one")
SPECIAL_POINTS = ("fold", "flip", "Neimark-Sacker", "branch point", "grazing")
SPECIAL = (
    "fold, flip (the period doubles), Neimark-Sacker, branch point (branches cross), grazing (a contact or a rest begins or ends), or empty"
)
PASSAGE = "of a grazing: the branch passes through, turns back (in the parameter), or ends (no motion on either side); or empty"
ENDS = (
    "bound (of the parameter), closed, grazing, merges (with a branch of fewer periods), known (it goes on as a branch "
    "that is listed already), lost (no motion that closes was found behind it), most points, or start"
)
CURVE_ENDS = (
    "bound (of a parameter), closed, resonance (the multipliers become real), other events (another contact or rest changes as well), "
    "lost, or most points"
)


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a study.

    Attributes:
        branching: the checked study. branches: one row for each branch. points: one row for each point of a branch.
        directory: where they are. curves: one row for each point of a curve of special points; None if they were not asked for.
        backbone: one row for each free motion; None if it was not asked for.
    """

    branching: Branching
    branches: pa.Table
    points: pa.Table
    directory: Path
    curves: pa.Table | None = None
    backbone: pa.Table | None = None


def digest(branching: Branching) -> str:
    """SHA-256 of all that determines the branches."""
    ranges = [(each.name, each.lower, each.upper, each.logarithmic) for each in branching.pair]  # a start has no say
    text = json.dumps([VERSION, branching.config.digest, branching.section, ranges], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def observables(branching: Branching) -> dict[str, Quantity]:
    """The observables of a point of a branch."""
    config = branching.config
    given = {*config.fixed, *config.swept, branching.along.name, STATISTICS}
    returned = {quantity.name: quantity for quantity in config.model.returns(STEADY, given) if quantity.kind != "list"}
    return {name: quantity for name, quantity in returned.items() if name not in LEFT_OUT} | {SLOWEST.name: SLOWEST}


def numbers_within(found: Sequence[Branch | SpecialCurve]) -> list[int]:
    """The number of each branch or curve among those of its point of the study, in the order in which they were found."""
    counts: dict[int, int] = {}
    numbers = []
    for each in found:
        numbers.append(counts.get(each.row, 0))
        counts[each.row] = numbers[-1] + 1
    return numbers


def block_table(branching: Branching, points: Points, found: Sequence[Branch]) -> pa.Table:
    """The points of the branches of a block of the study's points, (rows of `found` are positions in it), in order."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    model, along = branching.config.model, branching.along
    names = [name for name, values in points.columns.items() if values.ndim == 1]
    quantities = observables(branching)
    within = numbers_within(found)
    columns: dict[str, list[Any]] = {}

    def add(name: str, values: Any) -> None:
        columns.setdefault(name, []).extend(values)

    for number_of_branch, branch in sorted(zip(within, found, strict=True), key=lambda each: (each[1].row, each[0])):
        n, passages = len(branch.value), branch.passages
        add("point", [int(points.numbers[branch.row])] * n)
        add("branch", [number_of_branch] * n)
        add("place", range(n))
        for name in names:
            add(name, [float(points.columns[name][branch.row])] * n)
        add(along.name, branch.value.tolist())
        add("periods", [branch.periods] * n)
        add("special", branch.kinds)
        add("passage", [passages.get(at, "") for at in range(n)])
        add("stable", branch.stable.tolist())
        for name, values in of_motions(branch, quantities).items():
            add(name, values)
        add("origin", [branch.origin] * n)
        add("parent", [None if branch.parent < 0 else within[branch.parent]] * n)
        add("begins", [branch.ends[0]] * n)
        add("ends", [branch.ends[1]] * n)
    number, whole, text = pa.float64(), pa.int64(), pa.string()
    fields = [
        described("point", whole, "", "number of the point of the study"),
        described("branch", whole, "", "number of the branch of that point, in the order in which they were found"),
        described("place", whole, "", "number of the row along the branch"),
        *(described(name, number, model.parameter(name).unit, model.parameter(name).description) for name in names),
        described(along.name, number, along.unit, along.quantity.description),
        described("periods", whole, "", "periods of the excitation after which the motion repeats"),
        described("special", text, "", SPECIAL),
        described("passage", text, "", PASSAGE),
        described("stable", pa.bool_(), "", "whether all Floquet multipliers lie inside the unit circle"),
        *motion_fields(quantities),
        described("origin", text, "", "where the branch comes from: a steady motion, or the kind of special point where it begins"),
        described("parent", whole, "", "branch of the same point from which it comes; null of a steady motion"),
        described("begins", text, "", f"what is at its first row: {ENDS}"),
        described("ends", text, "", f"what is at its last row: {ENDS}"),
    ]
    arrays = [pa.array(columns.get(each.name, []), each.type) for each in fields]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"config_hash": digest(branching)}))


def of_motions(found: Branch | SpecialCurve, quantities: Mapping[str, Quantity]) -> dict[str, list[Any]]:
    """The columns `motion_fields` of the motions of a branch or curve."""
    columns = {
        "multiplier_re": found.multipliers.real.tolist(),
        "multiplier_im": found.multipliers.imag.tolist(),
        "section_v": found.y[:, 0].tolist(),
        "section_x": found.x.tolist(),
    }
    for name, quantity in quantities.items():
        values = found.points.observables.get(name)
        columns[name] = [None] * len(found.x) if values is None else encoded(values, quantity)
    return columns


def motion_fields(quantities: Mapping[str, Quantity]) -> list[pa.Field]:
    """What a row tells of its motion: multipliers, section point, observables."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    number = pa.float64()
    return [
        described("multiplier_re", pa.list_(number), "1", "real parts of the Floquet multipliers, the largest multiplier first"),
        described("multiplier_im", pa.list_(number), "1", "their imaginary parts"),
        described("section_v", number, "m/s", "velocity at the start of a period of the excitation"),
        described("section_x", number, "m", "displacement there"),
        *(described(q.name, pa.string() if q.kind == "word" else number, q.unit, q.description) for q in quantities.values()),
    ]


def curve_table(branching: Branching, points: Points, branches: Sequence[Branch], found: Sequence[SpecialCurve]) -> pa.Table:
    """The points of the curves of a block of the study's points, in order; `branches`: those on which they were found."""
    import pyarrow as pa

    from tribosweep.sweep.execution.parquet import described

    model, pair = branching.config.model, branching.pair
    names = [name for name, values in points.columns.items() if values.ndim == 1]
    quantities = observables(branching)
    within = numbers_within(branches)
    columns: dict[str, list[Any]] = {}
    for number, curve in sorted(zip(numbers_within(found), found, strict=True), key=lambda each: (each[1].row, each[0])):
        n = len(curve.x)
        rows: dict[str, list[Any]] = {"point": [int(points.numbers[curve.row])] * n, "curve": [number] * n, "place": list(range(n))}
        rows |= {name: [float(points.columns[name][curve.row])] * n for name in names}
        rows |= {"kind": [curve.kind] * n} | {each.name: curve.value[:, i].tolist() for i, each in enumerate(pair)}
        rows |= {"periods": [curve.periods] * n, **of_motions(curve, quantities), "branch": [within[curve.branch]] * n}
        rows |= {"begins": [curve.ends[0]] * n, "ends": [curve.ends[1]] * n}
        for name, values in rows.items():
            columns.setdefault(name, []).extend(values)
    whole, text = pa.int64(), pa.string()
    fields = [
        described("point", whole, "", "number of the point of the study"),
        described("curve", whole, "", "number of the curve of that point"),
        described("place", whole, "", "number of the row along the curve"),
        *(described(name, pa.float64(), model.parameter(name).unit, model.parameter(name).description) for name in names),
        described("kind", text, "", "what is special: fold, flip, Neimark-Sacker or grazing"),
        *(described(each.name, pa.float64(), each.unit, each.quantity.description) for each in pair),
        described("periods", whole, "", "periods of the excitation after which the motion repeats"),
        *motion_fields(quantities),
        described("branch", whole, "", "branch of the same point on which the curve was found"),
        described("begins", text, "", f"what is at its first row: {CURVE_ENDS}"),
        described("ends", text, "", f"what is at its last row: {CURVE_ENDS}"),
    ]
    arrays = [pa.array(columns.get(each.name, []), each.type) for each in fields]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"config_hash": digest(branching)}))


def encoded(values: np.ndarray, quantity: Quantity) -> list[Any]:
    """Values of an observable as they are in a table."""
    if quantity.kind == "word":
        return [quantity.words[int(code)] if np.isfinite(code) and code >= 0 else None for code in values]
    return [float(value) if not np.isnan(value) else None for value in values]


def of_branches(points: pa.Table, along: str) -> pa.Table:
    """One row for each branch."""
    frame = points.select(
        ["point", "branch", "periods", "origin", "parent", "begins", "ends", "stable", "special", along]
    ).to_pandas()  # fmt: skip
    import pandas as pd
    import pyarrow as pa

    if frame.empty:
        frame["rows"] = pd.Series(dtype="int64")
    grouped = frame.groupby(["point", "branch"], sort=True)
    first = grouped[["periods", "origin", "parent", "begins", "ends"]].first()
    first["rows"] = grouped.size()
    first["stable_rows"] = grouped["stable"].sum().astype("int64")
    first["least"] = grouped[along].min()
    first["largest"] = grouped[along].max()
    for kind in SPECIAL_POINTS:
        first[f"{kind.lower().replace(' ', '_').replace('-', '_')}s"] = (
            (frame["special"] == kind).groupby([frame["point"], frame["branch"]]).sum()
        )
    table = pa.Table.from_pandas(first.reset_index(), preserve_index=False)
    kinds = [pa.string() if pa.types.is_large_string(field.type) else field.type for field in table.schema]  # as pandas 3 has texts
    return table.cast(pa.schema([field.with_type(kind) for field, kind in zip(table.schema, kinds, strict=True)]))


def block_file(directory: Path, number: int, folder: str = FOLDER) -> Path:
    """The file of a block: of its branches, or of its curves."""
    return directory / folder / f"block-{number:05d}.parquet"


def is_there(branching: Branching, directory: Path, number: int) -> bool:
    """Whether the files of a block are whole, and of this study."""
    return damaged(branching, directory, number) is None


def damaged(branching: Branching, directory: Path, number: int) -> Path | None:
    """The first file of a block that is missing, not whole, or of another study; None if there is none."""
    from tribosweep.sweep.io import sealed_parquet

    whole = {*WHOLE, *(each.name for each in branching.pair), *(axis.name for axis in branching.config.design.axes)}
    for folder, kinds in kinds_of(branching).items():
        path = block_file(directory, number, folder)
        try:
            table = sealed_parquet.require(sealed_parquet.read(path), kinds, whole=whole)
        except (OSError, sealed_parquet.DamageError):
            return path
        if (table.schema.metadata or {}).get(b"config_hash") != digest(branching).encode():
            return path
    return None


def kinds_of(branching: Branching) -> dict[str, dict[str, pa.DataType]]:
    """The types of the columns of blocks, by folder."""
    points = branching.config.design.points(0, 1)
    empty = {FOLDER: block_table(branching, points, [])}
    if branching.second is not None:
        empty[CURVES] = curve_table(branching, points, [], [])
    return {folder: {field.name: field.type for field in table.schema} for folder, table in empty.items()}


def branching_folders(branching: Branching) -> list[str]:
    """The folders of blocks that a study has."""
    return [FOLDER] if branching.second is None else [FOLDER, CURVES]


def document_of(branching: Branching) -> dict[str, Any]:
    """The study as nested tables, as they are written into its directory."""
    document = {**branching.config.document, BRANCHES: branching.section}
    document["parameters"] = {name: value for name, value in document.get("parameters", {}).items() if name != branching.along.name}
    return document


def block_count(branching: Branching) -> int:
    """The number of blocks of the study's points."""
    return -(-branching.config.design.count // BLOCK)


def begin(branching: Branching, directory: Path) -> None:
    """Make the directory and write the study into it; damaged blocks are removed, and with them a report of what was there.

    Raises:
        ConfigError: the directory holds something else; see `check_directory`.
    """
    check_directory(branching, directory)
    for folder in branching_folders(branching):
        make_inner_folder(directory / folder)
    count = block_count(branching)
    there = [number for number in range(count) if is_there(branching, directory, number)]
    kept = {block_file(directory, number, folder) for number in there for folder in branching_folders(branching)}
    old = [path for folder in (FOLDER, CURVES) for path in (directory / folder).glob("block-*.parquet") if path not in kept]
    reports = [directory / name for name in REPORTS] if len(there) < count else []
    study = {directory / STUDY: to_toml(document_of(branching)).encode()}
    write_together(study, [*old, *reports, directory / BRANCHED, directory / CURVED, directory / BACKBONE])


def write_block(directory: Path, number: int, tables: Mapping[str, pa.Table]) -> None:
    """Write the files of a block: folder -> table."""
    from tribosweep.sweep.io import sealed_parquet

    write_together({block_file(directory, number, folder): sealed_parquet.to_bytes(table) for folder, table in tables.items()})


def finish(branching: Branching, directory: Path) -> Branches:
    """Write the tables of branches and of curves, when all blocks are there, and read everything."""
    from tribosweep.sweep.io import sealed_parquet

    found = put_together(branching, directory)
    write_together({directory / name: sealed_parquet.to_bytes(table) for name, table in tables_of(found).items()})
    return found


def tables_of(found: Branches) -> dict[str, pa.Table]:
    """The tables that are made of the blocks: file -> table."""
    tables = {BRANCHED: found.branches, CURVED: found.curves, BACKBONE: found.backbone}
    return {name: table for name, table in tables.items() if table is not None}


def put_together(branching: Branching, directory: Path) -> Branches:
    """All blocks together, and the tables that are made of them."""
    import pyarrow as pa

    from tribosweep.sweep.io import sealed_parquet

    count = block_count(branching)
    points, *curves = (
        pa.concat_tables([sealed_parquet.read(block_file(directory, number, folder)) for number in range(count)])
        for folder in branching_folders(branching)
    )
    branches = of_branches(points, branching.along.name).replace_schema_metadata({"config_hash": digest(branching)})
    backbone = backbone_table(branching, points, digest(branching)) if branching.backbone else None
    return Branches(branching, branches, points, directory, curves[0] if curves else None, backbone)


def holds_branches(directory: Path) -> bool:
    """Whether a directory is that of a study of branches, complete or not."""
    kinds = kinds_in(directory)
    return kinds == [BRANCHED] or (not kinds and (directory / FOLDER).is_dir())  # which branches make first, and runs after their manifest


def read(directory: Path) -> Branches:
    """The branches in a directory.

    Raises:
        ConfigError: there are none, some are missing, a file is damaged, or another version computed them.
    """
    from tribosweep.sweep.io import sealed_parquet

    require_own_folders(directory)
    if not (directory / BRANCHED).is_file():
        what = "its branches are not complete: tribosweep branches goes on" if (directory / FOLDER).is_dir() else "holds no branches"
        raise ConfigError(str(directory), [Problem("", what)])
    branching = load(directory / STUDY)
    count = block_count(branching)
    missing = [path for number in range(count) if (path := damaged(branching, directory, number)) is not None]
    if missing and digests_of_blocks(directory) - {digest(branching)}:
        message = f"{FOLDER} is of another version of tribosweep, or of another study: give tribosweep branches another directory (--out)"
        raise ConfigError(str(directory), [Problem("", message)])
    if missing:
        message = f"{missing[0].relative_to(directory)} is missing or damaged: tribosweep branches computes it again"
        raise ConfigError(str(directory), [Problem("", message)])
    found = put_together(branching, directory)
    for name, table in tables_of(found).items():
        try:
            if name == BACKBONE:  # it is computed anew here, and its last digits may differ between machines
                sealed_parquet.verified(directory / name)
            else:
                require_same(table, directory / name)
        except (OSError, sealed_parquet.DamageError) as error:
            raise ConfigError(str(directory / name), [Problem("", f"{error}: tribosweep branches writes it again")]) from None
    return found


def require_same(table: pa.Table, path: Path) -> None:
    """Raise DamageError if the file of a table does not have the rows that follow from the blocks; NaN in a list equals NaN."""
    import pyarrow as pa

    from tribosweep.sweep.io import sealed_parquet

    names = [field.name for field in table.schema if not pa.types.is_list(field.type)]
    if not table.select(names).equals(sealed_parquet.read(path, names)):
        raise sealed_parquet.DamageError("its rows are not those of the blocks beside it")


def check_directory(branching: Branching, directory: Path) -> None:
    """Check that a directory is free or holds branches of this study, complete or not; nothing is written.

    Raises:
        ConfigError: it holds a run, branches of another study, files that are none of branches, or a link in place of a folder.
    """
    require_kind(directory, BRANCHED)
    require_own_folders(directory)
    if RunDirectory(directory).is_free():
        return
    blocks, study = digests_of_blocks(directory), digest_of_study(directory)
    if {*blocks, *([study] if study else [])} - {digest(branching)}:
        try:
            there = parse_toml(read_text(directory / STUDY))
        except (OSError, ValueError):
            there = {}
        lines = differences(there, document_of(branching))
        if not lines:
            lines = [Problem("", "another version of tribosweep computed its branches, or a file that the study names has changed")]
        raise ConfigError(str(directory), [OTHER_STUDY, *lines])
    if not blocks and not (directory / BRANCHED).exists() and not is_begun(directory, to_toml(document_of(branching))):
        raise ConfigError(str(directory), [Problem("", "the directory is not empty and holds no branches; give another one with --out")])


def is_begun(directory: Path, study: str) -> bool:
    """Whether a directory holds what a call leaves that was killed before its first block: its study, empty folders, temporary files."""
    there = [path for path in directory.iterdir() if not is_temporary(path)]
    with suppress(OSError, ValueError):
        if read_text(directory / STUDY) == study:
            return True
    return all(path.name in (FOLDER, CURVES) and path.is_dir() and not any(path.iterdir()) for path in there)


def digests_of_blocks(directory: Path) -> set[str]:
    """The digests of the studies to which the blocks in a directory belong, damaged ones left out."""
    from tribosweep.sweep.io import sealed_parquet

    found = set()
    for path in (path for folder in (FOLDER, CURVES) for path in (directory / folder).glob("block-*.parquet")):
        with suppress(OSError, sealed_parquet.DamageError):
            found.add((sealed_parquet.read_metadata(path).metadata or {}).get(b"config_hash", b"").decode(errors="replace"))
    return found


def digest_of_study(directory: Path) -> str:
    """The digest of the study of branches in a directory; empty if there is none that this version can read."""
    try:
        return digest(load(directory / STUDY))
    except (OSError, ConfigError):
        return ""
