"""Laws and analyses of other packages: the package in tests/data/outside, as installed beside this one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tribosweep.kernels.models import MODELS, outside_laws

OUTSIDE = Path(__file__).parents[1] / "data" / "outside"
DECLARED = {
    "kind": "friction",
    "title": "friction",
    "parameters": [{"name": "my_speed", "unit": "m/s", "description": "a speed", "default": 0.0, "lower": 0.0}],
    "law": "tests:Law",
    "step": "tests:step",
}


def with_more(parameter: dict[str, Any]) -> dict[str, Any]:
    """A declaration with a second parameter."""
    return {**DECLARED, "parameters": [*DECLARED["parameters"], {"unit": "1", "description": "a size", **parameter}]}


OF_FRICTION = {"k": 20.0, "v0": 0.4, "mu": 0.1, "normal_force": 5.0, "tanh_speed": 0.05}
OF_SPRING = {"k": 20.0, "v0": 1.0, "mu": 0.0, "cubic_stiffness": 100.0, "cubic_reach": 0.3}
OF_WALL = {"v0": 1.0, "x0": -0.1, "hertz_stiffness": 1e4, "hertz_damping": 0.2, "hertz_reach": 0.05, "end": 0.3, "step": 5e-4}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed, as pip would."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((OUTSIDE / "pyproject.toml").read_text())["project"]
    for package in ("tanh_friction", "slip_ratio"):
        shutil.copytree(OUTSIDE / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / "tribosweep_example-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [
        f"[{group}]\n" + "\n".join(f"{name} = {value}" for name, value in each.items()) for group, each in project["entry-points"].items()
    ]
    info.joinpath("entry_points.txt").write_text("\n\n".join(points) + "\n")
    return folder


def python(site: Path, code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run some code where the package is installed."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env=os.environ | {"PYTHONPATH": str(site)}, cwd=folder, capture_output=True, text=True, check=False)


def beside(site: Path, code: str, folder: Path | None = None) -> Any:
    """What Python prints as JSON at the end of some code, where the package is installed."""
    ran = python(site, code, folder)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_a_model_has_the_parameters_and_its_rules_know_the_laws(site: Path) -> None:
    code = """
import json, sys
from tribosweep.kernels.models import MODELS, outside_laws
def said(model, scheme, **p):
    chosen = MODELS[model]
    resolved = chosen.resolve(p)
    return [rule.sentence for rule in chosen.rules if rule.broken(resolved, scheme)]
print(json.dumps({
    "faults": outside_laws.faults(),
    "models": [name for name, model in MODELS.items() if any(q.name == "hertz_stiffness" for q in model.parameters)],
    "exact": said("rubbing_mass", "exact", tanh_speed=0.1),
    "static": said("rubbing_mass", "rk54", tanh_speed=0.1, mu_s=0.3, mu_d=0.2),
    "belt": said("rubbing_mass", "rk54", tanh_speed=0.1, belt_speed=0.2),
    "both": said("rubbing_mass", "rk54", tanh_speed=0.1, dahl_stiffness=1e4),
    "link": said("rubbing_mass", "exact", cubic_stiffness=0.1),
    "stop": said("stop", "exact", hertz_stiffness=0.1),
    "step": said("rubbing_mass", "euler", tanh_speed=1e-5, step=1e-2),
    "jax": "jax" in sys.modules,
}))
"""
    found = beside(site, code)
    assert found["faults"] == []
    assert found["models"] == ["stop"]
    assert found["exact"] == ["scheme 'exact' does not run regularised Coulomb friction: choose a time scheme, or leave out tanh_speed"]
    assert found["static"] == ["regularised Coulomb friction does not read mu_s: leave it out"]
    assert found["belt"] == []
    assert any(sentence.startswith("friction has one law") for sentence in found["both"])
    assert found["link"][0].startswith("scheme 'exact' has no links beside k and c")
    assert found["stop"][0].startswith("scheme 'exact' does not run a contact of Hertz")
    assert found["step"] == ["a fixed step must be stable for the stuck mass and on the wall"]
    assert not found["jax"]


def test_a_program_with_such_a_law_is_not_kept(site: Path) -> None:
    code = """
