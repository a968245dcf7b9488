"""What a report says in words and tables: compared with numbers counted in the run's rows, and with closed forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.sweep.conftest import FakeKernels
from tests.sweep.report.browser import open_browser
from tribosweep.sweep import ConfigError, open_run, run
from tribosweep.sweep.cli import main
from tribosweep.sweep.report import paper
from tribosweep.sweep.report.content import read_content

A0 = {"from": 1.0, "to": 10.0, "count": 6}
MU = {"from": 0.1, "to": 1.0, "count": 5}
Captured = pytest.CaptureFixture[str]


def said(directory: Path, **options: Any) -> dict[str, str]:
    """The sentences of a report by their headings."""
    return dict(read_content(directory, traces=0, **options).facts["summary"])


def test_the_summary_says_what_was_varied_found_and_failed(fake: FakeKernels, tmp_path: Path) -> None:
    rows = [(a0, mu, np.nan if a0 == 2.0 and mu == 0.2 else 0.0) for a0 in (1.0, 2.0, 4.0) for mu in (0.1, 0.2)]
    (tmp_path / "points.csv").write_text("a0,mu,f0\n" + "\n".join(f"{a},{m},{f}" for a, m, f in rows), encoding="utf-8")
    study = {"parameters": {"m": 2.0}, "sweep": {"design": "table", "file": str(tmp_path / "points.csv")}}
    directory = run(study, tmp_path / "a").directory
    found = said(directory, x="a0", y="mu")
    table = pd.read_parquet(directory / "points")
    regimes = table["regime"].value_counts()
    assert found["Varied"].startswith("a0 from 1 to 4 m/s^2 (3 values), mu from 0.1 to 0.2 (2 values)")
    assert "6 points" in found["Varied"]
    assert found["At all points"].startswith("m = 2 kg")
    for word, count in regimes.items():
        assert f"{word} at {count} {'point' if count == 1 else 'points'}" in found["Found"]
    assert found["Wear power"].startswith(f"From {table['wear_power'].min():.5g} to {table['wear_power'].max():.5g} W, largest at a0 = 4")
    assert found["Failures"].startswith("1 of 6 points failed (16.7 %) and have no results: 1 ")
    assert "a parameter is not a finite number" in found["Failures"]
    assert fake.calls == [6]


def test_means_over_draws_are_those_of_the_rows(fake: FakeKernels, tmp_path: Path) -> None:
    spectrum = {"spectrum": [[5.0, 1.0], [50.0, 1.0]], "duration": 1.0, "interval": 0.002, "seed": 1}
    draws = {"from": 0, "to": 3, "spacing": "integer"}
    study = {
        "excitation": {"random": spectrum},
        "time": {"end": 0.5},
        "sweep": {"axes": {"mu": [0.1, 0.2], "k": [0.0, 5.0, 9.0], "draw": draws}},
    }
    directory = run(study, tmp_path / "a").directory
    content = read_content(directory, traces=4)
    assert (content.facts["kind"], content.facts["count"], content.traced) == ("grid", 6, 0)
    table = pd.read_parquet(directory / "points")
    groups = table.groupby(["k", "mu"])["wear_power"]
    columns = {each["name"]: each for each in content.facts["columns"]}
    assert {"wear_power", "wear_power, standard deviation"} <= set(columns)
    assert groups.std().to_numpy() == pytest.approx(np.zeros(6))  # the stand-in knows no draws
    assert said(directory)["Wear power"].startswith(f"Mean over draw: from {groups.mean().min():.5g} to {groups.mean().max():.5g} W")
    assert read_content(directory, traces=0, at=["draw=2"]).facts["held"] == {"draw": 2.0}
    over = read_content(directory, traces=0, over=["mu"], x="k", y="draw")
    assert over.facts["count"] == 3 * 4
    with pytest.raises(ConfigError, match="'m' is nothing that this run varies"):
        read_content(directory, over=["m"], at=["draw=1"])
    assert fake.calls == [24]


def test_indices_of_a_linear_observable_are_the_shares_of_its_variance(fake: FakeKernels, tmp_path: Path) -> None:
    pytest.importorskip("SALib")
    axes = {"mu": {"from": 0.1, "to": 0.2}, "a0": {"from": 0.0, "to": 5.0}, "k": {"from": 0.0, "to": 1.0}}
    directory = run({"sweep": {"design": "saltelli", "count": 512, "seed": 1, "axes": axes}}, tmp_path / "a").directory
    found = read_content(directory, traces=0).facts["sections"]["sensitivity"]
    shares = {"mu": 100.0**2 * 0.1**2, "a0": 5.0**2, "k": 0.0}  # the stand-in's wear power is a0 + 100 mu
    assert [row["parameter"] for row in found["rows"]] == ["mu", "a0", "k"]
    for row in found["rows"]:
        for value, _ in row["values"]:
            assert value == pytest.approx(shares[row["parameter"]] / sum(shares.values()), abs=0.05)
    assert re.match(r"wear_power depends most on mu \(ST = 0\.[78]\d*\), then a0", said(directory)["Sensitivity"])
    assert len(fake.calls) == 1


def test_the_curves_of_a_boundary_study_stand_in_a_table(fake: FakeKernels, tmp_path: Path) -> None:
    sweep = {"design": "boundary", "observable": "wear_power", "level": 50.0, "halvings": 2, "width": 1e-3, "axes": {"a0": A0, "mu": MU}}
    facts = read_content(run({"sweep": sweep}, tmp_path / "a").directory, traces=0).facts
    (line,) = facts["curves"]
    assert (line["between"], line["curves"]) == ("wear_power = 50 W", 1)
    assert 0.0 < line["width"] <= 1e-3
    assert facts["shade"] == "none"
    assert [word["name"] for word in facts["words"]] == ["up to 50 W", "above 50 W", "none"]
    assert len(fake.calls) > 1


def test_a_run_that_samples_is_shown_over_its_first_two_parameters(fake: FakeKernels, tmp_path: Path) -> None:
    axes = {"mu": {"from": 0.1, "to": 0.2}, "a0": {"from": 0.0, "to": 5.0}, "k": {"from": 0.0, "to": 1.0}}
    directory = run({"sweep": {"design": "morris", "count": 8, "axes": axes}}, tmp_path / "a").directory
    facts = read_content(directory, traces=0).facts
    assert ([axis["name"] for axis in facts["axes"]], facts["kind"], facts["loose"]) == (["mu", "a0"], "points", ["k"])
    assert main(["map", str(directory)]) == 0
    assert main(["map", str(directory), "--x", "k", "--y", "mu"]) == 0
    assert fake.calls == [32]


def test_without_a_browser_a_pdf_is_refused_before_anything_is_read(
    fake: FakeKernels, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = run({"sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "a")
    directory = finished.directory
    monkeypatch.setattr(paper, "BROWSERS", ("no-such-browser",))
    monkeypatch.setattr(paper, "INSTALLED", ())
    assert main(["report", str(directory), "--out", str(tmp_path / "a.pdf")]) == 2
    message = capsys.readouterr().err
    assert "a PDF is printed by Chromium, Chrome or Edge, and none is installed" in message
    assert "write an .html file" in message
    with pytest.raises(ConfigError, match="none is installed"):
        finished.report(tmp_path / "a.pdf")
    monkeypatch.setattr(paper, "BROWSERS", ("false",))
    assert main(["report", str(directory), "--traces", "0", "--out", str(tmp_path / "a.pdf")]) == 2
    assert "could not print the report" in capsys.readouterr().err
    assert not (tmp_path / "a.pdf").exists()
    assert fake.calls == [30]


@pytest.mark.slow
def test_a_report_is_printed_on_sheets_of_paper(fake: FakeKernels, tmp_path: Path) -> None:
    directory = run({"study": {"name": "printed"}, "sweep": {"axes": {"a0": A0, "mu": MU}}}, tmp_path / "a").directory
    with open_browser() as browser:  # is there a browser? then how wide is what is printed?
        assert main(["report", str(directory), "--traces", "0"]) == 0
        browser.driver.get((directory / "report.html").as_uri() + paper.ON_PAPER)
        browser.wait("return document.body.dataset.complete", within=30.0)
        sheet = browser.run("return 182 * 96 / 25.4")
        assert browser.run("return document.body.scrollWidth") <= sheet + 1.0
        assert browser.run("return document.getElementById('frame').getBoundingClientRect().width") > 0.9 * sheet
        assert browser.run("return getComputedStyle(document.querySelector('aside')).display") == "none"
        assert browser.complaints() == []
    assert main(["report", str(directory), "--traces", "0", "--out", str(tmp_path / "a.pdf")]) == 0
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(data) > 20_000
    boxes = {tuple(round(float(each)) for each in box.split()) for box in re.findall(rb"/MediaBox \[([^]]*)\]", data)}
    assert boxes == {(0, 0, 595, 842)}  # A4 in points
    assert fake.calls == [30]


def test_a_fragility_that_was_asked_for_is_in_the_report(fake: FakeKernels, tmp_path: Path) -> None:
    directory = run(
        {"sweep": {"axes": {"a0": np.linspace(0.125, 3.0, 24).tolist(), "mu": [0.001, 0.006, 0.011, 0.016]}}}, tmp_path / "a"
    ).directory
    assert read_content(directory, traces=0).facts["sections"] == {}
    found = open_run(directory).fragility("wear_power > 2 W", "a0", over=["mu"], resamples=20)
    found.write(directory)
    facts = read_content(directory, traces=0).facts["sections"]["fragility"]
    assert (facts["title"], facts["unit"], facts["level"]) == ("probability of wear_power > 2 over a0", "m/s^2", 0.95)
    assert facts["fits"][0]["theta"] == found.curves[0].fit.theta
    assert sum(point["events"] for point in facts["points"]) == facts["fits"][0]["events"]
    assert len(facts["curves"]) == 101
    (directory / "fragility" / "fits.parquet").write_bytes(b"broken")
    content = read_content(directory, traces=0).facts
    assert content["sections"] == {}
    assert any("No fragility" in note for note in content["notes"])
