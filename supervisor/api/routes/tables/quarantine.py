"""Routes of quarantined records: records that could not be read, as they were sent."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.http.previews import DryRun, Expect, preview_of, previewed
from supervisor.api.routes.supervisors.operations import named
from supervisor.core.history.replays import ReplayRequest
from supervisor.core.tables.bad_records import BucketWidth
from supervisor.core.values.permissions import Permission
from supervisor.ports.tables.quarantine import RecordPlace, WantedRecords
from supervisor.views.attention.foreseen import VerbPreview
from supervisor.views.operations import OperationView
from supervisor.views.tables.quarantine import BadRecordsSummary, Quarantined, QuarantinedRecord
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}/quarantine", tags=["supervisors"])

RECORDS_MAX = 500
_OFFSET_MAX = 2**63 - 1
_PARTITION_MAX = 2**31 - 1
_TOPIC = r"^[A-Za-z0-9._-]{1,249}$"
SENT_MAX = 100_000
_PLACE = r"^[A-Za-z0-9._-]{1,249}:[0-9]{1,9}:[0-9]{1,18}$"


@router.get("", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def list_quarantined(
    supervisor_id: str,
    parts: Parts,
    *,
    topic: Annotated[str | None, Query(max_length=249)] = None,
    partition: Annotated[int | None, Query(ge=0, le=_PARTITION_MAX)] = None,
    reason: Annotated[str | None, Query(max_length=100)] = None,
    after: Annotated[
        str | None, Query(pattern=_PLACE, description="topic:partition:offset; the `next` before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=RECORDS_MAX, description="At most so many.")] = 100,
) -> Quarantined:
    """List records that a supervisor could not read, by topic, partition and offset.

    Long keys, values and headers are cut at 4,096 bytes.
    """
    wanted = WantedRecords(topic, partition, reason=reason, after=_place(after))
    return parts.quarantine.page(supervisor_id, wanted, limit)


class WantedReplay(Wire):
    """Which bad records are sent again, and where."""

    topic: str = Field(
        pattern=_TOPIC, description="The target: it has to exist, and to keep its records."
    )
    reason: str | None = Field(
        default=None, min_length=1, max_length=100, description="Only with this reason."
    )
    partition: int | None = Field(
        default=None, strict=True, ge=0, le=_PARTITION_MAX, description="Only of this partition."
    )
    most: int = Field(
        default=10_000, strict=True, ge=1, le=SENT_MAX, description="Send at most so many."
    )
    keep_time: bool = Field(
        default=False,
        strict=True,
        description="With the time that they had in Kafka; else with that at which they are sent.",
    )


@router.post(
    "/replay",
    status_code=HTTPStatus.ACCEPTED,
    response_model=OperationView,
    responses={
        200: {"model": VerbPreview, "description": "A dry run: what it would do"},
        202: {"description": "The leader sends them"},
    },
    dependencies=[needs(Permission.APPLY, SUPERVISOR_EVER)],
)
def replay_quarantined(
    supervisor_id: str,
    wanted: WantedReplay,
    author: Author,
    asking: Asking,
    parts: Parts,
    *,
    expect: Expect = None,
    dry_run: DryRun = False,
) -> Response:
    """Send bad records to another topic of the same brokers, as they were, each at most once.

    The leader does it in the background, in one transaction of Kafka, as the user of the spec; the
    answer is the operation.
    """
    request = ReplayRequest(
        wanted.topic, "", wanted.reason, wanted.partition, wanted.most, wanted.keep_time
    )
    if dry_run:
        return preview_of(
            parts.replays.preview(supervisor_id, request, asking.may_apply, asking.may_read)
        )
    with previewed():
        operation = parts.replays.request(
            supervisor_id, request, author, asking.may_apply, asking.may_read, expect=expect
        )
    view = parts.chronicle.operation(operation.id)
    response = JSONResponse(view.model_dump(mode="json", by_alias=True), HTTPStatus.ACCEPTED)
    named(response, operation.id)
    return response


@router.get("/summary", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def summarise_quarantined(
    supervisor_id: str,
    parts: Parts,
    *,
    bucket: Annotated[
        BucketWidth, Query(description="The width of a bucket of time.")
    ] = BucketWidth.HOUR,
    topic: Annotated[str | None, Query(max_length=249)] = None,
    partition: Annotated[int | None, Query(ge=0, le=_PARTITION_MAX)] = None,
    reason: Annotated[str | None, Query(max_length=100)] = None,
) -> BadRecordsSummary:
    """Count records that a supervisor could not read, by reason, partition and time in Kafka.

    The newest 200 hours or days that have some, in UTC; each errors file is read once.
    """
    wanted = WantedRecords(topic, partition, reason=reason)
    return parts.quarantine.summary(supervisor_id, wanted, bucket)


@router.get("/{topic}/{partition}/{offset}", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def get_quarantined(
    supervisor_id: str,
    topic: str,
    partition: Annotated[int, Path(ge=0, le=_PARTITION_MAX)],
    offset: Annotated[int, Path(ge=0, le=_OFFSET_MAX)],
    parts: Parts,
) -> QuarantinedRecord:
    """Return one record that could not be read, whole."""
    return parts.quarantine.record(supervisor_id, RecordPlace(topic, partition, offset))


def _place(text: str | None) -> RecordPlace | None:
    if text is None:
        return None
    topic, partition, offset = text.rsplit(":", 2)
    return RecordPlace(topic, int(partition), int(offset))
