"""A range of Kafka records as a frame: explicit offsets, committed records only, nothing skipped.

`assign`, never `subscribe`: the position is ours, no consumer group's.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Self

from pyspark.sql import DataFrame, SparkSession

from tasks.contract.offsets import Offsets
from tasks.ingest.spark.partition_index import number_sql
from tasks.ports import BatchJob

FETCH_WAIT_MS = "20"
"""How long a broker may keep a fetch at the end of the log, unless the spec says otherwise.

Kafka's default is 500 ms.  The connector's consumer fetches ahead, and its next call waits behind
that fetch: a batch that ends at the end of the log, as every live one does, took a second longer.
"""

POLL_RECORDS = 5_000
"""How many records one poll hands out, of a task with few partitions.

After each poll the connector asks the broker twice where the log begins and ends.  Kafka's default
of 500 asks eight times while one fetched megabyte of small records is handed out.  But what was
handed out and not read yet stays in the heap, for each partition, until the next batch; and if
there is none, for a minute: 10,000 records of 224 bytes were 5 MB.
"""

_FETCH_BYTES = 1 << 20  # Kafka's default
_FEW = 32
"""A task of more partitions fetches and polls less of each: together what so many would."""
_POLL_RECORDS_MIN = 500  # Kafka's default
_FETCH_BYTES_MIN = 128 << 10

_BESIDE = (
    "key AS _key",
    "headers AS _headers",
    "unix_millis(timestamp) AS _millis",
    "topic AS _topic",
)

_SPLIT_ROWS = 100_000
"""A partition's share of a batch is read by more tasks when each gets at least as much."""


@dataclass(frozen=True)
class BatchRange:
    """The part of a batch that has something to read, `[start, end)` of each partition."""

    start: Offsets
    end: Offsets

    @classmethod
    def of(cls, job: BatchJob) -> Self:
        """Leave out the partitions of which nothing is to be read."""
        live = [p for p in sorted(job.start) if job.start[p] < job.end[p]]
        return cls({p: job.start[p] for p in live}, {p: job.end[p] for p in live})

    @property
    def topic(self) -> str:
        """The topic of its first partition; it has one."""
        return next(iter(self.start)).topic

    def __str__(self) -> str:
        """Return it as it is told to people."""
        return ", ".join(f"{p} [{self.start[p]}, {self.end[p]})" for p in sorted(self.start))


def read_range(
    session: SparkSession,
    start: Offsets,
    end: Offsets,
    *,
    client: Mapping[str, str],
    group_id: str,
    poll_timeout: timedelta,
    partitions: int = 1,
    beside: bool = False,
) -> DataFrame:
    """Return the records of `[start, end)` as `p`, `o`, `v` (null for a tombstone).

    `p` is as `places.numbers_of(start)` says.  With `beside` there are also `_key`, `_headers`,
    `_millis` (the record's time) and `_topic`.  Both offsets name the same partitions, each with
    at least one to read.  `client` has the Java client's properties; `partitions` is as
    `read_options` says.  Lazy: nothing is read before a job runs.
    """
    options = read_options(
        start,
        end,
        client=client,
        group_id=group_id,
        poll_timeout=poll_timeout,
        partitions=partitions,
    )
    options["minPartitions"] = str(_task_count(session, start, end))
    if beside:
        options["includeHeaders"] = "true"
    frame = session.read.format("kafka").options(**options).load()
    return frame.selectExpr(
        *(f"{number_sql(start)} AS p", "offset AS o", "value AS v"), *(_BESIDE if beside else ())
    )


def read_options(
    start: Offsets,
    end: Offsets,
    *,
    client: Mapping[str, str],
    group_id: str,
    poll_timeout: timedelta,
    partitions: int = 1,
) -> dict[str, str]:
    """Return the options of one read; `poll_timeout` bounds each question to a broker.

    `group_id` is how the consumer group's name begins.  `partitions`: how many all reads of the
    group have together; if it is the same for each of them, the next read finds its consumers
    open.  A property of `client` comes before ours.
    """
    ms = str(int(poll_timeout.total_seconds() * 1000))
    own = {"fetch.max.wait.ms": FETCH_WAIT_MS} | _at_once(partitions) | dict(client)
    consumers = {f"kafka.{key}": value for key, value in own.items()} | {
        "kafkaConsumer.pollTimeoutMs": ms,
        "kafka.isolation.level": "read_committed",
        "kafka.request.timeout.ms": ms,
        "kafka.default.api.timeout.ms": ms,
    }
    return consumers | {
        "assign": _assignment(start),
        "startingOffsets": _positions(start),
        "endingOffsets": _positions(end),
        "failOnDataLoss": "true",
        "fetchOffset.numRetries": "1",
        "kafka.group.id": f"{group_id}-{_digest_of(consumers)}",
    }


def _digest_of(consumers: Mapping[str, str]) -> str:
    """Return the same text for the same properties, and only for them.

    The connector keeps consumers by group and partition for as long as the JVM lives.  Whoever
    asks for one with another property, a password that was changed, fails: and with a text that
    shows both.  The digest has a key, for a group's name is no secret: without one a password
    could be guessed from it.
    """
    held = json.dumps(sorted(consumers.items())).encode()
    return hmac.new(_group_key(), held, hashlib.sha256).hexdigest()[:16]


@cache
def _group_key() -> bytes:
    return secrets.token_bytes(32)  # once for each process: its JVM knows no other's consumers


def _at_once(partitions: int) -> dict[str, str]:
    share = max(1.0, partitions / _FEW)
    return {
        "max.poll.records": str(max(_POLL_RECORDS_MIN, int(POLL_RECORDS / share))),
        "max.partition.fetch.bytes": str(max(_FETCH_BYTES_MIN, int(_FETCH_BYTES / share))),
    }


def _assignment(offsets: Offsets) -> str:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(offsets):
        topics.setdefault(topic, []).append(partition)
    return json.dumps(topics)


def _positions(offsets: Offsets) -> str:
    topics: dict[str, dict[str, int]] = {}
    for partition, offset in sorted(offsets.items()):
        topics.setdefault(partition.topic, {})[str(partition.partition)] = offset
    return json.dumps(topics)


def _task_count(session: SparkSession, start: Offsets, end: Offsets) -> int:
    """Return how many tasks read: one per partition, more for a few long ones on idle cores."""
    rows = sum(end[p] - start[p] for p in start)
    return max(len(start), min(session.sparkContext.defaultParallelism, rows // _SPLIT_ROWS))
