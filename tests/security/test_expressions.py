"""Units, events and names from other hands: no expression is evaluated, and no text holds its reader for long."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tribosweep import sweep
from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.naming import near_names
from tribosweep.sweep.analyses.fragility.input_intensity import measure_of
from tribosweep.sweep.analysis.calibration import load as calibration
from tribosweep.sweep.analysis.optimisation.functions import read_constraint, read_measure
from tribosweep.sweep.analysis.supports import words_of
from tribosweep.sweep.cli.study_schema import COMMON
from tribosweep.sweep.io.columns import split_unit
from tribosweep.sweep.io.errors import ConfigError, advise, advise_path
from tribosweep.sweep.io.units import LONGEST, MOST_FACTORS, in_unit, product_of_powers
from tribosweep.sweep.results.picture import plain
from tribosweep.sweep.study.comparison import read_expression
from tribosweep.sweep.study.event import read_events
from tribosweep.sweep.study.point_table import split_header

ROOT = Path(__file__).parents[2]
SOON = 1.0  # s of the processor
LONG = 100_000  # characters
MODEL = MODELS["rubbing_mass"]
TOWERS = (
    "kg**9**9**9",
    "kg^9^9^9",
    "(kg^9)^(9^9)",
    "kg^99",
    "kg^0",
    "kg^1e9",
    "kg^9.99999",
    "kg**-10",
    "kg²²²²",
    "kg+kg",
    "kg//s",
    "kg%s",
    "kg#s",
    "kg,s",
    "kg;s",
    "kg'",
    "k\\g",
    "__import__('os')",
    "lambda: kg",
    "kg[0]",
    "9**9",
    "kg kg.real.__class__()",
    "((kg))",
    "(" * 60 + "kg" + ")" * 60,
    "*".join(["kg"] * (MOST_FACTORS + 1)),
    "/".join(["(kg)"] * (MOST_FACTORS + 1)),
)


def soon(call: Callable[[], object]) -> object:
    """What a call returns, which is soon."""
    begun = time.process_time()
    found = call()
    assert time.process_time() - begun < SOON
    return found


@pytest.mark.parametrize("unit", TOWERS)
def test_what_is_no_product_of_powers_is_given_to_no_evaluator(unit: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def evaluated() -> None:
        raise AssertionError(unit)

    monkeypatch.setattr("tribosweep.sweep.io.units._registry", evaluated)
    with pytest.raises(ValueError, match=r"cannot be read as a unit|is no number with a unit"):
        soon(lambda: in_unit(f"1 {unit}", "kg"))
    (tmp_path / "record.csv").write_text(f'time,"acceleration [{unit}]"\n0,0\n1,1\n')
    for source, overrides in (
        ({"parameters": {"m": f"1 {unit}"}}, []),
        ({}, [f"parameters.m=1 {unit}"]),
        ({"excitation": {"records": str(tmp_path / "record.csv")}}, []),
    ):
        with pytest.raises(ConfigError):
            soon(lambda source=source, overrides=overrides: sweep.load(source, overrides))


@pytest.mark.parametrize(
    "text",
    [
        "1 " + "a" * LONG,
        "1" * LONG,
        "1" * LONG + "_",
        "1 k" + " " * LONG + "g",
        "1 " + "*".join(["kg"] * LONG),
        "1 kg^" + "9" * LONG,
        "1 " + "(" * LONG,
    ],
)
def test_a_number_with_a_unit_has_a_bounded_length(text: str) -> None:
    def refuse() -> str:
        with pytest.raises(ConfigError) as caught:
            sweep.load({"parameters": {"m": text}})
        return str(caught.value)

    assert f"{len(text):,} characters: a number with a unit has at most {LONGEST}" in str(soon(refuse))


@pytest.mark.parametrize(
    "unit", [*COMMON, "kN/mm", "lbf/in", "g^2/Hz", "(m/s^2)^2/Hz", "N m^(1/2)", "m^0.5", "rad per second", "square inch"]
)
def test_units_in_common_use_are_products_of_powers(unit: str) -> None:
    assert product_of_powers(unit) == unit


def test_one_unit_has_many_spellings() -> None:
    for spelling in (
        "N*s/m^2",
        "N s/m**2",
        "N·s/m²",
        "N s m^-2",
        "N s m⁻²",
        "N.s/m^2",
        "(N s)/(m m)",
        "newton second per square meter",
        " N * s / m ^ 2 ",
    ):
        assert in_unit(f"2 {spelling}", "N s/m^2") == pytest.approx(2.0), spelling


def test_a_decimal_comma_is_pointed_out() -> None:
    with pytest.raises(ValueError, match="numbers have a decimal point"):
        in_unit("1,5 mm", "m")


SLOW_HEADERS = {
    "spaces": "a" + " " * 400_000 + "x",
    "parentheses": "(" * 400_000,
    "brackets": "x[a" + "][" * 200_000 + " x",
    "names in brackets": "a[" * 200_000,
    "a unit of spaces": "a [" + " " * 400_000 + "x",
    "digits": "post_set[" + "9" * 400_000 + "]",
}


@pytest.mark.parametrize("header", SLOW_HEADERS.values(), ids=SLOW_HEADERS)
@pytest.mark.parametrize("user", ["points", "record", "calibration"])
def test_headers_of_tables_are_read_in_linear_time(header: str, user: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"time,{header}\n0,1\n1,1\n")
    points: dict[str, Any] = {"sweep": {"design": "table", "file": str(file)}}
    fit = {"free": {"k_n": {"from": 0.1, "to": 10.0}}, "compare": {"peak_force": {"column": "force", "sd": 0.1}}, "data": str(file)}

    def read() -> None:
        with pytest.raises(ConfigError) as caught:
            if user == "calibration":
                calibration.load({"study": {"model": "stop"}, "calibration": fit})
            else:
                sweep.load(points if user == "points" else {"excitation": {"records": str(file)}})
        assert len(str(caught.value)) < 40_000

    soon(read)


TEXTS = (
    " ",
    "a",
    "a ",
    "[",
    "]",
    "a[",
    "(",
    "=",
    "> ",
    "< =",
    "9",
    ".",
    "of ",
    "mean of ",
    "chance of ",
    "x >= ",
    "_",
    "a=",
    "e9",
    "not ",
    "a or ",
    "a and (",
    "not (",
    ")",
    "\n",
    "é",
)


@pytest.mark.parametrize("text", [text if n % 3 == 0 else pytest.param(text, marks=pytest.mark.slow) for n, text in enumerate(TEXTS)])
def test_texts_of_users_are_read_in_linear_time(text: str) -> None:
    for many in (
        text * LONG,
        f"peak_force > {text * LONG}",
        f"{text * LONG} >= 1",
        f"x {text * LONG}\n1",
        f"quantile {text * LONG} of x <= 1",
    ):
        calls: tuple[Callable[[], object], ...] = (
            lambda many=many: read_expression(many),
            lambda many=many: read_events("--chance", [many], MODEL),
            lambda many=many: read_constraint(many, MODEL, 2),
            lambda many=many: read_measure(many, MODEL, 2, ""),
            lambda many=many: measure_of(many),
            lambda many=many: words_of(many),
            lambda many=many: split_unit(many),
            lambda many=many: split_header(many, ["gap[ring]"]),
            lambda many=many: near_names(many, MODEL.parameters[0].words or ["mu"]),
            lambda many=many: sweep.load({}, [many]),
        )
        for call in calls:
            try:
                soon(call)
            except (ValueError, ConfigError) as error:
                str(error)


def test_advice_on_names_ends(tmp_path: Path) -> None:
    names = ["ba" * 90 + str(number) for number in range(10_000)]
    soon(lambda: advise("ab" * 90 + "x", names))
    assert "did you mean 'mu_s'" in advise("mu_x", ["mu_s", *names])
    for number in range(3000):
        (tmp_path / f"{'ab' * 90}{number}").touch()
    soon(lambda: advise_path(tmp_path / ("ba" * 90 + "x")))


def test_names_of_others_are_no_formulas_in_pictures() -> None:
    from matplotlib.cbook import is_math_text

    for text in ("a$b$", r"$\frac{$", r"\$x$", "$" * 999, r"\\$a$"):
        assert not is_math_text(plain(text))


def test_nothing_evaluates_text_or_reads_numbers_as_the_locale_does() -> None:
    """No module of the packages evaluates foreign text, or calls what depends on the locale."""
    evaluators = {"eval", "exec", "compile", "literal_eval", "sympify", "parse_expr", "evaluate", "atof", "setlocale", "format_string"}
    allowed = {("sweep/execution/dask_versions.py", "eval")}  # of a constant text, see there
    found = set()
    for folder in ("kernels", "sweep", "tribosweep"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    plain_name = node.func.id if isinstance(node.func, ast.Name) else ""
                    owned = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                    owner = node.func.value.id if owned and isinstance(node.func.value, ast.Name) else ""
                    foreign = owner in ("ast", "sympy", "numexpr", "locale", "pd", "builtins")
                    if plain_name in evaluators or (foreign and owned in evaluators):
                        found.add((str(path.relative_to(ROOT)), plain_name or owned))
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names = {each.name.partition(".")[0] for each in node.names} | {getattr(node, "module", None) or ""}
                    assert not names & {"locale", "sympy", "numexpr"}, path
                if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                    assert not re.fullmatch(r"'[^']*n'", ast.unparse(node.format_spec).removeprefix("f")), path
    assert found == allowed
