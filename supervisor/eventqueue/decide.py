"""Pure decisions of the queue consumer: from rows to a batch, from answers to a settlement.

rows ─► next_batch ─┬─ Damage        the queue is DEAD, nothing of it is handled
                    ├─ Idle          nothing is due before `until`
       ├─ Ahead         the first events wait by a clock ahead of ours: they wait anew
                    ├─ Undecodable   the first event; set aside after some looks
                    └─ Batch ─► handler ─► settle ─► position, again at the tail, set aside
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import assert_never

from supervisor.core.queue.events import (
    Damage,
    QueueConfig,
    QueuedEvent,
    QueueRow,
    StoredEvent,
    damage_of,
    decode,
)
from supervisor.core.values.clock_skew import is_ahead
from supervisor.core.values.errors import UndecodableEvent
from supervisor.eventqueue.handling import EventDone, Fail, Handling, Later, Retry


@dataclass(frozen=True)
class Idle:
    """Nothing is due before `until`; None: the queue is empty."""

    until: datetime | None


@dataclass(frozen=True)
class Ahead:
    """Events whose wait began by another overlord's clock, ahead of ours; our clock counts now."""

    stored: tuple[StoredEvent, ...]
    events: tuple[QueuedEvent, ...]


@dataclass(frozen=True)
class Undecodable:
    """The first event is sound, but this release cannot decode it."""

    stored: StoredEvent
    why: str


@dataclass(frozen=True)
class Batch:
    """Events that are handled together, in order."""

    stored: tuple[StoredEvent, ...]
    events: tuple[QueuedEvent, ...]


Look = Damage | Idle | Ahead | Undecodable | Batch


def next_batch(
    row: QueueRow, read: Sequence[StoredEvent], config: QueueConfig, now: datetime
) -> Look:
    """Return what to do with the rows behind the position of a LIVE queue.

    `read` begins right behind `row.processed_seq` and has the rows of a whole batch, or all rows.
    """
    if (damage := damage_of(row, read)) is not None:
        return damage
    if not read:
        return Idle(None)
    first = _wait_of(read[0], now)
    if first is _Wait.LASTS:
        return Idle(read[0].due_at)
    taken: list[StoredEvent] = []
    events: list[QueuedEvent] = []
    size_bytes = 0
    for stored in read[: config.max_items_at_once]:
        size_bytes += stored.size_bytes
        too_large = taken and size_bytes > config.read_window_bytes
        if too_large or _wait_of(stored, now) is not first:
            break
        try:
            event = decode(stored.payload)
        except UndecodableEvent as error:
            if not taken:
                return Undecodable(stored, str(error))
            break  # handle the events before it first: then it is the head
        taken.append(stored)
        events.append(event)
    found = Ahead if first is _Wait.AHEAD else Batch
    return found(tuple(taken), tuple(events))


class _Wait(Enum):
    """The state of an event's wait."""

    OVER = auto()
    LASTS = auto()
    AHEAD = auto()


def _wait_of(stored: StoredEvent, now: datetime) -> _Wait:
    wait = stored.due_at - stored.enqueued_at
    if stored.due_at <= now or wait <= timedelta(0):
        return _Wait.OVER
    return _Wait.AHEAD if is_ahead(stored.enqueued_at, wait, now) else _Wait.LASTS


def looked_at(enqueued_at: datetime, due_at: datetime, now: datetime) -> datetime:
    """Return when to look at a queue whose first event has these times of adding and due."""
    return now if is_ahead(enqueued_at, due_at - enqueued_at, now) else due_at


@dataclass(frozen=True)
class SetAside:
    """An event on its way to the failed queue."""

    stored: StoredEvent
    attempts: int
    reason: str


@dataclass(frozen=True)
class Settlement:
    """The changes that follow from a handled batch, all written in one transaction."""

    processed_seq: int
    processed_bytes: int
    again: tuple[QueuedEvent, ...] = ()
    set_aside: tuple[SetAside, ...] = ()


class WrongAnswers(Exception):
    """A bug: the number of a handler's answers differs from the number of its events."""


def settle(
    row: QueueRow, batch: Batch, answers: Sequence[Handling], config: QueueConfig
) -> Settlement:
    """Return the changes that follow from the answers to a batch.

    Raises:
        WrongAnswers: the number of answers differs from the number of events.
    """
    if len(answers) != len(batch.events):
        raise WrongAnswers(f"{len(answers)} answers for {len(batch.events)} events")
    again: list[QueuedEvent] = []
    given_up: list[SetAside] = []
    for stored, event, answer in zip(batch.stored, batch.events, answers, strict=True):
        match answer:
            case EventDone():
                pass
            case Later(body):
                again.append(replace(event, body=body))
            case Retry(reason) if event.attempts + 1 >= config.max_attempts:
                tries = event.attempts + 1
                given_up.append(SetAside(stored, tries, f"{reason} (tried {tries} times)"))
            case Retry():
                again.append(replace(event, attempts=event.attempts + 1))
            case Fail(reason):
                given_up.append(SetAside(stored, event.attempts + 1, reason))
            case _:
                assert_never(answer)
    return Settlement(*passed(row, batch.stored), again=tuple(again), set_aside=tuple(given_up))


def passed(row: QueueRow, stored: Sequence[StoredEvent]) -> tuple[int, int]:
    """Return the position behind these events: the last number, and all bytes up to it."""
    return stored[-1].seq, row.processed_bytes + sum(each.size_bytes for each in stored)


def backoff(failures: int, config: QueueConfig) -> timedelta:
    """Return the exponential backoff after so many failures in a row, up to the cap."""
    doubled = config.iteration_delay * (1 << min(max(failures - 1, 0), 30))
    return min(doubled, config.backoff_cap)
