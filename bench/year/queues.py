"""Event queues as a year leaves them: what waits, and handled rows that are not deleted yet."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from bench.year.chronicle import Chronicle
from bench.year.rows import Rows
from bench.year.shape import COMPACTED_AFTER, GRACE
from supervisor.chores.segments import SEGMENTS, UNUSED
from supervisor.control.end_task import KIND, TASK_OUTPUT
from supervisor.core.queue.events import (
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueMode,
    checksum,
    container_of,
    encode,
)
from supervisor.metadata.schema.queue_events import event_positions, event_queues, events

_MINUTE = timedelta(minutes=1)
_LOOKS = 4
"""Events of the cleanup of one folder: two looks that delete, two that find it empty."""
_Added = tuple[QueuedEvent, datetime]


def queue_rows(chronicle: Chronicle) -> Rows:
    """Yield the queues of each supervisor: ended tasks, and files that compactions replaced."""
    shape, config = chronicle.shape, QueueConfig()
    queue_id = 0
    for supervisor, name in enumerate(chronicle.names):
        if not shape.ranges:
            return
        queue_id += 1
        total = _LOOKS * shape.ranges * shape.groups * shape.replicas
        behind = _last_looks(chronicle, supervisor, config.truncate_every_bytes // 2)
        yield from _queue(queue_id, (name, TASK_OUTPUT), total, behind, waiting=0)
        if shape.is_compacted(supervisor):
            waits = list(_replaced(chronicle, supervisor))
            ever = 2 * shape.groups * max(0, shape.ranges - COMPACTED_AFTER + 1)
            queue_id += 1
            yield from _queue(queue_id, (name, SEGMENTS), ever, waits, waiting=len(waits))


def _last_looks(chronicle: Chronicle, supervisor: int, size_max: int) -> list[_Added]:
    """Return the newest handled events of ended tasks, whose rows are not deleted yet."""
    shape = chronicle.shape
    newest: list[_Added] = []
    size = 0
    for number in reversed(range(shape.ranges)):
        for group in reversed(range(shape.groups)):
            past = chronicle.range(supervisor, group, number)
            for task in past.task_ids:
                for look in reversed(range(_LOOKS)):
                    event = QueuedEvent(KIND, task, {"look": "second"} if look == 3 else {})
                    newest.append((event, past.ended_at + look * _MINUTE))
                    size += len(encode(event))
                    if size > size_max:
                        return newest[::-1]
    return newest[::-1]


def _replaced(chronicle: Chronicle, supervisor: int) -> Iterator[_Added]:
    """Yield an event for each file that was replaced within the grace time, oldest first."""
    for chunk in range(chronicle.shape.ranges):
        past = chronicle.compaction(supervisor, chunk)
        if past is not None and past.at + GRACE > chronicle.now:
            for each, file in past.inputs:
                body: dict[str, str | int | float | bool | None] = {"unusedAt": past.at.isoformat()}
                yield QueuedEvent(UNUSED, each.segment_ids[file], body), past.at


def _queue(
    queue_id: int, name: tuple[str, str], total: int, kept: Sequence[_Added], *, waiting: int
) -> Rows:
    """Yield a queue of `total` events; rows of the newest, `kept`, of which some still wait."""
    payloads = [encode(event) for event, _ in kept]
    sizes = [len(payload) for payload in payloads]
    mean = sum(sizes) // len(sizes) if sizes else 0
    gone = total - len(kept)
    sizes_of: Callable[[int], int] = lambda count: mean * gone + sum(sizes[:count])  # noqa: E731
    handled = len(kept) - waiting
    yield (
        event_queues,
        {
            "id": queue_id,
            "container": container_of(name[0]),
            "name": name[1],
            "mode": QueueMode.CONSUMER,
            "next_seq": total + 1,
            "enqueued_bytes": sizes_of(len(kept)),
            "segment_no": 1 + sizes_of(len(kept)) // QueueConfig().segment_rollover_bytes,
            "segment_bytes": sizes_of(len(kept)) % QueueConfig().segment_rollover_bytes,
        },
    )
    yield (
        event_positions,
        {
            "queue_id": queue_id,
            "processed_seq": gone + handled,
            "processed_bytes": sizes_of(handled),
            "truncated_seq": gone,
            "truncated_bytes": sizes_of(0),
            "failed_iterations": 0,
            "last_error": "",
            "state": QueueHealth.LIVE,
            "dead_seq": None,
            "dead_why": "",
        },
    )
    yield from _events(queue_id, gone, kept, GRACE if waiting else _MINUTE, sizes_of)


def _events(
    queue_id: int,
    gone: int,
    kept: Sequence[_Added],
    delay: timedelta,
    sizes_of: Callable[[int], int],
) -> Rows:
    """Yield the rows of the newest events, behind `gone` that were deleted."""
    payloads = [encode(event) for event, _ in kept]
    for number, ((event, at), payload) in enumerate(zip(kept, payloads, strict=True), gone + 1):
        yield (
            events,
            {
                "queue_id": queue_id,
                "seq": number,
                "segment_no": 1 + sizes_of(number - gone) // QueueConfig().segment_rollover_bytes,
                "size_bytes": len(payload),
                "checksum": checksum(number, payload),
                "key": event.key,
                "payload": payload,
                "due_at": at + delay,
                "enqueued_at": at,
            },
        )
