"""README: its example prints what it says, its lines are short, and its links lead to files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.slow
def test_the_example_prints_what_its_comment_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip() == code.splitlines()[-1].partition("# ")[2]


def test_readme_is_read_in_a_minute() -> None:
    lines = README.splitlines()
    assert len(lines) <= 100
    assert [line for line in lines if len(line) > 100 and not line.startswith("    python3 ")] == []


def test_links_of_readme_lead_to_files() -> None:
    links = [*re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README), *re.findall(r'src="([^"]+)"', README)]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []
