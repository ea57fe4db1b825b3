"""Attention rules of event queues: dead ones, late ones, and events that were set aside."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.remedies import repair_of, replay_of
from supervisor.core.queue.events import QueueName, QueueRow, WaitingQueue, owner_of
from supervisor.core.values.counts import counted

LATE_AFTER = timedelta(minutes=10)
"""A handler fails after 5 minutes, and the longest wait between two tries is one minute: an event
that is due for so long has failed, or nobody handles its queue."""


@dataclass(frozen=True)
class FailedEvents:
    """The events of a queue that were set aside."""

    count: int
    first_at: datetime
    """When the oldest of them was set aside."""


def waiting_since(queue: WaitingQueue) -> datetime | None:
    """Return since when the first event of a queue could be handled; None: it is not known."""
    if queue.due_at is None or queue.enqueued_at is None:
        return None
    return max(queue.due_at, queue.enqueued_at)


Tables: TypeAlias = Mapping[str, str | None]
"""Supervisor -> its table, of those that the caller may read."""


def table_of(queue: QueueName, tables: Tables) -> str | None:
    """Return the table that the permissions on a queue are for; None: it is of no table."""
    owner = owner_of(queue.container)
    if owner is not None:
        return tables.get(owner)
    return queue.container.partition(":")[2] or None


def dead_queues(
    dead: Iterable[QueueRow], since: Mapping[str, datetime | None], tables: Tables
) -> Iterator[AttentionItem]:
    """Yield the dead queues; `since`: supervisor -> when its state became that of a dead queue."""
    for row in dead:
        yield AttentionItem(
            Severity.BROKEN,
            AttentionKind.QUEUE_DEAD,
            _subject(row.queue),
            f"the event queue {row.queue} is damaged at event {row.dead_seq}: {row.dead_why}; none "
            "of its work is done before it is repaired",
            since.get(owner_of(row.queue.container) or ""),
            (repair_of(row.queue),),
            table_of(row.queue, tables),
        )


def late_queues(
    waiting: Iterable[WaitingQueue], now: datetime, tables: Tables
) -> Iterator[AttentionItem]:
    """Yield the queues whose first event should have been handled long ago."""
    for queue in waiting:
        row, since = queue.row, waiting_since(queue)
        if since is None or now - since <= LATE_AFTER:
            continue
        failed = ""
        if row.failed_iterations:
            times = counted(row.failed_iterations, "time")
            failed = f": its handler failed {times}, the last time because {row.last_error}"
        yield AttentionItem(
            Severity.AT_RISK,
            AttentionKind.QUEUE_LATE,
            _subject(row.queue),
            f"{_events(row.outstanding_events)} of the event queue {row.queue} "
            f"{'waits' if row.outstanding_events == 1 else 'wait'} for too long{failed}",
            since,
            data_source=table_of(row.queue, tables),
        )


def failed_events(
    failed: Mapping[QueueName, FailedEvents], tables: Tables
) -> Iterator[AttentionItem]:
    """Yield the queues of which events were set aside."""
    for queue, events in failed.items():
        yield AttentionItem(
            Severity.AT_RISK,
            AttentionKind.EVENTS_FAILED,
            _subject(queue),
            f"{_events(events.count)} of the event queue {queue} could not be handled: what "
            "they stand for is not done, until somebody replays them",
            events.first_at,
            (replay_of(queue),),
            table_of(queue, tables),
        )


def _events(count: int) -> str:
    return counted(count, "event")


def _subject(queue: QueueName) -> Subject:
    return Subject(SubjectKind.QUEUE, str(queue))
