"""Routes of event queues: their states, failed events, and the verbs of an operator."""

import base64
import functools
import json
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from supervisor.api.http.access import LISTED, QUEUE, needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.cluster.audit import Cursor
from supervisor.core.queue.events import FailedEvent, QueueName
from supervisor.core.values.permissions import Caller, Permission
from supervisor.eventqueue.meters import Latency
from supervisor.eventqueue.operations import Repaired, ReplayedAll
from supervisor.eventqueue.shown import OldestEvent, QueueView
from supervisor.services.access.ownership import Ownership
from supervisor.services.foresight.looks import bound
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.queues import (
    Dropped,
    FailedPage,
    FailedRow,
    FailedView,
    LatencyView,
    OldestView,
    QueueState,
    RepairedView,
    Replayed,
    ReplayedView,
)

router = APIRouter(prefix="/api/v1/queues", tags=["queues"])

FAILED_MAX = 1_000
_SEQ_MAX = 2**63 - 1

Limit = Annotated[int, Query(ge=1, le=FAILED_MAX, description="At most so many.")]
PageLimit = Annotated[
    int | None, Query(ge=1, le=FAILED_MAX, description="At most so many; without it all.")
]
Unhealthy = Annotated[bool, Query(description="Only queues with a trouble.")]
Seq = Annotated[int, Path(ge=0, le=_SEQ_MAX)]


@router.get("", dependencies=[needs(Permission.READ, LISTED)])
def list_queues(
    parts: Parts,
    asking: Asking,
    response: Response,
    *,
    unhealthy: Unhealthy = False,
    limit: PageLimit = None,
    cursor: Cursor = None,
) -> list[QueueState]:
    """List the event queues and how they stand, by container and name.

    With `limit`, the header Link names the next page (`rel="next"`); it is absent on the last one.
    """
    shown = _shown(parts, asking)
    views, following = parts.queues.page(shown, unhealthy=unhealthy, limit=limit, cursor=cursor)
    if following is not None:
        query = {"limit": limit, "cursor": following} | ({"unhealthy": "true"} if unhealthy else {})
        response.headers["Link"] = f'<{router.prefix}?{urlencode(query)}>; rel="next"'
    return [_state(view) for view in views]


def _shown(parts: Parts, asking: Caller) -> Callable[[QueueName], bool]:
    """Return a filter of queues that the caller may see; each container is looked up once."""
    if asking.reads_all:
        return lambda _: True
    tables = functools.cache(Ownership(parts.store).of_container)

    def shown(queue: QueueName) -> bool:
        owners = tables(queue.container)
        return bool(owners) and all(asking.may_read(table) for table in owners)

    return shown


@router.get("/failed", dependencies=[needs(Permission.READ, LISTED)])
def list_all_failed_events(
    parts: Parts, asking: Asking, limit: Limit = 100, cursor: Cursor = None
) -> FailedPage:
    """List the events of all queues that were set aside, by queue and oldest first."""
    shown = _shown(parts, asking)
    found, following = parts.queues.failed(None, limit, cursor)
    rows = [_row(failed) for failed in found if shown(failed.queue)]
    return FailedPage(failed=rows, next=following)


@router.get("/{container}/{name}", dependencies=[needs(Permission.READ, QUEUE)])
def get_queue(container: str, name: str, parts: Parts) -> QueueState:
    """Return the state of one event queue."""
    return _state(parts.queues.show(QueueName(container, name)))


@router.get("/{container}/{name}/failed", dependencies=[needs(Permission.READ, QUEUE)])
def list_failed_events(
    container: str, name: str, parts: Parts, limit: Limit = 100, cursor: Cursor = None
) -> FailedPage:
    """List the events of a queue that were set aside, oldest first."""
    found, following = parts.queues.failed(QueueName(container, name), limit, cursor)
    return FailedPage(failed=[_row(failed) for failed in found], next=following)


@router.get("/{container}/{name}/failed/{seq:int}", dependencies=[needs(Permission.READ, QUEUE)])
def get_failed_event(container: str, name: str, seq: Seq, parts: Parts) -> FailedView:
    """Return one event that was set aside, with its payload."""
    failed = parts.queues.failed_event(QueueName(container, name), seq)
    document, text = _payload(failed.payload)
    return FailedView(**dict(_row(failed)), payload=document, payload_base64=text)


