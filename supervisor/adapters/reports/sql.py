"""Reports in SQL: one row per record, on SQLite or PostgreSQL.

A batch is one transaction, with one fsync.  Its rows are inserted in the order of their ids: two
writers that hold each other's rows would end in a deadlock otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TextClause,
    bindparam,
    delete,
    false,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
    tuple_,
)

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.entries import (
    NUMBERED_TYPES,
    ReportEntry,
    entries_of,
    outcomes_of,
)
from supervisor.adapters.reports.report_pages import report_page
from supervisor.adapters.reports.schema import NUMBERED, REPORTS, UNUSUAL
from supervisor.core.reports.first_error import first_error
from supervisor.core.reports.status import StoreOutcome
from supervisor.database.column_types import NAME, UtcTime
from supervisor.ports.clock import Clock
from supervisor.ports.reports.reports import NumberedQuery, ReportPage, ReportPlace, ReportQuery
from tasks.reporting.record import RecordType, ReportRecord

__all__ = ["SqlReports", "list_query", "number_at_query", "numbered_query", "numbers_query"]
__all__ += ["old_query", "owned_query"]

T = TypeVar("T")

_R = REPORTS.c
_INSERT = insert(REPORTS)
_NOT_TEXT = {
    "attempt": "bigint",
    "at": "timestamptz",
    "seq": "bigint",
    "final": "boolean",
    "digest": "bytea",
    "stored_at": "timestamptz",
    "size": "bigint",
}
_NAMES = [column.name for column in _R]
_ARRAYS = [f"CAST(:{name} AS {_NOT_TEXT.get(name, 'text')}[])" for name in _NAMES]
# A body is one line.  As an array of texts the driver would escape each quote by itself, which
# takes longer than all else.
_ARRAYS[-1] = "string_to_array(CAST(:body AS text), chr(10))"
_INSERT_ARRAYS = text(
    f"INSERT INTO reports ({', '.join(_NAMES)}) "  # noqa: S608 -- names of our own columns
    f"SELECT * FROM unnest({', '.join(_ARRAYS)}) ON CONFLICT DO NOTHING RETURNING record_id"
)
"""A column is one parameter: 500 rows of 17 values each would be 8,500."""
_DIGESTS = select(_R.record_id, _R.digest).where(_R.record_id.in_(bindparam("ids", expanding=True)))
_BODY = select(_R.body).where(_R.record_id == bindparam("record_id"))
_NOTHING = delete(REPORTS).where(false())
_SAMPLE = 1_000
"""Rows whose size is looked at; ids are hashes, so the first ones by id are any ones."""
_ROW_BYTES = 600
"""About what a row takes beside its body, in the table and its indexes."""


class SqlReports:
    """A `ReportStore` in a database that `migrate_reports` has migrated."""

    def __init__(self, database: ReportDatabase, clock: Clock | None = None) -> None:
        """Own `database`: `close` closes it."""
        self._database = database
        self._clock = clock or SystemClock()

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        """Store records, all or none."""
        entries = entries_of(records)
        if not entries:
            return []
        first: dict[str, ReportEntry] = {}
        for entry in entries:
            first.setdefault(entry.record_id, entry)
        insert_new = _insert_on_sqlite if self._database.on_sqlite else _insert_on_postgresql
        with self._database.writing() as connection:
            before = insert_new(connection, first, self._clock.now())
        return outcomes_of(entries, before)

    def get(self, record_id: str) -> ReportRecord | None:
        """Return a stored record."""
        with self._database.reading() as connection:
            body = connection.execute(_BODY, {"record_id": record_id}).scalar_one_or_none()
        return None if body is None else ReportRecord.from_json(body)

    def list(self, query: ReportQuery, limit: int) -> Sequence[ReportRecord]:
        """Return the newest records that match."""
        queries = [list_query(each, limit) for each in _by_type(query)]
        with self._database.reading() as connection:
            lists = [_records(connection, each) for each in queries]
        return list(islice(merge(*lists, key=_place_of, reverse=True), limit))

    def page(
        self, query: ReportQuery, limit: int, tables: Sequence[str] | None = None
    ) -> ReportPage:
        """Return the newest records that match, without their payloads."""
        with self._database.reading() as connection:
            return report_page(connection, query, limit, tables)

    def numbered(self, query: NumberedQuery, limit: int) -> Sequence[ReportRecord]:
        """Return events or audit entries by their numbers."""
        with self._database.reading() as connection:
            return list(_records(connection, numbered_query(query, limit)))

    def numbers(self, query: NumberedQuery, limit: int) -> Sequence[int]:
        """Return the numbers alone."""
        with self._database.reading() as connection:
            return list(connection.execute(numbers_query(query, limit)).scalars())

    def number_at(self, query: NumberedQuery, at: datetime) -> int:
        """Return the number of the newest one up to a time."""
        with self._database.reading() as connection:
            return connection.execute(number_at_query(query, at)).scalar_one_or_none() or 0

    def delete_older_than(self, kind: RecordType, cutoff: datetime, limit: int) -> int:
        """Delete old records of a type."""
        return self._delete(old_query(kind, cutoff, limit))

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete records of a supervisor; they are looked for before the table is held."""
        with self._database.reading() as connection:
            ids = list(connection.execute(owned_query(supervisor, before, limit)).scalars())
        if not ids:
            return 0
        with self._database.writing() as connection:
            return connection.execute(delete(REPORTS).where(_R.record_id.in_(ids))).rowcount

    def size_bytes(self) -> int:
        """Return about how much the records take, from their number and a sample of their sizes."""
        size = "length(CAST(body AS BLOB))" if self._database.on_sqlite else "octet_length(body)"
        column: ColumnElement[int] = literal_column(size)
        sample = select(column.label("size")).select_from(REPORTS).order_by(_R.record_id)
        sizes = sample.limit(_SAMPLE).subquery()
        with self._database.reading() as connection:
            rows = connection.execute(select(func.count()).select_from(REPORTS)).scalar_one()
            mean = connection.execute(select(func.avg(sizes.c.size))).scalar_one()
        return int(rows * (_ROW_BYTES + float(mean or 0)))

    def ping(self) -> None:
        """Return if the table can be read and written now."""
        with self._database.writing() as connection:
            connection.execute(_NOTHING)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _delete(self, oldest: Select[str]) -> int:
        with self._database.writing() as connection:
            done = connection.execute(delete(REPORTS).where(_R.record_id.in_(oldest)))
            return done.rowcount


