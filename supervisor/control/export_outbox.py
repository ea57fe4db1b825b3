"""The outbox of exports: events that say that an exported table may have changed.

    list of used files changes ─┐
    specs switch an export ─────┼─► same transaction: an event in table:<name>/export-<format>
    a term begins ──────────────┤
    a dead queue is repaired ───┘

This module is below both the modules that add events and the handler.  A dead queue that refuses an
event does not fail a publish: the event that its repair adds covers all changes.  Until then no
file of the table is deleted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import structlog

from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueHealth, QueueName, QueueRow
from supervisor.core.tables.exports import KIND, Export, queue_of
from supervisor.core.values.errors import QueueDead, SpecUnreadable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Transaction

log = structlog.get_logger()

FENCE = "fence"
"""A field of an event's body: commit a version even if nothing differs.  Then a deposed overlord
with an older list can no longer commit: the version that it opened is not the newest."""

EXPORTS = QueueConfig(max_items_at_once=1_000, backoff_cap=timedelta(seconds=30))
"""Queue configuration: one commit of a format covers all events of a batch."""


def announce(tx: Transaction, data_source: str, now: datetime) -> None:
    """Announce, in the caller's transaction, that a table's list of used files has changed."""
    for export in tx.exports.of(data_source):
        _announce(tx, export, now)


def announce_fence(
    tx: Transaction, data_source: str, table_format: ExportFormat, now: datetime
) -> None:
    """Have one export compared with its table, to make up for events that were lost with a queue.

    The comparison commits even if nothing differs: see `FENCE`.
    """
    export = tx.exports.get(data_source, table_format)
    if export is not None:
        _announce(tx, export, now, fence=True)


def announce_repaired(tx: Transaction, queue: QueueName, now: datetime) -> None:
    """Announce, in the repair of a queue, that its export may have missed a change."""
    for export in tx.exports.all():
        if queue_of(export.data_source, export.format) == queue:
            _announce(tx, export, now)


def follow(tx: Transaction, data_source: str, now: datetime) -> None:
    """Switch a table's exports on and off, as the specs that feed it ask for now.

    The exports of a terminated supervisor stay on until another spec of the table is stored.  While
    a spec of the table cannot be read here, no export is switched off: that spec may ask for it.
    """
    # Locked before the specs are read: of two specs that are stored at the same time, the later
    # transaction sees both.
    before = {each: tx.exports.locked(data_source, each) for each in ExportFormat}
    wanted, all_read = _wanted(tx, data_source)
    for table_format, export in before.items():
        is_on = export is not None and export.enabled
        if is_on == (table_format in wanted) or (is_on and not all_read):
            continue
        after = export or Export(data_source, table_format, enabled=True)
        after = after.switched(on=not is_on)
        tx.exports.put(after)
        _announce(tx, after, now)


def sequence_of(tx: Transaction, data_source: str, table_format: ExportFormat) -> int:
    """Return the number of the newest event of an export: it grows with each change of the list.

    Read the number before the list: then the list is at least as new as the number.
    """
    return _newest(tx.events.find(queue_of(data_source, table_format)))


def _newest(row: QueueRow | None) -> int:
    return 0 if row is None else row.next_seq - 1


def awaited(tx: Transaction, data_source: str) -> dict[str, int]:
    """Return format -> sequence that its export has to reach before a file is deleted.

    The file has left the list already: an export at that sequence or later does not name it.
    """
    return {
        export.format: _safe_from(tx, data_source, export.format)
        for export in tx.exports.of(data_source)
        if export.enabled
    }


def _safe_from(tx: Transaction, data_source: str, table_format: ExportFormat) -> int:
    row = tx.events.find(queue_of(data_source, table_format))
    # A dead queue refused the event of this change, so only the event of its repair is late enough.
    refuses = row is not None and row.state is QueueHealth.DEAD
    return _newest(row) + (1 if refuses else 0)


def still_naming(
    tx: Transaction, data_source: str, needed: Mapping[str, str | int | float | bool | None]
) -> list[str]:
    """Return the formats whose enabled export has not reached its needed sequence."""
    return [
        export.format
        for export in tx.exports.of(data_source)
        if export.enabled
        and isinstance(sequence := needed.get(export.format), int)
        and export.sequence < sequence
    ]


def _wanted(tx: Transaction, data_source: str) -> tuple[set[ExportFormat], bool]:
    """Return the formats that the specs of a table ask for, and whether all specs could be read."""
    wanted: set[ExportFormat] = set()
    all_read = True
    for supervisor_id, table in tx.specs.tables().items():
        if table not in {data_source, None}:
            continue
        newest = tx.specs.newest_stored(supervisor_id)
        if isinstance(newest, SpecUnreadable):
            all_read = False
        elif newest is not None and newest.spec is not None:
            wanted.update(newest.spec.data_schema.exports)
    return wanted, all_read


def _announce(tx: Transaction, export: Export, now: datetime, *, fence: bool = False) -> None:
    if not export.enabled:
        return
    queue = queue_of(export.data_source, export.format)
    body: dict[str, str | int | float | bool | None] = {"since": now.isoformat()}
    event = QueuedEvent(KIND, export.data_source, body | ({FENCE: True} if fence else {}))
    try:
        tx.events.add(queue, event, EXPORTS, now, exempt=True)
    except QueueDead as error:
        log.warning("an export stands still", data_source=export.data_source, why=str(error))


def since_of(events: Iterable[QueuedEvent], now: datetime) -> datetime:
    """Return when the first of these events was announced."""
    timestamps = (event.body.get("since") for event in events)
    return min(
        (datetime.fromisoformat(at) for at in timestamps if isinstance(at, str)), default=now
    )
