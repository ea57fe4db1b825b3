"""What a scenario asks of an engine, and the engines that there are."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from supervisor.core.executions.entities import Execution, Runner, TaskRun
from supervisor.core.executions.inputs import Claim, ExecutionInput, Outcome, Report, Succeeded
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import ClaimReply, ExecutionEvent, StepCall
from supervisor.core.executions.timers import next_due
from supervisor.executions.memory import MemoryEngine
from tests.supervisor.core.crashes.processes.sequencer import Sequencer
from tests.supervisor.core.crashes.world.messages import (
    CALLS,
    HISTORY,
    RESULTS,
    Addressed,
    Created,
    EventOf,
)
from tests.supervisor.core.crashes.world.world import (
    BEGAN,
    LANGUAGE,
    PARTITIONS,
    World,
    partition_of,
)

RUNNER = Runner("executor-1", "one")
OTHER = Runner("executor-2", "one")


class EngineInTest(Protocol):
    """An engine with one owner of everything; each method returns when all is worked in."""

    def start(self, plan: FlowPlan, execution: str) -> None:
        """Start an execution, or repeat the start of one."""

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Give inputs to an execution, in their order."""

    def get(self, execution: str) -> Execution:
        """Return an execution as it is stored."""

    def take_calls(self) -> list[StepCall]:
        """Return the calls that are new since the last time."""

    def replies(self) -> list[ClaimReply]:
        """Return every answer to a claim."""

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution."""

    def dropped(self) -> Counter[str]:
        """Return how many inputs changed nothing, by reason."""

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""

    def restart(self) -> None:
        """End the owner as a crash does, and let another one begin."""

    def die_before_commit(self, execution: str, *inputs: ExecutionInput) -> int:
        """Give inputs, and end the owner when it has worked them in and has not committed them.

        Returns how many are left unread: the others were with who gave them.
        """

    def unread(self) -> int:
        """Return how many inputs are not worked in."""


class Memory:
    """The engine in memory; what it holds outlives a restart, as it has no other place."""

    def __init__(self) -> None:
        """Be empty."""
        self._engine = MemoryEngine(LANGUAGE, lambda _: None)
        self._now = BEGAN

    def start(self, plan: FlowPlan, execution: str) -> None:
        """Start an execution, or repeat the start of one."""
        self._engine.start(Execution(execution, plan, {}, self._now))
        self._engine.work(self._now)

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Give inputs to an execution, in their order."""
        for given in inputs:
            self._engine.send(execution, given)
        self._engine.work(self._now)

    def get(self, execution: str) -> Execution:
        """Return an execution as it is stored."""
        return self._engine.executions[execution]

    def take_calls(self) -> list[StepCall]:
        """Return the calls that are new since the last time."""
        calls, self._engine.calls = self._engine.calls, []
        return calls

    def replies(self) -> list[ClaimReply]:
        """Return every answer to a claim."""
        return [one for one in self._engine.replies if isinstance(one, ClaimReply)]

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution."""
        return self._engine.events.get(execution, [])

    def dropped(self) -> Counter[str]:
        """Return how many inputs changed nothing, by reason."""
        return Counter(str(reason) for _, _, reason in self._engine.dropped)

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""
        self._now += by
        self._engine.tick(self._now)

    def restart(self) -> None:
        """Begin anew with the same entities."""
        old = self._engine
        self._engine = MemoryEngine(LANGUAGE, old.flow_of, old.executions, old.gates)
        for name in ("calls", "replies", "events", "dropped"):
            setattr(self._engine, name, getattr(old, name))

    def die_before_commit(self, execution: str, *inputs: ExecutionInput) -> int:
        """Take them in, and store nothing."""
        for given in inputs:
            self._engine.send(execution, given)
        self.restart()
        return 0

    def unread(self) -> int:
        """Nothing waits: an input is worked in when it is sent."""
        return 0


class Model:
    """The sequencer of the simulation, over its log: what it does not store is lost."""

    def __init__(self) -> None:
        """Be empty."""
        self.world = World(0, {}, lambda _: None)
        self.world.trouble = False
        self._sequencer = Sequencer(self.world, "one")
        self._steps = self._sequencer.steps()
        self._calls = dict.fromkeys(range(PARTITIONS), 0)
        self._work()

    def _work(self) -> None:
        """Let the owner work until nothing is left."""
        self._sequencer.beat()
        while next(self._steps) != "poll" or self.unread() or self._due():
            self._sequencer.beat()

    def _due(self) -> bool:
        entities = [
            one for part in self._sequencer.owned.values() for one in part.entities.values()
        ]
        times = [next_due(one) for one in entities if isinstance(one, Execution)]
        return any(time is not None and time <= self.world.now for time in times)

    def start(self, plan: FlowPlan, execution: str) -> None:
        """Start an execution, or repeat the start of one."""
        self.append(execution, Created(Execution(execution, plan, {}, self.world.now)))
        self._work()

    def append(self, execution: str, letter: object) -> None:
        """Give a letter to an execution, which nobody reads yet."""
        self.world.log.append((HISTORY, partition_of(execution)), execution, letter)

    def send(self, execution: str, *inputs: ExecutionInput) -> None:
        """Give inputs to an execution, in their order."""
        for given in inputs:
            self.append(execution, Addressed(given))
        self._work()

    def get(self, execution: str) -> Execution:
        """Return an execution as the topic has it."""
        entities, _ = self._sequencer.restore(partition_of(execution))
        entity = entities[execution]
        assert isinstance(entity, Execution)
        return entity

    def take_calls(self) -> list[StepCall]:
        """Return the calls that are new since the last time."""
        taken: list[StepCall] = []
        for part, start in self._calls.items():
            records, self._calls[part] = self.world.log.read((CALLS, part), start)
            taken += [one.value for one in records if isinstance(one.value, StepCall)]
        return taken

    def replies(self) -> list[ClaimReply]:
        """Return every answer to a claim."""
        records, _ = self.world.log.read((RESULTS, 0), 0)
        return [one.value for one in records if isinstance(one.value, ClaimReply)]

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution."""
        records, _ = self.world.log.read((RESULTS, partition_of(execution)), 0)
        values = [one.value for one in records if isinstance(one.value, EventOf)]
        return [one.event for one in values if one.execution == execution]

    def dropped(self) -> Counter[str]:
        """Return how many inputs changed nothing, by reason."""
        total: Counter[str] = Counter()
        for part in range(PARTITIONS):
            total.update(self._sequencer.restore(part)[1].drops)
        return total

    def pass_time(self, by: timedelta) -> None:
        """Let time go on."""
        self.world.pass_time(by.total_seconds())
        self._work()

    def restart(self) -> None:
        """Let the owner die where it is, and another one take over."""
        self._sequencer = Sequencer(self.world, "one")
        self._steps = self._sequencer.steps()
        self._work()

    def die_before_commit(self, execution: str, *inputs: ExecutionInput) -> int:
        """Let the owner come up to its commit; it goes no further."""
        for given in inputs:
            self.append(execution, Addressed(given))
        self.work_until("commit")
        return len(inputs)

    def work_until(self, step: str) -> None:
        """Let the owner work up to a step, and no further."""
        self._sequencer.beat()
        while next(self._steps) != step:
            pass

    def unread(self) -> int:
        """Return how many letters are behind the stored positions."""
        places = [(HISTORY, part) for part in range(PARTITIONS)]
        starts = [self._sequencer.restore(part)[1].next for _, part in places]
        read = self.world.log.read
        return sum(len(read(*one)[0]) for one in zip(places, starts, strict=True))


