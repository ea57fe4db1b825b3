"""An overlord without Kafka, Spark and time: its own loop and store, workers played by agents."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from fastapi.testclient import TestClient

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.memory_streams import MemoryStreams
from supervisor.api.server import ApiParts, create_api
from supervisor.core.errors import WorkerUnavailable
from supervisor.core.model import Limits
from supervisor.leadership import Leadership
from supervisor.loop import Loop
from supervisor.metadata.store import SqlStore
from supervisor.observe import Sources
from supervisor.publishing import Publishing
from supervisor.reconcile import Pass, Shell, make_pass
from supervisor.registry import WorkerRegistry
from supervisor.service import Rules, Service, new_token
from supervisor.signals import Broadcast
from supervisor.views import Views
from tasks.contract import (
    Counters,
    DesiredTask,
    JournalFile,
    JournalView,
    OffsetSpan,
    PublishRequest,
    RejectSample,
    RunState,
    SegmentFile,
    SyncRequest,
    SyncResponse,
    TaskPhase,
    TaskReport,
)
from tasks.offsets import TopicPartition, reached
from tests.waiting import wait_until

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
URL = "http://localhost:8090"
SUPERVISORS = "/druid/indexer/v1/supervisor"
TASKS = "/druid/indexer/v1"
TOPIC = "clicks"
Json = dict[str, object]


def spec_document(task_count: int = 2, replicas: int = 2, **io_config: object) -> Json:
    """A spec of the topic, as a user writes it."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": TOPIC,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["user", {"type": "long", "name": "bytes"}]},
                "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
            },
            "ioConfig": {
                "topic": TOPIC,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": "localhost:9092"},
                "taskCount": task_count,
                "replicas": replicas,
                "taskDuration": "PT10M",
                "useEarliestOffset": True,
            }
            | io_config,
        },
    }


@dataclass
class _Held:
    """A task as an agent runs it."""

    wanted: DesiredTask
    phase: TaskPhase
    position: dict[TopicPartition, int]
    sequence: int
    rejected: tuple[RejectSample, ...] = ()


@dataclass
class Agent:
    """A worker without Spark: does what it is told, reads when the test says so."""

    client: TestClient
    id: str
    incarnation: int = 1
    slots: int = 4
    held: dict[str, _Held] = field(default_factory=dict)
    known: str | None = None
    _sequence: int = 0

    def request(self, *, wait_s: float = 0.0) -> SyncRequest:
        """What it says next."""
        self._sequence += 1
        return SyncRequest(
            worker_id=self.id,
            incarnation=self.incarnation,
            sequence=self._sequence,
            url=f"http://{self.id}.example:8091",
            slots=self.slots,
            tasks=tuple(_report(task_id, held) for task_id, held in sorted(self.held.items())),
            known=self.known,
            wait=timedelta(seconds=wait_s),
        )

    def post(self, request: SyncRequest) -> httpx.Response:
        """Send one sync as a worker does."""
        return post_json(self.client, f"/internal/v1/workers/{self.id}/sync", request.to_json())

    def sync(self) -> None:
        """Say what it runs, and take up what it is told."""
        response = self.post(self.request())
        assert response.status_code == 200, response.text
        self.obey(SyncResponse.from_json(response.content))

    def obey(self, answer: SyncResponse) -> None:
        """Run what is listed, and nothing else."""
        self.known = answer.revision
        held = {}
        for wanted in answer.tasks:
            now = self.held.get(wanted.task_id)
            now = now or _Held(wanted, TaskPhase.READING, dict(wanted.start), 0)
            now.wanted, now.sequence = wanted, wanted.order.sequence
            paused = wanted.order.state is RunState.PAUSE
            now.phase = TaskPhase.PAUSED if paused else TaskPhase.READING
            if (end := wanted.order.end) is not None:
                now.position = {p: max(at, end[p]) for p, at in now.position.items()}
                now.phase = TaskPhase.PUBLISHING
                assert reached(now.position, end)
            held[wanted.task_id] = now
        self.held = held

    def read(self, task_id: str, records: int, *, rejected: int = 0) -> None:
        """Journal some records of each of the task's partitions, the first ones unreadable."""
        task = self.held[task_id]
        task.rejected += tuple(
            RejectSample(
                topic=p.topic, partition=p.partition, offset=at + n, reason="not JSON", input="{"
            )
            for p, at in task.position.items()
            for n in range(rejected)
        )
        task.position = {p: at + records for p, at in task.position.items()}

    def publish(self, task_id: str, *, token: str | None = None) -> httpx.Response:
        """Offer one file with the task's whole range."""
        request = self.publish_request(task_id)
        token = self.held[task_id].wanted.token if token is None else token
        return post_json(
            self.client,
            f"/internal/v1/tasks/{task_id}/publish",
            request.to_json(),
            {"Authorization": f"Bearer {token}"},
        )

    def publish_request(self, task_id: str) -> PublishRequest:
        """What the task offers."""
        wanted = self.held[task_id].wanted
        end = wanted.order.end or self.held[task_id].position
        return PublishRequest(
            task_id=task_id,
            incarnation=self.incarnation,
            start=wanted.start,
            end=end,
            topic_ids=wanted.topic_ids,
            segments=(segment_file(task_id, wanted.start, end),),
            counters=Counters(processed=1),
            samples=self.held[task_id].rejected,
        )


