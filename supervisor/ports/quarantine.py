"""What looking at quarantined records needs: to read some of them out of listed files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol


class RecordPlace(NamedTuple):
    """Where a record lies in Kafka."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class WantedRecords:
    """Which records of an errors table; what is not given does not narrow it."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    reason: str | None = None
    after: RecordPlace | None = None
    """Only those behind it, in the order of places."""


@dataclass(frozen=True)
class RawRecord:
    """One record as it was sent; long parts may be cut, their sizes are whole."""

    place: RecordPlace
    time: datetime
    """Of the record in Kafka; the epoch if it has none."""
    reason: str
    key: bytes | None
    key_bytes: int
    value: bytes | None
    value_bytes: int
    headers: tuple[tuple[str, bytes | None], ...]
    headers_number: int


class RawRecords(Protocol):
    """Reads errors files; memory and time are bounded, whatever the files hold."""

    def page(
        self, paths: Sequence[str], wanted: WantedRecords, limit: int, *, bytes_max: int
    ) -> list[RawRecord]:
        """Return the first records, by place; keys, values and headers cut at `bytes_max`.

        Raises:
            StorageUnavailable: a file cannot be read, or others are being read already.
        """
        ...

    def reasons(self, paths: Sequence[str], wanted: WantedRecords) -> Mapping[str, int]:
        """Return reason -> how many records have it.  Raises as `page` does."""
        ...
