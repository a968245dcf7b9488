"""The content of the report of a study of branches: its motions row by row, curves of special points, and tables of both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tribosweep.kernels.models.quantity import Quantity
from tribosweep.sweep.analysis.branching.results import MOST_BONED, SPECIAL_POINTS, Branches, observables, read
from tribosweep.sweep.analysis.fixed_values import unit_of, value_in_words
from tribosweep.sweep.analysis.supports import in_words
from tribosweep.sweep.execution.directory import STUDY
from tribosweep.sweep.io.errors import ConfigError, Problem, advise
from tribosweep.sweep.io.files import read_text
from tribosweep.sweep.io.text import counted
from tribosweep.sweep.io.values import written
from tribosweep.sweep.io.version import VERSION
from tribosweep.sweep.report.columns import MOST_FINE
from tribosweep.sweep.report.content import Content
from tribosweep.sweep.report.labels import html_label
from tribosweep.sweep.results.packing import COARSE, FINE, pack_codes, pack_floats, pack_integers
from tribosweep.sweep.study.free import Free

MULTIPLIER = Quantity("multiplier", "1", "modulus of the largest Floquet multiplier")
KINDS = ("", *SPECIAL_POINTS)
DEFAULTS = ("x_max", "wear_power")
MOST_ROWS = 300_000  # motions of a page: numbers of some 20 observables of each
MOST_LISTED = 200  # branches, or special points, of a table
MOST_NAMED = 5  # places of a kind of special points that the summary names


def read_branches(directory: Path, observable: str | None = None, logarithmic: bool = False) -> Content:
    """The content of the report of the branches in a directory.

    Args:
        directory: of a study of branches. observable: what the page shows first; default x_max. logarithmic: whether on a
            logarithmic axis.

    Raises:
        ConfigError: there are no branches, they are not complete, or there is no such observable.
    """
    found = read(directory)
    quantities = {name: quantity for name, quantity in observables(found.branching).items() if quantity.kind != "word"}
    quantities[MULTIPLIER.name] = MULTIPLIER
    shown = observable or next(each for each in (*DEFAULTS, *quantities) if each in quantities)
    if shown not in quantities:
        raise ConfigError(str(directory), [Problem("--color", f"{shown!r}: {advise(shown, list(quantities))}")])
    if not found.points.num_rows:
        raise ConfigError(str(directory), [Problem("", "no branch was found: there is nothing to report")])
    frame, notes = few_enough(found.points.to_pandas())
    frame[MULTIPLIER.name] = [float(np.hypot(re[0], im[0])) for re, im in zip(frame["multiplier_re"], frame["multiplier_im"], strict=True)]
    config, along = found.branching.config, found.branching.along
    labels = labels_of(found, frame)
    numbers = list(labels)
    columns = {
        "along": pack_floats(frame[along.name].to_numpy(float)),
        "place": pack_integers(np.searchsorted(numbers, frame["point"].to_numpy())),
        "branch": pack_integers(frame["branch"].to_numpy()),
        "special": pack_codes(np.array([KINDS.index(kind) for kind in frame["special"]])),
        "stable": pack_codes(frame["stable"].to_numpy(bool)),
    }
    dropped = FINE if len(frame) <= MOST_FINE else COARSE
    there = {name: each for name, each in quantities.items() if name == shown or np.isfinite(frame[name].to_numpy(float)).any()}
    columns |= {name: pack_floats(frame[name].to_numpy(float), dropped) for name in there}
    integers, codes = ("place", "branch"), ("special", "stable")
    described = [
        {
            "name": name,
            "kind": "integer" if name in integers else "code" if name in codes else "float",
            "dropped": dropped if name in there else FINE,
        }
        for name in columns
    ]  # fmt: skip
    branches, specials = tables(found, labels, len(config.swept) > 0)
    branch_count, special_count = found.branches.num_rows, int((found.points["special"].to_pandas() != "").sum())
    if found.backbone is not None and len(labels) > MOST_BONED:
        notes.append(f"The backbone is drawn for the first {MOST_BONED} of {len(labels):,} points of the study; the file has all.")
    if max(branch_count, special_count) > MOST_LISTED:
        notes.append(f"Tables list {MOST_LISTED} each of {branch_count:,} branches and {special_count:,} special points.")
    facts = {
        "study": config.name,
        "about": f"Periodic motions of {config.model.name} along {along.name}: {config.model.description}",
        "state": [
            counted(branch_count, "branch", "branches"),
            counted(found.points.num_rows, "motion"),
            counted(special_count, "special point"),
        ],
        "count": len(frame),
        "columns": described,
        "along": axis_of(along),
        "observables": [{"name": name, "unit": each.unit_suffix.strip(), "said": said_of(each)}
                        for name, each in there.items()],
        "shown": shown,
        "logarithmic": logarithmic,
        "multiplier": MULTIPLIER.name,
        "kinds": list(KINDS),
        "points": [{"number": int(number), "label": label, "spans": spans_of(frame, number)} for number, label in labels.items()],
        "curves": curves_of(found, labels),
        "backbone": backbone_of(found, labels, list(there)),
        "branches": branches,
        "specials": specials,
        "summary": [list(each) for each in summary(found)],
        "fixed": [
            [name, value_in_words(written(config.model.parameter(name), value)), unit_of(config.model, name)]
            for name, value in config.fixed.items()
            if name != along.name
        ],
        "provenance": [["scheme", config.scheme], ["version", VERSION], ["directory", directory.name]],
        "config": read_text(directory / STUDY),
        "notes": notes,
    }  # fmt: skip
    return Content(config.name, facts, columns, (), 0, "branches")


def said_of(quantity: Quantity) -> str:
    """An observable in words."""
    return (
        quantity.description if quantity is MULTIPLIER else in_words(quantity) if "[" in quantity.name else quantity.name.replace("_", " ")
    )


def few_enough(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows of the first points of the study that a page has room for, and a note if those are not all."""
    if len(frame) <= MOST_ROWS:
        return frame, []
    sizes = frame.groupby("point", sort=True).size()
    kept = sizes.index[: max(1, int((sizes.cumsum() <= MOST_ROWS).sum()))]
    note = (
        f"The page draws the branches of the first {len(kept):,} of {len(sizes):,} points of the study, for its size; the files have all."
    )
    return frame[frame["point"].isin(kept)].reset_index(drop=True), [note]


