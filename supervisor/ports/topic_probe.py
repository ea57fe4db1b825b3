"""One look at the topics of a spec that is not stored, within a deadline."""

from datetime import timedelta
from typing import Protocol

from supervisor.core.planning.dry_run import Probed
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.values.errors import Refused


class SourceUnreadable(Refused):
    """The topics of a spec cannot be read: no answer, no such topic, or not allowed there."""


class Probe(Protocol):
    """Looks at Kafka for whoever waits; safe to call from many threads."""

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return the partitions' offsets; blocks, at most for about `within`.

        Raises:
            SourceUnreadable: the brokers do not answer in time or refuse, or there is no such
                topic; the text says which, and what to do.
        """
        ...
