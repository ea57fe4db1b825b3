"""The history, page by page: read from the rows alone, so that every overlord can answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TypeVar

from supervisor.chores.replays import trouble_of
from supervisor.control.declared_types import last_spec
from supervisor.core.history.lag import LAG_KEPT, check_steps
from supervisor.core.history.operations import (
    NOT_KNOWN,
    Operation,
    OperationKind,
    OperationState,
    Progress,
    judge_operation,
    number_of,
)
from supervisor.core.history.windows import (
    EVERY_EVENT,
    EVERY_RANGE,
    EventWindow,
    RangeWindow,
    next_position,
    scanned_down_to,
)
from supervisor.core.model.rows import StoredPlan
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.values.errors import (
    OperationNotFound,
    SpecUnreadable,
    SupervisorNotFound,
    UnknownWord,
)
from supervisor.core.values.page_cursors import page, read_cursor, write_cursor
from supervisor.ports.clock import Clock
from supervisor.ports.state_history import StoredState
from supervisor.ports.store import Store, Transaction
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.services.history.archive_reader import ArchiveReader, AuditWindow, joined
from supervisor.services.history.event_pages import event_part
from supervisor.services.history.event_stream import EventStream
from supervisor.views.generations import GenerationsPage, generation_views
from supervisor.views.history import AuditPage, EventsPage, audit_view, event_views
from supervisor.views.lag import LagHistory, LagsView, lag_history, lags_view
from supervisor.views.operations import OperationsPage, OperationView, operation_view
from supervisor.views.tables.ledger import PlansView, plans_of
from tasks.reporting.record import RecordType

AUDIT, EVENTS, GENERATIONS = "audit", "events", "generations"
OPERATIONS, PLANS = "operations", "plans"
MayRead = Callable[[str], bool]
T = TypeVar("T")
_NUMBER_MAX = 2**63 - 1


@dataclass(frozen=True)
class History:
    """Lists of events, operations, audit rows, ranges and lag; one instance per process."""

    store: Store
    clock: Clock
    archive: ArchiveReader | None = None
    """What has left the tables; None: there is no archive."""

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
        place = read_cursor(AUDIT, cursor)
        window = AuditWindow(supervisor_id, action, actor)
        with self.store.reading() as tx:
            rows = tx.audit.page(
                limit + 1,
                before=place,
                supervisor_id=supervisor_id,
                action=action,
                actor=actor,
            )
            oldest = tx.archive.oldest_entry()
            position = tx.archive.positions().get(RecordType.AUDIT)
        following = rows[limit - 1][0] if len(rows) > limit else None
        entries, missing = [entry for _, entry in rows[:limit]], None
        if following is None and self.archive is not None and position is not None:
            start = min(each for each in (place, oldest, _NUMBER_MAX) if each is not None)
            room = limit - len(entries)
            archived, missing = _unless_away(partial(self.archive.entries, window, start, room))
            if archived is not None:
                older, following = joined([archived], start, room)
                entries += older
        return AuditPage(
            entries=[audit_view(entry) for entry in entries],
            next=None if following is None else write_cursor(AUDIT, following),
            missing=missing,
        )

    @cached_property
    def feed(self) -> EventStream:
        """The event stream, one per process."""
        return EventStream(self.store, self.archive)

    def events(
        self, limit: int, cursor: str | None = None, window: EventWindow = EVERY_EVENT
    ) -> EventsPage:
        """Return lifecycle events, newest first; a page of a window looks at a bounded number.

        Raises:
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:
            newest, trimmed = tx.happenings.newest(), tx.happenings.trimmed()
            start = newest + 1 if (place := read_cursor(EVENTS, cursor)) is None else place
            part = event_part(tx.happenings, window, start, limit)
            oldest = tx.happenings.after(trimmed, 1) if trimmed else []
            position = tx.archive.positions().get(RecordType.EVENT)
        since, archived, missing = (oldest[0].happening.at if oldest else None), None, None
        if self.archive is not None and position is not None and trimmed:
            since = position.whole_since
            if part.older is not None:
                below, room = part.older.start, part.older.room
                archived, missing = _unless_away(partial(self.archive.events, window, below, room))
        rows, following = part.joined(archived)
        return EventsPage(
            events=event_views(rows),
            newest=newest,
            next=None if following is None else write_cursor(EVENTS, following),
            complete_since=since,
            missing=missing,
        )

    def generations(
        self,
        supervisor_id: str,
        limit: int,
        cursor: str | None = None,
        window: RangeWindow = EVERY_RANGE,
    ) -> GenerationsPage:
        """Return the ranges of a supervisor, newest first; also of a terminated one.

        A page of a window looks at a bounded number of ranges.

        Raises:
            SupervisorNotFound: the id was never used.
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:
            if tx.specs.newest_stored(supervisor_id) is None:
                raise SupervisorNotFound(supervisor_id)
            start = read_cursor(GENERATIONS, cursor)
            if start is None and window.narrow:
                newest = tx.generations.page(supervisor_id, 1)
                start = newest[0].ordinal + 1 if newest else 1
            down_to = 0 if start is None else scanned_down_to(start, 0, narrow=window.narrow)
            ranges = tx.generations.page(
                supervisor_id, limit + 1, before=start, window=window, down_to=down_to
            )
            shown = ranges[:limit]
            ids = [generation.id for generation in shown]
            tasks = tx.tasks.of_generations(ids)
            published = {g: tx.segments.publication(g) for g in ids}
        publications = {g: row for g, row in published.items() if row is not None}
        following = next_position([each.ordinal for each in ranges], limit, down_to, 0)
        return GenerationsPage(
            supervisor_id=supervisor_id,
            generations=generation_views(shown, tasks, publications),
            next=None if following is None else write_cursor(GENERATIONS, following),
        )

    def plans(
        self,
        supervisor_id: str,
        limit: int,
        cursor: str | None = None,
        until: datetime | None = None,
    ) -> PlansView:
        """Return the last plans with their reasons, newest first, as far as they are kept.

        Raises:
            SupervisorNotFound: the id was never used.
            BadCursor: the cursor does not belong to this list.
        """
        with self.store.reading() as tx:

            def read(rows_max: int, before: int | None) -> list[tuple[int, StoredPlan]]:
                last_spec(tx, supervisor_id)
                return tx.plans.page(supervisor_id, rows_max, before=before, until=until)

            stored, following = page(PLANS, limit, cursor, read)
        return plans_of(supervisor_id, stored, following)

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

    def lags(
        self,
        wanted: Collection[str],
        may_read: MayRead | None,
        start: datetime | None,
        end: datetime | None,
        step: timedelta,
    ) -> LagsView:
        """Return the lag of several supervisors, step by step, of those that may be seen.

        `may_read`: whether the caller may read a table; None: it may read all.  A supervisor is
        left out that once fed another table, or was never there.

        Raises:
            InvalidRequest: the step is too short for the window.
        """
        until = end or self.clock.now()
        begin = start or until - LAG_KEPT
        check_steps(begin, until, step)
        with self.store.reading() as tx:
            shown = set(wanted)
            if may_read is not None:
                tables = tx.specs.tables_ever(wanted)
                shown = {who for who, ever in tables.items() if ever and all(map(may_read, ever))}
            found = tx.watched.lag_stepped(shown, begin, until, step)
        return lags_view(found)

    def state(self, supervisor_id: str) -> StoredState | None:
        """Return the last state that a leader recorded of a supervisor."""
        with self.store.reading() as tx:
            return tx.watched.state(supervisor_id)


def _unless_away(look: Callable[[], T]) -> tuple[T | None, str | None]:
    """Return what the archive has; else why it has no answer now."""
    try:
        return look(), None
    except (StoreAway, StoreRefuses) as error:
        return None, f"older ones are in the archive, which cannot be read now: {error}"


def _judged(tx: Transaction, operation: Operation) -> OperationView:
    try:
        facts = tx.operations.facts(operation)
    except UnknownWord:
        return operation_view(operation, Progress(OperationState.RUNNING, NOT_KNOWN))
    if operation.kind is OperationKind.REPLAY and operation.outcome is None:
        facts = replace(facts, trouble=trouble_of(tx, operation.supervisor_id))
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
