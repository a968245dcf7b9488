"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout instead of tables.")]
At = Annotated[list[str] | None, typer.Option(help="Hold another parameter at its value nearest to this one: mu=0.2. Can be repeated.")]
AreasName = Annotated[
    str | None, typer.Option("--areas", help="Observable whose words or whole numbers are the areas; default regime, or wall_regime.")
]
