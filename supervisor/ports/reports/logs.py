"""The port to the store of logs: chunks, each placed by its offset in the log of an attempt."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from supervisor.core.reports.grave import GraveLevel, GraveLine
from supervisor.core.reports.status import StoreOutcome

__all__ = [
    "LINES_LOOKED_AT_MAX",
    "GraveHit",
    "GravePage",
    "GravePlace",
    "LogQuery",
    "LogSpan",
    "LogStore",
    "StoredBytes",
    "StoredChunk",
]

LINES_LOOKED_AT_MAX = 20_000
"""Lines that a search looks at, newest first, if its conditions are not those of one index."""


@dataclass(frozen=True)
class StoredChunk:
    """A piece of a log, on its way into a store."""

    record_id: str
    subject: str
    attempt: int
    offset: int
    """Of its first byte, in the log."""
    content: bytes
    ends: bool
    """The log has ended, and nothing follows."""
    at: datetime
    """When the sender made the record, by its clock."""
    supervisor: str | None
    data_source: str | None
    worker: str | None
    grave: Sequence[GraveLine]
    """Its warnings and errors, for the search."""


@dataclass(frozen=True)
class LogSpan:
    """How much of a log is stored; sizes in bytes."""

    stored_up_to: int
    """All bytes below this offset are stored."""
    size: int
    """The end of the last stored chunk: beyond `stored_up_to` there are holes."""
    ended: bool
    """The chunk that says so is stored."""
    last_at: datetime
    worker: str | None

    @property
    def is_whole(self) -> bool:
        """Whether the store has all that there will ever be."""
        return self.ended and self.stored_up_to == self.size


@dataclass(frozen=True)
class StoredBytes:
    """Stored bytes of a log."""

    offset: int
    content: bytes
    missing: str = ""
    """Why `content` is empty although it was stored: a file that is damaged or gone, by name."""
    missing_bytes: int = 0
    """How many bytes are missing here; 0: none."""


class GravePlace(NamedTuple):
    """The place of a line in lists, which go from the newest to the oldest."""

    at: datetime
    subject: str
    attempt: int
    offset: int


@dataclass(frozen=True)
class LogQuery:
    """Which warnings and errors to list; a field of None does not narrow the result."""

    level: GraveLevel | None = None
    """This level and graver ones."""
    text: str | None = None
    """The line holds it, in any case of letters."""
    subject: str | None = None
    supervisor: str | None = None
    data_source: str | None = None
    worker: str | None = None
    tables: Sequence[str] | None = None
    """Of a table whose name matches one of these patterns, in which `*` stands for any signs; so a
    line of no table is left out."""
    since: datetime | None = None
    until: datetime | None = None
    after: GravePlace | None = None
    """Only what comes behind this place in the list."""


@dataclass(frozen=True)
class GraveHit:
    """A warning or an error of a stored log."""

    place: GravePlace
    line: GraveLine
    supervisor: str | None
    data_source: str | None
    worker: str | None


@dataclass(frozen=True)
class GravePage:
    """A part of a list of lines, from the newest to the oldest."""

    hits: Sequence[GraveHit]
    behind: GravePlace | None
    """Where the list goes on.  None: nothing follows."""


class LogStore(Protocol):
    """A store of log chunks; safe to call from many threads and processes.

    Each method raises `StoreAway` and `StoreRefuses`; `put_many` also `ContentRefused`.
    """

    def put_many(self, chunks: Sequence[StoredChunk]) -> Sequence[StoreOutcome]:
        """Store chunks, all or none; return STORED, CONFLICT or MISMATCH for each, in order.

        What is returned survives a crash of the store's machine.  Of equal ids in one call the
        first is stored, and the others are conflicts.  A chunk that begins within a stored one, as
        after a sender that cut its log in other pieces, is stored beside it.
        """
        ...

    def span(self, subject: str, attempt: int) -> LogSpan | None:
        """Return how much of a log is stored; None: nothing."""
        ...

    def attempts(self, subject: str) -> Sequence[int]:
        """Return the attempts of a subject that have a stored log, ascending."""
        ...

    def read(self, subject: str, attempt: int, offset: int, limit: int) -> Sequence[StoredBytes]:
        """Return stored bytes from `offset` on, `limit` at most in all, by offset.

        No byte comes twice.  A hole, where nothing is stored yet, is between two parts; what was
        stored and cannot be read is a part that says so.
        """
        ...

    def search(self, query: LogQuery, limit: int) -> GravePage:
        """Return the newest warnings and errors that match, at most `limit`.

        At most `LINES_LOOKED_AT_MAX` lines are looked at, and others of the same time as the last:
        a page may have fewer, and yet go on.  Where it goes on names no line that it has not.
        """
        ...

    def delete_older_than(self, cutoff: datetime, limit: int) -> int:
        """Delete chunks from before `cutoff`, `limit` at most; return how many.

        A store may keep a chunk longer that shares a file with a younger one.
        """
        ...

    def delete_of_supervisor(self, supervisor: str, before: datetime, limit: int) -> int:
        """Delete at most `limit` chunks of a supervisor from before a time; return how many.

        They are gone from lists at once, and from files as a store's files go.
        """
        ...

    def size_bytes(self) -> int:
        """Return about how much the chunks take."""
        ...

    def kept_bytes(self) -> int:
        """Return how much the chunks take that are in lists; not files that go later."""
        ...

    def ping(self) -> None:
        """Return if the store can be read and written now."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...
