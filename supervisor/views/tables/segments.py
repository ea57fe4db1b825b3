"""Segments with the end of their life, and retention rules, as they are shown."""

from collections.abc import Sequence
from datetime import timedelta

from supervisor.core.model.rows import RetentionRule, Segment
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
    used: bool
    unused_at: Instant | None
    """When it was taken out of the table."""
    delete_after: Instant | None
    """Until then it can be put back; null for one in use, and once its file was condemned.

    One that was replaced is deleted then as well, and is never put back.
    """
    deleted_at: Instant | None
    """When its file was condemned: it is gone, or about to go."""
    compaction_id: str | None
    """The compaction that wrote it; null: a task did."""
    replaced_by: str | None
    """The compaction in whose file its rows are now."""


class TableSegments(Wire):
    """The segments of one table, by interval."""

    data_source: str
    segments: list[SegmentView]
    next: str | None
    """The `cursor` of the page behind this one; null: there is none."""


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
    """Which table's rule it is: that of a table holds for its errors, too; null: there is none."""


class Marked(Wire):
    """What a mark changed; the names are Druid's."""

    num_changed_segments: int
    segment_state_changed: bool


def table_segments(
    data_source: str, segments: Sequence[Segment], grace: timedelta, following: str | None = None
) -> TableSegments:
    """Return segments as they are shown."""
    shown = [_view(s, grace) for s in segments]
    return TableSegments(data_source=data_source, segments=shown, next=following)


def _view(segment: Segment, grace: timedelta) -> SegmentView:
    waits = segment.unused_at is not None and segment.deleted_at is None
    return SegmentView(
        id=segment.id,
        path=segment.file.path,
        interval_start=segment.file.interval_start,
        interval_end=segment.file.interval_end,
        rows=segment.file.rows,
        size_bytes=segment.file.size_bytes,
        supervisor_id=segment.supervisor_id,
        used=segment.used,
        unused_at=segment.unused_at,
        delete_after=segment.unused_at + grace if waits and segment.unused_at else None,
        deleted_at=segment.deleted_at,
        compaction_id=segment.compaction_id,
        replaced_by=segment.replaced_by,
    )


def retention_of(data_source: str, rule: RetentionRule | None) -> RetentionView:
    """Return a rule as it is shown; None: the table keeps its rows for ever."""
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
