"""Response models of segments, used and unused, and of retention rules."""

from collections.abc import Sequence
from datetime import timedelta

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.model.rows import RetentionRule
from supervisor.core.values.field_types import LongDuration, format_duration
from tasks.contract.wire import Instant, Wire


class SegmentView(Wire):
    """One published file, in use or not."""

    id: str
    path: str
    interval_start: Instant
    interval_end: Instant
    rows: int
    size_bytes: int
    supervisor_id: str
    generation_id: str
    """The range that published it; of a compacted file that of its newest input."""
    used: bool
    unused_at: Instant | None
    """When the segment was taken out of the table."""
    delete_after: Instant | None
    """The end of the grace time, until which an unused segment can be put back.

    Null for a segment in use, and once its deletion began.  A replaced segment is never put back.
    """
    deleted_at: Instant | None
    """When the deletion of the file began."""
    compaction_id: str | None
    """The compaction that wrote the file; null: a task wrote it."""
    replaced_by: str | None
    """The compaction that replaced the segment."""


class TableSegments(Wire):
    """The segments of one table, by interval."""

    data_source: str
    segments: list[SegmentView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


class Keeping(Wire):
    """How long a table is to keep its rows, by the end of their segment's interval."""

    keep_for: LongDuration
    """ISO 8601, such as P30D."""


class RetentionView(Wire):
    """How long a table keeps its rows."""

    data_source: str
    keep_for: str | None
    """ISO 8601; null: for ever."""
    author: str | None = None
    set_at: Instant | None = None
    rule_of: str | None = None
    """The table that has the rule, which also applies to its errors table; null: no rule."""


class Marked(Wire):
    """What a mark changed; the names are Druid's."""

    num_changed_segments: int
    segment_state_changed: bool


def table_segments(
    data_source: str,
    segments: Sequence[ListedSegment],
    grace: timedelta,
    following: str | None = None,
) -> TableSegments:
    """Return the response for a page of segments; `grace`: time until an unused file is deleted."""
    shown = [_view(s, grace) for s in segments]
    return TableSegments(data_source=data_source, segments=shown, next=following)


def _view(segment: ListedSegment, grace: timedelta) -> SegmentView:
    waits = segment.unused_at is not None and segment.deleted_at is None
    return SegmentView(
        id=segment.id,
        path=segment.file.path,
        interval_start=segment.file.interval_start,
        interval_end=segment.file.interval_end,
        rows=segment.file.rows,
        size_bytes=segment.file.size_bytes,
        supervisor_id=segment.supervisor_id,
        generation_id=segment.generation_id,
        used=segment.used,
        unused_at=segment.unused_at,
        delete_after=segment.unused_at + grace if waits and segment.unused_at else None,
        deleted_at=segment.deleted_at,
        compaction_id=segment.compaction_id,
        replaced_by=segment.replaced_by,
    )


def retention_of(data_source: str, rule: RetentionRule | None) -> RetentionView:
    """Return the response for a rule; `rule` None: the table keeps its rows for ever."""
    if rule is None:
        return RetentionView(data_source=data_source, keep_for=None)
    days, rest = divmod(rule.keep_for, timedelta(days=1))
    kept = format_duration(rule.keep_for) if rest else f"P{days}D"
    return RetentionView(
        data_source=data_source,
        keep_for=kept,
        author=rule.author,
        set_at=rule.set_at,
        rule_of=rule.data_source,
    )
