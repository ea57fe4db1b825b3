"""Answers that all routes of a persister share: problems, and who may call."""

import hmac
from collections.abc import Callable
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import JSONResponse

__all__ = ["Guard", "guard", "problem"]

Guard = Callable[[Request], Response | None]
"""Returns an answer for a caller without the token; None: the caller may."""


def guard(*tokens: str | None) -> Guard:
    """Return the guard of tokens, of which one is enough.

    All None: the process listens on loopback, and all may.
    """
    wanted = [each for each in tokens if each is not None]

    def refused(request: Request) -> Response | None:
        given = request.headers.get("authorization", "").encode()
        if not wanted or any(
            hmac.compare_digest(given, f"Bearer {each}".encode()) for each in wanted
        ):
            return None
        return problem(
            HTTPStatus.UNAUTHORIZED,
            "send the persister's TIDEGATE_TOKEN as a bearer token; for records its "
            "TIDEGATE_REPORTS_KEY is enough",
        )

    return refused


def problem(status: HTTPStatus, detail: str, retry_s: int | None = None) -> Response:
    """Return a problem; `retry_s`: the seconds after which the same call may do."""
    headers = {} if retry_s is None else {"Retry-After": str(retry_s)}
    body = {"title": status.phrase, "status": status.value, "detail": detail}
    return JSONResponse(body, status, headers, media_type="application/problem+json")
