"""A gate: how many executions of a flow run at once, as a set of holders and a queue.

A counter would drift when a freeing came twice or not at all.  A set cannot: an execution holds its
slot once, however often it asks, and the slot is freed with the end of the holder.
"""

from dataclasses import dataclass, replace

from supervisor.core.executions.inputs import (
    GateInput,
    SlotFreed,
    SlotGiven,
    SlotRefused,
    SlotWanted,
)
from supervisor.core.executions.plan import WhenFull
from supervisor.core.executions.reduced import Drop, Message, Reduced, Send
from supervisor.core.values.tagged import SortedTexts


@dataclass(frozen=True)
class Gate:
    """One gate; its name holds the flow and the value of the key."""

    name: str
    limit: int = 1
    holders: SortedTexts = frozenset()
    queue: tuple[str, ...] = ()
    version: int = 0

    @property
    def at_rest(self) -> bool:
        """Whether nobody needs it: it need not be kept."""
        return not self.holders and not self.queue


def reduce_gate(gate: Gate, given: GateInput) -> Reduced[Gate]:
    """Work one input in.  A slot that is free goes to who has waited longest."""
    match given:
        case SlotWanted(execution=execution) if execution in gate.holders:
            again = Send(execution, SlotGiven(gate.name))
            return Reduced(gate, messages=(again,), dropped=Drop.DUPLICATE)
        case SlotWanted(execution=execution) if execution in gate.queue:
            return Reduced(gate, dropped=Drop.DUPLICATE)
        case SlotWanted():
            return _want(gate, given)
        case SlotFreed(execution):
            return _freed(gate, execution)


def _want(gate: Gate, asked: SlotWanted) -> Reduced[Gate]:
    full = len(gate.holders) >= asked.limit
    if full and asked.when_full is not WhenFull.QUEUE:
        refused = Send(asked.execution, SlotRefused(gate.name, asked.when_full))
        return _given(replace(gate, limit=asked.limit), (refused,))
    return _given(replace(gate, limit=asked.limit, queue=(*gate.queue, asked.execution)))


def _freed(gate: Gate, execution: str) -> Reduced[Gate]:
    if execution not in gate.holders and execution not in gate.queue:
        return Reduced(gate, dropped=Drop.DUPLICATE)
    queue = tuple(one for one in gate.queue if one != execution)
    return _given(replace(gate, holders=gate.holders - {execution}, queue=queue))


def _given(gate: Gate, messages: tuple[Message, ...] = ()) -> Reduced[Gate]:
    """Give the free slots away, and return the gate's next version."""
    free = max(0, gate.limit - len(gate.holders))
    first, rest = gate.queue[:free], gate.queue[free:]
    holders = gate.holders | frozenset(first)
    given = tuple(Send(one, SlotGiven(gate.name)) for one in first)
    entity = replace(gate, holders=holders, queue=rest, version=gate.version + 1)
    return Reduced(entity, messages=(*messages, *given))
