"""The hash of each judged record, as SQL; `tasks/contract/digests.py` combines the hashes.

A hash depends only on the record and the spec: not on the batch of the record, nor on other
records.  So discovered columns are left out, because their types follow from all values.
"""

from collections.abc import Sequence

from tasks.contract.offsets import Offsets
from tasks.ingest.spark.partition_index import numbers_of, partition_sql, topic_sql
from tasks.ingest.spark.sql import IS_ROW, REASON_COLUMN
from tasks.rows.sql.text import text


def hash_sql(start: Offsets, columns: Sequence[int]) -> str:
    """Return the SQL of a judged record's hash (see `decode`): 64 bits, a BIGINT, never null.

    `columns` are the numbers of the columns that count.  A null leaves Spark's hash unchanged, so
    each value is followed by its column's number: else `(null, 7)` and `(7, null)` were alike.
    """
    place = f"{_topic_sql(start)}, CAST({partition_sql(start)} AS INT), o"
    values = "".join(f", c{number}, {turn}" for turn, number in enumerate(columns))
    row = f"xxhash64({place}, t{values})"
    none = f"xxhash64({place}, CAST({REASON_COLUMN} AS INT))"
    return f"CASE WHEN {IS_ROW} THEN {row} ELSE {none} END"


def _topic_sql(start: Offsets) -> str:
    """Return the SQL of the topic; a constant if the batch has only one topic."""
    topics = {partition.topic for partition in numbers_of(start)}
    return text(next(iter(topics))) if len(topics) == 1 else topic_sql(start)
