"""The page without a server: one file that asks for nothing and counts as pandas does."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.sweep.explore.conftest import SmallRun
from tests.sweep.report.browser import open_browser
from tribosweep.sweep.cli import main
from tribosweep.sweep.explore import still


def test_a_page_to_pass_on_counts_as_pandas_does(small: SmallRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["explore", str(small.directory), "--out", str(page)]) == 0
    assert "All 2,400 rows are counted" in capsys.readouterr().err
    assert page.stat().st_size < 1_000_000
    with open_browser() as browser:
        browser.requests()
        browser.driver.get(page.as_uri())
        browser.wait("return document.body.dataset.rows === '2400' && board.views.every((view) => view.counts || view.cells)")
        browser.run("const v = board.views.find(({ key }) => key === 'a0'); v.set([[15, 29]]); v.place()")
        a0, mu = (sorted(small.table[name].unique()) for name in ("a0", "mu"))
        brushed = small.table[small.table["a0"].between(a0[15], a0[29])]
        browser.wait(f"return document.body.dataset.rows === '{len(brushed)}'")
        words = dict(
            browser.run(
                "const v = board.views.find(({ key }) => key === 'regime'); return [...v.counts].map(([c, n]) => [v.column.words[c], n])"
            )
        )
        assert words == {word: n for word, n in brushed["regime"].value_counts().items() if n}
        browser.run("const s = document.querySelectorAll('#map select')[2]; s.value = 'wear_power'; s.dispatchEvent(new Event('change'))")
        cell = browser.wait(
            "const { cells } = board.views[0]; return board.views[0].shade.name === 'wear_power' && cells && cells.value[7 * 60 + 20]"
        )
        (expected,) = small.table[(small.table["a0"] == a0[20]) & (small.table["mu"] == mu[7])]["wear_power"]
        assert cell == pytest.approx(expected, rel=1e-6)
        assert browser.requests() == [page.as_uri()]
        assert not browser.complaints()


def test_numbers_are_packed_so_that_any_machine_reads_them() -> None:
    groups = pa.table(
        {"bin:a": np.array([0, 3, 255], np.uint8), "rows:": [1.0, 2.0, 3e9], "sum:b": [1.5, None, -2.0], "valid:b": [1.0, 0.0, 3e9]}
    )
    packed = {name: gzip.decompress(base64.b64decode(text)) for name, text in still.packed(groups, ["a"], ["b"]).items()}
    assert np.frombuffer(packed["bin:a"], "<u1").tolist() == [0, 3, 255]
    assert np.frombuffer(packed["rows:"], "<u4").tolist() == [1, 2, 3_000_000_000]
    assert np.frombuffer(packed["sum:b"], "<f4").tolist() == [1.5, 0.0, -2.0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--out", "page.txt"), "must end in .html"),
        (("--out", "page.html", "--column", "wear_powr"), "did you mean 'wear_power'"),
        (("--out", "page.html", "--column", "m"), "the same value in all rows"),
    ],
)
def test_a_page_that_cannot_be_made_is_refused(
    small: SmallRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore", str(small.directory), *options]) == 2
    assert reason in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
