"""How much an engine has written: records of topics, or pages of a file, by a look of its own."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import LogTopic
from tests.environment.execution_topics import TopicsOfTest

__all__ = ["group_lag", "written_to"]

_WITHIN_S = 30.0


@contextmanager
def written_to(folder: Path, bootstrap: str | None, prefix: str) -> Iterator[Callable[[], int]]:
    """Give what counts bytes: in the topics of a prefix, or, without brokers, in the SQLite file.

    Records count with key, value and headers, and no record twice; the file counts by its pages
    in use.  What a broker adds for batches, and saves by compression, is left out.
    """
    if bootstrap is None:
        yield lambda: _pages(folder / "executions.db")
        return
    with closing(TopicsOfTest(bootstrap, ExecutionTopics(prefix))) as topics:
        yield lambda: _records(topics)


def _records(topics: TopicsOfTest) -> int:
    return sum(
        len(one.key)
        + len(one.value or b"")
        + sum(len(name) + len(value) for name, value in one.headers.items())
        for topic in topics.topics.all
        for one in topics.read(topic)
    )


def _pages(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def group_lag(bootstrap: str, topics: ExecutionTopics) -> int:
    """Return how many records of the history are beyond the offsets that executors committed.

    They commit them every five seconds, for monitors: so much of it is worked in already.
    """
    client = {"bootstrap.servers": bootstrap, "group.id": topics.group, "log_level": 0}
    history = topics.all[LogTopic.HISTORY]
    places = [TopicPartition(history.name, part) for part in range(history.partitions)]
    with closing(Consumer(client)) as consumer:
        committed = consumer.committed(places, _WITHIN_S)
        ends = [consumer.get_watermark_offsets(place, _WITHIN_S)[1] for place in places]
    return sum(end - max(0, place.offset) for place, end in zip(committed, ends, strict=True))
