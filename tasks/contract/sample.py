"""The seam's part on samples: some records of a topic, as the rows that a task would make of them.

    overlord ─ SyncResponse.samples ─► worker     with the answer to its sync, until answered
    worker ─── SampleAnswer ─────────► overlord   POST /internal/v1/samples/{id}

Nothing of a sample is stored on either side, and nothing is written to the warehouse.
"""

from pydantic import Field, JsonValue

from tasks.contract.ingest_spec import Column, IngestSpec
from tasks.contract.wire import Seconds, Shown, Truth, Whole, Wire, WireOffsets

ROWS_MAX = 5_000
"""Records of one sample.  Source: Druid's SamplerConfig."""
BYTES_MAX = 4 * 1024 * 1024
"""Of a sample's records and rows together, each written as text."""


class DesiredSample(Wire):
    """Some records of `[earliest, latest)` that a worker should read, and decode as a task does."""

    sample_id: str
    token: str
    """Bearer token of the answer."""
    spec: IngestSpec
    earliest: WireOffsets
    latest: WireOffsets
    """Exclusive; the same partitions as `earliest`."""
    newest: Truth
    """The last records of each partition; else the first."""
    rows: Whole = Field(ge=1, le=ROWS_MAX)
    size_bytes: Whole = Field(ge=1, le=BYTES_MAX)
    """Records and rows that would come to more are left out."""
    within: Seconds
    """From when the worker hears of it: then nobody waits for the answer any more."""


class SampledRecord(Wire):
    """One record: a row, or why it is none."""

    topic: str
    partition: Whole
    offset: Whole
    input: str | None = None
    """The value as text; of Avro and Protobuf its JSON.  None: the record has no value."""
    values: dict[str, JsonValue] | None = None
    """Column -> value, `__time` in milliseconds since the epoch; None: it is no row."""
    reason: str = ""
    """Why it is no row, a `RejectReason`'s word; empty for a row."""
    detail: str = ""
    """What was expected where, if the reason alone does not say it."""
    thrown_away: Truth = False
    """Nothing is wrong with it: the spec wants no row of it."""


class SampleAnswer(Wire):
    """What a worker found; with `failure` nothing else."""

    sample_id: str
    records: tuple[SampledRecord, ...] = ()
    """By topic, partition and offset."""
    columns: tuple[Column, ...] = ()
    """Those of the rows, in the order of the table's."""
    failure: Shown = Field(default="", max_length=4_000)
    """Why there is no sample, in words."""
