"""Leaders that follow each other over one pair of databases, with the triggers of flows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

from pydantic import JsonValue

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.manual_clock import ManualClock
from supervisor.chores.flows.triggers import PublishWatching
from supervisor.control.leadership import Leadership
from supervisor.control.publishing.publish_outbox import CONFIG, PUBLISHES, announce_publish
from supervisor.core.executions.entities import Execution
from supervisor.core.values.errors import LeaseLost
from supervisor.core.values.permissions import Actor
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.executions.engine import StoredEngine
from supervisor.executions.triggers import TriggerEngine
from supervisor.metadata.store import SqlStore
from supervisor.ports.flows.executions import ExecutionQuery
from supervisor.services.flows.flows import Flows
from tests.conformance.stories import LEASE_TTL, publication, take_lease
from tests.supervisor.core.crashes.world.world import LANGUAGE

SLEEPS: Mapping[str, object] = {"name": "rest", "type": "sleep", "duration": "PT30S"}
BOSS = Actor.named("boss", None)


class JumpingClock(ManualClock):
    """A clock that can be set back as well."""

    back = timedelta(0)

    def now(self) -> datetime:
        """Return the time that the clock shows."""
        return super().now() - self.back


class Killed(BaseException):
    """The process ends here: nothing catches it."""


@dataclass(frozen=True)
class _Term:
    number: int

    def term(self) -> int:
        """Return the number, whoever leads by now: the databases know."""
        return self.number


@dataclass
class OneLeader:
    """A process that leads, or led."""

    term: int
    store: SqlStore
    executions: SqlExecutions
    flows: Flows
    triggers: TriggerEngine
    engine: StoredEngine
    queue: EventProcessor
    at_point: Callable[[], None] = lambda: None
    """Called between the commit of the executions and that of the position."""

    def reach(self, _: str) -> None:
        """Pass the point."""
        self.at_point()

    def publish(self, *ids: str, at: datetime) -> None:
        """Publish ranges of the table `table`."""
        with self.store.leading(self.term) as tx:
            for each in ids:
                announce_publish(tx, publication(each, at=at))

    def work(self) -> bool:
        """Do what a leader does now and then; False: it leads no more."""
        try:
            while self.queue.run_once() is not None:
                pass
            while self.triggers.run_due():
                pass
            self.engine.tick()
        except LeaseLost:
            return False
        return True

    def close(self) -> None:
        """Close its connections."""
        self.store.close()
        self.executions.close()


@dataclass
class Leaders:
    """Makes them, one after the other."""

    metadata_url: str
    executions_url: str
    clock: JumpingClock
    before: list[OneLeader] = field(default_factory=list)

    def next(self) -> OneLeader:
        """Return a new leader; the one before does not know of it."""
        store = SqlStore(self.metadata_url, lease_ttl=LEASE_TTL)
        term = take_lease(store, f"leader-{len(self.before)}")
        executions = SqlExecutions(ExecutionDatabase(self.executions_url))
        leads = cast("Leadership", _Term(term))
        engine = StoredEngine(executions, leads.term, LANGUAGE, self.clock.now)
        triggers = TriggerEngine(executions, engine, leads.term, LANGUAGE, self.clock.now)
        flows = Flows(executions, store, self.clock, leads, LANGUAGE, lambda _: "secret")
        handler = PublishWatching(triggers, lambda name: leader.reach(name))  # noqa: PLW0108 -- made below
        kit = ProcessorParts(store, self.clock, leads.term, Meters())
        queue = EventProcessor(PUBLISHES, CONFIG, handler, kit)
        leader = OneLeader(term, store, executions, flows, triggers, engine, queue)
        self.before.append(leader)
        return leader

    def all_of(self, flow: str) -> list[Execution]:
        """Return every execution of a flow, as it is stored."""
        with self.before[-1].executions.reading() as rows:
            some = rows.page(ExecutionQuery(flow=flow), 100_000)
            return [one for each in some if (one := rows.execution(each.id)) is not None]

    def close(self) -> None:
        """Close every connection."""
        for each in self.before:
            each.close()


def named_in(executions: Sequence[Execution]) -> list[str]:
    """Return the publishes that executions name, each as often as it is named."""
    return sorted(
        str(cast("dict[str, JsonValue]", each)["id"])
        for execution in executions
        for each in cast("list[JsonValue]", execution.trigger["publishes"])
    )
