"""Routes of executions on Kafka as a whole: partitions, and what could not be worked in."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Author, Parts
from supervisor.core.values.permissions import Permission
from supervisor.services.flows.executor import DeadInputPick
from supervisor.views.flows.executor import (
    DeadInputPage,
    DeadInputView,
    ExecutionPartitionsView,
    ProjectedView,
)

router = APIRouter(
    prefix="/api/v1/executor",
    tags=["flows"],
    responses={
        404: {"description": "Executions run in the database, or there is no such dead letter"},
        503: {"description": "Kafka or the database of executions does not answer"},
    },
)

_NUMBER_MAX = 2**63 - 1
Offset = Annotated[int, Path(ge=0, le=_NUMBER_MAX)]
Sha256 = Annotated[
    str | None,
    Query(
        description="Of the letter that was shown: refuse with 409 if another one is there now.",
        pattern="^[0-9a-f]{64}$",
    ),
]


@router.get("", dependencies=[needs(Permission.READ)])
def get_executor(parts: Parts) -> ExecutionPartitionsView:
    """Return who runs executions, and on Kafka each partition: its owner, and how far it is."""
    return parts.executor.look()


@router.post("/project", dependencies=[needs(Permission.REPAIR)])
def project_executions(author: Author, parts: Parts) -> ProjectedView:
    """Delete the tables of executions on Kafka; projectors read them again from the topics."""
    return parts.executor.project(author)


@router.get("/dead", dependencies=[needs(Permission.READ)])
def list_dead_inputs(
    parts: Parts,
    *,
    handled: Annotated[bool, Query(description="Also those that were handled.")] = False,
    limit: Annotated[int, Query(ge=1, le=1_000, description="At most so many.")] = 100,
    before: Annotated[
        int | None, Query(ge=0, le=_NUMBER_MAX, description="The `next` of the page before.")
    ] = None,
) -> DeadInputPage:
    """List inputs of executions that could not be worked in, newest first."""
    return parts.executor.page(limit, before, handled=handled)


@router.get("/dead/{offset}", dependencies=[needs(Permission.READ)])
def get_dead_input(offset: Offset, parts: Parts) -> DeadInputView:
    """Return an input that could not be worked in: why, and its text."""
    return parts.executor.get(DeadInputPick(offset))


@router.post(
    "/dead/{offset}/replay",
    dependencies=[needs(Permission.REPLAY)],
    responses={409: {"description": "Another letter is there now, or it cannot be sent"}},
)
def replay_dead_input(
    offset: Offset, author: Author, parts: Parts, *, sha256: Sha256 = None
) -> DeadInputView:
    """Send an input to its execution once more; one that is known there changes nothing."""
    return parts.executor.replay(DeadInputPick(offset, sha256), author)


@router.delete(
    "/dead/{offset}",
    dependencies=[needs(Permission.REPAIR)],
    responses={409: {"description": "Another letter is there now"}},
)
def drop_dead_input(
    offset: Offset, author: Author, parts: Parts, *, sha256: Sha256 = None
) -> DeadInputView:
    """Drop an input: it is listed no more, and stays where it is until its age deletes it."""
    return parts.executor.drop(DeadInputPick(offset, sha256), author)
