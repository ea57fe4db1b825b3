"""A batch of one partition: what concerns entities of other partitions goes out as letters."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import GateInput
from supervisor.core.executions.records import CALL_FORM
from supervisor.core.executions.reduced import (
    ExecutionEvent,
    Message,
    Send,
    SendGate,
    StartBatch,
    StartChild,
)
from supervisor.executions.batch import InputBatch
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    RESULT_FORM,
    ExecutionGiven,
    ExecutionStart,
    GateGiven,
    Letter,
    ResultRecord,
)
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogEntry, LogTopic

__all__ = ["PartitionBatch", "PartitionPlan"]


@dataclass(frozen=True)
class PartitionPlan:
    """How many partitions there are: fixed when the topics are made."""

    entities: int
    """Of history, state and results: an entity has the same number in each."""
    calls: int


@dataclass
class PartitionBatch(InputBatch):
    """Inputs of one partition.  What follows for its own entities is a part of the batch."""

    is_here: Callable[[str], bool] = lambda _: True
    """Whether an entity is of this partition."""
    letters: list[tuple[str, Letter]] = field(default_factory=list)
    """For entities of other partitions, by their ids."""
    purged: dict[str, Execution] = field(default_factory=dict)
    """Executions of which no record stays."""

    def send_gate(self, gate: str, given: GateInput) -> None:
        """Queue an input of a gate."""
        self._inbox.append((gate, given, None))

    def purge(self, execution_id: str) -> bool:
        """Forget an execution; False: there is none, or it has not ended."""
        execution = self.execution(execution_id)
        if execution is None or not execution.state.ended:
            return False
        self.purged[execution_id] = execution
        return True

    def entries(self, partition: int, plan: PartitionPlan) -> Iterator[LogEntry]:
        """Yield everything that is written, without dead letters and the position."""
        for record in self.records():
            yield LogEntry(LogTopic.STATE, partition, record.key.encode(), record.value)
        for execution in self.purged.values():
            for key in _keys(execution):
                yield LogEntry(LogTopic.STATE, partition, key.encode(), None)
        for call in self.calls:
            place = partition_of(call.run, plan.calls)
            yield LogEntry(LogTopic.CALLS, place, call.run.encode(), CALL_FORM.write(call))
        for entity, letter in self.letters:
            place = partition_of(entity, plan.entities)
            body = LETTER_FORM.write(letter)
            yield LogEntry(LogTopic.HISTORY, place, entity.encode(), body)
        for key, result in self._results():
            body = RESULT_FORM.write(result)
            yield LogEntry(LogTopic.RESULTS, partition, key.encode(), body)

    def _results(self) -> Iterator[tuple[str, ResultRecord]]:
        for execution, events in self.events.items():
            for event in events:
                result: ExecutionEvent = event
                yield execution, result
        for reply in self.replies:
            yield reply.runner.name, reply

    def _route(self, message: Message) -> None:
        match message:
            case Send(execution, given) if not self.is_here(execution):
                self.letters.append((execution, ExecutionGiven(given)))
            case SendGate(gate, wanted) if not self.is_here(gate):
                self.letters.append((gate, GateGiven(wanted)))
            case StartChild(execution=child) if not self.is_here(child):
                self._start_elsewhere(message)
            case StartBatch(new) if not self.is_here(new.id):
                self.letters.append((new.id, ExecutionStart(new)))
            case _:
                super()._route(message)

    def _start_elsewhere(self, start: StartChild) -> None:
        match self.child_of(start):
            case Execution() as child:
                self.letters.append((child.id, ExecutionStart(child)))
            case Send() as refused:  # its parent is here, and hears of it
                self._route(refused)


def _keys(execution: Execution) -> Iterator[str]:
    """Yield the keys of an execution's records, the head last: it says that there is one."""
    for run in sorted(execution.runs):
        yield f"e/{execution.id}/r/{run}"
        if execution.runs[run].items is not None:
            yield f"e/{execution.id}/r/{run}/items"
    yield f"e/{execution.id}/plan"
    yield f"e/{execution.id}"