def segment_file(
    task_id: str, start: dict[TopicPartition, int], end: dict[TopicPartition, int]
) -> SegmentFile:
    """One file that holds the range whole."""
    spans = tuple(
        OffsetSpan(
            topic=p.topic, partition=p.partition, first=at, last=end[p] - 1, rows=end[p] - at
        )
        for p, at in sorted(start.items())
        if end[p] > at
    )
    return SegmentFile(
        path=f"{TOPIC}/data/{task_id}/part-0.parquet",
        interval_start=NOON,
        interval_end=NOON + timedelta(hours=1),
        rows=sum(span.rows for span in spans),
        size_bytes=1_000,
        sha256="0" * 64,
        time_min=NOON,
        time_max=NOON + timedelta(minutes=1),
        spans=spans,
    )


def _report(task_id: str, held: _Held) -> TaskReport:
    return TaskReport(
        task_id=task_id,
        phase=held.phase,
        order_term=held.wanted.order.term,
        order_sequence=held.sequence,
        position=held.position,
        counters=Counters(
            processed=sum(held.position.values()), unparseable=len(held.rejected), batches=1
        ),
        samples=held.rejected,
        running_for=timedelta(seconds=30),
        idle_for=timedelta(seconds=1),
    )


@dataclass
class AgentJournals:
    """The control API of agents; a silent one does not answer."""

    agents: dict[str, Agent] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)

    def journal(self, worker_url: str, task_id: str, token: str) -> JournalView:
        """Return one journaled file of all that the task has read."""
        worker = worker_url.removeprefix("http://").partition(".")[0]
        if worker in self.silent:
            raise WorkerUnavailable(f"{task_id}: no answer from {worker_url}")
        held = self.agents[worker].held[task_id]
        assert token == held.wanted.token
        path = f"{TOPIC}/data/{task_id}/batch-0.parquet"
        rows = sum(at - held.wanted.start[p] for p, at in held.position.items())
        files = (JournalFile(path=path, rows=rows, size_bytes=10),) if rows else ()
        return JournalView(task_id=task_id, position=held.position, files=files)


