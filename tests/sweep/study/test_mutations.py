"""Two thousand mutated studies: each is refused with a sentence, or runs the very study that its file states."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sweep.cli import main

BASES = (
    """
[study]
name = "base"
scheme = "exact"
[parameters]
m = 2.0
mu = 0.2
k = 3.5
[time]
end = 9.0
window = [1.0, 8.0]
[sweep]
design = "grid"
[sweep.axes]
a0 = [15.0, 1.5]
omega = { from = 1.0, to = 10.0, count = 3, spacing = "log" }
""",
    """
[study]
scheme = "rk54"
[parameters]
k_t = 9000000.0
[time]
tolerance = 1e-6
[output]
shard_points = 4
[sweep]
design = "sobol"
count = 12
seed = 5
[sweep.axes]
mu = { from = 0.1, to = 0.4 }
retries = { from = 1, to = 4, spacing = "integer" }
k = [0.0, 2.0]
""",
    """
[sweep]
design = "saltelli"
count = 4
second_order = true
[sweep.axes]
mu = { distribution = "truncated_normal", mean = 0.3, std = 0.1, lower = 0.1 }
a0 = { distribution = "triangular", from = 2.0, mode = 3.0, to = 9.0 }
k = { distribution = "choice", values = [1.0, 2.0], weights = [3.0, 1.0] }
""",
    """
[[sweep]]
design = "zip"
[sweep.axes]
a0 = [1.0, 2.0]
scheme = ["exact", "exact"]
[[sweep]]
design = "latin_hypercube"
count = 7
[sweep.axes]
a0 = { from = 0.5, to = 20.0 }
mu_d = [0.05, 0.1]
""",
    """
[study]
model = "buckling_wall"
[parameters]
k_post = 0.5
damping_criterion = "excluded"
[[sweep]]
[sweep.axes]
v0 = [1.0, 2.0]
[[sweep]]
design = "sobol"
count = 5
[sweep.axes]
post_set = [[2, 3.5, 4]]
post_stiffness = [[0.2, 0.15, 0.125]]
k_post = ["default"]
damping_criterion = ["included", "excluded"]
""",
    """
[study]
model = "stop"
[parameters]
sides = 2
[sweep]
[sweep.axes]
gap = [0.5, 0.25]
c_n = { from = 0.5, to = 1.5, count = 2 }
""",
)
WORDS = ["", "grid", "sobol", "exact", "euler", "default", "mu", "steady", "log", "1e400", "-1", "[1.0]", "é", "nan"]
PIECES = st.one_of(st.sampled_from(list("[]{}=\"',.#\n 0123456789eE+-_")), st.sampled_from(WORDS), st.characters(codec="utf-8"))
VALUES = st.one_of(
    st.integers(-3, 40), st.floats(), st.booleans(), st.sampled_from(WORDS), st.lists(st.floats(0.1, 3.0), max_size=3), st.just({}),
    st.fixed_dictionaries({"from": st.floats(0.1, 1.0), "to": st.floats(1.0, 9.0), "count": st.integers(0, 5)}),
)  # fmt: skip
# what a resolved study says that its file may leave to the defaults
DEFAULTED = re.compile(r"study\.(name|model)|sweep(\[\d+\])?\.(design|seed)|.*\.spacing|time\.window.*")


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every value of nested tables and lists by its path."""
    if isinstance(value, dict):
        return {leaf: found for key, item in value.items() for leaf, found in leaves(item, f"{path}.{key}" if path else str(key)).items()}
    if isinstance(value, list):
        return {leaf: found for place, item in enumerate(value) for leaf, found in leaves(item, f"{path}[{place}]").items()}
    return {path: value}


def without_words(value: Any) -> Any:
    """The same tables, in which a choice between values of equal weight is their list, as in a resolved study."""
    if isinstance(value, dict) and set(value) == {"distribution", "values"} and value["distribution"] == "choice":
        return value["values"]
    if isinstance(value, list):
        return [without_words(item) for item in value]
    return {key: without_words(item) for key, item in value.items()} if isinstance(value, dict) else value


def same(one: Any, other: Any) -> bool:
    """Equal, 1 and 1.0 as well, true and 1 not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def check(text: str, folder: Path) -> None:
    """Check that a study is refused with sentences, or that the study to be run is what an independent reading of the file finds."""
    path = folder / "study.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        status = main(["run", str(path), "--dry-run", "--json"])
    assert status in (0, 2), told.getvalue()
    assert "Traceback" not in told.getvalue()
    assert not [entry for entry in folder.iterdir() if entry != path]
    if status == 2:
        assert told.getvalue().startswith(f"{path}: ")
        return
    stated = without_words(tomllib.loads(text + "\n"))
    if isinstance(stated.get("sweep"), list) and len(stated["sweep"]) == 1:
        stated["sweep"] = stated["sweep"][0]
    resolved = leaves(json.loads(out.getvalue())["config"])
    for leaf, value in leaves(stated).items():
        if leaf.endswith(".spacing") or leaf.startswith("time.window"):  # canonical: checked below
            continue
        if value == "default":
            assert leaf in resolved
            continue
        assert leaf in resolved, (leaf, text)
        assert same(resolved[leaf], value), (leaf, text)
    for leaf, value in resolved.items():
        if DEFAULTED.fullmatch(leaf) or leaves(stated).get(leaf) == "default":
            continue
        assert same(leaves(stated).get(leaf), value), (leaf, text)
    window = stated.get("time", {}).get("window")
    if window is not None:
        assert json.loads(out.getvalue())["config"]["time"]["window"] == window
    for leaf, value in leaves(stated).items():
        if leaf.endswith(".spacing"):
            assert resolved[leaf] == value


@st.composite
def mutated_text(draw: st.DrawFn) -> str:
    """A study with pieces of its text replaced, doubled, dropped or put in."""
    text = draw(st.sampled_from(BASES))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 6))
        text = text[:at] + draw(PIECES) + text[at + length * draw(st.integers(0, 1)) :]
    return text


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


@st.composite
def mutated_tables(draw: st.DrawFn) -> str:
    """A study with keys renamed, dropped, moved or given other values."""
    tables = tomllib.loads(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 2))):
        container, key = draw(st.sampled_from(places(tables) or [(tables, "study")]))
        action = draw(st.sampled_from(["value", "value", "rename", "drop", "move"]))
        if isinstance(container, list) or action == "value":
            container[key] = draw(VALUES)
        elif key in container and action == "rename":
            container[str(key) + draw(st.sampled_from(["s", "_", "x", "0"]))] = container.pop(key)
        elif key in container and action == "drop":
            del container[key]
        elif key in container:
            tables[str(key)] = container.pop(key)
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tables.items()) + "\n"


def test_the_studies_that_are_mutated_are_sound(tmp_path: Path) -> None:
    for text in BASES:
        check(text, tmp_path)
        assert main(["run", str(tmp_path / "study.toml"), "--dry-run"]) == 0


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated_text())
def test_a_study_with_a_mutated_text_is_refused_or_run_as_it_stands(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    check(text, tmp_path_factory.mktemp("text"))


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated_tables())
def test_a_study_with_mutated_keys_is_refused_or_run_as_it_stands(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    check(text, tmp_path_factory.mktemp("tables"))
