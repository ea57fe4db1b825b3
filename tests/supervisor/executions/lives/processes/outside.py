"""All that comes from outside: people, a webhook's sender, publishes.  Each asks until answered."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution, RerunOf, WaitsFor
from supervisor.core.executions.states import ExecutionState
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import (
    ExecutionStoreUnavailable,
    LeaseLost,
    Refused,
)
from supervisor.core.values.permissions import Actor
from supervisor.services.flows.executions import StartRequest
from supervisor.services.flows.hooks import HookRequest
from tests.supervisor.executions.lives.processes.leader import TOKEN, LeaderLife
from tests.supervisor.executions.lives.world.documents import REQUESTED, Document, Documents
from tests.supervisor.executions.lives.world.world import Died, World

Ask = Callable[[LeaderLife, Actor], object]


@dataclass
class Wish:
    """Something that is asked for until there is an answer."""

    by: str
    kind: str
    about: str
    """An execution; of a webhook its key."""
    ask: Ask
    tries: int = 0
    answer: object = None
    refused: str = ""
    over: bool = False
    came_late: bool = False
    """Whether it is a repeat of a request that was answered long ago."""


@dataclass
class Outside:
    """People and machines; `leaders` gives the lives that run now."""

    world: World
    leaders: Callable[[], list[LeaderLife]]
    documents: Documents
    chance: random.Random
    starts: int
    wishes: list[Wish] = field(default_factory=list)
    publishes: list[tuple[str, datetime]] = field(default_factory=list)
    bury: Callable[[str], None] = lambda _: None
    """Called when a life has ended while it was asked."""
    known: Callable[[], list[Execution]] = list
    """Returns the executions that are there."""
    newest: dict[str, Document] = field(default_factory=dict)
    keys: dict[str, Wish] = field(default_factory=dict)
    """Of requests and webhooks: the first wish with each key."""

    def steps(self) -> Iterator[str]:
        """Go on for ever."""
        for _ in range(self.chance.randint(0, 5)):
            self.publish()  # nobody watches them
        for document in self.documents.all():
            self.apply(document)
        while True:
            for wish in [one for one in self.wishes if not one.over]:
                yield "outside: ask"
                self.ask(wish)
            yield "poll"
            applied = all(wish.over for wish in self.wishes if wish.kind == "apply")
            if self.world.trouble and applied:
                self.want()

    def ask(self, wish: Wish) -> None:
        """Ask one of those who lead, or believe so; without an answer it is asked again."""
        lives = [life for life in self.leaders() if life.term is not None]
        if not lives:
            return
        life = self.chance.choice(lives)
        wish.tries += 1
        try:
            wish.answer = wish.ask(life, Actor.named(wish.by, None))
        except (LeaseLost, ExecutionStoreUnavailable):
            return
        except Died as error:
            self.bury(error.life)
            return
        except Refused as error:
            wish.refused = type(error).__name__
        wish.over = True
        self.world.trace(f"{wish.by} {wish.kind} {wish.about}: {wish.refused or 'done'}")

    def add(self, kind: str, about: str, ask: Ask) -> Wish:
        """Wish for something."""
        wish = Wish(f"p{len(self.wishes)}", kind, about, ask)
        self.wishes.append(wish)
        return wish

    def apply(self, document: Document) -> None:
        """Apply a version of a flow."""
        name = str(document["flow"])
        self.newest[name] = document
        self.add("apply", name, lambda life, by: life.flows.apply(document, by))

    def want(self) -> None:
        """Wish for something, or not."""
        chance = self.chance
        dice = chance.random()
        if dice < 0.12:
            if len(self.keys) < self.starts:
                self.start()
        elif dice < 0.2:
            self.hook()
        elif dice < 0.3:
            self.publish()
        elif dice < 0.6:
            self.meddle()
        elif dice < 0.72:
            self.rerun()
        elif dice < 0.82:
            before = self.newest[chance.choice(REQUESTED)]
            self.apply(self.documents.changed(before))
            self.rerun(str(before["flow"]))

    def start(self) -> None:
        """Start an execution with a key, sometimes with one that was used."""
        again = [key for key in self.keys if not key.startswith("hook")]
        if again and self.chance.random() < 0.3:
            first = self.keys[self.chance.choice(again)]
            repeat = self.add("start", first.about, first.ask)
            repeat.came_late = True
            return
        flow, key = self.chance.choice(REQUESTED), f"r{len(self.keys)}"
        inputs = {"k": self.chance.choice("ab"), "id": key}
        wanted = StartRequest(flow, inputs, key)
        name = f"{flow}:{key}"
        self.keys[key] = self.add("start", name, lambda life, by: life.executions.start(wanted, by))

    def hook(self) -> None:
        """Send a request to a webhook, often with a key that was used, also with another body."""
        used = [key for key in self.keys if key.startswith("hook")]
        key = self.chance.choice(used) if used and self.chance.random() < 0.5 else None
        number = f"hook{len(self.keys)}" if key is None else key
        other = key is not None and self.chance.random() < 0.3
        body = b'{"id": "other"}' if other else f'{{"id": "{number}"}}'.encode()
        request = HookRequest("one", "hook", body, "127.0.0.1", token=TOKEN, key=number)
        kind = "other hook" if other else "hook"
        wish = self.add(kind, number, lambda life, _: life.hooks.take(request))
        self.keys.setdefault(number, wish)

    def publish(self) -> None:
        """Publish a range: its event is in the same transaction."""
        name, now = f"g{len(self.publishes)}", self.world.now
        body: dict[str, str | int | float | bool | None] = {
            "table": "t",
            "supervisor": "s",
            "rows": 1,
            "at": now.isoformat(),
        }
        self.publishes.append((name, now))
        self.world.metadata.events.append(QueuedEvent("publish", name, body))

    def rerun(self, of_new: str | None = None) -> None:
        """Run one that has ended again; `of_new`: of this flow, by its new version."""
        ended = [
            one
            for one in self.known()
            if one.state.ended and one.parent is None and of_new in (None, one.flow)
        ]
        if not ended:
            return
        chance, old = self.chance, self.chance.choice(ended)
        names = [step.name for step in old.plan.steps]
        first = chance.choice([None, *names])
        latest = of_new is not None or chance.random() < 0.4
        wanted = RerunOf(old.id, first, latest, chance.random() < 0.2)
        key = f"again{len(self.wishes)}"
        self.add("rerun", old.id, lambda life, by: life.reruns.start(wanted, key, by))

    def meddle(self) -> None:
        """Ask something of an execution that is there."""
        known = self.known()
        if not known:
            return
        chance, one = self.chance, self.chance.choice(known)
        run, name = chance.choice([*one.runs, "nothing"]), one.id
        if chance.random() < 0.08:
            force = chance.random() < 0.3
            self.add("kill", name, lambda life, by: life.executions.kill(name, by, force=force))
            return
        yes = chance.random() < 0.7
        kinds: dict[str, Ask] = {
            "pause": lambda life, by: life.executions.pause(name, by),
            "resume": lambda life, by: life.executions.resume(name, by),
            "retry": lambda life, by: life.executions.retry(name, run, by),
            "skip": lambda life, by: life.executions.skip(name, run, by),
            "answer": lambda life, by: life.executions.answer(name, run, by, yes=yes, comment=""),
        }
        kind = chance.choice([*kinds, "resume"])
        self.add(kind, name, kinds[kind])

    def help(self) -> None:
        """Once all faults are over: let schedules rest, and do what executions wait for."""
        if not any(wish.kind == "pause-trigger" for wish in self.wishes):
            self.add(
                "pause-trigger",
                "three",
                lambda life, by: life.switches.pause("three", "cron", by),
            )
        open_ones = {(wish.kind, wish.about) for wish in self.wishes if not wish.over}
        for one in self.known():
            for kind, ask in self._needs(one):
                if (kind, one.id) not in open_ones:
                    self.add(kind, one.id, ask)

    def _needs(self, one: Execution) -> Iterator[tuple[str, Ask]]:
        name = one.id
        if one.state is ExecutionState.PAUSED:
            yield "resume", lambda life, by: life.executions.resume(name, by)
        for run in one.runs.values():
            kind = None if run.wait is None or run.state.ended else run.wait.kind
            if kind is WaitsFor.ANSWER:
                yield "answer", _answers(name, run.id)
            elif kind is WaitsFor.PERSON:
                yield "skip", _skips(name, run.id)


def _answers(name: str, run: str) -> Ask:
    return lambda life, by: life.executions.answer(name, run, by, yes=True, comment="")


def _skips(name: str, run: str) -> Ask:
    return lambda life, by: life.executions.skip(name, run, by)


__all__ = ["Ask", "Outside", "Wish"]
