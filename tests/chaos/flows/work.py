"""The flows of the run, and the server that they call: it notes each request by its key."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue

from tests.supervisor.adapters.executions.sink import Sent, Sink, a_sink

__all__ = ["FLOW", "HOLDERS_MAX", "Called", "called_server", "flows_of"]

FLOW = "work"
HOLDERS_MAX = 15
"""Executions at once, by the flow's gate."""


@dataclass
class Called:
    """What the flows have called."""

    sink: Sink
    keyed: Counter[str] = field(default_factory=Counter)
    """Key of an effect -> requests, of steps that are tried again after a loss."""
    once: Counter[str] = field(default_factory=Counter)
    """The same of steps that are not."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def count(self) -> int:
        """How many requests came."""
        with self._lock:
            return self.keyed.total() + self.once.total()

    def take(self, sent: Sent) -> tuple[int, dict[str, str], bytes]:
        """Note a request, and answer it."""
        key = sent.headers["Idempotency-Key"]
        with self._lock:
            (self.once if sent.path.startswith("/once") else self.keyed)[key] += 1
        return 200, {"Content-Type": "application/json"}, b'{"ok": true}'


@contextmanager
def called_server() -> Iterator[Called]:
    """Run the server."""
    with a_sink() as sink:
        called = Called(sink)
        sink.answer = called.take
        yield called


def flows_of(called: Called) -> list[dict[str, JsonValue]]:
    """Return the flows; the first one is started by the others' steps."""
    keyed: dict[str, JsonValue] = {
        "name": "post",
        "type": "http",
        "method": "POST",
        "url": called.sink.url("/keyed"),
        "idempotent": True,
        "retry": {"attempts": 20, "backoff": "PT1S", "max": "PT5S"},
    }
    once: dict[str, JsonValue] = {
        "name": "once",
        "type": "http",
        "method": "POST",
        "url": called.sink.url("/once"),
        "onLost": "fail",
        "onError": "continue",
        "after": ["each"],
    }
    child: dict[str, JsonValue] = {
        "flow": "child",
        "steps": [{"name": "first", "type": "noop"}, {**keyed, "after": ["first"]}],
    }
    each: dict[str, JsonValue] = {
        "name": "each",
        "type": "forEach",
        "items": [1, 2, 3],
        "concurrency": 2,
        "steps": [keyed],
    }
    work: dict[str, JsonValue] = {
        "flow": FLOW,
        "concurrency": {"limit": HOLDERS_MAX, "whenFull": "queue"},
        "steps": [
            {"name": "begin", "type": "noop"},
            {**each, "after": ["begin"]},
            once,
            {"name": "sub", "type": "subflow", "flow": "child", "after": ["each"]},
            {"name": "nap", "type": "sleep", "duration": "PT1S", "after": ["once"]},
            {"name": "last", "type": "noop", "after": ["sub", "nap"]},
        ],
    }
    return [child, work]
