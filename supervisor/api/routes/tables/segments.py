"""Routes of segments and retention: marking on Druid's paths, rules and lists on ours.

Source: Druid's overlord, OverlordDataSourcesResource.
"""

from dataclasses import dataclass
from typing import Annotated, Self

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator

from supervisor.api.http.access import DATA_SOURCE, SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Cursor
from supervisor.chores.segments import SegmentSelection
from supervisor.core.model.listed_segments import SegmentWindow
from supervisor.core.values.field_types import wrong
from supervisor.core.values.intervals import FORM, PATTERN, parse_interval
from supervisor.core.values.permissions import Permission
from supervisor.services.foresight.looks import bound
from supervisor.services.services import Services
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.tables.segments import (
    Keeping,
    Marked,
    RetentionView,
    TableSegments,
    retention_of,
    table_segments,
)
from tasks.contract.wire import Wire

router = APIRouter(tags=["segments"])

DRUID = "/druid/indexer/v1/datasources/{data_source}"
OURS = "/api/v1/datasources/{data_source}"
IDS_MAX = 10_000

_ONE_OF_BOTH: list[JsonValue] = [
    {"required": [name], "properties": {name: {"not": {"type": "null"}}, other: {"type": "null"}}}
    for name, other in (("interval", "segmentIds"), ("segmentIds", "interval"))
]


def _interval(text: str) -> str:
    parse_interval(text)
    return text


