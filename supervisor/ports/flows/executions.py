"""The port to the store of executions: entities, calls, claims and events, as one place keeps them.

One leader writes at a time.  The store knows the highest term that has written, and refuses every
lower one: a leader that was deposed changes nothing from the first write of the next one on.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.reduced import ExecutionEvent, StepCall
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.artifacts import Artifact
from supervisor.ports.flows.flows import FlowReads, FlowRows
from supervisor.ports.flows.triggers import TriggerReads, TriggerRows

__all__ = [
    "LABEL_NAME_MAX",
    "LABEL_VALUE_MAX",
    "CallPlace",
    "ExecutionChanges",
    "ExecutionPlace",
    "ExecutionQuery",
    "ExecutionReads",
    "ExecutionRows",
    "ExecutionStore",
    "ExecutionSums",
    "FlowAuthor",
    "HeldCall",
    "OutboxLetter",
]


LABEL_NAME_MAX, LABEL_VALUE_MAX = 100, 300
"""Characters of a label by which lists know it: an index takes no more."""


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Which call it is; a `look` above 0 is a look at a condition."""

    execution: str
    run: str
    attempt: int
    look: int = 0


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A call that a runner makes; `cancelled`: it shall stop."""

    place: CallPlace
    runner: Runner
    cancelled: bool


@dataclass(frozen=True, slots=True)
class ExecutionPlace:
    """The place of an execution in a list, newest first."""

    created_at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class ExecutionQuery:
    """Which executions a list has; None: any."""

    flow: str | None = None
    states: frozenset[ExecutionState] | None = None
    parent: str | None = None
    """Of this execution's subflow steps."""
    since: datetime | None = None
    until: datetime | None = None
    labels: tuple[tuple[str, str], ...] = ()
    """Names and values, as long as lists know them; each of them."""
    started_by: str | None = None
    trigger: str | None = None
    """The name of the trigger that started it; reruns of such an execution have none."""
    error: str | None = None
    """A part of the text of its error, whatever the case of its letters."""


@dataclass(frozen=True)
class ExecutionSums:
    """What has not ended, counted."""

    live: Mapping[ExecutionState, int]
    """Every state that is no end -> its executions."""
    calls: int
    """Calls of steps, and looks, that are not done."""
    held: int
    """Calls that runners make."""
    letters: int = 0
    """Starts and inputs that are not on the topics yet."""


@dataclass(frozen=True, slots=True)
class OutboxLetter:
    """A letter for the topics; it goes to them once it is stored."""

    entity: str
    """The id of the execution that it is for."""
    body: bytes
    at: datetime


@dataclass(frozen=True)
class ExecutionChanges:
    """What a batch has brought about; stored as a whole, or not at all."""

    executions: Mapping[str, Execution] = field(default_factory=dict)
    """Those that are new or other than before."""
    new: AbstractSet[str] = frozenset()
    """The ids of those that are new."""
    runs: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """Execution -> the ids of its task runs that are new or other than before."""
    gates: Mapping[str, Gate] = field(default_factory=dict)
    calls: Sequence[StepCall] = ()
    events: Mapping[str, Sequence[ExecutionEvent]] = field(default_factory=dict)
    letters: Sequence[OutboxLetter] = ()
    """For the topics, in order; none where executions run in this database."""
    items: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """Execution -> the ids of its task runs whose items are new."""


@dataclass(frozen=True, slots=True)
class FlowAuthor:
    """Who applied the version of a flow that an execution runs."""

    flow: str
    version: int
    author: str


class ExecutionReads(Protocol):
    """What can be read, as of one moment."""

    @property
    def flows(self) -> FlowReads:
        """The stored flows."""
        ...

    @property
    def triggers(self) -> TriggerReads:
        """The stored triggers."""
        ...

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution; None: there is none.

        Raises:
            UnreadableRecord: one of its records cannot be read.
            NewerRecord: a newer release has written one of them.
        """
        ...

    def versions(self, executions: Collection[str]) -> Mapping[str, int]:
        """Return the versions of those that are there, by id."""
        ...

    def author_of(self, execution_id: str) -> FlowAuthor | None:
        """Return whose flow an execution runs, by one row however large it is.

        None: there is no such execution, or the version is not kept.
        """
        ...

    def gate(self, name: str) -> Gate | None:
        """Return a gate; None: nobody needs it."""
        ...

    def due(self, now: datetime, limit: int) -> Sequence[str]:
        """Return ids of executions whose time has come, those that wait longest first."""
        ...

    def next_due(self) -> datetime | None:
        """Return the earliest time for which an execution waits; None: none does."""
        ...

    def calls(self, limit: int) -> Sequence[StepCall]:
        """Return calls that nobody holds and looks that nobody has answered, oldest first."""
        ...

    def calls_of(self, runner: Runner) -> Sequence[StepCall]:
        """Return the calls that a runner holds and that it was not told to stop."""
        ...

    def held(self, runner: Runner | None = None) -> Sequence[HeldCall]:
        """Return the calls that a runner makes, or all runners do, by run."""
        ...

    def page(
        self, wanted: ExecutionQuery, limit: int, before: ExecutionPlace | None = None
    ) -> Sequence[Execution]:
        """Return wanted executions behind a place, newest first; without their task runs."""
        ...

    def events(self, execution_id: str, after: int, limit: int) -> Sequence[ExecutionEvent]:
        """Return events of an execution behind a number, in order."""
        ...

    def sums(self) -> ExecutionSums:
        """Count what has not ended."""
        ...

    def artifact(self, execution_id: str, artifact_id: str) -> Artifact | None:
        """Return an artifact that a step of an execution gave, or that its records name.

        None: there is none, or not any more.
        """
        ...

    def unsent_since(self, execution_id: str | None = None) -> datetime | None:
        """Return the time of the first letter, of one execution or of all; None: none waits."""
        ...


class ExecutionRows(ExecutionReads, Protocol):
    """What can be read and written in the transaction of one term."""

    @property
    def flows(self) -> FlowRows:
        """The stored flows."""
        ...

    def purge(self, before: datetime, of_each: int, limit: int) -> Sequence[str]:
        """Delete up to `limit` executions with all that is stored of them; return their ids.

        Those that ended before a time go first; then, of a flow of which more than `of_each` have
        ended, the oldest. What has not ended stays. Artifacts go with the last execution whose
        records name them, and what a webhook knows of the request with its execution; those of
        attempts that were never recorded go once they are as old.
        """
        ...

    @property
    def triggers(self) -> TriggerRows:
        """The stored triggers."""
        ...

    def store(self, changes: ExecutionChanges) -> None:
        """Store what a batch has changed.

        A call is kept for as long as its run is SUBMITTED or RUNNING with it, a look until its run
        is changed, a claim for as long as its run is RUNNING or KILLING: what is kept follows from
        the runs of `changes`.
        """
        ...


class ExecutionStore(Protocol):
    """A database of executions; safe to use from many threads.

    Each use raises `StoreAway` or `StoreRefuses` of `ports.store_problems`.
    """

    def reading(self) -> AbstractContextManager[ExecutionReads]:
        """Open a transaction that only reads."""
        ...

    def working(self, term: int) -> AbstractContextManager[ExecutionRows]:
        """Open the transaction of a leader's term; committed when its block ends.

        Raises:
            LeaseLost: a later term has written; nothing of this one is stored.
        """
        ...
