"""`python -m docs.make [FOLDER]` writes the site into FOLDER/html (default build/docs); open its index.html, no server is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from docs.make import reference
from docs.make.links import broken_links
from docs.make.pages import ROOT, STUDIES, copy_pages, studies_page

SETTINGS = Path(__file__).with_name("zensical.toml")


def main() -> None:
    """Write the pages, then build the site; exit with status 1 at the first warning."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()
    shutil.rmtree(out, ignore_errors=True)
    pages = out / "pages"
    copy_pages(pages)
    written = {STUDIES: studies_page(), **reference.pages()}
    for name, text in written.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(text, encoding="utf-8")
    shutil.copy(SETTINGS, out)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean", "--config-file", str(out / SETTINGS.name)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout + done.stderr)
    if done.returncode or "No issues found" not in done.stdout + done.stderr:
        sys.exit("the site was not built: warnings are errors")
    if wrong := broken_links(out / "html"):
        sys.exit("\n".join(["links that lead nowhere:", *wrong]))
    print(out / "html" / "index.html")


if __name__ == "__main__":
    main()
