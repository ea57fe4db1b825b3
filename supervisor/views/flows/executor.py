"""The responses about executions on Kafka: their partitions, and what could not be worked in."""

from enum import StrEnum

from pydantic import Field

from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.views.reports import HandledView
from tasks.contract.wire import Instant, Wire

__all__ = [
    "DeadInputPage",
    "DeadInputView",
    "ExecutionPartitionView",
    "ExecutionPartitionsView",
    "ExecutorState",
    "ListedExecutorView",
    "ProjectedView",
    "RunningCallView",
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


class ExecutorState(StrEnum):
    """RUNNING: it is well.  WAITING: something is away.  SILENT: it renews its row no more."""

    RUNNING = "RUNNING"
    WAITING = "WAITING"
    SILENT = "SILENT"


class RunningCallView(Wire):
    """A call of a step that an executor makes."""

    execution: str
    run: str
    """The id of the task run."""
    attempt: int
    look: int
    """Above 0: it looks at a condition, for the n-th time."""


class ListedExecutorView(Wire):
    """An executor, by what it has written of itself last."""

    name: str
    url: str
    """Where it answers `/ping`, `/status` and `/metrics`."""
    state: ExecutorState
    reason: str
    """Why it is not well; empty: it is, or it was when it fell silent."""
    heard_at: Instant
    """When it has written of itself last: a living one does so every two seconds."""
    partitions: list[int]
    """Those that it works; of a silent one those that it had."""
    makes: list[RunningCallView]
    """The first 100; of a silent one what it had: others find out what became of these."""


class ExecutionPartitionsView(Wire):
    """How executions go: who runs them, and how far each partition is."""

    engine: EngineKind
    """sql: the overlord that leads, in the database; there are no executors and no partitions."""
    executors: list[ListedExecutorView]
    """By name; one that has been silent for a day is left out."""
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
