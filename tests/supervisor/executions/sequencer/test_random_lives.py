"""Random lives on topics: the same as in memory on one partition, and all promises on several.

Owners die between any two transactions, and transactions are aborted.
"""

import random
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

import pytest
from pydantic_core import to_json

from supervisor.core.executions.records import CALL_FORM
from supervisor.core.executions.reduced import Cancel, ClaimReply, ExecutionEvent
from supervisor.executions.memory import MemoryEngine
from supervisor.executions.sequencer import loop
from supervisor.executions.sequencer.letters import RESULT_FORM, ResultRecord
from supervisor.ports.flows.execution_log import LogEntry, LogTopic
from tests.supervisor.core.executions.test_any_order import Life
from tests.supervisor.executions.sequencer.test_loop import Owners

EntityT = TypeVar("EntityT")


class OverTopics(MemoryEngine):
    """An engine whose inputs go through topics; what it holds is read from owners and topics."""

    owners: Owners
    chance: random.Random
    taken: dict[LogTopic, list[int]]

    def over(self, owners: Owners, seed: int) -> None:
        """Use these owners from now on."""
        self.owners, self.chance = owners, random.Random(seed)
        self.taken = {topic: [0] * owners.entities for topic in LogTopic}

    def work(self, now: datetime) -> None:
        """Let the owners work everything in; some of them die before or after it."""
        starts, inputs = list(self._starts), list(self._inputs)
        self._starts, self._inputs = [], []
        self.owners.now = now
        for execution in starts:
            self.owners.start(execution.plan, execution.id)
        for name, given in inputs:
            self.owners.send(name, given)
        if self.chance.random() < 0.2:
            self.owners.topics.aborts = self.chance.randint(1, 3)
        if self.chance.random() < 0.2:
            self.owners.owners[0].turn(0)
            self.owners.restart()
        self.owners.work()
        self._read()

    def tick(self, now: datetime) -> None:
        """Let time pass: owners see for themselves what is due."""
        self.work(now)

    def _read(self) -> None:
        held = [owner.held.restored for owner in self.owners.owners]
        self.executions = _all(each.executions for each in held)
        self.gates = _all(each.gates for each in held)
        self.calls += [CALL_FORM.read(each.value or b"") for each in self._new(LogTopic.CALLS)]
        for each in self._new(LogTopic.RESULTS):
            match RESULT_FORM.read(each.value or b""):
                case ClaimReply() | Cancel() as reply:
                    self.replies.append(reply)
                case event:
                    self.events.setdefault(each.key.decode(), []).append(event)

    def _new(self, topic: LogTopic) -> list[LogEntry]:
        new: list[LogEntry] = []
        for part, start in enumerate(self.taken[topic]):
            entries = self.owners.topics.of(topic, part)[start:]
            self.taken[topic][part] += len(entries)
            new += entries
        return new


def _all(some: Iterable[dict[str, EntityT]]) -> dict[str, EntityT]:
    return {name: entity for each in some for name, entity in each.items()}


def _over_topics(seed: int, entities: int) -> tuple[Life, OverTopics]:
    life = Life(seed)
    engine = life.world.engine
    engine.__class__ = OverTopics
    assert isinstance(engine, OverTopics)
    engine.over(Owners(entities, dict(life.world.flows)), seed)
    return life, engine


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_on_several_partitions_everything_ends_once(seed: int) -> None:
    life, engine = _over_topics(seed, entities=3)

    life.live()

    before = [owner.held for owner in engine.owners.owners]
    engine.owners.restart()
    for owner, held in zip(engine.owners.owners, before, strict=True):
        assert owner.held.restored == held.restored
        assert owner.held.position == held.position


class Followed(MemoryEngine):
    """An engine in memory whose inputs the owner of one partition gets as well."""

    owners: Owners
    chance: random.Random

    def work(self, now: datetime) -> None:
        """Work in here, and there, where owners die and transactions are aborted."""
        starts, inputs = list(self._starts), list(self._inputs)
        super().work(now)
        self.owners.now = now
        if self.chance.random() < 0.2:
            self.owners.restart()
        if self.chance.random() < 0.2:
            self.owners.topics.aborts = self.chance.randint(1, 3)
        self.owners.owners[0].ask(inputs, starts)
        self.owners.work()


@pytest.mark.parametrize("seed", range(12))
def test_on_one_partition_it_comes_to_the_same_as_in_memory(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "TICKS_MAX", 0)  # times are inputs of the one in memory
    life = Life(seed)
    engine = life.world.engine
    engine.__class__ = Followed
    assert isinstance(engine, Followed)
    engine.owners, engine.chance = Owners(flows=dict(life.world.flows)), random.Random(seed)

    life.live()

    engine.owners.restart()
    held = engine.owners.owners[0].held
    assert held.restored.executions == engine.executions
    assert held.restored.gates == engine.gates
    assert sum(held.position.drops.values()) == len(engine.dropped)
    written = engine.owners.topics.of(LogTopic.RESULTS)
    for name, events in engine.events.items():
        results = [
            RESULT_FORM.read(one.value or b"") for one in written if one.key == name.encode()
        ]
        assert in_any_order(results) == in_any_order(events)


def in_any_order(events: Iterable[ResultRecord]) -> Counter[str]:
    """Return events without their places: runs that are due at once end in any order."""
    return Counter(
        f"{one.name} {one.run} {to_json(one.about)!r}"
        for one in events
        if isinstance(one, ExecutionEvent)
    )
