"""Files of the particles of a chain after its last stage, so that tempered sequential Monte Carlo goes on where it was ended."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tribosweep.sweep.analysis.calibration.posterior.smc import SCALES, Particles, SmcSettings, Stage
from tribosweep.sweep.execution.stored import Count, Finite, Stored, load_json
from tribosweep.sweep.io.atomic import make_folders, write_whole

FILES = "smc_chain_*.parquet"  # in a folder
LOG_PRIOR, LOG_LIKELIHOOD, ANCESTOR = "log_prior", "log_likelihood", "ancestor"


class SavedStage(Stored):
    """A `smc.Stage` as JSON."""

    exponent: Annotated[float, Field(gt=0.0, le=1.0)]
    ess: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    log_evidence: Finite
    sweeps: Count
    acceptance: Annotated[float, Field(ge=0.0, le=1.0)]
    unique: Count
    ancestors: Count


class SavedStages(Stored):
    """What a file of particles says of them; see `StageFiles.save`."""

    made_by: list[Any]
    scale: Annotated[float, Field(ge=SCALES[0], le=SCALES[1])]
    stages: list[SavedStage]


@dataclass(frozen=True, slots=True)
class StageFiles:
    """The interface `smc.Store` in a folder, one file per chain, each replaced as a whole.

    Attributes:
        folder: the folder; made when the first file is written.
        identity: what the particles depend on: a hash of the calibration and of the code of the sampler. settings: the others.
        size: p, the number of coordinates of a particle.
    """

    folder: Path
    identity: str
    settings: SmcSettings
    size: int

    def path(self, chain: int) -> Path:
        """The file of a chain."""
        return self.folder / FILES.replace("*", str(chain))

    def load(self, chain: int) -> Particles | None:
        """The particles of a chain; None if it has no file, or one that is damaged or belongs to another problem: it begins anew."""
        import pyarrow as pa

        from tribosweep.sweep.io import sealed_parquet

        try:
            table = sealed_parquet.read(self.path(chain))
            said = load_json((table.schema.metadata or {})[b"smc"], SavedStages)
            names = [name for name in table.column_names if name not in (LOG_PRIOR, LOG_LIKELIHOOD, ANCESTOR)]
            kinds = {**dict.fromkeys([*names, LOG_PRIOR, LOG_LIKELIHOOD], pa.float64()), ANCESTOR: pa.int64()}
            sealed_parquet.require(table, kinds, whole=kinds)
        except (OSError, ValueError, KeyError):
            return None
        if said["made_by"] != self.made_by(chain) or table.num_rows != self.settings.particles or len(names) != self.size:
            return None
        coordinates = np.column_stack([table[name].to_numpy() for name in names])
        log_prior, log_likelihood, ancestors = (table[name].to_numpy() for name in (LOG_PRIOR, LOG_LIKELIHOOD, ANCESTOR))
        stages = tuple(Stage(**{key: each[key] for key in SavedStage.model_fields}) for each in said["stages"])
        rising = bool((np.diff([0.0, *(each.exponent for each in stages)]) > 0.0).all())
        finite = np.isfinite(coordinates).all() and np.isfinite(log_prior).all() and np.isfinite(log_likelihood).all()
        if not (stages and rising and finite and ((ancestors >= 0) & (ancestors < len(ancestors))).all()):
            return None
        return Particles(coordinates, log_prior, log_likelihood, ancestors, said["scale"], stages)

    def save(self, chain: int, particles: Particles) -> None:
        """Write the particles of a chain.

        Raises:
            OSError: the file cannot be written.
        """
        import pyarrow as pa

        from tribosweep.sweep.io import sealed_parquet

        columns = {f"coordinate_{place}": each for place, each in enumerate(particles.coordinates.T)}
        columns |= {LOG_PRIOR: particles.log_prior, LOG_LIKELIHOOD: particles.log_likelihood, ANCESTOR: particles.ancestors}
        stages = [dataclasses.asdict(each) for each in particles.stages]
        said = {"made_by": self.made_by(chain), "scale": particles.scale, "stages": stages}
        table = pa.table({name: pa.array(np.ascontiguousarray(each)) for name, each in columns.items()})
        make_folders(self.folder)
        write_whole(self.path(chain), sealed_parquet.to_bytes(table.replace_schema_metadata({"smc": json.dumps(said)})))

    def made_by(self, chain: int) -> list[object]:
        """What the particles of a chain depend on."""
        settings = self.settings
        return [self.identity, chain, settings.particles, settings.seed, settings.ess]

    def stages_there(self) -> int:
        """How many stages of all chains are there already."""
        there = (self.load(chain) for chain in range(self.settings.chains))
        return sum(len(each.stages) for each in there if each is not None)