class Which(Wire):
    """Segments of a table: those wholly inside an interval, or those with these ids."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _ONE_OF_BOTH})

    interval: Annotated[str, AfterValidator(_interval)] | None = Field(
        default=None,
        description=FORM,
        examples=["2026-01-01/2026-01-02"],
        json_schema_extra={"pattern": PATTERN},
    )
    segment_ids: list[str] | None = Field(default=None, min_length=1, max_length=IDS_MAX)

    @model_validator(mode="after")
    def _names_one_of_both(self) -> Self:
        if (self.interval is None) == (self.segment_ids is None):
            raise wrong(f"give either interval ({FORM}) or segmentIds")
        return self

    def selection(self) -> SegmentSelection:
        """Return the selection of the request."""
        interval = None if self.interval is None else parse_interval(self.interval)
        return SegmentSelection(ids=self.segment_ids, interval=interval)


@dataclass(frozen=True)
class _Bound:
    """A request to mark segments, or to tell what marking them does."""

    data_source: str
    selection: SegmentSelection
    author: str
    expect: str | None
    dry_run: bool

    def mark_unused(self, parts: Services) -> Marked | JSONResponse:
        foresight, selection = parts.table_foresight, self.selection
        if self.dry_run:
            return preview_of(foresight.of_unused(self.data_source, selection))
        judge = foresight.judge_unused(self.data_source, self.expect)
        with previewed():
            marked = parts.segments.mark_unused(
                self.data_source, selection, self.author, judge=judge
            )
        return _marked(marked)

    def mark_used(self, parts: Services) -> Marked | JSONResponse:
        foresight, selection = parts.table_foresight, self.selection
        if self.dry_run:
            return preview_of(foresight.of_used(self.data_source, selection))
        judge = foresight.judge_used(self.data_source, self.expect)
        with previewed():
            marked = parts.segments.mark_used(self.data_source, selection, self.author, judge=judge)
        return _marked(marked)


@router.post(
    f"{DRUID}/markUnused",
    response_model=Marked | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def mark_unused(
    data_source: str,
    which: Which,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Marked | JSONResponse:
    """Take segments out of their table; their files are deleted after the grace time."""
    bound = _Bound(data_source, which.selection(), author, expect, dry_run=dry_run)
    return bound.mark_unused(parts)


@router.post(
    f"{DRUID}/markUsed",
    response_model=Marked | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def mark_used(
    data_source: str,
    which: Which,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Marked | JSONResponse:
    """Put segments back into their table, unless their grace time is over."""
    bound = _Bound(data_source, which.selection(), author, expect, dry_run=dry_run)
    return bound.mark_used(parts)


@router.delete(
    DRUID,
    response_model=Marked | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def mark_all_unused(
    data_source: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Marked | JSONResponse:
    """Take every segment out of a table; what is published later is not touched."""
    bound = _Bound(data_source, SegmentSelection(), author, expect, dry_run=dry_run)
    return bound.mark_unused(parts)


@router.post(
    DRUID,
    response_model=Marked | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def mark_all_used(
    data_source: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Marked | JSONResponse:
    """Put back every segment of a table whose grace time is not over."""
    bound = _Bound(data_source, SegmentSelection(), author, expect, dry_run=dry_run)
    return bound.mark_used(parts)


def _marked(changed: int) -> Marked:
    return Marked(num_changed_segments=changed, segment_state_changed=changed > 0)


@router.get(f"{OURS}/segments", dependencies=[needs(Permission.READ, DATA_SOURCE)])
def list_segments(
    data_source: str,
    parts: Parts,
    used: Annotated[
        bool | None, Query(description="Only those in use, or only those taken out. Else all.")
    ] = None,
    limit: Annotated[
        int | None, Query(ge=1, le=IDS_MAX, description="At most so many; else all.")
    ] = None,
    cursor: Cursor = None,
    *,
    begin: From = None,
    end: To = None,
    supervisor: Annotated[
        str | None, Query(max_length=1_000, description="Those that this supervisor published.")
    ] = None,
) -> TableSegments:
    """List the segments of a table, also those that were taken out of it.

    With `from` and `to` those whose interval lies wholly between them.
    """
    check_times(begin=begin, end=end)
    segments, window = parts.segments, SegmentWindow(used, begin, end, supervisor)
    found, following = segments.page(data_source, limit, cursor, window)
    return table_segments(data_source, found, segments.grace, following)


@router.get(f"{OURS}/retention", dependencies=[needs(Permission.READ, DATA_SOURCE)])
def get_retention(data_source: str, parts: Parts) -> RetentionView:
    """Tell how long a table keeps its rows."""
    return retention_of(data_source, parts.retention.rule(data_source))


@router.put(
    f"{OURS}/retention",
    response_model=RetentionView | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def put_retention(
    data_source: str,
    keep: Keeping,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> RetentionView | JSONResponse:
    """Keep the rows of a table for so long, and take out at once what is older."""
    look = parts.looks.keep_for(data_source, keep.keep_for)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        rule = parts.retention.set(data_source, keep.keep_for, author, bound(expect, look))
    return retention_of(data_source, rule)


@router.delete(
    f"{OURS}/retention",
    response_model=RetentionView | VerbPreview,
    dependencies=[needs(Permission.DELETE, DATA_SOURCE)],
)
def drop_retention(
    data_source: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> RetentionView | JSONResponse:
    """Keep the rows of a table for ever; what was taken out before stays so."""
    look = parts.looks.keep_for(data_source, None)
    if dry_run:
        return preview_of(parts.looks.shown(look))
    with previewed():
        parts.retention.drop(data_source, author, bound(expect, look))
    return retention_of(data_source, parts.retention.rule(data_source))


class ForgottenSupervisor(Wire):
    """Which supervisor was forgotten."""

    id: str


@router.post(
    "/api/v1/supervisors/{supervisor_id}/forget",
    response_model=ForgottenSupervisor | VerbPreview,
    tags=["supervisors"],
    dependencies=[needs(Permission.FORGET, SUPERVISOR_EVER)],
)
def forget(
    supervisor_id: str,
    author: Author,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
    reports: Annotated[
        bool,
        Query(description="Its stored reports and logs go too; events and audit entries stay."),
    ] = False,
) -> ForgottenSupervisor | JSONResponse:
    """Forget where a terminated supervisor stood, and its history; its table stays as it is."""
    foresight = parts.table_foresight
    if reports:
        parts.forgetting.check_reports()
    if dry_run:
        return preview_of(foresight.of_forgetting(supervisor_id, with_reports=reports))
    judge = foresight.judge_forgetting(expect, with_reports=reports)
    with previewed():
        parts.forgetting.forget(supervisor_id, author, judge, with_reports=reports)
    return ForgottenSupervisor(id=supervisor_id)
