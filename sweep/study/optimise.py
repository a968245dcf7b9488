"""The section [optimise]: its keys and their types."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from tribosweep.sweep.study.free import MOST_STARTS, FreeTables, Variable
from tribosweep.sweep.study.value_types import Form, OneOf, Several, TableSchema, WholeNumber

OPTIMISE = "optimise"
SLSQP, EVOLUTION = "slsqp", "differential_evolution"
MOST_FRONT = 1000
Text = Annotated[str, Form("must be a text such as 'peak_force'")]


class Optimise(TableSchema):
    """[optimise]: what is made small or large, within which limits."""

    model_config = ConfigDict(json_schema_extra={"required": ["variables"]})

    minimise: Several[Text | None] = Field(
        default_factory=list,
        description="what is made small: an observable, or its mean, quantile, worst or probability over [sweep]; two for a front",
    )
    maximise: Several[Text | None] = Field(
        default_factory=list, description="what is made large, likewise; with minimise it is the second objective of a front"
    )
    constraints: Several[Text | None] = Field(
        default_factory=list,
        description="limits that must be kept, such as ['peak_force <= 5 kN', 'quantile 0.95 of wear_power <= 2 W']",
    )
    variables: FreeTables[Variable] = Field(default_factory=dict, description="the parameters that are chosen, each with its bounds")
    starts: Annotated[int, WholeNumber(1, MOST_STARTS, "searches from different starts")] = Field(
        default=16, description="number of searches from different starts; default 16"
    )
    seed: Annotated[int, WholeNumber(0, 2**31 - 1, "of the random starts")] = Field(
        default=1, description="seed of the random starts; default 1"
    )
    method: Annotated[str, OneOf((SLSQP, EVOLUTION))] | None = Field(
        default=None,
        description="slsqp: by derivatives (default); differential_evolution: without (default where a count or probability has none)",
    )
    points: Annotated[int, WholeNumber(2, MOST_FRONT, "of the front")] = Field(
        default=15, description="of a front of two objectives: number of its points; default 15"
    )


TABLES: dict[str, type[TableSchema]] = {OPTIMISE: Optimise, f"{OPTIMISE}.variables.NAME": Variable}  # path -> the table there
