"""Routes of segments and retention: marking on Druid's paths, rules and lists on ours.

Source: Druid's overlord, OverlordDataSourcesResource.
"""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator

from supervisor.api.http.access import DATA_SOURCE, SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Author, Parts
from supervisor.api.http.windows import From, To, check_times
from supervisor.api.routes.cluster.audit import Cursor
from supervisor.chores.segments import SegmentSelection, SegmentWindow
from supervisor.core.values.field_types import wrong
from supervisor.core.values.intervals import FORM, PATTERN, parse_interval
from supervisor.core.values.permissions import Permission
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


@router.post(f"{DRUID}/markUnused", dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def mark_unused(data_source: str, which: Which, author: Author, parts: Parts) -> Marked:
    """Take segments out of their table; their files are deleted after the grace time."""
    return _marked(parts.segments.mark_unused(data_source, which.selection(), author))


@router.post(f"{DRUID}/markUsed", dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def mark_used(data_source: str, which: Which, author: Author, parts: Parts) -> Marked:
    """Put segments back into their table, unless their grace time is over."""
    return _marked(parts.segments.mark_used(data_source, which.selection(), author))


@router.delete(DRUID, dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def mark_all_unused(data_source: str, author: Author, parts: Parts) -> Marked:
    """Take every segment out of a table; what is published later is not touched."""
    return _marked(parts.segments.mark_unused(data_source, SegmentSelection(), author))


@router.post(DRUID, dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def mark_all_used(data_source: str, author: Author, parts: Parts) -> Marked:
    """Put back every segment of a table whose grace time is not over."""
    return _marked(parts.segments.mark_used(data_source, SegmentSelection(), author))


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


@router.put(f"{OURS}/retention", dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def put_retention(data_source: str, keep: Keeping, author: Author, parts: Parts) -> RetentionView:
    """Keep the rows of a table for so long, and take out at once what is older."""
    return retention_of(data_source, parts.retention.set(data_source, keep.keep_for, author))


@router.delete(f"{OURS}/retention", dependencies=[needs(Permission.DELETE, DATA_SOURCE)])
def drop_retention(data_source: str, author: Author, parts: Parts) -> RetentionView:
    """Keep the rows of a table for ever; what was taken out before stays so."""
    parts.retention.drop(data_source, author)
    return retention_of(data_source, parts.retention.rule(data_source))


class ForgottenSupervisor(Wire):
    """Which supervisor was forgotten."""

    id: str


@router.post(
    "/api/v1/supervisors/{supervisor_id}/forget",
    tags=["supervisors"],
    dependencies=[needs(Permission.FORGET, SUPERVISOR_EVER)],
)
def forget(supervisor_id: str, author: Author, parts: Parts) -> ForgottenSupervisor:
    """Forget where a terminated supervisor stood, and its history; its table stays as it is."""
    parts.forgetting.forget(supervisor_id, author)
    return ForgottenSupervisor(id=supervisor_id)
