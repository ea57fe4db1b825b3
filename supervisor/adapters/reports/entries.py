"""Records as stores keep them: the JSON of a record, its digest, and what lists look at.

The digest is of the whole JSON.  A record that is sent again comes from the sender's spool, byte
by byte, so any other JSON under the same id is another content, `at` and `dropped` included.
Fields that have their default are left out: so a record has the same JSON in a release that knows
more fields.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from pydantic_core import PydanticSerializationError

from supervisor.core.reports.first_error import first_error
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.reports import (
    NumberedQuery,
    ReportLine,
    ReportPage,
    ReportPlace,
    ReportQuery,
)
from supervisor.ports.store_problems import ContentRefused
from tasks.contract.patterns import matches_any
from tasks.reporting.record import BadRecord, RecordOrigin, RecordType, ReportRecord, read_record

__all__ = [
    "NUMBERED_TYPES",
    "ReportEntry",
    "ReportHead",
    "digest_of",
    "entries_of",
    "has_number",
    "head_of",
    "is_forgettable",
    "is_of",
    "line_of",
    "matches",
    "outcomes_of",
    "page_of_heads",
]

NUMBERED_TYPES = frozenset({RecordType.EVENT, RecordType.AUDIT})
_DIGEST_BYTES = 16
_NUL = "\\u0000"
"""How JSON writes NUL, and a backslash before `u0000` too."""


class ReportHead(NamedTuple):
    """What lists look at."""

    record_id: str
    type: RecordType
    subject: str
    attempt: int
    worker: str | None
    supervisor: str | None
    data_source: str | None
    status: str | None
    at: datetime
    seq: int
    origin: RecordOrigin

    @property
    def place(self) -> ReportPlace:
        """Its place in lists."""
        return ReportPlace(self.at, self.record_id)


@dataclass(frozen=True)
class ReportEntry:
    """A record on its way into a store."""

    record: ReportRecord
    body: str
    """Its JSON, on one line."""
    digest: bytes
    """Of the body: 16 bytes."""

    @property
    def record_id(self) -> str:
        """The id of the record."""
        return self.record.record_id


def entries_of(records: Iterable[ReportRecord]) -> list[ReportEntry]:
    """Return the entries of records, in their order.

    Raises:
        ContentRefused: a record is a log chunk, or holds NUL or a lone surrogate, which no store
            takes.
    """
    return [_entry_of(record) for record in records]


def digest_of(body: bytes) -> bytes:
    """Return the digest of a record's JSON: 16 bytes."""
    return hashlib.sha256(body).digest()[:_DIGEST_BYTES]


def head_of(record: ReportRecord) -> ReportHead:
    """Return what lists look at."""
    return ReportHead(
        record.record_id,
        record.type,
        record.subject,
        record.attempt,
        record.worker,
        record.supervisor,
        record.data_source,
        record.status,
        record.at,
        record.place,
        record.origin,
    )


def line_of(record: ReportRecord, size_bytes: int, stored_at: datetime | None = None) -> ReportLine:
    """Return what a list says of a record."""
    return ReportLine(
        record_id=record.record_id,
        type=record.type,
        subject=record.subject,
        attempt=record.attempt,
        origin=record.origin,
        worker=record.worker,
        supervisor=record.supervisor,
        data_source=record.data_source,
        status=record.status,
        at=record.at,
        seq=record.place,
        final=record.final,
        stored_at=stored_at,
        size_bytes=size_bytes,
        error=first_error(record),
    )


def page_of_heads(
    heads: Iterable[ReportHead], limit: int, line: Callable[[ReportHead], ReportLine | None]
) -> ReportPage:
    """Return a page of heads in any order; `line` returns None for a record that is gone."""
    newest = sorted(heads, key=lambda head: head.place, reverse=True)
    shown = newest[:limit]
    behind = shown[-1].place if len(newest) > limit else None
    return ReportPage([each for head in shown if (each := line(head)) is not None], behind)


def outcomes_of(
    entries: Sequence[ReportEntry], before: Mapping[str, bytes]
) -> Sequence[StoreOutcome]:
    """Return what becomes of each entry; `before`: id -> digest of what was stored before them."""
    digests = dict(before)
    outcomes = []
    for entry in entries:
        if entry.record_id not in digests:
            digests[entry.record_id] = entry.digest
            outcomes.append(StoreOutcome.STORED)
        elif digests[entry.record_id] == entry.digest:
            outcomes.append(StoreOutcome.CONFLICT)
        else:
            outcomes.append(StoreOutcome.MISMATCH)
    return outcomes


def matches(head: ReportHead, query: ReportQuery) -> bool:
    """Return whether a list holds a record; its length is another matter."""
    return (
        (not query.types or head.type in query.types)
        and query.subject in {None, head.subject}
        and query.attempt in {None, head.attempt}
        and query.supervisor in {None, head.supervisor}
        and query.data_source in {None, head.data_source}
        and query.worker in {None, head.worker}
        and query.status in {None, head.status}
        and query.origin in {None, head.origin}
        and (query.since is None or head.at >= query.since)
        and (query.until is None or head.at < query.until)
        and (query.after is None or head.place < query.after)
    )


def is_of(head: ReportHead, tables: Sequence[str] | None) -> bool:
    """Return whether a record is of a table whose name matches a pattern; None: of any."""
    if tables is None:
        return True
    return head.data_source is not None and matches_any(tables, head.data_source)


def is_forgettable(head: ReportHead, supervisor: str, before: datetime) -> bool:
    """Return whether a record goes with a supervisor that was forgotten at a time."""
    mine = head.supervisor == supervisor and head.at < before
    return mine and head.type not in NUMBERED_TYPES


def has_number(head: ReportHead, query: NumberedQuery) -> bool:
    """Return whether a list by number holds a record; its length is another matter."""
    return (
        head.type is query.kind
        and query.kind in NUMBERED_TYPES
        and head.subject == query.subject
        and head.seq > query.above
        and (query.below is None or head.seq < query.below)
        and query.supervisor in {None, head.supervisor}
    )


def _entry_of(record: ReportRecord) -> ReportEntry:
    if record.type is RecordType.LOG_CHUNK:
        raise ContentRefused("a log chunk belongs into the store of logs")
    try:
        # The version is a default too, and a body has to say what it is of.
        body = f'{{"v":{record.v},{record.model_dump_json(exclude_defaults=True)[1:]}'
        written = body.encode()
        if _NUL in body:
            read_record(written)
    except (BadRecord, PydanticSerializationError, UnicodeError) as error:
        raise ContentRefused(f"record {record.record_id}: {error}") from error
    return ReportEntry(record, body, digest_of(written))
