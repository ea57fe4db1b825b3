"""A browser with the console's page in it, as far as an overlord can see."""

from dataclasses import dataclass

import httpx

from supervisor.api.http.console import HEADER
from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import CALM, Guarded, grants_of
from tests.supervisor.api.world import URL, World

PASSWORD = "correct horse battery"
ALICE = {"name": "alice", "password": PASSWORD}
LOGIN, CURRENT, ME = "/api/v1/sessions", "/api/v1/sessions/current", "/api/v1/me"
CONSOLE = {HEADER: "1"}
COOKIE = "tidegate-session"


@dataclass(frozen=True)
class Browser:
    """Sends what the console's page in a browser sends, with one cookie or none."""

    world: World
    secret: str | None = None
    origin: str | None = URL
    console: bool = True

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """Send a request; `headers` win over the page's."""
        given = CONSOLE if self.console else {}
        if self.secret is not None:
            given = given | {"Cookie": f"{COOKIE}={self.secret}"}
        if self.origin is not None and method != "GET":  # browsers name it of changes alone
            given = given | {"Origin": self.origin}
        self.world.client.cookies.clear()
        answer: httpx.Response = self.world.client.request(
            method, path, json=body, headers=given | headers
        )
        self.world.client.cookies.clear()
        return answer

    def login(self, body: object) -> "Browser":
        """Return the browser with the cookie of a new session."""
        answer = self.ask("POST", LOGIN, body)
        assert answer.status_code == 200, answer.text
        return Browser(self.world, answer.cookies[COOKIE])


def add_alice(guarded: Guarded) -> None:
    """Add an administrator with a password."""
    guarded.principals.add_user("alice", PASSWORD, grants_of(Role.ADMIN, "*"), "test")
    guarded.world.clock.advance(CALM)


def alices(guarded: Guarded) -> Browser:
    """A browser in which alice has logged in."""
    return Browser(guarded.world).login(ALICE)


def status(answer: httpx.Response) -> tuple[int, str]:
    """The status, and which problem it is."""
    slug = answer.json().get("type", "") if answer.status_code >= 400 else ""
    return answer.status_code, slug.removeprefix("/problems/")
