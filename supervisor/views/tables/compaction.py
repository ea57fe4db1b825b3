"""Request and response models of compactions and compaction rules."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import Field

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import (
    BYTES_MAX,
    ROWS_MAX,
    ROWS_MIN,
    Compaction,
    CompactionRule,
    FileSizes,
    Target,
)
from supervisor.core.values.field_types import Duration, format_duration
from tasks.contract.wire import Instant, Wire


class CompactionTarget(Wire):
    """The target size of files; a file of half of either target is left alone."""

    target_rows: int | None = Field(default=None, ge=ROWS_MIN, le=ROWS_MAX)
    """Null: the highest `maxRowsPerSegment` of the supervisors that feed the table."""
    target_bytes: int | None = Field(default=None, ge=1_024, le=BYTES_MAX)
    """Null: the highest `targetSegmentBytes` of these supervisors."""
    files_min: int = Field(default=2, ge=2, le=500)
    """Fewer small files of one time chunk are left alone."""

    def target(self, otherwise: FileSizes) -> Target:
        """Return the target for the compaction rules; `otherwise` has the values for nulls."""
        return Target(
            otherwise.rows if self.target_rows is None else self.target_rows,
            otherwise.size_bytes if self.target_bytes is None else self.target_bytes,
            self.files_min,
        )


class WantedRule(CompactionTarget):
    """How a table is to be compacted by itself."""

    skip_offset_from_latest: Duration = timedelta(days=1)
    """ISO 8601.  Chunks that end less than this before the table's latest one are left alone."""


class CompactionRuleView(Wire):
    """How a table is compacted by itself; all but its name null: it is not."""

    data_source: str
    skip_offset_from_latest: str | None = None
    target_rows: int | None = None
    target_bytes: int | None = None
    files_min: int | None = None
    author: str | None = None
    set_at: Instant | None = None


class CompactionView(Wire):
    """One attempt to replace files by one."""

    id: str
    data_source: str
    supervisor_id: str
    interval_start: Instant
    interval_end: Instant
    status: TaskStatus
    status_code: str
    """As `status`, or WAITING for a compaction without a worker."""
    files: int
    """The number of input files, which become one."""
    rows: int
    reason: str
    """The rule or the person that requested the compaction."""
    created_at: Instant
    worker_id: str | None
    ended_at: Instant | None
    detail: str
    """The reason of a failure, or a summary of the result."""


class CompactionPage(Wire):
    """Compactions, newest first."""

    compactions: list[CompactionView]


class CompactionsPage(CompactionPage):
    """A page of them."""

    next: str | None
    """The `cursor` of the next page; null: there is none."""


def rule_view(data_source: str, rule: CompactionRule | None) -> CompactionRuleView:
    """Return the response for a rule; `rule` None: the table has none."""
    if rule is None:
        return CompactionRuleView(data_source=data_source)
    days, rest = divmod(rule.skip_offset_from_latest, timedelta(days=1))
    whole = days and not rest
    return CompactionRuleView(
        data_source=data_source,
        skip_offset_from_latest=f"P{days}D"
        if whole
        else format_duration(rule.skip_offset_from_latest),
        target_rows=rule.target_rows,
        target_bytes=rule.target_bytes,
        files_min=rule.files_min,
        author=rule.author,
        set_at=rule.set_at,
    )


def compaction_views(compactions: Sequence[Compaction]) -> CompactionPage:
    """Return the response for compactions."""
    return CompactionPage(compactions=[compaction_view(each) for each in compactions])


def compaction_view(row: Compaction) -> CompactionView:
    """Return the response for one compaction."""
    waits = row.live and not row.worker_id
    return CompactionView(
        id=row.id,
        data_source=row.data_source,
        supervisor_id=row.supervisor_id,
        interval_start=row.interval.start,
        interval_end=row.interval.end,
        status=row.status,
        status_code="WAITING" if waits else row.status.value,
        files=len(row.inputs),
        rows=sum(share.rows for share in row.shares),
        reason=row.reason,
        created_at=row.created_at,
        worker_id=row.worker_id or None,
        ended_at=row.ended_at,
        detail=row.detail,
    )
