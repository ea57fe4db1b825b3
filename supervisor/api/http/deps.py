"""Dependencies of routes: the services of this process, the author, the body."""

from typing import Annotated, cast

from fastapi import Depends, Header, Query, Request

from supervisor.core.values.errors import NotAllowed
from supervisor.core.values.json_bodies import parse_document
from supervisor.core.values.permissions import Actor, Caller
from supervisor.core.values.reasons import PATTERN, REASON_MAX, checked_reason
from supervisor.services.services import Services

AUTHOR_SHOWN_MAX = 200
WORKERS_HEADER = "X-Tidegate-Token"
"""The header with a worker's own token, beside a task's token in Authorization."""


def _parts(request: Request) -> Services:
    return cast("Services", request.app.state.parts)


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _author(
    caller: Annotated[Caller, Depends(_caller)],
    x_druid_author: Annotated[
        str, Header(description="Who asks; a comment in the audit log, proves nothing.")
    ] = "",
    reason: Annotated[
        str | None,
        Query(
            max_length=REASON_MAX,
            description="Why, in one line for people; kept with the change wherever it is listed.",
            json_schema_extra={"pattern": PATTERN},
        ),
    ] = None,
) -> Actor:
    shown = "".join(c for c in x_druid_author if c.isprintable())[:AUTHOR_SHOWN_MAX]
    why = checked_reason(reason)
    if caller.is_anyone:
        return Actor.named(shown or "anonymous", why)
    return Actor.of(caller, shown, why)


async def _document(request: Request) -> dict[str, object]:
    """Read the body by our own strict reader: FastAPI's takes NaN and repeated keys."""
    return parse_document(await request.body())


def _token(authorization: Annotated[str, Header(description="`Bearer` and a token.")] = "") -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAllowed("send the task's token: Authorization: Bearer <token>")
    return token.strip()


Parts = Annotated[Services, Depends(_parts)]
Asking = Annotated[Caller, Depends(_caller)]
Author = Annotated[Actor, Depends(_author)]
Document = Annotated[dict[str, object], Depends(_document)]
Token = Annotated[str, Depends(_token)]
