"""The store of logs in memory, for tests and for a machine that keeps none."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from supervisor.adapters.reports.logs.chunk_cuts import (
    KnownChunk,
    check_chunks,
    digest_of,
    new_chunks,
)
from supervisor.adapters.reports.logs.log_reading import StoredPiece, read_pieces
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import (
    GraveHit,
    GravePage,
    GravePlace,
    LogQuery,
    LogSpan,
    StoredBytes,
    StoredChunk,
)
from tasks.contract.patterns import matches_any

__all__ = ["MemoryLogStore"]


class MemoryLogStore:
    """Implements `ports.reports.logs.LogStore`; gone with its process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chunks: dict[str, StoredChunk] = {}
        """By id."""

    def put_many(self, chunks: Sequence[StoredChunk]) -> Sequence[StoreOutcome]:
        """Store chunks, all or none; return what became of each."""
        check_chunks(chunks)
        with self._lock:
            new = new_chunks(chunks, self._known, lambda each: self._chunks[each].content)
            self._chunks |= new.fresh
            return new.outcomes

    def span(self, subject: str, attempt: int) -> LogSpan | None:
        """Return how much of a log is stored."""
        chunks = self._of(subject, attempt)
        if not chunks:
            return None
        upto = 0
        for chunk in chunks:
            if chunk.offset > upto:
                break
            upto = max(upto, _end(chunk))
        last = max(chunks, key=lambda each: (each.offset, each.at))
        return LogSpan(
            stored_up_to=upto,
            size=max(map(_end, chunks)),
            ended=any(chunk.ends for chunk in chunks),
            last_at=max(chunk.at for chunk in chunks),
            worker=last.worker,
        )

    def attempts(self, subject: str) -> Sequence[int]:
        """Return the attempts of a subject that have a stored log."""
        with self._lock:
            return sorted(
                {each.attempt for each in self._chunks.values() if each.subject == subject}
            )

    def read(self, subject: str, attempt: int, offset: int, limit: int) -> Sequence[StoredBytes]:
        """Return stored bytes from `offset` on."""
        pieces = (
            StoredPiece(chunk.offset, len(chunk.content), partial(_content_of, chunk))
            for chunk in self._of(subject, attempt)
        )
        return read_pieces(pieces, offset, limit)

    def search(self, query: LogQuery, limit: int) -> GravePage:
        """Return the newest warnings and errors that match."""
        with self._lock:
            chunks = list(self._chunks.values())
        hits: dict[tuple[str, int, int], GraveHit] = {}
        for hit in (hit for chunk in chunks for hit in _hits(chunk)):
            hits.setdefault(hit.place[1:], hit)
        matching = [hit for hit in hits.values() if _matches(hit, query)]
        newest = sorted(matching, key=lambda hit: hit.place, reverse=True)
        shown = newest[: max(limit, 0)]
        return GravePage(shown, shown[-1].place if shown and len(newest) > len(shown) else None)

    def delete_older_than(self, cutoff: datetime, limit: int) -> int:
        """Delete chunks from before `cutoff`."""
        with self._lock:
            return self._delete(
                [key for key, each in self._chunks.items() if each.at < cutoff], limit
            )

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete chunks of a supervisor."""
        with self._lock:
            chunks = self._chunks.items()
            return self._delete(
                [key for key, each in chunks if each.supervisor == supervisor and each.at < before],
                limit,
            )

    def size_bytes(self) -> int:
        """Return the size of all contents."""
        with self._lock:
            return sum(len(chunk.content) for chunk in self._chunks.values())

    def kept_bytes(self) -> int:
        """Return the size of all contents."""
        return self.size_bytes()

    def ping(self) -> None:
        """Return: memory is there."""

    def close(self) -> None:
        """Keep everything, for a test that looks at what its store had."""

    def _known(self, ids: Collection[str]) -> Mapping[str, KnownChunk]:
        known = {each: self._chunks[each] for each in ids if each in self._chunks}
        return {
            record_id: KnownChunk(len(chunk.content), digest_of(chunk.content), chunk.ends)
            for record_id, chunk in known.items()
        }

    def _of(self, subject: str, attempt: int) -> list[StoredChunk]:
        with self._lock:
            chunks = [
                chunk
                for chunk in self._chunks.values()
                if (chunk.subject, chunk.attempt) == (subject, attempt)
            ]
        return sorted(chunks, key=lambda each: (each.offset, each.record_id))

    def _delete(self, ids: Sequence[str], limit: int) -> int:
        some = ids[: max(limit, 0)]
        for record_id in some:
            del self._chunks[record_id]
        return len(some)


def _content_of(chunk: StoredChunk) -> bytes | str:
    return chunk.content


def _end(chunk: StoredChunk) -> int:
    return chunk.offset + len(chunk.content)


def _hits(chunk: StoredChunk) -> Iterator[GraveHit]:
    for line in chunk.grave:
        place = GravePlace(line.at(chunk.at), chunk.subject, chunk.attempt, line.offset)
        yield GraveHit(place, line, chunk.supervisor, chunk.data_source, chunk.worker)


def _matches(hit: GraveHit, query: LogQuery) -> bool:
    wanted = (
        (query.subject, hit.place.subject),
        (query.supervisor, hit.supervisor),
        (query.data_source, hit.data_source),
        (query.worker, hit.worker),
    )
    return (
        all(value is None or value == of_hit for value, of_hit in wanted)
        and (query.tables is None or matches_any(query.tables, hit.data_source or ""))
        and (query.level is None or hit.line.level >= query.level)
        and (not query.text or query.text.lower() in hit.line.text.lower())
        and (query.since is None or hit.place.at >= query.since)
        and (query.until is None or hit.place.at < query.until)
        and (query.after is None or hit.place < query.after)
    )
