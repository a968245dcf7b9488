"""`python -m docs.make` writes the site into build/docs/html; its index.html opens from disk, without a server and a network."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from docs.make import reference, tutorials
from docs.make.links import broken_links
from docs.make.pages import DOCS, ROOT, STUDIES, copy_pages, studies_page

SETTINGS = Path(__file__).with_name("zensical.toml")
VERIFIED = "<!-- every published value and ours -->"  # where validation.md has the table


def main() -> None:
    """Execute the tutorials, write the pages and build the site; exit with status 1 at the first thing that is wrong."""
    parser = argparse.ArgumentParser(prog="python -m docs.make", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs", help="folder of the site; what it held is removed")
    parser.add_argument("--quick", action="store_true", help="neither execute the tutorials nor compute published values")
    parser.add_argument("--update", action="store_true", help="write what the tutorials print and draw into docs/, in place of comparing")
    given = parser.parse_args()
    out = given.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    if not given.quick:
        print("executing the pages of", " and ".join(tutorials.FOLDERS), flush=True)
        stop_if(tutorials.execute(DOCS, out / "work", given.update), "tutorials that differ:")
    pages = out / "pages"
    copy_pages(pages)
    for name, text in {STUDIES: studies_page(), **reference.pages()}.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(text, encoding="utf-8")
    values = "(Left out by `--quick`.)" if given.quick else checked_values()
    validation = pages / "validation.md"
    validation.write_text(validation.read_text(encoding="utf-8").replace(VERIFIED, values), encoding="utf-8")
    shutil.copy(SETTINGS, out)
    print("building the site", flush=True)
    build(out)
    stop_if(broken_links(out / "html"), "links that lead nowhere:")
    print(out / "html" / "index.html")


def checked_values() -> str:
    """The table of published values, computed; exits with a message if one is missed."""
    from tribosweep.sweep.analysis.verification import FAIL, verify
    from tribosweep.sweep.cli.terminal import progress

    print("computing published values", flush=True)
    with progress("values"):
        verdicts = verify()
    missed = [f"{v.case} by {v.scheme}, {v.quantity}: {v.computed:.9g}, published {v.published:.9g}" for v in verdicts if v.verdict == FAIL]
    stop_if(missed, "published values that are missed:")
    return reference.published_values(verdicts)


def stop_if(wrong: list[str], title: str) -> None:
    """Exit with a message if anything is wrong."""
    if wrong:
        sys.exit("\n".join([title, *wrong]))


def build(out: Path) -> None:
    """Run Zensical; a warning is an error, of griffe too, which reads the docstrings and does not count as an issue."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean", "--config-file", str(out / SETTINGS.name)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    sys.stdout.write(said)
    if done.returncode or "No issues found" not in said or "\ngriffe: " in said:
        sys.exit("the site was not built: warnings are errors")


if __name__ == "__main__":
    main()
