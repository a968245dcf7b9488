"""The studies that come with tribosweep are found by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.sweep.execution.processes import python
from tribosweep import sweep
from tribosweep.sweep.io import shipped

ROOT = Path(__file__).parents[3]


def test_the_checkout_is_the_only_source() -> None:
    assert shipped.folder() == ROOT / "configs"
    assert shipped.names() == sorted(path.stem for path in (ROOT / "configs").glob("*.toml"))


def test_a_name_stands_for_its_file_and_its_data() -> None:
    assert sweep.load("sdnd104").digest == sweep.load(ROOT / "configs" / "sdnd104.toml").digest
    quake = sweep.load("quake")
    assert quake.document["excitation"]["records"][0] == str(ROOT / "configs" / "data" / "main_shock.csv")


def test_a_file_goes_before_a_name() -> None:
    Path("sdnd104").write_text('[study]\nname = "mine"\n[sweep.axes]\nmu = [0.1]\n')
    assert sweep.load("sdnd104").name == "mine"


@pytest.mark.parametrize("word", ["sdnd14", "configs/sdnd104.toml", "SDND104"])
def test_a_name_that_is_nearly_right_is_suggested(word: str) -> None:
    with pytest.raises(sweep.ConfigError, match=r"did you mean the study 'sdnd104'"):
        sweep.load(word)


def test_every_study_begins_with_what_it_asks() -> None:
    for name in shipped.names():
        about = shipped.about(name)
        assert 10 < len(about) < 250, name
        assert "tribosweep" not in about, name


@pytest.mark.slow
def test_an_installation_without_a_checkout_has_them_in_the_package(tmp_path: Path) -> None:
    """The layout of the wheel, which .ci/wheel builds: tribosweep/sweep/configs."""
    package = tmp_path / "tribosweep"
    shutil.copytree(ROOT / "tribosweep", package, ignore=shutil.ignore_patterns("__pycache__"))  # links are followed
    shutil.copytree(ROOT / "configs", package / "sweep" / "configs")
    code = "import tribosweep; from tribosweep.sweep.io import shipped; print(shipped.folder(), tribosweep.load('quake').design.count)"
    assert python(code, tmp_path, PYTHONPATH=str(tmp_path)) == [str(package / "sweep" / "configs"), "42"]
