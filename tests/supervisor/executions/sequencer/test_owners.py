"""Partitions in threads: taken over, fenced and taken over anew, left."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from supervisor.core.executions.entities import Execution
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionLeft, PartitionOwners
from supervisor.ports.flows.execution_log import LogAway, LogTopic
from tests.environment.memory_log import MemoryLog, MemoryTopics
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.supervisor.executions.sequencer.test_loop import PLAN
from tests.waiting import wait_until

_WITHIN_S = 20.0


class Owning:
    """A process that owns partitions of topics in memory."""

    def __init__(self, topics: MemoryTopics) -> None:
        """Own nothing yet."""
        self.topics = topics
        self.away = 0
        """How many take-overs fail."""
        self.idle_s = 0.005
        """How long an owner waits that nothing wakes."""
        self.owners = PartitionOwners(self.new_owner, again_s=0.01)

    def new_owner(self, partition: int) -> PartitionOwner:
        """Return an owner that has not begun."""
        log = MemoryLog(self.topics, partition, idle_s=self.idle_s)
        if self.away:
            self.away -= 1
            log = _Away(self.topics, partition)
        plan = PartitionPlan(1, 1)
        return PartitionOwner(partition, plan, log, LANGUAGE, lambda _: None, now=self.now)

    def now(self) -> datetime:
        """Time does not pass."""
        return BEGAN


class _Away(MemoryLog):
    def take_over(self) -> list[object]:  # type: ignore[override]
        """Fail."""
        raise LogAway("no answer")


@pytest.fixture
def owning() -> Iterator[Owning]:
    """One process."""
    process = Owning(MemoryTopics())
    yield process
    process.owners.leave([0])


def _ready(owning: Owning) -> PartitionOwner:
    wait_until(lambda: owning.owners.owner(0) is not None, within_s=_WITHIN_S)
    owner = owning.owners.owner(0)
    assert owner is not None
    return owner


def test_what_is_asked_is_worked_in_by_the_partitions_thread(owning: Owning) -> None:
    owning.owners.begin([0])
    owning.owners.begin([0])  # it is owned already
    asked = _ready(owning).ask(starts=[Execution("e1", PLAN, {}, BEGAN)])

    assert asked.result(_WITHIN_S).started == {"e1"}


def test_an_owner_that_waits_is_woken_by_who_asks_and_by_its_end(owning: Owning) -> None:
    """Goal: a claim and a report wait for no time of their owner."""
    owning.idle_s = 3_600
    owning.owners.begin([0])
    owner = _ready(owning)

    for name in ("e1", "e2", "e3"):
        asked = owner.ask(starts=[Execution(name, PLAN, {}, BEGAN)])
        assert asked.result(_WITHIN_S).started == {name}
    assert owning.owners.leave([0])


def test_one_that_cannot_be_taken_over_is_tried_again_and_says_why(owning: Owning) -> None:
    owning.away = 3
    owning.owners.begin([0])
    _ready(owning)

    assert owning.away == 0
    assert owning.owners.owned()[0].trouble == ""


def test_the_right_owner_that_was_fenced_takes_over_anew(owning: Owning) -> None:
    """Goal: a slow former owner does not stop the partition for good."""
    owning.owners.begin([0])
    fenced = _ready(owning)
    slow = MemoryLog(owning.topics, 0)
    slow.take_over()
    asked = fenced.ask(starts=[Execution("e1", PLAN, {}, BEGAN)])
    assert asked.exception(_WITHIN_S) is not None

    wait_until(lambda: owning.owners.owner(0) not in {None, fenced}, within_s=_WITHIN_S)
    again = _ready(owning).ask(starts=[Execution("e1", PLAN, {}, BEGAN)])
    assert again.result(_WITHIN_S).started == {"e1"}


def test_what_is_left_writes_nothing_more_and_answers_so(owning: Owning) -> None:
    owning.owners.begin([0])
    owner = _ready(owning)

    assert owning.owners.leave([0])
    late = owner.ask(starts=[Execution("e1", PLAN, {}, BEGAN)])

    assert isinstance(late.exception(0), PartitionLeft)

    assert owning.owners.owner(0) is None
    assert owning.owners.owned() == {}
    assert owning.topics.of(LogTopic.STATE) == []
