"""A persister's door as a small server that answers as a test says."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Self

Answer = tuple[int, dict[str, str], bytes]


def outcomes(body: bytes, outcome: str = "stored") -> Answer:
    """Return the answer of a door that has stored each line."""
    each = [outcome for _ in body.split(b"\n")]
    return 200, {}, json.dumps({"outcomes": each}).encode()


def refusal(status: int, detail: str, retry_after: str = "") -> Answer:
    """Return the answer of a door that takes nothing."""
    headers = {"Retry-After": retry_after} if retry_after else {}
    return status, headers, json.dumps({"detail": detail}).encode()


@dataclass
class Doorway:
    """It takes bodies, and answers each by `answer`; the block's end ends it."""

    answer: Callable[[bytes], Answer] = outcomes
    drips: bool = False
    """Whether an answer never ends."""
    bodies: list[bytes] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)
    ended: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                site.bodies.append(body)
                site.keys.append(self.headers["Authorization"])
                site.connections.add(self.client_address)
                status, headers, content = site.answer(body)
                self.send_response(status)
                length = len(content) + (1_000_000 if site.drips else 0)
                for name, value in {**headers, "Content-Length": str(length)}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
                while site.drips and not site.ended.wait(0.02):
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        return

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Its base address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"
