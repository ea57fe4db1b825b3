"""People: they start executions, and ask for something now and then, until there is an answer."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution, WaitsFor
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
from tests.supervisor.executions.lives.world.world import Died
from tests.supervisor.executions.topics.executor import PROBLEMS, ExecutorLife
from tests.supervisor.executions.topics.world import TopicWorld


@dataclass
class PartitionPeople:
    """Ask any executor; without an answer they ask again."""

    world: TopicWorld
    chance: random.Random
    starts: int
    lives: Callable[[], Sequence[ExecutorLife]]
    known: Callable[[], Sequence[Execution]]
    bury: Callable[[str], None]
    wanted: set[str] = field(default_factory=set)
    open: list[tuple[Execution | None, str, ExecutionInput | None]] = field(default_factory=list)

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        while True:
            for wish in list(self.open):
                yield "people: ask"
                if self.ask(*wish):
                    self.open.remove(wish)
            yield "poll"
            if self.world.trouble:
                self.want()

    def ask(self, start: Execution | None, name: str, given: ExecutionInput | None) -> bool:
        """Ask once; return whether there was an answer."""
        lives = self.lives()
        if not lives:
            return False
        life = self.chance.choice(lives)
        try:
            if start is not None:
                life.engine.work(starts=[start])
            elif given is not None:
                life.engine.work([(name, given)])
        except PROBLEMS:
            return False
        except Died as error:
            self.bury(error.life)
            return False
        return True

    def want(self) -> None:
        """Want something, or not."""
        chance = self.chance
        if len(self.wanted) < self.starts and chance.random() < 0.2:
            name = f"x{len(self.wanted)}"
            plan = self.world.flows[chance.choice(["one", "two"])]
            self.wanted.add(name)
            new = Execution(name, plan, {"k": "a"}, self.world.now)
            self.open += [(new, name, None)] * chance.choice([1, 1, 2])
        elif chance.random() < 0.3 and self.known():
            one = chance.choice(self.known())
            run = chance.choice([*one.runs, "nothing"])
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
            self.open.append((None, one.id, chance.choice(wishes)))

    def help(self) -> None:
        """Do for each execution what it waits for people to do."""
        if any(given is not None for _, _, given in self.open):
            return
        for one in self.known():
            if one.state is ExecutionState.PAUSED:
                self.open.append((None, one.id, ResumeIt("p")))
            for run in one.runs.values():
                kind = None if run.wait is None or run.state.ended else run.wait.kind
                if kind is WaitsFor.ANSWER:
                    self.open.append((None, one.id, AnswerStep(run.id, True, "p")))
                elif kind is WaitsFor.PERSON:
                    self.open.append((None, one.id, SkipStep(run.id, "p")))
