"""The history, page by page: read from the rows alone, so that every overlord can answer."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from supervisor.core.history.lag import LAG_KEPT
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.history.operations import (
    NOT_KNOWN,
    Operation,
    OperationState,
    Progress,
    judge_operation,
    number_of,
)
from supervisor.core.model.rows import AuditEntry, Generation
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.values.errors import (
    OperationNotFound,
    SpecUnreadable,
    SupervisorNotFound,
    UnknownWord,
)
from supervisor.core.values.page_cursors import page
from supervisor.ports.state_history import StoredState
from supervisor.ports.store import Clock, Store, Transaction
from supervisor.services.history.event_stream import EventStream
from supervisor.views.generations import GenerationsPage, generation_views
from supervisor.views.history import AuditPage, EventsPage, audit_view, event_views
from supervisor.views.lag import LagHistory, lag_history
from supervisor.views.operations import OperationsPage, OperationView, operation_view

AUDIT, EVENTS, GENERATIONS = "audit", "events", "generations"
OPERATIONS = "operations"


@dataclass(frozen=True)
class History:
    """Lists of events, operations, audit rows, ranges and lag; one instance per process."""

    store: Store
    clock: Clock

    def audit(
        self,
        limit: int,
        cursor: str | None = None,
        *,
        supervisor_id: str | None = None,
        action: str | None = None,
        actor: str | None = None,
    ) -> AuditPage:
        """Return matching audit entries, newest first.

        Raises:
            BadCursor: the cursor does not belong to this list.
        """

        def read(rows_max: int, before: int | None) -> list[tuple[int, AuditEntry]]:
            with self.store.reading() as tx:
                return tx.audit.page(
                    rows_max,
                    before=before,
                    supervisor_id=supervisor_id,
                    action=action,
                    actor=actor,
                )

        entries, following = page(AUDIT, limit, cursor, read)
        return AuditPage(entries=[audit_view(entry) for entry in entries], next=following)

    @cached_property
    def feed(self) -> EventStream:
        """The event stream, one per process."""
        return EventStream(self.store)

    def events(
        self, limit: int, cursor: str | None = None, *, supervisor_id: str | None = None
    ) -> EventsPage:
        """Return lifecycle events, newest first.

        Raises:
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:

            def read(rows_max: int, before: int | None) -> list[tuple[int, NumberedEvent]]:
                found = tx.happenings.before(before, rows_max, supervisor_id=supervisor_id)
                return [(each.number, each) for each in found]

            rows, following = page(EVENTS, limit, cursor, read)
            newest = tx.happenings.newest()
        return EventsPage(events=event_views(rows), newest=newest, next=following)

    def generations(
        self, supervisor_id: str, limit: int, cursor: str | None = None
    ) -> GenerationsPage:
        """Return the ranges of a supervisor, newest first; also of a terminated one.

        Raises:
            SupervisorNotFound: the id was never used.
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:

            def read(rows_max: int, before: int | None) -> list[tuple[int, Generation]]:
                if tx.specs.newest_stored(supervisor_id) is None:
                    raise SupervisorNotFound(supervisor_id)
                found = tx.generations.page(supervisor_id, rows_max, before=before)
                return [(each.ordinal, each) for each in found]

            shown, following = page(GENERATIONS, limit, cursor, read)
            ids = [generation.id for generation in shown]
            tasks = tx.tasks.of_generations(ids)
            published = {g: tx.segments.publication(g) for g in ids}
        publications = {g: row for g, row in published.items() if row is not None}
        return GenerationsPage(
            supervisor_id=supervisor_id,
            generations=generation_views(shown, tasks, publications),
            next=following,
        )

    def operation(self, operation_id: str) -> OperationView:
        """Return one operation and its progress.

        Raises:
            OperationNotFound: there is no operation with this id.
        """
        number = number_of(operation_id)
        with self.store.reading() as tx:
            row = tx.operations.get(number)
            if row is None:
                raise OperationNotFound(operation_id)
            return _judged(tx, row)

    def operations(
        self, limit: int, cursor: str | None = None, *, supervisor_id: str | None = None
    ) -> OperationsPage:
        """Return operations with their progress, newest first.

        Raises:
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:

            def read(rows_max: int, before: int | None) -> list[tuple[int, Operation]]:
                found = tx.operations.page(rows_max, before=before, supervisor_id=supervisor_id)
                return [(row.number, row) for row in found]

            rows, following = page(OPERATIONS, limit, cursor, read)
            return OperationsPage(operations=[_judged(tx, row) for row in rows], next=following)

    def lag(
        self,
        supervisor_id: str,
        start: datetime | None,
        end: datetime | None,
        step: timedelta | None,
    ) -> LagHistory:
        """Return the lag of a supervisor over time; also of a terminated one.

        Raises:
            SupervisorNotFound: the id was never used.
        """
        until = end or self.clock.now()
        with self.store.reading() as tx:
            if tx.specs.newest_stored(supervisor_id) is None:
                raise SupervisorNotFound(supervisor_id)
            found = tx.watched.lag(supervisor_id, start or until - LAG_KEPT, until)
        return lag_history(supervisor_id, found, step)

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last state that a leader recorded of a supervisor."""
        with self.store.reading() as tx:
            return tx.watched.state(supervisor_id)


def _judged(tx: Transaction, operation: Operation) -> OperationView:
    try:
        facts = tx.operations.facts(operation)
    except UnknownWord:
        return operation_view(operation, Progress(OperationState.RUNNING, NOT_KNOWN))
    try:
        newest = tx.specs.newest(operation.supervisor_id)
    except SpecUnreadable:  # unreadable: it is not done yet
        return operation_view(operation, judge_operation(operation, facts), facts.discarded)
    spec = None if newest is None else newest.spec
    rests = spec is None or spec.suspended
    if spec is not None and not rests:
        # An idle supervisor opens its next range when new records come, and no sooner.
        begun = tx.generations.newest(operation.supervisor_id) is not None
        rests = begun and spec.io_config.idle_after is not None
        rests = rests or is_completed(spec, tx.offsets.of(operation.supervisor_id))
    progress = judge_operation(operation, replace(facts, rests=rests))
    return operation_view(operation, progress, facts.discarded)
