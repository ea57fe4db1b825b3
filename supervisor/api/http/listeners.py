"""The listeners of an overlord: which of its ports serves which paths (S18).

    TIDEGATE_INTERNAL_PORT     TIDEGATE_PORT                    the internal port
    ───────────────────────    ─────────────────────────────    ─────────────────────────────
    not set                    every path                       there is none
    set                        every path but the workers'      the workers' paths alone

Each listener has its own connections, event loop and threads, so that callers who fill the public
port keep no sync and no publish away.
"""

from enum import StrEnum

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from supervisor.api.http.edge import INTERNAL_PATH
from supervisor.api.http.problems import Problem, answer

MISDIRECTED = Problem(421, "wrong-port", "This port does not serve this path")


class Listener(StrEnum):
    """One port of an overlord, named after its callers."""

    EVERYBODY = "everybody"
    PEOPLE = "people"
    WORKERS = "workers"


_REFUSALS = {
    Listener.PEOPLE: "workers have a port of their own here, that of TIDEGATE_INTERNAL_PORT: name "
    "it in the TIDEGATE_OVERLORDS of workers",
    Listener.WORKERS: "this is the port of TIDEGATE_INTERNAL_PORT, which serves workers alone: "
    "ask the port of TIDEGATE_PORT",
}


class ServedPaths:
    """Lets the requests through that a listener serves, and refuses the others.

    It comes before `Authenticate`, because the answer depends on the operator's settings alone.
    """

    def __init__(self, app: ASGIApp, listener: Listener) -> None:
        """Wrap the application."""
        self._app = app
        self._listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "http" and self._refuses(scope["path"]):
            text = _REFUSALS[self._listener]
            response = answer(MISDIRECTED, text, Request(scope).url.path)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refuses(self, path: str) -> bool:
        if self._listener is Listener.EVERYBODY:
            return False
        return path.startswith(INTERNAL_PATH) is not (self._listener is Listener.WORKERS)
