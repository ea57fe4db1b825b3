"""Proofs of credentials: a few passwords at a time, and few that wait.

A flood of wrong passwords takes neither the routes' threads nor the process's memory.  The header
of a request and the body of a login take the same way.
"""

from functools import partial

import anyio
import anyio.to_thread
from starlette.requests import Request

from supervisor.api.http.access import printable_route
from supervisor.core.values.errors import TooManyRequests
from supervisor.core.values.permissions import Caller
from supervisor.services.access.authentication import Authentication, Credentials

LOOKS_AT_ONCE = 4
PROOFS_AT_ONCE = 2
PROOFS_WAITING_MAX = 16


class Proofs:
    """The bounds of one application."""

    def __init__(self) -> None:
        self._looks = anyio.CapacityLimiter(LOOKS_AT_ONCE)
        self._proofs = anyio.CapacityLimiter(PROOFS_AT_ONCE)
        self._waiting = 0

    async def caller(
        self, authentication: Authentication, credentials: Credentials, address: str
    ) -> Caller:
        """Return the caller that credentials prove.

        Raises:
            Unauthenticated: they are wrong.
            TooManyRequests: they, or too many others, have been tried.
        """
        known = partial(authentication.known, credentials, address)
        caller = await anyio.to_thread.run_sync(known, limiter=self._looks)
        if caller is not None:
            return caller
        if self._waiting >= PROOFS_WAITING_MAX:
            raise TooManyRequests("too many passwords are being checked: try again", 1)
        self._waiting += 1
        try:
            prove = partial(authentication.prove, credentials, address)
            return await anyio.to_thread.run_sync(prove, limiter=self._proofs)
        finally:
            self._waiting -= 1

    async def of_session(self, authentication: Authentication, secret: str, address: str) -> Caller:
        """Return the caller that the secret of a session proves; raises as `caller` does."""
        look = partial(authentication.by_session, secret, address)
        return await anyio.to_thread.run_sync(look, limiter=self._looks)


def address_of(request: Request) -> str:
    """Return the address that a request came from; empty: it is not known."""
    return request.client.host if request.client else ""


def note_refusal(
    request: Request, authentication: Authentication, claimed: str | None, refused: Exception
) -> None:
    """Record a denied try; `claimed` is the name that was typed."""
    what = f"{request.method} {printable_route(request)}"
    authentication.note(claimed, address_of(request), what, str(refused))
