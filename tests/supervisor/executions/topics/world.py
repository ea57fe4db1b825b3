"""Topics in memory that abort, fall silent in doubt, repeat letters, and fence who is too late."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.plan import FlowPlan
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.ports.flows.execution_log import (
    LogAborted,
    LogAway,
    LogEntry,
    LogRecord,
    LogTopic,
)
from supervisor.ports.flows.executions import HeldCall
from tests.environment.memory_log import MemoryLog, MemoryTopics
from tests.supervisor.core.crashes.world.group import Group, Registry
from tests.supervisor.executions.lives.world.world import World

PARTITIONS = 3
PLAN = PartitionPlan(PARTITIONS, 2)
KEPT = timedelta(seconds=120)
_AWAY, _ABORTS, _TWICE, _LATE = 0.01, 0.04, 0.1, 0.2
_LATE_MAX = 10
"""Reads."""
_NOT_YET = 0.2
"""Of take-overs: meanwhile the runner reports by the history."""

Committed = Callable[[int, str, Sequence[LogEntry]], None]
"""Partition, life, and what became visible in one transaction."""


@dataclass
class TopicWorld(World):
    """What all executors share."""

    flows: dict[str, FlowPlan] = field(default_factory=dict)
    topics: MemoryTopics = field(default_factory=MemoryTopics)
    group: Group = field(default_factory=lambda: Group(PARTITIONS))
    registry: Registry = field(default_factory=Registry)
    committed: Committed = lambda *_: None
    held: Callable[[Runner], Sequence[HeldCall]] = lambda _: ()
    """What the tables say that a runner holds."""

    def send(self, part: int, key: str, body: bytes) -> None:
        """Append a letter without a transaction: it may come twice, and nobody may hear of it.

        Raises:
            LogAway: it is there, or not.
        """
        dice = self.chance.random() if self.trouble else 1.0
        if dice < _AWAY:
            raise LogAway("on purpose, before a letter")
        for _ in range(2 if dice < _TWICE else 1):
            self.topics.append(LogTopic.HISTORY, part, key, body)
        self.faults["a letter comes twice"] += int(dice < _TWICE)
        if dice > 1 - _AWAY and self.trouble:
            raise LogAway("on purpose, behind a letter")

    def has_letters(self, nexts: Sequence[int | None]) -> bool:
        """Whether a partition has letters behind its position."""
        ends = [len(self.topics.of(LogTopic.HISTORY, part)) for part in range(PARTITIONS)]
        return any(end > (start or 0) for end, start in zip(ends, nexts, strict=True))


@dataclass
class FaultyLog(MemoryLog):
    """Implements `ports.flows.execution_log.PartitionLog` for one life."""

    world: TopicWorld = field(kw_only=True)
    life: str = field(kw_only=True)
    _late: int = 0
    """How many reads find nothing, whatever is there."""

    def take_over(self) -> list:  # type: ignore[type-arg]
        """Fence, and return the newest of each key."""
        self.world.may_die(self.life, "executor: take over")
        self._answer("take-over", _NOT_YET)
        records = super().take_over()
        self.world.may_die(self.life, "executor: restore")
        return list(records)

    def read(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return what is there, or nothing: a broker answers late."""
        self.world.may_die(self.life, "executor: read")
        self._answer("read")
        if self.world.trouble and self.world.chance.random() < _LATE:
            self.world.faults["letters come late"] += 1
            self._late = self.world.chance.randrange(_LATE_MAX)
        records = super().read(0 if self._late else limit, within_s)
        self._late = max(0, self._late - 1)
        self.world.may_die(self.life, "executor: reduce")
        return records

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Append all, or nothing; in doubt nobody knows which."""
        world = self.world
        world.may_die(self.life, "executor: write")
        dice = world.chance.random() if world.trouble else 1.0
        if dice < _ABORTS:
            world.faults["a transaction is aborted"] += 1
            raise LogAborted("on purpose")
        if dice < _ABORTS + _AWAY:
            world.faults["a commit is in doubt, and did not come"] += 1
            raise LogAway("on purpose, before the commit")
        world.may_die(self.life, "executor: commit")
        super().write(entries)
        self._repeat(entries)
        world.committed(self.partition, self.life, entries)
        if dice > 1 - _AWAY and world.trouble:
            world.faults["a commit is in doubt, and came"] += 1
            raise LogAway("on purpose, behind the commit")
        world.may_die(self.life, "executor: answer")

    def _repeat(self, entries: Sequence[LogEntry]) -> None:
        """Let a letter for another partition come twice now and then."""
        for each in entries:
            of_others = each.topic is LogTopic.HISTORY
            if of_others and self.world.trouble and self.world.chance.random() < _TWICE:
                self.world.faults["a letter comes twice"] += 1
                self.topics.of(LogTopic.HISTORY, each.partition).append(each)

    def _answer(self, step: str, fails: float = _AWAY) -> None:
        if self.world.trouble and self.world.chance.random() < fails:
            self.world.faults[f"the broker is away at a {step}"] += 1
            raise LogAway(f"on purpose, at a {step}")