import json
from tribosweep.kernels.batch.program_key import key_of
from tribosweep.kernels.batch.programs import depends_on
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.runtime.import_closure import digest
others = {}, {"tanh_speed": 0.1}, {"cubic_stiffness": 1.0}
keys = [key_of(MODELS["rubbing_mass"], {"mu": 0.1, "k_t": 1e5, **more}, "rk54") for more in others]
print(json.dumps([digest(depends_on(key)) is None for key in keys]))
"""
    assert beside(site, code) == [False, True, True]


@pytest.mark.parametrize(
    ("name", "declared", "words"),
    [
        ("my", 3, "it must be a mapping, not int"),
        ("my", {**DECLARED, "kind": "rope"}, "kind must be one of friction, link, wall, not 'rope'"),
        ("my", {**DECLARED, "color": 1}, "color: unknown; it may have kind, law"),
        ("my", {name: value for name, value in DECLARED.items() if name != "step"}, "it lacks step"),
        ("my", {**DECLARED, "law": "tests"}, "law must be given as 'module:name', not 'tests'"),
        (
            "my",
            {**DECLARED, "reads": ["mu"]},
            "reads must be a list of some of mu_s, belt_speed, ",
        ),
        ("my", {**DECLARED, "reads": "mu_s"}, "not 'mu_s'"),
        ("my", {**DECLARED, "kind": "link", "reads": ["mu_s"]}, "reads is of friction"),
        ("my", with_more({"name": "my_table", "kind": "list", "default": 0.0}), "my_table: default must be a list of numbers, () for none"),
        ("my", with_more({"name": "my_size", "default": (0.0, 1.0)}), "my_size: default must be a number"),
        ("my", with_more({"name": "my_size", "default": 0.0, "lower": "a"}), "my_size: default, lower and upper must be numbers"),
        ("my", with_more({"name": "my_size", "default": float("nan")}), "my_size: default, lower and upper must be numbers"),
        ("my", with_more({"name": "my_size", "default": -5.0, "lower": 0.0}), "my_size: the default must be finite and within the bounds"),
        ("my", with_more({"name": "my_size"}), "my_size: default, lower and upper must be numbers"),
        ("slip", {**DECLARED, "parameters": [{**DECLARED["parameters"][0], "name": "slip_distance"}]}, "begins no parameter"),  # type: ignore[index]
        ("my", {**DECLARED, "parameters": []}, "it needs at least one parameter"),
        ("my", {**DECLARED, "parameters": 2 * DECLARED["parameters"]}, "and none twice"),  # type: ignore[operator]
        ("my", {**DECLARED, "parameters": [{**DECLARED["parameters"][0], "lower": -1.0}]}, "switches the law on"),  # type: ignore[index]
        ("my", {**DECLARED, "parameters": [{**DECLARED["parameters"][0], "color": 1}]}, "my_speed: color: unknown"),  # type: ignore[index]
        ("my", {**DECLARED, "parameters": [{"name": "my_speed"}]}, "name, unit and description"),
        ("her", DECLARED, "'my_speed' must begin with her_"),
        ("mu", DECLARED, "that begins no parameter"),
        ("My", DECLARED, "lower-case"),
    ],
)
def test_a_faulty_declaration_is_told_and_left_out(monkeypatch: pytest.MonkeyPatch, name: str, declared: Any, words: str) -> None:
    right = EntryPoint("other", "right", outside_laws.GROUP)
    other = {**DECLARED, "parameters": [{**DECLARED["parameters"][0], "name": "other_speed"}]}  # type: ignore[index]
    given = {"wrong": declared, "right": other}
    monkeypatch.setattr(EntryPoint, "load", lambda self: given[self.value])
    monkeypatch.setattr(outside_laws, "entry_points", lambda group: [EntryPoint(name, "wrong", group), right])
    laws, faults = outside_laws.found.__wrapped__()
    assert [law.switch for law in laws] == ["other_speed"]
    assert len(faults) == 1
    assert faults[0].startswith(f"the law wrong (entry point {name}): ")
    assert words in faults[0]


def test_a_package_that_cannot_be_imported_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_laws, "entry_points", lambda group: [EntryPoint("my", "no_such_package:LAW", group)])
    assert outside_laws.found.__wrapped__()[1] == (
        "the law no_such_package:LAW (entry point my): cannot be loaded: ModuleNotFoundError: No module named 'no_such_package'",
    )


def test_no_own_parameter_observable_or_column_begins_with_a_word_that_others_may_use() -> None:
    columns = {"a", "point", "status", "scheme", "level", "halving", "chain", "draw"}  # of files, and those of a trace
    own = {q.name for model in MODELS.values() for q in (*model.parameters, *model.observables)}
    own -= {q.name for q in outside_laws.parameters()}
    assert {name.split("_")[0] for name in own} | columns == outside_laws.TAKEN


def motion(rate: Any, v0: float, x0: float, end: float) -> dict[str, float]:
    """The end of a motion of 1 kg by SciPy, and the integral of the third rate: what friction dissipates [J], or an impulse [N s]."""
    found = solve_ivp(
        lambda _t, y: [y[1], *rate(y[0], y[1])], (0.0, end), [x0, v0, 0.0], method="DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3
    )
    return {"x_end": found.y[0, -1], "v_end": found.y[1, -1], "sum": found.y[2, -1]}


@pytest.mark.slow
def test_the_laws_are_those_of_an_independent_integration(site: Path) -> None:
    runs = [("rubbing_mass", OF_FRICTION | {"end": 1.0}), ("rubbing_mass", OF_SPRING | {"end": 1.0}), ("stop", OF_WALL)]
    code = f"""
