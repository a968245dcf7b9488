"""Another user of the machine tries every port and file that commands open: nothing is read, nothing is run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.execution.processes import children, start, wait_for_shards, write_study
from tests.sweep.execution.test_dask import started
from tribosweep.sweep import run

OTHER = 65534
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user"),
]

# becomes another user, tries ports, then files and folders, and prints what it got as JSON; all modules are loaded before
ATTACK = r"""
import encodings.idna, http.client, json, os, socket, sys
from concurrent.futures import ThreadPoolExecutor
other, ports, paths, clients = json.loads(sys.argv[1])
got = []
if clients:
    import asyncio
    from distributed.comm import connect
    from distributed.security import Security
    own = Security.temporary()
    async def knock(address, security):
        try:
            comm = await connect(address, timeout=5, **security.get_connection_args("client"))
            got.append(f"answer {address}")
            comm.abort()
        except Exception:
            pass
    async def knock_at(ports):
        ways = {"tcp": Security(), "ws": Security(), "tls": own, "wss": own}
        tried = [asyncio.create_task(knock(f"{name}://127.0.0.1:{port}", way)) for port in ports for name, way in ways.items()]
        await asyncio.wait(tried, timeout=30)  # Dask takes the first bytes of a page for a length, and waits for so many, for ever
    loop = asyncio.new_event_loop()
    loop.run_until_complete(knock_at([1]))
os.setgroups([])
os.setgid(other)
os.setuid(other)
def ask(port, path):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status < 400:
            got.append(f"page {port}{path}")
    except (OSError, http.client.HTTPException):
        pass
pages = ("/", "/info/main/workers.html", "/json/identity.json", "/metrics", "/health", "/proxy/22/127.0.0.1/", "/query")
asked = [(port, path) for port in ports for path in pages]
with ThreadPoolExecutor(max(1, len(asked))) as pool:  # what does not answer holds up nobody else
    [*pool.map(ask, *zip(*asked))] if asked else []
for port in ports:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"\x00" * 64)
if clients:
    loop.run_until_complete(knock_at(ports))
def attempt(path):
    for mode in (os.O_RDONLY, os.O_RDWR):
        try:
            os.close(os.open(path, mode))
            got.append(f"{'read' if mode == os.O_RDONLY else 'write'} {path}")
        except OSError:
            pass
    try:
        inside = os.listdir(path)
    except OSError:
        return
    for name in inside:
        attempt(os.path.join(path, name))
for path in paths:
    attempt(path)
