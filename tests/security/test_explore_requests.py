"""Requests to the page of a run: nonsense is an error of the request, and no client can keep the others waiting."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.sweep.conftest import install_fake
from tribosweep.sweep import run
from tribosweep.sweep.execution.directory import RunDirectory
from tribosweep.sweep.explore import connections, questions
from tribosweep.sweep.explore.page import facts_of
from tribosweep.sweep.explore.rows import RefusedError, Rows
from tribosweep.sweep.explore.server import Answers, Server

ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"
NUMBERS = (
    "1e999",
    "-1e999",
    "1e400",
    "NaN",
    "Infinity",
    "9" * 400,
    "9" * 5000,
    "-1",
    "0.5",
    "1e2",
    "true",
    "null",
    '"1"',
    "[]",
    "{}",
    "[1]",
)
TEXTS = ("1e999", "1", "null", "[]", "{}", '"\\ud800"', '"\\u0000"', '""', "true", '["SELECT 1"]')
LISTS = ("1e999", "1", "null", "{}", '"a0"', "[1]", "[null]", '[["a0"]]', '["a00"]', '["regime\\u0000"]', '["\\ud800"]')


def mutants() -> list[tuple[str, bytes]]:
    """Requests of every kind with a wrong part."""
    whole = {
        "view": {"columns": ["a0"], "means": ["wear_power"], "logarithmic": {"a0": True}},
        "query": {"sql": "SELECT 1"},
        "keep": {"name": "preagg_1", "sql": "SELECT 1"},
        "all": {"number": 1},
        "trace": {"point": 1},
    }
    found = []
    for way, parts in whole.items():
        for name in parts:
            kinds = NUMBERS if name in ("number", "point") else LISTS if name in ("columns", "means", "logarithmic") else TEXTS
            for wrong in kinds:
                others = {other: json.dumps(value) for other, value in parts.items() if other != name}
                found.append((way, ("{" + ", ".join(f'"{key}": {value}' for key, value in {**others, name: wrong}.items()) + "}").encode()))
            found.append((way, json.dumps({key: value for key, value in parts.items() if key != name} | {name.upper(): 1}).encode()))
        text = json.dumps(parts).encode()
        found += [(way, text[:cut]) for cut in range(0, len(text), 3)]
        found += [(way, body) for body in (b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"null", b"1e999", text + text, b"\x00" * 1000)]
    found.append(("view", b'{"columns": ["a0"], "means": ["regime"]}'))
    found.append(("view", b'{"columns": ["a0"], "logarithmic": {"a0": 1e999}}'))
    return found


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    """A run of a stand-in for the physics."""
    with pytest.MonkeyPatch.context() as patch:
        install_fake(patch)
        study = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 2.0, "count": 20}, "mu": [0.1, 0.2]}}}
        directory = run(study, tmp_path_factory.mktemp("explore") / "run").directory
    found = Rows(directory)
    yield found
    found.close()


@pytest.fixture
def address(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the run is served, with little patience."""
    monkeypatch.setattr(connections, "PATIENCE", 1.0)
    monkeypatch.setattr(connections, "MOST", 30)
    monkeypatch.setattr(questions, "MOST_AT_ONCE", 6)
    path = RunDirectory(folder(rows))
    server = Server(Answers(path.path, rows, facts_of(path, rows)))
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield server.address
    server.stop()
    thread.join(20.0)
    assert not thread.is_alive()


def folder(rows: Rows) -> Path:
    """The directory of a run."""
    return Path(rows.files[0]).parents[1]


