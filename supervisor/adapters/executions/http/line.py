"""The connection of one request, which ends in time whatever the server does."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

__all__ = ["CallLine", "watched"]

_LOOK_S = 0.1
_OPENS = {"connection.connect_tcp.complete", "connection.start_tls.complete"}


class CallLine:
    """Shut from another thread: whoever reads from it gets an error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_late = False
        """Whether it was shut because its time was over."""
        self._is_shut = False

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Keep the socket; to be used as the extension `trace` of a request."""
        if event in _OPENS:
            stream = info["return_value"]
            with self._lock:
                self._socket = stream.get_extra_info("socket")  # type: ignore[attr-defined]  # httpcore
                if self._is_shut:
                    self._shut()

    def shut(self, *, is_late: bool) -> None:
        """End it now, or as soon as it is open."""
        with self._lock:
            self.is_late, self._is_shut = is_late, True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it has ended already
                self._socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def watched(cancel: threading.Event, within_s: float) -> Iterator[CallLine]:
    """Give a line that is shut once `cancel` is set, or after `within_s`."""
    line, done = CallLine(), threading.Event()
    until = time.monotonic() + within_s

    def watch() -> None:
        while not done.wait(_LOOK_S):
            if cancel.is_set() or time.monotonic() > until:
                line.shut(is_late=not cancel.is_set())
                return

    watcher = threading.Thread(target=watch, name="step-http-watch", daemon=True)
    watcher.start()
    try:
        yield line
    finally:
        done.set()
        watcher.join()
