"""Tutorials and pages of Start are executed: what their commands and code print must be what they show.

In such a page a fence ```toml title="NAME"``` (or csv) is a file, ```bash``` are commands, and ```python``` is code that shares its names
with the code before it. A fence ```text``` below one of these is what it prints on stdout. `python -m docs.make --update` writes these
fences, and the pictures that commands draw, anew.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r'^```(?P<language>toml|csv|bash|python)(?: title="(?P<file>[^"]+)")?\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?',
    re.MULTILINE | re.DOTALL,
)
PICTURE = re.compile(r"!\[[^\]]*\]\(\.\./pictures/([\w.-]+)\)")
FOLDERS = ("tutorials", "start")
WIDTH = "100"
RELATIVE, ABSOLUTE = 2e-6, 1e-12  # agreement of printed numbers: the rounding of another processor is no change
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?(?![\w])")
RULE = re.compile(r"[─━-]{3,}")


@dataclass(frozen=True, slots=True)
class Tutorial:
    """A page that is executed.

    Attributes:
        page: its file. work: folder in which its code runs, new for each build.
    """

    page: Path
    work: Path

    def execute(self, update: bool) -> list[str]:
        """Run the page from top to bottom.

        Args:
            update: write what is printed into the page instead of comparing.

        Returns:
            What differs or fails, with its line; nothing after a step that fails.
        """
        text = self.page.read_text(encoding="utf-8")
        names: dict[str, Any] = {"__name__": "__main__"}
        pieces, end, wrong = [], 0, list[str]()
        self.work.mkdir(parents=True)
        for fence in FENCE.finditer(text):
            where = f"{self.page.name}, line {text.count(chr(10), 0, fence.start()) + 1}"
            sys.stderr.write(f"{where}\n")  # a page takes minutes
            try:
                printed = self.step(fence["language"], fence["file"], fence["code"], names)
            except Exception as error:  # whatever the code of a page raises
                return [*wrong, f"{where}: {type(error).__name__}: {error}"]
            if fence["shown"] is not None and not update and not same(fence["shown"], printed):
                wrong.append(f"{where} prints\n{printed}\nand the page shows\n{fence['shown']}")
            pieces.append(text[end : fence.start()] + with_output(fence, printed))
            end = fence.end()
        if update:
            self.page.write_text("".join([*pieces, text[end:]]), encoding="utf-8")
        return wrong

    def step(self, language: str, file: str | None, code: str, names: dict[str, Any]) -> str:
        """Do one step; returns what it prints on stdout."""
        if file is not None:
            (self.work / file).write_text(code, encoding="utf-8")
            return ""
        if language == "python":
            return self.run_python(code, names)
        if language != "bash":
            return ""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], cwd=self.work, env=environment(self.work), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def run_python(self, code: str, names: dict[str, Any]) -> str:
        """Run code in this process, in the folder of the page."""
        printed, before = io.StringIO(), Path.cwd()
        os.chdir(self.work)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(self.page), "exec"), names)
        finally:
            os.chdir(before)
        return printed.getvalue()


def with_output(fence: re.Match[str], printed: str) -> str:
    """A fence with what it prints below it, if the page shows that."""
    if fence["shown"] is None:
        return fence[0]
    lines = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
    return fence[0].rpartition("```text\n")[0] + f"```text\n{lines.lstrip(chr(10))}\n```\n"


def same(shown: str, printed: str) -> bool:
    """Whether two texts agree but for blanks, lengths of rules, and the rounding of numbers."""
    words = [RULE.sub("---", " ".join(text.split())) for text in (shown, printed)]
    if NUMBER.sub("#", words[0]) != NUMBER.sub("#", words[1]):
        return False
    numbers = [[float(each.replace(",", "")) for each in NUMBER.findall(text)] for text in words]
    return all(math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for a, b in zip(*numbers, strict=True))


def command(work: Path) -> None:
    """Write the command `tribosweep` of this Python into the folder bin of `work`."""
    path = work / "bin" / "tribosweep"
    path.parent.mkdir(parents=True)
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tribosweep.sweep.cli "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def environment(work: Path) -> dict[str, str]:
    """The environment of commands, which print lines of a fixed width."""
    folders = (str(work.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    return {**os.environ, "PATH": os.pathsep.join(folders), "COLUMNS": WIDTH}


def execute(docs: Path, work: Path, update: bool) -> list[str]:
    """Execute every page of FOLDERS; what differs or fails is returned.

    Args:
        docs: the folder docs. work: folder for the files and runs of the pages.
        update: write output and pictures into the repository instead of comparing.
    """
    tutorials = [Tutorial(page, work / page.stem) for folder in FOLDERS for page in sorted((docs / folder).glob("*.md"))]
    command(work)
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(tutorials)), get_context("spawn")) as workers:  # a process starts JAX once
        wrong = [each for found in workers.map(Tutorial.execute, tutorials, repeat(update)) for each in found]
    for tutorial in tutorials:
        for name in PICTURE.findall(tutorial.page.read_text(encoding="utf-8")):
            if not (tutorial.work / name).exists():
                wrong.append(f"{tutorial.page.name} shows {name}, which its code has not drawn")
            elif update:
                shutil.copy(tutorial.work / name, docs / "pictures" / name)
    return wrong
