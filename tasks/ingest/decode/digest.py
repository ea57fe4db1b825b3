"""The hash of each judged record, as SQL; what they come to together is in
`tasks/contract/digests.py`.

It may depend on nothing but the record and the spec: not on the batch that the record is in, nor
on what else was met.  So discovered columns are left out, whose types follow the values of all.
"""

from collections.abc import Sequence

from tasks.contract.offsets import Offsets
from tasks.ingest.spark.partition_index import numbers_of, partition_sql, topic_sql
from tasks.ingest.spark.sql import IS_ROW, REASON_COLUMN
from tasks.rows.sql.text import text


def hash_sql(start: Offsets, columns: Sequence[int]) -> str:
    """Return the SQL of a judged record's hash (see `decode`): 64 bits, a BIGINT, never null.

    `columns` are the numbers of those whose values count.  A null leaves Spark's hash as it is, so
    each value is followed by its number: else `(null, 7)` and `(7, null)` would be alike.
    """
    place = f"{_topic_sql(start)}, CAST({partition_sql(start)} AS INT), o"
    values = "".join(f", c{number}, {turn}" for turn, number in enumerate(columns))
    row = f"xxhash64({place}, t{values})"
    none = f"xxhash64({place}, CAST({REASON_COLUMN} AS INT))"
    return f"CASE WHEN {IS_ROW} THEN {row} ELSE {none} END"


def _topic_sql(start: Offsets) -> str:
    """Return the topic; a constant where a batch has one alone."""
    topics = {partition.topic for partition in numbers_of(start)}
    return text(next(iter(topics))) if len(topics) == 1 else topic_sql(start)
