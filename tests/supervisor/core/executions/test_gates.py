"""Gates: never more holders than the limit, first come first served, and no slot is lost."""

import random

import pytest

from supervisor.core.executions.gates import Gate, reduce_gate
from supervisor.core.executions.inputs import (
    SlotFreed,
    SlotGiven,
    SlotRefused,
    SlotWanted,
)
from supervisor.core.executions.plan import WhenFull
from supervisor.core.executions.reduced import Drop, Send


@pytest.mark.parametrize("seed", range(50))
def test_holders_stay_within_the_limit_whatever_comes_twice(seed: int) -> None:
    chance, gate, limit = random.Random(seed), Gate("g"), 3
    waiting: list[str] = []
    holders: set[str] = set()
    gone: set[str] = set()
    for _ in range(300):
        name = f"e{chance.randrange(12)}"
        if chance.random() < 0.5 and name not in gone:
            reduced = reduce_gate(gate, SlotWanted(name, limit, WhenFull.QUEUE))
            if name not in holders and name not in waiting:
                waiting.append(name)
        else:
            reduced = reduce_gate(gate, SlotFreed(name))
            holders.discard(name)
            waiting = [one for one in waiting if one != name]
        while waiting and len(holders) < limit:
            holders.add(waiting.pop(0))
        assert reduced.entity.version - gate.version == (0 if reduced.dropped else 1)
        gate = reduced.entity
        assert gate.holders == holders
        assert list(gate.queue) == waiting
    for name in [*holders, *waiting]:
        gate = reduce_gate(gate, SlotFreed(name)).entity
    assert gate.at_rest


def test_the_holder_who_asks_again_gets_the_same_slot() -> None:
    gate = reduce_gate(Gate("g"), SlotWanted("e1", 1, WhenFull.QUEUE)).entity

    again = reduce_gate(gate, SlotWanted("e1", 1, WhenFull.QUEUE))

    assert again.messages == (Send("e1", SlotGiven("g")),)
    assert again.dropped is Drop.DUPLICATE
    assert again.entity == gate


def test_a_full_gate_refuses_who_does_not_queue() -> None:
    gate = reduce_gate(Gate("g"), SlotWanted("e1", 1, WhenFull.FAIL)).entity

    reduced = reduce_gate(gate, SlotWanted("e2", 1, WhenFull.FAIL))

    assert reduced.messages == (Send("e2", SlotRefused("g", WhenFull.FAIL)),)
    assert reduced.entity.holders == {"e1"}


def test_a_higher_limit_lets_more_in() -> None:
    gate = Gate("g")
    for name in ("e1", "e2", "e3"):
        gate = reduce_gate(gate, SlotWanted(name, 1, WhenFull.QUEUE)).entity

    reduced = reduce_gate(gate, SlotWanted("e4", 3, WhenFull.QUEUE))

    assert reduced.entity.holders == {"e1", "e2", "e3"}
    assert reduced.entity.queue == ("e4",)
