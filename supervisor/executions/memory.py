"""An engine in memory: for `tidegate flow simulate`, and the measure for the other engines.

    inputs ─► reduce ─► messages to other entities are inputs again
                   └──► calls for runners, grants, cancels, events: kept until they are taken

It has no thread and no clock: who holds it says what time it is.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.gates import Gate, reduce_gate
from supervisor.core.executions.inputs import (
    Begin,
    ChildEnded,
    ExecutionInput,
    GateInput,
    Tick,
)
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduce import reduce_execution
from supervisor.core.executions.reduced import (
    Cancel,
    ClaimReply,
    Drop,
    ExecutionEvent,
    Message,
    Send,
    SendGate,
    StartChild,
    StepCall,
)
from supervisor.core.executions.states import ExecutionState
from supervisor.core.executions.timers import next_due
from supervisor.executions.records import (
    StateRecord,
    first_records,
    gate_record,
    records_of,
)

FlowOf = Callable[[str], FlowPlan | None]
"""Name of a flow -> its newest plan; None: there is no such flow."""


@dataclass
class MemoryEngine:
    """Every entity of one place, and what goes out of it."""

    language: Expressions
    flow_of: FlowOf
    executions: dict[str, Execution] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    calls: list[StepCall] = field(default_factory=list)
    replies: list[ClaimReply | Cancel] = field(default_factory=list)
    """For runners: answers to their claims, and what they shall stop."""
    events: dict[str, list[ExecutionEvent]] = field(default_factory=dict)
    dropped: list[tuple[str, ExecutionInput | GateInput, Drop]] = field(default_factory=list)
    keep: Callable[[Iterable[StateRecord]], None] = lambda _: None
    """Gets what a durable engine would write, one change at a time; by default nobody does."""
    _inbox: deque[tuple[str, ExecutionInput] | tuple[str, GateInput, None]] = field(
        default_factory=deque
    )

    def start(self, execution: Execution) -> None:
        """Take a new execution over; one whose id is known is left as it is."""
        if execution.id not in self.executions:
            self.executions[execution.id] = execution
            self.keep(first_records(execution))
        self.send(execution.id, Begin())

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Queue an input; `work` reduces it."""
        self._inbox.append((execution, given))

    def work(self, now: datetime) -> None:
        """Reduce everything that is queued, and what follows from it."""
        while self._inbox:
            match self._inbox.popleft():
                case (str(name), given, None):
                    self._reduce_gate(name, given)
                case (str(execution), given):
                    self._reduce(execution, given, now)

    def next_due(self) -> datetime | None:
        """Return the time for which some execution waits; None: none does."""
        times = (next_due(execution) for execution in self.executions.values())
        return min((time for time in times if time is not None), default=None)

    def tick(self, now: datetime) -> None:
        """Let each execution know that its time has come, and reduce."""
        for execution in list(self.executions.values()):
            due = next_due(execution)
            if due is not None and due <= now:
                self.send(execution.id, Tick())
        self.work(now)

    def _reduce(self, execution_id: str, given: ExecutionInput, now: datetime) -> None:
        execution = self.executions.get(execution_id)
        if execution is None:
            self.dropped.append((execution_id, given, Drop.NOT_LIVE))
            return
        reduced = reduce_execution(execution, given, now, self.language)
        if reduced.dropped is not None:
            self.dropped.append((execution_id, given, reduced.dropped))
        self.executions[execution_id] = reduced.entity
        self.keep(records_of(reduced))
        self.calls.extend(reduced.calls)
        self.events.setdefault(execution_id, []).extend(reduced.events)
        for message in reduced.messages:
            self._route(message, now)

    def _reduce_gate(self, name: str, given: GateInput) -> None:
        reduced = reduce_gate(self.gates.get(name, Gate(name)), given)
        if reduced.dropped is not None:
            self.dropped.append((name, given, reduced.dropped))
        self.gates[name] = reduced.entity
        self.keep((gate_record(reduced.entity),))
        if reduced.entity.at_rest:
            del self.gates[name]
        for message in reduced.messages:
            if isinstance(message, Send):
                self.send(message.execution, message.input)

    def _route(self, message: Message, now: datetime) -> None:
        match message:
            case Send(execution, given):
                self.send(execution, given)
            case SendGate(gate, given):
                self._inbox.append((gate, given, None))
            case StartChild():
                self._start_child(message, now)
            case ClaimReply() | Cancel():
                self.replies.append(message)

    def _start_child(self, child: StartChild, now: datetime) -> None:
        plan = self.flow_of(child.flow)
        if plan is None:
            parent, run, attempt = child.parent.split("/")
            why = f"there is no flow {child.flow}"
            failed = ChildEnded(run, int(attempt), ExecutionState.FAILED, why=why)
            self.send(parent, failed)
            return
        inputs: Mapping[str, JsonValue] = child.inputs
        self.start(
            Execution(child.execution, plan, inputs, now, parent=child.parent, depth=child.depth)
        )