def labels_of(found: Branches, frame: pd.DataFrame) -> dict[int, str]:
    """The points of the study in order, with the values of their parameters in words."""
    model = found.branching.config.model
    names = [name for name in found.branching.config.swept if name in frame.columns]
    first = frame.drop_duplicates("point").sort_values("point")
    return {
        int(row["point"]): ", ".join(in_label(model.parameter(name), row[name]) for name in names)
        for row in first[["point", *names]].to_dict("records")
    }


def in_label(quantity: Quantity, value: float) -> str:
    """A parameter and its value: "gap = 0.4 m", "damping_criterion = included"."""
    return f"{quantity.name} = {written(quantity, value) if quantity.kind == 'word' else f'{value:.6g}'}{quantity.unit_suffix}"


def spans_of(frame: pd.DataFrame, number: int) -> list[list[int]]:
    """The rows [start, stop) of each branch of a point of the study."""
    at = np.flatnonzero(frame["point"].to_numpy() == number)
    cuts = np.flatnonzero(np.diff(frame["branch"].to_numpy()[at])) + 1
    return [[int(rows[0]), int(rows[-1]) + 1] for rows in np.split(at, cuts)]


def axis_of(free: Free) -> dict[str, Any]:
    """The description of an axis for the page."""
    return {"name": free.name, "label": html_label(free.quantity), "log": free.logarithmic, "range": [free.lower, free.upper]}


def curves_of(found: Branches, labels: dict[int, str]) -> dict[str, Any] | None:
    """The curves of special points, of the points of the study that are drawn; None if the study has none."""
    if found.curves is None or not found.curves.num_rows:
        return None
    along, second = found.branching.pair
    frame = found.curves.to_pandas()
    lines = [
        {"kind": curve["kind"].iloc[0], "label": labels[point], "x": rounded(curve[along.name]), "y": rounded(curve[second.name])}
        for (point, _), curve in frame[frame["point"].isin(list(labels))].groupby(["point", "curve"], sort=True)
    ]
    place = float(found.branching.config.fixed[second.name])
    return {
        "title": f"Curves of special points over {along.name} and {second.name}",
        "second": axis_of(second),
        "place": place,
        "lines": lines,
    }


