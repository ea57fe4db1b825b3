"""A deadline for the head of each request, against clients that send it byte by byte (S18).

    silent ──first byte──► head ──complete──► request ──answered──► silent
    └── 10 s, of a new connection ──┘

uvicorn bounds the idle time of an answered connection, and `api/http/edge.py` the time of a body.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_S = 10.0


class HeaderTimeoutProtocol(H11Protocol):
    """uvicorn's protocol, with a deadline for the head of each request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """Start the deadline of the first head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Handle data: a head's deadline starts with its first byte and ends with the head."""
        if not self._answering:
            self._wait()
        super().data_received(data)
        if self._answering:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop()
        super().connection_lost(exc)

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self._give_up)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._answering and not self.transport.is_closing():
            self.transport.close()
