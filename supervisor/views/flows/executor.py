"""The responses about executions on Kafka: their partitions, and what could not be worked in."""

from pydantic import Field

from supervisor.views.reports import HandledView
from tasks.contract.wire import Instant, Wire

__all__ = [
    "DeadInputPage",
    "DeadInputView",
    "ExecutionPartitionView",
    "ExecutionPartitionsView",
    "ProjectedView",
]


class ExecutionPartitionView(Wire):
    """A partition of the topics of executions."""

    partition: int
    owner: str | None
    """The executor that works it; null: none that lives does."""
    position: int | None
    """The offset of the history that is worked in next, as of a few seconds ago; null: none yet."""
    lag: int
    """Inputs that wait, about."""
    projection_lag: int
    """Records of the state that the tables do not have yet, about."""


class ExecutionPartitionsView(Wire):
    """How executions on Kafka go."""

    partitions: list[ExecutionPartitionView]
    dead_letters: int
    """Inputs that could not be worked in, and that nobody has replayed or dropped."""


class ProjectedView(Wire):
    """Tables that are read again from their topics."""

    deleted: int
    """Executions that are gone from the tables until then."""


class DeadInputView(Wire):
    """An input that could not be worked in."""

    offset: int
    """Its place in the topic of dead letters."""
    at: Instant | None
    """When it was set aside; null: that is not known."""
    reason: str
    execution: str | None
    """The execution or gate to which it was sent; null: it does not say."""
    partition: int
    """Where it was read."""
    position: int | None
    """Its offset in the history; null: it came by no topic."""
    size_bytes: int = Field(alias="bytes")
    sha256: str
    """Of all its bytes; a verb may name it, and then changes no other letter."""
    body: str
    """Its beginning in a list; bytes that are no text are escapes."""
    handled: HandledView | None
    """Null: nobody has done anything with it."""


class DeadInputPage(Wire):
    """Inputs that could not be worked in, the newest first."""

    letters: list[DeadInputView]
    next: int | None
    """The `before` of the next page; null: there is none."""
