"""The JSON Schema of studies takes every shipped study, refuses wrong ones, and is the file that the studies name."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tribosweep import sweep
from tribosweep.sweep.cli import main
from tribosweep.sweep.cli.study_schema import as_text
from tribosweep.sweep.cli.topics import listed_models
from tribosweep.sweep.io import shipped
from tribosweep.sweep.study.schema import TIME_KEYS, Document

STUDIES = sorted(shipped.folder().glob("*.toml"))


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema, as it is printed."""
    return json.loads(as_text())


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> jsonschema.Draft7Validator:
    """Checks studies, independently of tribosweep."""
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_shipped_study_is_valid_and_names_the_schema(path: Path, validator: jsonschema.Draft7Validator) -> None:
    text = path.read_text()
    validator.validate(tomllib.loads(text))
    assert text.splitlines()[0] == f"#:schema {shipped.SCHEMA}"


def test_every_definition_is_used_and_every_reference_has_one(schema: dict[str, Any]) -> None:
    used = set(re.findall(r"'#/\$defs/([^']+)'", str(schema)))
    assert used == set(schema["$defs"])


def test_a_resolved_study_is_valid(validator: jsonschema.Draft7Validator) -> None:
    for name in shipped.names():
        if not name.startswith(("branches_", "calibrate_", "optimise_")):
            validator.validate(sweep.load(name).document)


def test_the_file_of_the_shipped_studies_is_this_schema(tmp_path: Path) -> None:
    assert main(["schema", "--out", str(tmp_path / "s.json")]) == 0
    there = (shipped.folder() / shipped.SCHEMA).read_text()
    assert (tmp_path / "s.json").read_text() == there, "tribosweep schema --out configs/study.schema.json writes it anew"


