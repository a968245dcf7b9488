"""Extending a run to a study with more points, the first of which are the points of the run."""

from __future__ import annotations

from tribosweep.sweep.execution.directory import RunDirectory, may_extend
from tribosweep.sweep.execution.shard import span
from tribosweep.sweep.execution.shard_check import expected_by, inspect_shards
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.config import Config


def check_extension(directory: RunDirectory, config: Config) -> None:
    """Check that the rows of a run are the first rows of a study, whatever its design; nothing is written.

    Args:
        directory: directory of the run of another study.
        config: the study that would extend the run.

    Raises:
        ConfigError: the study differs in more than its points, or its points differ from those of existing rows.
    """
    manifest = directory.read_run()
    if not may_extend(manifest, config):
        directory.claim(config)  # this raises an error that lists the differences
    for number, facts in sorted(inspect_shards(directory, expected_by(manifest)).whole.items()):
        first = span(config, number)[0]
        if config.design.points(first, first + facts["rows"]).digest() != facts["points_hash"]:
            what = f"{directory.shard(number).name} holds other points than points {first} to {first + facts['rows'] - 1} of this study"
            advice = "new points must follow the existing ones, which a Latin hypercube cannot do"
            raise ConfigError(str(directory.path), [Problem("", f"this study does not extend that of the run: {what}; {advice}")])


def claim(directory: RunDirectory, config: Config, extend: bool) -> None:
    """Check that the directory is free or holds a run of this study or, with `extend`, of a study that this one extends."""
    if extend and not directory.is_free() and directory.read_run()["config_hash"] != config.digest:
        check_extension(directory, config)
    else:
        directory.claim(config)
