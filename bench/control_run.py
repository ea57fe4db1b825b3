"""The control plane alone: many supervisors at rest, looked at; and publish transactions.

The metadata database is real.  Kafka is in memory, for a pass never waits for it; workers are
reports in the registry, as their syncs leave them.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench.result import Spread, spread
from supervisor.adapters.clock import SystemClock
from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.observe import Sources, observe
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import Task, TaskStatus, WorkerRow
from supervisor.core.planning.actions import OpenGeneration
from supervisor.core.planning.observed import Observed, PlanLimits
from supervisor.core.planning.plan import plan
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.ids import generation_id
from supervisor.dev.sample import sample_spec
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from supervisor.services.supervisors.queries import SupervisorQueries
from tasks.contract.messages import SyncRequest, TaskPhase, TaskReport
from tasks.contract.offsets import TopicPartition

GROUPS = 4
_TASKS_PER_WORKER = 40
_TTL = timedelta(hours=1)  # nobody renews here
_BATCH = 50


@dataclass(frozen=True)
class Passes:
    """Milliseconds of one look-and-decide and of one status, over every supervisor once."""

    supervisors: int
    pass_ms: Spread
    observe_ms: Spread
    status_ms: Spread


@contextmanager
def open_store(url: str) -> Iterator[tuple[SqlStore, Leadership]]:
    """Migrate and open a database and lead in it."""
    migrate(url)
    store = SqlStore(url, lease_ttl=_TTL)
    leadership = Leadership(
        store, SystemClock(), holder="bench", url="http://localhost:8090", ttl=_TTL
    )
    leadership.step()
    try:
        yield store, leadership
    finally:
        store.close()


def measure_passes(folder: Path, supervisors: int) -> Passes:
    """Fill a SQLite database with supervisors at rest and look at each of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_store(f"sqlite:///{folder}/passes-{supervisors}.db") as (store, leadership):
        crowd = _Crowd(store, leadership)
        crowd.fill(supervisors)
        return crowd.measure()


class _Crowd:
    """Supervisors with GROUPS groups of one replica each, all of them reading."""

    def __init__(self, store: SqlStore, leadership: Leadership) -> None:
        self._store = store
        self._leadership = leadership
        self._clock = SystemClock()
        self._streams = MemoryStreams(self._clock)
        self._registry = WorkerRegistry(
            self._clock, worker_timeout=timedelta(hours=1), led_since=leadership.led_since
        )
        self._sources = Sources(store, self._streams, self._registry, PlanLimits())
        self._loop = Loop(lambda _: None, self._clock, threads=1)
        self._names: list[str] = []
        self._tasks: list[Task] = []

    def fill(self, supervisors: int) -> None:
        """Insert rows as the passes would have, and let every worker report once."""
        self._names = [f"table-{number:04d}" for number in range(supervisors)]
        for first in range(0, supervisors, _BATCH):
            with self._store.leading(self._leadership.term()) as tx:
                for name in self._names[first : first + _BATCH]:
                    self._insert(tx, name)
        workers = -(-len(self._tasks) // _TASKS_PER_WORKER)
        for number in range(workers):
            mine = self._tasks[number * _TASKS_PER_WORKER : (number + 1) * _TASKS_PER_WORKER]
            self._report(mine)

    def _insert(self, tx: Transaction, name: str) -> None:
        now = self._clock.now()
        document = sample_spec("localhost:9092", name, task_count=GROUPS, task_duration="PT1H")
        spec = read_spec(document).spec
        assert isinstance(spec, SupervisorSpec)
        self._streams.create(name, GROUPS)
        tx.specs.append(name, spec, now, "bench")
        start = {TopicPartition(name, group): 0 for group in range(GROUPS)}
        tx.offsets.initialise(name, "id-1", start)
        for group, partition in enumerate(sorted(start)):
            opening = OpenGeneration(
                generation_id(name, group + 1),
                ordinal=group + 1,
                layout_version=1,
                task_count=GROUPS,
                partition_count=GROUPS,
                group=group,
                spec_version=1,
                start={partition: 0},
                why="the benchmark",
            )
            tx.generations.open(name, name, opening, now)
            self._start(tx, opening, name)

    def _start(self, tx: Transaction, opening: OpenGeneration, name: str) -> None:
        number = len(self._tasks)
        task = Task(
            id=f"task-{name}-{opening.group}",
            supervisor_id=name,
            data_source=name,
            generation_id=opening.generation_id,
            replica=0,
            attempt=0,
            worker_id=f"w{number // _TASKS_PER_WORKER}",
            incarnation=1,
            token="bench",  # noqa: S106 -- opens nothing
            status=TaskStatus.RUNNING,
            created_at=self._clock.now(),
        )
        assert tx.tasks.start(task)
        self._tasks.append(task)

    def _report(self, tasks: list[Task]) -> None:
        worker, url = tasks[0].worker_id, "http://localhost:8091"
        self._registry.registered(WorkerRow(worker, 1, url, _TASKS_PER_WORKER, self._clock.now()))
        reports = tuple(
            TaskReport(
                task_id=task.id,
                phase=TaskPhase.READING,
                order_term=1,
                order_sequence=0,
                position={TopicPartition(task.supervisor_id, int(task.id[-1])): 0},
            )
            for task in tasks
        )
        self._registry.record(
            SyncRequest(
                worker_id=worker,
                incarnation=1,
                sequence=1,
                url=url,
                slots=_TASKS_PER_WORKER,
                tasks=reports,
            )
        )

    def measure(self) -> Passes:
        """Time look and decide, and the status, of every supervisor; twice, the first unused."""
        views = SupervisorQueries(
            self._sources,
            self._registry,
            self._loop,
            self._leadership,
            self._clock,
            warehouse="/nowhere",
            watching=StateRecorder(self._store, self._clock, self._leadership.term, self._loop),
        )
        for name in self._names[:_BATCH]:
            self._pass(name)
        passes = [self._pass(name) for name in self._names]
        status = []
        for name in self._names:
            began = time.perf_counter()
            views.status(name)
            status.append((time.perf_counter() - began) * 1000)
        return Passes(
            supervisors=len(self._names),
            pass_ms=spread([whole for whole, _ in passes]),
            observe_ms=spread([look for _, look in passes]),
            status_ms=spread(status),
        )

    def _pass(self, name: str) -> tuple[float, float]:
        began = time.perf_counter()
        seen = observe(name, self._sources, self._clock.now())
        looked = time.perf_counter()
        assert isinstance(seen, Observed)
        decided = plan(seen)
        ended = time.perf_counter()
        assert not decided.actions, f"{name} is not at rest: {decided.actions}"
        return (ended - began) * 1000, (looked - began) * 1000
