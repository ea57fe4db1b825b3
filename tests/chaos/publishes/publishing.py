"""Ranges that are published by the product's own transaction, in the term of whoever leads.

It is the transaction that a task's request begins: authority, judgement, compare-and-swap of the
offsets, segments, and the announcement to triggers.  Nobody reads Kafka, and no file is there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol, cast

from supervisor.adapters.clock import SystemClock
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.publish import Publisher
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from supervisor.core.queue.events import QueueConfig
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.core.values.ids import generation_id
from supervisor.metadata.store import SqlStore
from tasks.contract.messages import (
    Counters,
    OffsetSpan,
    PublishOutcome,
    PublishRequest,
    SegmentFile,
)
from tasks.contract.offsets import Offsets, TopicPartition

__all__ = ["TABLE", "CurrentTerm", "PublishingTable"]

TABLE = "clicks"
_TOPIC_ID, _TOKEN = "id-1", "chaos"
_ROWS = 10
_PLACE = TopicPartition(TABLE, 0)
_HOUR = datetime(2026, 1, 5, 12, tzinfo=UTC)
_DONE = {PublishOutcome.COMMITTED, PublishOutcome.ALREADY_PUBLISHED}


class CurrentTerm(Protocol):
    """Whose term a publish is made in."""

    def term(self) -> int:
        """Return it, or raise LeaseLost."""
        ...


@dataclass(frozen=True)
class _WhoeverLeads:
    """The term that the database has: that of the process that leads, or led last."""

    store: SqlStore

    def term(self) -> int:
        """Return it."""
        with self.store.reading() as tx:
            lease = tx.lease.read()
        if lease is None:
            raise LeaseLost("nobody has led yet")
        return lease.term


@dataclass
class PublishingTable:
    """Publishes range after range of one table; for one thread.

    A range that was begun is published before the next one begins, as a task does it: the next one
    would wait for it for ever.
    """

    store: SqlStore
    repeats: int = 0
    """Requests that were not answered with success, and came again."""
    leads: CurrentTerm | None = None
    """None: whoever leads by the database."""
    _number: int = 0
    _begun: tuple[Task, Offsets] | None = None
    """The range that is under way, and its start."""
    _clock: SystemClock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        """Read nothing, and wake nobody: the overlords have their own loops."""
        self._leads = _WhoeverLeads(self.store) if self.leads is None else self.leads
        loop = Loop(lambda _: None, self._clock, threads=1)  # never started
        leadership = cast("Leadership", self._leads)
        endings = TaskEnder(QueueConfig())
        self._publisher = Publisher(self.store, self._clock, leadership, loop, endings)

    def publish(self) -> bool:
        """Try to publish the range under way, or one more; False: it has to be tried again."""
        try:
            if self._begun is None:
                self._number += 1
                self._begun = self._prepared()
            task, start = self._begun
            answer = self._publisher.publish(task.id, _TOKEN, _request(task, start))
        except SupervisorError:
            return False  # nobody leads; maybe it is published all the same: the database knows
        if answer.outcome not in _DONE:
            return False
        self._begun = None
        return True

    def _prepared(self) -> tuple[Task, Offsets]:
        """Bring the next range to its publish, as an overlord and a worker do."""
        number, now = self._number, self._clock.now()
        with self.store.leading(self._leads.term()) as tx:
            committed = tx.offsets.of(TABLE)
            if not committed:
                assert tx.offsets.initialise(TABLE, _TOPIC_ID, {_PLACE: 0})
            start = {_PLACE: committed[_PLACE].next_offset if committed else 0}
            opened = _opened(number, start)
            tx.generations.open(TABLE, TABLE, opened, now)
            task = _task(opened.generation_id, number, now)
            tx.tasks.start(task)
            tx.generations.begin_handoff(
                opened.generation_id, 0, must_end=False, why="chaos", now=now
            )
            end = FixEnd(opened.generation_id, 1, _end_of(start), None, "chaos")
            assert tx.generations.fix_end(end, now)
        return task, start


def _opened(number: int, start: Offsets) -> OpenGeneration:
    return OpenGeneration(
        generation_id(TABLE, number),
        ordinal=number,
        layout_version=1,
        task_count=1,
        partition_count=1,
        group=0,
        spec_version=1,
        start=start,
        why="chaos",
    )


def _task(generation: str, number: int, now: datetime) -> Task:
    return Task(
        id=f"task-{number}",
        supervisor_id=TABLE,
        data_source=TABLE,
        generation_id=generation,
        replica=0,
        attempt=0,
        worker_id="w1",
        incarnation=1,
        token=_TOKEN,
        status=TaskStatus.RUNNING,
        created_at=now,
    )


def _end_of(start: Offsets) -> Offsets:
    return {place: offset + _ROWS for place, offset in start.items()}


def _request(task: Task, start: Offsets) -> PublishRequest:
    return PublishRequest(
        task_id=task.id,
        incarnation=1,
        start=dict(start),
        end=dict(_end_of(start)),
        topic_ids={TABLE: _TOPIC_ID},
        segments=tuple(_segments(task, start)),
        counters=Counters(processed=_ROWS),
    )


def _segments(task: Task, start: Offsets) -> Iterator[SegmentFile]:
    for place, first in start.items():
        span = OffsetSpan(
            topic=place.topic,
            partition=place.partition,
            first=first,
            last=first + _ROWS - 1,
            rows=_ROWS,
        )
        yield SegmentFile(
            path=f"{TABLE}/data/{task.id}/part-0.parquet",
            interval_start=_HOUR,
            interval_end=_HOUR + timedelta(hours=1),
            rows=_ROWS,
            size_bytes=1_000,
            sha256="0" * 64,
            time_min=_HOUR,
            time_max=_HOUR,
            spans=(span,),
        )
