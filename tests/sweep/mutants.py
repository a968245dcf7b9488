"""What the tests with mutated files share: odd pieces of text, files that studies use, and checks of what a command says."""

from __future__ import annotations

import contextlib
import io
import json
import time
import unicodedata
from pathlib import Path
from typing import Any

from tribosweep.sweep.cli import main

SOON = 10.0  # s of processor time
TURNING = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}  # bidirectional classes of Unicode that order other text
MARKS = "\u200e\u200f\u061c"  # marks of the direction, whose class is that of a letter
# studies that read a table in the place of FILE
POINTS = """
[study]
model = "buckling_wall"
[parameters]
post_stiffness = [0.2, 0.15]
post_set = [2.0, 3.5]
[sweep]
design = "table"
file = "FILE"
"""
RECORD = '[time]\nend = 0.01\n[excitation]\nrecords = "FILE"\nextend = "zero"\n'
TWO_WALLS = """
[study]
model = "two_walls"
[parameters]
k = 30.0
gap = 0.04
k_n = 500.0
left_gap = 0.06
left_k_n = 150.0
left_f_crit = 25.0
left_f_post = 15.0
left_k_post = 100.0
[time]
end = 2.0
"""
ODD = (
    "[red]",
    "[/]",
    "[bold]x[/bold]",
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\\u001b[31m",
    "\x00",
    "\\u0000",
    "\x07",
    "\x7f",
    "\x85",
    "\x9b",
    "\\u009b",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\\u202E",
    "\u2028",
    "\u2029",
    "\ud800",
    "\ufeff",
    "\r",
    "\t",
    "\\n",
    "\\r",
    "\\t",
    "${HOME}",
    "%s",
    "{0}",
    "../",
    "x" * 3000,
    "9" * 500,
    "[" * 40,
    "a." * 40,
)
FILES = {
    "points.csv": "# points\na0,mu,scheme\n15.0,0.2,exact\n1.5,,\n3.0,default,exact\n",
    "walls.csv": 'v0,post_set,damping_criterion\n1.0,2;3.5;4,included\n2.0,"2; 3.5; 4",excluded\n',
    "shock.csv": "# a shock\ntime [s],acceleration [g]\n" + "".join(f"{0.01 * n:g},{n % 3 - 1}\n" for n in range(9)),
    "after.csv": "time,acceleration\n" + "".join(f"{0.01 * n:g},{0.5 * n}\n" for n in range(7)),
    "psd.csv": "frequency [Hz],psd [g^2/Hz]\n1.0,0.01\n5.0,0.02\n20.0,0.01\n",
    "drops.csv": "test,v0,v0_unit,set,set_sd,back,times\nfirst,1.5,m/s,0.5,0.01,-1.0,1\n"
    "second,2.0,m/s,,,-1.1,2\nthird,3.0,,1.5,0.02,-1.2,1\n",
    "trace.csv": "time,x\n0,0\n0.01,1e-5\n0.02,3e-5\n0.03,8e-5\n",
    "loop.csv": "x,force\n0,5.0\n1e-6,9.0\n2e-6,12.0\n1e-6,3.0\n0,-2.0\n",
}


def write_files(folder: Path) -> None:
    """Write the files that studies use."""
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")


def commanding(text: str) -> list[str]:
    """The characters of a text that command a terminal or hide or turn other text, but for line feeds."""
    return [
        each
        for each in sorted(set(text) - {"\n"})
        if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(each) in TURNING or each in MARKS
    ]


def tell(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in this process; its status, and what it prints, which is soon, without traceback, and commands no terminal."""
    out, told = io.StringIO(), io.StringIO()
    begun = time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        status = main(arguments)
    assert time.process_time() - begun < SOON
    for text in (out.getvalue(), told.getvalue()):
        assert not commanding(text), (commanding(text), text)
        assert "Traceback" not in text
    return status, out.getvalue(), told.getvalue()


def places(tables: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of nested tables."""
    found = []
    for key in list(tables) if isinstance(tables, dict) else range(len(tables)):
        found.append((tables, key))
        if isinstance(tables[key], dict | list):
            found += places(tables[key])
    return found


def toml(value: Any) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value) if isinstance(value, str) else str(value)


def document(tables: dict[str, Any]) -> str:
    """Tables as the text of a file."""
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tables.items()) + "\n"
