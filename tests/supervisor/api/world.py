"""An overlord without Kafka, Spark and time: its own loop and store, workers played by agents."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import httpx
from fastapi import FastAPI

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.passwords import Argon2Passwords
from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.api.server import build_routes
from supervisor.app.parts import copies_in
from supervisor.chores.duty import Wiring
from supervisor.control.change_log import log_and_count
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources
from supervisor.control.reconcile import ActionContext, make_pass
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.planning.observed import PlanLimits
from supervisor.core.planning.passes import Pass
from supervisor.core.queue.events import QueueConfig
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.store import SqlStore
from supervisor.ports.access import Passwords
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.services.access.authentication import AccessRules, Authentication
from supervisor.services.services import Services
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.specs import new_token
from tasks.contract.connection_policy import ConnectionPolicy
from tests.supervisor.api.agents import NOON, TOPIC, Agent, AgentJournals, post_json
from tests.supervisor.api.client import Client
from tests.supervisor.api.wired import DAY, ENDS_LATER, LookedAt, services_over
from tests.waiting import wait_until

__all__ = ["NOON", "TOPIC", "Agent", "AgentJournals", "World", "post_json"]

URL = "http://localhost:8090"
SUPERVISORS = "/druid/indexer/v1/supervisor"
TASKS = "/druid/indexer/v1"
Json = dict[str, object]
Reach = Callable[[str], None]
Access = tuple[AccessRules, Passwords] | None


_IDLE: dict[tuple[str, ...], list[FastAPI]] = {}
"""Names of hosts -> applications that no test uses now."""
PASSWORDS = Argon2Passwords(memory_kib=8, passes=1)
RULES = OperatorPolicy(
    timedelta(seconds=60),
    ConnectionPolicy(kafka_allow=("localhost",), registry_allow=("registry:8081",)),
)


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
class World:
    """One overlord, its surroundings, and a client of its API."""

    database: Path
    store: SqlStore
    clock: ManualClock
    streams: LookedAt
    loop: Loop
    leadership: Leadership
    changed: Wakeups
    journals: AgentJournals
    client: Client
    watching: StateRecorder
    meters: OverlordMeters
    warehouse: MemoryWarehouse

    def agent(self, name: str, *, incarnation: int = 1, slots: int = 4) -> Agent:
        """A worker that has not registered yet."""
        agent = Agent(self.client, name, incarnation, slots, writes=self.warehouse.write)
        self.journals.agents[name] = agent
        return agent

    @property
    def parts(self) -> Services:
        """The services of its overlord."""
        parts: Services = self.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
        return parts

    def store_logs(self, stored: LogStore) -> None:
        """Let the overlord read a store of logs."""
        state = cast("FastAPI", self.client.app).state
        views = replace(state.parts.task_logs, stored=stored)
        search = replace(state.parts.stored, stored_logs=stored)
        state.parts = replace(state.parts, task_logs=views, stored=search)

    def store_reports(self, stored: ReportStore) -> None:
        """Let the overlord read a store of reports."""
        state = cast("FastAPI", self.client.app).state
        views = replace(state.parts.task_reports, stored=stored)
        search = replace(state.parts.stored, stored_reports=stored)
        state.parts = replace(state.parts, task_reports=views, stored=search)

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
            if supervisor_id not in self.loop._entries:
                return True  # terminated, and nothing of it is left: the pass dropped it
            last = self.loop.last_pass(supervisor_id)
            return last is not None and last.seen.now >= after and not last.decided.actions

        wait_until(at_rest)

    def round(self, agents: list[Agent]) -> None:
        """Every worker hears its orders, follows them, tells so, and hears what comes of it."""
        for _ in range(3):
            for agent in agents:
                agent.sync()
            self.settle()

    def watch(self) -> None:
        """Note changes of state, which the other stories do without."""
        self.loop.after_pass = self.watching.after_pass

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
        rows = self.get(path)
        assert isinstance(rows, list)
        assert all(isinstance(row, dict) for row in rows)
        return rows

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


def task_ids(agents: list[Agent]) -> Iterator[tuple[Agent, str]]:
    """Every task that an agent holds."""
    for agent in agents:
        for task_id in sorted(agent.held):
            yield agent, task_id


def _idle(_: str) -> None:
    """Do nothing at the places that are passed."""


@contextmanager
def a_world(
    folder: Path,
    migrated: Path,
    *,
    leads: bool = True,
    rules: OperatorPolicy = RULES,
    reach: Reach = _idle,
    access: Access = None,
    url: str | None = None,
) -> Iterator[World]:
    """Build an overlord over a copy of `migrated`; its loop runs until the block ends.

    With `access` callers are asked who they are; argon2 has its smallest parameters then.  With
    `url` it is over that database, migrated, and `World.database` has no rows.
    """
    database = Path(shutil.copy(migrated, folder / "metadata.db"))
    store = SqlStore(url or f"sqlite:///{database}", lease_ttl=timedelta(seconds=60))
    clock, changed = ManualClock(NOON), Wakeups()
    leadership, streams = Leadership(store, clock, holder="one", url=URL, ttl=DAY), LookedAt(clock)
    registry = _registry_of(clock, leadership)
    sources = Sources(store, streams, registry, PlanLimits())
    endings = TaskEnder(QueueConfig(), registry.report)
    context = ActionContext(sources, clock, new_token, endings)
    loop = Loop(_passes(context, leadership), clock, threads=2)
    journals = AgentJournals()
    watching = StateRecorder(store, clock, leadership.term, loop)
    meters, warehouse = _metered(store, loop), MemoryWarehouse()
    wiring = Wiring(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        sources=sources,
        loop=loop,
        watching=watching,
        changed=changed,
        endings=endings,
        meters=meters,
        queues=EventQueues(store, clock, leadership.term, Meters()),
        warehouse=warehouse,
        formats={},
        copies=copies_in(folder, reach),
        segment_grace=30 * DAY,
        gc_delay=ENDS_LATER,
        task_retention=7 * DAY,
        new_token=new_token,
        reach=reach,
    )
    services = services_over(wiring, rules, journals, streams, folder)
    authentication = access and _authentication(store, clock, *access)
    services = replace(services, authentication=authentication)
    with _served(services, leadership, loop, leads=leads) as client:
        known = (store, clock, streams, loop, leadership, changed, journals, client, watching)
        yield World(database, *known, meters, warehouse)
    store.close()


def _metered(store: SqlStore, loop: Loop) -> OverlordMeters:
    meters = OverlordMeters()
    store.on_measured(meters.transaction)
    store.on_committed(log_and_count(meters))
    loop.measured = meters.pass_taken
    return meters


@contextmanager
def _served(
    services: Services, leadership: Leadership, loop: Loop, *, leads: bool
) -> Iterator[Client]:
    if leads:
        leadership.step()
        loop.start()
    with (
        _api_of(services) as api,
        Client(api, URL) as client,
    ):
        yield client
    if leads:
        loop.stop()


@contextmanager
def _api_of(services: Services) -> Iterator[FastAPI]:
    """Lend an application; a new one works out its routes in 80 ms of CPU, at its first request."""
    idle = _IDLE.setdefault(tuple(services.hosts), [])
    api = idle.pop() if idle else build_routes(services.hosts)
    routes = len(api.router.routes)
    api.state.parts = services
    yield api
    del api.state.parts
    api.middleware_stack = None  # it has limits of its own, which a test may have used up
    if len(api.router.routes) == routes:  # a test may have added one
        idle.append(api)


def _registry_of(clock: ManualClock, leadership: Leadership) -> WorkerRegistry:
    led_since = leadership.led_since
    return WorkerRegistry(clock, worker_timeout=timedelta(days=1), led_since=led_since)


def _authentication(
    store: SqlStore, clock: ManualClock, rules: AccessRules, passwords: Passwords
) -> Authentication:
    return Authentication(store, clock, passwords, rules)


def _passes(shell: ActionContext, leadership: Leadership) -> Callable[[str], Pass | None]:
    return lambda supervisor_id: make_pass(supervisor_id, shell, leadership.term())
