"""A real HTTP server with prepared answers, in the place of an overlord."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

JSON = "application/json"
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Reply:
    """One prepared answer."""

    body: object
    status: int = 200
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: bytes
    content_type: str | None
    headers: dict[str, str] = field(default_factory=dict)
    """By lower-case name."""

    @property
    def authorization(self) -> str | None:
        """The header by which the command says who it is."""
        return self.headers.get("authorization")


@dataclass
class Overlord:
    """What the server will answer, and what it was asked."""

    url: str
    replies: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    ask: Callable[[Request], Reply] | None = None
    """Whom to ask in place of the prepared answers."""

    def on(self, method: str, path: str, *replies: Reply) -> None:
        """Prepare answers, given in turn; the last one stays."""
        self.replies[method, path] = list(replies)

    def refuse(self, method: str, path: str, status: int, **members: object) -> None:
        """Prepare a problem."""
        problem = {"type": "/problems/refused", "status": status} | members
        self.on(method, path, Reply(problem, status, PROBLEM))

    def reply_to(self, request: Request) -> Reply:
        """Note the request and return its answer."""
        self.requests.append(request)
        if self.ask is not None:
            return self.ask(request)
        prepared = self.replies.get((request.method, request.path))
        if not prepared:
            return Reply(f"nothing at {request.path}", 404, "text/plain")
        return prepared.pop(0) if len(prepared) > 1 else prepared[0]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, kind = unquote(parts.path), self.headers.get("Content-Type")
        assert isinstance(self.server, _Server)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method, path, parse_qs(parts.query), body, kind, headers)
        reply = self.server.overlord.reply_to(request)
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        if reply.content_type == JSON:
            text = json.dumps(reply.body)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 -- its signature
        pass


class _Server(ThreadingHTTPServer):
    overlord: Overlord


@contextmanager
def overlord(tls: Path | None = None) -> Iterator[Overlord]:
    """Run the server on a free port of loopback; `tls`: a certificate of localhost, and its key."""
    server = _Server(("127.0.0.1", 0), _Handler)
    port = server.server_address[1]
    server.overlord = Overlord(f"http://127.0.0.1:{port}")
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.overlord = Overlord(f"https://localhost:{port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.overlord
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
