"""A range of Kafka records as a frame: explicit offsets, committed records only, nothing skipped.

`assign`, never `subscribe`: the position is ours, no consumer group's.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from tasks.offsets import Offsets

FETCH_WAIT_MS = "20"
"""How long a broker may keep a fetch at the end of the log, unless the spec says otherwise.

Kafka's default is 500 ms.  The connector's consumer fetches ahead, and its next call waits behind
that fetch: a batch that ends at the end of the log, as every live one does, took a second longer.
"""

_SPLIT_ROWS = 100_000
"""A partition's share of a batch is read by more tasks when each gets at least as much."""


def read_range(
    session: SparkSession,
    start: Offsets,
    end: Offsets,
    *,
    client: Mapping[str, str],
    group_id: str,
    poll_timeout: timedelta,
) -> DataFrame:
    """Return the records of `[start, end)` as `p`, `o`, `v` (null for a tombstone).

    Both name the same partitions of one topic, each with at least one offset to read.  `client`
    has the Java client's properties.  Lazy: nothing is read before a job runs.
    """
    ms = str(int(poll_timeout.total_seconds() * 1000))
    own = {"fetch.max.wait.ms": FETCH_WAIT_MS} | dict(client)
    options = {f"kafka.{key}": value for key, value in own.items()} | {
        "assign": _assignment(start),
        "startingOffsets": _positions(start),
        "endingOffsets": _positions(end),
        "failOnDataLoss": "true",
        "minPartitions": str(_task_count(session, start, end)),
        "kafkaConsumer.pollTimeoutMs": ms,
        "fetchOffset.numRetries": "1",
        "kafka.isolation.level": "read_committed",
        # Kept from batch to batch, so that the next one finds its consumers open.
        "kafka.group.id": group_id,
        "kafka.request.timeout.ms": ms,
        "kafka.default.api.timeout.ms": ms,
    }
    frame = session.read.format("kafka").options(**options).load()
    return frame.selectExpr("partition AS p", "offset AS o", "value AS v")


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
