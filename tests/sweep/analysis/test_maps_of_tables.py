"""Maps of tables of points: their axes are the two parameters with most different values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.sweep.conftest import FakeKernels
from tribosweep import sweep
from tribosweep.kernels.models import RUBBING_MASS
from tribosweep.kernels.models.status import Status
from tribosweep.sweep.analysis.map_areas import areas_of_level
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.analysis.run_rows import RunRows


def test_the_axes_of_a_table_are_those_with_most_values(fake: FakeKernels, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "mu": np.repeat([0.1, 0.2], 10), "a0": rng.uniform(1.0, 2.0, 20), "k": rng.choice([1.0, 2.0], 20), "c": rng.choice([0.0, 1.0], 20),
        "omega": rng.uniform(3.0, 4.0, 20), "m": rng.choice([1.0, 2.0, 3.0], 20), "x0": rng.choice([0.0, 1.0], 20),
    }  # fmt: skip
    table = np.stack(list(columns.values()), axis=1)
    np.savetxt(tmp_path / "points.csv", table, delimiter=",", header=",".join(columns), comments="")
    study = {"study": {"name": "seven"}, "sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}
    sweep.run(study, tmp_path / "run")
    found = read_map(tmp_path / "run", None, None, None, [])
    assert (found.x.name, found.y.name) == ("a0", "omega")
    assert set(found.loose) == {"mu", "k", "c", "m", "x0"}
    assert found.rows == 20


def test_the_sides_of_a_level_are_those_of_its_values() -> None:
    status = pa.array([Status.OK.sentence] * 4 + [Status.OVERFLOW.sentence])
    table = pa.table({"wear_power": [1.0, 3.0, 2.0, np.nan, 9.0], "status": status})
    found = areas_of_level(RunRows({}, {}, RUBBING_MASS, table, (), {}, {}, ()), "wear_power", 2.0)
    words = [found.words[code] if code >= 0 else "failed" for code in found.codes]
    assert words == ["up to 2 W", "above 2 W", "up to 2 W", "none", "failed"]
