"""Routes of the seam: calls of workers to the overlord."""

import asyncio

import structlog
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts, Token
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.permissions import Permission
from tasks.contract.messages import (
    CompactedFile,
    PublishAnswer,
    PublishRequest,
    SyncRequest,
    SyncResponse,
)
from tasks.runtime.secrets import without_secrets

router = APIRouter(prefix="/internal/v1", tags=["workers"])

WAIT_S_MAX = 20.0


@router.post("/workers/{worker}/sync", dependencies=[needs(Permission.WORK)])
async def sync(worker: str, body: SyncRequest, request: Request, parts: Parts) -> SyncResponse:
    """Take a worker's report; answer what it should run, at once if that is news to it."""
    if worker != body.worker_id:
        raise InvalidRequest([FieldError("/workerId", f"is {body.worker_id}, the path {worker}")])
    clock = asyncio.get_running_loop().time
    structlog.contextvars.bind_contextvars(worker=worker)
    until = clock() + min(body.wait.total_seconds(), WAIT_S_MAX)
    # First: a change between the look and the wait would be missed.
    woken = parts.changed.subscribe()
    try:
        while True:
            woken.clear()
            answer = await run_in_threadpool(_synced, parts, body)
            if answer.revision != body.known or clock() >= until or parts.changed.closed:
                return answer
            try:
                async with asyncio.timeout_at(until):
                    await woken.wait()
            except TimeoutError:
                return answer
            if await request.is_disconnected():
                return answer  # not recorded again: another look would count as a sign of life
    finally:
        parts.changed.unsubscribe(woken)


def _synced(parts: Parts, report: SyncRequest) -> SyncResponse:
    body = _masked(report)
    parts.swapping.heard(body)
    return parts.sampling.listed(parts.service.sync(body), body.worker_id)


def _masked(body: SyncRequest) -> SyncRequest:
    """Return a report with known secrets masked: its worker may be of any version."""
    tasks = tuple(
        each.model_copy(
            update={
                "detail": without_secrets(each.detail),
                "suspect": without_secrets(each.suspect),
            }
        )
        for each in body.tasks
    )
    rewrites = tuple(
        each.model_copy(update={"detail": without_secrets(each.detail)})
        for each in body.compactions
    )
    ended = without_secrets(body.previous_end)
    changes = {"tasks": tasks, "compactions": rewrites, "previous_end": ended}
    return body.model_copy(update=changes)


@router.post("/compactions/{compaction}/publish", dependencies=[needs(Permission.WORK)])
def publish_compaction(
    compaction: str, body: CompactedFile, token: Token, parts: Parts
) -> PublishAnswer:
    """Put a compacted file in the place of its inputs, if all of them are still used."""
    return parts.swapping.publish(compaction, token, body)


@router.post("/tasks/{task}/publish", dependencies=[needs(Permission.WORK)])
def publish(task: str, body: PublishRequest, token: Token, parts: Parts) -> PublishAnswer:
    """Judge a task's publish request and, if it is its turn, make its files the table's rows."""
    return parts.publishing.publish(task, token, body)
