"""A run written by the package's own writer, without a simulation: random numbers in place of observables."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tribosweep.sweep.execution import parquet
from tribosweep.sweep.execution.directory import RunDirectory, identity
from tribosweep.sweep.execution.job import mark_complete
from tribosweep.sweep.execution.shard import span
from tribosweep.sweep.io.atomic import make_folders, write_text, write_whole
from tribosweep.sweep.study.config import Config

PROVENANCE = {"jax": "0.0.0", "device": "cpu", "dtype": "float64"}


def write_run(path: Path, config: Config) -> RunDirectory:
    """Write a complete run of a study into a directory."""
    directory = RunDirectory(path)
    make_folders(directory.points)
    manifest = {**identity(config), "extends": {}, "created": "2026-01-01T00:00:00+00:00", "provenance": PROVENANCE}
    directory.write_manifest(manifest)
    write_text(directory.config, manifest["config"])
    layout, rng, shards = parquet.schema(config, PROVENANCE), np.random.default_rng(0), {}
    for number in range(config.shards):
        points = config.design.points(*span(config, number))
        observables = {quantity.name: values_of(quantity, points.count, rng) for quantity in config.returns}
        solution: Any = SimpleNamespace(observables=observables, status=np.zeros(points.count, int))
        words = [quantity for quantity in config.returns if quantity.kind == "word"]
        facts = {
            "config_hash": config.digest,
            "number": number,
            "points_hash": points.digest(),
            "statuses": parquet.count_words(solution.status),
            "words": {each.name: parquet.count_words(observables[each.name].astype(int), each.words) for each in words},
            "seconds": {"compiling": 0.0, "computing": 0.5},
        }
        data = parquet.serialise(parquet.encode(config, layout, points, solution), facts, time.perf_counter())
        write_whole(directory.shard(number), data)
        shards[number] = facts
    mark_complete(directory, shards, {}, config.design.count)
    return directory


def values_of(quantity: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random values of an observable, in the form of the kernels."""
    if quantity.kind == "list":
        return rng.random((count, quantity.length or 3))
    return rng.integers(0, len(quantity.words) or 9, count).astype(float) if quantity.kind != "float" else rng.random(count)
