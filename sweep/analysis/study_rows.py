"""Single points of a study, that of a run too: their parameters and their scheme."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tribosweep.kernels.models.schemes import STEADY
from tribosweep.sweep.design.points import Points, by_scheme
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.study.capabilities import problems_of
from tribosweep.sweep.study.config import Config
from tribosweep.sweep.study.load import load


def read_study(path: Path) -> Config:
    """Read the study of a file or of a run's directory.

    Raises:
        ConfigError: the study cannot be read or is wrong, or the directory holds no run.
    """
    if not path.is_dir():
        return load(path)
    directory = RunDirectory(path)
    directory.read_run(to_continue=False)
    return replace(load(directory.read_document()), source=str(path))


def parameters_of(config: Config, point: int, use: str) -> dict[str, Any]:
    """The parameters of one point of a study that differ from their documented default, in SI units.

    Raises:
        ConfigError: the study has no such point, or the `use` (EVENTS, IMPACTS, FLOOR) is not for it.
    """
    if problems := problems_of(use, config.model, [], config.paths, [STEADY] * (config.window == STEADY)):
        raise ConfigError(config.source, problems)
    return given_of(config, point)


def given_of(config: Config, point: int) -> dict[str, Any]:
    """`parameters_of`, of a study with any window.

    Raises:
        ConfigError: the study has no such point.
    """
    row = _row_of(config, point)
    fixed = {name: value for name, value in config.fixed.items() if name not in row.columns}
    return fixed | {name: values[0] for name, values in row.columns.items() if name not in row.absent or not row.absent[name][0]}


def scheme_of(config: Config, point: int) -> str:
    """The scheme of one point; ConfigError if the study has no such point."""
    return by_scheme(_row_of(config, point), config.scheme)[0].scheme


def _row_of(config: Config, point: int) -> Points:
    """One point of a study; ConfigError if there is none of that number."""
    if not 0 <= point < config.design.count:
        raise ConfigError(
            config.source, [Problem("--point", f"{point} is not a point of the study, which has 0 to {config.design.count - 1}")]
        )
    return config.design.points(point, point + 1)
