"""Kafka as supervisors see it: a background look per supervisor, answers from what it last saw.

A broker that hangs holds one thread of a small pool for at most its deadline; the loop and the
API never wait for it (R11).  Ids of topics come with the offsets, so that a topic that was
deleted and created again is noticed.  A topicPattern is resolved anew by every look.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import structlog
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    OffsetSpec,
    TopicDescription,
)

from supervisor.core.observed import StreamState, StreamTrouble
from supervisor.core.spec import SupervisorSpec
from supervisor.core.spec_io import KafkaIoConfig
from supervisor.ports import Clock
from tasks.kafka_client import (
    NO_ANSWER_ADVICE,
    KafkaClient,
    Overheard,
    ReadSecret,
    librdkafka_properties,
)
from tasks.offsets import TopicPartition

log = structlog.get_logger()

LOOK_TIMEOUT_S = 6.0
THREADS = 4
FRESH_FOR_S = 2.0
"""A look is repeated when its answer is older than this and somebody asks."""
FAILED_FOR_S = 3.0
GONE_AFTER = 3
"""Looks in a row without a topic of a pattern, until it counts as gone and the others go on."""
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class _Connection:
    """An AdminClient, and what it says beside its answers."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._overheard = Overheard()
        more = {"log_level": "0", "error_cb": self._overheard.hear}  # a log would only repeat it
        self.admin = AdminClient({**properties, **more})  # type: ignore[dict-item]  # no callbacks

    def why(self, error: KafkaException) -> tuple[str, str]:
        """Return why a call failed, and what to do about it."""
        while self.admin.poll(0):
            pass
        if (overheard := self._overheard.why()) is not None:
            return overheard
        found = error.args[0] if error.args else None
        reason = found.str() if isinstance(found, KafkaError) else str(error)
        return reason, NO_ANSWER_ADVICE


class _NoTopic(Exception):
    """The broker answers and has no such topic."""


@dataclass
class _Watched:
    key: tuple[str, str]
    state: StreamState = field(
        default_factory=lambda: StreamState(trouble=StreamTrouble.CONNECTING)
    )
    asked_at: float = 0.0
    looking: Future[None] | None = None


