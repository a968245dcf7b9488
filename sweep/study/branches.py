"""The section [branches]: its keys and their types."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from tribosweep.sweep.study.free import Bounds, FreeTables
from tribosweep.sweep.study.value_types import TableSchema, WholeNumber

BRANCHES = "branches"
MOST_PLACES, MOST_PERIODS, MOST_BRANCHES, MOST_POINTS = 1000, 16, 1000, 100_000


class Branches(TableSchema):
    """[branches]: in which parameter periodic motions are followed."""

    model_config = ConfigDict(json_schema_extra={"required": ["along"]})

    along: FreeTables[Bounds] = Field(
        default_factory=dict,
        description="the parameter that changes along the branches, with its bounds, such as { omega = { from = 1.0, to = 4.0 } }",
        json_schema_extra={"maxProperties": 1},
    )
    curves: FreeTables[Bounds] | None = Field(
        default=None,
        description="a second parameter, with its bounds: special points of the branches are followed as curves in the plane of both",
        json_schema_extra={"maxProperties": 1},
    )
    places: Annotated[int, WholeNumber(1, MOST_PLACES, "values of the parameter")] = Field(
        default=5, description="number of its values, bounds included, at which steady motions are looked for; default 5"
    )
    periods: Annotated[int, WholeNumber(1, MOST_PERIODS, "of the excitation")] = Field(
        default=8, description="largest number of periods of the excitation after which a followed motion repeats; default 8"
    )
    most: Annotated[int, WholeNumber(1, MOST_BRANCHES, "branches of a point of the study")] = Field(
        default=32, description="largest number of branches of a point of the study; default 32"
    )
    points: Annotated[int, WholeNumber(2, MOST_POINTS, "of each side of a branch")] = Field(
        default=2000, description="largest number of points of each side of a branch; default 2000"
    )
    backbone: bool = Field(
        default=False,
        description="whether free motions without damping and friction are computed too, along which a frequency response leans; default "
        "false",
    )


TABLES: dict[str, type[TableSchema]] = {
    BRANCHES: Branches,
    f"{BRANCHES}.along.NAME": Bounds,
    f"{BRANCHES}.curves.NAME": Bounds,
}  # path -> the table there
