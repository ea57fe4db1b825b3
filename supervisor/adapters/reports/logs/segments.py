"""The store of logs in segment files, with an index row per chunk in the database of reports.

    put      look (what is known already?) ─► append, fsync ─► rows, in one transaction
    delete   rows, in one transaction ─► the file, once no row points to it and it is old

    killed                       left behind
    behind append or fsync       bytes that no row points to: garbage of its file
    behind the rows' deletion    a file that no row points to: removed a day after its last write

So no row ever points to bytes that were not durable before it.  A row whose file is gone all the
same, or damaged, is read as a part that is missing.
"""

import errno
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.chunk_cuts import check_chunks, new_chunks
from supervisor.adapters.reports.logs.indexed_logs import IndexedLogs
from supervisor.adapters.reports.logs.log_index import (
    INDEX_COLUMNS,
    IdsTaken,
    IndexRow,
    NewRow,
    delete_chunks,
    insert_chunks,
    pages_of,
)
from supervisor.adapters.reports.logs.log_reading import StoredPiece, read_pieces
from supervisor.adapters.reports.logs.segment_files import (
    Disk,
    FramePlace,
    FrameReader,
    SegmentWriter,
    remove_segment,
    segment_files,
)
from supervisor.adapters.reports.schema import LOG_CHUNKS
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.clock import Clock
from supervisor.ports.reports.logs import StoredBytes, StoredChunk
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["SegmentLogStore"]

GARBAGE_AGE = timedelta(days=1)
"""No row points to a file, and its last write is older: nobody will write a row for it any more."""
_TRIES = 5
"""Of a batch whose ids others store at the same time."""
_ROWS_PER_DELETION = 1_000
_RIGHTS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
_C = LOG_CHUNKS.c


