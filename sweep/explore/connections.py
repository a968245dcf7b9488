"""Connections to the server of a page: each must show the token soon, and those that have not yet take no place from one that comes."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0  # s until the first request of a connection must have come with the token
MOST = 200  # connections that have not shown the token; a browser makes six


class Connection(H11Protocol):
    """A connection of HTTP/1.1, which the application finds as `scope["state"]["connection"]`.

    Attributes:
        admitted: whether it has shown the token. since: when it was made, by the clock of the loop [s].
    """

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Make a connection as uvicorn does."""
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self.admitted, self.since = False, self.loop.time()
        self._end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the token; of more than MOST connections that wait, the oldest is closed."""
        super().connection_made(transport)
        self._end = self.loop.call_later(PATIENCE, transport.abort)
        strangers = [each for each in self.connections if isinstance(each, Connection) and not each.admitted]
        if len(strangers) > MOST:
            oldest = min(strangers, key=lambda each: each.since)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.admit()
        super().connection_lost(exc)

    def admit(self) -> None:
        """Let the connection stay: it has shown the token."""
        self.admitted = True
        if self._end is not None:
            self._end.cancel()