import json
import tribosweep as ts
runs = [ts.simulate(model, {{**p, "tolerance": 1e-10}}, scheme="rk54") for model, p in {runs!r}]
print(json.dumps([{{name: float(value) for name, value in run.items() if getattr(value, "ndim", 1) == 0}} for run in runs]))
"""
    friction, spring, wall = beside(site, code)

    def rubs(x: float, v: float) -> tuple[float, float]:
        force = 0.5 * np.tanh(v / 0.05)
        return -20.0 * x - force, force * v

    expected = motion(rubs, 0.4, 0.0, 1.0)
    assert friction["x_end"] == pytest.approx(expected["x_end"], rel=1e-7)
    assert friction["v_end"] == pytest.approx(expected["v_end"], rel=1e-7)
    assert friction["friction_power"] == pytest.approx(expected["sum"], rel=1e-5)
    expected = motion(lambda x, _v: (-20.0 * x - 100.0 * x**3, 0.0), 1.0, 0.0, 1.0)
    assert spring["x_end"] == pytest.approx(expected["x_end"], rel=1e-7)
    assert spring["v_end"] == pytest.approx(expected["v_end"], rel=1e-7)

    def hits(x: float, v: float) -> float:
        return max(0.0, 1e4 * max(x, 0.0) ** 1.5 * (1.0 + 0.2 * v))

    expected = motion(lambda x, v: (-hits(x, v), hits(x, v)), 1.0, -0.1, 0.3)
    assert wall["v_end"] == pytest.approx(expected["v_end"], rel=1e-6)
    assert wall["x_end"] == pytest.approx(expected["x_end"], rel=1e-6)
    assert wall["impulse"] == pytest.approx(expected["sum"], rel=1e-5)  # of one contact
    assert wall["impulse"] == pytest.approx(1.0 - wall["v_end"], rel=1e-6)


KELVIN = """
LAW = {"kind": "wall", "title": "the stop of Kelvin and Voigt", "law": "kelvin.law:Kelvin", "step": "kelvin:step", "parameters": [
    {"name": "kelvin_stiffness", "unit": "N/m", "description": "stiffness", "default": 0.0, "lower": 0.0},
    {"name": "kelvin_damping", "unit": "N s/m", "description": "damping", "default": 0.0, "lower": 0.0},
]}
FRICTION = {"kind": "friction", "title": "friction of a table", "law": "kelvin.law:Tabled", "step": "kelvin:none", "parameters": [
    {"name": "tabled_on", "unit": "1", "description": "switch", "default": 0.0, "lower": 0.0},
    {"name": "tabled_force", "unit": "N", "description": "parts of the force", "kind": "list", "default": ()},
]}
def step(p):
    return p["kelvin_stiffness"], p["kelvin_damping"]
def none(p):
    return 0.0, 100.0
