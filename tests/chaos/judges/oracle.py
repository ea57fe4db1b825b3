"""The oracle: identities of records, by three roads that share nothing with the product.

    the producer's ledger     what the broker has acknowledged, and where
    a consumer of its own     read_committed, over the committed range
    the published files       opened by the rows of `segments`

Published must equal, as a multiset, what Kafka holds over the committed range, and hold each
acknowledged record of it.  A record whose acknowledgement was lost may be there.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Consumer, KafkaError, TopicPartition

from tests.chaos.judges.books import Snapshot
from tests.chaos.processes.producer import Ledger

_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Finding:
    """What one check found; `lost` and `duplicated` are counts of records."""

    records: int
    """In the committed range, by the independent reader."""
    lost: int
    duplicated: int
    examples: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Nothing lost, nothing doubled."""
        return not self.lost and not self.duplicated


class Oracle:
    """Checks again and again; what it has read once it does not read again."""

    def __init__(self, bootstrap: str, topic: str, warehouse: Path) -> None:
        """Read nothing yet."""
        self._bootstrap = bootstrap
        self._topic = topic
        self._warehouse = warehouse
        self._in_topic: dict[int, dict[int, str]] = {}
        self._read_to: dict[int, int] = {}
        self._in_files: dict[str, Counter[str]] = {}

    def check(self, seen: Snapshot, ledger: Ledger) -> Finding:
        """Compare one consistent view of the database with topic, files and ledger."""
        self._read_topic(seen.committed)
        held = Counter(
            record_id
            for partition, end in seen.committed.items()
            for offset, record_id in self._in_topic.get(partition, {}).items()
            if offset < end
        )
        return judge(held, self._published(seen.files), self._owed(seen, ledger))

    def _published(self, files: tuple[str, ...]) -> Counter[str]:
        published: Counter[str] = Counter()
        for path in files:
            if path not in self._in_files:
                column = pq.read_table(self._warehouse / path, columns=["id"]).column("id")
                self._in_files[path] = Counter(column.to_pylist())
            published.update(self._in_files[path])
        return published

    def _owed(self, seen: Snapshot, ledger: Ledger) -> set[str]:
        """Return the acknowledged ids of the committed range, each found where it was put."""
        owed = set()
        for record_id, partition, offset in ledger.acknowledged[:]:
            if offset < seen.committed.get(partition, 0):
                owed.add(record_id)
                found = self._in_topic[partition].get(offset)
                assert found == record_id, f"{partition}@{offset}: {record_id} became {found}"
        return owed

    def _read_topic(self, ends: dict[int, int]) -> None:
        wanted = {p: end for p, end in ends.items() if self._read_to.get(p, 0) < end}
        if not wanted:
            return
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "chaos-oracle",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
            }
        )
        try:
            self._consume(consumer, wanted)
        finally:
            consumer.close()

    def _consume(self, consumer: Consumer, wanted: dict[int, int]) -> None:
        begin = {p: self._read_to.get(p, 0) for p in wanted}
        consumer.assign([TopicPartition(self._topic, p, at) for p, at in begin.items()])
        unread = set(wanted)
        while unread:
            message = consumer.poll(_TIMEOUT_S)
            assert message is not None, f"{self._topic}: no answer within {_TIMEOUT_S} s"
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            if (error := message.error()) is not None:
                assert error.code() == KafkaError._PARTITION_EOF, str(error)
                unread.discard(partition)
                continue
            assert offset is not None
            if offset < wanted[partition]:
                value = json.loads(message.value() or b"{}")
                self._in_topic.setdefault(partition, {})[offset] = value["id"]
            if offset + 1 >= wanted[partition]:
                unread.discard(partition)
        self._read_to.update(wanted)


def judge(held: Counter[str], published: Counter[str], owed: set[str]) -> Finding:
    """Compare what the topic holds with what is published; `owed` was acknowledged."""
    lost = held - published
    lost.update(owed - published.keys() - lost.keys())
    doubled = published - held
    examples = [f"lost {i}" for i in sorted(lost)[:5]]
    examples += [f"doubled {i}" for i in sorted(doubled)[:5]]
    return Finding(held.total(), lost.total(), doubled.total(), tuple(examples))
