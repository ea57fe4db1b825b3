"""What routes are given: the parts of this process, the author, the body."""

import ssl
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Header, Request

from supervisor.chores.compaction import Compacting
from supervisor.chores.compaction_commit import Swapping
from supervisor.control.metrics import OverlordMeters
from supervisor.control.publish import Publisher
from supervisor.control.wakeups import Wakeups
from supervisor.core.values.errors import NotAllowed
from supervisor.core.values.json_bodies import parse_document
from supervisor.core.values.permissions import Actor, Caller
from supervisor.eventqueue.operations import Operations
from supervisor.services.access.authentication import Authentication
from supervisor.services.access.idempotency import Idempotency
from supervisor.services.administration import Administration
from supervisor.services.history.history import History
from supervisor.services.lifetimes import Lifetimes
from supervisor.services.queries import Views
from supervisor.services.supervisors.backfill import Backfills
from supervisor.services.supervisors.dry_run import Looking
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.specs import Service
from supervisor.services.tables.quarantine import Quarantine

AUTHOR_SHOWN_MAX = 200
WORKERS_HEADER = "X-Tidegate-Token"
"""Of a worker's calls, beside a task's token in Authorization."""


@dataclass(frozen=True)
class ApiParts:
    """What the routes call; wired in app/overlord.py."""

    service: Service
    publishing: Publisher
    views: Views
    queues: Operations
    lifetimes: Lifetimes
    handoffs: HandoffRequests
    administration: Administration
    resets: Resets
    backfills: Backfills
    quarantine: Quarantine
    compacting: Compacting
    swapping: Swapping
    looking: Looking
    chronicle: History
    keys: Idempotency
    changed: Wakeups
    version: str
    """Of this Tidegate."""
    authentication: Authentication | None = None
    """None: nobody is asked who it is."""
    tls: ssl.SSLContext | bool = True
    """Whom a follower trusts to be the leader; True: the system's authorities."""
    meters: OverlordMeters = field(default_factory=OverlordMeters)
    hosts: tuple[str, ...] = ()
    """Names, or `name:port`, beside loopback's under which clients reach this overlord."""


def _parts(request: Request) -> ApiParts:
    return cast("ApiParts", request.app.state.parts)


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _author(
    caller: Annotated[Caller, Depends(_caller)],
    x_druid_author: Annotated[
        str, Header(description="Who asks; a comment in the audit log, proves nothing.")
    ] = "",
) -> str:
    shown = "".join(c for c in x_druid_author if c.isprintable())[:AUTHOR_SHOWN_MAX]
    return (shown or "anonymous") if caller.is_anyone else Actor.of(caller, shown)


async def _document(request: Request) -> dict[str, object]:
    """Read the body by our own strict reader: FastAPI's takes NaN and repeated keys."""
    return parse_document(await request.body())


def _token(authorization: Annotated[str, Header(description="`Bearer` and a token.")] = "") -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAllowed("send the task's token: Authorization: Bearer <token>")
    return token.strip()


Parts = Annotated[ApiParts, Depends(_parts)]
Asking = Annotated[Caller, Depends(_caller)]
Author = Annotated[str, Depends(_author)]
Document = Annotated[dict[str, object], Depends(_document)]
Token = Annotated[str, Depends(_token)]
