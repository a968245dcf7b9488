"""Notebooks of docs/ and the page on Python run as they stand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PAGE = ROOT / "docs" / "how-to" / "python.md"
# what must hold after the last cell: facts that the notebooks themselves do not check
FACTS = {
    "first_study": "boundary = grid.mu * 10.0 / grid.a0\n"  # it sticks where mu g > a0, and always slips below 2 / sqrt(pi^2 + 4)
    "assert ((grid.regime == 'stick') == (boundary >= 1.0)).all()\n"
    "assert ((grid.regime == 'slip-slip') == (boundary < 2.0 / (3.141592653589793**2 + 4.0) ** 0.5)).all()",
    "derivatives_and_calibration": "assert abs(slope - quotient) < 1e-6 * abs(slope)\n"
    "best = fit.to_pandas().query('optimum == 0').iloc[0]\n"
    "assert best.low < 0.123 < best.high and fit.converged",
    "own_data_frame": "assert results.support.tolist() == supports.support.tolist() and results.regime.tolist()[-1] == 'stick'\n"
    "assert results.wear_power[3] > results.wear_power[2] and found.rows.a0.tolist() == found.rows.a0.sort_values().tolist()",
}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert path.stem in FACTS
    assert f"../notebooks/{path.name}" in PAGE.read_text()


@pytest.mark.long_cases("own_data_frame", "derivatives_and_calibration")
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_says(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(FACTS[path.stem]))
    python = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "PYTHONPATH": python})
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert [output.text for output in shown if output.get("name") == "stderr"] == []
    kinds = {kind for output in shown for kind in output.get("data", ())}
    assert "text/html" in kinds
    assert ("image/png" in kinds) == any(".plot" in cell.source or ".map" in cell.source for cell in notebook.cells)
    assert any(re.search(r"(points|fits) in \d+\.\d\d s", output.data.get("text/html", "")) for output in shown if "data" in output)


@pytest.mark.slow
def test_the_page_on_python_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert "<Run 'my_support': complete, 120 rows, in 'runs/my_support'>" in said
    assert "W ['stick', 'stick-slip', 'slip-slip']" in said
    assert {"map.png", "curves.svg", "trace.png"} <= {path.name for path in tmp_path.iterdir()}
