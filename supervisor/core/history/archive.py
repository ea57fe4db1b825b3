"""The archive of events and audit: its records, and which numbers may leave the metadata.  Pure.

    metadata      ... stored_to │ ... sent_to │ ... newest      what lies above is only there
    report store  whole_from ... stored_to     all of these numbers, read back and compared

A record is a function of its row alone.  So a row that is sent again, by whichever leader, is the
same record, and the store has it already.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import JsonValue

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent, NumberedEvent
from supervisor.core.model.rows import AuditEntry
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.reporting.sizes import cut

DETAIL_BYTES = 256 * 1024
"""Of an event's or entry's detail, as JSON: a topic takes records of a megabyte by default."""
RESEND_AFTER = timedelta(minutes=10)
"""The time after which a number is sent again that the store lacks, and has later ones."""
EVENTS_HELD = 1_000_000
"""Events that the table holds at most while the store lacks them: some 300 MB."""
AGES_HELD = 2
"""Audit entries and kept events that the store lacks stay for so many times their age."""


@dataclass(frozen=True)
class ArchivePosition:
    """How far the archive of events, or of audit entries, is; numbers are inclusive."""

    sent_to: int = 0
    stored_to: int = 0
    """The report store was read, and has all that there is up to this number."""
    whole_from: int = 1
    """From this number on nothing has left the metadata without being stored."""
    whole_since: datetime | None = None
    """The time of that event; None: it is the first of all."""


@dataclass(frozen=True)
class Missing:
    """A number that was sent, and that the store lacks."""

    number: int
    since: datetime
    sent_to: int
    """What had been sent when it was noticed."""


def event_record(installation: str, event: NumberedEvent) -> ReportRecord:
    """Return the record of an event."""
    fact = event.happening
    payload: dict[str, JsonValue] = {
        "type": fact.kind.value,
        "supervisorId": fact.supervisor_id,
        "group": fact.group,
        "generationId": fact.generation_id,
        "taskId": fact.task_id,
        "detail": _bounded(fact.detail),
    }
    owner = fact.supervisor_id
    return _record(installation, RecordType.EVENT, event.number, fact.at, (owner, payload))


def audit_record(installation: str, number: int, entry: AuditEntry) -> ReportRecord:
    """Return the record of an audit entry."""
    payload: dict[str, JsonValue] = {
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "detail": _bounded(entry.detail),
        "reason": entry.reason,
    }
    owner = entry.detail.get("supervisor")
    return _record(installation, RecordType.AUDIT, number, entry.at, (owner, payload))


def event_of(record: ReportRecord) -> NumberedEvent:
    """Return the event of a record; kinds of a newer release are `UNKNOWN`."""
    payload = record.payload
    word, group, detail = payload.get("type"), payload.get("group"), payload.get("detail")
    known = isinstance(word, str) and word in {*EventKind}
    kind = EventKind(str(word)) if known else EventKind.UNKNOWN
    fact = LifecycleEvent(
        record.at,
        kind,
        str(payload.get("supervisorId") or record.supervisor or ""),
        detail if isinstance(detail, dict) else {},
        group=group if isinstance(group, int) else None,
        generation_id=_text(payload.get("generationId")),
        task_id=_text(payload.get("taskId")),
    )
    return NumberedEvent(record.place, fact)


def entry_of(record: ReportRecord) -> AuditEntry:
    """Return the audit entry of a record."""
    payload = record.payload
    detail = payload.get("detail")
    return AuditEntry(
        record.at,
        str(payload.get("actor", "")),
        str(payload.get("action", "")),
        str(payload.get("subject", "")),
        {name: str(text) for name, text in detail.items()} if isinstance(detail, dict) else {},
        _text(payload.get("reason")),
    )


def stored_prefix(there: Sequence[int], stored: Collection[int]) -> tuple[int | None, int | None]:
    """Return the last number that is stored with all before it, and the first that is not.

    `there`: the numbers of the metadata's rows, ascending.  None: there is no such number.
    """
    known = frozenset(stored)
    last: int | None = None
    for number in there:
        if number not in known:
            return last, number
        last = number
    return last, None


def is_due_again(missing: Missing, newest_stored: int, now: datetime) -> bool:
    """Whether a number is to be sent again: the store has passed it by, and time has passed.

    While the store is only behind nothing is sent twice: it will have the number.
    """
    return newest_stored >= missing.sent_to and now - missing.since >= RESEND_AFTER


def without_lost(position: ArchivePosition, oldest: NumberedEvent) -> ArchivePosition:
    """Return the position where the table has let go of what was not stored; `oldest`: it has."""
    if oldest.number <= position.whole_from:
        return position
    return replace(position, whole_from=oldest.number, whole_since=oldest.happening.at)


def trimmed_to(newest: int, trimmed: int, kept: int, archived: int | None, at_once: int) -> int:
    """Return up to which number events are trimmed, by one transaction at most `at_once` of them.

    `archived`: up to which number the report store has them; None: there is no archive, and the
    newest `kept` stay.  With one, what it lacks stays as well, up to `EVENTS_HELD`.
    """
    wanted = newest - kept
    if archived is None:
        return wanted
    held = max(EVENTS_HELD, kept)
    return min(max(min(wanted, archived), newest - held), trimmed + at_once)


def _record(
    installation: str,
    kind: RecordType,
    number: int,
    at: datetime,
    owned: tuple[str | None, dict[str, JsonValue]],
) -> ReportRecord:
    owner, payload = owned
    return ReportRecord(
        type=kind,
        record_id=record_id_of(installation, 0, kind, number),
        subject=installation,
        origin=RecordOrigin.SUPERVISOR,
        supervisor=owner or None,
        at=at,
        seq=number,
        payload=payload,
    )


def _bounded(detail: Mapping[str, JsonValue] | Mapping[str, str]) -> JsonValue:
    """Return a detail, or the head and tail of its JSON where that is too long for a topic."""
    text = json.dumps(dict(detail), ensure_ascii=False)
    size = len(text.encode())
    if size <= DETAIL_BYTES:
        return dict(detail)
    head, tail = cut(text, DETAIL_BYTES // 2)
    return {"cut": f"{size} bytes", "head": head, "tail": tail}


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
