"""One run: executions are started at a pace, processes and wires fail, all heals, all is judged."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from supervisor.dev.broker import Broker
from tests.chaos.flows.crew import EXECUTORS, LEADERS, Crew
from tests.chaos.flows.judge import Verdict, judge, rows_left, undrained
from tests.chaos.flows.work import FLOW, Called, flows_of
from tests.chaos.processes.proxy import FaultProxy, Mode
from tests.environment.execution_topics import TopicsOfTest
from tests.waiting import wait_until

__all__ = ["FlowStory", "Wishes"]

_FEEDERS = 4
_PACE_S = 0.3


@dataclass(frozen=True)
class Wishes:
    """How long it goes on: until there were so many of both."""

    kills: int
    executions: int


@dataclass
class FlowStory:
    """Plays once."""

    crew: Crew
    called: Called
    broker: Broker
    wire: FaultProxy | None
    """To the broker; None: it is not cut, and the broker lives."""
    seed: int
    say: Callable[[str], None]
    started: set[str] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)
    recoveries: list[float] = field(default_factory=list)
    """Seconds from a kill of an executor until the other one works all partitions."""
    within_s: float = 120.0
    """In the end some step goes on within this time, until all has ended."""
    _over: threading.Event = field(default_factory=threading.Event)
    """Set: no more executions are started."""
    _pause: threading.Event = field(default_factory=threading.Event)
    """Never set."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, wishes: Wishes) -> Verdict:
        """Start, break, heal, and judge."""
        wait_until(lambda: self.crew.ask("GET", "/api/v1/flows") is not None, within_s=120.0)
        for flow in flows_of(self.called):
            wait_until(lambda: self.crew.ask("POST", "/api/v1/flows", flow) is not None)  # noqa: B023 -- waited for here
        self._await_owned()
        numbers = iter(range(wishes.executions))
        feeders = [
            threading.Thread(target=self._feed, args=(numbers,), name=f"feeder-{each}")
            for each in range(_FEEDERS)
        ]
        for feeder in feeders:
            feeder.start()
        try:
            self._break(wishes, feeders)
        except KeyboardInterrupt:
            self.say("interrupted: what was started by now is judged")
        finally:
            self._over.set()
            self._heal()
            for feeder in feeders:
                feeder.join()
        self.say(f"healed; {len(self.started)} executions, {dict(self.faults)}")
        self._drain()
        topics = TopicsOfTest(self.broker.bootstrap, self.crew.topics)
        try:
            self._await_drained(topics)
            return judge(topics, self.called, self.started, rows_left(self.crew.postgres))
        finally:
            topics.close()

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(count for name, count in self.faults.items() if name.startswith("kill"))

    def _feed(self, numbers: Iterator[int]) -> None:
        """Start executions until there is no number left; each until it is known to be started."""
        path = f"/api/v1/flows/{FLOW}/executions"
        while (number := self._next(numbers)) is not None and not self._over.is_set():
            body = {"key": f"n{number}", "inputs": {}}
            while self.crew.ask("POST", path, body) is None:
                self._over.wait(_PACE_S)
            self.started.add(f"{FLOW}:n{number}")
            self._over.wait(_PACE_S)

    def _next(self, numbers: Iterator[int]) -> int | None:
        with self._lock:
            return next(numbers, None)

    def _break(self, wishes: Wishes, feeders: Sequence[threading.Thread]) -> None:
        chance = random.Random(self.seed)
        line_at = time.monotonic()
        while self.kills < wishes.kills or any(each.is_alive() for each in feeders):
            fault = chance.choice(self._choices())
            fault(chance)
            self._pause.wait(chance.uniform(0.5, 3.0))
            self.crew.heal()
            self._pause.wait(chance.uniform(1.0, 6.0))
            if time.monotonic() - line_at > 30:
                line_at = time.monotonic()
                self.say(f"{len(self.started)} started, {self.kills} kills")

    def _choices(self) -> list[Callable[[random.Random], None]]:
        faults: list[Callable[[random.Random], None]]
        faults = [self._kill_executor, self._kill_executor, self._kill_leader, self._freeze]
        faults += [self._cut_database, self._kill_all_executors]
        if self.wire is not None:
            faults += [self._cut_broker, self._kill_broker]
        return faults

    def _kill_executor(self, chance: random.Random) -> None:
        name = chance.choice(EXECUTORS)
        self.crew.kill(name)
        self.faults["kill executor"] += 1
        began = time.monotonic()
        [other] = {*EXECUTORS} - {name}
        if chance.random() < 0.5:  # it comes back at once, as under a process manager
            return
        wait_until(lambda: len(self._owned(other)) == self.crew.topics.entities, within_s=120.0)
        self.recoveries.append(time.monotonic() - began)

    def _kill_all_executors(self, _: random.Random) -> None:
        for name in EXECUTORS:
            self.crew.kill(name)
            self.faults["kill executor"] += 1

    def _kill_leader(self, chance: random.Random) -> None:
        self.crew.kill(chance.choice(LEADERS))
        self.faults["kill overlord"] += 1

    def _freeze(self, chance: random.Random) -> None:
        self.crew.freeze(chance.choice(self.crew.names))
        self.faults["freeze"] += 1
        self._pause.wait(chance.choice([2.0, 14.0]))  # the longer one is beyond the session

    def _cut_database(self, chance: random.Random) -> None:
        self.crew.wires[chance.choice(self.crew.names)].set(Mode.CUT)
        self.faults["cut database"] += 1
        self._pause.wait(chance.uniform(1.0, 12.0))

    def _cut_broker(self, chance: random.Random) -> None:
        assert self.wire is not None
        self.wire.set(chance.choice([Mode.CUT, Mode.HOLE]))
        self.faults["cut broker"] += 1
        self._pause.wait(chance.uniform(1.0, 12.0))
        self.wire.set(Mode.PASS)

    def _kill_broker(self, chance: random.Random) -> None:
        self.broker.kill()
        self.faults["kill broker"] += 1
        self._pause.wait(chance.uniform(0.5, 5.0))
        self.broker.start()

    def _heal(self) -> None:
        if self.wire is not None:
            self.wire.set(Mode.PASS)
        self.crew.heal()

    def _owned(self, name: str) -> list[int]:
        return self.crew.partitions(name)

    def _await_owned(self) -> None:
        wanted = self.crew.topics.entities
        wait_until(
            lambda: sum(len(self._owned(name)) for name in EXECUTORS) == wanted, within_s=120.0
        )

    def _drain(self) -> None:
        """Wait until all has ended: fifteen at once take minutes for a thousand that wait."""
        while not self._all_ended():
            before = self.called.count
            wait_until(lambda: self.called.count > before or self._all_ended(), self.within_s)  # noqa: B023 -- waited for here
            self._pause.wait(_PACE_S)

    def _await_drained(self, topics: TopicsOfTest) -> None:
        """Wait for the last inputs: what is left after that is for the judge."""
        with suppress(AssertionError):
            wait_until(
                lambda: not undrained(topics) and not any(rows_left(self.crew.postgres).values()),
                self.within_s,
            )

    def _all_ended(self) -> bool:
        """Whether the tables know of no execution that lives, and of as many as were started."""
        for state in ("CREATED", "QUEUED", "RUNNING", "PAUSED", "KILLING"):
            answer = self.crew.ask("GET", f"/api/v1/executions?state={state}&limit=1")
            if answer is None or answer.json()["executions"]:
                return False
        return True