@router.post(
    "/{container}/{name}/failed/replay",
    response_model=ReplayedView | VerbPreview,
    dependencies=[needs(Permission.REPLAY, QUEUE)],
)
def replay_failed_events(
    container: str,
    name: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> ReplayedView | JSONResponse:
    """Queue the failed events of a queue again, oldest first; what cannot be stays."""
    queue = QueueName(container, name)
    look = parts.looks.replay_all(queue)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        done: ReplayedAll = parts.queues.replay_all(queue, author, bound(expect, look))
    return ReplayedView(replayed=done.replayed, left=done.left)


@router.post(
    "/{container}/{name}/failed/{seq:int}/replay",
    response_model=Replayed | VerbPreview,
    dependencies=[needs(Permission.REPLAY, QUEUE)],
)
def replay_failed_event(
    container: str,
    name: str,
    seq: Seq,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Replayed | JSONResponse:
    """Queue a failed event again, at the tail and with no attempts counted."""
    queue = QueueName(container, name)
    look = parts.looks.replay(queue, seq)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        parts.queues.replay(queue, seq, author, bound(expect, look))
    return Replayed(container=container, name=name, seq=seq)


@router.delete(
    "/{container}/{name}/failed/{seq:int}",
    response_model=Dropped | VerbPreview,
    dependencies=[needs(Permission.REPAIR, QUEUE)],
)
def drop_failed_event(
    container: str,
    name: str,
    seq: Seq,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Dropped | JSONResponse:
    """Delete a failed event: its work is never done."""
    queue = QueueName(container, name)
    look = parts.looks.drop(queue, seq)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        parts.queues.drop(queue, seq, author, bound(expect, look))
    return Dropped(container=container, name=name, seq=seq)


@router.post(
    "/{container}/{name}/repair",
    response_model=RepairedView | VerbPreview,
    dependencies=[needs(Permission.REPAIR, QUEUE)],
)
def repair_queue(
    container: str,
    name: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> RepairedView | JSONResponse:
    """Make a dead queue live again: sound events keep their order, damaged ones are set aside."""
    queue = QueueName(container, name)
    look = parts.looks.repair(queue)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        done: Repaired = parts.queues.repair(queue, author, bound(expect, look))
    return RepairedView(again=done.again, set_aside=done.set_aside, missing=done.missing)


def _state(view: QueueView) -> QueueState:
    row = view.row
    return QueueState(
        container=row.queue.container,
        name=row.queue.name,
        state=row.state,
        mode=row.mode,
        outstanding_events=row.outstanding_events,
        outstanding_bytes=row.outstanding_bytes,
        max_outstanding_bytes=view.max_outstanding_bytes,
        oldest_age=None if view.oldest is None else view.oldest.age,
        oldest=None if view.oldest is None else _oldest(view.oldest),
        latency=None if view.meter.latency is None else _latency(view.meter.latency),
        failed_iterations=row.failed_iterations,
        last_error=row.last_error,
        failed_events=view.failed_events,
        segments=view.segments,
        dead_seq=row.dead_seq,
        dead_why=row.dead_why,
        healthy=view.healthy,
        why=view.why,
    )


def _oldest(oldest: OldestEvent) -> OldestView:
    return OldestView(
        seq=oldest.seq,
        kind=oldest.kind,
        key=oldest.key,
        enqueued_at=oldest.enqueued_at,
        due_at=oldest.due_at,
    )


def _latency(latency: Latency) -> LatencyView:
    return LatencyView(average=latency.average_s, p99=latency.p99_s, count=latency.count)


def _row(failed: FailedEvent) -> FailedRow:
    return FailedRow(
        container=failed.queue.container,
        name=failed.queue.name,
        seq=failed.seq,
        key=failed.key,
        reason=failed.reason,
        attempts=failed.attempts,
        size_bytes=len(failed.payload),
        enqueued_at=failed.enqueued_at,
        failed_at=failed.failed_at,
    )


def _payload(payload: bytes) -> tuple[JsonValue, str | None]:
    """Return a payload as JSON, or as base64 text if it is not JSON."""
    try:
        document: JsonValue = json.loads(payload, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None, base64.b64encode(payload).decode()
    return document, None


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")
