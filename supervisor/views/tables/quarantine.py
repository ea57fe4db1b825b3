"""Response models of quarantined records."""

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
