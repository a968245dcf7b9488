"""What builds the site: tutorials that print something else are found, and so are links that lead nowhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs.make.links import broken_links
from docs.make.pages import DOCS, ROOT, for_site, notebook_page
from docs.make.tutorials import Tutorial, same

PAGE = """# A page

```python
half = 0.5
```

```csv title="numbers.csv"
a
1
```

```bash
cat numbers.csv
```

```text
a
{a}
```

```python
print(f"{{half:.7f}} W")
```

```text
{half}
```
"""


@pytest.mark.parametrize(("shown", "differs"), [(("1", "0.5000000 W"), 0), (("2", "0.5000000 W"), 1), (("1", "0.5 s"), 1)])
def test_a_page_must_show_what_its_code_prints(tmp_path: Path, shown: tuple[str, str], differs: int) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(a=shown[0], half=shown[1]))
    assert len(Tutorial(page, tmp_path / "work" / "first").execute(update=False)) == differs
    assert Tutorial(page, tmp_path / "work" / "second").execute(update=True) == []
    assert page.read_text() == PAGE.format(a="1", half="0.5000000 W")


def test_code_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```bash\ntrue\n```\n\n```bash\necho no >&2; exit 3\n```\n")
    (found,) = Tutorial(page, tmp_path / "work").execute(update=False)
    assert found.startswith("page.md, line 7: RuntimeError: exit status 3\nno")


def test_numbers_agree_to_their_rounding_and_blanks_do_not_count() -> None:
    assert same("a  1.0000000\n────\n1,024 rows", "a 1.0000001\n──────\n1,024 rows")
    assert not same("a 1.0000000", "a 1.00001")
    assert not same("a 1", "b 1")
    assert not same("a 1", "a 1 1")


def test_links_and_anchors_that_are_not_there_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="here"><a href="#here">x</a><a href="b.html#there">x</a><img src="no.png"></p>')
    (tmp_path / "b.html").write_text(
        '<a href="a.html#here">x</a><a href="https://example.org">x</a><script src="https://example.org/x.js"></script>'
    )
    assert sorted(broken_links(tmp_path)) == [
        "a.html: b.html#there (no such anchor)",
        "a.html: no.png",
        "b.html: https://example.org/x.js is loaded from a network",
    ]


def test_links_to_files_of_the_repository_lead_to_pages() -> None:
    source = ROOT / "docs" / "how-to" / "wear.md"
    text = "[a](../../configs/stop.toml) [b](../../README.md) [c](runs.md#a) [d](https://example.org)"
    assert for_site(text, source, Path("how-to/wear.md")) == (
        "[a](../reference/studies.md#stop-toml) [b](../index.md) [c](runs.md#a) [d](https://example.org)"
    )
    with pytest.raises(FileNotFoundError, match=r"docs/how-to/wear.md: no page shows \.\./nothing\.md"):
        for_site("[a](../nothing.md)", source, Path("how-to/wear.md"))


def test_a_notebook_is_a_page_with_its_text_and_code(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words.\n"]},
        {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": []},
    ]
    notebook.write_text(json.dumps({"cells": cells}))
    page = notebook_page(notebook)
    assert page.startswith("# Title\n\n")
    assert page.endswith("\n\nWords.\n\n```python\na = 1\na\n```\n")
    assert 'href="n.ipynb"' in page


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "tests").glob("*.md"), *(ROOT / ".github").rglob("*.md"), *DOCS.rglob("*.md")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_of_documents_have_at_most_120_characters(path: Path) -> None:
    fenced, wide = False, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) > 120 and not fenced and not line.startswith(("|", "    ", "![", "$$")):  # tables, code, pictures, formulas
            wide.append(number)
    assert not wide


def test_files_and_names_that_contributors_are_sent_to_are_there() -> None:
    folders = [ROOT / folder for folder in ("benchmarks", "kernels", "sweep", "tests", "docs", "configs")]
    sources = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    missing = []
    for page in (ROOT / "CONTRIBUTING.md", DOCS / "explanations" / "code.md"):
        # `folder/module`, `folder/file.ending`, `module.NAME`; not names of other packages, nor files of a run
        for text in re.findall(r"`([a-z_]+(?:/[a-z_A-Z0-9]+)*/?(?:\.[A-Za-z_]+)?)`", page.read_text(encoding="utf-8")):
            path, dot, name = text.rstrip("/").partition(".")
            if (not dot and "/" not in path) or path in ("jnp", "manifest", "tribosweep", "typer"):
                continue
            found = [
                source
                for source in sources
                if f"/{source.relative_to(ROOT)}".endswith((f"/{path}", f"/{path}.py", f"/{path}/__init__.py", f"/{text}"))
            ]
            python = [source.read_text(encoding="utf-8") for source in found if source.suffix == ".py"]
            if not found or (name and not any(source.name.endswith(text.rpartition("/")[2]) for source in found)
                             and not any(re.search(rf"\b{name}\b", source) for source in python)):  # fmt: skip
                missing.append(text)
    assert not missing


def test_the_page_for_contributors_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 120