print(json.dumps([os.getuid(), got]), flush=True)
os._exit(0)  # without those that wait
"""


def attacked(ports: list[int], paths: list[str], clients: bool = False) -> list[str]:
    """What another user got at ports, and at files and folders."""
    command = [sys.executable, "-W", "ignore", "-c", ATTACK, json.dumps([OTHER, ports, paths, clients])]
    done = subprocess.run(command, check=True, cwd="/", capture_output=True, text=True, timeout=300)
    uid, got = json.loads(done.stdout.splitlines()[-1])
    assert uid == OTHER
    return [str(each) for each in got]


def listening(processes: list[int]) -> list[tuple[str, str]]:
    """The sockets at which processes listen: kind and address."""
    own = set()
    for process in processes:
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                own.add(str(link.readlink()))
            except OSError:
                continue
    found = []
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            if f"socket:[{words[9]}]" in own and (words[3] == "0A" or kind.startswith("udp")):
                host, port = words[1].split(":")
                found.append((kind, f"{'.'.join(str(byte) for byte in bytes.fromhex(host)[::-1])}:{int(port, 16)}"))
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if f"socket:[{words[6]}]" in own and int(words[3], 16) & 0x10000:
            found.append(("unix", words[7] if len(words) > 7 else ""))
    return found


def inner_paths(processes: list[int]) -> list[str]:
    """What the kernel shows of processes, and the files that they have open for writing outside their terminals."""
    shown = [f"/proc/{process}/{name}" for process in processes for name in ("environ", "mem", "maps", "auxv")]
    for process in processes:
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                path, facts = str(link.readlink()), Path(f"/proc/{process}/fdinfo/{link.name}").read_text()
            except OSError:
                continue
            if path.startswith("/") and not path.startswith("/dev/") and int(facts.split()[3], 8) & os.O_ACCMODE:
                shown.append(path.removesuffix(" (deleted)"))
    return shown


def is_result(got: str, out: Path) -> bool:
    """Whether something that was got is a part of the results of a run, which have the permissions that the user gives to new files."""
    return got.startswith(f"read {out}")


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files as all users share it."""
    folder = Path(tempfile.mkdtemp(prefix="tribosweep-shared-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A command that ends with the test."""
    with start(*words) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def ended(process: subprocess.Popen[str]) -> str:
    """Interrupt a command; what it has said."""
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode in (0, 130), told
    return told


def test_a_run_opens_no_port_and_no_file_to_others(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(temporary))
    out = temporary / "out"
    with running("run", write_study(temporary / "study.toml", 60_000, 64), "--out", out) as process:
        wait_for_shards(process, out, 2)
        processes = [process.pid, *children(process.pid)]
        assert listening(processes) == []
        inside = [str(path) for path in temporary.iterdir() if path.name not in ("out", "study.toml")]
        got = attacked([], [*inner_paths(processes), *inside, str(out)])
        ended(process)
    assert [each for each in got if not is_result(each, out)] == []


@pytest.mark.long
def test_own_workers_of_a_run_obey_nobody_else(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    planted = temporary / "dask-scratch-space"
    planted.mkdir()
    os.chown(planted, OTHER, OTHER)
    planted.chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(temporary))
    out = temporary / "out"
    study = write_study(temporary / "study.toml", 400_000, 64)
    with running("run", study, "--out", out, "--executor", "dask", "--workers", "2") as process:
        wait_for_shards(process, out, 2)
        processes = [process.pid, *children(process.pid)]
        sockets = listening(processes)
        assert len(sockets) >= 6
        assert all(kind == "tcp" and address.startswith("127.0.0.1:") for kind, address in sockets)
        assert not [*planted.iterdir()]
        inside = [str(path) for path in temporary.iterdir() if path.name.startswith("tribosweep-")]
        assert inside
        got = attacked([int(address.rpartition(":")[2]) for _, address in sockets], [*inner_paths(processes), *inside], clients=True)
        told = ended(process)
    assert [each for each in got if not is_result(each, out)] == []
    assert process.returncode == 130, "the run was over before the attack"
    assert "Traceback" not in told
    assert not [path for path in temporary.iterdir() if path.name.startswith("tribosweep-")]


def test_the_browser_of_explore_gets_the_token_in_a_private_file(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study: dict[str, Any] = {"sweep": {"axes": {"a0": {"from": 1.0, "to": 20.0, "count": 50}}}}
    directory = run(study, temporary / "out").directory
    opened, browser = temporary / "opened", temporary / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {opened}.new\nmv {opened}.new {opened}\nsleep 20\n')
    browser.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("BROWSER", f"{browser} %s &")
    with running("explore", directory, "--open") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        token = address.rstrip("/").rpartition("/")[2]
        deadline = time.monotonic() + 30.0
        while not opened.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        page = Path(opened.read_text().strip().removeprefix("file://"))
        processes = [process.pid, *children(process.pid)]
        assert len(processes) > 1
        for each in processes:
            assert token.encode() not in Path(f"/proc/{each}/cmdline").read_bytes()
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent.stat().st_mode & 0o777 == 0o700
        assert address in page.read_text()
        sockets = listening([process.pid])
        assert sockets == [("tcp", address.split("/")[2])]
        inside = [str(path) for path in temporary.iterdir() if path.name.startswith("tribosweep-")]
        got = attacked([int(sockets[0][1].rpartition(":")[2])], [*inner_paths([process.pid]), str(page), *inside])
        ended(process)
    assert got == []
    assert not page.parent.exists()


@pytest.mark.long
def test_a_scheduler_without_certificates_is_used_with_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    study = write_study(tmp_path / "study.toml", 128, 64)
    with started(tmp_path) as cluster:
        cluster.work()
        with start("run", study, "--out", tmp_path / "out", "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=120)
        got = attacked([int(cluster.address.rpartition(":")[2])], [], clients=True)
    assert process.returncode == 0, told
    assert f"answer {cluster.address}" in got  # the attack works where nothing is protected
    assert "asks for no certificate: whoever can connect to it" in " ".join(told.split())
    with start("run", study, "--out", tmp_path / "tls", "--executor", "dask", "--scheduler", "tls://127.0.0.1:1") as process:
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2, told
    assert "Dask's configuration names no certificate for it" in " ".join(told.split())


@pytest.mark.long
def test_a_scheduler_with_certificates_is_used_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    from distributed.security import Security

    made = Security.temporary()
    for name, text in (("key", made.tls_client_key), ("cert", made.tls_client_cert)):
        (tmp_path / f"{name}.pem").write_text(text)
    setting = "DASK_DISTRIBUTED__COMM__"
    monkeypatch.setenv(f"{setting}REQUIRE_ENCRYPTION", "True")
    monkeypatch.setenv(f"{setting}TLS__CA_FILE", str(tmp_path / "cert.pem"))
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        monkeypatch.setenv(f"{setting}TLS__{role}__KEY", str(tmp_path / "key.pem"))
        monkeypatch.setenv(f"{setting}TLS__{role}__CERT", str(tmp_path / "cert.pem"))
    with started(tmp_path, protocol="tls") as cluster:
        cluster.work()
        study = write_study(tmp_path / "study.toml", 128, 64)
        with start("run", study, "--out", tmp_path / "out", "--executor", "dask", "--scheduler", cluster.address) as process:
            _, told = process.communicate(timeout=120)
        got = attacked([int(cluster.address.rpartition(":")[2])], [], clients=True)
    assert process.returncode == 0, told
    assert "certificate" not in told
    assert got == []