"""
KELVIN_LAWS = """
from typing import Any, NamedTuple
import jax.numpy as jnp
from tanh_friction.laws import Tanh
from tribosweep.kernels.contact.stop_law import StopLaw
class Numbers(NamedTuple):
    stiffness: Any
    damping: Any
class Kelvin(Numbers, StopLaw):
    @classmethod
    def of(cls, p):
        return cls(p["kelvin_stiffness"], p["kelvin_damping"])
    def force(self, y, speed):
        return self.stiffness * y + self.damping * speed
class Tabled(Tanh):
    @classmethod
    def of(cls, p):
        return cls(jnp.nansum(p["tabled_force"]), 0.05 * p["tabled_on"], p["normal_force"], None)
"""
BESIDE_OURS = """
import json
import jax, jax.numpy as jnp, numpy as np
import tribosweep as ts
SEEN = ("x_end", "v_end", "impulse", "peak_force", "contact_time", "max_compression", "rebound_velocity", "separation_time")
BASE = {{"v0": 1.0, "x0": -0.1, "gap": 0.01, "k": 50.0, "m": 1.3, "end": 0.3, "step": 1e-4, "largest_step": 1e-3, "tolerance": 1e-10}}
def of(names, values):
    run = ts.simulate("stop", {{**BASE, **dict(zip(names, values))}}, scheme={0!r})
    return jnp.stack([run[name] for name in SEEN])
at = jnp.array([1e4, 30.0, 1.0, 0.01, 1.3])
names = [(*own, "v0", "gap", "m") for own in (("k_n", "c_n"), ("kelvin_stiffness", "kelvin_damping"))]
found = [[of(each, at).tolist(), jax.jacfwd(lambda values, each=each: of(each, values))(at).tolist()] for each in names]
law = {{"kelvin_stiffness": np.array([0.0, 1e4, 0.0, 2e4]), "kelvin_damping": 30.0}}
beside = ts.simulate("stop", {{**BASE, **law, "k_n": 1e4, "c_n": 30.0}}, scheme={0!r})
print(json.dumps([*found, [np.asarray(beside[name]).tolist() for name in SEEN]]))
"""


@pytest.fixture(scope="module")
def known(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a further package, whose stop is that of k_n and c_n."""
    folder = tmp_path_factory.mktemp("known")
    shutil.copytree(site, folder, dirs_exist_ok=True)
    (folder / "kelvin").mkdir()
    (folder / "kelvin" / "__init__.py").write_text(KELVIN)
    (folder / "kelvin" / "law.py").write_text(KELVIN_LAWS)
    (info := folder / "kelvin-1.0.dist-info").mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: kelvin\nVersion: 1.0\n")
    info.joinpath("entry_points.txt").write_text("[tribosweep.laws]\nkelvin = kelvin:LAW\ntabled = kelvin:FRICTION\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "values", "slopes"),
    [
        ("euler", 1e-12, 1e-9),
        pytest.param("adapt2", 1e-12, 1e-9, marks=pytest.mark.long),
        pytest.param("rk54", 1e-6, 1e-5, marks=pytest.mark.long),
    ],
)
def test_a_stop_of_another_package_that_is_ours_has_our_values_and_derivatives(
    known: Path, scheme: str, values: float, slopes: float
) -> None:
    ours, theirs, rows = beside(known, BESIDE_OURS.format(scheme))
    np.testing.assert_allclose(theirs[0], ours[0], rtol=values)
    largest = np.abs(ours[1]).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(theirs[1]) / largest, np.array(ours[1]) / largest, atol=slopes)
    for row in range(3):  # without the law beside rows with it, and with it
        np.testing.assert_allclose(np.array(rows)[:, row], ours[0], rtol=values)


