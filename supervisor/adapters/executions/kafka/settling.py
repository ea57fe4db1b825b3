"""A transaction that hangs: its records are there, Kafka takes it for ended, and no reader sees it.

    an owner:  records ─► commit ─► the coordinator notes it ─x─ a partition hears nothing of it
    the next:  fence ─► records lie behind the last one that can be read ─► ends it ─► restore

A coordinator passes over a partition that has no leader in that moment, for example while a broker
starts after a crash (Kafka 4.3 does, KAFKA-20734).  What hangs ends with the next transaction of
the same transactional id, however that one ends: its records would appear behind the back of an
owner that has restored a state without them, and has worked the same inputs in again.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import structlog
from confluent_kafka import Consumer, Message, TopicPartition

from supervisor.adapters.executions.kafka.reading import end_at
from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import (
    FILLER_KEY,
    POSITION_KEY,
    LogAborted,
    LogAway,
    LogEntry,
    LogTopic,
)

__all__ = ["HangingTransaction"]

log = structlog.get_logger()

_ANSWER_S = 30.0
_SETTLES_S = 2.0
"""Where nothing hangs, what is committed can be read within this time."""
_LOOK_S = 0.05
_OF_OTHERS = (LogTopic.HISTORY, LogTopic.CALLS, LogTopic.RESULTS, LogTopic.DEAD)

_Write = Callable[[Sequence[LogEntry], Mapping[LogTopic, str]], None]


class HangingTransaction:
    """Looks for what hangs in the state of a partition whose owners before are fenced.

    Nobody else writes there, so there is one such transaction at most.
    """

    def __init__(
        self,
        committed: Consumer,
        everything: Consumer,
        topics: ExecutionTopics,
        partition: int,
        login: KafkaLogin,
    ) -> None:
        """`committed` reads what is committed, `everything` whatever is there.

        `login`: of both, for what is said when a right is missing.
        """
        self._login = login
        self._committed = committed
        self._everything = everything
        self._topics = topics
        self._names = {each: topics.name(each) for each in LogTopic}
        self._partition = partition
        self._state = TopicPartition(self._names[LogTopic.STATE], partition)

    def end(self, commit: _Write, abort: _Write) -> None:
        """End it, if there is one, by a transaction in all that it may have touched.

        An owner writes its position last: where that is there, all of its records are, and it is
        committed.  Else it is aborted, and its inputs are worked in again.

        Raises:
            LogAway: it hangs on.
            LogFenced, LogRefuses: as the writers say.
        """
        if self._reads_on(_SETTLES_S) or not (records := self._hanging()):
            return
        last = records[-1]
        is_whole = last.key() == POSITION_KEY.encode()
        log.warning(
            "a transaction hangs in Kafka",
            partition=self._partition,
            records=len(records),
            ends="committed" if is_whole else "aborted",
        )
        end = LogEntry(LogTopic.STATE, self._partition, last.key() or b"", last.value())
        write = commit if is_whole else abort
        try:
            write([*self._fillers(), end], self._names)
        except LogAborted as error:  # whatever hung has gone with it, or hangs on
            raise LogAway(f"ending what hangs in partition {self._partition}: {error}") from error
        if not self._reads_on(_ANSWER_S):
            raise LogAway(f"a transaction hangs in the state of partition {self._partition}")

    def _reads_on(self, within_s: float) -> bool:
        """Wait until all that is there is committed, or aborted."""
        until = time.monotonic() + within_s
        while self._hangs(self._state):
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_S)
        return True

    def _hangs(self, place: TopicPartition) -> bool:
        return self._ends(self._committed, place) < self._ends(self._everything, place)

    @staticmethod
    def _ends(reader: Consumer, place: TopicPartition) -> int:
        return reader.get_watermark_offsets(place, _ANSWER_S, cached=False)[1]

    def _hanging(self) -> Sequence[Message]:
        """Return the records of the state that nobody can read; none if it has ended meanwhile."""
        start, end = (self._ends(each, self._state) for each in (self._committed, self._everything))
        place = TopicPartition(self._state.topic, self._partition, start)
        self._everything.assign([place])
        until = time.monotonic() + _ANSWER_S
        records, reached = list[Message](), start
        while reached < end:
            if time.monotonic() > until:
                raise LogAway(f"the state of partition {self._partition} is not read to its end")
            message = self._everything.poll(0.5)
            if message is None:
                continue
            reached = max(reached, end_at(message, self._partition, self._login))
            if message.error() is None:
                records.append(message)
        self._everything.unassign()
        return records

    def _fillers(self) -> Iterator[LogEntry]:
        """Yield a record without a meaning for each other partition where something hangs.

        It may be the transaction of somebody else that has not ended yet: then it is one too many.
        """
        for topic in _OF_OTHERS:
            for number in range(self._topics.all[topic].partitions):
                if self._hangs(TopicPartition(self._names[topic], number)):
                    yield LogEntry(topic, number, FILLER_KEY, None)
