"""Where a partition goes on in its history, if the position beside its state is lost."""

from collections.abc import Mapping
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, TopicPartition

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.restoring import HistoryStart

__all__ = ["history_starts"]

_ANSWER_S = 30.0


def history_starts(
    client: Mapping[str, str], topics: ExecutionTopics, *, new: bool
) -> Mapping[int, HistoryStart]:
    """Return where each partition goes on; `new`: whether the history was made anew.

    Of a new one: at its beginning, as what is there came since.  Of an old one: where the group of
    executors says that its owner was, a few seconds before its end; else at its end.

    Raises:
        LogAway, LogRefuses: Kafka does not say it.
    """
    name = topics.name(LogTopic.HISTORY)
    properties = {
        **client,
        "group.id": topics.group,  # its offsets are read, and it is not joined
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "log_level": 0,
    }
    try:
        with closing(Consumer(properties)) as reader:
            places = [TopicPartition(name, number) for number in range(topics.entities)]
            bounds = [
                reader.get_watermark_offsets(each, _ANSWER_S, cached=False) for each in places
            ]
            if new:
                return {number: HistoryStart(low) for number, (low, _) in enumerate(bounds)}
            committed = reader.committed(places, _ANSWER_S)
    except KafkaException as error:
        login, doing = KafkaLogin.of(client, topics), "looking where the history ends"
        raise login.meaning_of(error, doing) from error
    return {place.partition: _start(place.offset, *bounds[place.partition]) for place in committed}


def _start(committed: int, low: int, end: int) -> HistoryStart:
    if low <= committed <= end:
        return HistoryStart(committed)
    return HistoryStart(end, end - low)
