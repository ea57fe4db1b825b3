"""SQL of the index of log chunks, and of their warnings and errors; for both stores on a database.

log_chunks    subject, attempt, offset ─► where the bytes are
grave_lines   one row per warning or error, by its place in the log: a line that comes once more
              in another chunk is the same row
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection, Insert
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from supervisor.adapters.reports.logs.chunk_cuts import CHUNK_BYTES_MAX, KnownChunk, digest_of
from supervisor.adapters.reports.schema import GRAVE_LINES, LOG_CHUNKS
from supervisor.ports.reports.logs import LogSpan, StoredChunk

__all__ = [
    "INDEX_COLUMNS",
    "IdsTaken",
    "IndexRow",
    "NewRow",
    "attempts_of",
    "delete_chunks",
    "insert_chunks",
    "insert_ignoring",
    "known_chunks",
    "pages_of",
    "span_of",
]

_IDS_PER_QUERY = 500
_ROWS_PER_PAGE = 256
_C = LOG_CHUNKS.c
INDEX_COLUMNS = (_C.offset, _C.record_id, _C.size, _C.segment, _C.place, _C.stored_bytes)
"""Those of `IndexRow`."""
_G = GRAVE_LINES.c


class IndexRow(NamedTuple):
    """Where the bytes of a chunk are."""

    offset: int
    record_id: str
    size: int
    segment: str | None
    place: int | None
    stored_bytes: int


class IdsTaken(Exception):
    """Somebody else stored one of the chunks in the meantime."""


@dataclass(frozen=True)
class NewRow:
    """A chunk for the index, and where its bytes are."""

    chunk: StoredChunk
    stored_bytes: int
    segment: str | None = None
    place: int | None = None


def known_chunks(connection: Connection, ids: Collection[str]) -> Mapping[str, KnownChunk]:
    """Return what is stored of some ids."""
    known = {}
    for some in _some(sorted(ids)):
        query = sa.select(_C.record_id, _C.size, _C.digest, _C.ends).where(_C.record_id.in_(some))
        for row in connection.execute(query):
            known[row.record_id] = KnownChunk(row.size, bytes(row.digest), row.ends)
    return known


def insert_chunks(connection: Connection, rows: Sequence[NewRow]) -> None:
    """Insert index rows and grave lines.

    Raises:
        IdsTaken: an id was not new; the transaction has to end without a commit.
    """
    values = [
        {
            "record_id": row.chunk.record_id,
            "subject": row.chunk.subject,
            "attempt": row.chunk.attempt,
            "offset": row.chunk.offset,
            "size": len(row.chunk.content),
            "ends": row.chunk.ends,
            "at": row.chunk.at,
            "supervisor": row.chunk.supervisor,
            "data_source": row.chunk.data_source,
            "worker": row.chunk.worker,
            "digest": digest_of(row.chunk.content),
            "segment": row.segment,
            "place": row.place,
            "stored_bytes": row.stored_bytes,
        }
        # In one order: two writers of the same chunks wait for each other, and not in a circle.
        for row in sorted(rows, key=lambda row: row.chunk.record_id)
    ]
    insert = insert_ignoring(connection, LOG_CHUNKS).returning(_C.record_id)
    if len(connection.execute(insert, values).all()) < len(values):
        raise IdsTaken
    lines: list[dict[str, Any]] = [
        {
            "subject": row.chunk.subject,
            "attempt": row.chunk.attempt,
            "offset": line.offset,
            "at": line.at(row.chunk.at),
            "level": line.level.value,
            "text": line.text,
            "supervisor": row.chunk.supervisor,
            "data_source": row.chunk.data_source,
            "worker": row.chunk.worker,
        }
        for row in rows
        for line in row.chunk.grave
    ]
    lines.sort(key=lambda line: (line["subject"], line["attempt"], line["offset"]))
    if lines:
        connection.execute(insert_ignoring(connection, GRAVE_LINES), lines)


def insert_ignoring(connection: Connection, table: sa.Table) -> Insert:
    """Return an INSERT that leaves rows alone whose key is there."""
    if connection.dialect.name == "sqlite":
        return sqlite_insert(table).on_conflict_do_nothing()
    return postgres_insert(table).on_conflict_do_nothing()


def span_of(connection: Connection, subject: str, attempt: int) -> LogSpan | None:
    """Return how much of a log is stored; reads the index rows of this log alone."""
    is_of_log = (_C.subject == subject, _C.attempt == attempt)
    end = _C.offset + _C.size
    # How far the chunks before each chunk reach: where one begins behind that, there is a hole.
    before = sa.func.max(end).over(order_by=(_C.offset, _C.record_id), rows=(None, -1))
    reach = sa.func.coalesce(before, 0).label("reach")
    reached = sa.select(_C.offset, reach).where(*is_of_log).subquery()
    hole = sa.select(sa.func.min(reached.c.reach)).where(reached.c.offset > reached.c.reach)
    totals = sa.select(
        sa.func.max(end).label("size"),
        sa.func.max(_C.at).label("last_at"),
        sa.func.max(sa.cast(_C.ends, sa.Integer)).label("ended"),
        hole.scalar_subquery().label("hole"),
    ).where(*is_of_log)
    row = connection.execute(totals).one()
    if row.size is None:
        return None
    newest = (
        sa.select(_C.worker).where(*is_of_log).order_by(_C.offset.desc(), _C.at.desc()).limit(1)
    )
    worker = connection.execute(newest).scalar_one()
    upto = row.size if row.hole is None else row.hole
    return LogSpan(upto, row.size, bool(row.ended), row.last_at, worker)


def attempts_of(connection: Connection, subject: str) -> Sequence[int]:
    """Return the attempts of a subject that have a chunk, ascending."""
    query = sa.select(_C.attempt).distinct().where(_C.subject == subject).order_by(_C.attempt)
    return list(connection.execute(query).scalars())


def pages_of(connection: Connection, subject: str, attempt: int, offset: int) -> Iterator[IndexRow]:
    """Yield the index rows of a log that reach behind `offset`, by their own offset, in pages."""
    query = (
        sa.select(*INDEX_COLUMNS)
        .where(_C.subject == subject, _C.attempt == attempt)
        .where(_C.offset > offset - CHUNK_BYTES_MAX, _C.offset + _C.size > offset)
        .order_by(_C.offset, _C.record_id)
        .limit(_ROWS_PER_PAGE)
    )
    page = connection.execute(query).all()
    while page:
        yield from (IndexRow(*row) for row in page)
        if len(page) < _ROWS_PER_PAGE:
            return
        last = sa.tuple_(sa.literal(page[-1].offset), sa.literal(page[-1].record_id))
        behind = sa.tuple_(_C.offset, _C.record_id) > last
        page = connection.execute(query.where(_C.offset >= page[-1].offset, behind)).all()


def delete_chunks(
    connection: Connection, condition: sa.ColumnElement[bool], limit: int
) -> list[str]:
    """Delete at most `limit` chunks that meet a condition, with their lines; return their ids."""
    wanted = (_C.record_id, _C.subject, _C.attempt, _C.offset, _C.size)
    rows = connection.execute(sa.select(*wanted).where(condition).limit(limit)).all()
    lines = sa.delete(GRAVE_LINES).where(
        _G.subject == sa.bindparam("of"),
        _G.attempt == sa.bindparam("number"),
        _G.offset >= sa.bindparam("begin"),
        _G.offset < sa.bindparam("end"),
    )
    ids = [row.record_id for row in rows]
    for some in _some(ids):
        connection.execute(sa.delete(LOG_CHUNKS).where(_C.record_id.in_(some)))
    if rows:
        places = [
            {
                "of": row.subject,
                "number": row.attempt,
                "begin": row.offset,
                "end": row.offset + row.size,
            }
            for row in rows
        ]
        connection.execute(lines, places)
    return ids


def _some(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for first in range(0, len(values), _IDS_PER_QUERY):
        yield values[first : first + _IDS_PER_QUERY]
