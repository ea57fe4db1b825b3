"""Sample messages of the seam: some records of a topic, as the rows that a task would make of them.

    overlord ─ SyncResponse.samples ─► worker     in each answer to a sync, until it is answered
    worker ─── SampleAnswer ─────────► overlord   POST /internal/v1/samples/{id}

Neither side stores a sample, and no sample is written to the warehouse.
"""

from pydantic import Field, JsonValue

from tasks.contract.ingest_spec import Column, IngestSpec
from tasks.contract.wire import Seconds, Shown, Truth, Whole, Wire, WireOffsets

ROWS_MAX = 5_000
"""Most records of one sample.  Source: Druid's SamplerConfig."""
BYTES_MAX = 4 * 1024 * 1024
"""Most bytes of a sample: its records and its rows together, each written as text."""


class DesiredSample(Wire):
    """Request to a worker: read and decode some records of `[earliest, latest)` as a task does."""

    sample_id: str
    token: str
    """Bearer token with which the worker sends its answer."""
    spec: IngestSpec
    earliest: WireOffsets
    latest: WireOffsets
    """Exclusive end offsets of the same partitions as `earliest`."""
    newest: Truth
    """True: read the last records of each partition.  False: read the first ones."""
    rows: Whole = Field(ge=1, le=ROWS_MAX)
    size_bytes: Whole = Field(ge=1, le=BYTES_MAX)
    """Records and rows beyond this size are left out."""
    within: Seconds
    """Time limit, counted from when the worker receives the request.  After it, nobody waits for
    the answer any more."""


class SampledRecord(Wire):
    """One record: its row, or the reason why it is no row."""

    topic: str
    partition: Whole
    offset: Whole
    input: str | None = None
    """The record's value as text; for Avro and Protobuf, the value's JSON.  None: no value."""
    values: dict[str, JsonValue] | None = None
    """Column -> value, `__time` in milliseconds since the epoch.  None: the record is no row."""
    reason: str = ""
    """Value of the `RejectReason` why the record is no row; empty for a row."""
    detail: str = ""
    """The expected value and its place, if the reason alone does not name them."""
    thrown_away: Truth = False
    """The record is readable, but the spec wants no row of it."""


class SampleAnswer(Wire):
    """The worker's answer to a sample request.  If `failure` is set, the rest is empty."""

    sample_id: str
    records: tuple[SampledRecord, ...] = ()
    """In the order of topic, partition and offset."""
    columns: tuple[Column, ...] = ()
    """The columns of the rows, in the order of the table's columns."""
    failure: Shown = Field(default="", max_length=4_000)
    """Text that explains why there is no sample."""
