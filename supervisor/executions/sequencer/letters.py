"""What travels on the topics of executions, and the position that is kept beside the state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from pydantic import TypeAdapter

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput, GateInput
from supervisor.core.executions.records import RecordForm
from supervisor.core.executions.reduced import Cancel, ClaimReply, ExecutionEvent
from supervisor.core.values.tagged import Tagged

__all__ = [
    "LETTER_FORM",
    "POSITION_FORM",
    "RESULT_FORM",
    "ExecutionGiven",
    "ExecutionPurge",
    "ExecutionStart",
    "GateGiven",
    "Letter",
    "PartitionPosition",
    "ResultRecord",
]


@dataclass(frozen=True, slots=True)
class ExecutionStart:
    """A new execution; one whose id is known is left as it is."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class ExecutionGiven:
    """An input of the execution that the record's key names."""

    given: ExecutionInput


@dataclass(frozen=True, slots=True)
class GateGiven:
    """An input of the gate that the record's key names."""

    given: GateInput


@dataclass(frozen=True, slots=True)
class ExecutionPurge:
    """The execution that the key names has ended, and is not needed here any more."""


Letter = Annotated[ExecutionStart | ExecutionGiven | GateGiven | ExecutionPurge, Tagged()]
"""A record of the history; its key is the id of the entity."""

ResultRecord = Annotated[ExecutionEvent | ClaimReply | Cancel, Tagged()]
"""A record of the results: an event by the id of its execution, the rest by the runner's name."""


@dataclass(frozen=True)
class PartitionPosition:
    """How far a partition is worked in; written in the transaction of what it has come to."""

    next: int | None = None
    """The offset of the history that is read next; None: its first."""
    last: datetime | None = None
    """The time of the newest batch: a clock that goes back does not take it back."""
    writer: str = ""
    """The process that wrote it, for people."""
    worked: int = 0
    """Inputs that were worked in, those of the owner's own included."""
    drops: Mapping[str, int] = field(default_factory=dict)
    """Reason -> inputs that changed nothing."""

    def is_behind(self, other: "PartitionPosition") -> bool:
        """Whether something was read or dropped between them."""
        return (self.next, self.drops) != (other.next, other.drops)


LETTER_FORM: RecordForm[Letter] = RecordForm(TypeAdapter(Letter))
RESULT_FORM: RecordForm[ResultRecord] = RecordForm(TypeAdapter(ResultRecord))
POSITION_FORM = RecordForm(TypeAdapter(PartitionPosition))
