"""The console's requests: a header of their own, the session's cookie, and the same origin.

    cookie                  counts only beside the header X-Tidegate-Console: 1, which no page of
                            another site can send unless this overlord allows it; it never does
    a change                needs the header Origin, with the name of this overlord
    anything else           may come without Origin, never with that of another site

So a cookie alone is good for nothing, whatever a browser adds by itself (S20).
"""

import httpx
from starlette.requests import Request
from starlette.responses import Response

from supervisor.core.values.errors import FieldError, InvalidRequest, Unauthenticated
from supervisor.core.values.permissions import Caller

HEADER = "X-Tidegate-Console"
_CONSOLE = "1"
COOKIE = "tidegate-session"
COOKIE_OVER_TLS = f"__Host-{COOKIE}"
"""Browsers take a cookie of this name from this very host alone, over TLS, without a domain."""
COOKIES_MAX = 16_384


def is_console(request: Request) -> bool:
    """Whether the console sent a request."""
    return request.headers.get(HEADER) == _CONSOLE


def require_console(value: str) -> None:
    """Return if this is the console's value of the header.

    Raises:
        InvalidRequest: it is another one, or missing.
    """
    if value != _CONSOLE:
        hint = f"send {HEADER}: 1; programs send a token with each request instead"
        raise InvalidRequest([FieldError(f"/header/{HEADER}", "is not 1", hint)])


def session_secret(request: Request) -> str | None:
    """Return the secret of the session's cookie; None: there is none that counts.

    Raises:
        Unauthenticated: there are several, so that one may have been planted.
    """
    if not is_console(request):
        return None
    lines = request.headers.getlist("cookie")
    if sum(map(len, lines)) > COOKIES_MAX:
        raise Unauthenticated("the header Cookie is too long")
    # Where a proxy speaks TLS for an overlord, another overlord may send it the safe name.
    names = {COOKIE_OVER_TLS, _name(request.scope["scheme"])}
    pairs = (pair.strip().partition("=") for line in lines for pair in line.split(";"))
    secrets = [value for name, _, value in pairs if name in names]
    if len(secrets) > 1:
        raise Unauthenticated(f"there are several cookies {COOKIE}: delete them, then log in")
    return secrets[0] if secrets else None


def set_session(request: Request, response: Response, secret: str) -> None:
    """Give the browser a session's secret; it ends with the browser, or when the server says so."""
    scheme = request.scope["scheme"]
    response.set_cookie(
        _name(scheme), secret, path="/", secure=_is_tls(scheme), httponly=True, samesite="strict"
    )


def clear_session(request: Request, response: Response) -> None:
    """Have the browser delete the session's cookie."""
    scheme = request.scope["scheme"]
    response.delete_cookie(
        _name(scheme), path="/", secure=_is_tls(scheme), httponly=True, samesite="strict"
    )


def passed_on(request: Request, leader: str) -> dict[str, str]:
    """Return the headers by which the leader knows the console, and the session of its caller.

    The origin was checked here.  The leader, whose name is another one, gets its own.
    """
    if not is_console(request):
        return {}
    there = httpx.URL(leader)
    origin = f"{there.scheme}://{there.netloc.decode('ascii')}"  # without a default port
    headers, caller = {HEADER: _CONSOLE, "Origin": origin}, request.state.caller
    assert isinstance(caller, Caller)
    if caller.session is None:  # something else proved who calls, or nobody was asked
        return headers
    return headers | {"Cookie": f"{_name(there.scheme)}={session_secret(request)}"}


def _name(scheme: str) -> str:
    return COOKIE_OVER_TLS if _is_tls(scheme) else COOKIE


def _is_tls(scheme: str) -> bool:
    return scheme == "https"
