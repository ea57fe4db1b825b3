"""The number of a partition in a batch's frames: the column `p`.

With one topic it is the partition's own number.  With several topics it is the index in the sorted
partitions, so that the expressions of every batch compare numbers, never texts.
"""

from collections.abc import Iterable

from tasks.contract.offsets import TopicPartition
from tasks.rows.sql.text import text


def numbers_of(partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Return partition -> its number in `p`, sorted by partition."""
    ordered = sorted(partitions)
    several = len({partition.topic for partition in ordered}) > 1
    return {p: place if several else p.partition for place, p in enumerate(ordered)}


def number_sql(partitions: Iterable[TopicPartition]) -> str:
    """Return the SQL of `p` over Kafka's `topic` and `partition`."""
    numbers = numbers_of(partitions)
    if _topics(numbers) == 1:
        return "partition"
    cases = " ".join(
        f"WHEN topic = {text(p.topic)} AND partition = {p.partition} THEN {number}"
        for p, number in numbers.items()
    )
    return f"CASE {cases} END"


def partition_sql(partitions: Iterable[TopicPartition]) -> str:
    """Return the SQL of a partition's own number, from `p`."""
    numbers = numbers_of(partitions)
    if _topics(numbers) == 1:
        return "p"
    return f"CASE p {' '.join(f'WHEN {n} THEN {p.partition}' for p, n in numbers.items())} END"


def topic_sql(partitions: Iterable[TopicPartition]) -> str:
    """Return the SQL of a partition's topic, from `p`."""
    cases = (f"WHEN {n} THEN {text(p.topic)}" for p, n in numbers_of(partitions).items())
    return f"CASE p {' '.join(cases)} END"


def _topics(partitions: Iterable[TopicPartition]) -> int:
    return len({partition.topic for partition in partitions})
