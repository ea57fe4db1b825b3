"""The topic probe port: one request for the topics of an unstored spec, within a deadline."""

from datetime import datetime, timedelta
from typing import Protocol

from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.sections.io_config import KafkaIoConfig


class Probe(Protocol):
    """A blocking probe of Kafka for a waiting caller; safe to call from many threads."""

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return the partitions' offsets; blocks, at most for about `within`.

        Raises:
            SourceUnreadable: the brokers do not answer in time or refuse, or there is no such
                topic; the text says which, and what to do.
        """
        ...

    def look_at(
        self, source: KafkaIoConfig, at: datetime | None, within: timedelta
    ) -> TimedOffsets:
        """Return the same, and the first record of each partition with that time or a later one.

        Records behind an open transaction are not found.  Blocks and raises as `look`.
        """
        ...
