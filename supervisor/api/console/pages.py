"""Middleware that serves the console below /ui: files of the build, or its page.

    GET /            with Accept: text/html ─► 302 /ui/; else it is a path of the API
    GET /ui          ─► 302 /ui/
    GET /ui/assets/* a file of the build, for good; 404 if there is none of that name
    GET /ui/*        a file of the build; else the page, whatever the path: the app reads it
    no build         a page without scripts that says what to do (503)

It comes before `Authenticate`: neither files nor page hold data of an overlord, and the login is
part of them.  The host's name and the listener are checked before.  Leader and followers serve the
same.  The page's policy names a nonce, which no other answer has: the style sheets that libraries
add at run time carry it.
"""

import secrets
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from supervisor.api.console.build import FOLDER, PAGE, Build, Builds, BuiltFile
from supervisor.api.console.missing import page_without_build
from supervisor.api.http.conditional import takes_gzip
from supervisor.api.http.problems import Problem, answer

ROOT = "/ui"
BUILD_HEADER = "X-Tidegate-Console-Build"
"""The header with the build's name: a page that is older than its overlord asks to be reloaded."""
NONCE, BUILD = "__NONCE__", "__BUILD__"
_ASSETS = "assets/"
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_NONCE_BYTES = 16
_READS = ("GET", "HEAD")
_ROUTE = SimpleNamespace(path_format=f"{ROOT}/{{path}}")
"""What the metrics name: paths of the console are made by its users."""
_NOT_FOUND = Problem(404, "no-such-route", HTTPStatus.NOT_FOUND.phrase)
_NOT_ALLOWED = Problem(405, "method-not-allowed", HTTPStatus.METHOD_NOT_ALLOWED.phrase)


def policy(nonce: str) -> str:
    """Return the Content-Security-Policy of a page whose style sheets carry `nonce`."""
    return (
        "default-src 'none'; script-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class ConsolePages:
    """Answers requests for the console; passes all others on."""

    def __init__(self, app: ASGIApp, folder: Path = FOLDER) -> None:
        """`folder` has the build, or gets it later."""
        self._app = app
        self._builds = Builds(folder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _is_for_the_console(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        scope["route"] = _ROUTE
        response = await self._answer(request, scope["path"])
        if request.method == "HEAD":
            response = Response(None, response.status_code, dict(response.headers))
        await response(scope, receive, send)

    async def _answer(self, request: Request, path: str) -> Response:
        if request.method not in _READS:
            detail, headers = f"{request.method} {path}: Method Not Allowed", {"Allow": "GET, HEAD"}
            return answer(_NOT_ALLOWED, detail, path, headers=headers)
        if path in {"/", ROOT}:
            return RedirectResponse(f"{ROOT}/", HTTPStatus.FOUND)
        name = path.removeprefix(f"{ROOT}/")
        build = await run_in_threadpool(self._builds.now)
        file = build.files.get(name) if build is not None and name != PAGE else None
        if file is not None:
            return _file(request, file, _FOR_GOOD if name.startswith(_ASSETS) else _ASK_AGAIN)
        # An unknown asset is one of another build, never an address of the app.
        if name.startswith(_ASSETS) or ".." in name.split("/"):
            return answer(_NOT_FOUND, f"{request.method} {path}: Not Found", path)
        return _page(build)


def _is_for_the_console(scope: Scope) -> bool:
    path: str = scope["path"]
    if path == "/":
        is_read = scope["method"] in _READS
        return is_read and "text/html" in Request(scope).headers.get("accept", "")
    return path == ROOT or path.startswith(f"{ROOT}/")


def _page(build: Build | None) -> Response:
    nonce = secrets.token_urlsafe(_NONCE_BYTES)
    headers = {"Content-Security-Policy": policy(nonce), "Cache-Control": _ASK_AGAIN}
    if build is None:
        status, text = HTTPStatus.SERVICE_UNAVAILABLE, page_without_build(nonce)
    else:
        headers[BUILD_HEADER] = build.name
        status, text = HTTPStatus.OK, build.page.replace(NONCE, nonce).replace(BUILD, build.name)
    return Response(text, status, headers, "text/html; charset=utf-8")


def _file(request: Request, file: BuiltFile, kept: str) -> Response:
    headers = {"Cache-Control": kept, "ETag": file.tag}
    content = file.content
    if file.compressed is not None:
        headers |= {"ETag": f"W/{file.tag}", "Vary": "Accept-Encoding"}
        if takes_gzip(request):
            content = file.compressed
            headers["Content-Encoding"] = "gzip"
    known = request.headers.get("if-none-match", "")
    if file.tag in {tag.strip().removeprefix("W/") for tag in known.split(",")}:
        headers.pop("Content-Encoding", None)
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return Response(content, HTTPStatus.OK, headers, file.media_type)
