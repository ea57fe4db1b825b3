"""Routes of quarantined records: records that could not be read, as they were sent."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Parts
from supervisor.core.tables.bad_records import Bucket
from supervisor.core.values.permissions import Permission
from supervisor.ports.quarantine import RecordPlace, WantedRecords
from supervisor.views.tables.quarantine import BadRecordsSummary, Quarantined, QuarantinedRecord

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}/quarantine", tags=["supervisors"])

RECORDS_MAX = 500
_OFFSET_MAX = 2**63 - 1
_PARTITION_MAX = 2**31 - 1
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


@router.get("/summary", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def summarise_quarantined(
    supervisor_id: str,
    parts: Parts,
    *,
    bucket: Annotated[Bucket, Query(description="The width of a bucket of time.")] = Bucket.HOUR,
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
