"""The HTTP client of persisters' dead letters."""

import json
import ssl
from http import HTTPStatus

import httpx

from supervisor.ports.reports.letter_desks import DeskRefuses, DeskSilent, LetterCall

__all__ = ["HttpLetterDesks"]

_PATIENCE = httpx.Timeout(15.0, connect=2.0)
"""A replay is a store of one record: the persister's own waits for its store are shorter."""
_BYTES_MAX = 4 * 1024 * 1024
"""A page has 1,000 letters of 200 characters of text at most, with their reasons."""
_DETAIL_MAX = 1_000


class HttpLetterDesks:
    """Implements `ports.reports.letter_desks.LetterDesks`."""

    def __init__(self, token: str | None, trust: ssl.SSLContext | bool = True) -> None:
        """Open no connection yet.

        `token`: the token of persisters; `trust`: the value of httpx's parameter `verify`.
        """
        self._http = httpx.Client(
            timeout=_PATIENCE,
            trust_env=False,
            verify=trust,
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            limits=httpx.Limits(max_connections=4, max_keepalive_connections=0),
        )

    def call(self, url: str, call: LetterCall) -> bytes:
        """Return a persister's answer; see the port."""
        address = f"{url}/dead-letters{call.path}"
        try:
            with self._http.stream(call.method, address, params=dict(call.params)) as answer:
                size, pieces = 0, []
                for piece in answer.iter_bytes():
                    size += len(piece)
                    if size > _BYTES_MAX:
                        raise DeskSilent("its answer is too large to be one of a persister")
                    pieces.append(piece)
        except (httpx.HTTPError, OSError) as error:
            raise DeskSilent(str(error) or type(error).__name__) from error
        body = b"".join(pieces)
        if answer.status_code != HTTPStatus.OK:
            raise DeskRefuses(answer.status_code, _detail(body) or f"it answered {answer}")
        return body


def _detail(body: bytes) -> str:
    """Return what a problem says; empty: it is none."""
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    detail = document.get("detail") if isinstance(document, dict) else None
    return detail[:_DETAIL_MAX] if isinstance(detail, str) else ""
