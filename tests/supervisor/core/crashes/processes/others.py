"""The model of what stands around: the relay with the purge, the projector, and people."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from supervisor.core.executions.entities import Execution, TaskRun, WaitsFor
from supervisor.core.executions.inputs import (
    AnswerStep,
    ExecutionInput,
    KillIt,
    Nudge,
    PauseIt,
    ResumeIt,
    RetryStep,
    SkipStep,
)
from supervisor.core.executions.states import ExecutionState
from tests.supervisor.core.crashes.world.group import Wanted
from tests.supervisor.core.crashes.world.messages import (
    HISTORY,
    STATE,
    Addressed,
    Created,
    Letter,
    Purged,
)
from tests.supervisor.core.crashes.world.world import PARTITIONS, Sent, World, partition_of

KEPT = timedelta(seconds=90)
"""An execution that has ended is kept so long: longer than the longest freeze of a relay."""


@dataclass
class Relay:
    """Sends what the database wants sent, marks it, and forgets what is over."""

    world: World
    name: str

    def beat(self) -> None:
        """Nobody looks whether it lives."""

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        world = self.world
        while True:
            for key, row in world.database.unsent():
                yield "outbox"
                sent = self.send(row.execution, self.letter(row))
                yield "send"
                while not self.is_safe(sent):
                    yield "wait for the log"
                yield "mark"
                world.database.rows[key].sent = True
            for execution in list(world.database.projected.values()):
                if self.may_purge(execution):
                    yield "purge"
                    sent = self.send(execution.id, Purged())
                    while not self.is_safe(sent):
                        yield "wait for the log"
                    yield "purge rows"
                    world.database.purge(execution.id)
            yield "poll"

    def letter(self, row: Wanted) -> Letter:
        """Return what a row wants sent."""
        if row.given is not None:
            return Addressed(row.given)
        assert row.plan is not None
        return Created(Execution(row.execution, row.plan, row.inputs, self.world.now))

    def send(self, execution: str, letter: Letter) -> Sent:
        """Let a record go."""
        place = (HISTORY, partition_of(execution))
        return self.world.send(self.name, place, execution, letter)

    def is_safe(self, sent: Sent) -> bool:
        """Whether a record is in the log."""
        return sent.arrived

    def may_purge(self, execution: Execution) -> bool:
        """Whether nobody needs an execution any more."""
        ended = execution.ended_at
        if not execution.state.ended or ended is None or self.world.now - ended < KEPT:
            return False
        return self.world.database.is_sent(execution.id)


@dataclass
class Projector:
    """Copies the state topic into the database, with its offset in the same transaction."""

    world: World
    name: str

    def beat(self) -> None:
        """Nobody looks whether it lives."""

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        world = self.world
        while True:
            for part in range(PARTITIONS):
                start = world.database.offsets.get(part, 0)
                records, end = world.log.read((STATE, part), start)
                if end == start:
                    continue
                yield "project"
                heads: dict[str, Execution] = {}
                runs: dict[str, dict[str, TaskRun]] = {}
                for record in records:
                    if isinstance(record.value, Execution):
                        heads[record.value.id] = record.value
                    elif isinstance(record.value, TaskRun):
                        owner = record.key.split("/")[1]
                        runs.setdefault(owner, {})[record.value.id] = record.value
                whole = [
                    Execution(**{**vars(head), "runs": runs.get(name, {})})
                    for name, head in heads.items()
                ]
                world.database.project(part, start, end, whole)
                yield "projected"
            yield "poll"


@dataclass
class People:
    """Start executions, and ask for something now and then."""

    world: World
    name: str
    starts: int
    chance: random.Random
    number: int = 0
    started: list[str] = field(default_factory=list)

    def beat(self) -> None:
        """Nobody looks whether it lives."""

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        while True:
            yield "poll"
            if len(self.started) < self.starts and self.chance.random() < 0.1:
                self.start()
                yield "request"
            if self.chance.random() < 0.04 and self.world.trouble:
                self.wish()
                yield "request"

    def start(self) -> None:
        """Want an execution, and again with the same key."""
        name = f"x{len(self.started)}"
        self.started.append(name)
        plan = self.world.flows[self.chance.choice(["one", "two"])]
        for _ in range(self.chance.choice([1, 1, 2])):
            self.world.database.want(f"start-{name}", Wanted(name, None, plan, {"day": name}))

    def wish(self) -> None:
        """Want something of an execution that is known."""
        known = list(self.world.database.projected.values())
        if not known:
            return
        chance = self.chance
        execution = chance.choice(known)
        run = chance.choice([*execution.runs, "nothing"])
        wishes: list[ExecutionInput] = [
            PauseIt("p"),
            ResumeIt("p"),
            ResumeIt("p"),
            RetryStep(run, "p"),
            SkipStep(run, "p"),
            AnswerStep(run, chance.random() < 0.7, "p"),
            Nudge(run),
        ]
        if chance.random() < 0.1:
            wishes = [KillIt("p", force=chance.random() < 0.3)]
        self.want(execution.id, chance.choice(wishes))

    def want(self, execution: str, given: ExecutionInput) -> None:
        """Store a wish."""
        self.number += 1
        self.world.database.want(f"wish-{self.number}", Wanted(execution, given))

    def help(self) -> None:
        """Do for each execution what it waits for people to do; once per version of it."""
        for execution in self.world.database.projected.values():
            if execution.state.ended:
                continue
            if execution.state is ExecutionState.PAUSED:
                self.help_with(execution, "", ResumeIt("p"))
            for run in execution.runs.values():
                if run.wait is not None and run.wait.kind is WaitsFor.ANSWER:
                    self.help_with(execution, run.id, AnswerStep(run.id, True, "p"))
                elif run.wait is not None and run.wait.kind is WaitsFor.PERSON:
                    self.help_with(execution, run.id, SkipStep(run.id, "p"))

    def help_with(self, execution: Execution, run: str, given: ExecutionInput) -> None:
        """Store a wish, unless it is there already."""
        key = f"help-{execution.id}-{run}-{execution.version}"
        self.world.database.want(key, Wanted(execution.id, given))
