"""A page of another origin, beside the console of somebody who is logged in: it changes nothing.

    127.0.0.1:other   the same site, as a cookie knows no ports: the browser adds the session to it
    localhost:other   another site: the browser adds nothing

Slow: an overlord that asks who calls starts.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Page, expect

from supervisor.dev.ports import LOOPBACK
from tests.browser.test_login import REQUIRED, create_token, log_in
from tests.browser.watch import Watch
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import wait_until

pytestmark = pytest.mark.process

_ID = "guarded"
_SUSPEND = f"{SUPERVISORS}/{_ID}/suspend"
_READABLE = ("/api/v1/me", f"{SUPERVISORS}/{_ID}", "/api/v1/events/stream", "/ui/")
_FETCH = """async ([url, options]) => {
  try {
    const answer = await fetch(url, {credentials: "include", ...options});
    return `${answer.type} ${answer.status} ${await answer.text()}`;
  } catch (error) {
    return error.name;
  }
}"""
_FORM = """([action, enctype]) => {
  const form = document.createElement("form");
  Object.assign(form, {action, enctype, method: "post"});
  form.append(Object.assign(document.createElement("input"), {name: "{", value: "}"}));
  document.body.append(form);
  form.submit();
}"""
_FRAME = """([src]) => new Promise((resolve) => {
  const frame = Object.assign(document.createElement("iframe"), {src, onload: () => {
    let seen;
    try { seen = frame.contentDocument?.body?.innerHTML ?? "nothing"; }
    catch (error) { seen = error.name; }
    resolve(seen);
  }});
  document.body.append(frame);
})"""
_SCRIPT = """([src]) => new Promise((resolve) => {
  const script = document.createElement("script");
  Object.assign(script, {src, onload: () => resolve("ran"), onerror: () => resolve("refused")});
  document.body.append(script);
})"""


@dataclass
class Guarded:
    """An overlord that asks who calls, with one supervisor; and what its owner sees of it."""

    overlord: Overlord
    token: str
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Ask as the owner of the token."""
        self.headers = {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str) -> httpx.Response:
        """Return an answer for the owner."""
        return self.overlord.http.get(path, headers=self.headers).raise_for_status()

    def facts(self) -> tuple[object, ...]:
        """Return all that a foreign page would like to change."""
        return (
            self.get(f"{SUPERVISORS}/{_ID}").json(),
            self.get(f"{SUPERVISORS}/{_ID}/history").json(),
            self.get("/api/v1/operations").json(),
            [entry["action"] for entry in self.get("/api/v1/audit").json()["entries"]],
        )


