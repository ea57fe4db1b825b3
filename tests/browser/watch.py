"""What a browser reports while a test runs: whatever is wrong with a page fails the test.

    console errors and warnings · errors that no code caught · reports of the policy (CSP)
    requests to anybody but the overlord · answers of 400 and more

A test declares what it brings about itself, before it does: `watch.expect_status(404, "/api/")`.
What is declared and does not come fails the test as well, unless it is only allowed to come.
"""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, Route, WebError

__all__ = ["Watch"]

_LEVELS = {"error", "warning", "assert"}
_OF_A_STATUS = "Failed to load resource: the server responded with a status of"
"""Chromium's line for an answer of 400 and more, which is judged as an answer."""
_LOCAL = {"data", "blob", "about"}
_REPORTER = "tidegateReport"
_REPORTS = f"""
document.addEventListener("securitypolicyviolation", (event) => {{
  window.{_REPORTER}(`${{event.effectiveDirective}} refused ${{event.blockedURI}} of `
    + `${{event.sourceFile}}:${{event.lineNumber}} ${{event.sample}}`);
}});
"""


@dataclass
class Watch:
    """Listens to all pages of one context; `origin` is the overlord's."""

    context: BrowserContext
    origin: str
    problems: list[str] = field(default_factory=list)
    _guests: set[str] = field(default_factory=set)
    _statuses: list[tuple[int, str]] = field(default_factory=list)
    _allowed: list[tuple[int, str]] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _allowed_texts: list[str] = field(default_factory=list)
    _seen: set[tuple[int, str] | str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin to listen."""
        self.context.on("console", self._console)
        self.context.on("weberror", self._error)
        self.context.on("request", self._request)
        self.context.on("response", self._response)
        self.context.expose_binding(_REPORTER, lambda _, text: self._note("policy", str(text)))
        self.context.add_init_script(_REPORTS)
        self.context.route(self._is_foreign, self._refuse)

    def expect_status(self, status: int, path: str) -> None:
        """Declare that answers of this status will come, from paths that begin with `path`."""
        self._statuses.append((status, path))

    def allow_status(self, status: int, path: str) -> None:
        """Declare that such answers may come or not: it depends on which moment is hit."""
        self._allowed.append((status, path))

    def expect_console(self, text: str) -> None:
        """Declare that lines with this text will come in the browser's console."""
        self._texts.append(text)

    def allow_console(self, text: str) -> None:
        """Declare that such lines may come or not: it depends on which moment is hit."""
        self._allowed_texts.append(text)

    def let_in(self, origin: str) -> None:
        """Declare that pages of another origin take part, which the test serves itself.

        From then on no request is held: Playwright answers each preflight where it holds requests.
        """
        self._guests.add(origin)
        self.context.unroute(self._is_foreign)

    def missing(self) -> list[tuple[int, str] | str]:
        """Return what is declared and has not come yet."""
        expected: list[tuple[int, str] | str] = [*self._statuses, *self._texts]
        return [each for each in expected if each not in self._seen]

    def check(self) -> None:
        """Fail if something was wrong, or did not come; what was noted is forgotten.

        Raises:
            AssertionError: it names each problem.
        """
        problems = [*self.problems, *(f"expected, but not seen: {each}" for each in self.missing())]
        declared = (self._statuses, self._allowed, self._texts, self._allowed_texts, self._guests)
        for noted in (self.problems, *declared, self._seen):
            noted.clear()
        assert not problems, "the browser reports:\n" + "\n".join(problems)

    def _note(self, kind: str, text: str) -> None:
        self.problems.append(f"{kind}: {text}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in _LEVELS or message.text.startswith(_OF_A_STATUS):
            return
        declared = (*self._texts, *self._allowed_texts)
        expected = [text for text in declared if text in message.text]
        self._seen.update(expected)
        if not expected:
            self._note(f"console {message.type}", message.text)

    def _error(self, error: WebError) -> None:
        self._note("uncaught", str(error.error))

    def _is_foreign(self, url: str) -> bool:
        parts = urlsplit(url)
        known = {self.origin, *self._guests}
        return parts.scheme not in _LOCAL and f"{parts.scheme}://{parts.netloc}" not in known

    def _request(self, request: Request) -> None:
        if self._is_foreign(request.url):
            self._note("foreign request", request.url)

    def _refuse(self, route: Route) -> None:
        route.abort("addressunreachable")

    def _response(self, response: Response) -> None:
        if response.status < 400:
            return
        path = urlsplit(response.url).path
        expected = [
            each
            for each in (*self._statuses, *self._allowed)
            if each[0] == response.status and path.startswith(each[1])
        ]
        self._seen.update(expected)
        if not expected:
            self._note("status", f"{response.status} {response.request.method} {path}")
