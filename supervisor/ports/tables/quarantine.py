"""The port that reads quarantined (bad) records from listed errors files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from supervisor.core.tables.bad_records import BadCount


class RecordPlace(NamedTuple):
    """The position of a record in Kafka."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class WantedRecords:
    """A filter on the records of an errors table; a field of None does not narrow the result."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    reason: str | None = None
    after: RecordPlace | None = None
    """Only records behind this place, in the order of places."""


@dataclass(frozen=True)
class RawRecord:
    """One record as it was sent; long parts may be truncated, but their sizes are the full ones."""

    place: RecordPlace
    time: datetime
    """The timestamp of the record in Kafka; the epoch if the record has none."""
    reason: str
    key: bytes | None
    key_bytes: int
    value: bytes | None
    value_bytes: int
    headers: tuple[tuple[str, bytes | None], ...]
    headers_number: int


class RawRecords(Protocol):
    """A reader of errors files with bounded memory and time, whatever the files hold."""

    def page(
        self, paths: Sequence[str], wanted: WantedRecords, limit: int, *, bytes_max: int
    ) -> list[RawRecord]:
        """Return the first records, by place; keys, values and headers are cut at `bytes_max`.

        Raises:
            StorageUnavailable: a file cannot be read, or others are being read already.
        """
        ...

    def counts(self, paths: Sequence[str]) -> Mapping[str, Sequence[BadCount]]:
        """Return path -> the counts of its records.  Raises as `page` does."""
        ...
