"""The Kafka topic probe: one blocking look, by a client of its own that is closed afterwards."""

import time
from datetime import datetime, timedelta

from confluent_kafka import KafkaException

from supervisor.adapters.kafka.reading import BadProperties, NoTopic, ReportingAdminClient
from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.values.errors import SecretMissing, SourceUnreadable
from tasks.contract.kafka_client import ReadSecret

_LEAST_S = 0.1


class KafkaProbe:
    """Implements `ports.topic_probe.Probe` with AdminClient."""

    def __init__(self, read_secret: ReadSecret) -> None:
        self._read_secret = read_secret

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return the partitions' offsets.  Raises as `Probe.look`."""
        return self.look_at(source, None, within).log

    def look_at(
        self, source: KafkaIoConfig, at: datetime | None, within: timedelta
    ) -> TimedOffsets:
        """Return the offsets, and the records of a time.  Raises as `Probe.look`."""
        until = time.monotonic() + within.total_seconds()

        def left() -> float:
            return max(_LEAST_S, until - time.monotonic())

        try:
            connection = ReportingAdminClient(source.client, self._read_secret)
        except (SecretMissing, BadProperties) as error:
            raise SourceUnreadable(str(error)) from error
        try:
            seen = connection.read(source, left)
            records = {} if at is None else connection.records_at(seen.stable, at, left)
        except NoTopic as error:
            field = "topic" if source.topic_pattern is None else "topicPattern"
            message = f"{error}: create one, or correct ioConfig.{field}"
            raise SourceUnreadable(message) from error
        except (KafkaException, TimeoutError) as error:
            raise SourceUnreadable(connection.why(error)) from error
        return TimedOffsets(Probed(seen.earliest, seen.latest, seen.stable), records)
