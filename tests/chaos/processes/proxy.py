"""A TCP proxy that misbehaves on demand: cut, delay, silence, and the reply to COMMIT lost.

    client ──► proxy ──► server      one thread for each direction of each connection

It knows nothing of what passes but the word COMMIT, which PostgreSQL's protocol shows in clear.
"""

import socket
import threading
from contextlib import suppress
from enum import StrEnum
from typing import Self

_CHUNK = 64 * 1024
_LOOK_S = 0.2
COMMIT = b"COMMIT"


class Mode(StrEnum):
    """What happens to what passes."""

    PASS = "pass"
    CUT = "cut"
    """Every connection is reset, a new one at once."""
    DELAY = "delay"
    """Each chunk waits `delay_s`."""
    HOLE = "hole"
    """Connections stand, nothing passes; what was sent arrives when the hole is closed."""
    MUTE = "mute"
    """One way only: the server hears, its answers do not arrive until the mode changes."""


class FaultProxy:
    """Listens on loopback for one server; use it as a context manager."""

    def __init__(self, target: tuple[str, int], *, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen at once; `port` 0 lets the system choose."""
        self._target = target
        self._changed = threading.Condition()
        self._mode = Mode.PASS
        self._delay_s = 0.0
        self._swallow = 0
        self._needle = b""
        self._closed = False
        self._links: set[_Link] = set()
        self.swallowed = 0
        """Replies to COMMIT that were lost so far."""
        self._listener = socket.create_server((host, port), backlog=128)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, name=f"proxy {self.port}", daemon=True).start()

    def __enter__(self) -> Self:
        """Use it for one test."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every connection."""
        self.close()

    @property
    def mode(self) -> Mode:
        """What happens now."""
        return self._mode

    def set(self, mode: Mode, *, delay_s: float = 0.0) -> None:
        """Change what happens, to connections that stand as well."""
        with self._changed:
            self._mode, self._delay_s = mode, delay_s
            links = list(self._links) if mode is Mode.CUT else []
            self._changed.notify_all()
        for link in links:
            link.close()

    def swallow_commits(self, count: int, needle: bytes = b"") -> None:
        """Lose the replies to the next COMMITs, and with each its connection.

        Only of transactions whose statements or values have contained `needle`.
        """
        with self._changed:
            self._swallow, self._needle = count, needle

    def close(self) -> None:
        """Stop listening and cut everything."""
        self._closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.set(Mode.CUT)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._mode is Mode.CUT:
                _reset(client)
                continue
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target, timeout=5)
        except OSError:
            _reset(client)
            return
        server.settimeout(None)
        link = _Link(client, server)
        with self._changed:
            self._links.add(link)
        back = threading.Thread(target=self._pump, args=(link, server, client), daemon=True)
        back.start()
        self._pump(link, client, server)
        back.join()
        with self._changed:
            self._links.discard(link)

    def _pump(self, link: "_Link", source: socket.socket, to: socket.socket) -> None:
        from_client = source is link.client
        try:
            while chunk := source.recv(_CHUNK):
                if from_client:
                    self._watch(link, chunk)
                elif link.reply_is_lost:  # the server has answered, so it has committed
                    self.swallowed += 1
                    break
                self._hold(from_client=from_client)
                to.sendall(chunk)
        except OSError:
            pass
        finally:
            link.close()

    def _watch(self, link: "_Link", chunk: bytes) -> None:
        link.seen = (link.seen + chunk)[-_CHUNK:]
        if COMMIT not in chunk:
            return
        with self._changed:
            if self._swallow and self._needle in link.seen:
                self._swallow -= 1
                link.reply_is_lost = True
        link.seen = b""

    def _hold(self, *, from_client: bool) -> None:
        with self._changed:
            if self._mode is Mode.DELAY:
                self._changed.wait_for(lambda: self._mode is not Mode.DELAY, self._delay_s)
            held = {Mode.HOLE} if from_client else {Mode.HOLE, Mode.MUTE}
            while self._mode in held:
                self._changed.wait(_LOOK_S)


class _Link:
    """Both ends of one connection."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.seen = b""
        self.reply_is_lost = False

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _reset(client: socket.socket) -> None:
    """Close with RST, as a host that has nothing there does."""
    with suppress(OSError):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    client.close()