WRONG = {
    "an unknown section": "[parametrs]\nmu = 0.1",
    "an unknown key": "[study]\nshceme = 'exact'",
    "an unknown model": "[study]\nmodel = 'rubbing'",
    "an unknown scheme": "[study]\nscheme = 'eular'",
    "an unknown parameter": "[parameters]\nmass = 1.0",
    "a number out of bounds": "[parameters]\nm = -1.0",
    "a bound that is open": "[parameters]\nm = 0.0",
    "a word for a number": "[parameters]\nmu = 'high'",
    "a number without its unit's text": "[parameters]\nomega = 'Hz'",
    "a mass for a stiffness": "[parameters]\nk = '3 kg'",
    "a force for an acceleration": "[sweep.axes]\na0 = ['1 g', '3 kN']",
    "a length in a range of a mass": "[sweep.axes]\nm = { from = '1 kg', to = '3 mm', count = 3 }",
    "an acceleration for a frequency": "[parameters]\nomega = '3 m/s^2'",
    "a part for a whole number": "[parameters]\nsides = 1.5",
    "a word that is none": "[parameters]\ndamping_criterion = 'exclude'",
    "a time among the parameters": "[parameters]\nend = 3.0",
    "a window of one time": "[time]\nwindow = [1.0]",
    "a window of a word": "[time]\nwindow = 'stedy'",
    "an unknown design": "[sweep]\ndesign = 'gird'",
    "an empty axis": "[sweep.axes]\nmu = []",
    "an axis of one number": "[sweep.axes]\nmu = 0.1",
    "a range of other programs": "[sweep.axes]\nmu = { start = 0.1, stop = 1.0, num = 5 }",
    "an unknown spacing": "[sweep.axes]\nmu = { from = 0.1, to = 1.0, count = 5, spacing = 'cubic' }",
    "an axis out of bounds": "[sweep.axes]\nmu = [0.1, -0.1]",
    "an unknown distribution": "[sweep.axes]\nmu = { distribution = 'gauss', mean = 1.0, std = 0.1 }",
    "a scheme of an axis that is none": "[sweep.axes]\nscheme = ['exact', 'eular']",
    "an obstacle that is none": "[supports.a]\nobstacle = 'wall'",
    "a gap that is no number": "[supports.a]\ngap = true",
    "a direction of two numbers": "[loads.a]\ndirection = [1.0, 0.0]",
    "a support's unknown parameter": "[parameters]\n'gapp[a]' = 1.0",
    "a spectrum of one number": "[excitation.random]\nspectrum = 3.0",
    "a free parameter without bounds": "[calibration]\nfree = { k = { from = 1.0 } }",
    "branches in two parameters": "[branches]\nalong = { k = { from = 1.0, to = 2.0 }, m = { from = 1.0, to = 2.0 } }",
    "a variable without bounds": "[optimise]\nminimise = 'wear_power'\nvariables = { k = { from = 1.0 } }",
    "a posterior of a fraction of a chain": "[calibration]\nfree = { k = { from = 1.0, to = 2.0 } }\nposterior = { chains = 0.5 }",
    "more starts than there may be": "[optimise]\nminimise = 'wear_power'\nvariables = { k = { from = 1.0, to = 2.0 } }\nstarts = 10001",
    "a length for the interval of signals": "[output.signals]\ninterval = '1 mm'",
    "an unknown key of a comparison": "[calibration]\nfree = { k = { from = 1.0, to = 2.0 } }\ncompare = { x_end = { col = 'x' } }",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_study_is_refused(text: str, validator: jsonschema.Draft7Validator) -> None:
    assert not validator.is_valid(tomllib.loads(text))
    if not any(section in text for section in ("branches", "calibration", "optimise")):
        with pytest.raises(sweep.ConfigError):  # by tribosweep too, so that the schema is no stricter than it
            sweep.load(tomllib.loads(text))


RIGHT = {
    "texts with units": "[parameters]\nomega = '1 Hz'\nm = '500 g'\na0 = '0.3 g'",
    "units that no list has": "[parameters]\nk = '1.5e3 lbf/in'\nm = '2 slug'\nomega = '3 deg/ms'\nc = '1 kN*ms/mm'",
    "several designs": "[[sweep]]\naxes = { mu = [0.1] }\n[[sweep]]\ndesign = 'sobol'\ncount = 4\naxes = { a0 = { from = 1.0, to = 2.0 } }",
    "a default among values": "[sweep.axes]\nk_t = ['default', 1e6]",
    "a steady window": "[parameters]\na0 = 3.0\n[time]\nwindow = 'steady'",
    "a distribution": "[sweep]\ndesign = 'sobol'\ncount = 8\naxes.mu = { distribution = 'choice', values = [0.1, 0.2], weights = [1, 2] }",
    "times in axes": "[sweep.axes]\nend = [10.0, 20.0]\nstep = ['1 ms']",
    "a body": "[study]\nmodel = 'body'\n[supports.a]\ngap = '1 mm'\nobstacle = 'ring'\n[parameters]\n'gap[a]' = 2e-3\n'v0[x]' = 1.0",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_a_right_study_is_taken(text: str, validator: jsonschema.Draft7Validator) -> None:
    if "supports" not in text:
        sweep.load(tomllib.loads(text))
    validator.validate(tomllib.loads(text))


def test_every_key_completes_with_a_description(schema: dict[str, Any]) -> None:
    assert set(Document.model_fields) | {"branches", "calibration", "optimise"} == set(schema["properties"])
    parameters = schema["properties"]["parameters"]
    for model in listed_models().values():
        for quantity in model.parameters:
            if quantity.name in TIME_KEYS:
                continue
            head, bracket, _ = quantity.name.partition("[")
            named = parameters["patternProperties"][f"^{head}\\[[^\\]]+\\]$"] if bracket else parameters["properties"][head]
            assert named["description"]
    for shape in ("Study", "Time", "Sweep", "Random", "Excitation", "Output", "Assembly", "SupportTable", "LoadTable"):
        for key, form in schema["$defs"][shape]["properties"].items():
            assert form["description"], (shape, key)
            assert form.keys() - {"description", "default"}, (shape, key)  # a type, words or a form
