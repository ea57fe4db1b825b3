"""The `tuningConfig` of a spec: bounds of batches, files and ranges, and bad records."""

from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from supervisor.core.spec.section import HOT, OURS, Ignored, Section, Unit, Unsupported
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.values.field_types import (
    UNLIMITED,
    BatchDuration,
    Duration,
    Flag,
    LongDuration,
    Whole,
    one_of,
    wrong,
)
from tasks.contract.ingest_spec import BadRecords, Tuning, UnfitValues

Rows = Annotated[Whole, Field(ge=1, le=1_000_000_000), Unit.ROWS]
BatchRecords = Annotated[Whole, Field(ge=1, le=1_000_000_000), Unit.RECORDS]
SegmentBytes = Annotated[Whole, Field(ge=1024**2, le=1024**4), Unit.BYTES]
TotalRows = Annotated[Whole, Field(ge=1, le=2**63 - 1), Unit.ROWS]
ROWS_TOTAL = 20_000_000
"""Druid's default of `maxTotalRows`, for which GET answers null."""
NEVER = "P2147483647D"
"""Druid's text for a period that never ends."""

_DRUIDS_INDEX_SPEC: dict[str, object] = {
    "bitmap": {"type": "roaring"},
    "dimensionCompression": "lz4",
    "stringDictionaryEncoding": {"type": "utf8"},
    "metricCompression": "lz4",
    "longEncoding": "longs",
}


def _unless_never(value: object) -> object:
    return None if value == NEVER else value


def _one_of(modes: type[StrEnum], what: str) -> BeforeValidator:
    known = [mode.value for mode in modes]

    return BeforeValidator(lambda value: one_of(value, known, f"is no way to treat {what}"))


class TuningConfig(Section):
    """Bounds of a task's batches, files and ranges; `rows` in the names of batches are records."""

    part = "tuningConfig"
    others = MappingProxyType(
        {
            "reportParseExceptions": Unsupported(
                "set maxParseExceptions to 0", (False,), answers=(False,)
            ),
            "skipSequenceNumberAvailabilityCheck": Unsupported(
                "leave it out", (False,), answers=(False,)
            ),
            "maxRowsInMemory": Ignored((150_000,)),
            "maxBytesInMemory": Ignored((0,)),
            "skipBytesInMemoryOverheadCheck": Ignored((False,)),
            "intermediatePersistPeriod": Ignored(("PT10M", "PT600S")),
            "maxPendingPersists": Ignored((0,)),
            "numPersistThreads": Ignored((1,)),
            "maxColumnsToMerge": Ignored((-1,)),
            "appendableIndexSpec": Ignored(({"type": "onheap", "preserveExistingMetrics": False},)),
            "indexSpecForIntermediatePersists": Ignored((_DRUIDS_INDEX_SPEC, {})),
            "segmentWriteOutMediumFactory": Ignored(()),
            "handoffConditionTimeout": Ignored((900_000,)),
            "releaseLocksOnHandoff": Ignored((False,)),
            "workerThreads": Ignored(()),
            "chatThreads": Ignored(()),
            "chatRetries": Ignored((8,)),
            "httpTimeout": Ignored(("PT10S",)),
            "shutdownTimeout": Ignored(("PT80S",)),
            "offsetFetchPeriod": Ignored(("PT30S",)),
            "pollTimeout": Ignored((100,)),
            "repartitionTransitionDuration": Ignored(("PT120S", "PT2M")),
            "basePersistDirectory": Ignored(()),
            "buildV9Directly": Ignored((True, False)),  # of Druid 0.14 and before
            "useMaxMemoryEstimates": Ignored((False,)),
        }
    )

    type: Literal["kafka"] = "kafka"
    max_rows_per_segment: Rows = 5_000_000
    """A range with this many rows of one time chunk is handed off; a larger file is split."""
    target_segment_bytes: Annotated[SegmentBytes, OURS] = 256 * 1024**2
    """Approximate maximum size of a published file."""
    max_total_rows: Annotated[TotalRows, HOT] = ROWS_TOTAL
    """A range with this many rows is handed off."""
    intermediate_handoff_period: Annotated[
        LongDuration | None, BeforeValidator(_unless_never), HOT
    ] = None
    """A range that was read for this long is handed off; None: only taskDuration counts."""
    max_saved_parse_exceptions: Annotated[Whole, Field(ge=0, le=1_000), Unit.RECORDS] = 20
    """Samples of rejected records that a task shows; all rejected records are counted and kept."""
    max_parse_exceptions: Annotated[Whole, Field(ge=0, le=UNLIMITED), Unit.RECORDS] = UNLIMITED
    """A range with more bad records, wholly or partly unreadable, fails."""
    log_parse_exceptions: Flag = False
    """Whether workers log the offsets of bad records."""
    bad_records: Annotated[BadRecords, _one_of(BadRecords, "bad records"), OURS] = (
        BadRecords.QUARANTINE
    )
    """Treatment of bad records, besides counting and explaining them."""
    unfit_values: Annotated[UnfitValues, _one_of(UnfitValues, "unfit values"), OURS] = (
        UnfitValues.NULL
    )
    """Treatment of a record with a value that its declared column cannot hold."""
    index_spec: IndexSpec = IndexSpec()
    reset_offset_automatically: Annotated[Flag, HOT] = False
    """Whether reading skips lost offsets and declares the gap; otherwise the supervisor waits for a
    reset."""
    batch_target: Annotated[BatchDuration, OURS] = timedelta(seconds=2)
    """Target duration of a live batch; it bounds the duration of a pause."""
    batch_rows_min: Annotated[BatchRecords, OURS] = 500
    """A live batch starts when this many records wait, or after `linger`."""
    batch_rows_max: Annotated[BatchRecords, OURS] = 500_000
    linger: Annotated[Duration, OURS] = timedelta(seconds=1)

    @model_validator(mode="after")
    def _has_its_bounds_in_order(self) -> Self:
        if self.batch_rows_min > self.batch_rows_max:
            raise wrong(
                f"batchRowsMin {self.batch_rows_min} is more than batchRowsMax "
                f"{self.batch_rows_max}",
                "raise batchRowsMax or lower batchRowsMin",
            )
        return self

    def contract(self) -> Tuning:
        """Return the bounds in the form of the contract."""
        return Tuning(
            batch_target=self.batch_target,
            batch_rows_min=self.batch_rows_min,
            linger=self.linger,
            batch_rows_max=self.batch_rows_max,
            segment_rows_max=self.max_rows_per_segment,
            segment_bytes=self.target_segment_bytes,
            files=self.index_spec.contract(),
            saved_parse_exceptions_max=self.max_saved_parse_exceptions,
            parse_exceptions_max=None
            if self.max_parse_exceptions == UNLIMITED
            else self.max_parse_exceptions,
            log_parse_exceptions=self.log_parse_exceptions,
            bad_records=self.bad_records,
        )

    def normalised(self) -> dict[str, object]:
        """Return the tuningConfig as GET writes it: an absent bound has Druid's value for none."""
        unlimited = self.max_total_rows == ROWS_TOTAL
        never = self.intermediate_handoff_period is None
        return (
            super().normalised()
            | ({"maxTotalRows": None} if unlimited else {})
            | ({"intermediateHandoffPeriod": NEVER} if never else {})
        )
