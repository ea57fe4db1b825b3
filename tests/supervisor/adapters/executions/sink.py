"""A real HTTP server with a ledger of what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Sent", "Sink", "a_sink"]


@dataclass(frozen=True)
class Sent:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Sink:
    """What was sent, in order, and how it is answered."""

    port: int = 0
    ledger: list[Sent] = field(default_factory=list)
    answer: Callable[[Sent], tuple[int, dict[str, str], bytes]] = lambda _: (
        200,
        {"Content-Type": "application/json"},
        json.dumps({"rows": 3}).encode(),
    )

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Return a URL of it."""
        return f"http://{host}:{self.port}{path}"


@contextmanager
def a_sink() -> Iterator[Sink]:
    """Run one on a free port of this machine."""
    sink = Sink()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            sent = Sent(self.command, self.path, dict(self.headers), self.rfile.read(size))
            sink.ledger.append(sent)
            status, headers, body = sink.answer(sent)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 -- names of the library

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sink.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="sink")
    thread.start()
    try:
        yield sink
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
