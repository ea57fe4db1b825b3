"""Guards of an HTTP server against connections that are slow, silent or too many (S18).

    TLS handshake ──10 s──► silent ──first byte──► head ──complete──► request ──answered──► silent
                            └── 10 s, of a new connection ──┘

At the limit of connections, of one address or of all, the one that has been silent for longest is
closed; if none is silent, the new one is.  uvicorn bounds the idle time of an answered connection,
and the application the time of a body.
"""

import asyncio
import resource
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_S = 10.0
"""Deadline of the head of a request, and of a TLS handshake."""
QUIET_S = 60.0
"""The period of one line in the log about the same kind of trouble."""
log = structlog.get_logger()


class SeldomLog:
    """Logs a kind of trouble at most once in `QUIET_S`, with the number of times since."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._last: dict[str, float] = {}
        self._times: dict[str, int] = {}

    def warn(self, event: str, **fields: object) -> None:
        """Log `event`, or count it."""
        self._times[event] = self._times.get(event, 0) + 1
        now = self._monotonic()
        if now - self._last.get(event, -QUIET_S) >= QUIET_S:
            self._last[event] = now
            log.warning(event, times=self._times.pop(event), **fields)


@dataclass
class OpenConnections:
    """The connections of one server; all calls come from its event loop."""

    total_max: int
    of_address_max: int
    _open: "dict[GuardedProtocol, str]" = field(default_factory=dict)
    """Connection -> the caller's address, the oldest first."""
    _seldom: SeldomLog = field(default_factory=SeldomLog)

    def admit(self, new: "GuardedProtocol", address: str) -> None:
        """Add a connection; at a limit, close the longest silent one, or the new one."""
        self._open[new] = address
        mine = [each for each, of in self._open.items() if of == address]
        if len(mine) > self.of_address_max:
            self._make_room(mine, new, f"{self.of_address_max} of {address}")
        elif len(self._open) > self.total_max:
            self._make_room(list(self._open), new, f"{self.total_max} of all callers")

    def forget(self, gone: "GuardedProtocol") -> None:
        """Drop a connection that is closed."""
        self._open.pop(gone, None)

    def _make_room(
        self, among: "list[GuardedProtocol]", new: "GuardedProtocol", limit: str
    ) -> None:
        silent = (each for each in among if each is not new and each.silent)
        closed = next(silent, new)
        self.forget(closed)
        closed.abort()
        self._seldom.warn("a connection was closed to stay within the limit", limit=limit)


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol, with a deadline for the head of each request; see `guarded`."""

    guard: OpenConnections
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """Start the deadline of the first head."""
        super().connection_made(transport)
        self._wait()
        peer = transport.get_extra_info("peername")
        self.guard.admit(self, str(peer[0]) if peer else "")

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
        self.guard.forget(self)
        super().connection_lost(exc)

    @property
    def silent(self) -> bool:
        """Whether no request is being answered."""
        return not self._answering

    def abort(self) -> None:
        """Close the connection at once; what it was to be sent is lost."""
        self.transport.abort()

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


def guarded(total_max: int, of_address_max: int) -> type[GuardedProtocol]:
    """Return the protocol for one server, as uvicorn's `http`."""
    return type(
        "GuardedProtocol", (GuardedProtocol,), {"guard": OpenConnections(total_max, of_address_max)}
    )


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop with a deadline for TLS handshakes, which logs failed ones seldom."""

    def __init__(self) -> None:
        super().__init__()
        self._seldom = SeldomLog()
        self.set_exception_handler(self._heard)

    async def create_server(self, *args: object, **options: object) -> asyncio.Server:
        """Listen; with TLS, a handshake has a deadline."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HEAD_S)
        return await super().create_server(*args, **options)  # type: ignore[call-overload,no-any-return]  # passed on

    def _heard(self, _: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError):
            # A caller's doing, or too many of them: "out of system resource", a broken handshake.
            self._seldom.warn(str(context["message"]), error=repr(error))
            return
        self.default_exception_handler(dict(context))


LOOP = f"{__name__}:GuardedLoop"
"""`GuardedLoop`, as uvicorn's `loop`."""


def raise_file_limit() -> None:
    """Let this process open as many files and sockets as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
