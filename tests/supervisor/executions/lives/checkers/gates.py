"""X7: gates have no more holders than they may, all of them alive, first come first served."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution
from tests.supervisor.core.crashes.checkers.rules import ENDS
from tests.supervisor.executions.lives.checkers.rows import GateRow


@dataclass
class GateChecker:
    """Compares gates with the executions that hold them, and with the gates before."""

    before: dict[str, GateRow] = field(default_factory=dict)

    def see(
        self, gates: dict[str, GateRow], heads: Mapping[str, Execution], changed: set[str]
    ) -> Iterator[str]:
        """Yield what is wrong after a commit that has changed some executions."""
        for gate in gates.values():
            yield from self._one(gate, heads)
        for name, old in self.before.items():
            new = gates.get(name, GateRow(name, old.limit, frozenset(), ()))
            yield from self._turns(old, new)
        for name in changed:
            yield from self._holds(heads[name], gates)
            yield from self._refused(heads[name], gates, heads, changed)
        self.before = gates

    @staticmethod
    def _one(gate: GateRow, heads: Mapping[str, Execution]) -> Iterator[str]:
        if len(gate.holders) > gate.limit:
            yield f"X7 {gate.name} has {len(gate.holders)} holders, {gate.limit} may be"
        if gate.queue and len(gate.holders) < gate.limit:
            yield f"X7 {gate.name} has room, and {gate.queue[0]} waits"
        if not gate.queue and not gate.holders:
            yield f"X7 {gate.name} is kept, and nobody needs it"
        for name in gate.holders:
            head = heads.get(name)
            if head is None or head.state in ENDS or head.began_at is None:
                yield f"X7 {gate.name} is held by {name}, which does not run"
        for name in gate.queue:
            head = heads.get(name)
            if head is None or head.state != "QUEUED":
                yield f"X7 {name} waits at {gate.name}, and is not queued"

    @staticmethod
    def _turns(old: GateRow, new: GateRow) -> Iterator[str]:
        """Nobody is overtaken: who got a slot was before all who wait still."""
        for place, name in enumerate(old.queue):
            if name in new.holders:
                for earlier in old.queue[:place]:
                    if earlier in new.queue:
                        yield f"X7 {name} has overtaken {earlier} at {new.name}"
        kept = [name for name in new.queue if name in old.queue]
        if kept != [name for name in old.queue if name in new.queue]:
            yield f"X7 the queue of {new.name} has another order"

    @staticmethod
    def _holds(head: Execution, gates: Mapping[str, GateRow]) -> Iterator[str]:
        if head.plan.concurrency is None or head.state in ENDS:
            return
        name = gate_of(head)
        gate = gates.get(name)
        if head.began_at is not None and (gate is None or head.id not in gate.holders):
            yield f"X7 {head.id} runs without a slot of {name}"
        if head.state == "QUEUED" and (gate is None or head.id not in gate.queue):
            yield f"X7 {head.id} is queued, and {name} does not know it"

    def _refused(
        self,
        head: Execution,
        gates: Mapping[str, GateRow],
        heads: Mapping[str, Execution],
        changed: set[str],
    ) -> Iterator[str]:
        """An execution is refused only where the gate is full, and never where the flow queues."""
        if not any(failure.error.code == "no-slot" for failure in head.failures):
            return
        rule, name = head.plan.concurrency, gate_of(head)
        if rule is None or rule.when_full == "queue":
            yield f"X7 {head.id} is refused, and its flow queues"
            return
        if head.state != ("KILLED" if rule.when_full == "cancel" else "FAILED"):
            yield f"X7 {head.id} is refused, and ends as {head.state}"
        sizes = [len(some[name].holders) for some in (self.before, gates) if name in some]
        others = any(heads[one].flow == head.flow for one in changed if one != head.id)
        if max(sizes, default=0) < rule.limit and not others:
            yield f"X7 {head.id} is refused, and {name} has room"


def gate_of(head: Execution) -> str:
    """Return the name of the gate of an execution: its flow and the value of its key."""
    rule = head.plan.concurrency
    key = "" if rule is None or rule.key is None else str(head.inputs.get("k"))
    return f"{head.flow}/{key}"