class SegmentLogStore(IndexedLogs):
    """Implements `ports.reports.logs.LogStore`; one instance per process."""

    def __init__(
        self,
        database: ReportDatabase,
        folder: Path,
        persister: str,
        clock: Clock,
        disk: Disk | None = None,
    ) -> None:
        """Keep files below `folder`; those that this process writes are named by `persister`.

        The database stays the caller's: `close` does not close it.
        """
        super().__init__(database)
        self._folder = folder
        self._clock = clock
        self._disk = disk or Disk()
        self._writer = SegmentWriter(folder, persister, clock, self._disk)

    def put_many(self, chunks: Sequence[StoredChunk]) -> Sequence[StoreOutcome]:
        """Store chunks, all or none; return what became of each."""
        check_chunks(chunks)
        placed: dict[str, tuple[StoredChunk, FramePlace]] = {}
        """What was appended in an earlier try of this call."""
        for _ in range(_TRIES):
            new = new_chunks(chunks, self._known, self._content)
            missing = [
                chunk
                for record_id, chunk in new.fresh.items()
                if record_id not in placed or placed[record_id][0] != chunk
            ]
            # Neighbours in a log are neighbours in the file: they are read together.
            missing.sort(key=lambda each: (each.subject, each.attempt, each.offset))
            places = self._append([(each.record_id, each.content) for each in missing])
            placed |= {each.record_id: (each, places[each.record_id]) for each in missing}
            if self._index([placed[record_id] for record_id in new.fresh]):
                return new.outcomes
        raise StoreAway("others store the same chunks at the same time")

    def read(self, subject: str, attempt: int, offset: int, limit: int) -> Sequence[StoredBytes]:
        """Return stored bytes from `offset` on; bytes of a file that is damaged or gone say so."""
        with self._database.reading() as connection, FrameReader(self._folder) as reader:
            rows = pages_of(connection, subject, attempt, offset)
            return read_pieces(_pieces(reader, rows), offset, limit)

    def delete_older_than(self, cutoff: datetime, limit: int) -> int:
        """Delete the chunks of segments without a younger chunk; then files without a chunk."""
        deleted = 0
        for segment in self._indexed_segments():
            if deleted >= limit:
                return deleted
            if self._is_younger(segment, cutoff):
                continue
            # A young chunk that is stored at this moment stays.
            is_old = sa.and_(_C.segment == segment, _C.at < cutoff)
            deleted += self._delete(is_old, limit - deleted)
        if deleted < limit:
            self._remove_garbage()
        return deleted

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete chunks of a supervisor; their bytes go with the last chunk of their segment."""
        return self._delete(sa.and_(_C.supervisor == supervisor, _C.at < before), limit)

    def size_bytes(self) -> int:
        """Return how much the segment files take."""
        with self._disk_errors():
            return sum(file.size_bytes for file in segment_files(self._folder))

    def ping(self) -> None:
        """Return if the database takes a transaction and the folder a file."""
        with self._database.writing() as connection:
            connection.execute(sa.select(_C.record_id).limit(1)).all()
        with self._disk_errors():
            self._writer.probe()

    def close(self) -> None:
        """Close the segment that is being written."""
        self._writer.close()

    def _content(self, record_id: str) -> bytes | None:
        query = sa.select(*INDEX_COLUMNS).where(_C.record_id == record_id)
        with self._database.reading() as connection, FrameReader(self._folder) as reader:
            row = connection.execute(query).one_or_none()
            content = "" if row is None else _load(reader, IndexRow(*row))
        return None if isinstance(content, str) else content

    def _append(self, pieces: Sequence[tuple[str, bytes]]) -> Mapping[str, FramePlace]:
        if not pieces:
            return {}
        with self._disk_errors():
            return self._writer.append(pieces)

    def _index(self, placed: Sequence[tuple[StoredChunk, FramePlace]]) -> bool:
        """Commit the rows of appended chunks; return False, and store none, if an id was not new.

        Raises:
            StoreAway: a file was removed meanwhile.
        """
        if not placed:
            return True
        rows = [NewRow(chunk, at.length, at.segment, at.place) for chunk, at in placed]
        segments = {place.segment for _, place in placed}
        try:
            with self._database.writing() as connection:
                insert_chunks(connection, rows)
                self._check_files(segments)
        except IdsTaken:
            return False
        return True

    def _check_files(self, segments: Collection[str]) -> None:
        """Refuse to commit rows of files that are gone.

        Such a file was garbage: this process was frozen for a day between append and commit.
        """
        if gone := [each for each in segments if not (self._folder / each).exists()]:
            raise StoreAway(f"segment files are gone: {', '.join(gone)}")

    def _indexed_segments(self) -> Iterator[str]:
        """Yield each segment that a row points to, by jumps in the index instead of a scan."""
        last = ""
        while True:
            query = sa.select(sa.func.min(_C.segment)).where(_C.segment > last)
            with self._database.reading() as connection:
                segment = connection.execute(query).scalar_one()
            if segment is None:
                return
            yield segment
            last = segment

    def _is_younger(self, segment: str, cutoff: datetime) -> bool:
        """Return whether a chunk of a segment is; of a young segment the first row says so."""
        query = sa.select(_C.at).where(_C.segment == segment, _C.at >= cutoff).limit(1)
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def _delete(self, condition: sa.ColumnElement[bool], limit: int) -> int:
        deleted = 0
        while deleted < limit:
            some = min(limit - deleted, _ROWS_PER_DELETION)
            with self._database.writing() as connection:
                ids = delete_chunks(connection, condition, some)
            deleted += len(ids)
            if len(ids) < some:
                break
        return deleted

    def _remove_garbage(self) -> None:
        """Remove files that no row points to.

        A persister writes a file for an hour at most, and its rows within a minute of the bytes.
        """
        newest = (self._clock.now() - GARBAGE_AGE).timestamp()
        with self._disk_errors():
            old = [
                file.segment for file in segment_files(self._folder) if file.written_at_s < newest
            ]
        for segment in old:
            query = sa.select(_C.record_id).where(_C.segment == segment).limit(1)
            with self._database.reading() as connection:
                is_indexed = connection.execute(query).first() is not None
            if not is_indexed:
                with self._disk_errors():
                    remove_segment(self._folder, segment, self._disk)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            text = f"the folder of logs {self._folder} cannot be used: {error.strerror or error}"
            if error.errno in _RIGHTS:
                raise StoreRefuses(f"{text}; give this user the right to write it") from error
            raise StoreAway(text) from error


def _pieces(reader: FrameReader, rows: Iterator[IndexRow]) -> Iterator[StoredPiece]:
    for row in rows:
        yield StoredPiece(row.offset, row.size, partial(_load, reader, row))


def _load(reader: FrameReader, row: IndexRow) -> bytes | str:
    """Return the content of a chunk, or why it cannot be read."""
    frame = reader.read(FramePlace(row.segment or "", row.place or 0, row.stored_bytes))
    if frame.missing:
        return frame.missing
    content = frame.pieces.get(row.record_id)
    if content is None:
        return f"{row.segment} has another chunk at byte {row.place}"
    return content
