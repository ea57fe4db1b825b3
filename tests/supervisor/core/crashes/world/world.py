"""The world of one seed: a clock that is moved on, what is on its way, and the processes."""

import random
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.plan import FlowPlan
from tests.supervisor.core.crashes.world.group import Database, Group, Registry
from tests.supervisor.core.crashes.world.log import Log, Place, Watch
from tests.supervisor.core.crashes.world.sink import Sink

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
PARTITIONS = 2
DELAY_MAX_S = 5.0
"""A record that is on its way arrives within this time, or never."""
LANGUAGE = CelExpressions()


def partition_of(entity: str) -> int:
    """Return the partition of an entity."""
    return zlib.crc32(entity.encode()) % PARTITIONS


@dataclass
class Sent:
    """A record that is on its way from a process without transactions."""

    sender: str
    place: Place
    key: str
    value: object
    arrives_at: datetime
    arrived: bool = False


@dataclass
class World:
    """What all processes share.  `trouble`: whether faults happen."""

    seed: int
    flows: dict[str, FlowPlan]
    watch: Watch
    on_line: Callable[[str], None] | None = None
    now: datetime = BEGAN
    trouble: bool = True
    broker_away_until: datetime = BEGAN
    faults: Counter[str] = field(default_factory=Counter)
    crash_points: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    lives: int = 0
    on_way: list[Sent] = field(default_factory=list)
    executors: Group = field(default_factory=lambda: Group(PARTITIONS))
    runners: Group = field(default_factory=lambda: Group(PARTITIONS))
    registry: Registry = field(default_factory=Registry)
    database: Database = field(default_factory=Database)

    def __post_init__(self) -> None:
        """Make what needs the seed."""
        self.chance = random.Random(f"{self.seed}/world")
        self.log = Log(self.watch)
        self.sink = Sink(random.Random(f"{self.seed}/sink"))

    def next_life(self) -> str:
        """Return a name that no life of a runner has had."""
        self.lives += 1
        return f"life-{self.lives}"

    @property
    def broker_away(self) -> bool:
        """Whether nothing can be written to the log."""
        return self.now < self.broker_away_until

    def send(self, sender: str, place: Place, key: str, value: object) -> Sent:
        """Let a record go; it may arrive late, and twice."""
        delay = 0.0
        if self.trouble and self.chance.random() < 0.3:
            delay = self.chance.uniform(0, DELAY_MAX_S)
        sent = Sent(sender, place, key, value, self.now + timedelta(seconds=delay))
        self.on_way.append(sent)
        if self.trouble and self.chance.random() < 0.1:
            late = self.now + timedelta(seconds=self.chance.uniform(0, DELAY_MAX_S))
            self.on_way.append(Sent(sender, place, key, value, late))
            self.faults["a record comes twice"] += 1
        self.arrive()
        return sent

    def arrive(self) -> None:
        """Append what has arrived by now."""
        if self.broker_away:
            return
        due = [sent for sent in self.on_way if sent.arrives_at <= self.now]
        for sent in due:
            self.on_way.remove(sent)
            sent.arrived = True
            self.log.append(sent.place, sent.key, sent.value)

    def lose(self, sender: str) -> None:
        """Of what a process that died has on its way, a part never arrives."""
        for sent in list(self.on_way):
            if sent.sender == sender and self.chance.random() < 0.5:
                self.on_way.remove(sent)
                self.faults["a record is lost with its sender"] += 1

    def pass_time(self, seconds: float) -> None:
        """Let time go on."""
        self.now += timedelta(seconds=seconds)
        self.arrive()

    def trace(self, line: str) -> None:
        """Write a line, if somebody reads them."""
        if self.on_line is not None:
            self.on_line(f"{(self.now - BEGAN).total_seconds():9.2f} {line}")