def ask(address: str, way: str = "", body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of an answer."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request("GET" if body is None else "POST", parts.path + way, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Strangers:
    """Connections that are closed at the end of a test."""

    def __init__(self) -> None:
        self.made: list[socket.socket] = []

    def __call__(self, address: str, data: bytes) -> socket.socket:
        """A connection that has sent something."""
        parts = urlsplit(address)
        found = socket.create_connection((parts.hostname, parts.port), timeout=10.0)
        self.made.append(found)
        found.sendall(data)
        return found


@pytest.fixture
def held() -> Iterator[Strangers]:
    """Makes connections."""
    found = Strangers()
    yield found
    for connection in found.made:
        connection.close()


def is_open(connection: socket.socket) -> bool:
    """Whether the other end of a connection is still there, once all it has sent is read."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def question(address: str, way: str, asked: object) -> bytes:
    """A request with the token, as bytes."""
    parts, body = urlsplit(address), json.dumps(asked).encode()
    return f"POST {parts.path}{way} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def test_nonsense_is_an_error_of_the_request_in_a_sentence(address: str) -> None:
    wrong = []
    for way, body in mutants():
        status, told = ask(address, way, body)
        if status == 200 and way in ("view", "query", "keep") and body.endswith(b"}"):
            continue  # an empty list of columns is a view of points
        if status not in (400, 422) or not json.loads(told)["error"] or len(told) > 2000:
            wrong.append((way, body[:60], status, told[:80]))
    assert wrong == []
    status, told = ask(address, "all", b'{"number":1e999}')
    assert (status, json.loads(told)) == (400, {"error": "no request that this server knows (number: Input should be a valid integer)"})


def test_random_bytes_are_errors_of_the_request(address: str) -> None:
    chance = random.Random(1)
    for number in range(100):
        way = ("view", "query", "keep", "all", "trace")[number % 5]
        body = bytearray(json.dumps({"columns": ["a0"], "sql": "SELECT 1", "name": "preagg_1", "number": 1, "point": 1}).encode())
        for _ in range(3):
            body[chance.randrange(len(body))] = chance.randrange(256)
        assert ask(address, way, bytes(body))[0] in (400, 422)


@pytest.mark.parametrize(
    "sent",
    [b"", b"G", b"POST / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100],
    ids=["nothing", "a letter", "half a head", "headers"],
)
def test_an_incomplete_request_without_the_token_is_closed(address: str, held: Strangers, sent: bytes) -> None:
    many = [held(address, sent) for _ in range(10)]
    assert ask(address)[0] == 200
    deadline = time.monotonic() + 10.0
    while any(map(is_open, many)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_request_without_the_token_ends_its_connection_at_once(address: str, held: Strangers) -> None:
    head = f"POST /x HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nContent-Length: 100000\r\n\r\n".encode()
    for sent in (head, head + b"x", head.replace(b"100000", b"0") * 50):
        connection = held(address, sent)
        time.sleep(0.3)
        assert not is_open(connection)


def test_connections_without_the_token_take_no_place_from_the_page(address: str, held: Strangers) -> None:
    many = [held(address, b"") for _ in range(100)]
    for _ in range(5):
        begun = time.monotonic()
        assert ask(address)[0] == 200
        assert time.monotonic() - begun < 1.0
    assert sum(map(is_open, many)) <= 30


def test_a_connection_with_the_token_stays(address: str) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    for _ in range(3):
        connection.request("GET", parts.path)
        assert connection.getresponse().read()
        time.sleep(0.8)  # longer than the patience with strangers in all
    assert connection.sock is not None
    connection.close()


def test_the_question_of_a_client_that_has_gone_is_given_up(address: str, held: Strangers, rows: Rows) -> None:
    asking = [held(address, question(address, "query", {"sql": ENDLESS})) for _ in range(4)]
    deadline = time.monotonic() + 10.0
    while len(rows.running) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for connection in asking:
        connection.close()
    while rows.running:
        assert time.monotonic() < deadline + 10.0
        time.sleep(0.02)


def test_long_questions_give_way_to_new_ones(address: str, held: Strangers, rows: Rows) -> None:
    asking = [held(address, question(address, way, {"name": "preagg_1", "sql": ENDLESS} if way == "keep" else {"sql": ENDLESS}))
              for way in ("query", "keep") * 15]  # fmt: skip
    time.sleep(0.5)
    assert len(rows.running) <= 8  # those that are being given up are among them
    begun = time.monotonic()
    for _ in range(3):
        assert ask(address, "query", b'{"sql": "SELECT count(*) FROM run"}')[0] == 200
        assert ask(address, "view", b'{"columns": ["a0"]}')[0] == 200
        assert ask(address)[0] == 200
    assert time.monotonic() - begun < 10.0
    for connection in asking:
        connection.close()
    deadline = time.monotonic() + 10.0
    while rows.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_result_without_end_is_refused(rows: Rows) -> None:
    with pytest.raises(RefusedError, match="more than 1,000,000 rows"):
        rows.select("SELECT * FROM range(1000000000000)")
    assert rows.select("SELECT * FROM range(10) ORDER BY 1 DESC")


def test_a_server_stops_amid_a_long_question(held: Strangers, rows: Rows) -> None:
    path = RunDirectory(folder(rows))
    server = Server(Answers(path.path, rows, facts_of(path, rows)))
    thread = threading.Thread(target=server.serve)
    thread.start()
    held(server.address, question(server.address, "query", {"sql": ENDLESS}))
    time.sleep(0.5)
    server.stop()
    thread.join(10.0)
    assert not thread.is_alive()
