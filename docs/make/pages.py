"""The pages of the site from docs/: links out of docs/ lead to generated pages, so that the site is whole without a checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(#[^)\s]*)?(?=\))")
OUTSIDE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "docs": "index.md"}
STUDIES = "reference/studies.md"
SITE_ONLY = re.compile(r"^Part of \[tribosweep\]\([^)]*README\.md\).*\n\n?", re.MULTILINE)  # a line for those who read files


def copy_pages(into: Path) -> None:
    """Copy docs/, CHANGELOG.md and CONTRIBUTING.md into the folder `into`, with links as the site needs them."""
    shutil.copytree(DOCS, into, ignore=shutil.ignore_patterns("make", "__pycache__", "*.md"))
    for source in [*DOCS.rglob("*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]:
        page = source.relative_to(DOCS) if source.is_relative_to(DOCS) else Path(source.name.lower())
        target = into / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_site(source.read_text(encoding="utf-8"), source, page), encoding="utf-8")
    for notebook in (DOCS / "notebooks").glob("*.ipynb"):
        page = Path("notebooks") / f"{notebook.stem}.md"
        (into / page).write_text(for_site(notebook_page(notebook), notebook, page), encoding="utf-8")


def notebook_page(notebook: Path) -> str:
    """A notebook as Markdown: its text and its code, below a link to the file itself."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]).strip() for cell in cells]
    shown = [text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```" for cell, text in zip(cells, texts, strict=True)]
    title, _, rest = shown[0].partition("\n")
    link = f'Run the notebook <a href="{notebook.name}" download>{notebook.name}</a> to see what this code returns.'
    return "\n\n".join([title, link, rest.strip(), *shown[1:]]) + "\n"


def for_site(text: str, source: Path, page: Path) -> str:
    """The text of a page with every link to a file of the repository turned into one to the page that shows it.

    Args:
        text: Markdown of the file `source`.
        source: where it lies in the repository; its links are relative to this.
        page: where it lies in the site.

    Raises:
        FileNotFoundError: a link to a file that no page shows.
    """

    def link(match: re.Match[str]) -> str:
        path = (source.parent / match[1]).resolve()
        anchor = match[2] or ""
        if path.is_relative_to(DOCS) and path.is_file():
            to = path.relative_to(DOCS).with_suffix(".md" if path.suffix == ".ipynb" else path.suffix).as_posix()
        elif path.is_relative_to(ROOT / "configs") and path.is_file():
            to, anchor = STUDIES, f"#{slug(path.name)}"
        elif path.is_relative_to(ROOT) and str(path.relative_to(ROOT)) in OUTSIDE:
            to = OUTSIDE[str(path.relative_to(ROOT))]
        elif generated(match[1], source):
            return match[0]
        else:
            raise FileNotFoundError(f"{source.relative_to(ROOT)}: no page shows {match[1]}")
        return os.path.relpath(to, page.parent) + anchor

    return LINK.sub(link, SITE_ONLY.sub("", text))


def generated(link: str, source: Path) -> bool:
    """Whether a link of `source` leads to a page or a picture that the build writes; Zensical checks that it is there."""
    path = (source.parent / link).resolve()
    return path.is_relative_to(DOCS / "reference") or path == DOCS / "changelog.md"


def slug(name: str) -> str:
    """The anchor of a heading that is a file's name."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def studies_page() -> str:
    """A page with every shipped study, and the bases, beams and measurements that they read."""
    parts = ["# Shipped studies\n\nEvery study of the folder `configs`, whole, with the files that it reads; long tables are cut.\n"]
    configs = ROOT / "configs"
    for path in [*sorted(configs.glob("*.toml")), *sorted(configs.glob("b*/*")), *sorted((configs / "data").glob("*.csv"))]:
        lines = path.read_text(encoding="utf-8").rstrip().splitlines()
        shown = lines if path.suffix == ".toml" else lines[:12]
        more = f"\n... {len(lines) - len(shown):,} more lines" if len(shown) < len(lines) else ""
        language = {".toml": "toml", ".json": "json"}.get(path.suffix, "text")
        text = "\n".join(line if len(line) < 2000 else f"{line[:200]} ..." for line in shown)
        parts.append(f"## {path.relative_to(configs)} {{ #{slug(path.name)} }}\n\n```{language}\n{text}{more}\n```\n")
    return "\n".join(parts)
