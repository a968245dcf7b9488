"""The sections [structure], [supports] and [loads]: their keys, the types of their values, and their JSON schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from tribosweep.kernels.models.structures import BASE, FORCE, MODE
from tribosweep.kernels.models.supports import LAWS, OBSTACLES
from tribosweep.sweep.study.value_types import PLAIN, Digests, Files, Given, Numbers, TableSchema, Whole, either, list_of, one_of

TABLE = "table"  # the key of a file in place of two parameters, of [parameters] or of a load
OF_A_FILE = (
    "CSV or Parquet file with the columns time and force (acceleration, of a load that is one), in place of table_time and its values"
)
KINDS = (BASE, FORCE, MODE)
DIRECTION = list_of(PLAIN, 3, 3)
Direction = Annotated[Any, WithJsonSchema(DIRECTION)]


class Assembly(TableSchema):
    """[structure]: how a body or a structure moves, and what is observed of it."""

    basis: Files = Field(
        default=None,
        description="file of the modal basis (.npz, .json, .parquet, or a beam in .toml), or a list of files, of which the parameter basis "
        "is one, by its name without folder and ending",
    )
    modes: Annotated[Any, WithJsonSchema(either({"type": "integer"}, list_of({"type": "integer"}, 1)))] = Field(
        default=None,
        description="how many coordinates are kept, the first ones; or a list of such numbers, of which the parameter basis is one",
    )
    directions: str | None = Field(default=None, description="of a body: the directions in which it moves; default xyz")
    observed: Annotated[Any, WithJsonSchema(list_of({"type": "string"}))] = Field(
        default=None, description="names of points whose displacements are observed; default none, of a body its centre"
    )
    peak_edges: Numbers = Field(default=None, description="bounds of classes of the largest force of an impact [N]; default none")
    modal_energies: bool | None = Field(default=None, description="true: mean energy of each coordinate, as a list")
    start: Numbers = Field(
        default=None, description="initial coordinates [m], those of M, K and C if the basis has them, else modal ones; default 0"
    )
    start_rate: Numbers = Field(default=None, description="initial velocities of the coordinates of start [m/s]; default 0")
    sha256: Digests = Field(
        default=None, description="digests of the files, stated by a resolved study; files with other digests are refused"
    )


class SupportTable(TableSchema):
    """[supports.NAME]: a support, with any of its parameters."""

    point: str | None = Field(default=None, description="point that it holds; default the support's name, of a body its centre")
    obstacle: Annotated[str, WithJsonSchema(one_of(OBSTACLES))] | None = Field(
        default=None, description="plane (default), two planes or ring"
    )
    other: str | None = Field(default=None, description="a second point: the contact is between both; default the ground")
    normal: Direction = Field(default=None, description="direction of the normal of a plane; default [1, 0, 0]")
    axis: Direction = Field(default=None, description="direction of the axis of a ring; default [0, 0, 1]")
    axes: Annotated[Any, WithJsonSchema(list_of(DIRECTION, 3, 3))] = Field(
        default=None, description="instead of normal or axis: three orthogonal directions, the normal first"
    )
    law: Annotated[str, WithJsonSchema(one_of(LAWS))] | None = Field(default=None, description="return mapping (default) or stored force")
    gap: Given = None
    k_n: Given = None
    c_n: Given = None
    mu: Given = None
    mu_s: Given = None
    mu_d: Given = None
    k_t: Given = None
    c_t: Given = None
    angle: Given = None
    centre_1: Given = None
    centre_2: Given = None
    position: Given = None


class LoadTable(TableSchema):
    """[loads.NAME]: a load, with any of its parameters."""

    kind: Annotated[str, WithJsonSchema(one_of(KINDS))] | None = Field(
        default=None,
        description="base: acceleration of the ground [m/s^2]; force: at a point [N]; mode: on one coordinate [N]; default force with a "
        "point, mode with a mode, else base",
    )
    direction: Direction = Field(default=None, description="of an acceleration or a force; default [1, 0, 0]")
    point: str | None = Field(default=None, description="point of a force")
    mode: Whole | None = Field(default=None, description="coordinate of a modal force, counted from 0")
    channel: Whole | None = Field(default=None, description="channel of [excitation] that it follows, counted from 0; default none")
    amplitude: Given = None
    omega: Given = None
    phase: Given = None
    constant: Given = None
    table: Annotated[Any, WithJsonSchema({"type": "string"})] = Field(default=None, description=OF_A_FILE)
    table_time: Given = None
    table_value: Given = None
    table_scale: Given = None
    pulse: Given = None
    pulse_start: Given = None
    pulse_duration: Given = None
    pulse_amplitude: Given = None
