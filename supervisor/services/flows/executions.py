"""Verbs on executions: started, looked at, killed, paused, answered."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from supervisor.control.leadership import Leadership
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import (
    AnswerStep,
    ExecutionInput,
    KillIt,
    PauseIt,
    ResumeIt,
    RetryStep,
    SkipStep,
)
from supervisor.core.executions.reduced import Drop, ExecutionEvent
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.artifacts import Artifact
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import bind_inputs
from supervisor.core.flows.reading import read_stored
from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import (
    ArtifactNotFound,
    BadCursor,
    ExecutionConflict,
    ExecutionNotFound,
    InvalidFlow,
    InvalidInputs,
    StepRefuses,
)
from supervisor.core.values.page_cursors import KeyedPlace, read_keyed, write_keyed
from supervisor.core.values.permissions import Actor
from supervisor.core.values.throttle import Lockout
from supervisor.executions.engine import Worked
from supervisor.executions.flow_engine import FlowEngine
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.flows.executions import (
    ExecutionPlace,
    ExecutionQuery,
    ExecutionStore,
    ExecutionSums,
)
from supervisor.ports.store import Store
from supervisor.services.flows.access import answered
from supervisor.services.flows.calls import OutgoingRules
from supervisor.services.flows.execution_feed import ExecutionFeed
from supervisor.services.flows.executor import ExecutorPorts
from supervisor.services.flows.flows import Flows
from tasks.contract.kafka_client import SecretRef

__all__ = ["Executions", "FlowPorts", "StartRequest"]

_LIST = "executions"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHY = {
    Drop.NOT_LIVE: "it has ended",
    Drop.UNKNOWN_RUN: "it has no such task run",
    Drop.NOT_NOW: "what is wanted does not fit its state",
}
_KILLED = frozenset({Drop.NOT_LIVE, Drop.DUPLICATE})
"""Why a kill changes nothing when there is nothing to do."""


@dataclass(frozen=True)
class FlowPorts:
    """What services need to keep flows and to run them."""

    store: ExecutionStore
    engine: FlowEngine
    language: Expressions
    triggers: TriggerEngine
    read_secret: Callable[[SecretRef], str]
    """Raises `SecretMissing`."""
    lockout: Lockout
    """After how many wrong secrets webhooks hear no more of an address."""
    begun: Callable[[], None] = lambda: None
    """Called when there may be calls to make."""
    desk: ExecutorPorts | None = None
    """None: executions run in the database."""
    outgoing: OutgoingRules | None = None
    """Where `http` steps may go; None: executors make the calls."""


@dataclass(frozen=True)
class StartRequest:
    """An execution that somebody wants."""

    flow: str
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    key: str | None = None
    """Of the caller: a repeat with it finds the execution; None: each request starts one."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Executions:
    """The verbs on executions; one instance per process, safe to call from many threads.

    Each raises `ExecutionStoreUnavailable`; those that change something raise `LeaseLost` too.
    """

    executions: ExecutionStore
    engine: FlowEngine
    flows: Flows
    store: Store
    clock: Clock
    leadership: Leadership
    begun: Callable[[], None] = lambda: None
    """Called when there may be calls to make."""
    feed: ExecutionFeed = field(init=False)
    """Wakes who follows an execution."""

    def __post_init__(self) -> None:
        """Make the feed."""
        object.__setattr__(self, "feed", ExecutionFeed(self.executions))

    def start(self, wanted: StartRequest, author: Actor) -> tuple[Execution, bool]:
        """Start an execution of a flow's newest version; return it, and whether it is new.

        Raises:
            FlowNotFound: there is no such flow.
            InvalidInputs: the flow takes others.
            ExecutionConflict: an execution with this key was started with other inputs or labels.
        """
        if wanted.key is not None and (before := self._with_key(wanted)) is not None:
            return before, False
        stored = self.flows.get(wanted.flow)
        document = read_stored(stored.document)
        now = self.clock.now()
        execution = Execution(
            f"{wanted.flow}:{wanted.key or self.new_key()}",
            compile_flow(document, stored.version),
            bind_inputs(document, wanted.inputs),
            now,
            trigger={"type": "request", "by": str(author)},
            labels={**document.labels, **wanted.labels},
        )
        try:
            return self.begin(execution, author, "start-execution")
        except ExecutionConflict:
            # Another request with the key was first, maybe with the version before.
            before = self._with_key(wanted)
            if before is None:
                raise
            return before, False

    def _with_key(self, wanted: StartRequest) -> Execution | None:
        """Return the execution of a key; None: there is none.

        What its caller gave is bound as it was then: a newer version may have other defaults and
        other inputs, or the flow may be deleted.

        Raises:
            ExecutionConflict: it was started with other inputs or labels.
        """
        try:
            before = self.get(f"{wanted.flow}:{wanted.key}")
        except ExecutionNotFound:
            return None
        if before.rerun is not None or not self._is_same(wanted, before):
            raise ExecutionConflict(before.id)
        return before

    def _is_same(self, wanted: StartRequest, before: Execution) -> bool:
        stored = self.flows.version(before.flow, before.plan.version).document
        try:
            document = read_stored(stored)
        except InvalidFlow:  # a flow of an older release may not be read any more
            labels_fit = wanted.labels.items() <= before.labels.items()
            return labels_fit and before.inputs == dict(wanted.inputs)
        try:
            inputs = bind_inputs(document, wanted.inputs)
        except InvalidInputs:
            return False
        labels = {**document.labels, **wanted.labels}
        return (before.inputs, before.labels) == (inputs, labels)

    def new_key(self) -> str:
        """Return a key for a request that has none."""
        return f"{self.clock.now():%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"

    def begin(self, execution: Execution, author: Actor, action: str) -> tuple[Execution, bool]:
        """Take a new execution over; return it, and whether it is new.

        Raises:
            ExecutionConflict: one with this id has another flow, other inputs or labels.
        """
        self._audit(author, action, execution.id, {"version": str(execution.plan.version)})
        with answered():
            worked = self.engine.work(starts=[execution])
        self.begun()
        current = self.get(execution.id)
        if worked.started:
            return current, True
        if _wanted_of(current) != _wanted_of(execution):
            raise ExecutionConflict(execution.id)
        return current, False

    def get(self, execution_id: str) -> Execution:
        """Return an execution with its task runs.

        Raises:
            ExecutionNotFound: there is none.
        """
        with answered(), self.executions.reading() as rows:
            execution = rows.execution(execution_id)
        if execution is None:
            raise ExecutionNotFound(execution_id)
        return execution

    def artifact(self, execution_id: str, artifact_id: str) -> Artifact:
        """Return what a step of an execution gave, or what its records name.

        Raises:
            ExecutionNotFound: there is no such execution.
            ArtifactNotFound: it has none of this id, or not any more.
        """
        self.get(execution_id)
        with answered(), self.executions.reading() as rows:
            artifact = rows.artifact(execution_id, artifact_id)
        if artifact is None:
            raise ArtifactNotFound(execution_id, artifact_id)
        return artifact

    def gate_of(self, execution: Execution) -> Gate | None:
        """Return the gate at which an execution waits for its slot; None: it waits at none."""
        if execution.gate is None or execution.state is not ExecutionState.QUEUED:
            return None
        with answered(), self.executions.reading() as rows:
            return rows.gate(execution.gate)

    def unsent_since(self, execution_id: str) -> datetime | None:
        """Return when something was stored for it that is not on the topics yet; None: nothing."""
        with answered(), self.executions.reading() as rows:
            return rows.unsent_since(execution_id)

    def sums(self) -> tuple[ExecutionSums, float]:
        """Count what has not ended; and the seconds for which the first of it has been due."""
        with answered(), self.executions.reading() as rows:
            sums, due = rows.sums(), rows.next_due()
        late = timedelta(0) if due is None else self.clock.now() - due
        return sums, max(0.0, late.total_seconds())

    def listed(
        self, wanted: ExecutionQuery, limit: int, cursor: str | None
    ) -> tuple[Sequence[Execution], str | None]:
        """Return executions without their task runs, newest first, and the next page's cursor.

        Raises:
            BadCursor: it is of another list.
        """
        before, place = None, read_keyed(_LIST, cursor)
        if place is not None:
            if not isinstance(place.value, list):
                raise BadCursor(_LIST)
            before = ExecutionPlace(_EPOCH + timedelta(microseconds=place.value[0]), place.row_id)
        with answered(), self.executions.reading() as rows:
            some = rows.page(wanted, limit + 1, before)
        page = some[:limit]
        if len(some) <= limit:
            return page, None
        last = page[-1]
        micros = (last.created_at - _EPOCH) // timedelta(microseconds=1)
        return page, write_keyed(_LIST, KeyedPlace([micros], last.id))

    def events(self, execution_id: str, after: int, limit: int) -> Sequence[ExecutionEvent]:
        """Return events behind a number.

        Raises:
            ExecutionNotFound: there is no such execution.
        """
        self.get(execution_id)
        with answered(), self.executions.reading() as rows:
            return rows.events(execution_id, after, limit)

    def kill(self, execution_id: str, author: Actor, *, force: bool) -> Execution:
        """End an execution; one that has ended or is killed already is left as it is.

        `force` ends at once what an earlier kill lets end.

        Raises:
            ExecutionNotFound: there is none.
        """
        current = self.get(execution_id)
        if current.state.ended or (current.killed and not force):
            return current
        return self._send(execution_id, KillIt(str(author), force), author, "kill-execution")

    def pause(self, execution_id: str, author: Actor) -> Execution:
        """Let no further step begin.

        Raises:
            ExecutionNotFound: there is none.
            StepRefuses: it has ended, or is paused.
        """
        return self._send(execution_id, PauseIt(str(author)), author, "pause-execution")

    def resume(self, execution_id: str, author: Actor) -> Execution:
        """Let a paused execution go on; raises as `pause`."""
        return self._send(execution_id, ResumeIt(str(author)), author, "resume-execution")

    def retry(self, execution_id: str, run: str, author: Actor) -> Execution:
        """Try a step again, now; raises as `pause`."""
        return self._send(execution_id, RetryStep(run, str(author)), author, "retry-step")

    def skip(self, execution_id: str, run: str, author: Actor) -> Execution:
        """Go on without a step that waits for a person; raises as `pause`."""
        return self._send(execution_id, SkipStep(run, str(author)), author, "skip-step")

    def answer(
        self, execution_id: str, run: str, author: Actor, *, yes: bool, comment: str
    ) -> Execution:
        """Answer what an `approve` step wants to know; raises as `pause`."""
        given = AnswerStep(run, yes, str(author), comment)
        return self._send(execution_id, given, author, "answer-step")

    def _send(
        self, execution_id: str, given: ExecutionInput, author: Actor, action: str
    ) -> Execution:
        self.get(execution_id)
        detail = {"run": run} if (run := getattr(given, "run", "")) else {}
        self._audit(author, action, execution_id, detail)
        with answered():
            worked = self.engine.work([(execution_id, given)])
        self._check(execution_id, given, worked)
        self.begun()
        return self.get(execution_id)

    def _check(self, execution_id: str, given: ExecutionInput, worked: Worked) -> None:
        for dropped_of, dropped, why in worked.dropped:
            if dropped_of != execution_id or dropped is not given:
                continue
            # The end, or the kill of somebody else, was faster: it is what is wanted.
            if not isinstance(given, KillIt) or why not in _KILLED:
                raise StepRefuses(f"{execution_id}: {_WHY.get(why, str(why))}")

    def _audit(self, author: Actor, action: str, execution: str, detail: Mapping[str, str]) -> None:
        """Write the entry first: what was done must never be without its audit."""
        with self.store.leading(self.leadership.term()) as tx:
            tx.audit.write(AuditEntry(self.clock.now(), author, action, execution, dict(detail)))


def _wanted_of(execution: Execution) -> tuple[object, ...]:
    """Return what is the same for two requests of the same execution."""
    return execution.flow, execution.inputs, execution.labels, execution.rerun
