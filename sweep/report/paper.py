"""A report as a file: an HTML page, or a PDF for which headless Chromium prints that page."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tribosweep.kernels.runtime import other_program
from tribosweep.sweep.io.atomic import write_text, write_whole
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.report.content import Content
from tribosweep.sweep.report.page import check_suffix, is_pdf, plotly_script, render, write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
INSTALLED = (  # where they are on systems that do not put them on the PATH
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
ON_PAPER = "#paper"  # the page then draws itself at the width of a sheet
READY = 60_000  # ms of the page's own clock, until its charts are drawn
SECONDS = 180  # until the browser is given up


def find_browser() -> str:
    """The path of a browser that prints; ConfigError if none is installed."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    found = found or next((path for path in INSTALLED if Path(path).exists()), None)
    if found is None:
        message = (
            "a PDF is printed by Chromium, Chrome or Edge, and none is installed (Debian: apt-get install chromium). "
            "Without one, write an .html file and print it from any browser"
        )
        raise ConfigError("--out", [Problem("", message)])
    return found


def prepare(out: Path) -> Callable[[Content], int]:
    """Check that a report can be written into a file, before anything is read; the function writes it and returns its size [bytes].

    Raises:
        ConfigError: the suffix is neither .html nor .pdf, plotly is missing, or a PDF is wanted and no browser is installed.
    """
    check_suffix(out)
    plotly_script()
    if not is_pdf(out):
        return lambda content: write_page(content, out)
    browser = find_browser()
    return lambda content: write_paper(content, out, browser)


def write_paper(content: Content, out: Path, browser: str) -> int:
    """Print a report into a .pdf file.

    Args:
        content: the content of the report. out: the file. browser: from `find_browser`.

    Returns:
        The size of the file [bytes].

    Raises:
        ConfigError: the browser fails. OSError: `out` cannot be written.
    """
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder) / "report.html", Path(folder) / "report.pdf"
        write_text(page, render(content))
        command = [
            browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            f"--user-data-dir={folder}/profile", f"--virtual-time-budget={READY}", "--no-pdf-header-footer", "--window-size=720,1000",
            *(["--no-sandbox"] if running_as_root() else []), f"--print-to-pdf={printed}", page.as_uri() + ON_PAPER,
        ]  # fmt: skip
        try:
            done = other_program.run(command, SECONDS)
            said = done.stderr.strip().splitlines()[-1:] if done.returncode or not printed.exists() else []
        except subprocess.TimeoutExpired:
            said = [f"no answer within {SECONDS} s"]
        if said or not printed.exists():
            raise ConfigError("--out", [Problem("", f"{browser} could not print the report: {' '.join(said) or 'no reason given'}")])
        data = printed.read_bytes()
    write_whole(out, data)
    return len(data)


def running_as_root() -> bool:
    """Whether this process is the superuser's, for whom Chromium has no sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
