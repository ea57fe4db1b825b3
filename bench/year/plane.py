"""An overlord over a fleet's database, without sockets: its HTTP application is called directly.

Kafka is in memory.  A benchmark makes passes itself, or starts the loop, whose passes over a fleet
at rest only look and decide.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.control_run import open_store
from bench.year.chronicle import RECORDS, TOPIC_ID, Chronicle
from bench.year.load import begin_live, load
from bench.year.shape import GRACE, FleetShape
from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.letter_desks_http import HttpLetterDesks
from supervisor.adapters.secrets import read_secret
from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.adapters.workers.journals import HttpJournals
from supervisor.adapters.workers.task_logs import HttpTaskLogs
from supervisor.api.server import create_api
from supervisor.app.overlord import PASS_THREADS
from supervisor.app.parts import copies_in
from supervisor.app.short_pauses import short_pauses
from supervisor.chores.duty import Wiring
from supervisor.control.change_log import log_and_count
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources, observe
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import Task
from supervisor.core.planning.observed import Observed, PlanLimits
from supervisor.core.planning.passes import Pass
from supervisor.core.planning.plan import plan
from supervisor.core.queue.events import QueueConfig
from supervisor.core.values.throttle import Lockout
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.queues import EventQueues
from supervisor.executions.engine import StoredEngine
from supervisor.executions.triggers import TriggerEngine
from supervisor.metadata.store import SqlStore
from supervisor.services.flows.executions import FlowPorts
from supervisor.services.services import ServicePorts, services_of
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.specs import new_token

_DELAY = timedelta(seconds=60)
_Message = MutableMapping[str, Any]


@dataclass(frozen=True)
class Plane:
    """A leading overlord, its fleet and the tasks that run."""

    chronicle: Chronicle
    store: SqlStore
    leadership: Leadership
    sources: Sources
    registry: WorkerRegistry
    loop: Loop
    app: Any
    tasks: tuple[Task, ...]
    """Running ones."""

    async def call(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Call a route with the listener's middleware; return the body of its answer.

        Raises:
            AssertionError: the status is not 200.
        """
        sent: list[_Message] = []
        requests = iter([{"type": "http.request", "body": body, "more_body": False}])
        ended = asyncio.Event()

        async def receive() -> _Message:
            request = next(requests, None)
            if request is None:
                await ended.wait()
                return {"type": "http.disconnect"}
            return request

        async def send(message: _Message) -> None:
            sent.append(message)

        await self.app(_scope(method, path, len(body), headers or {}), receive, send)
        ended.set()
        answer = b"".join(message.get("body", b"") for message in sent)
        assert sent[0]["status"] == 200, f"{method} {path}: {sent[0]['status']} {answer[:300]!r}"
        return answer

    def get(self, path: str) -> object:
        """GET a path; return its JSON."""
        return json.loads(asyncio.run(self.call("GET", path)))


def _scope(method: str, path: str, size: int, more: Mapping[str, str]) -> _Message:
    where, _, query = path.partition("?")
    headers = {
        **more,
        "host": "localhost:8090",
        "content-type": "application/json",
        "content-length": str(size),
    }
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", 8090),
        "state": {},
    }


@contextmanager
def open_plane(url: str, shape: FleetShape, folder: Path) -> Iterator[Plane]:
    """Fill a new database with a fleet and its history, and lead over it."""
    chronicle = Chronicle(shape, datetime.now(UTC))
    with short_pauses(), open_store(url) as (store, leadership):
        load(url, chronicle)
        tasks = begin_live(store, leadership, chronicle)
        store.optimize()
        yield _wired(chronicle, store, leadership, tasks, folder)


def _wired(
    chronicle: Chronicle, store: SqlStore, leadership: Leadership, tasks: list[Task], folder: Path
) -> Plane:
    clock, changed = SystemClock(), Wakeups()
    streams, meters = _topics(chronicle, clock), _metered(store)
    registry = WorkerRegistry(
        clock, worker_timeout=timedelta(hours=9), led_since=leadership.led_since
    )
    sources = Sources(store, streams, registry, PlanLimits())
    loop = Loop(_passes(sources, clock), clock, threads=PASS_THREADS)
    wiring = Wiring(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        sources=sources,
        loop=loop,
        watching=_recorder(store, clock, leadership, loop),
        changed=changed,
        endings=TaskEnder(QueueConfig(delay=_DELAY), registry.report),
        meters=meters,
        queues=EventQueues(store, clock, leadership.term, Meters()),
        warehouse=MemoryWarehouse(),
        formats={},
        copies=copies_in(folder, lambda _: None),
        segment_grace=GRACE,
        task_retention=timedelta(days=7),
        gc_delay=_DELAY,
        new_token=new_token,
    )
    ports = ServicePorts(
        journals=HttpJournals(),
        task_logs=HttpTaskLogs(),
        letter_desks=HttpLetterDesks(None),
        flows=_flow_ports(folder, leadership, clock),
        raw_records=DuckRecords(folder),
        probe=KafkaProbe(read_secret),
        rules=OperatorPolicy(timedelta(seconds=60)),
        warehouse="/warehouse",
        version="0",
    )
    verbs = Operations(
        store, clock, leadership.term, Meters(), lambda _: None, lambda _: QueueConfig()
    )
    services = services_of(wiring, ports, verbs)
    services.service.start_term()
    return Plane(
        chronicle, store, leadership, sources, registry, loop, create_api(services), tuple(tasks)
    )


def _metered(store: SqlStore) -> OverlordMeters:
    meters = OverlordMeters()
    store.on_measured(meters.transaction)
    store.on_committed(log_and_count(meters))
    return meters


def _flow_ports(folder: Path, leadership: Leadership, clock: SystemClock) -> FlowPorts:
    """Return the database of flows of this plane, which has none."""
    language = CelExpressions()
    executions = SqlExecutions(ExecutionDatabase(f"sqlite:///{folder}/executions.db"))
    engine = StoredEngine(executions, leadership.term, language, clock.now)
    triggers = TriggerEngine(executions, engine, leadership.term, language, clock.now)
    return FlowPorts(executions, engine, language, triggers, read_secret, Lockout(10, 60.0))


def _recorder(
    store: SqlStore, clock: SystemClock, leadership: Leadership, loop: Loop
) -> StateRecorder:
    watching = StateRecorder(store, clock, leadership.term, loop)
    loop.after_pass = watching.after_pass
    return watching


def _passes(sources: Sources, clock: SystemClock) -> Callable[[str], Pass]:
    """Return what makes one pass over a supervisor at rest, as `make_pass` does."""

    def one_pass(supervisor_id: str) -> Pass:
        seen = observe(supervisor_id, sources, clock.now())
        assert isinstance(seen, Observed)
        decided = plan(seen)
        assert not decided.actions, f"{supervisor_id} is not at rest: {decided.actions}"
        sources.workers.watch(supervisor_id, decided.milestones)
        return Pass(seen, decided)

    return one_pass


def _topics(chronicle: Chronicle, clock: SystemClock) -> MemoryStreams:
    streams, shape = MemoryStreams(clock), chronicle.shape
    for name in chronicle.names:
        streams.create(name, shape.partition_count, TOPIC_ID)
        for partition in range(shape.partition_count):
            streams.append(name, partition, shape.ranges * RECORDS)
    return streams
