"""Chunks of logs, as a sender makes them, and what a reader has of them."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from supervisor.core.reports.grave import grave_lines
from supervisor.ports.reports.logs import LogStore, StoredBytes, StoredChunk
from tasks.reporting.record import RecordType, record_id_of

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TASK = "index_kafka_clicks_1"
EVERYTHING = 100_000_000


def chunk(
    content: bytes,
    offset: int = 0,
    *,
    subject: str = TASK,
    attempt: int = 0,
    ends: bool = False,
    at: datetime = NOON,
    supervisor: str | None = "clicks",
    data_source: str | None = "clicks-table",
    worker: str | None = "w1",
) -> StoredChunk:
    """A chunk with the id and the grave lines of its content."""
    return StoredChunk(
        record_id=record_id_of(subject, attempt, RecordType.LOG_CHUNK, offset),
        subject=subject,
        attempt=attempt,
        offset=offset,
        content=content,
        ends=ends,
        at=at,
        supervisor=supervisor,
        data_source=data_source,
        worker=worker,
        grave=tuple(grave_lines(content, offset)),
    )


def cut(text: bytes, cuts: Iterable[int], subject: str = TASK) -> list[StoredChunk]:
    """The chunks of a whole log that is cut at these offsets."""
    edges = [0, *sorted(cuts), len(text)]
    pairs = itertools.pairwise(edges)
    return [
        chunk(text[begin:end], begin, subject=subject, ends=end == len(text))
        for begin, end in pairs
        if begin < end
    ]


def line(level: str, text: str, number: int = 0) -> bytes:
    """A line of a task log."""
    return f"{NOON + number * SECOND:%Y-%m-%dT%H:%M:%S.%fZ} {level:7} {text}\n".encode()


def log_of(kilobytes: int, seed: int = 0) -> bytes:
    """A log of about this size, whose lines differ."""
    lines: Iterator[bytes] = (
        line("INFO", f"a batch is journaled batch={number} rows={(seed + number) * 7919}", number)
        for number in range(kilobytes * 20)
    )
    return b"".join(lines)[: kilobytes * 1024]


def whole(store: LogStore, subject: str = TASK, attempt: int = 0) -> Sequence[StoredBytes]:
    """All parts of a log."""
    return store.read(subject, attempt, 0, EVERYTHING)


def text_of(store: LogStore, subject: str = TASK, attempt: int = 0) -> bytes:
    """A log without a hole."""
    parts = whole(store, subject, attempt)
    assert [part.offset for part in parts] in ([], [0])
    assert not any(part.missing for part in parts)
    return b"".join(part.content for part in parts)
