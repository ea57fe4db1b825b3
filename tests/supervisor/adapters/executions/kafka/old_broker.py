"""A server that speaks as little of Kafka's protocol as a broker of many years ago."""

import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["an_old_broker"]

_METADATA, _API_VERSIONS = 3, 18
_KNOWN = {0: (0, 2), 1: (0, 2), _METADATA: (0, 1), _API_VERSIONS: (0, 0)}
"""Request -> its oldest and newest version: as of Kafka 0.10, without topics that clients make."""
_UNSUPPORTED_VERSION, _UNKNOWN_TOPIC = 35, 3
_HOST = "127.0.0.1"


@contextmanager
def an_old_broker() -> Iterator[str]:
    """Run one that has no topic; yield its address."""
    with socketserver.ThreadingTCPServer((_HOST, 0), _Answers) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="old-broker")
        thread.start()
        try:
            yield f"{_HOST}:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Answers(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Answer one client until it goes."""
        while len(size := self.rfile.read(4)) == 4:
            request = self.rfile.read(*struct.unpack(">i", size))
            api, version, number = struct.unpack(">hhi", request[:8])
            if api == _API_VERSIONS:
                body = _versions(0 if version == 0 else _UNSUPPORTED_VERSION)
            elif api == _METADATA:
                [client] = struct.unpack(">h", request[8:10])
                port = int(self.server.server_address[1])  # type: ignore[index]  # of TCP: a pair
                body = _metadata(request[10 + max(0, client) :], port)
            else:
                return
            answer = struct.pack(">i", number) + body
            self.wfile.write(struct.pack(">i", len(answer)) + answer)


def _versions(error: int) -> bytes:
    known = b"".join(struct.pack(">hhh", api, *some) for api, some in _KNOWN.items())
    return struct.pack(">hi", error, len(_KNOWN)) + known


def _metadata(wanted: bytes, port: int) -> bytes:
    """Return version 1: one broker, and of each topic by name that there is none."""
    broker = struct.pack(">i", 0) + _text(_HOST) + struct.pack(">ih", port, -1)
    [count] = struct.unpack(">i", wanted[:4])
    names, rest = list[bytes](), wanted[4:]
    for _ in range(max(0, count)):
        [size] = struct.unpack(">h", rest[:2])
        names.append(rest[2 : 2 + size])
        rest = rest[2 + size :]
    topics = b"".join(
        struct.pack(">h", _UNKNOWN_TOPIC) + _text(name.decode()) + struct.pack(">bi", 0, 0)
        for name in names
    )
    return struct.pack(">i", 1) + broker + struct.pack(">ii", 0, len(names)) + topics


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
