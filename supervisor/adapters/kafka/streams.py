"""Kafka as supervisors see it: a background look per supervisor, answers from what it last saw.

A broker that hangs holds one thread of a pool for at most its deadline: looks at other clusters,
the loop and the API never wait for it (R11).  Ids of topics come with the offsets, so that a topic
that was deleted and created again is noticed.  A topicPattern is resolved anew by every look.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog
from confluent_kafka import KafkaException

from supervisor.adapters.bulkheads import BulkheadPool
from supervisor.adapters.kafka.reading import Connection, NoTopic
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SecretMissing
from supervisor.ports.store import Clock
from tasks.contract.kafka_client import ReadSecret
from tasks.runtime.secrets import Connections, without_secrets

log = structlog.get_logger()

LOOK_TIMEOUT_S = 6.0
THREADS = 16
PER_CLIENT = 4
"""Threads for looks by one client's properties while its brokers answer; else one."""
FRESH_FOR_S = 2.0
"""A look is repeated when its answer is older than this and somebody asks."""
FAILED_FOR_S = 3.0
GONE_AFTER = 3
"""Looks in a row without a topic of a pattern, until it counts as gone and the others go on."""


class _NoAnswer(Exception):
    """The brokers do not answer, or refuse; the text says why."""


@dataclass
class _Watched:
    key: tuple[str, str]
    state: StreamState = field(
        default_factory=lambda: StreamState(trouble=StreamTrouble.CONNECTING)
    )
    requested_at: float = 0.0
    looked: threading.Event | None = None
    """Set once the look under way, or the last one, has ended."""


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
        self._on_news = on_news
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._connections = Connections(
            read_secret, lambda client: Connection(client, read_secret), missing=SecretMissing
        )
        self._lanes = BulkheadPool(THREADS, PER_CLIENT, "kafka-look")

    def state(self, supervisor_id: str, spec: SupervisorSpec) -> StreamState:
        """Return what is known now; asks for a new look if it is not fresh."""
        source = spec.io_config
        key = (source.client.to_json(), source.stream)
        with self._lock:
            watched = self._watched.get(supervisor_id)
            if watched is None or watched.key != key:
                watched = self._watched[supervisor_id] = _Watched(key)
            if self._is_due(watched):
                watched.requested_at = self._clock.monotonic()
                watched.looked = threading.Event()
                self._lanes.run(key[0], partial(self._look, supervisor_id, watched, source))
            return watched.state

    def forget(self, supervisor_id: str) -> None:
        """Stop looking for a supervisor."""
        with self._lock:
            self._watched.pop(supervisor_id, None)

    def stop(self) -> None:
        """Look no more."""
        self._lanes.stop()

    def _is_due(self, watched: _Watched) -> bool:
        if watched.looked is not None and not watched.looked.is_set():
            return False
        age = self._clock.monotonic() - watched.requested_at
        fresh_for = FRESH_FOR_S if watched.state.trouble is None else FAILED_FOR_S
        return watched.looked is None or age >= fresh_for

    def _look(self, supervisor_id: str, watched: _Watched, source: KafkaIoConfig) -> bool:
        """Look, and tell whether the brokers answered."""
        before = watched.state
        began = self._clock.now()  # what happens from now on, this look may not show
        try:
            found = replace(self._read(source), read_at=began)
            if gone := sorted(before.topic_ids.keys() - found.topic_ids.keys()):
                found = _without(before, found, gone)
        except NoTopic as error:
            # What a supervisor reads cannot change: for another topic it is made anew.
            told = f"{error}: create one, or terminate the supervisor and give it anew with another"
            found = _failed(before, StreamTrouble.NO_TOPIC, told)
        except _NoAnswer as error:
            found = _failed(before, StreamTrouble.UNREACHABLE, str(error))
        except Exception as error:  # noqa: BLE001 -- its supervisor shows it, the others go on
            log.warning("a look at Kafka failed", supervisor=supervisor_id, error=repr(error))
            found = _failed(before, StreamTrouble.REFUSED, without_secrets(str(error)))
        watched.state = found
        if watched.looked is not None:
            watched.looked.set()
        if _is_news(before, found):
            self._on_news(supervisor_id)
        return found.trouble is not StreamTrouble.UNREACHABLE

    def _read(self, source: KafkaIoConfig) -> StreamState:
        connection = self._connections.get(source.client)
        try:
            return connection.read(source, lambda: LOOK_TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            raise _NoAnswer(f"{connection.why(error)}; Tidegate tries again by itself") from error


def _without(before: StreamState, stream: StreamState, gone: Sequence[str]) -> StreamState:
    """Believe that a topic of a pattern is gone after some looks: a new broker knows few at first.

    Until then what was known holds.
    """
    if _failures(before, StreamTrouble.NO_TOPIC) >= GONE_AFTER:
        return stream
    names = ", ".join(gone)
    return _failed(before, StreamTrouble.NO_TOPIC, f"topic {names} does not exist any more")


def _failed(before: StreamState, trouble: StreamTrouble, detail: str) -> StreamState:
    failures = _failures(before, trouble)
    return replace(before, trouble=trouble, detail=detail, failures=failures)


def _failures(before: StreamState, trouble: StreamTrouble) -> int:
    """Count this one; a broker that comes back may know few topics: that is counted by itself."""
    if trouble is StreamTrouble.NO_TOPIC and before.trouble is not StreamTrouble.NO_TOPIC:
        return 1
    return before.failures + 1


def _is_news(before: StreamState, stream: StreamState) -> bool:
    """Growing offsets wake nobody; partitions, topic ids and troubles do."""
    return (
        before.trouble != stream.trouble
        or before.topic_ids != stream.topic_ids
        or before.earliest.keys() != stream.earliest.keys()
    )
