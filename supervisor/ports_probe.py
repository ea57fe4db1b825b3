"""One look at the topics of a spec that is not stored, within a deadline."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from supervisor.core.errors import Refused
from supervisor.core.spec_io import KafkaIoConfig
from tasks.offsets import Offsets


class SourceUnreadable(Refused):
    """The topics of a spec cannot be read: no answer, no such topic, or not allowed there."""


@dataclass(frozen=True)
class Probed:
    """The partitions of a spec's topics."""

    earliest: Offsets
    latest: Offsets
    """High watermarks."""
    stable: Offsets
    """Last stable offsets: where reading ends."""


class Probe(Protocol):
    """Looks at Kafka for whoever waits; safe to call from many threads."""

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return the partitions' offsets; blocks, at most for about `within`.

        Raises:
            SourceUnreadable: the brokers do not answer in time or refuse, or there is no such
                topic; the text says which, and what to do.
        """
        ...
