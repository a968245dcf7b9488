"""The server answers its own page and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pytest

from tests.sweep.explore.conftest import SmallRun, serving
from tribosweep.sweep.analyses.trace.motion import trace_of
from tribosweep.sweep.analysis.study_rows import read_study
from tribosweep.sweep.cli import main


@pytest.fixture(scope="module")
def address(small: SmallRun) -> Iterator[str]:
    """Where the small run is served."""
    with serving(small.directory) as (found, _rows):
        yield found


def ask(address: str, way: str = "", question: object = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers of an answer; headers may replace `Host`."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.putrequest("GET" if question is None else "POST", parts.path + way, skip_host="Host" in headers)
        body = b"" if question is None else question if isinstance(question, bytes) else json.dumps(question).encode()
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def told(answer: tuple[int, bytes, dict[str, str]]) -> Any:
    """The JSON of an answer."""
    return json.loads(answer[1])


def test_the_page_and_its_parts_are_there(address: str) -> None:
    status, page, headers = ask(address)
    assert status == 200
    assert b"small" in page
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert [ask(address, name)[0] for name in ("explore.css", "explore.js")] == [200, 200]
    assert ask(address, "../../etc/passwd")[0] in (403, 404)
    assert ask(address, "rows.py")[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""])
def test_another_host_is_refused(address: str, host: str) -> None:
    for way, question in (("", None), ("query", {"sql": "SELECT 1"})):
        status, body, _ = ask(address, way, question, Host=host.format(port=urlsplit(address).port))
        assert status in (400, 403)
        assert b"mosaic" not in body


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "null"])
def test_another_origin_is_refused(address: str, origin: str) -> None:
    status, body, _ = ask(address, "query", {"sql": "SELECT 1"}, Origin=origin.format(port=urlsplit(address).port))
    assert status == 403
    assert b"another site" in body
    own = f"http://127.0.0.1:{urlsplit(address).port}"
    assert ask(address, "query", {"sql": "SELECT 1"}, Origin=own)[0] == 200


def test_without_the_token_nothing_is_answered(address: str) -> None:
    parts = urlsplit(address)
    for path in ("/", "/x/", f"/{parts.path.strip('/')[:-1]}/", "/query", "//", f"/x{parts.path}"):
        status, body, _ = ask(f"http://{parts.netloc}{path}")
        assert status == 403, path
        assert b"token" in body
    assert len(parts.path) > 30
    with socket.create_connection((parts.hostname, parts.port), timeout=10.0) as connection:
        connection.sendall(f"OPTIONS * HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 403")


def test_a_select_is_answered_and_nothing_else(address: str) -> None:
    status, body, _ = ask(address, "query", {"sql": "SELECT count(*) AS n FROM run"})
    assert status == 200
    assert pa.ipc.open_stream(body).read_all().to_pydict() == {"n": [2400]}
    status, body, _ = ask(address, "query", {"sql": "DROP VIEW run"})
    assert status == 422
    assert json.loads(body)["error"] == "only a single SELECT is answered, not DROP"
    assert ask(address, "query", {"sql": "SELECT * FROM read_text('/etc/passwd')"})[0] == 422
    assert ask(address, "query")[0] == 405  # not by GET, which any link may send


@pytest.mark.parametrize("question", [b"", b"no json", b"[]", b"{}", b"3", b'{"sql": ' + b"[" * 3000, b'{"columns": 1}'])
def test_a_request_that_makes_no_sense_is_an_error_of_the_request(address: str, question: bytes) -> None:
    for way in ("query", "keep", "view", "trace"):
        answer = ask(address, way, question)
        assert answer[0] in (400, 422), way
        assert told(answer)["error"]


def test_too_long_a_request_is_refused(address: str) -> None:
    assert ask(address, "query", {"sql": "SELECT 1 --" + "x" * 1_100_000})[0] == 400


@pytest.mark.slow
def test_a_trace_is_that_of_the_command(address: str, small: SmallRun) -> None:
    found = told(ask(address, "trace", {"point": 1234}))
    expected = trace_of(read_study(small.directory), 1234, 1500)
    assert [column["name"] for column in found["columns"]] == [*expected.columns]
    for column in found["columns"]:
        assert np.allclose(column["values"], expected.columns[column["name"]], rtol=1e-6, atol=1e-12)
    assert found["columns"][1]["unit"] == "m"
    answer = ask(address, "trace", {"point": 2400})
    assert answer[0] == 422
    assert "2400" in told(answer)["error"] or "2,400" in told(answer)["error"]


def test_bins_of_columns_are_told(address: str) -> None:
    made = told(ask(address, "view", {"columns": ["a0", "wear_power"], "logarithmic": {"a0": True}}))
    assert made["bins"]["a0"]["log"] is True
    assert made["table"].startswith("view_")
    answer = ask(address, "view", {"columns": ["a00"]})
    assert answer[0] == 422
    assert "a0" in told(answer)["error"]


def test_a_directory_without_a_run_and_a_taken_port_are_told(address: str, small: SmallRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(small.directory / "points")]) == 2
    assert "no run" in capsys.readouterr().err
    assert main(["explore", str(small.directory), "--port", str(urlsplit(address).port)]) == 2
    assert "--port" in capsys.readouterr().err