ENGINES: Mapping[str, Callable[[], EngineInTest]] = {"memory": Memory, "model": Model}


@dataclass
class Stage:
    """An engine with one runner that does as it is bid."""

    engine: EngineInTest
    started: list[str] = field(default_factory=list)

    def start(self, plan: FlowPlan, execution: str = "e1") -> list[StepCall]:
        """Start an execution, and return its first calls."""
        self.started.append(execution)
        self.engine.start(plan, execution)
        return self.engine.take_calls()

    def claim(self, job: StepCall, runner: Runner = RUNNER) -> bool:
        """Ask for a call; return whether it was granted."""
        self.engine.send(job.execution, Claim(job.run, job.attempt, runner))
        return self.engine.replies()[-1].granted

    def report(self, job: StepCall, outcome: Outcome, runner: Runner = RUNNER) -> None:
        """Report what came of a call."""
        self.engine.send(job.execution, Report(job.run, job.attempt, outcome, runner))

    def finish(self, jobs: list[StepCall] | None = None) -> None:
        """Make every call well, and those that follow."""
        waiting = list(jobs or ())
        while waiting := waiting + self.engine.take_calls():
            job = waiting.pop(0)
            if self.claim(job):
                self.report(job, Succeeded())

    def run(self, step: str, execution: str = "e1") -> TaskRun:
        """Return the one task run of a step."""
        runs = self.engine.get(execution).runs.values()
        (run,) = (run for run in runs if run.step == step)
        return run

    def check_ends(self) -> None:
        """K7 and K8: each start has one end, and no input is left."""
        assert self.engine.unread() == 0
        for execution in self.started:
            events = self.engine.events(execution)
            assert [one.number for one in events] == list(range(1, len(events) + 1))
            for kind in ("execution", "step", "attempt"):
                started, over = (list(_named(events, f"{kind}-{way}")) for way in _WAYS)
                assert len(set(started)) == len(started)
                assert len(set(over)) == len(over)
                assert set(over) <= set(started)
                if self.engine.get(execution).state.ended:
                    assert set(over) == set(started)


_WAYS = ("started", "ended")


def _named(events: list[ExecutionEvent], name: str) -> Iterator[tuple[str, object]]:
    for event in events:
        if event.name == name:
            yield event.run, event.about.get("attempt")
