"""What the stores of logs with index rows have in common: all that the rows alone can answer."""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.chunk_cuts import KnownChunk
from supervisor.adapters.reports.logs.grave_index import grave_page
from supervisor.adapters.reports.logs.log_index import attempts_of, known_chunks, span_of
from supervisor.adapters.reports.schema import LOG_CHUNKS
from supervisor.ports.reports.logs import GravePage, LogQuery, LogSpan

__all__ = ["IndexedLogs"]


class IndexedLogs:
    """Reads the index; the bytes of the chunks are its subclasses' matter."""

    def __init__(self, database: ReportDatabase) -> None:
        """Keep rows in `database`, which stays the caller's: `close` does not close it."""
        self._database = database

    def span(self, subject: str, attempt: int) -> LogSpan | None:
        """Return how much of a log is stored."""
        with self._database.reading() as connection:
            return span_of(connection, subject, attempt)

    def attempts(self, subject: str) -> Sequence[int]:
        """Return the attempts of a subject that have a stored log."""
        with self._database.reading() as connection:
            return attempts_of(connection, subject)

    def search(self, query: LogQuery, limit: int) -> GravePage:
        """Return the newest warnings and errors that match."""
        with self._database.reading() as connection:
            return grave_page(connection, query, limit)

    def kept_bytes(self) -> int:
        """Return how much the chunks take that have a row."""
        query = sa.select(sa.func.coalesce(sa.func.sum(LOG_CHUNKS.c.stored_bytes), 0))
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def _known(self, ids: Collection[str]) -> Mapping[str, KnownChunk]:
        with self._database.reading() as connection:
            return known_chunks(connection, ids)
