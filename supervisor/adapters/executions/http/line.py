"""The connection of one request, and a wait for the request that ends in time whatever happens.

A name is resolved and a connection is opened by the operating system, which nobody can interrupt.
So a request has a thread of its own.  Whoever waits for it leaves when it is cancelled or late; the
thread ends by its own bounds, and what it opens after that is shut before a byte is sent.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Generic, TypeVar

__all__ = ["CallLine", "LineShut", "WatchedRequest"]

_LOOK_S = 0.1
_LEFT_AFTER_S = 0.5
"""Once its line is shut, a request that reads or writes ends within this time."""
_OPENS = {"connection.connect_tcp.complete", "connection.start_tls.complete"}
T = TypeVar("T")


class LineShut(Exception):
    """The line was shut before it was opened: nothing was sent."""


class CallLine:
    """Shut from another thread: whoever reads from it gets an error."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_shut = False
        self.is_open = False
        """Whether there was a connection: something may have been sent."""

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Keep the socket; to be used as the extension `trace` of a request."""
        if event in _OPENS:
            stream = info["return_value"]
            with self._lock:
                self._socket = stream.get_extra_info("socket")  # type: ignore[attr-defined]  # httpcore
                if self._is_shut:
                    self._shut()
                    raise LineShut
                self.is_open = True

    def check(self) -> None:
        """Raise LineShut if it was shut."""
        with self._lock:
            if self._is_shut:
                raise LineShut

    def shut(self) -> None:
        """End it now, or as soon as it is open."""
        with self._lock:
            self._is_shut = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it has ended already
                self._socket.shutdown(socket.SHUT_RDWR)


class WatchedRequest(Generic[T]):
    """One request in a thread of its own."""

    def __init__(self, make: Callable[[CallLine], T]) -> None:
        """Begin it."""
        self.line = CallLine()
        self.is_late = False
        """Whether its time was over."""
        self._make = make
        self._done = threading.Event()
        self._answer: T | None = None
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="step-http", daemon=True).start()

    def wait(self, cancel: threading.Event, within_s: float) -> T | None:
        """Return its answer; None: it was left, as it was cancelled or late.

        Raises:
            Exception: whatever the request raised.
        """
        until = time.monotonic() + within_s
        while not self._done.wait(_LOOK_S):
            self.is_late = time.monotonic() > until and not cancel.is_set()
            if self.is_late or cancel.is_set():
                self.line.shut()
                self._done.wait(_LEFT_AFTER_S)
                break
        if self._error is not None:
            raise self._error
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = self._make(self.line)
        except Exception as error:  # noqa: BLE001 -- raised where it is waited for
            self._error = error
        finally:
            self._done.set()
