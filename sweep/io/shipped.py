"""The studies that come with tribosweep: those of the checkout's configs/, which a wheel holds as tribosweep/sweep/configs."""

from __future__ import annotations

import os
from pathlib import Path

from tribosweep.kernels.models.naming import nearest_spelling

SUFFIX = ".toml"
SCHEMA = "study.schema.json"  # the grammar of all studies, beside them
PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (PACKAGE / "configs", PACKAGE.parent / "configs")  # of a wheel, of a checkout


def folder() -> Path:
    """The folder of the shipped studies and their data."""
    return next((each for each in FOLDERS if (each / f"sdnd104{SUFFIX}").is_file()), FOLDERS[0])


def names() -> list[str]:
    """The names of the shipped studies, in alphabetical order."""
    return sorted(path.stem for path in folder().glob(f"*{SUFFIX}"))


def find(source: str | os.PathLike[str]) -> Path:
    """The file of a study: `source` itself, or the shipped study of that name where no file has it."""
    path = Path(source)
    return folder() / f"{path}{SUFFIX}" if not path.is_file() and str(path) in names() else path


def suggest(path: Path) -> str:
    """Advice on the shipped study whose name is nearest to that of a missing file; empty if none is near."""
    near = nearest_spelling(path.name.removesuffix(SUFFIX).lower(), names(), 0.7)
    return f"; did you mean the study {near!r}, which comes with tribosweep and needs no path?" if near else ""


def about(name: str) -> str:
    """What the shipped study `name` asks: the first sentences of its comment, up to an empty line or a command."""
    words: list[str] = []
    for line in (folder() / f"{name}{SUFFIX}").read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if line.startswith("#:") and not words:  # the schema, for editors
            continue
        if not line.startswith("#") or not text or text.startswith("tribosweep "):
            break
        words.append(text)
    sentences = " ".join(words).partition("`tribosweep ")[0].replace("? ", "?\n").replace(". ", ".\n").splitlines()
    return sentences[0].rstrip(".") if sentences else ""
