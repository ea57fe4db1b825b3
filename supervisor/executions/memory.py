"""An engine in memory: for `tidegate flow simulate`, and the measure for the other engines.

It has no thread and no clock: who holds it says what time it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import ExecutionInput, GateInput, Tick
from supervisor.core.executions.records import StateRecord
from supervisor.core.executions.reduced import Cancel, ClaimReply, Drop, ExecutionEvent, StepCall
from supervisor.core.executions.timers import next_due
from supervisor.executions.batch import FlowOf, InputBatch


@dataclass
class MemoryEngine:
    """Every entity of one place, and what goes out of it."""

    language: Expressions
    flow_of: FlowOf
    executions: dict[str, Execution] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    """Those that somebody holds or waits for."""
    calls: list[StepCall] = field(default_factory=list)
    replies: list[ClaimReply | Cancel] = field(default_factory=list)
    """For runners: answers to their claims, and what they shall stop."""
    events: dict[str, list[ExecutionEvent]] = field(default_factory=dict)
    dropped: list[tuple[str, ExecutionInput | GateInput, Drop]] = field(default_factory=list)
    keep: Callable[[Iterable[StateRecord]], None] = lambda _: None
    """Gets what a durable engine would write, a batch at a time; by default nobody does."""
    _starts: list[Execution] = field(default_factory=list)
    _inputs: list[tuple[str, ExecutionInput]] = field(default_factory=list)

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution; None: there is none."""
        return self.executions.get(execution_id)

    def gate(self, name: str) -> Gate | None:
        """Return a gate; None: nobody needs it."""
        return self.gates.get(name)

    def start(self, execution: Execution) -> None:
        """Queue a new execution; one whose id is known is left as it is."""
        self._starts.append(execution)

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Queue an input; `work` reduces it."""
        self._inputs.append((execution, given))

    def work(self, now: datetime) -> None:
        """Reduce everything that is queued, new executions first, and what follows from it."""
        batch = InputBatch(self, self.language, self.flow_of, now)
        for execution in self._starts:
            batch.start(execution)
        for execution_id, given in self._inputs:
            batch.send(execution_id, given)
        self._starts, self._inputs = [], []
        batch.work()
        self._store(batch)

    def next_due(self) -> datetime | None:
        """Return the time for which some execution waits; None: none does."""
        times = (next_due(execution) for execution in self.executions.values())
        return min((time for time in times if time is not None), default=None)

    def tick(self, now: datetime) -> None:
        """Let each execution know that its time has come, and reduce."""
        for execution in self.executions.values():
            due = next_due(execution)
            if due is not None and due <= now:
                self.send(execution.id, Tick())
        self.work(now)

    def _store(self, batch: InputBatch) -> None:
        self.executions.update(batch.executions)
        for gate in batch.gates.values():
            if gate.at_rest:
                self.gates.pop(gate.name, None)
            else:
                self.gates[gate.name] = gate
        self.calls.extend(batch.calls)
        self.replies.extend(batch.replies)
        for execution, events in batch.events.items():
            self.events.setdefault(execution, []).extend(events)
        self.dropped.extend(batch.dropped)
        self.keep(batch.records())
