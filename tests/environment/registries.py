"""A schema registry for tests: an HTTP server that speaks the API of Confluent's.

Source: Confluent's documentation, "Schema Registry API Reference", `/schemas/ids/{int: id}`,
with `format`, and `/subjects/(string: subject)/versions/(versionId: version)`.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote


@dataclass
class FakeRegistry:
    """What it answers may be changed between two questions."""

    port: int = 0
    answers: dict[str, object] = field(default_factory=dict)
    """Path -> the body of a 200."""
    fault: tuple[int, bytes] | None = None
    """Status and body of every answer, while it is set."""
    location: str = ""
    requested: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    """Of the last question."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def register(self, number: int, schema: object, **more: object) -> None:
        self.answers[f"/schemas/ids/{number}"] = {"schema": json.dumps(schema)} | more

    def register_file(self, number: int, file: bytes, *imports: tuple[str, bytes]) -> None:
        """Register a file of Protobuf: as bytes where these are asked for, else as a source."""
        references = [{"name": name, "subject": name, "version": 1} for name, _ in imports]
        own = f"/schemas/ids/{number}"
        held = {own: file} | {f"/subjects/{quote(n, safe='')}/versions/1": f for n, f in imports}
        for path, content in held.items():
            more: dict[str, object] = {"schemaType": "PROTOBUF"}
            if path == own and references:
                more["references"] = references
            self.answers[path] = more | {"schema": 'syntax = "proto3"; message Source {}'}
            text = base64.b64encode(content).decode()
            self.answers[f"{path}?format=serialized"] = more | {"schema": text}

    def register_source(self, number: int, source: str, *imports: tuple[str, str]) -> None:
        """Register a source of Protobuf in a registry that has nothing else to tell of it.

        Source: the answers of Apicurio Registry 2.6.13, by its API of Confluent's.
        """
        kind = {"schemaType": "PROTOBUF"}
        references = [{"name": name, "subject": name, "version": 1} for name, _ in imports]
        own = kind | {"schema": source, "references": references}
        self.answers[f"/schemas/ids/{number}?format=serialized"] = own
        for name, text in imports:
            path = f"/subjects/{quote(name, safe='')}/versions/1?format=serialized"
            self.answers[path] = kind | {"schema": text}

    def answer(self, path: str) -> tuple[int, bytes]:
        if self.fault is not None:
            return self.fault
        if path in self.answers:
            return 200, json.dumps(self.answers[path]).encode()
        return 404, b'{"error_code":40403,"message":"Schema not found"}'


@contextmanager
def fake_registry() -> Iterator[FakeRegistry]:
    """Run a registry on a port of its own."""
    held = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.requested.append(self.path)
            held.headers = dict(self.headers)
            status, body = held.answer(self.path)
            self.send_response(status)
            if held.location:
                self.send_header("Location", held.location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- its name there
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        held.port = server.server_port
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield held
        finally:
            server.shutdown()
            thread.join()
