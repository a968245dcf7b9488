"""Signals of a run: curves of single rows and of groups, as tables, pictures and lines on the terminal."""

import json

import numpy as np
import pytest
from matplotlib.image import imread

from tests.sweep import conftest
from tribosweep import sweep
from tribosweep.sweep.analyses.signals.read import read_signals
from tribosweep.sweep.analysis.regime_map import read_map
from tribosweep.sweep.cli import main
from tribosweep.sweep.io.errors import ConfigError

STUDY = {
    "study": {"name": "rattle", "model": "stop"},
    "parameters": {"gap": 0.002, "k_n": 1e5},
    "time": {"end": 4.0},
    "output": {
        "signals": {
            "interval": 0.01,
            "segment": 8,
            "psd": ["x"],
            "rainflow": {"x": [0.0, 1.0, 2.0]},
            "woehler_exponent": 3,
            "impact_peaks": [0.0, 5.0],
        }
    },
    "sweep": {"axes": {"a0": [1.0, 2.0], "mu": [0.1, 0.2, 0.3, 0.4]}},
}


def rising(model, _scheme, asked, columns, _absent, status, _records):
    """Signals that grow with a0 and mu; those of the last row are missing."""
    size = np.broadcast_to(columns["a0"] * (1.0 + columns["mu"]), len(status)).copy()
    size[-1] = np.nan
    return {name: size if not q.length else np.outer(size, 1.0 + np.arange(q.length)) for name, (q, _) in asked.columns(model).items()}


@pytest.fixture
def run(fake, monkeypatch, tmp_path):
    import tribosweep.kernels.batch.sampled

    monkeypatch.setattr(tribosweep.kernels.batch.sampled, "signals", rising)
    assert conftest.fake_signals is not rising
    return sweep.run(STUDY, out=tmp_path / "run")


def test_a_row_is_a_curve(run):
    found = read_signals(run.directory, ["psd_x"], points=[5, 1])
    (signal,) = found.signals
    assert [curve.label for curve in signal.curves] == ["point = 5", "point = 1"]
    np.testing.assert_allclose(signal.curves[1].median, 1.2 * (1.0 + np.arange(5.0)))
    np.testing.assert_allclose(signal.entries, np.fft.rfftfreq(8, 0.01))
    assert (signal.unit, signal.along, signal.along_unit) == ("m^2/Hz", "frequency", "Hz")
    assert signal.total(signal.curves[1]) == pytest.approx(np.sqrt(1.2 * 15.0 * 12.5))


def test_rows_that_differ_in_what_is_random_share_a_curve(run):
    found = read_signals(run.directory, over=["mu"])
    assert [signal.name for signal in found.signals] == ["psd_x", "rainflow_x", "equivalent_range_x", "impact_peaks"]
    one, other = found.signals[1].curves
    assert (one.label, one.rows, other.rows) == ("a0 = 1", 4, 3)  # the last row is missing
    np.testing.assert_allclose(one.quantiles, np.quantile([1.1, 1.2, 1.3, 1.4], [0.16, 0.5, 0.84])[:, None] * [1.0, 2.0, 3.0])
    assert found.signals[2].total(found.signals[2].curves[0]) == pytest.approx(1.25)
    held = read_signals(run.directory, over=["mu"], at=["a0=2"])
    assert held.held == {"a0": 2.0}
    assert [curve.label for curve in held.signals[0].curves] == [""]


