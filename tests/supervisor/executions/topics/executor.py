"""One life of an executor: the product's owners of partitions, their engine, and its runner."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, cast

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Outcome, Stopped
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.executor.abroad import CallsAbroad
from supervisor.executions.runner import CallRunner
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.held import HeldPartition
from supervisor.executions.sequencer.letters import LETTER_FORM, ExecutionPurge
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionLeft
from supervisor.executions.sequencer.places import partition_of
from supervisor.executions.sequencer.work import RequestWork
from supervisor.ports.flows.execution_log import LogAborted, LogAway, LogFenced
from tests.supervisor.core.executions.called import flow_of
from tests.supervisor.executions.lives.processes.leader import CallTimes
from tests.supervisor.executions.lives.world.world import LANGUAGE, LifeClock
from tests.supervisor.executions.topics.world import KEPT, PARTITIONS, PLAN, FaultyLog, TopicWorld

if TYPE_CHECKING:
    from supervisor.executions.runner import CallThreads

_TURNS_MAX = 60
"""More aborts in a row than that end an ownership."""
PROBLEMS = (LogFenced, LogAway, LogAborted, PartitionLeft, TimeoutError)


@dataclass
class TurnedOwner:
    """An owner without a thread: whoever asks lets it take turns until there is an answer."""

    owner: PartitionOwner
    log: FaultyLog
    failed: bool = False

    @property
    def waiting(self) -> int:
        """How many calls wait for a runner."""
        return self.owner.waiting

    @property
    def held(self) -> HeldPartition:
        """What is held."""
        return self.owner.held

    def request(self, work: RequestWork) -> None:
        """Queue a request, and let it be worked in, or fail."""
        self.owner.request(work)
        for _ in range(_TURNS_MAX):
            if work.answer.done():
                return
            self.turn()
        work.fail(TimeoutError())

    def turn(self) -> bool:
        """Take a turn; one that fails ends the ownership, as its error says."""
        if self.failed:
            return False
        try:
            return self.owner.turn(0)
        except PROBLEMS as error:
            self.failed = True
            self.owner.refuse(error, for_good=True)
            return False


@dataclass
class _Working:
    life: "ExecutorLife"

    def working(self) -> Mapping[int, PartitionOwner]:
        """Return the owners that have taken their partition over."""
        some = {part: one for part, one in self.life.owners.items() if not one.failed}
        return cast("Mapping[int, PartitionOwner]", some)


@dataclass
class ExecutorLife:
    """One life."""

    world: TopicWorld
    name: str
    owners: dict[int, TurnedOwner] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Own nothing yet."""
        world = self.world
        self.life = world.next_life(self.name)
        self.clock = LifeClock(world)
        self.engine = PartitionedEngine(_Working(self), PLAN, world.send)
        self.calls = CallTimes(world)
        self.me = Runner(self.name, self.life)
        self.runner = CallRunner(self.engine, self.me, {"noop": self.make}, threads=3)
        self.runner._pool = cast("CallThreads", self.calls)

        self.abroad = CallsAbroad(
            world.held,
            self.engine.is_here,
            self.runner,
            self.engine.forward,
            self.clock.monotonic,
        )

    def close(self) -> None:
        """Do nothing: there are no connections."""

    def beat(self) -> None:
        """Renew the row of its runner, and stay in the group."""
        self.world.registry.renew(self.me, self.world.now)
        self.world.group.poll(self.name, self.world.now)

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
            yield "poll"
            if not world.registry.renew(self.me, world.now):
                return  # it is taken for dead: another life begins
            yield from self._own()
            for make, call, cancel in self.calls.over():
                yield "runner: run"
                make(call, cancel)
                yield "runner: effect"
            for part in sorted(self.owners):
                yield "executor: turn"
                if part in self.owners:
                    self.owners[part].turn()
            yield "runner: serve"
            self.safely(self.runner.round_trip)
            if world.chance.random() < 0.3:
                yield "executor: lose"
                self.safely(self._lose)
            if world.chance.random() < 0.2:
                yield "executor: purge"
                self.safely(self._purge)

    def _own(self) -> Iterator[str]:
        """Leave what belongs to others, and take over what is new or was doubtful."""
        mine = self.world.group.owned(self.name, self.world.now)
        for part, one in list(self.owners.items()):
            if part not in mine or one.failed:
                del self.owners[part]
        for part in sorted(mine - set(self.owners)):
            yield "executor: owns"
            log = FaultyLog(self.world.topics, part, world=self.world, life=self.life)
            owner = PartitionOwner(
                part,
                PLAN,
                log,
                LANGUAGE,
                flow_of(self.world.flows),
                now=self.clock.now,
                writer=self.life,
            )
            if self.safely(owner.take_over):
                self.owners[part] = TurnedOwner(owner, log)

    def _lose(self) -> None:
        self.abroad.run_once()
        for runner in sorted(self.engine.holders(), key=lambda one: one.incarnation):
            if self.world.registry.is_dead(runner, self.world.now):
                self.engine.lose(runner)

    def _purge(self) -> None:
        for one in self.owners.values():
            for head in list(one.owner.held.restored.executions.values()):
                if head.ended_at is not None and head.ended_at < self.clock.now() - KEPT:
                    part = partition_of(head.id, PARTITIONS)
                    self.world.send(part, head.id, LETTER_FORM.write(ExecutionPurge()))

    def safely(self, do: Callable[[], object]) -> bool:
        """Do something; False: it did not come to its end."""
        try:
            do()
        except PROBLEMS as error:
            self.world.faults[f"{type(error).__name__} is heard"] += 1
            return False
        return True
