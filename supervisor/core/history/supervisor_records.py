"""Records of the leader about supervisors and compactions, out of the events.  Pure.

    state-changed     ─► task_report of the supervisor, origin `supervisor`
    compaction-ended  ─► task_result of the compaction, beside what its worker has sent

A record is a function of its event: one that is sent again is the same record.
"""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from supervisor.core.history.lifecycle_events import EventKind, NumberedEvent
from tasks.reporting.levels import ReportLevels, TaskEnding
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of

__all__ = ["supervisor_records"]

_SUBJECT, _STATUS = 256, 32
_SUCCESS = "SUCCESS"


def supervisor_records(
    events: Iterable[NumberedEvent], tables: Mapping[str, str | None], levels: ReportLevels
) -> Iterator[ReportRecord]:
    """Yield the records of these events, as far as they are wanted.

    `tables`: of the supervisors that are there; a record without one is for who may read all.
    """
    for event in events:
        match event.happening.kind:
            case EventKind.STATE_CHANGED:
                record = _of_state(event, tables.get(event.happening.supervisor_id))
                good = event.happening.detail.get("healthy") is not False
            case EventKind.COMPACTION_ENDED if event.happening.detail.get("compaction"):
                record = _of_compaction(event)
                good = event.happening.detail.get("status") == _SUCCESS
            case _:
                continue
        if levels.wants(record.origin, TaskEnding(succeeded=good), debug=False):
            yield record


def _of_state(event: NumberedEvent, table: str | None) -> ReportRecord:
    fact = event.happening
    why = fact.detail.get("why")
    payload: dict[str, JsonValue] = {**fact.detail, "event": event.number}
    if fact.detail.get("healthy") is False and isinstance(why, str):
        payload["error"] = why
    owned = fact.supervisor_id, str(fact.detail.get("state", "")), fact.supervisor_id, table
    return _record(event, (RecordType.TASK_REPORT, RecordOrigin.SUPERVISOR), owned, payload)


def _of_compaction(event: NumberedEvent) -> ReportRecord:
    fact = event.happening
    table = fact.detail.get("dataSource")
    payload: dict[str, JsonValue] = {**fact.detail, "event": event.number, "by": "overlord"}
    subject, status = str(fact.detail["compaction"]), str(fact.detail.get("status", ""))
    owned = subject, status, fact.supervisor_id, table if isinstance(table, str) else None
    kinds = RecordType.TASK_RESULT, RecordOrigin.COMPACTION
    return _record(event, kinds, owned, payload)


def _record(
    event: NumberedEvent,
    kinds: tuple[RecordType, RecordOrigin],
    owned: tuple[str, str, str, str | None],
    payload: dict[str, JsonValue],
) -> ReportRecord:
    """Return a record; `owned`: subject, status, supervisor and table."""
    kind, origin = kinds
    subject, status, supervisor, table = owned
    return ReportRecord(
        type=kind,
        record_id=record_id_of(subject[:_SUBJECT], 0, kind, event.number),
        subject=subject[:_SUBJECT],
        origin=origin,
        status=status[:_STATUS] or None,
        supervisor=supervisor[:_SUBJECT] or None,
        data_source=table,
        at=event.happening.at,
        seq=event.number,
        payload=payload,
    )
