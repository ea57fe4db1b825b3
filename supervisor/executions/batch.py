"""A batch: inputs that are worked in together, with every message that follows from them.

    inputs ─► reduce ─► messages to other entities of the same place are inputs of the same batch
                   └──► calls, replies to runners, events, records: for whoever stores the batch

The entities that it began with are left as they were: a batch that is not stored has not happened.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.gates import Gate, reduce_gate
from supervisor.core.executions.inputs import Begin, ExecutionInput, GateInput
from supervisor.core.executions.records import (
    StateRecord,
    gate_record,
    head_record,
    items_record,
    plan_record,
    run_record,
)
from supervisor.core.executions.reduce import reduce_execution
from supervisor.core.executions.reduced import (
    Cancel,
    ClaimReply,
    Drop,
    ExecutionEvent,
    Message,
    Send,
    SendGate,
    StartBatch,
    StartChild,
    StepCall,
)
from supervisor.core.flows.children import CalledFlow, begin_child, refuse_child
from supervisor.core.values.errors import InvalidFlow
from supervisor.ports.flows.executions import ExecutionChanges

__all__ = ["Entities", "FlowOf", "InputBatch"]

FlowOf = Callable[[str], CalledFlow | None]
"""Name of a flow -> its newest version; None: there is no such flow.

Raises InvalidFlow: this release does not take the version.
"""


class Entities(Protocol):
    """What is stored, as a batch finds it."""

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution; None: there is none."""
        ...

    def gate(self, name: str) -> Gate | None:
        """Return a gate; None: nobody needs it."""
        ...


@dataclass
class InputBatch:
    """Inputs of one moment, and what comes of them."""

    stored: Entities
    language: Expressions
    flow_of: FlowOf
    now: datetime
    executions: dict[str, Execution] = field(default_factory=dict)
    """Those that are new or other than before."""
    new: set[str] = field(default_factory=set)
    """The ids of those that are new."""
    runs: dict[str, set[str]] = field(default_factory=dict)
    """Execution -> the ids of its task runs that are new or other than before."""
    items: dict[str, set[str]] = field(default_factory=dict)
    """Execution -> the ids of its task runs whose items are new."""
    gates: dict[str, Gate] = field(default_factory=dict)
    calls: list[StepCall] = field(default_factory=list)
    replies: list[ClaimReply | Cancel] = field(default_factory=list)
    """For runners: answers to their claims, and what they shall stop."""
    events: dict[str, list[ExecutionEvent]] = field(default_factory=dict)
    dropped: list[tuple[str, ExecutionInput | GateInput, Drop]] = field(default_factory=list)
    _inbox: deque[tuple[str, ExecutionInput] | tuple[str, GateInput, None]] = field(
        default_factory=deque
    )

    def start(self, execution: Execution) -> bool:
        """Take a new execution over; False: one with its id is there, and is left as it is."""
        is_new = self.execution(execution.id) is None
        if is_new:
            self.executions[execution.id] = execution
            self.new.add(execution.id)
            self._note(execution, execution.runs, {})  # what a rerun has taken over
        self.send(execution.id, Begin())
        return is_new

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Queue an input; `work` reduces it."""
        self._inbox.append((execution, given))

    def work(self) -> None:
        """Reduce everything that is queued, and what follows from it.

        Raises:
            IllegalMove: a fault of the rules; the batch must not be stored.
        """
        while self._inbox:
            match self._inbox.popleft():
                case (str(name), given, None):
                    self._reduce_gate(name, given)
                case (str(execution), given):
                    self._reduce(execution, given)

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution as it is by now."""
        return self.executions.get(execution_id) or self.stored.execution(execution_id)

    def changes(self) -> ExecutionChanges:
        """Return what is to be stored."""
        return ExecutionChanges(
            self.executions,
            self.new,
            self.runs,
            self.gates,
            self.calls,
            self.events,
            items=self.items,
        )

    def records(self) -> Iterator[StateRecord]:
        """Yield the newest record of each thing that is new or other than before."""
        for execution in self.executions.values():
            yield head_record(execution)
            if execution.id in self.new:
                yield plan_record(execution)
            for run in sorted(self.runs.get(execution.id, ())):
                yield run_record(execution, run)
            for run in sorted(self.items.get(execution.id, ())):
                yield items_record(execution, run)
        for gate in self.gates.values():
            yield gate_record(gate)

    def _reduce(self, execution_id: str, given: ExecutionInput) -> None:
        execution = self.execution(execution_id)
        if execution is None:
            self.dropped.append((execution_id, given, Drop.NOT_LIVE))
            return
        reduced = reduce_execution(execution, given, self.now, self.language)
        if reduced.dropped is None:
            self.executions[execution_id] = reduced.entity
            self._note(reduced.entity, reduced.changed, execution.runs)
        else:
            self.dropped.append((execution_id, given, reduced.dropped))
        self.calls.extend(reduced.calls)
        if reduced.events:
            self.events.setdefault(execution_id, []).extend(reduced.events)
        for message in reduced.messages:
            self._route(message)

    def _note(
        self, execution: Execution, changed: Iterable[str], before: Mapping[str, TaskRun]
    ) -> None:
        """Note which task runs are to be stored, and of which the items."""
        for run in changed:
            self.runs.setdefault(execution.id, set()).add(run)
            items, old = execution.runs[run].items, before.get(run)
            if items is not None and (old is None or old.items is not items):
                self.items.setdefault(execution.id, set()).add(run)

    def _reduce_gate(self, name: str, given: GateInput) -> None:
        gate = self.gates.get(name) or self.stored.gate(name) or Gate(name)
        reduced = reduce_gate(gate, given)
        if reduced.dropped is None:
            self.gates[name] = reduced.entity
        else:
            self.dropped.append((name, given, reduced.dropped))
        for message in reduced.messages:
            self._route(message)

    def _route(self, message: Message) -> None:
        match message:
            case Send(execution, given):
                self.send(execution, given)
            case SendGate(gate, given):
                self._inbox.append((gate, given, None))
            case StartChild():
                self._start_child(message)
            case StartBatch(new):
                self.start(new)
            case ClaimReply() | Cancel():
                self.replies.append(message)

    def child_of(self, start: StartChild) -> Execution | Send:
        """Return the execution of a `subflow` step; else the message that fails the step."""
        try:
            flow = self.flow_of(start.flow)
        except InvalidFlow as error:  # another release has taken it
            why = f"this release does not take the flow {start.flow}: {error}"
            return refuse_child(start, why)
        return begin_child(start, flow, self.now)

    def _start_child(self, start: StartChild) -> None:
        match self.child_of(start):
            case Execution() as child:
                self.start(child)
            case Send() as refused:
                self._route(refused)
