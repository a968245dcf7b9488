"""Notes on what a reader of a run would otherwise assume: the direction of friction, and numbers that no contact keeps in service."""

from __future__ import annotations

from pathlib import Path

from kernels.models import Model
from sweep.analysis.run_state import model_of
from sweep.execution.dataset import Dataset

DEEP = 0.01  # m: a contact worn deeper than this has another geometry, and other forces, than the model
DEPTHS = ("wear_depth", "wear_depth_edf_mz")
ALONG_THE_IMPACT = (
    "friction of this model acts along the impact, under the constant normal_force: the force of the wall presses no contact that slides, "
    "and its impacts cause no wear"
)


def notes_on(path: Path) -> list[str]:
    """Sentences on the rows of a run, complete or not; ConfigError if there is no run."""
    model = model_of(path)
    notes = [f"Note: {ALONG_THE_IMPACT}."] if model.walls else []
    return notes + notes_on_depths(path, model)


def notes_on_depths(path: Path, model: Model) -> list[str]:
    """One sentence for each wear depth that is implausible in some rows."""
    import pyarrow.compute as pc

    known = {quantity.name for quantity in model.observables}
    dataset, notes = Dataset(path), []
    for name in DEPTHS:
        if name in known and name in dataset.names:
            depths = dataset.table([name]).column(name)
            if count := pc.sum(pc.greater(depths, DEEP)).as_py():
                notes.append(
                    f"{count:,} of {len(depths):,} rows have a {name} above {DEEP * 1e3:g} mm, which is implausible in service: "
                    "the contact would change long before. Check service_time, contact_area and the wear law."
                )
    return notes
