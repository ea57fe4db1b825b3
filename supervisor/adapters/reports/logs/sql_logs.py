"""The store of logs in the database of reports alone, for small set-ups without a shared folder."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import sqlalchemy as sa
from sqlalchemy import Connection

from supervisor.adapters.reports.logs.chunk_cuts import check_chunks, new_chunks
from supervisor.adapters.reports.logs.indexed_logs import IndexedLogs
from supervisor.adapters.reports.logs.log_index import (
    IdsTaken,
    IndexRow,
    NewRow,
    delete_chunks,
    insert_chunks,
    insert_ignoring,
    pages_of,
)
from supervisor.adapters.reports.logs.log_reading import StoredPiece, read_pieces
from supervisor.adapters.reports.schema import LOG_CHUNKS, LOG_CONTENTS
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import StoredBytes, StoredChunk
from supervisor.ports.store_problems import StoreAway

__all__ = ["SqlLogStore"]

_LEVEL = 4
_TRIES = 5
"""Of a batch whose ids others store at the same time."""
_ROWS_PER_DELETION = 500
_C = LOG_CHUNKS.c


class SqlLogStore(IndexedLogs):
    """Implements `ports.reports.logs.LogStore`."""

    def put_many(self, chunks: Sequence[StoredChunk]) -> Sequence[StoreOutcome]:
        """Store chunks, all or none; return what became of each."""
        check_chunks(chunks)
        for _ in range(_TRIES):
            new = new_chunks(chunks, self._known, self._content)
            packed = {key: zlib.compress(each.content, _LEVEL) for key, each in new.fresh.items()}
            if not packed or self._insert(new.fresh, packed):
                return new.outcomes
        raise StoreAway("others store the same chunks at the same time")

    def read(self, subject: str, attempt: int, offset: int, limit: int) -> Sequence[StoredBytes]:
        """Return stored bytes from `offset` on."""
        with self._database.reading() as connection:
            rows = pages_of(connection, subject, attempt, offset)
            return read_pieces(_pieces(connection, rows), offset, limit)

    def delete_older_than(self, cutoff: datetime, limit: int) -> int:
        """Delete chunks from before `cutoff`."""
        return self._delete(_C.at < cutoff, limit)

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete chunks of a supervisor."""
        return self._delete(sa.and_(_C.supervisor == supervisor, _C.at < before), limit)

    def size_bytes(self) -> int:
        """Return the size of all contents, compressed."""
        return self.kept_bytes()

    def ping(self) -> None:
        """Return if the database takes a transaction that writes."""
        with self._database.writing() as connection:
            connection.execute(sa.select(_C.record_id).limit(1)).all()

    def close(self) -> None:
        """Give back nothing: the database is the caller's."""

    def _content(self, record_id: str) -> bytes | None:
        with self._database.reading() as connection:
            content = _load(connection, record_id)
        return None if isinstance(content, str) else content

    def _insert(self, fresh: Mapping[str, StoredChunk], packed: Mapping[str, bytes]) -> bool:
        """Store chunks; return False, and store none, if an id was not new."""
        rows = [NewRow(chunk, len(packed[record_id])) for record_id, chunk in fresh.items()]
        contents = [{"record_id": key, "content": content} for key, content in packed.items()]
        try:
            with self._database.writing() as connection:
                insert_chunks(connection, rows)
                connection.execute(insert_ignoring(connection, LOG_CONTENTS), contents)
        except IdsTaken:
            return False
        return True

    def _delete(self, condition: sa.ColumnElement[bool], limit: int) -> int:
        deleted = 0
        while deleted < limit:
            some = min(limit - deleted, _ROWS_PER_DELETION)
            with self._database.writing() as connection:
                ids = delete_chunks(connection, condition, some)
                is_theirs = LOG_CONTENTS.c.record_id.in_(ids)
                connection.execute(sa.delete(LOG_CONTENTS).where(is_theirs))
            deleted += len(ids)
            if len(ids) < some:
                break
        return deleted


def _pieces(connection: Connection, rows: Iterator[IndexRow]) -> Iterator[StoredPiece]:
    for row in rows:
        yield StoredPiece(row.offset, row.size, partial(_load, connection, row.record_id))


def _load(connection: Connection, record_id: str) -> bytes | str:
    """Return the content of a chunk, or why it cannot be read."""
    query = sa.select(LOG_CONTENTS.c.content).where(LOG_CONTENTS.c.record_id == record_id)
    packed = connection.execute(query).scalar_one_or_none()
    if packed is None:
        return f"chunk {record_id} has lost its content"
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        return f"chunk {record_id} is damaged: {error}"
