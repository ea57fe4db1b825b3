"""What one overview reads from rows, without what its caller may not read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from supervisor.core.attention.archive import UnstoredHistory
from supervisor.core.attention.cluster import EndingToken
from supervisor.core.attention.divergence import DIVERGED_SHOWN_FOR, DivergedRange
from supervisor.core.attention.exports import WatchedExport
from supervisor.core.attention.queues import FailedEvents
from supervisor.core.history.listing import ListedSupervisor
from supervisor.core.history.operations import Operation
from supervisor.core.queue.events import QueueName, QueueRow, WaitingQueue, owner_of
from supervisor.core.tables.exports import Export, Waiting, queue_of
from supervisor.core.values.permissions import Caller, Kind, Permission
from supervisor.ports.store import Transaction
from supervisor.services.supervisors.listing import MayRead, SupervisorListing
from tasks.reporting.record import RecordType

OPERATIONS_LOOKED_AT = 200
"""The number of newest operations that are looked at for those that run."""


@dataclass(frozen=True)
class OverviewRows:
    """Rows of one moment that the caller may read."""

    supervisors: Sequence[ListedSupervisor]
    slots_used: Mapping[str, int]
    """Worker -> its slots in use, by whatever supervisor."""
    dead: Sequence[QueueRow]
    waiting: Sequence[WaitingQueue]
    """Live queues with events, but those of exports."""
    failed: Mapping[QueueName, FailedEvents]
    exports: Sequence[WatchedExport]
    """Those that are switched on."""
    operations: Sequence[Operation]
    diverged: Sequence[DivergedRange]
    tokens: Sequence[EndingToken]
    """Tokens that may be used and that end: all for who manages them, else the caller's own."""
    unstored: UnstoredHistory | None = None
    """What the archive lacks; None: nothing, or there is no archive."""


def read_rows(
    tx: Transaction, listing: SupervisorListing, caller: Caller, now: datetime
) -> OverviewRows:
    """Return the rows of an overview; a fixed number of statements, however many rows there are."""
    supervisors = listing.rows(tx, _readable(caller))
    readable = {row.id: row.newest.data_source for row in supervisors}
    shown = partial(_may_read_queue, caller, readable)
    dead, waiting = tx.events.dead(), tx.events.waiting()
    exports = [each for each in tx.exports.all() if each.enabled]
    of_exports = {queue_of(each.data_source, each.format) for each in exports}
    visible = [each for each in exports if caller.may_read(each.data_source)]
    return OverviewRows(
        supervisors=supervisors,
        slots_used=tx.tasks.slots_in_use(),
        dead=[row for row in dead if shown(row.queue)],
        waiting=[
            each for each in waiting if each.row.queue not in of_exports and shown(each.row.queue)
        ],
        failed={queue: each for queue, each in tx.events.failed_since().items() if shown(queue)},
        exports=_watched(visible, dead, waiting),
        operations=[
            each
            for each in tx.operations.page(OPERATIONS_LOOKED_AT)
            if caller.reads_all or each.supervisor_id in readable
        ],
        diverged=[
            each
            for each in tx.segments.lately_diverged(now - DIVERGED_SHOWN_FOR)
            if caller.may_read(each.data_source)
        ],
        tokens=_tokens(tx, caller, now),
        unstored=_unstored(tx) if caller.reads_all else None,
    )


def _readable(caller: Caller) -> MayRead:
    """Return whether a caller may read a table; its grants are looked at once for all tables."""
    if caller.reads_all:
        return lambda _: True
    return lambda table: caller.may_read(table or "")


def _may_read_queue(caller: Caller, readable: Mapping[str, str | None], queue: QueueName) -> bool:
    """Return whether a caller may see a queue; one of an ended supervisor needs a grant on all."""
    if caller.reads_all:
        return True
    supervisor_id = owner_of(queue.container)
    if supervisor_id is not None:
        return supervisor_id in readable
    _, colon, owner = queue.container.partition(":")
    return bool(colon) and caller.may_read(owner)


def _watched(
    exports: Sequence[Export], dead: Sequence[QueueRow], waiting: Sequence[WaitingQueue]
) -> list[WatchedExport]:
    ended = {row.queue: row for row in dead}
    held = {each.row.queue: each for each in waiting}
    watched = []
    for export in exports:
        queue = queue_of(export.data_source, export.format)
        if queue in ended:
            error = f"its event queue is dead: {ended[queue].dead_why}"
            watched.append(WatchedExport(export, Waiting(error=error), is_dead=True))
            continue
        first = held.get(queue)
        watched.append(WatchedExport(export, Waiting() if first is None else _waiting(first)))
    return watched


def _waiting(first: WaitingQueue) -> Waiting:
    failures = first.row.failed_iterations
    return Waiting(first.enqueued_at, failures, first.row.last_error if failures else "")


def _tokens(tx: Transaction, caller: Caller, now: datetime) -> list[EndingToken]:
    if caller.may(Permission.ACCESS, None):
        return [
            EndingToken(each.name, each.expires_at)
            for each in tx.access.all()
            if each.kind is not Kind.USER and each.expires_at is not None and each.live(now)
        ]
    if caller.kind is Kind.TOKEN and caller.until is not None and caller.session is None:
        return [EndingToken(caller.name, caller.until)]
    return []


def _unstored(tx: Transaction) -> UnstoredHistory | None:
    positions = tx.archive.positions()
    if RecordType.EVENT not in positions or RecordType.AUDIT not in positions:
        return None
    stored, audited = (positions[kind].stored_to for kind in (RecordType.EVENT, RecordType.AUDIT))
    events, entries = tx.archive.events(stored, 1), tx.archive.entries(audited, 1)
    times = [each.happening.at for each in events] + [entry.at for _, entry in entries]
    if not times:
        return None
    return UnstoredHistory(
        events=tx.happenings.newest() - stored if events else 0,
        entries=tx.archive.newest_entry() - audited if entries else 0,
        since=min(times),
    )
