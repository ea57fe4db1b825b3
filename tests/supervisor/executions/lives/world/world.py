"""The world of one seed over a database: a clock, a lease, a queue of publishes, and a sink."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import LeaseLost
from tests.supervisor.core.crashes.world.sink import Sink

BEGAN = datetime(2026, 11, 1, 3, 0, 30, tzinfo=UTC)
LEASE = timedelta(seconds=15)
KEPT = timedelta(seconds=120)
"""Executions that have ended are kept so long, and of each flow so many:"""
KEPT_OF_EACH = 5
LANGUAGE = CelExpressions()


class Died(BaseException):
    """The process of a life ends here; nothing of the product catches it."""

    def __init__(self, life: str) -> None:
        super().__init__(life)
        self.life = life


@dataclass
class Metadata:
    """What the metadata database keeps: the lease, and the queue of publishes with its position."""

    term: int = 0
    holder: str = ""
    until: datetime = BEGAN
    events: list[QueuedEvent] = field(default_factory=list)
    handled: int = 0

    def take_lease(self, life: str, now: datetime) -> int | None:
        """Renew the lease of a life, or take a free one in a new term; None: another leads.

        The lease of an earlier life of the same process is free.
        """
        if self.holder != life:
            is_mine = self.holder.partition(".")[0] == life.partition(".")[0]
            if now < self.until and not is_mine:
                return None
            self.holder, self.term = life, self.term + 1
        self.until = now + LEASE
        return self.term

    @contextmanager
    def leading(self, term: int) -> Iterator[SimpleNamespace]:
        """Open a transaction of a term, as `ports.store.Store` does, for what is used of it."""
        self.fence(term)
        added: list[QueuedEvent] = []

        def add(_: object, event: QueuedEvent, *__: object, **___: object) -> None:
            added.append(event)

        audit = SimpleNamespace(write=lambda _: None)
        events = SimpleNamespace(add=add, find=lambda _: True)
        yield SimpleNamespace(audit=audit, events=events)
        self.events += added

    def handle(self, term: int, to: int) -> None:
        """Move the queue's position.

        Raises:
            LeaseLost: another one leads.
        """
        self.fence(term)
        self.handled = max(self.handled, to)

    def fence(self, term: int) -> None:
        """Refuse every term but the newest."""
        if term != self.term:
            raise LeaseLost(f"term {term} is over")


@dataclass
class LifeClock:
    """The clock of one machine: it may be behind, and be set back."""

    world: "World"
    behind: timedelta = timedelta(0)

    def now(self) -> datetime:
        """Return the time that it shows."""
        return self.world.now - self.behind

    def monotonic(self) -> float:
        """Return seconds that only grow."""
        return 1_000.0 + (self.world.now - BEGAN).total_seconds()


@dataclass
class World:
    """What all processes share.  `trouble`: whether faults happen."""

    seed: int
    url: str
    on_line: Callable[[str], None] | None = None
    now: datetime = BEGAN
    trouble: bool = True
    cruel: float = 0.02
    turns: int = 0
    lives: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    crash_points: Counter[str] = field(default_factory=Counter)
    metadata: Metadata = field(default_factory=Metadata)
    wrote: Callable[[str, int], None] = lambda *_: None
    """Called after each commit, with the life and its term."""
    looked: Callable[[str], None] = lambda _: None
    """Called when the life that leads has done its duty to executions."""

    def __post_init__(self) -> None:
        """Make what needs the seed."""
        self.chance = random.Random(f"{self.seed}/world")
        self.sink = Sink(random.Random(f"{self.seed}/sink"))

    def next_life(self, name: str) -> str:
        """Return a name that no life has had."""
        self.lives += 1
        return f"{name}.{self.lives}"

    def pass_time(self, seconds: float) -> None:
        """Let time go on."""
        self.now += timedelta(seconds=seconds)

    def may_die(self, life: str, point: str) -> None:
        """End a life at a point, now and then.

        Raises:
            Died: it ends here.
        """
        if self.trouble and self.chance.random() < self.cruel:
            self.trace(f"{life} dies: {point}")
            self.crash_points[point] += 1
            self.faults["a leader dies in a transaction"] += 1
            raise Died(life)

    def trace(self, line: str) -> None:
        """Write a line, if somebody reads them."""
        if self.on_line is not None:
            self.on_line(f"{(self.now - BEGAN).total_seconds():9.2f} {line}")
