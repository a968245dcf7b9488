"""Notes on what a reader of a run would otherwise assume: the direction and damper of friction, and numbers that no contact keeps."""

from __future__ import annotations

from pathlib import Path

from tribosweep.kernels.models import Model
from tribosweep.kernels.models.friction_laws import FRICTION_LAWS
from tribosweep.kernels.models.structure_idle import idle
from tribosweep.kernels.models.supports import named
from tribosweep.sweep.analysis.run_state import model_of
from tribosweep.sweep.execution.dataset import Dataset
from tribosweep.sweep.io.tables import is_list

DEEP = 0.01  # m: a contact worn deeper than this has another geometry, and other forces, than the model
DEPTHS = ("wear_depth", "wear_depth_edf_mz", "scar_depth")
FORMULA, WITHOUT = "max(0, 2 sqrt(m (k + k_t)) - c)", "c_t = 0 is a contact without a damper."
ALONG_THE_IMPACT = (
    "friction of this model acts along the impact, under the constant normal_force: the force of the wall presses no contact that slides, "
    "and its impacts cause no wear"
)


def notes_on(path: Path) -> list[str]:
    """Sentences on the rows of a run, complete or not; ConfigError if there is no run."""
    model = model_of(path)
    notes = [f"Note: {ALONG_THE_IMPACT}."] if model.walls else []
    return [*notes, *notes_on_idle(path, model), *notes_on_damping(path, model), *notes_on_depths(path, model)]


def notes_on_idle(path: Path, model: Model) -> list[str]:
    """A sentence on given parameters that change nothing."""
    found = [] if model.structure is None else idle(model.structure, Dataset(path).names)
    if not found:
        return []
    names = f"{', '.join(found)} change{'s' * (len(found) == 1)} nothing here"
    return [f"Note: {names}: no support, load or start reads {'it' if len(found) == 1 else 'them'} beside the other parameters."]


def notes_on_damping(path: Path, model: Model) -> list[str]:
    """A sentence if contacts have the critical damping that is the default of c_t."""
    dataset = Dataset(path)
    given = {*dataset.names}

    def rubs(*names: str) -> bool:
        """Whether one of these coefficients of friction is above 0 in some row."""
        columns = (shard.column(name).to_numpy() for name in names if name in given for shard in dataset.shards([name]))
        return any((column > 0.0).any() for column in columns)  # mostly the first shard tells

    if model.structure is None:
        if "k_t" not in given or given & {"c_t", *FRICTION_LAWS} or not rubs("mu", "mu_s", "mu_d"):
            return []
        return [f"Note: c_t is not given: while the contact holds it has critical damping, c_t = {FORMULA}. {WITHOUT}"]
    own = [
        support.name
        for support in map(model.structure.support, model.structure.order)
        if model.structure.kind_of(support).axes > 1
        and not given & {"c_t", named("c_t", support.name)}
        and rubs("mu", "mu_s", "mu_d", *(named(name, support.name) for name in ("mu", "mu_s", "mu_d")))
    ]
    if not own:
        return []
    held = f"while it holds the point has critical damping, c_t = {FORMULA} with m, k and c there"
    return [f"Note: c_t is not given at {', '.join(own)}: {held}. {WITHOUT}"]


def notes_on_depths(path: Path, model: Model) -> list[str]:
    """One sentence for each wear depth that is implausible in some rows."""
    dataset, notes = Dataset(path), []
    depths = [quantity.name for quantity in model.observables if quantity.name.partition("[")[0] in DEPTHS]
    for name in (name for name in depths if name in dataset.names):
        import pyarrow.compute as pc  # which takes 30 ms, more than the rest of this file

        column = dataset.table([name]).column(name)
        several = is_list(column.type)
        cells = pc.list_flatten(column) if several else column
        things = "entries" if several else "rows"
        size = "contact_width" if name.startswith("scar_depth") else "contact_area"
        if count := pc.sum(pc.greater(cells, DEEP)).as_py():
            notes.append(
                f"{count:,} of {len(cells):,} {things} have a {name} above {DEEP * 1e3:g} mm, which is implausible in service: "
                f"the contact would change long before. Check service_time, {size} and the wear law."
            )
    return notes
