"""Topics full of sample clicks, the records that every benchmark reads: some 230 bytes of JSON."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from supervisor.dev.sample import sample_record
from tests.environment.brokers import create_topic, produce

Record = Mapping[str, str | int | float]
"""One sample click."""
PARTITIONS = 4
_FIRST = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_APART = timedelta(milliseconds=1)  # 3.6 million records fill one hour, the sample's time chunk
_SEED = 20_260_105


@dataclass(frozen=True)
class Filled:
    """A topic with the same number of records in each of PARTITIONS partitions, give or take 1."""

    topic: str
    rows: int
    size_bytes: int
    """Of the values."""

    def ends(self, rows: int | None = None) -> dict[int, int]:
        """Return partition -> offset behind the first `rows` records of the topic; None: all."""
        rows = self.rows if rows is None else rows
        return {p: len(range(p, rows, PARTITIONS)) for p in range(PARTITIONS)}


def as_json(record: Record) -> bytes:
    """Return a record as it is sent if nothing else is said."""
    return json.dumps(record, separators=(",", ":")).encode()


class _Values:
    """Sample records as bytes, which are counted."""

    def __init__(self, rows: int, write: Callable[[Record], bytes]) -> None:
        self._rows = rows
        self._write = write
        self.size_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        chance = random.Random(_SEED)
        for number in range(self._rows):
            value = self._write(sample_record(chance, _FIRST + number * _APART))
            self.size_bytes += len(value)
            yield value


def fill(
    bootstrap: str,
    topic: str,
    rows: int,
    write: Callable[[Record], bytes] = as_json,
    *,
    partitions: int = PARTITIONS,
) -> Filled:
    """Create a topic and produce `rows` sample records into it, round robin."""
    create_topic(bootstrap, topic, partitions=partitions)
    values = _Values(rows, write)
    config: dict[str, str | int | bool] = {"compression.type": "lz4", "linger.ms": 20}
    sent = produce(bootstrap, topic, values, config=config)
    assert sent == rows, f"{sent} of {rows} records were sent"
    return Filled(topic, rows, values.size_bytes)
