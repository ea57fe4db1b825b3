"""A member of the group of executors: which partitions are this process's, as the broker says.

Only the membership is used.  The consumer reads nothing, as all of its partitions are paused; each
owner has a consumer of its own, which begins where its state says.  What is committed to the group
is for monitors of lag, and nobody reads it.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import LogTopic

__all__ = ["GroupMember", "Partitions"]

log = structlog.get_logger()

SESSION_S = 10.0
"""A member that is not heard of for this long is dead; longer than a transaction may last."""
_POLL_S = 0.1
_COMMIT_EVERY_S = 5.0
_AGAIN_S = 2.0
_LOOK_S = 1.0
_AWAY = {
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- its public name
    KafkaError._RESOLVE,  # noqa: SLF001 -- its public name
}
_FATAL = KafkaError._FATAL  # noqa: SLF001 -- its public name


class Partitions(Protocol):
    """Who works partitions."""

    def begin(self, partitions: Sequence[int]) -> None:
        """Take them over."""
        ...

    def leave(self, partitions: Sequence[int], within_s: float = 5.0) -> bool:
        """Stop them."""
        ...

    def positions(self) -> Mapping[int, int]:
        """Return how far each is."""
        ...


class GroupMember:
    """Stays a member of the group from `start` to `stop`, in one thread."""

    def __init__(
        self,
        client: Mapping[str, str],
        topics: ExecutionTopics,
        partitions: Partitions,
        session_s: float = SESSION_S,
    ) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._client = client
        self._topics = topics
        self._login = KafkaLogin.of(client, topics)
        self._partitions = partitions
        self._session_s = session_s
        self._history = topics.name(LogTopic.HISTORY)
        self._ending = threading.Event()
        self.trouble = ""
        """Why the brokers cannot be reached; empty: they can."""
        self._refused_at: float | None = None
        """When a right was missing last, by the clock that never goes back; None: none is."""
        self._mine: set[int] = set()
        self._thread = threading.Thread(target=self._run, name="executions-group", daemon=True)

    def start(self) -> None:
        """Join."""
        self._thread.start()

    def stop(self, within_s: float = 15.0) -> None:
        """Leave the group at once, after what is owned is given up."""
        self._ending.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        while not self._ending.is_set():
            consumer = self._new_consumer()
            try:
                consumer.subscribe(
                    [self._history],
                    on_assign=self._assigned,
                    on_revoke=self._revoked,
                    on_lost=self._lost,
                )
                self._poll(consumer)
            except KafkaException as error:
                log.warning("the group of executors is joined anew", error=error.args[0].str())
            finally:
                self._leave(self._mine)
                self._close(consumer)
            self._ending.wait(_AGAIN_S)

    def _poll(self, consumer: Consumer) -> None:
        commits_at = time.monotonic() + _COMMIT_EVERY_S
        while not self._ending.is_set():
            message = consumer.poll(_POLL_S)
            if message is not None and (error := message.error()) is not None:
                if error.code() == _FATAL or error.fatal():
                    raise KafkaException(error)
                if (missing := self._login.missing(error.code())) is not None:
                    self.trouble = f"{error.str()}; {missing}"
                    self._refused_at = time.monotonic()
                log.info("the group of executors", error=error.str())
            if time.monotonic() > commits_at:
                commits_at = time.monotonic() + _COMMIT_EVERY_S
                self._commit(consumer)
                if self.trouble:
                    self._look(consumer)

    def _look(self, consumer: Consumer) -> None:
        """Ask a broker whether there is one again, and whether we may be a member again."""
        if self._refused_at is not None:
            is_quiet = time.monotonic() - self._refused_at > self._session_s
            if not (is_quiet and consumer.assignment()):  # what is refused is said once
                return
        try:
            consumer.list_topics(self._history, timeout=_LOOK_S)
        except KafkaException as error:
            self.trouble = f"Kafka does not answer: {error.args[0].str()}"
        else:
            self._is_well()

    def _note(self, error: KafkaError) -> None:
        if error.code() in _AWAY:
            self.trouble = f"Kafka does not answer: {error.str()}"

    def _is_well(self) -> None:
        self.trouble, self._refused_at = "", None

    def _commit(self, consumer: Consumer) -> None:
        """Let monitors see how far everything is."""
        offsets = [
            TopicPartition(self._history, partition, position)
            for partition, position in self._partitions.positions().items()
        ]
        if offsets:
            consumer.commit(offsets=offsets, asynchronous=True)

    def _assigned(self, consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        consumer.incremental_assign(list(places))
        consumer.pause(list(places))  # what is assigned begins unpaused
        self._mine |= {place.partition for place in places}
        self._is_well()
        self._partitions.begin(sorted(place.partition for place in places))

    def _revoked(self, consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        """Finish what is open before the next owner hears that it may begin."""
        self._leave({place.partition for place in places})
        consumer.incremental_unassign(list(places))

    def _lost(self, consumer: Consumer, places: Sequence[TopicPartition]) -> None:
        """Another one owns them already: stop, and wait for nothing."""
        self._leave({place.partition for place in places}, within_s=0.0)
        consumer.incremental_unassign(list(places))

    def _leave(self, partitions: set[int], within_s: float = 5.0) -> None:
        leaving = sorted(partitions)
        self._mine = self._mine - partitions
        if leaving and not self._partitions.leave(leaving, within_s) and within_s:
            log.warning("left before it came to its end", partitions=leaving)

    def _close(self, consumer: Consumer) -> None:
        try:
            consumer.close()
        except KafkaException as error:
            log.info("leaving the group of executors", error=error.args[0].str())

    def _new_consumer(self) -> Consumer:
        return Consumer(
            {
                **self._client,
                "group.id": self._topics.group,
                "error_cb": self._note,
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": int(self._session_s * 1000),
                # Its answer says that partitions have become free: nobody works them before.
                "heartbeat.interval.ms": int(self._session_s * 1000 / 40),
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "latest",  # nothing is read: it is about the membership alone
                "queued.max.messages.kbytes": 1024,
                "log_level": 0,
            }
        )