@dataclass
class World:
    """One overlord, its surroundings, and a client of its API."""

    database: Path
    store: SqlStore
    clock: ManualClock
    streams: MemoryStreams
    loop: Loop
    leadership: Leadership
    changed: Broadcast
    journals: AgentJournals
    client: TestClient

    def agent(self, name: str, *, incarnation: int = 1, slots: int = 4) -> Agent:
        """A worker that has not registered yet."""
        agent = Agent(self.client, name, incarnation, slots)
        self.journals.agents[name] = agent
        return agent

    def start(self, partitions: int = 2, **spec: int) -> list[Agent]:
        """Two registered workers, a topic and a supervisor whose tasks have reported."""
        self.streams.create(TOPIC, partitions)
        agents = [self.agent("w1"), self.agent("w2")]
        for agent in agents:
            agent.sync()
        assert self.post(SUPERVISORS, spec_document(**spec)).status_code == 200
        self.settle()
        self.round(agents)
        return agents

    def settle(self, supervisor_id: str = TOPIC) -> None:
        """Return when a pass that began after this call has found nothing more to do."""
        after = self.clock.advance(timedelta(milliseconds=1))
        self.loop.wake(supervisor_id)

        def at_rest() -> bool:
            last = self.loop.last_pass(supervisor_id)
            return last is not None and last.seen.now >= after and not last.decided.actions

        wait_until(at_rest)

    def round(self, agents: list[Agent]) -> None:
        """Every worker hears its orders, follows them, tells so, and hears what comes of it."""
        for _ in range(3):
            for agent in agents:
                agent.sync()
            self.settle()

    def pass_time(self, by: timedelta, agents: list[Agent]) -> None:
        """Move the clock; workers are heard of again before the next pass."""
        self.clock.advance(by)
        self.leadership.step()
        for agent in agents:
            agent.sync()
        self.settle()

    def get(self, path: str, status: int = 200) -> object:
        """GET and read JSON."""
        response = self.client.get(path)
        assert response.status_code == status, response.text
        return response.json()

    def get_object(self, path: str, status: int = 200) -> Json:
        """GET and read a JSON object."""
        found = self.get(path, status)
        assert isinstance(found, dict)
        return found

    def get_rows(self, path: str) -> list[Json]:
        """GET and read a JSON array of objects."""
        found = self.get(path)
        assert isinstance(found, list)
        assert all(isinstance(row, dict) for row in found)
        return found

    def post(self, path: str, body: object = None) -> httpx.Response:
        """POST JSON, or no body."""
        sent: httpx.Response
        sent = self.client.post(path) if body is None else self.client.post(path, json=body)
        return sent

    def payload(self, supervisor_id: str = TOPIC) -> Json:
        """The payload of the supervisor's status."""
        payload = self.get_object(f"{SUPERVISORS}/{supervisor_id}/status")["payload"]
        assert isinstance(payload, dict)
        return payload


def post_json(
    client: TestClient, path: str, text: str | bytes, headers: dict[str, str] | None = None
) -> httpx.Response:
    """POST a text that is JSON already."""
    told = {"Content-Type": "application/json"} | (headers or {})
    sent: httpx.Response = client.post(path, content=text, headers=told)
    return sent


def task_ids(agents: list[Agent]) -> Iterator[tuple[Agent, str]]:
    """Every task that an agent holds."""
    for agent in agents:
        for task_id in sorted(agent.held):
            yield agent, task_id


@contextmanager
def a_world(folder: Path, migrated: Path, *, leads: bool = True) -> Iterator[World]:
    """Build an overlord over a copy of `migrated`; its loop runs until the block ends."""
    database = folder / "metadata.db"
    shutil.copy(migrated, database)
    store = SqlStore(f"sqlite:///{database}", lease_ttl=timedelta(seconds=60))
    clock = ManualClock(NOON)
    leadership = Leadership(store, clock, holder="one", url=URL, ttl=timedelta(days=1))
    changed = Broadcast()
    streams = MemoryStreams(clock)
    registry = WorkerRegistry(
        clock, worker_timeout=timedelta(days=1), led_since=leadership.led_since
    )
    sources = Sources(store, streams, registry, Limits())
    shell = Shell(sources, clock, new_token)
    loop = Loop(_passes(shell, leadership, changed), clock, threads=2)
    service = Service(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        loop=loop,
        changed=changed,
        rules=Rules(kafka_allow=("localhost",), pause_lease=timedelta(seconds=60)),
    )
    journals = AgentJournals()
    parts = ApiParts(
        service=service,
        publishing=Publishing(store, clock, leadership, loop, changed),
        views=Views(sources, registry, loop, leadership, clock, "/warehouse", journals),
        changed=changed,
        version="1.2.3",
        hosts=("tidegate.example",),
    )
    if leads:
        leadership.step()
        loop.start()
    with TestClient(create_api(parts), URL, raise_server_exceptions=False) as client:
        yield World(database, store, clock, streams, loop, leadership, changed, journals, client)
    if leads:
        loop.stop()
    store.close()


def _passes(
    shell: Shell, leadership: Leadership, changed: Broadcast
) -> Callable[[str], Pass | None]:
    def one(supervisor_id: str) -> Pass | None:
        made = make_pass(supervisor_id, shell, leadership.term())
        if made is not None and made.decided.actions:
            changed.notify()
        return made

    return one
