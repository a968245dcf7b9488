"""`tribosweep verify`, `list` and `doctor`."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tribosweep.sweep.cli import completion
from tribosweep.sweep.cli.arguments import AsJson
from tribosweep.sweep.cli.shared import FAILED_CHECK
from tribosweep.sweep.cli.terminal import emit, print_json, print_table, say
from tribosweep.sweep.cli.topics import print_topics
from tribosweep.sweep.io.atomic import write_text

VERIFY_WIDTH = 120


def verify(as_json: AsJson = False) -> None:
    """Compare computed with published values."""
    from tribosweep.sweep.analysis.verification import FAIL
    from tribosweep.sweep.analysis.verification import verify as compare

    verdicts = compare()
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        header = ["case", "scheme", "quantity", "published", "computed", "relative\ndifference", "tolerance", "verdict"]
        rows = [
            (v.case, v.scheme, f"{v.quantity}{f' [{v.unit}]' if v.unit not in ('', '1') else ''}", f"{v.published:.9g}",
             f"{v.computed:.9g}", f"{v.relative_difference:.1e}", f"{v.tolerance:.1e}", v.verdict)
            for v in verdicts
        ]  # fmt: skip
        print_table("", header, rows, right=header[3:7], prose=["case"], width=VERIFY_WIDTH)
        for note in dict.fromkeys(v.note for v in verdicts if v.note):
            emit("\n" + textwrap.fill(note, VERIFY_WIDTH))
    failed = sum(verdict.verdict == FAIL for verdict in verdicts)
    say(f"{len(verdicts) - failed} of {len(verdicts)} cases pass.")
    if failed:
        raise typer.Exit(FAILED_CHECK)


def list_topics(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC] [WORDS]...",
            help="A topic, words to search for, or both; an overview of the topics when omitted.",
            autocompletion=completion.topics,
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Only what this model has.", autocompletion=completion.models)] = None,
    scheme: Annotated[str | None, typer.Option(help="Only what this scheme has.", autocompletion=completion.schemes)] = None,
    as_json: AsJson = False,
) -> None:
    """List what a study may say and what a run returns, or search in it.

    Words are looked for in names, units and descriptions; all of them must occur.
    """
    print_topics(words or [], model, scheme, as_json)


def write_schema(out: Annotated[Path | None, typer.Option(help="File to write instead of printing, .json.")] = None) -> None:
    """Print the JSON Schema of studies, with which editors complete and check TOML files.

    The first line of a study names it, "#:schema study.schema.json", as `tribosweep init` writes it; Taplo and Even Better TOML read that.
    """
    from tribosweep.sweep.cli.study_schema import as_text

    if out is None:
        emit(as_text().rstrip())
        return
    write_text(out, as_text())
    say(f'Written: {out}; a study beside it begins with the line "#:schema {out.name}".')


def doctor(as_json: AsJson = False) -> None:
    """Check this installation."""
    from tribosweep.sweep.cli.installation import examine

    findings = examine()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table("", ["check", "", "found"], [(f.check, "ok" if f.good else "PROBLEM", f.found) for f in findings], prose=["found"])
    if not all(finding.good for finding in findings):
        say("A check failed.")
        raise typer.Exit(FAILED_CHECK)
