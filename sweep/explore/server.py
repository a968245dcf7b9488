"""The server of `tribosweep explore`: one run, for one browser on this machine, behind a token."""

from __future__ import annotations

import asyncio
import math
import secrets
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tribosweep.sweep.analyses.trace.motion import trace_of
from tribosweep.sweep.analysis.study_rows import read_study
from tribosweep.sweep.explore import cube
from tribosweep.sweep.explore.page import STYLE, live_page, read, script
from tribosweep.sweep.explore.questions import Kept, NumberOfPoint, NumberOfView, Question, Select, ViewQuestion, Waiting, parsed
from tribosweep.sweep.explore.rows import RefusedError, Rows, View, first_line, turn
from tribosweep.sweep.io.errors import ConfigError, Problem
from tribosweep.sweep.io.text import visible

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
INSTANTS = 1500  # of a trace
MOST_BODY = 1_000_000  # bytes of a request
BODY_WITHIN = 10.0  # s
BACKLOG = 50  # connections that are accepted before those that came earlier are read: fewer than connections.MOST
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Answers only a browser on this machine that was given the address with the token.

    A page of another site can make a browser send requests to 127.0.0.1, even under a name of its own that it rebinds to 127.0.0.1. Such a
    request names that site in `Host` or `Origin`, and it does not know the token.
    """

    def __init__(self, app: Starlette, port: int, token: str) -> None:
        """Guard an application on a port."""
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in (HOST, "localhost")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        headers = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
        hosts, origins = ([value for name, value in headers if name == wanted] for wanted in (b"host", b"origin"))
        refusal = ""
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            refusal = f"This server answers only at {HOST}, not under another name."
        elif any(origin not in {f"http://{host}" for host in self._hosts} for origin in origins):
            refusal = "This server answers no page of another site."
        elif not secrets.compare_digest(scope["path"][1:].partition("/")[0].encode(), self._token.encode()):
            refusal = "The address lacks the token of this server: open the one that tribosweep explore printed."
        if refusal:
            await PlainTextResponse(refusal + "\n", 403, {**HEADERS, "Connection": "close"})(scope, receive, send)
            return
        scope["state"]["connection"].admit()

        async def send_safely(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        await self._app(scope, receive, send_safely)


class Answers:
    """What the server answers about a run.

    Attributes:
        rows: the rows. facts: what the page is told first. waiting: the questions that are worked on.
    """

    def __init__(self, path: Path, rows: Rows, facts: dict[str, Any]) -> None:
        """Answer about the run in a directory."""
        self.path, self.rows, self.facts = path, rows, facts
        self.waiting = Waiting()
        self._tracing = threading.Lock()
        self._views: dict[int, View] = {}
        self._cubes: dict[int, cube.Progress] = {}
        first = facts["first"]
        threading.Thread(target=self._begin, args=([*first["histograms"], *first["words"]],), daemon=True).start()

    def _begin(self, names: list[str]) -> None:
        """Read the columns of the first views while the browser starts."""
        with suppress(Exception):  # the page asks for them again, and is told what is wrong
            self.rows.load(names)

    def view(self, asked: ViewQuestion, stop: threading.Event) -> Any:
        """A new view: the table that the page queries, and the bins of its columns."""
        made = self.rows.view(asked.columns, asked.means, asked.logarithmic, stop)
        self._views[made.number] = made
        return {"number": made.number, "table": made.table, "bins": {name: bins.to_json() for name, bins in made.bins.items()}}

    def query(self, asked: Select, stop: threading.Event) -> bytes:
        """The result of a SELECT as an Arrow stream."""
        return self.rows.select(asked.sql, stop)

    def keep(self, asked: Kept, stop: threading.Event) -> Any:
        """Keep the result of a SELECT."""
        self.rows.keep(asked.name, asked.sql, stop)
        return {}

    def all(self, asked: NumberOfView, _stop: threading.Event) -> Any:
        """How far the counting of all rows for a view is; the first call begins it."""
        view = self._views.get(asked.number)
        if view is None:
            raise RefusedError(f"there is no view {asked.number}")
        if view.number not in self._cubes:
            for other in self._cubes.values():
                other.stop.set()
            for number in [*self._cubes][: 1 - cube.MOST_BUILT]:
                cube.drop(self.rows, number)
                del self._cubes[number]
            self._cubes[view.number] = cube.Progress()
            threading.Thread(target=self._build, args=(view, self._cubes[view.number]), daemon=True).start()
        progress = self._cubes[view.number]
        return {"done": progress.done, "of": progress.of, "table": progress.table, "groups": progress.groups, "error": progress.error}

    def _build(self, view: View, progress: cube.Progress) -> None:
        """Count all rows for a view."""
        try:
            cube.build(self.rows, view, progress)
        except cube.StoppedError:
            progress.error = "another view was asked for"
        except Exception as error:
            progress.error = visible(first_line(error))

    def trace(self, asked: NumberOfPoint, stop: threading.Event) -> Any:
        """The time history of a point, as `tribosweep trace` computes it."""
        with turn(self._tracing, stop):
            found = trace_of(read_study(self.path), asked.point, INSTANTS)
        kept = [each for each in found.quantities if not each.name.startswith(("q_", "v_")) or "[" in each.name]
        columns = [
            {"name": each.name, "unit": each.unit_suffix.strip(), "about": each.description, "values": listed(found.columns[each.name])}
            for each in kept
        ]
        return {"point": found.point, "scheme": found.scheme, "columns": columns}


def listed(values: Any) -> list[float | None]:
    """Numbers as JSON has them: 7 digits, null for what is not finite."""
    return [float(f"{value:.7g}") if math.isfinite(value) else None for value in values.tolist()]


def application(answers: Answers, token: str) -> Starlette:
    """The application, without its guard."""
    import duckdb
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    def text(content: Callable[[], str], kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_request: Request) -> Response:
            return PlainTextResponse(content(), media_type=kind)

        return answer

    def asked(kind: type[Question], work: Callable[[Any, threading.Event], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                question = parsed(kind, await body_of(request))
                with answers.waiting.place() as stop:
                    gone = asyncio.ensure_future(request.receive())  # comes back when the client has closed the connection
                    gone.add_done_callback(lambda _: stop.set())
                    try:
                        found = await run_in_threadpool(work, question, stop)
                    finally:
                        gone.cancel()
            except (RefusedError, ConfigError, OSError, MemoryError, duckdb.Error) as error:
                reason = "; ".join(str(problem) for problem in error.problems) if isinstance(error, ConfigError) else first_line(error)
                return JSONResponse({"error": visible(reason, lines=True)}, 422)
            except ValueError as error:
                return JSONResponse({"error": visible(str(error))}, 400)
            except asyncio.CancelledError:  # a trace that goes on when the server ends
                return JSONResponse({"error": "the server ends"}, 503)
            if isinstance(found, bytes):
                return Response(found, media_type="application/vnd.apache.arrow.stream")
            return JSONResponse(found)

        return answer

    ways: dict[str, tuple[type[Question], Callable[[Any, threading.Event], Any]]] = {
        "view": (ViewQuestion, answers.view),
        "query": (Select, answers.query),
        "keep": (Kept, answers.keep),
        "all": (NumberOfView, answers.all),
        "trace": (NumberOfPoint, answers.trace),
    }
    routes = [
        Route(f"/{token}/", text(lambda: live_page(answers.facts), "text/html")),
        Route(f"/{token}/explore.css", text(lambda: read(STYLE), "text/css")),
        Route(f"/{token}/explore.js", text(script, "text/javascript")),
        *(Route(f"/{token}/{name}", asked(*way), methods=["POST"]) for name, way in ways.items()),
    ]
    return Starlette(routes=routes)


async def body_of(request: Request) -> bytes:
    """The body of a request; ValueError if it is too long or does not come."""
    from starlette.requests import ClientDisconnect

    data = b""
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MOST_BODY:
                    raise ValueError(f"the request has more than {MOST_BODY:,} bytes")
    except (TimeoutError, ClientDisconnect):
        raise ValueError(f"the request was not complete within {BODY_WITHIN:g} s") from None
    return data


class Server:
    """A server in this process.

    Attributes:
        address: what to open in a browser.
    """

    def __init__(self, answers: Answers, port: int = 0) -> None:
        """Bind a port of the loopback interface; 0 for a free one.

        Raises:
            ConfigError: the port is taken, or a package is not installed.
        """
        import socket

        try:
            import uvicorn
        except ModuleNotFoundError:
            message = "needs uvicorn and starlette, which are not installed: pip install 'tribosweep[explore]'"
            raise ConfigError("tribosweep explore", [Problem("", message)]) from None
        from tribosweep.sweep.explore.connections import Connection

        # asyncio sends without delay (TCP_NODELAY) only on sockets that name their protocol: 40 ms of every answer
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((HOST, port))
            self._socket.listen(128)  # the address answers from now on, once `serve` runs
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise ConfigError("--port", [Problem("", f"{port} cannot be used: {error}")]) from None
        token, bound = secrets.token_urlsafe(24), self._socket.getsockname()[1]
        self.address = f"http://{HOST}:{bound}/{token}/"
        guard = Guard(application(answers, token), bound, token)
        settings = uvicorn.Config(
            guard, http=Connection, log_config=None, log_level="error", access_log=False, lifespan="off", proxy_headers=False,
            server_header=False, ws="none", timeout_graceful_shutdown=1, backlog=BACKLOG,
        )  # fmt: skip

        class Ending(uvicorn.Server):
            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                answers.waiting.give_up()
                await super().shutdown(sockets)

        self._server = Ending(settings)

    def serve(self) -> None:
        """Answer until `stop` or a signal."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Make `serve` return soon."""
        self._server.should_exit = True
