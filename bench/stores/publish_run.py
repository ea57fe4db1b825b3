"""Publish transactions on a real database: authority, judgement, compare-and-swap, segments."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench.control_run import open_store
from bench.result import Spread, spread
from supervisor.adapters.clock import SystemClock
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.publish import Publisher
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from supervisor.core.queue.events import QueueConfig
from supervisor.core.values.ids import generation_id
from supervisor.metadata.store import SqlStore
from tasks.contract.messages import (
    Counters,
    OffsetSpan,
    PublishOutcome,
    PublishRequest,
    SegmentFile,
)
from tasks.contract.offsets import TopicPartition

_TABLE, _TOPIC, _TOPIC_ID, _TOKEN = "clicks", "clicks", "id-1", "bench"
_PARTITIONS = 4
_SEGMENTS = 2
_ROWS = 1_000
_NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_WARM_UP = 20


def measure_publishes(url: str, times: int) -> Spread:
    """Publish range after range of one table; return the milliseconds of each."""
    with open_store(url) as (store, leadership):
        history = History(store, leadership)
        endings = TaskEnder(QueueConfig())
        took = [history.publish(number, endings) for number in range(_WARM_UP + times)]
    return spread(took[_WARM_UP:])


@dataclass
class History:
    """Publishes range after range of one table."""

    store: SqlStore
    leadership: Leadership

    def __post_init__(self) -> None:
        self._clock = SystemClock()
        self._loop = Loop(lambda _: None, self._clock, threads=1)  # never started: nothing wakes
        with self.store.leading(self.leadership.term()) as tx:
            assert tx.offsets.initialise(_TABLE, _TOPIC_ID, _at(0))

    def publish(self, number: int, endings: TaskEnder) -> float:
        """Bring one generation to PUBLISHING, then time its task's request: milliseconds."""
        publishing = Publisher(self.store, self._clock, self.leadership, self._loop, endings)
        task = self._prepared(number)
        request = _request(task, number)
        began = time.perf_counter()
        answer = publishing.publish(task.id, _TOKEN, request)
        took = (time.perf_counter() - began) * 1000
        assert answer.outcome is PublishOutcome.COMMITTED, answer
        return took

    def _prepared(self, number: int) -> Task:
        opening = OpenGeneration(
            generation_id(_TABLE, number),
            ordinal=number,
            layout_version=1,
            task_count=1,
            partition_count=_PARTITIONS,
            group=0,
            spec_version=1,
            start=_at(number),
            why="the benchmark",
        )
        task = Task(
            id=f"task-{number}",
            supervisor_id=_TABLE,
            data_source=_TABLE,
            generation_id=opening.generation_id,
            replica=0,
            attempt=0,
            worker_id="w1",
            incarnation=1,
            token=_TOKEN,
            status=TaskStatus.RUNNING,
            created_at=_NOON,
        )
        with self.store.leading(self.leadership.term()) as tx:
            tx.generations.open(_TABLE, _TABLE, opening, _NOON)
            tx.tasks.start(task)
            tx.generations.begin_handoff(
                opening.generation_id, 0, must_end=False, why="the benchmark", now=_NOON
            )
            end = FixEnd(opening.generation_id, 1, _at(number + 1), None, "the benchmark")
            assert tx.generations.fix_end(end, _NOON)
        return task


def _at(number: int) -> dict[TopicPartition, int]:
    return {TopicPartition(_TOPIC, p): number * _ROWS for p in range(_PARTITIONS)}


def _request(task: Task, number: int) -> PublishRequest:
    return PublishRequest(
        task_id=task.id,
        incarnation=1,
        start=_at(number),
        end=_at(number + 1),
        topic_ids={_TOPIC: _TOPIC_ID},
        segments=tuple(_segments(task, number)),
        counters=Counters(processed=_ROWS * _PARTITIONS),
    )


def _segments(task: Task, number: int) -> Iterator[SegmentFile]:
    each = _ROWS // _SEGMENTS
    for part in range(_SEGMENTS):
        first = number * _ROWS + part * each
        spans = tuple(
            OffsetSpan(topic=_TOPIC, partition=p, first=first, last=first + each - 1, rows=each)
            for p in range(_PARTITIONS)
        )
        yield SegmentFile(
            path=f"{_TABLE}/data/{task.id}/part-{part}.parquet",
            interval_start=_NOON,
            interval_end=_NOON + timedelta(hours=1),
            rows=each * _PARTITIONS,
            size_bytes=100_000,
            sha256="0" * 64,
            time_min=_NOON,
            time_max=_NOON,
            spans=spans,
        )
