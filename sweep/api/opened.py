"""Runs that are there already: `open_run`, and the index of all below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.api.finished import Run
from tribosweep.sweep.api.running import load_document
from tribosweep.sweep.execution.directory import RunDirectory, count_failed
from tribosweep.sweep.io.argument_names import in_python
from tribosweep.sweep.io.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path("runs")


def open_run(directory: str | os.PathLike[str]) -> Run:
    """Open a run that is there, complete or not; nothing is computed.

    Args:
        directory: its directory, or its name below `runs/`.

    Raises:
        ConfigError: there is no run, or files that its study names are gone.

    Examples:
        >>> _ = tribosweep.run(tribosweep.Study(name="two", a0=[1.5, 15.0]))
        >>> tribosweep.open_run("two").to_pandas()["regime"].tolist()
        ['stick-slip', 'slip-slip']
    """
    from tribosweep.sweep.analysis.run_state import state_of

    path = directory_of(directory)
    with in_python():
        state = state_of(path)
        config = load_document(RunDirectory(path), RunDirectory(path).read_run(to_continue=False))
    return Run(path, config, state["state"] == "complete", state["statuses"], state.get("seconds", {}), 0)


def directory_of(run: Run | str | os.PathLike[str]) -> Path:
    """The directory of a run, given as such, as its path, or as its name below `runs/`."""
    if isinstance(run, Run):
        return run.directory
    path = Path(run)
    return RUNS / path if not path.exists() and (RUNS / path).is_dir() else path


def runs(folder: str | os.PathLike[str] = RUNS) -> pd.DataFrame:
    """The runs below a folder, the latest first.

    Args:
        folder: where to look, in all depths.

    Returns:
        One row per run: study, model, design, state ("complete", "running" or "incomplete"), points, rows, failed, seconds (of the last
        call) [s], created, version, and directory, which `open_run` opens. Empty if there is no run.

    Examples:
        >>> found = tribosweep.runs()
        >>> list(found.columns[:4])
        ['study', 'model', 'design', 'state']
    """
    import pandas as pd

    columns = ("study", "model", "design", "state", "points", "rows", "failed", "seconds", "created", "version", "directory")
    found = pd.DataFrame([facts for path in directories(Path(folder)) if (facts := facts_of(path))], columns=list(columns))
    found.attrs = {"units": {"seconds": "s"}}
    return found.sort_values("created", ascending=False, ignore_index=True, na_position="last")


def directories(folder: Path) -> Iterator[Path]:
    """The directories of runs below a folder."""
    for place, inner, files in os.walk(folder):
        if "manifest.json" in files and "points" in inner:
            inner.clear()
            yield Path(place)
        inner.sort()


def facts_of(path: Path) -> dict[str, Any]:
    """One row of the index; empty if this version cannot read the run."""
    from tribosweep.sweep.analysis.run_state import state_of

    try:
        state = state_of(path)
    except ConfigError:
        return {}
    model = RunDirectory(path).read_document().get("study", {}).get("model", "")
    facts = {key: state.get(key) for key in ("study", "design", "state", "points", "rows", "created", "version", "directory")}
    return {**facts, "model": model, "failed": count_failed(state["statuses"]), "seconds": state.get("seconds", {}).get("total")}