@pytest.fixture(scope="module")
def guarded(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """One for all tests; no broker answers, so that nothing changes by itself."""
    folder = tmp_path_factory.mktemp("other-origin")
    url = f"sqlite:///{folder / 'metadata.db'}"
    token = create_token(folder, url, "admin", "admin", "*")
    with Overlords(folder, url, more=dict(REQUIRED)) as overlords:
        guarded = Guarded(overlords.start_leader(token, TIDEGATE_TOKEN=""), token)
        guarded.overlord.http.post(
            SUPERVISORS, json=spec(f"{LOOPBACK}:1", _ID), headers=guarded.headers
        ).raise_for_status()
        applied = "/api/v1/operations?supervisor=guarded"
        wait_until(
            lambda: (
                guarded.get(applied).json()["operations"][0]["state"] == "running"
                or guarded.get(applied).json()["operations"][0]["state"] == "done"
            )
        )
        yield guarded


@pytest.fixture(scope="module")
def overlord(guarded: Guarded) -> Overlord:
    """The overlord of these tests."""
    return guarded.overlord


class _Elsewhere(ThreadingHTTPServer):
    """Serves an empty page that may do what it likes, and keeps the cookies that come with it."""

    def __init__(self) -> None:
        """Listen on a port of its own."""
        super().__init__((LOOPBACK, 0), _Empty)
        self.cookies: list[str] = []


class _Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer without any policy."""
        assert isinstance(self.server, _Elsewhere)
        self.server.cookies.append(self.headers.get("Cookie", ""))
        body = b"<!doctype html><title>elsewhere</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the output of the tests free of it."""


@contextmanager
def _serving() -> Iterator[_Elsewhere]:
    server = _Elsewhere()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(params=[LOOPBACK, "localhost"])
def foreign(request: pytest.FixtureRequest, page: Page, watch: Watch) -> Iterator[str]:
    """Log in, and go to another origin, which is yielded; at the end the session is as good."""
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/")
    log_in(page, request.getfixturevalue("guarded").token)
    expect(page.get_by_role("button", name="admin")).to_be_visible()
    host = str(request.param)
    with _serving() as server:
        origin = f"http://{host}:{server.server_port}"
        watch.let_in(origin)
        page.goto(f"{origin}/")
        assert any(server.cookies) is (host == LOOPBACK), "the session goes to all ports of a host"
        yield origin
        page.goto("/ui/")
        expect(page.get_by_role("button", name="admin")).to_be_visible()


def test_it_reads_nothing(page: Page, watch: Watch, overlord: Overlord, foreign: str) -> None:
    """Goal: not by fetch, with or without the console's header, and not as a script."""
    assert foreign
    watch.expect_console("has been blocked by CORS policy")
    for status in (400, 401, 403, 405):  # by the path, and by whether the cookie comes along
        watch.allow_status(status, "/")
    watch.allow_console("net::ERR_FAILED")
    for path in _READABLE:
        url = f"{overlord.url}{path}"
        assert page.evaluate(_FETCH, [url, {}]) == "TypeError"
        headers = {"X-Tidegate-Console": "1"}
        assert page.evaluate(_FETCH, [url, {"headers": headers}]) == "TypeError"
        assert page.evaluate(_FETCH, [url, {"mode": "no-cors"}]) == "opaque 0 "
    script = page.evaluate(_SCRIPT, [f"{overlord.url}/api/v1/me"])
    assert script == "refused"


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_it_changes_nothing_by_fetch(
    page: Page, watch: Watch, guarded: Guarded, foreign: str, method: str
) -> None:
    assert foreign
    watch.expect_console("has been blocked by CORS policy")
    watch.allow_console("net::ERR_FAILED")
    for status in (400, 401, 403, 405):
        watch.allow_status(status, "/")
    before = guarded.facts()
    for path in (_SUSPEND, f"{SUPERVISORS}/{_ID}/terminate", "/api/v1/sessions/current"):
        url = f"{guarded.overlord.url}{path}"
        for headers in ({}, {"X-Tidegate-Console": "1"}, {"Content-Type": "application/json"}):
            asked = {"method": method, "headers": headers, "body": "{}"}
            assert page.evaluate(_FETCH, [url, asked]) == "TypeError"
        if method == "POST":
            plain = {"method": method, "mode": "no-cors", "body": "{}"}
            assert page.evaluate(_FETCH, [url, plain]) == "opaque 0 "
    assert guarded.facts() == before


@pytest.mark.parametrize(
    "enctype", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]
)
@pytest.mark.parametrize("path", [_SUSPEND, "/api/v1/sessions"])
def test_it_changes_nothing_by_a_form(
    *, page: Page, watch: Watch, guarded: Guarded, foreign: str, enctype: str, path: str
) -> None:
    """Goal: no preflight asks before a form, and a browser sends it with what it adds by itself."""
    assert foreign
    watch.expect_status(403, path)
    before = guarded.facts()
    page.evaluate(_FORM, [f"{guarded.overlord.url}{path}", enctype])
    page.wait_for_url(f"{guarded.overlord.url}{path}")

    expect(page.locator("body")).to_contain_text("cross-origin")
    assert guarded.facts() == before


def test_it_shows_nothing_in_a_frame_and_looks_into_no_window(
    page: Page, watch: Watch, overlord: Overlord, foreign: str
) -> None:
    assert foreign
    watch.expect_console("frame-ancestors 'none'")
    for status in (401, 403):
        watch.allow_status(status, "/api/v1/me")
    for path in ("/ui/", "/api/v1/me"):
        page.evaluate(_FRAME, [f"{overlord.url}{path}"])
        assert all(frame.locator("#root").count() == 0 for frame in page.frames[1:])
        assert all("admin" not in frame.content() for frame in page.frames[1:])
    with page.expect_popup() as opened:
        page.evaluate("(url) => { window.other = window.open(url); }", f"{overlord.url}/ui/")
    popup = opened.value
    expect(popup.locator("#root")).not_to_be_empty()
    seen = page.evaluate(
        "() => { try { return window.other.document.body.innerHTML; } "
        "catch (error) { return error.name; } }"
    )
    assert seen in {"SecurityError", "TypeError"}
    popup.close()


def test_the_same_requests_of_the_console_itself_are_done(
    page: Page, watch: Watch, guarded: Guarded
) -> None:
    """Goal: what is refused elsewhere is refused for its origin, and for nothing else."""
    watch.expect_status(401, "/api/v1/me")
    page.goto("/ui/")
    log_in(page, guarded.token)
    expect(page.get_by_role("button", name="admin")).to_be_visible()
    asked = {"method": "POST", "headers": {"X-Tidegate-Console": "1"}}
    url = guarded.overlord.url

    assert "basic 200" in page.evaluate(_FETCH, [f"{url}{_SUSPEND}", asked])

    assert guarded.get(f"{SUPERVISORS}/{_ID}").json()["suspended"] is True
    asked["headers"] = {}
    watch.expect_status(401, _SUSPEND)
    assert "basic 401" in page.evaluate(_FETCH, [f"{url}{_SUSPEND}", asked])