def test_the_command_prints_writes_and_draws(run, tmp_path, capsys):
    assert main(["signals", str(run.directory), "--over", "mu"]) == 0
    printed, said = capsys.readouterr()
    lines = [line.split() for line in printed.splitlines()]
    assert ["psd_x", "m^2/Hz", "a0", "=", "1", "4", "15.31", "6.25", "50", "Hz"] in lines
    assert ["equivalent_range_x", "m", "a0", "=", "2", "3", "2.4"] in lines
    assert said == ("Medians over mu. The total of a spectrum is the root of its area; of classes the sum. A picture: --out signals.png.\n")
    assert main(["signals", str(run.directory), "--point", "1", "--column", "rainflow_x", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["entry"], row["median"]) for row in rows] == [(0.0, 1.2), (1.0, 2.4), (2.0, pytest.approx(3.6))]
    assert main(["signals", str(run.directory), "--over", "mu", "--out", str(tmp_path / "a.png")]) == 0
    assert imread(tmp_path / "a.png").std() > 0.01
    capsys.readouterr()
    for file in ("a.csv", "A.CSV", "a.parquet"):
        assert main(["signals", str(run.directory), "--out", str(tmp_path / file)]) == 0
        assert capsys.readouterr().out == f"{tmp_path / file}\n"
    assert (tmp_path / "a.csv").read_text().startswith("signal,unit,curve,rows,along,along_unit,entry,median")
    assert (tmp_path / "A.CSV").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_json_and_a_file_are_both_given(run, tmp_path, capsys):
    assert main(["signals", str(run.directory), "--json", "--out", str(tmp_path / "a.csv")]) == 0
    printed, said = capsys.readouterr()
    assert len(json.loads(printed)) == len((tmp_path / "a.csv").read_text().splitlines()) - 1
    assert said == f"Written: {tmp_path / 'a.csv'}\n"
    assert main(["show", str(run.directory), "--over", "mu", "--json", "--out", str(tmp_path / "b.csv")]) == 0
    printed, said = capsys.readouterr()
    assert len(json.loads(printed)) == len((tmp_path / "b.csv").read_text().splitlines()) - 1
    assert f"Written: {tmp_path / 'b.csv'}\n" in said


def test_a_table_has_the_units_that_all_its_rows_share(run):
    frame = run.signals("psd_x").to_pandas()
    assert frame.attrs["units"] == {"entry": "Hz", "median": "m^2/Hz", "q16": "m^2/Hz", "q84": "m^2/Hz"}
    assert frame.attrs["descriptions"].keys() == set(frame.columns)
    assert run.signals().to_pandas().attrs["units"] == {}
    assert repr(run.signals("psd_x", over=["a0", "mu"])).endswith("; 1 curve>")


def test_tables_of_a_run_leave_signals_out(run, capsys):
    assert main(["show", str(run.directory)]) == 0
    assert "psd_x" not in capsys.readouterr().out


def test_maps_are_shaded_by_signals_that_are_single_numbers(run):
    found = read_map(run.directory, color="equivalent_range_x")
    np.testing.assert_allclose(found.shades.reshape(-1)[:7], np.outer([1.1, 1.2, 1.3, 1.4], [1.0, 2.0]).reshape(-1)[:7])
    assert found.shade.unit == "m"
    with pytest.raises(ConfigError, match="'psd_x' is no observable"):
        read_map(run.directory, color="psd_x")


def test_signals_that_no_row_has_are_empty_curves(fake, monkeypatch, tmp_path, capsys):
    def nothing(model, _scheme, asked, _columns, _absent, status, _records):
        return {name: np.full((len(status), q.length or 1), np.nan).squeeze() for name, (q, _) in asked.columns(model).items()}

    monkeypatch.setattr("tribosweep.kernels.batch.sampled.signals", nothing)
    run = sweep.run(STUDY, out=tmp_path / "run")
    (signal,) = read_signals(run.directory, ["psd_x"]).signals
    assert all(curve.rows == 0 for curve in signal.curves)
    assert np.isnan(signal.curves[0].median).all()
    assert main(["signals", str(run.directory)]) == 0
    assert "psd_x" in capsys.readouterr().out
    assert main(["signals", str(run.directory), "--out", str(tmp_path / "none.png")]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"columns": ["psd"]}, "psd_x"),
        ({"points": [8]}, "no such row"),
        ({"points": [1], "over": ["mu"]}, "leave out --over"),
        ({"over": ["gap"]}, "nothing that this run varies"),
        ({"at": ["k=2"]}, "nothing that this run varies"),
    ],
)
def test_wrong_names_are_refused(run, words, said):
    with pytest.raises(ConfigError, match=said):
        read_signals(run.directory, **words)


def test_a_run_without_signals_says_so(fake, tmp_path):
    plain = {**STUDY, "output": {}}
    run = sweep.run(plain, out=tmp_path / "run")
    with pytest.raises(ConfigError, match="has no signals"):
        run.signals()
