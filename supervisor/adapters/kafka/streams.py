"""A cache of topic states, refreshed in the background: one look at Kafka per supervisor.

A broker that hangs holds one thread of a pool, at most until its deadline, and all brokers that
hang hold half of the threads.  Looks at other clusters, the loop and the API never wait for them
(R11).  A supervisor whose brokers do not answer looks more and more seldom.  Each look reads the
topic ids with the offsets, so that a topic that was deleted and created again is noticed.  Each
look resolves a topicPattern anew.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

import structlog
from confluent_kafka import KafkaException

from supervisor.adapters.bulkheads import BulkheadPool
from supervisor.adapters.kafka.reading import BadProperties, NoTopic, ReportingAdminClient
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SecretMissing
from supervisor.core.values.lanes import Neighbour, Width, retry_s
from supervisor.ports.clock import Clock
from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.kafka_client import KafkaClient, ReadSecret
from tasks.runtime.secrets import Connections, without_secrets

log = structlog.get_logger()

LOOK_TIMEOUT_S = 6.0
THREADS = 16
PER_LANE = 4
"""Threads for looks at the same brokers by the same user while these answer; else one thread."""
FRESH_FOR_S = 2.0
"""Seconds after which the next caller triggers a new look."""
FAILED_FOR_S = 3.0
SILENT_FOR_S_MAX = 60.0
"""The longest rest between two looks at brokers that do not answer; the first is FAILED_FOR_S."""
GONE_AFTER = 3
"""Looks in a row that miss a topic of a pattern, before the topic counts as deleted.

