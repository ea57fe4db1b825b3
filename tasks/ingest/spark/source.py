"""The Kafka source: a range of records as a frame, with explicit offsets, committed records only.

It uses `assign`, never `subscribe`: the position is ours, not a consumer group's.
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
"""How long a broker may hold a fetch at the end of the log, unless the spec says otherwise.

Kafka's default is 500 ms.  The connector's consumer fetches ahead, and its next call waits for that
fetch.  So a batch up to the end of the log, as every live one is, took a second longer.
"""

POLL_RECORDS = 5_000
"""How many records one poll returns, for a task with few partitions.

After each poll the connector asks the broker twice where the log begins and ends.  With Kafka's
default of 500 it asks eight times per fetched megabyte of small records.  But unread records of a
poll stay in the heap, for each partition, until the next batch, or for a minute without one: 10,000
records of 224 bytes were 5 MB.
"""

ONE_BY_ONE = {"max.poll.records": "1"}
"""Property of a consumer that unpacks no record beyond the range that it reads."""

_FETCH_BYTES = 1 << 20  # Kafka's default
_FEW = 32
"""With more partitions a task fetches and polls less of each: in sum as much as for so many."""
_POLL_RECORDS_MIN = 500  # Kafka's default
_FETCH_BYTES_MIN = 128 << 10

_BESIDE = (
    "key AS _key",
    "headers AS _headers",
    "unix_millis(timestamp) AS _millis",
    "topic AS _topic",
)

_SPLIT_ROWS = 100_000
"""More Spark tasks share a partition's part of a batch if each of them gets so many records."""


@dataclass(frozen=True)
class BatchRange:
    """The non-empty part of a batch, `[start, end)` of each partition."""

    start: Offsets
    end: Offsets

    @classmethod
    def of(cls, job: BatchJob) -> Self:
        """Return the range of `job` without the empty partitions."""
        live = [p for p in sorted(job.start) if job.start[p] < job.end[p]]
        return cls({p: job.start[p] for p in live}, {p: job.end[p] for p in live})

    @property
    def topic(self) -> str:
        """The topic of its first partition; it has one."""
        return next(iter(self.start)).topic

    def __str__(self) -> str:
        """Return the range as text for people."""
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

    `p` is as in `partition_index.numbers_of(start)`.  With `beside` there are also `_key`,
    `_headers`, `_millis` (the record's time) and `_topic`.  Both offsets have the same partitions,
    each with at least one record to read.  `client` has the Java client's properties;
    `partitions` is as in `read_options`.  Lazy: nothing is read before a job runs.
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
    """Return the options of one read; `poll_timeout` bounds each request to a broker.

    `group_id` is the prefix of the consumer group's name.  `partitions` is the number that all
    reads of the group have in common, so that the next read can reuse the open consumers.  A
    property of `client` takes precedence over ours.
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
    """Return a digest of consumer properties: equal properties, and only these, have an equal one.

    The connector keeps consumers by group and partition as long as the JVM lives.  A read with
    another property, such as a changed password, would fail with a text that shows both.  The
    digest has a key, because a group's name is no secret: without the key one could guess a
    password from the name.
    """
    held = json.dumps(sorted(consumers.items())).encode()
    return hmac.new(_group_key(), held, hashlib.sha256).hexdigest()[:16]


@cache
def _group_key() -> bytes:
    return secrets.token_bytes(32)  # once per process, whose JVM knows no consumers of another one


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
    """Return the number of Spark tasks: one per partition, more for long ones on idle cores."""
    rows = sum(end[p] - start[p] for p in start)
    return max(len(start), min(session.sparkContext.defaultParallelism, rows // _SPLIT_ROWS))
