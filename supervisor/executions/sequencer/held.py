"""What the owner of a partition holds in memory: its entities, and the times they wait for."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.records import Restored, StateRecord, restore
from supervisor.core.executions.timers import next_due
from supervisor.executions.sequencer.batch import PartitionBatch
from supervisor.executions.sequencer.calls import PartitionCalls
from supervisor.executions.sequencer.letters import (
    POSITION_FORM,
    PartitionPosition,
)
from supervisor.ports.flows.execution_log import POSITION_KEY

__all__ = ["HeldPartition"]


@dataclass
class HeldPartition:
    """The entities of a partition as they are stored.  Nothing in it changes before a commit."""

    restored: Restored = field(default_factory=Restored)
    position: PartitionPosition = field(default_factory=PartitionPosition)
    calls: PartitionCalls = field(default_factory=PartitionCalls)
    _times: list[tuple[datetime, str]] = field(default_factory=list)
    """A heap; what an execution does not wait for any more is passed over."""

    @classmethod
    def of(cls, records: Iterable[StateRecord]) -> "HeldPartition":
        """Build it from the newest record of each key.

        Raises:
            NewerRecord: a newer release has written one of them.
            UnreadableRecord: the position cannot be read.
        """
        position, rest = PartitionPosition(), list[StateRecord]()
        for record in records:
            if record.key != POSITION_KEY:
                rest.append(record)
            elif record.value is not None:
                position = POSITION_FORM.read(record.value)
        held = cls(restore(rest), position)
        held._wait_for(held.restored.executions.values())
        return held

    def restore_calls(self, now: datetime, language: Expressions) -> None:
        """Work out which calls wait, and who makes which."""
        for execution in self.restored.executions.values():
            if not execution.state.ended:
                self.calls.restore(execution, now, language)

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution; None: there is none."""
        return self.restored.executions.get(execution_id)

    def gate(self, name: str) -> Gate | None:
        """Return a gate; None: nobody needs it."""
        return self.restored.gates.get(name)

    def unreadable(self, execution_id: str) -> str | None:
        """Return why an execution is set aside; None: it is not."""
        return self.restored.unreadable.get(f"e/{execution_id}")

    def keep(self, batch: PartitionBatch, position: PartitionPosition) -> None:
        """Take over what is committed."""
        self.restored.executions.update(batch.executions)
        for name, runs in batch.runs.items():
            new = [call for call in batch.calls if call.execution == name]
            self.calls.keep(batch.executions[name], iter(sorted(runs)), new)
        for name, execution in batch.purged.items():
            self.restored.executions.pop(name, None)
            self.calls.forget(execution)
        for gate in batch.gates.values():
            if gate.at_rest:
                self.restored.gates.pop(gate.name, None)
            else:
                self.restored.gates[gate.name] = gate
        self.position = position
        self._wait_for(batch.executions.values())

    def due(self, now: datetime, limit: int) -> Sequence[str]:
        """Return executions whose time has come, those that wait longest first."""
        due: list[str] = []
        kept: list[tuple[datetime, str]] = []
        while self._times and self._times[0][0] <= now and len(due) < limit:
            time, execution_id = heapq.heappop(self._times)
            execution = self.execution(execution_id)
            if execution is None or next_due(execution) != time or execution_id in due:
                continue
            due.append(execution_id)
            kept.append((time, execution_id))
        for entry in kept:  # a batch that is not committed does not lose them
            heapq.heappush(self._times, entry)
        return due

    def next_due(self) -> datetime | None:
        """Return the earliest time that something may wait for."""
        return self._times[0][0] if self._times else None

    def _wait_for(self, executions: Iterable[Execution]) -> None:
        for execution in executions:
            time = next_due(execution)
            if time is not None:
                heapq.heappush(self._times, (time, execution.id))