The other topics of the pattern go on.
"""


class _NoAnswer(Exception):
    """The brokers do not answer, or they refuse; the text gives the reason."""


@dataclass
class _Watched:
    key: tuple[str, str]
    """The client as JSON, and the stream."""
    source: KafkaIoConfig
    state: StreamState = field(
        default_factory=lambda: StreamState(trouble=StreamTrouble.CONNECTING)
    )
    requested_at: float = 0.0
    looked: threading.Event | None = None
    """Set once the present look, or the last one, has ended."""


class KafkaStreams:
    """Implements `ports.store.Streams` by AdminClient; calls `on_news` when a state has changed."""

    def __init__(
        self,
        clock: Clock,
        read_secret: ReadSecret,
        on_news: Callable[[str], None],
        policy: ConnectionPolicy = ConnectionPolicy(),  # noqa: B008 -- it never changes
    ) -> None:
        """`policy` is checked once more, because a spec may be older than a rule."""
        self._policy = policy
        self._read_secret = read_secret
        self._clock = clock
        self._on_news = on_news
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._connections = Connections(
            read_secret,
            self._connected,
            missing=SecretMissing,
        )
        self._lanes = BulkheadPool(Width(pool=THREADS, lane=PER_LANE), "kafka-look")

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return the last known state; start a new look if that state is not fresh."""
        source = spec.io_config
        key = (source.client.to_json(), source.stream)
        with self._lock:
            watched = self._watched.get(supervisor_id)
            if watched is None or watched.key != key:
                watched = self._watched[supervisor_id] = _Watched(key, source)
            if self._is_due(watched):
                self._begin(supervisor_id, watched)
            return watched.state

    def listen(self) -> None:
        """Look at once where all connections to brokers have ended, instead of at the next pass.

        To be called about once a second: it asks no broker.  Who is in trouble already looks again
        by itself.
        """
        lost = {key for key, client in self._connections.present() if client.has_lost_brokers()}
        if not lost:
            return
        with self._lock:
            for supervisor_id, watched in self._watched.items():
                is_sound = watched.state.trouble is None and not _is_looking(watched)
                if watched.key[0] in lost and is_sound:
                    self._begin(supervisor_id, watched)

    def last(self, supervisor_id: str) -> StreamState | None:
        """Return the last known state, and start no look; None: nobody has asked for it yet."""
        with self._lock:
            watched = self._watched.get(supervisor_id)
            return None if watched is None else watched.state

    def forget(self, supervisor_id: str) -> None:
        """Stop looking at Kafka for a supervisor."""
        with self._lock:
            self._watched.pop(supervisor_id, None)

    def stop(self) -> None:
        """Start no more looks."""
        self._lanes.stop()

    def _connected(self, client: KafkaClient) -> ReportingAdminClient:
        if refused := [each.text for each in self._policy.client_refusals(client)]:
            text = f"the operator's rules forbid this connection: {'; '.join(refused)}"
            raise BadProperties(text)
        return ReportingAdminClient(client, self._read_secret)

    def _begin(self, supervisor_id: str, watched: _Watched) -> None:
        """Have a thread look; the caller holds the lock."""
        watched.requested_at = self._clock.monotonic()
        watched.looked = threading.Event()
        look = partial(self._look, supervisor_id, watched, watched.source)
        self._lanes.run(_neighbour_of(watched.source.client), look)

    def _is_due(self, watched: _Watched) -> bool:
        if _is_looking(watched):
            return False
        age = self._clock.monotonic() - watched.requested_at
        return watched.looked is None or age >= _fresh_for_s(watched.state)

    def _look(self, supervisor_id: str, watched: _Watched, source: KafkaIoConfig) -> bool:
        """Look once; return whether the brokers answered."""
        before = watched.state
        began = self._clock.now()  # this look may not show changes after this time
        try:
            stream = replace(self._read(source), read_at=began)
            if gone := sorted(before.topic_ids.keys() - stream.topic_ids.keys()):
                stream = _without(before, stream, gone, began)
        except NoTopic as error:
            # The topic of a supervisor cannot change: another topic needs a new supervisor.
            message = (
                f"{error}: create one, or terminate the supervisor and give it anew with another"
            )
            stream = _failed(before, StreamTrouble.NO_TOPIC, message, began)
        except _NoAnswer as error:
            stream = _failed(before, StreamTrouble.UNREACHABLE, str(error), began)
        except Exception as error:  # noqa: BLE001 -- its supervisor shows it, the others go on
            log.warning("a look at Kafka failed", supervisor=supervisor_id, error=repr(error))
            why = without_secrets(str(error))
            stream = _failed(before, StreamTrouble.REFUSED, why, began)
        watched.state = stream
        if watched.looked is not None:
            watched.looked.set()
        if _is_news(before, stream):
            self._on_news(supervisor_id)
        return stream.trouble is not StreamTrouble.UNREACHABLE

    def _read(self, source: KafkaIoConfig) -> StreamState:
        connection = self._connections.get(source.client)
        try:
            return connection.read(source, lambda: LOOK_TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise _NoAnswer(f"{connection.why(error)}; Tidegate tries again by itself") from error


def _is_looking(watched: _Watched) -> bool:
    return watched.looked is not None and not watched.looked.is_set()


def _neighbour_of(client: KafkaClient) -> Neighbour:
    """Return whose turn a look of a client is: its brokers, in any order, and its user."""
    brokers = sorted({each.strip().lower() for each in client.bootstrap_servers.split(",")})
    user = client.sasl_username or client.ssl_certificate_pem or ""
    return Neighbour(f"{','.join(brokers)} {user}", client.to_json())


def _fresh_for_s(state: StreamState) -> float:
    """Return how long after its request a look is not repeated, by its result."""
    if state.trouble is None:
        return FRESH_FOR_S
    if state.trouble is StreamTrouble.UNREACHABLE:
        return retry_s(state.failures, FAILED_FOR_S, SILENT_FOR_S_MAX)
    return FAILED_FOR_S


def _without(
    before: StreamState, stream: StreamState, gone: Sequence[str], at: datetime
) -> StreamState:
    """Drop a missing topic of a pattern only after some looks; keep its last state until then.

    A broker that has just started knows only some of the topics.
    """
    if _failures(before, StreamTrouble.NO_TOPIC) >= GONE_AFTER:
        return stream
    names = ", ".join(gone)
    return _failed(before, StreamTrouble.NO_TOPIC, f"topic {names} does not exist any more", at)


def _failed(before: StreamState, trouble: StreamTrouble, detail: str, at: datetime) -> StreamState:
    return before.after_failure(trouble, detail, _failures(before, trouble), at)


def _failures(before: StreamState, trouble: StreamTrouble) -> int:
    """Return the failures in a row, this one included; NO_TOPIC is counted by itself.

    A broker that comes back may know few topics at first.
    """
    if trouble is StreamTrouble.NO_TOPIC and before.trouble is not StreamTrouble.NO_TOPIC:
        return 1
    return before.failures + 1


def _is_news(before: StreamState, stream: StreamState) -> bool:
    """Return whether partitions, topic ids or the trouble changed; growing offsets are no news."""
    return (
        before.trouble != stream.trouble
        or before.topic_ids != stream.topic_ids
        or before.earliest.keys() != stream.earliest.keys()
    )