def old_query(kind: RecordType, cutoff: datetime, limit: int) -> Select[str]:
    """Return the query of the ids of old records of a type.

    It is asked in the order of the index by type.  PostgreSQL would read the one by time too, and
    pass by all records of types that are kept longer.
    """
    of_type = (
        _R.type >= kind.value,
        tuple_(_R.type, _R.at) < tuple_(literal(kind.value), literal(cutoff, UtcTime())),
    )
    oldest = select(_R.record_id).where(*of_type).order_by(_R.type, _R.at, _R.record_id)
    return oldest.limit(limit).with_hint(REPORTS, "INDEXED BY ix_reports_type", "sqlite")


def owned_query(supervisor: str, before: datetime, limit: int) -> Select[str]:
    """Return the query of the ids of a supervisor's newest records that may be deleted.

    The newest first: archived events, which stay, are kept far longer, and are passed by.
    """
    owned = select(_R.record_id).where(
        _R.supervisor == supervisor, _R.at < before, _R.type.not_in(sorted(NUMBERED_TYPES))
    )
    newest = owned.order_by(_R.at.desc(), _R.record_id.desc()).limit(limit)
    return newest.with_hint(REPORTS, "INDEXED BY ix_reports_supervisor", "sqlite")


def list_query(query: ReportQuery, limit: int) -> Select[str]:
    """Return the query of a list of one type, or of all; SQLite has to take the index for it."""
    selected = select(_R.body).where(*_conditions(query))
    if query.after is not None:
        at, record_id = literal(query.after.at, UtcTime()), literal(query.after.record_id, NAME)
        selected = selected.where(tuple_(_R.at, _R.record_id) < tuple_(at, record_id))
    hint = f"INDEXED BY ix_reports_{_index_of(query)}"
    newest_first = selected.order_by(_R.at.desc(), _R.record_id.desc()).limit(limit)
    return newest_first.with_hint(REPORTS, hint, "sqlite")


def numbered_query(query: NumberedQuery, limit: int) -> Select[str]:
    """Return the query of events or audit entries by their numbers."""
    return _by_number(select(_R.body), query, limit)


def numbers_query(query: NumberedQuery, limit: int) -> Select[int]:
    """Return the query of the numbers of events or audit entries."""
    return _by_number(select(_R.seq), query, limit)


def number_at_query(query: NumberedQuery, at: datetime) -> Select[int]:
    """Return the query of the number of the newest event or entry up to a time."""
    newest = select(_R.seq).where(
        _R.type == query.kind.value, _R.subject == query.subject, _R.at <= at
    )
    newest = newest.order_by(_R.at.desc(), _R.record_id.desc()).limit(1)
    return newest.with_hint(REPORTS, "INDEXED BY ix_reports_type", "sqlite")


