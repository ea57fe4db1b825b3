"""Response models of quarantined records."""

from supervisor.core.tables.bad_records import BadBucket, BadSummary, BucketWidth
from tasks.contract.wire import Instant, Wire


class HeaderView(Wire):
    """One header; `value` is null where it is no UTF-8."""

    key: str
    value: str | None
    value_base64: str | None


class QuarantinedRecord(Wire):
    """One record as it was sent; `key` and `value` are null where they are no UTF-8."""

    topic: str
    partition: int
    offset: int
    time: Instant
    """The record's timestamp in Kafka; the epoch if the record has none."""
    reason: str
    key: str | None
    key_base64: str | None
    """Null: the record has no key."""
    key_bytes: int
    value: str | None
    value_base64: str | None
    value_bytes: int
    headers: list[HeaderView]
    cut: bool
    """Whether a part is longer than shown; the sizes are those of the whole record."""


class Quarantined(Wire):
    """A page of the records that one supervisor could not read, by topic, partition and offset."""

    supervisor_id: str
    data_source: str
    """The errors table."""
    reasons: dict[str, int] | None
    """Reason -> number of records, of all pages; null except on the first page."""
    records: list[QuarantinedRecord]
    next: str | None
    """The `after` of the next page; null: this is the last page."""


class BadRecordCount(Wire):
    """How many records of one partition could not be read for one reason."""

    reason: str
    topic: str
    partition: int
    records: int


class BadRecordBucket(Wire):
    """The bad records of one hour or day."""

    start: Instant
    records: int
    counts: list[BadRecordCount]
    """By reason, topic and partition."""


class BadRecordsSummary(Wire):
    """Numbers of bad records by reason, partition and their time in Kafka, in UTC."""

    supervisor_id: str
    data_source: str
    """The errors table."""
    bucket: BucketWidth
    records: int
    """Of all buckets, also of those that are left out."""
    reasons: dict[str, int]
    """Reason -> number of records, of all buckets."""
    undated: int
    """Records that have no time in Kafka, or are in files with too many times: in no bucket."""
    buckets: list[BadRecordBucket]
    """Those that have records, by time: the newest 200, with 10,000 counts at most."""
    truncated: bool
    """Whether older buckets are left out, or the smallest counts of the only one."""


def bad_records_summary(
    supervisor_id: str, data_source: str, bucket: BucketWidth, summary: BadSummary
) -> BadRecordsSummary:
    """Return the response for counts of bad records."""
    return BadRecordsSummary(
        supervisor_id=supervisor_id,
        data_source=data_source,
        bucket=bucket,
        records=sum(summary.reasons.values()),
        reasons=summary.reasons,
        undated=summary.undated,
        buckets=[_bucket(each) for each in summary.buckets],
        truncated=summary.truncated,
    )


def _bucket(bucket: BadBucket) -> BadRecordBucket:
    counts = [
        BadRecordCount(
            reason=each.reason, topic=each.topic, partition=each.partition, records=each.records
        )
        for each in bucket.counts
    ]
    return BadRecordBucket(start=bucket.start, records=bucket.records, counts=counts)