@pytest.mark.slow
def test_a_law_of_another_package_has_tables_and_paths(known: Path) -> None:
    code = """
import json
import numpy as np
import tribosweep as ts
p = {"k": 20.0, "v0": 0.4, "end": 0.5, "step": 1e-3, "mu": 0.1, "normal_force": 5.0}
run = ts.simulate("rubbing_mass", {**p, "tabled_on": [1.0, 1.0], "tabled_force": [[0.2, 0.3], [0.5, np.nan]]}, scheme="euler")
same = ts.simulate("rubbing_mass", {**p, "tanh_speed": 0.05}, scheme="euler")
x, t = np.sin(np.linspace(0.0, 6.0, 200)), np.linspace(0.0, 6.0, 200)
wall = {"mu": 0.0, "k_n": 100.0, "c_n": 0.0}
stops = {"hertz_stiffness": 0.0}, {}, {"hertz_stiffness": 100.0}
off, plain, on = (ts.hysteresis("stop", {**wall, **more}, x, t).force for more in stops)
rubs = {"mu": 0.1, "normal_force": 5.0, "k_t": 10.0}
laws = {}, {"tanh_speed": 0.0}, {"bristle_stiffness": 0.0}
held = [ts.hysteresis("rubbing_mass", {**rubs, **more}, x, t).force for more in laws]
print(json.dumps({"x": [*np.asarray(run.x_end).tolist(), float(same.x_end)], "status": np.asarray(run.status).tolist(),
                  "off": float(np.abs(off - plain).max()), "on": float(np.abs(on - 100.0 * np.maximum(x, 0.0) ** 1.5).max()),
                  "held": [float(np.abs(each - held[0]).max()) for each in held], "most": float(held[0].max())}))
"""
    found = beside(known, code)
    assert found["status"] == [0, 0]
    assert found["x"][1:] == pytest.approx(found["x"][:1] * 2, rel=1e-12)
    assert found["off"] == 0.0
    assert found["on"] < 1e-12
    assert found["held"] == [0.0, 0.0, 0.0]
    assert found["most"] > 0.4


CHECKED = "import json\nfrom tribosweep.testing import check_law\nprint(json.dumps(check_law({0!r}, {1!r}, schemes={2!r})))"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("switch", "given", "schemes"),
    [
        ("tanh_speed", OF_FRICTION, ["euler"]),
        pytest.param("tanh_speed", OF_FRICTION, ["devogelaere", "adapt1", "adapt2", "rk32", "rk54"], marks=pytest.mark.long),
        pytest.param("cubic_stiffness", OF_SPRING, ["euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54"], marks=pytest.mark.long),
        pytest.param("hertz_stiffness", OF_WALL, ["euler", "devogelaere", "adapt1", "adapt2", "rk32", "rk54"], marks=pytest.mark.long),
    ],
)
def test_the_laws_pass_the_checks_that_authors_have(site: Path, switch: str, given: dict[str, float], schemes: list[str]) -> None:
    found = beside(site, CHECKED.format(switch, given, schemes))
    assert len([sentence for sentence in found if sentence.startswith("derivatives by")]) >= len(schemes)


@pytest.mark.slow
def test_the_checks_find_a_law_that_is_wrong(site: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "site"
    shutil.copytree(site, wrong)
    laws = wrong / "tanh_friction" / "laws.py"
    code = laws.read_text()
    assert "friction = (end - begin)" in code
    laws.write_text(code.replace("friction = (end - begin)", "friction = 2.0 * (end - begin)"))
    ran = python(wrong, CHECKED.format("tanh_speed", OF_FRICTION, []))
    assert "AssertionError: regularised Coulomb friction: a cycle of 0.3 m does a work of" in ran.stderr


@pytest.mark.slow
def test_a_study_reads_the_law_and_the_analysis_answers(site: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        '[study]\nmodel = "rubbing_mass"\nscheme = "euler"\n[parameters]\nk = 20.0\nv0 = "40 cm/s"\nmu = 0.1\ntanh_speed = "5 cm/s"\n'
        "[time]\nend = 1.0\nstep = 1e-3\n[sweep.axes]\nnormal_force = [0.5, 5.0]\n"
    )
    code = """
import json, sys
from tribosweep.sweep.cli import main
status = [main(words) for words in (["run", "study.toml"], ["slip_ratio", "runs/study", "--farther", "0.1", "--out", "ratio.png"])]
from tribosweep import open_run
found = open_run("runs/study").analyse("slip_ratio", farther=0.1)
print(json.dumps({"status": status, "ratio": found.ratio, "slip": found.distances.tolist()}))
"""
    found = beside(site, code, tmp_path)
    assert found["status"] == [0, 0]
    assert found["slip"][0] > found["slip"][1] > 0.0
    assert found["ratio"] == np.mean(np.array(found["slip"]) > 0.1)
    assert (tmp_path / "ratio.png").read_bytes().startswith(b"\x89PNG")
