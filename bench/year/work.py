"""What an overlord does over a fleet's database: passes, publishes, answers to people."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.result import Spread, spread
from bench.year.bounded import opening_of
from bench.year.chronicle import LATE, RECORDS, TOPIC_ID, PastRange, token_of
from bench.year.load import live_task
from bench.year.plane import Plane
from bench.year.rows import COLUMNS, INCARNATION, chunk_of, counters_of
from bench.year.shape import PERIOD
from supervisor.adapters.clock import SystemClock
from supervisor.control.end_task import TaskEnder
from supervisor.control.observe import observe
from supervisor.control.publish import Publisher
from supervisor.core.planning.actions import FixEnd
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.plan import plan
from supervisor.core.queue.events import QueueConfig
from tasks.contract.messages import OffsetSpan, PublishOutcome, PublishRequest, SegmentFile

SUPERVISORS = "/druid/indexer/v1/supervisor"
OURS = "/api/v1/supervisors"


def pass_once(plane: Plane, name: str) -> float:
    """Look at a supervisor at rest and decide; return milliseconds."""
    began = time.perf_counter()
    seen = observe(name, plane.sources, SystemClock().now())
    assert isinstance(seen, Observed)
    decided = plan(seen)
    took = (time.perf_counter() - began) * 1000
    assert not decided.actions, f"{name} is not at rest: {decided.actions}"
    return took


def paths(name: str, compacted: bool) -> dict[str, str]:
    """Return what people ask for -> its path, as far as it reads rows of history."""
    return {
        "supervisors": f"{SUPERVISORS}?full=true",
        "list of supervisors": OURS,
        "status": f"{SUPERVISORS}/{name}/status",
        "explain": f"{OURS}/{name}/explain",
        "spec history": f"{SUPERVISORS}/{name}/history",
        "parse errors": f"{SUPERVISORS}/{name}/parseErrors",
        "ranges": f"{OURS}/{name}/generations?limit=100",
        "plans": f"{OURS}/{name}/plans",
        "lag": f"{OURS}/{name}/lag",
        "tasks of a table": f"/druid/indexer/v1/tasks?datasource={name}",
        "ended tasks": "/druid/indexer/v1/completeTasks?n=100",
        "workers": "/druid/indexer/v1/workers",
        "audit": "/api/v1/audit?limit=100",
        "audit of a supervisor": f"/api/v1/audit?limit=100&supervisor={name}",
        "audit of a rare action": "/api/v1/audit?limit=100&action=suspend",
        "events of a supervisor": f"/api/v1/events?limit=100&supervisor={name}",
        "operations": f"/api/v1/operations?limit=100&supervisor={name}",
        "compactions": "/api/v1/compactions?limit=100",
        "tables": "/api/v1/datasources",
        "queues": "/api/v1/queues",
        "segments": f"/api/v1/datasources/{name}/segments?limit=100",
        "files of a table" + (", compacted" if compacted else ""): (
            f"/api/v1/datasources/{name}/files"
        ),
        "ledger": f"{OURS}/{name}/ledger",
    }


def ask(planes: Sequence[Plane], times: int) -> dict[str, tuple[Spread, ...]]:
    """Ask each path of each overlord by turns; return question -> milliseconds by overlord."""
    name = planes[0].chronicle.names[0]
    questions = paths(name, compacted=planes[0].chronicle.shape.is_compacted(0))
    return {
        question: tuple(spread(each) for each in zip(*_in_turns(planes, path, times), strict=True))
        for question, path in questions.items()
    }


def _in_turns(planes: Sequence[Plane], path: str, times: int) -> Iterator[tuple[float, ...]]:
    for number in range(times + 1):
        took = tuple(_timed(plane, path) for plane in planes)
        if number:  # the first answer compiles statements
            yield took


def _timed(plane: Plane, path: str) -> float:
    began = time.perf_counter()
    asyncio.run(plane.call("GET", path))
    return (time.perf_counter() - began) * 1000


@dataclass
class Publishing:
    """Publishes the live ranges of a fleet, one after the other; their successors are opened."""

    plane: Plane
    _published: int = 0
    _endings: TaskEnder = field(default_factory=lambda: TaskEnder(QueueConfig()))

    def __post_init__(self) -> None:
        plane = self.plane
        self._publisher = Publisher(
            plane.store,
            SystemClock(),
            plane.leadership,
            plane.loop,
            self._endings,
        )

    def publish(self) -> float:
        """Publish the next live range; return the milliseconds of its request."""
        shape, chronicle = self.plane.chronicle.shape, self.plane.chronicle
        groups = shape.supervisors * shape.groups
        place, number = self._published % groups, shape.ranges + self._published // groups
        self._published += 1
        supervisor, group = divmod(place, shape.groups)
        live = chronicle.range(supervisor, group, number)
        self._end(live)
        request = _request(live, chronicle.names[supervisor], shape.files)
        winner = live.task_ids[0]
        began = time.perf_counter()
        answer = self._publisher.publish(winner, token_of(winner), request)
        took = (time.perf_counter() - began) * 1000
        assert answer.outcome is PublishOutcome.COMMITTED, answer
        return took

    def _end(self, live: PastRange) -> None:
        """Fix the end of a live range and open the next one with its tasks, as passes do."""
        plane, chronicle = self.plane, self.plane.chronicle
        name, following = chronicle.names[live.supervisor], live.number + 1
        successor = opening_of(chronicle, live.supervisor, live.group, following)
        with plane.store.leading(plane.leadership.term()) as tx:
            row = tx.generations.get(live.id)
            assert row is not None
            now = SystemClock().now()
            assert tx.generations.begin_handoff(
                live.id, row.sequence, must_end=False, why="the benchmark", now=now
            )
            fix = FixEnd(live.id, row.sequence + 1, live.end, successor, "the benchmark")
            assert tx.generations.fix_end(fix, now)
            assert tx.generations.open(name, name, successor, now)
            for replica in range(chronicle.shape.replicas):
                place = (live.supervisor, live.group, replica)
                assert tx.tasks.start(live_task(chronicle, place, following, now))


def _request(live: PastRange, name: str, files: int) -> PublishRequest:
    return PublishRequest(
        task_id=live.task_ids[0],
        incarnation=INCARNATION,
        start=dict(live.start),
        end=dict(live.end),
        topic_ids={name: TOPIC_ID},
        segments=tuple(_segment(live, name, file, files) for file in range(files)),
        columns=COLUMNS,
        counters=counters_of(len(live.start)),
        digest="1:0123456789abcdef",
    )


def _segment(live: PastRange, name: str, file: int, files: int) -> SegmentFile:
    begin, end = (0, RECORDS) if files == 1 else ((0, LATE), (LATE, RECORDS))[file]
    chunk = chunk_of(live, file, files)
    rows = (end - begin) * len(live.start)
    return SegmentFile(
        path=f"{name}/data/{live.task_ids[0]}/m{INCARNATION}/segment-{file:05d}.parquet",
        interval_start=chunk,
        interval_end=chunk + PERIOD,
        rows=rows,
        size_bytes=32 * rows,
        sha256="0" * 64,
        time_min=chunk,
        time_max=chunk,
        spans=tuple(
            OffsetSpan(
                topic=name,
                partition=p.partition,
                first=at + begin,
                last=at + end - 1,
                rows=end - begin,
            )
            for p, at in live.start.items()
        ),
    )