class KafkaStreams:
    """Implements `ports.Streams` with AdminClient; `on_news` is called when a state changed."""

    def __init__(
        self,
        clock: Clock,
        read_secret: ReadSecret,
        on_news: Callable[[str], None],
    ) -> None:
        """Connect to nothing yet."""
        self._clock = clock
        self._read_secret = read_secret
        self._on_news = on_news
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._connections: dict[str, _Connection] = {}
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="kafka-look")

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return what is known now; asks for a new look if it is not fresh."""
        source = spec.io_config
        key = (source.client.to_json(), source.stream)
        with self._lock:
            watched = self._watched.get(supervisor_id)
            if watched is None or watched.key != key:
                watched = self._watched[supervisor_id] = _Watched(key)
            if self._is_due(watched):
                watched.asked_at = self._clock.monotonic()
                watched.looking = self._pool.submit(self._look, supervisor_id, watched, source)
            return watched.state

    def forget(self, supervisor_id: str) -> None:
        """Stop looking for a supervisor."""
        with self._lock:
            self._watched.pop(supervisor_id, None)

    def stop(self) -> None:
        """Look no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _is_due(self, watched: _Watched) -> bool:
        if watched.looking is not None and not watched.looking.done():
            return False
        age = self._clock.monotonic() - watched.asked_at
        fresh_for = FRESH_FOR_S if watched.state.trouble is None else FAILED_FOR_S
        return watched.looking is None or age >= fresh_for

    def _look(self, supervisor_id: str, watched: _Watched, source: KafkaIoConfig) -> None:
        before, client = watched.state, source.client
        began = self._clock.now()  # what happens from now on, this look may not show
        try:
            found = replace(self._read(source), read_at=began)
            if gone := sorted(before.topic_ids.keys() - found.topic_ids.keys()):
                found = _without(before, found, gone)
        except _NoTopic as error:
            found = _failed(before, StreamTrouble.NO_TOPIC, str(error))
        except KafkaException as error:
            found = _failed(before, StreamTrouble.UNREACHABLE, self._explain(client, error))
        except Exception as error:  # noqa: BLE001 -- its supervisor shows it, the others go on
            log.warning("a look at Kafka failed", supervisor=supervisor_id, error=repr(error))
            found = _failed(before, StreamTrouble.REFUSED, str(error))
        watched.state = found
        if _is_news(before, found):
            self._on_news(supervisor_id)

    def _read(self, source: KafkaIoConfig) -> StreamState:
        admin = self._connection(source.client).admin
        described = _described(admin, _named(admin, source))
        partitions = [
            KafkaPartition(topic, info.id)
            for topic, description in sorted(described.items())
            for info in description.partitions
        ]
        if not partitions:
            servers = source.client.bootstrap_servers
            if source.topic_pattern is not None:
                raise _NoTopic(
                    f"no topic on {servers} matches {source.topic_pattern}: create one, or correct "
                    "ioConfig.topicPattern"
                )
            raise _NoTopic(
                f"topic {source.topic} does not exist on {servers}: create it, or correct "
                "ioConfig.topic"
            )
        return StreamState(
            topic_ids={topic: str(each.topic_id) for topic, each in described.items()},
            earliest=_offsets(admin, partitions, _EARLIEST),
            latest=_offsets(admin, partitions, _LATEST),
            stable=_offsets(admin, partitions, _LATEST, IsolationLevel.READ_COMMITTED),
        )

    def _connection(self, client: KafkaClient) -> _Connection:
        key = client.to_json()
        with self._lock:
            if key not in self._connections:
                properties = librdkafka_properties(client, self._read_secret)
                self._connections[key] = _Connection(properties)
            return self._connections[key]

    def _explain(self, client: KafkaClient, error: KafkaException) -> str:
        with self._lock:
            connection = self._connections.get(client.to_json())
        reason, advice = (str(error), "") if connection is None else connection.why(error)
        return (
            f"no answer from {client.bootstrap_servers} ({reason}): {advice}; "
            "Tidegate tries again by itself"
        )


def _named(admin: AdminClient, source: KafkaIoConfig) -> list[str]:
    """Return the names of the topics to read; of a pattern, those that there are."""
    if source.topic is not None:
        return [source.topic]
    listed = admin.list_topics(timeout=LOOK_TIMEOUT_S).topics
    return sorted(name for name in listed if source.reads(name))


def _described(admin: AdminClient, topics: Sequence[str]) -> Mapping[str, TopicDescription]:
    """Describe those that exist."""
    if not topics:
        return {}
    asked: Mapping[str, Future[TopicDescription]] = admin.describe_topics(
        TopicCollection(list(topics)), request_timeout=LOOK_TIMEOUT_S
    )
    found = {}
    for topic, future in asked.items():
        try:
            found[topic] = future.result(timeout=LOOK_TIMEOUT_S + 1)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    return found


def _without(before: StreamState, found: StreamState, gone: Sequence[str]) -> StreamState:
    """Believe that a topic of a pattern is gone after some looks: a new broker knows few at first.

    Until then what was known holds.
    """
    if before.failures + 1 >= GONE_AFTER:
        return found
    names = ", ".join(gone)
    return _failed(before, StreamTrouble.NO_TOPIC, f"topic {names} does not exist any more")


def _offsets(
    admin: AdminClient,
    partitions: list[KafkaPartition],
    which: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    futures = admin.list_offsets(
        dict.fromkeys(partitions, which), isolation_level=isolation, request_timeout=LOOK_TIMEOUT_S
    )
    return {
        TopicPartition(p.topic, p.partition): future.result(timeout=LOOK_TIMEOUT_S + 1).offset
        for p, future in futures.items()
    }


def _failed(before: StreamState, trouble: StreamTrouble, detail: str) -> StreamState:
    return replace(before, trouble=trouble, detail=detail, failures=before.failures + 1)


def _is_news(before: StreamState, found: StreamState) -> bool:
    """Growing offsets wake nobody; partitions, topic ids and troubles do."""
    return (
        before.trouble != found.trouble
        or before.topic_ids != found.topic_ids
        or before.earliest.keys() != found.earliest.keys()
    )
