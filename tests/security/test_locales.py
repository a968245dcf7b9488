"""Numbers are read and written alike where the locale has a decimal comma."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.sweep.execution.processes import python

ROOT = Path(__file__).parents[2]
STUDY = """
[parameters]
m = "1.5 kg"
[time]
end = 1.5
[sweep]
design = "table"
file = "points.csv"
"""
COMMANDS = [
    ["run", "study.toml", "--out", "run", "--set", "parameters.k=3.5e-5"],
    ["export", "run", "--out", "rows.csv"],
    ["trace", "study.toml", "--point", "0", "--out", "trace.csv"],
    ["modes", str(ROOT / "configs" / "beams" / "tube.toml"), "--json"],
]


def carried_out(folder: Path, name: str) -> list[str]:
    """What commands print and write in a process of a locale, which also C has set."""
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    (folder / "points.csv").write_text("a0,mu\n15.5,0.25\n1.5,\n3.25,0.125\n")
    code = f"""
import locale, os
locale.setlocale(locale.LC_ALL, {name!r})
print(locale.localeconv()["decimal_point"])
from tribosweep.sweep.cli import main
os.chdir({str(folder)!r})
for words in {COMMANDS!r}:
    assert main(words) == 0
"""
    point, *printed = python(code, LOCPATH=str(folder.parent))
    return [point, " ".join(printed), (folder / "rows.csv").read_text(), (folder / "trace.csv").read_text()]


@pytest.mark.long
@pytest.mark.slow
def test_a_decimal_comma_changes_no_number(tmp_path: Path) -> None:
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no localedef, or no sources of locales")
    point, *english = carried_out(tmp_path / "english", "C")
    comma, *german = carried_out(tmp_path / "german", "de_DE.UTF-8")
    assert (point, comma) == (".", ",")
    assert german == english
