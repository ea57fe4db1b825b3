"""Routes of the seam: calls of workers to the overlord."""

import asyncio
from typing import Annotated

import structlog
from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts, Token
from supervisor.api.http.sync_route import SyncRoute
from supervisor.core.values.errors import FieldError, InvalidRequest
from supervisor.core.values.permissions import Permission
from supervisor.services.services import Services
from tasks.contract.messages import (
    KNOWN_TERM_HEADER,
    CompactedFile,
    PublishAnswer,
    PublishRequest,
    SyncRequest,
    SyncResponse,
    TaskReport,
    Unchanged,
)
from tasks.contract.report_doors import DOORS_HEADER, doors_to_header
from tasks.contract.worker_facts import FACTS_HEADER, WorkerFacts, read_facts
from tasks.runtime.secrets import without_secrets

router = APIRouter(prefix="/internal/v1", tags=["workers"])
reports = APIRouter(prefix="/internal/v1", tags=["workers"], route_class=SyncRoute)

WAIT_S_MAX = 20.0


@reports.post(
    "/workers/{worker}/sync",
    dependencies=[needs(Permission.WORK)],
    response_model=SyncResponse | Unchanged,
)
async def sync(
    worker: str,
    body: SyncRequest,
    request: Request,
    parts: Parts,
    *,
    known_term: Annotated[
        str, Header(alias=KNOWN_TERM_HEADER, description="The term of the answer `known`.")
    ] = "",
    facts: Annotated[
        str, Header(alias=FACTS_HEADER, description="What the worker says of its process, as JSON.")
    ] = "",
) -> Response:
    """Take a worker's report; answer what it should run, at once if that is news to it."""
    if worker != body.worker_id:
        raise InvalidRequest([FieldError("/workerId", f"is {body.worker_id}, the path {worker}")])
    structlog.contextvars.bind_contextvars(worker=worker)
    parts.last_reports.keep(await request.body(), body)
    answer = await _awaited(body, request, parts, read_facts(facts))
    message: SyncResponse | Unchanged = answer
    if answer.revision == body.known and known_term == str(answer.term):
        message = Unchanged(unchanged=True, term=answer.term, revision=answer.revision)
    doors = doors_to_header(parts.report_doors)
    headers = {DOORS_HEADER: doors} if doors else None
    return Response(message.to_json(), media_type="application/json", headers=headers)


async def _awaited(
    body: SyncRequest, request: Request, parts: Services, facts: WorkerFacts | None
) -> SyncResponse:
    """Return an answer that is news to the worker, or the one at the end of its wait."""
    clock = asyncio.get_running_loop().time
    until = clock() + min(body.wait.total_seconds(), WAIT_S_MAX)
    # First: a change between the look and the wait would be missed.
    woken = parts.changed.subscribe(body.worker_id)
    try:
        answer = await run_in_threadpool(_synced, parts, body, facts)
        while answer.revision == body.known and clock() < until and not parts.changed.closed:
            try:
                async with asyncio.timeout_at(until):
                    await woken.wait()
            except TimeoutError:
                return answer
            if await request.is_disconnected():
                return answer
            woken.clear()
            answer = await run_in_threadpool(_looked_at_again, parts, body)
        return answer
    finally:
        parts.changed.unsubscribe(woken)


def _synced(parts: Services, report: SyncRequest, facts: WorkerFacts | None) -> SyncResponse:
    body = _masked(report)
    parts.swapping.heard(body)
    answer = parts.service.sync(body)
    if facts is not None:
        parts.workers.describe(body, _without_known_secrets(facts))
    return parts.sampling.listed(answer, body.worker_id)


def _looked_at_again(parts: Services, body: SyncRequest) -> SyncResponse:
    return parts.sampling.listed(parts.service.look_again(body), body.worker_id)


def _with_masked_texts(report: TaskReport) -> TaskReport:
    texts = {"detail": report.detail, "suspect": report.suspect}
    masked = {name: without_secrets(text) for name, text in texts.items() if text}
    return report.model_copy(update=masked) if masked else report


def _without_known_secrets(facts: WorkerFacts) -> WorkerFacts:
    if facts.spark_master is None:
        return facts
    return facts.model_copy(update={"spark_master": without_secrets(facts.spark_master)})


def _masked(body: SyncRequest) -> SyncRequest:
    """Return a report with known secrets masked: its worker may be of any version."""
    tasks = tuple(_with_masked_texts(each) for each in body.tasks)
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