def _by_number(selected: Select[T], query: NumberedQuery, limit: int) -> Select[T]:
    rows = selected.where(
        _R.type == query.kind.value,
        _R.subject == query.subject,
        _R.seq > query.above,
        text(NUMBERED),
    )
    if query.below is not None:
        rows = rows.where(_R.seq < query.below)
    index = "numbered"
    if query.supervisor is not None:
        rows, index = rows.where(_R.supervisor == query.supervisor), "numbered_supervisor"
    ordered = rows.order_by(_R.seq.desc() if query.newest_first else _R.seq).limit(limit)
    return ordered.with_hint(REPORTS, f"INDEXED BY ix_reports_{index}", "sqlite")


def _conditions(query: ReportQuery) -> Iterator[ColumnElement[bool] | TextClause]:
    wanted = {
        _R.subject: query.subject,
        _R.attempt: query.attempt,
        _R.supervisor: query.supervisor,
        _R.data_source: query.data_source,
        _R.worker: query.worker,
        _R.status: query.status,
        _R.origin: query.origin,
    }
    yield from (column == value for column, value in wanted.items() if value is not None)
    if _is_unusual(query):
        yield text(UNUSUAL)  # so that a planner sees that the partial index will do
    if len(query.types) == 1:
        yield _R.type == next(iter(query.types)).value
    elif query.types:
        yield _R.type.in_([kind.value for kind in sorted(query.types)])
    if query.since is not None:
        yield _R.at >= query.since
    if query.until is not None:
        yield _R.at < query.until


def _index_of(query: ReportQuery) -> str:
    """Return the index that leaves the fewest rows to look at, most likely."""
    if query.subject is not None:
        return "subject"
    if _is_unusual(query):
        return "unusual"
    for name in ("supervisor", "worker", "data_source"):
        if getattr(query, name) is not None:
            return name
    return "type" if query.types else "newest"


def _is_unusual(query: ReportQuery) -> bool:
    return query.status not in {None, "SUCCESS"}


def _by_type(query: ReportQuery) -> Iterator[ReportQuery]:
    """Yield a query for each type, where each type is read from an index in its order."""
    if _index_of(query) != "type":
        yield query
        return
    for kind in sorted(query.types):
        yield replace(query, types=frozenset({kind}))


def _insert_on_sqlite(
    connection: Connection, entries: Mapping[str, ReportEntry], now: datetime
) -> Mapping[str, bytes]:
    """Insert what is new; return id -> digest of what is not.

    This transaction holds the write lock: nobody inserts between the two statements.
    """
    before = _digests(connection, [*entries])
    if rows := [_row_of(entries[each], now) for each in sorted(entries.keys() - before.keys())]:
        connection.execute(_INSERT, rows)
    return before


def _insert_on_postgresql(
    connection: Connection, entries: Mapping[str, ReportEntry], now: datetime
) -> Mapping[str, bytes]:
    """Insert what is new; return id -> digest of what is not."""
    rows = [_row_of(entries[each], now) for each in sorted(entries)]
    arrays: dict[str, object] = {name: [row[name] for row in rows] for name in _NAMES[:-1]}
    arrays["body"] = "\n".join(entries[each].body for each in sorted(entries))
    known = entries.keys() - set(connection.execute(_INSERT_ARRAYS, arrays).scalars())
    # A row may be deleted between the two statements: it counts as one like ours.
    before = {record_id: entries[record_id].digest for record_id in known}
    return before | _digests(connection, [*known]) if known else before


def _row_of(entry: ReportEntry, now: datetime) -> dict[str, object]:
    record = entry.record
    return {
        "record_id": record.record_id,
        "type": record.type.value,
        "subject": record.subject,
        "attempt": record.attempt,
        "origin": record.origin.value,
        "worker": record.worker,
        "supervisor": record.supervisor,
        "data_source": record.data_source,
        "status": record.status,
        "at": record.at,
        "seq": record.place,
        "final": record.final,
        "digest": entry.digest,
        "stored_at": now,
        "size": len(entry.body.encode()),
        "error": first_error(record),
        "body": entry.body,
    }


def _digests(connection: Connection, ids: Sequence[str]) -> dict[str, bytes]:
    rows = connection.execute(_DIGESTS, {"ids": ids})
    return {record_id: bytes(digest) for record_id, digest in rows}


def _records(connection: Connection, query: Select[str]) -> Sequence[ReportRecord]:
    return [ReportRecord.from_json(body) for body in connection.execute(query).scalars()]


def _place_of(record: ReportRecord) -> ReportPlace:
    return ReportPlace(record.at, record.record_id)