def backbone_of(found: Branches, labels: dict[int, str], shown: Sequence[str]) -> list[dict[str, Any]]:
    """The backbones of the points of the study that are drawn, as far as a page has room: frequency, and each observable that they have."""
    if found.backbone is None:
        return []
    along, frame = found.branching.along, found.backbone.to_pandas()
    names = [name for name in shown if name in frame.columns]
    kept = list(labels)[:MOST_BONED]
    return [
        {"point": int(point), "x": rounded(motions[along.name]), "y": {name: rounded(motions[name]) for name in names}}
        for point, motions in frame[frame["point"].isin(kept)].groupby("point", sort=True)
    ]


def rounded(values: pd.Series[float]) -> list[float]:
    """Numbers of 8 digits."""
    return [float(f"{value:.8g}") for value in values]


def tables(found: Branches, labels: dict[int, str], several: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of branches and of special points: names, rows of words, and how many of their first columns are words."""
    along = found.branching.along
    of, unit = ["of"] if several else [], f" [{along.unit.replace('^2', '²')}]" if along.quantity.unit_suffix else ""

    def told(point: int) -> list[str]:
        return [labels.get(point, f"point {point}")] if several else []

    branches = [
        [*told(row["point"]), str(row["branch"]), row["origin"], row["begins"], row["ends"], str(row["periods"]), f"{row['least']:.7g}",
         f"{row['largest']:.7g}", f"{row['rows']:,}", f"{row['stable_rows'] / row['rows']:.0%}"]
        for row in found.branches.slice(0, MOST_LISTED).to_pylist()
    ]  # fmt: skip
    special = found.points.select(["point", "branch", "periods", "special", "passage", along.name, "multiplier_re", "multiplier_im"])
    frame = special.to_pandas()
    frame = frame[frame["special"] != ""].head(MOST_LISTED)
    specials = [
        [*told(row["point"]), str(row["branch"]), row["special"], row["passage"], str(row["periods"]), f"{row[along.name]:.12g}",
         multipliers(row["multiplier_re"], row["multiplier_im"])]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    names = [*of, "branch", "comes from", "begins", "ends", "periods", f"{along.name} from{unit}", f"to{unit}", "motions", "stable"]
    return (
        {"names": names, "rows": branches, "words": len(of) + 4},
        {
            "names": [*of, "branch", "kind", "passage", "periods", f"{along.name}{unit}", "multipliers"],
            "rows": specials,
            "words": len(of) + 3,
        },
    )


def multipliers(real: Sequence[float], imaginary: Sequence[float]) -> str:
    """Floquet multipliers in words: "0.81 ± 0.2 i, 0.1"."""
    texts = []
    for re, im in zip(real, imaginary, strict=True):
        if not im:
            texts.append(f"{re:.4g}")
        elif im > 0:
            texts.append(f"{re:.4g} ± {im:.4g} i")
    return ", ".join(texts)


def summary(found: Branches) -> list[tuple[str, str]]:
    """The (heading, sentence) pairs of the summary."""
    along, config = found.branching.along, found.branching.config
    points, branches = found.points, found.branches.to_pandas()
    unit = "" if along.unit in ("", "1") else f" {along.unit}"
    stable = np.mean(points["stable"].to_numpy(zero_copy_only=False))
    of = f" of {config.design.count:,} points of the study" if config.design.count > 1 else ""
    bounds = f"{along.name} from {along.lower:.6g} to {along.upper:.6g}{unit}"
    count, motions = counted(len(branches), "branch", "branches"), counted(points.num_rows, "motion")
    said = [("Branches", f"{count}{of}, followed in {bounds}. Of {motions} {stable:.0%} are stable.")]
    periods = sorted(set(branches["periods"]))
    if periods != [1]:
        said.append(("Periods", f"Motions repeat after {' and '.join(map(str, periods))} periods of the excitation."))
    frame = points.select(["special", along.name]).to_pandas()
    for kind in KINDS[1:]:
        at = frame[along.name][frame["special"] == kind]
        if len(at):
            named = f"{along.name} = {', '.join(f'{value:.7g}' for value in at[:MOST_NAMED])}{unit}"
            places = named if len(at) <= MOST_NAMED else f"{len(at):,} points, {along.name} from {at.min():.7g} to {at.max():.7g}{unit}"
            said.append((kind.capitalize() if kind != "Neimark-Sacker" else kind, f"{places}."))
    lost = int(branches[["begins", "ends"]].isin(["lost", "most points"]).to_numpy().sum())
    if lost:
        said.append(("Not to the end", f"{counted(lost, 'end')} of branches, where the search was lost or had its most points."))
    return said
