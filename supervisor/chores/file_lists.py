"""Lists of files of any size: read in pages, each in a short transaction of its own.

    keys, by one statement ──► transaction ends ──► a page of facts ──► ... ──► a page of spans
    which files, their state                        facts of a published file never change

The keys are one version of the list, and the pages add only what never changes.  So the list is
that of the moment of its keys, whatever is published, swapped or marked between two pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from supervisor.core.model.listed_segments import ListedSegment, SegmentKey
from supervisor.core.model.rows import Segment, with_spans
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.errors import MetadataBusy
from supervisor.ports.store import Store

FILES_AT_ONCE = 500
"""Files of one page of facts."""
SPANS_OF_AT_ONCE = 100
"""Files of one page of offset spans; a file has one span for each of its partitions."""
COMPACTIONS_AT_ONCE = 10
"""Compactions of one page: each has the offset spans of all ranges in its file."""

Row = TypeVar("Row")


def listed(store: Store, keys: Sequence[SegmentKey]) -> list[ListedSegment]:
    """Return the segments of these keys, in their order and in their state.

    Call it without an open transaction.

    Raises:
        MetadataBusy: the row of a segment is gone; read the keys again.
        MetadataUnavailable: the metadata database cannot be reached.
    """
    segments: list[ListedSegment] = []
    for some in pages(keys, FILES_AT_ONCE):
        with store.reading() as tx:
            rows = tx.segments.listed([key.id for key in some])
        segments += (_as_of(key, rows.get(key.id)) for key in some)
    return segments


def whole(store: Store, segments: Sequence[ListedSegment]) -> list[Segment]:
    """Return listed segments with their offset spans; raises as `listed`."""
    complete: list[Segment] = []
    for some in pages(segments, SPANS_OF_AT_ONCE):
        with store.reading() as tx:
            spans = tx.segments.spans([segment.id for segment in some])
        complete += (with_spans(segment, spans.get(segment.id, ())) for segment in some)
    return complete


def compactions_of(store: Store, ids: Iterable[str]) -> dict[str, Compaction]:
    """Return id -> compaction, for the ids that exist; raises as `listed`.

    The shares of a compaction change only when its ranges are folded: whoever compares them with
    publications asks afterwards whether these are still there (`segments.published`).  The state of
    a compaction is that of the moment when its page is read.
    """
    compactions: dict[str, Compaction] = {}
    for some in pages(sorted(set(ids)), COMPACTIONS_AT_ONCE):
        with store.reading() as tx:
            compactions |= tx.compactions.rows_of(some)
    return compactions


def pages(rows: Sequence[Row], at_once: int) -> Iterator[Sequence[Row]]:
    """Yield the rows in order, at most `at_once` at a time."""
    for first in range(0, len(rows), at_once):
        yield rows[first : first + at_once]


def _as_of(key: SegmentKey, row: ListedSegment | None) -> ListedSegment:
    """Return a segment in the state that it had when its key was read."""
    if row is None:
        raise MetadataBusy(f"segment {key.id} was deleted while its list was read")
    return replace(
        row, unused_at=key.unused_at, deleted_at=key.deleted_at, replaced_by=key.replaced_by
    )
