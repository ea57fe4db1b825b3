"""A record on its way through the persister, and what it becomes in the stores.

log_chunk              a chunk of the log store
combined               a chunk, and what else it holds as a report
completion             nothing: it is counted
all others             a report
"""

from collections.abc import Callable
from dataclasses import dataclass

from supervisor.core.reports.grave import grave_lines
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import StoredChunk
from tasks.reporting.record import (
    BadRecord,
    RecordType,
    ReportRecord,
    read_record,
    record_id_of,
)
from tasks.reporting.sizes import LOG

__all__ = ["Incoming", "Parts", "parts_of"]


@dataclass(frozen=True, eq=False)
class Incoming:
    """A record that somebody has handed in, and who hears of its end."""

    topic: str
    """`direct`: it came by HTTP."""
    partition: int
    offset: int
    key: bytes | None
    body: bytes
    done: Callable[["Incoming", StoreOutcome], None]
    """Called once, by any thread, with an outcome that is done or REJECTED."""


@dataclass(frozen=True)
class Parts:
    """What a record becomes; without both it is skipped."""

    report: ReportRecord | None = None
    chunk: StoredChunk | None = None


def parts_of(body: bytes) -> Parts:
    """Read a record, and return what it becomes.

    Raises:
        BadRecord: it can never be stored; the text is the reason.
    """
    record = read_record(body)
    match record.type:
        case RecordType.COMPLETION:
            return Parts()
        case RecordType.LOG_CHUNK:
            return Parts(chunk=_chunk_of(record, record.place, ends=record.final))
        case RecordType.COMBINED:
            rest = {name: each for name, each in record.payload.items() if name != LOG}
            report = record.model_copy(update={"payload": rest})
            if LOG not in record.payload:
                return Parts(report)
            return Parts(report, _chunk_of(record, 0, ends=True, name=LOG))
        case _:
            return Parts(record)


def _chunk_of(record: ReportRecord, offset: int, *, ends: bool, name: str = "text") -> StoredChunk:
    text = record.payload.get(name)
    if not isinstance(text, str):
        raise BadRecord(f"payload.{name}: a log is a text")
    content = text.encode()
    return StoredChunk(
        record_id=record_id_of(record.subject, record.attempt, RecordType.LOG_CHUNK, offset),
        subject=record.subject,
        attempt=record.attempt,
        offset=offset,
        content=content,
        ends=ends,
        at=record.at,
        supervisor=record.supervisor,
        data_source=record.data_source,
        worker=record.worker,
        grave=tuple(grave_lines(content, offset)),
    )
