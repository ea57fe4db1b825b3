"""One life of an overlord: the product's engine, duties, services and runner, a step at a time.

renew the lease ─► times ─► triggers ─► queue of publishes ─► purge ─► a round trip of its runner
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, cast

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.chores.flows.executions import ExecutionTimes
from supervisor.chores.flows.purge import PurgeDuty
from supervisor.chores.flows.triggers import PublishWatching, TriggerTimes
from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Outcome, Stopped
from supervisor.core.executions.reduced import StepCall
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.values.errors import ExecutionStoreUnavailable, LeaseLost
from supervisor.core.values.throttle import Lockout
from supervisor.executions.engine import StoredEngine
from supervisor.executions.runner import CallRunner
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.store_problems import StoreAway
from supervisor.services.flows.executions import Executions
from supervisor.services.flows.flows import Flows
from supervisor.services.flows.hooks import HookDoor, Hooks
from supervisor.services.flows.reruns import Reruns
from supervisor.services.flows.triggers import Triggers
from tests.supervisor.executions.lives.world.store import FaultyStore
from tests.supervisor.executions.lives.world.world import (
    KEPT,
    KEPT_OF_EACH,
    LANGUAGE,
    LifeClock,
    World,
)

if TYPE_CHECKING:
    from supervisor.control.leadership import Leadership
    from supervisor.eventqueue.handling import Context
    from supervisor.executions.runner import CallThreads
    from supervisor.ports.store import Store

QUEUED_AT_ONCE = 3
_CALL_S = (0.0, 0.0, 0.5, 2.0, 8.0, 20.0)
TOKEN = "canary"


@dataclass
class CallTimes:
    """Calls that are under way, each until its time; stands in for a runner's threads."""

    world: World
    running: list[tuple[datetime, Callable[..., None], StepCall, Event]] = field(
        default_factory=list
    )

    def submit(self, make: Callable[..., None], call: StepCall, cancel: Event) -> None:
        """Take a call."""
        seconds = self.world.chance.choice(_CALL_S)
        until = self.world.now + timedelta(seconds=seconds)
        self.running.append((until, make, call, cancel))

    def over(self) -> Iterator[tuple[Callable[..., None], StepCall, Event]]:
        """Take out, one by one, what is done by now or shall stop."""
        for one in list(self.running):
            until, make, call, cancel = one
            if until <= self.world.now or cancel.is_set():
                self.running.remove(one)
                yield make, call, cancel


class LeaderLife:
    """One life."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.life = world.next_life(name)
        self.term: int | None = None
        self.clock = LifeClock(world)
        self.store = FaultyStore(SqlExecutions(ExecutionDatabase(world.url)), world, self.life)
        leads = cast("Leadership", _Leads(self))
        metadata = cast("Store", world.metadata)
        self.engine = StoredEngine(self.store, self.leads, LANGUAGE, self.clock.now)
        self.triggers = TriggerEngine(self.store, self.engine, self.leads, LANGUAGE, self.clock.now)
        self.flows = Flows(self.store, metadata, self.clock, leads, LANGUAGE, lambda _: TOKEN)
        self.executions = Executions(
            self.store, self.engine, self.flows, metadata, self.clock, leads
        )
        self.reruns = Reruns(self.executions)
        self.switches = Triggers(
            self.store, self.triggers, self.flows, metadata, self.clock, leads, lambda _: TOKEN
        )
        door = HookDoor(self.clock, Lockout(5, 60.0))
        self.hooks = Hooks(self.store, self.triggers, self.clock, door, lambda _: TOKEN)
        self.calls = CallTimes(world)
        runner = Runner(name, self.life)
        self.runner = CallRunner(self.engine, runner, {"noop": self.make}, threads=3)
        self.runner._pool = cast("CallThreads", self.calls)
        self.times = ExecutionTimes(self.engine, runner)
        self.fires = TriggerTimes(self.triggers)
        ages = replace(HistoryAges(), executions=KEPT, executions_of_each=KEPT_OF_EACH)
        self.purge = PurgeDuty(self.engine, self.clock.now, ages)
        self.watching = PublishWatching(self.triggers)

    def leads(self) -> int:
        """Return the term in which it believes to lead.

        Raises:
            LeaseLost: it knows better.
        """
        if self.term is None:
            raise LeaseLost("it does not lead")
        return self.term

    def close(self) -> None:
        """Close its connections; nothing else of it is left."""
        self.store.close()

    def make(self, call: StepCall, cancel: Event) -> Outcome:
        """Make a call, or look."""
        if call.check:
            return self.world.sink.look(call, self.world.now)
        if cancel.is_set():
            return Stopped()
        return self.world.sink.call(call, self.life, self.world.now)

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        world = self.world
        while True:
            yield "leader: renew"
            self.term = world.metadata.take_lease(self.life, world.now)
            yield from self._finish_calls()
            if self.term is None:
                yield from self._serve()
                yield "poll"
                continue
            for name, duty in (
                ("leader: times", self.times.run_once),
                ("leader: triggers", self.fires.run_once),
                ("leader: purge", self.purge.run_once),
            ):
                if world.chance.random() < (0.2 if duty == self.purge.run_once else 0.7):
                    yield name
                    done = self.safely(duty)
                    if done and duty == self.times.run_once and not self.times._trouble:
                        world.looked(self.life)
            yield from self._queue()
            yield from self._serve()

    def _finish_calls(self) -> Iterator[str]:
        for make, call, cancel in self.calls.over():
            yield "runner: run"
            make(call, cancel)
            yield "runner: effect"

    def _serve(self) -> Iterator[str]:
        yield "runner: serve"
        self.safely(self.runner.round_trip)

    def _queue(self) -> Iterator[str]:
        queue = self.world.metadata
        start = queue.handled
        batch = queue.events[start : start + QUEUED_AT_ONCE]
        if not batch:
            return
        yield "leader: publishes"
        done: list[bool] = []
        context = cast("Context", None)
        self.safely(lambda: done.append(bool(self.watching(batch, context))))
        if done:
            yield "leader: position of the queue"
            self.safely(lambda: queue.handle(self.leads(), start + len(batch)))

    def safely(self, do: Callable[[], object]) -> bool:
        """Do something as a duty of the product does; False: it did not come to its end."""
        try:
            do()
        except LeaseLost:
            self.world.faults["a leader that is none any more is refused"] += 1
            return False
        except (ExecutionStoreUnavailable, StoreAway):
            return False
        return True


@dataclass(frozen=True)
class _Leads:
    life: LeaderLife

    def term(self) -> int:
        """Return the term in which the life believes to lead."""
        return self.life.leads()
