"""The port that sends bad records to a topic, each at most once."""

from collections.abc import Callable, Sequence
from typing import Protocol

from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from tasks.contract.kafka_client import KafkaClient


class ReplaySender(Protocol):
    """Sends records of errors files to a topic; safe to call from many threads and processes."""

    def there(self, client: KafkaClient, wanted: ReplayRequest, paths: Sequence[str]) -> int | None:
        """Return how many of the wanted records the topic has; None: too many to look through.

        Blocks for some seconds at most.

        Raises:
            SourceUnreadable: there is no such topic, or it could hide what was sent.
            TooManyLooks: too many callers look already.
            StreamUnavailable, StorageUnavailable: Kafka does not answer, or a file is gone.
        """
        ...

    def send(
        self,
        client: KafkaClient,
        wanted: ReplayRequest,
        paths: Sequence[str],
        stopping: Callable[[], bool],
    ) -> ReplayOutcome:
        """Send the records that the topic does not have yet, in one transaction of Kafka.

        A repeat with the same mark, after a crash at any line, sends nothing twice and returns what
        all tries together have sent.

        Raises:
            SourceUnreadable: it can never succeed; nothing was sent.
            StreamUnavailable, StorageUnavailable: a repeat may succeed.
        """
        ...
